"""Theorem 2 with smaller constants, its budget, and a lower bound (ours)."""

from math import exp, inf, log

from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.problem import check_gaps
from cobandit.theory.identification import (
    allocation_constant,
    checked_problem,
    decay_budget,
)


def needed_allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Return a smaller allocation constant at which CoPSI never overspends (ours).

    CoPSI divides its budget by the allocation constant. The smaller constant is
    :math:`L_{K,\lambda} - 1/(1+\lambda)`. Step 2 of the proof of Theorem 2 needs one
    term for each removal that is followed by more sampling. At these removals, K, ...,
    3 arms are active, so the term of :math:`\ell = 2` is not needed. At equal costs,
    the result is :math:`\frac12 + \sum_{i=2}^K \frac1i`, the constant of PSI-SR.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1].

    Returns
    -------
    float
        A constant at which no run spends more than B, for all costs in [lambda, 1].
        Time O(K).

    Examples
    --------
    >>> needed_allocation_constant(3, 1.0)  # 1 + 1/3
    1.3333333333333333
    """
    return allocation_constant(n_arms, cost_ratio) - 1 / (1 + cost_ratio)


def summed_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Return a complexity that pairs the gap of each arm with its cost (ours).

    The complexity :math:`\sum_i c_i / \gamma_i^2` depends on which arms are expensive.
    The paper's :math:`H_{\mu,c}` does not, because it sorts gaps and costs separately.

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        Classification gaps >= 0, and costs in any unit.

    Returns
    -------
    float
        The sum, ``inf`` if a gap is zero. Time O(K).

    Raises
    ------
    CobanditError
        If the lengths differ, a gap is negative or a cost is not positive.

    Examples
    --------
    >>> summed_complexity([0.5, 0.25], [1.0, 2.0])
    36.0
    >>> summed_complexity([0.5, 0.25], [2.0, 1.0])
    24.0
    """
    gaps, costs = check_gaps(gaps, costs)
    return float((costs / gaps**2).sum()) if gaps.all() else inf


def sharpened_error_bound(
    budget: float,
    *,
    n_arms: int,
    n_objectives: int,
    allocation: float,
    complexity: float,
) -> float:
    r"""Return the bound of Theorem 2 without the slack of its proof (ours).

    .. math:: 2K(K-1)D \exp\Bigl(\frac{1}{32} - \frac{B}{32\, L H_{\mu,c}}\Bigr)

    Three steps of the proof are tightened:

    - Lemma 2 holds if margins err by less than :math:`\gamma_{(k)}/4`, and therefore if
      means err by less than :math:`\gamma_{(k)}/8`.
    - Rounding down reduces a target by at most one pull, not by half of its pulls.
    - There are K - 1 phases, not K.

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
    >>> from cobandit.theory import identification_error_bound
    >>> how = {"n_arms": 3, "n_objectives": 2, "complexity": 10.0}
    >>> constant = allocation_constant(3, 1.0)
    >>> sharper = sharpened_error_bound(1e4, allocation=constant, **how)
    >>> sharper < identification_error_bound(1e4, cost_ratio=1.0, **how)
    True

    At a budget of L times the complexity, the exponent is zero:

    >>> sharpened_error_bound(20.0, allocation=2.0, **how)
    24.0
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    budget = _validation.positive(budget, "budget")
    scale = 32 * _validation.positive(allocation, "allocation") * complexity
    return 2 * n_arms * (n_arms - 1) * n_objectives * exp(1 / 32 - budget / scale)


def identification_budget(
    error: float,
    *,
    n_arms: int,
    n_objectives: int,
    cost_ratio: float,
    complexity: float,
) -> float:
    r"""Return the budget at which the bound of Theorem 2 equals an error.

    .. math:: B = 256\, L_{K,\lambda} H_{\mu,c} \log(2K^2 D / p)

    Parameters
    ----------
    error : float
        p in (0, 1]. For p = 1, the result is the smallest informative budget.
    n_arms, n_objectives, cost_ratio, complexity
        As in `identification_error_bound`.

    Returns
    -------
    float
        B, in the unit of the complexity; ``inf`` if the complexity is infinite.

    Examples
    --------
    >>> from cobandit.theory import identification_error_bound
    >>> how = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 1.0, "complexity": 10.0}
    >>> round(identification_error_bound(identification_budget(0.05, **how), **how), 6)
    0.05
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return scale * log(
        2 * n_arms**2 * n_objectives / _validation.positive(error, "error", 1.0)
    )


def least_error(budget: float, *, allocation: float, complexity: float) -> float:
    r"""Return a lower bound on every method's error on a family of problems (ours).

    .. math::

        \frac14 \exp\Bigl( - \frac{18\, B}
            {(L^\star(c) - \frac12)\, H_{\mathrm{reach}}} \Bigr)

    For every cost vector and every p < K, there is a family of K - p + 1 problems with
    p arms on the front. Take a method that spends at most B on average on the first
    problem. Either the method errs on the first problem with a probability above one
    half, or it errs on another problem of the family with at least the probability of
    the bound. The complexity in the bound belongs to this other problem, and c is the
    vector of the costs of any K - p + 1 arms.

    Parameters
    ----------
    budget : float
        B > 0, the average spend on the first problem.
    allocation : float
        :math:`L^\star(c)`, the `exact_allocation_constant` of these K - p + 1 arms.
    complexity : float
        Result of `reachable_complexity` for this other problem.

    Returns
    -------
    float
        The bound, in (0, 1/4].

    Examples
    --------
    >>> round(least_error(10.0, allocation=1.5, complexity=100.0), 4)
    0.0413
    """
    allocation = _validation.positive(allocation, "allocation")
    if allocation < 1:
        raise CobanditError(
            f"allocation is {allocation}; it must be at least 1",
            argument="allocation",
            code="out-of-range",
        )
    rate = 18 / ((allocation - 1 / 2) * _validation.positive(complexity, "complexity"))
    return exp(-rate * _validation.positive(budget, "budget")) / 4
