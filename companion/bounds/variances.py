"""Error bounds like Theorem 2's that use variances instead of ranges (ours)."""

from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.problem import check_gaps
from cobandit.theory.identification import checked_problem


def variance_complexity(gaps: ArrayLike, costs: ArrayLike, variance: float) -> float:
    r"""Return a complexity for arms that are evaluated on the same instances (ours).

    It depends on the variances of differences of rewards, and replaces
    :math:`H_{\mu,c}` in `variance_error_bound`.

    .. math::

        H_\sigma = \max_{\emptyset \ne A \subseteq [K]}
            C(A)\, \frac{32 \sigma^2 + \frac{16}3 \gamma_{(|A|)}}{\gamma_{(|A|)}^2}

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        As in `cost_complexity`.
    variance : float
        :math:`\sigma^2`, the largest variance, over pairs and objectives, of the
        difference of two rewards on the same instance. This variance is small for
        similar configurations. For independent rewards in [0, 1], it is at most 1/2.
        Then :math:`32 \sigma^2` is at most 16, the constant of
        `difference_error_bound`.

    Returns
    -------
    float
        Complexity in the unit of the costs; ``inf`` if a gap is zero.

    Examples
    --------
    >>> complexity = variance_complexity([0.1, 0.1], [1.0, 1.0], variance=0.05)
    >>> round(complexity, 6)  # 2 (1.6 + 8 / 15) / 0.01
    426.666667
    """
    gaps, costs = check_gaps(gaps, costs)
    if not gaps.all():
        return inf
    gaps = np.sort(gaps)
    needed = (
        32 * _validation.non_negative(variance, "variance") + 16 / 3 * gaps
    ) / gaps**2
    return float((np.cumsum(np.sort(costs)[::-1]) * needed).max())


def variance_error_bound(
    budget: float,
    *,
    n_arms: int,
    n_objectives: int,
    allocation: float,
    complexity: float,
) -> float:
    r"""Return an error bound for arms evaluated on the same instances (ours).

    .. math:: K(K-1)^2 D \exp\Bigl(\frac3{16} - \frac{B}{L H_\sigma}\Bigr)

    Instances are independent draws. Rewards on the same instance may be dependent in
    any way. A difference of two rewards has a variance of at most :math:`\sigma^2`, and
    is within 2 of its mean. By Bernstein's and Ville's inequalities, the probability
    that its mean is off by x at N or more pulls is at most :math:`2 \exp(-N x^2 / (2
    \sigma^2 + \frac43 x))`. For :math:`x = \gamma_{(k)} / 4`, the exponent is :math:`N
    \gamma_{(k)}^2 / (32 \sigma^2 + \frac{16}3 \gamma_{(k)})`. Since :math:`N \ge B / (L
    C) - 1`, it is at least :math:`B / (L H_\sigma) - \frac3{16}`. The union bound is
    the same as in `difference_error_bound`.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives, allocation
        As in `difference_error_bound`.
    complexity : float
        :math:`H_\sigma`, the result of `variance_complexity`; ``inf`` is allowed.

    Returns
    -------
    float
        The bound, which is vacuous above one.

    Examples
    --------
    The rewards of the two arms differ on few instances. At a variance of 1/2, the
    exponent would be 7.75 times smaller.

    >>> how = {"n_arms": 2, "n_objectives": 1, "allocation": 1.0}
    >>> alike = variance_complexity([0.1, 0.1], [1.0, 1.0], variance=0.05)
    >>> round(variance_error_bound(3000.0, complexity=alike, **how), 5)
    0.00213
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    rate = 1 / (_validation.positive(allocation, "allocation") * complexity)
    return (
        n_arms
        * (n_arms - 1) ** 2
        * n_objectives
        * exp(3 / 16 - rate * _validation.positive(budget, "budget"))
    )
