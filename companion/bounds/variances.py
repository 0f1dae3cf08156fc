"""Theorem 2 with variances instead of ranges (ours)."""

from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.problem import check_gaps
from cobandit.theory.identification import checked_problem


def variance_complexity(gaps: ArrayLike, costs: ArrayLike, variance: float) -> float:
    r"""Return the complexity of arms that are evaluated on shared instances (ours).

    .. math::

        H_\sigma = \max_{\emptyset \ne A \subseteq [K]}
            C(A)\, \frac{32 \sigma^2 + \frac{16}3 \gamma_{(|A|)}}{\gamma_{(|A|)}^2}

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        As in `cost_complexity`.
    variance : float
        :math:`\sigma^2`, the largest variance, over pairs and objectives, of the
        difference of two rewards on one instance. Independent rewards in [0, 1] may
        reach 1/2, where :math:`32 \sigma^2` is the 16 of `difference_error_bound`;
        similar configurations have small variances.

    Returns
    -------
    float
        In the unit of the costs; ``inf`` if a gap is zero.

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
    r"""Return Theorem 2 for arms that are evaluated on the same instances (ours).

    .. math:: K(K-1)^2 D \exp\Bigl(\frac3{16} - \frac{B}{L H_\sigma}\Bigr)

    Instances are independent draws; rewards on one of them may depend on each other in
    any way. Bernstein's exponential moment defines a supermartingale, so that by
    Ville's inequality a difference of variance :math:`\sigma^2`, within 2 of its mean,
    is off by x after N or more pulls at some time with probability at most :math:`2
    \exp(-N x^2 / (2 \sigma^2 + \frac43 x))`.  At :math:`x = \gamma_{(k)} / 4` the
    exponent is :math:`N \gamma_{(k)}^2 / (32 \sigma^2 + \frac{16}3 \gamma_{(k)})`; with
    :math:`N \ge B / (L C) - 1` it is at least :math:`B / (L H_\sigma) - \frac3{16}`.
    Statements are counted as in `difference_error_bound`.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives, allocation
        As in `difference_error_bound`.
    complexity : float
        :math:`H_\sigma`, `variance_complexity`; ``inf`` is allowed.

    Returns
    -------
    float
        The bound; it is vacuous above one.

    Examples
    --------
    Two arms that differ on few instances; at a variance of 1/2, the exponent would be
    7.75 times smaller.

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
