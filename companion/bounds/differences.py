r"""Theorem 2 by concentration of differences of means (ours).

Active arms have equal numbers of pulls, and elimination by classification gaps uses
only differences of their means. Let X be the difference of a reward of one arm and a
reward of another. The rewards are independent and in [0, 1], so that :math:`\mathrm E\,
e^{s(X - \mathrm E X)} \le e^{s^2/8 + s^2/8} = e^{s^2/4}`. The variance proxy of a
difference is twice the variance proxy of a reward, but the allowed error of a
difference is twice the allowed error of a mean. Together, this doubles the exponent.
Let :math:`\hat D_n` be the mean of n such differences, and D its expectation. By
Ville's inequality, for every real N,

.. math:: \Pr\bigl[\exists n \ge N:\ |\hat D_n - D| \ge x\bigr] \le 2 e^{-N x^2} .

Arms that are evaluated on the same instances are not independent. For them, use
`sharpened_error_bound`.
"""

from math import exp, log

from cobandit import _validation
from cobandit.theory.identification import checked_problem


def difference_error_rate(*, allocation: float, complexity: float) -> float:
    r"""Return the exponential rate of `difference_error_bound` (ours).

    The rate is :math:`1 / (16\, L H_{\mu,c})`.

    Parameters
    ----------
    allocation : float
        L >= 1, as in `difference_error_bound`.
    complexity : float
        :math:`H_{\mu,c}`; ``inf`` is allowed.

    Returns
    -------
    float
        Rate of -log(error) per unit of budget.

    Examples
    --------
    >>> difference_error_rate(allocation=1.5, complexity=2.0) == 1 / 48
    True
    """
    _, _, complexity = checked_problem(2, 1, complexity)
    return 1 / (16 * _validation.positive(allocation, "allocation") * complexity)


def difference_error_bound(
    budget: float,
    *,
    n_arms: int,
    n_objectives: int,
    allocation: float,
    complexity: float,
) -> float:
    r"""Return an error bound like Theorem 2's, from differences of means (ours).

    .. math:: K(K-1)^2 D \exp\Bigl(\frac{1}{16} - \frac{B}{16\, L H_{\mu,c}}\Bigr)

    The rewards of different arms must be independent. Lemma 2 holds if differences of
    means err by less than :math:`x = \gamma_{(k)}/4`. With k active arms and N pulls of
    each, :math:`N x^2 \ge (B / (L H_{\mu,c}) - 1) / 16`. The union bound is over K - 1
    phases, K (K - 1) / 2 pairs, D objectives and two sides.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    allocation : float
        L >= 1, the constant of the targets :math:`\lfloor B / (L C_r) \rfloor`:
        `allocation_constant` for CoPSI as published, `exact_allocation_constant` for
        known costs.
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed.

    Returns
    -------
    float
        The bound, which is vacuous above one.

    Examples
    --------
    >>> how = {"n_arms": 2, "n_objectives": 1, "allocation": 1.5}
    >>> round(difference_error_bound(48, complexity=2.0, **how), 6)
    0.783211
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    rate = difference_error_rate(allocation=allocation, complexity=complexity)
    pairs = n_arms * (n_arms - 1) ** 2 * n_objectives
    return pairs * exp(1 / 16 - rate * _validation.positive(budget, "budget"))


def difference_error_budget(
    error: float,
    *,
    n_arms: int,
    n_objectives: int,
    allocation: float,
    complexity: float,
) -> float:
    r"""Return the budget at which `difference_error_bound` equals an error (ours).

    .. math::

        B = 16\, L H_{\mu,c} \Bigl( \frac{1}{16} + \log \frac{K(K-1)^2 D}{p} \Bigr)

    Parameters
    ----------
    error : float
        p in (0, 1]. For p = 1, the result is the smallest informative budget.
    n_arms, n_objectives, allocation, complexity
        As in `difference_error_bound`.

    Returns
    -------
    float
        B, in the unit of the complexity; ``inf`` if the complexity is infinite.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "allocation": 1.5, "complexity": 10.0}
    >>> round(difference_error_bound(difference_error_budget(0.05, **how), **how), 6)
    0.05
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    pairs = n_arms * (n_arms - 1) ** 2 * n_objectives
    scale = 16 * _validation.positive(allocation, "allocation") * complexity
    return scale * (1 / 16 + log(pairs / _validation.positive(error, "error", 1.0)))
