"""Theory of Pareto identification: the constants and the error bound of Theorem 2."""

from math import exp

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation


def allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Return the allocation constant :math:`L_{K,\lambda}` of CoPSI.

    CoPSI divides its budget by this constant, so that no order of elimination
    overspends.

    .. math:: L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1], the smallest cost over the largest.

    Returns
    -------
    float
        Between the harmonic number H_K, for equal costs, and K. Time O(K).

    Examples
    --------
    >>> allocation_constant(3, 1.0)  # 1 + 1/2 + 1/3
    1.8333333333333333
    """
    others = np.arange(1, _validation.count(n_arms, "n_arms", 2))
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    return float(1 + (1 / (1 + others * cost_ratio)).sum())


def exact_allocation_constant(costs: ArrayLike) -> float:
    r"""Return the smallest allocation constant for known costs (ours).

    .. math::

        L^\star(c) = 1 + \max_{e} \sum_{r=1}^{K-2} \frac{c_{e_r}}{C_r}
                   = 1 + \sum_{r=1}^{K-2} \frac{c^{[r]}}{c^{[r]} + \dots + c^{[K]}},
        \qquad c^{[1]} \ge \dots \ge c^{[K]} .

    The maximum is over orders of elimination e, and :math:`C_r` is the total cost of
    the active arms in phase r. The maximum is attained if arms are removed in
    descending order of cost: if two consecutive arms are exchanged so that the more
    expensive arm is removed first, the sum increases. The constant is at most
    :math:`L_{K,\lambda} - 1/(1+\lambda)`, and at most :math:`1 + \log(C_1 / (c^{[K-1]}
    + c^{[K]}))`.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Costs in any unit, K >= 2.

    Returns
    -------
    float
        The constant; it is 1 for two arms. Time O(K log K).

    Raises
    ------
    CobanditError
        If a cost is not positive.

    Examples
    --------
    >>> exact_allocation_constant([1.0, 2.0, 1.0])  # 1 + 2 / 4
    1.5
    """
    descending = np.sort(_validation.costs(costs))[::-1]
    remaining = np.cumsum(descending[::-1])[::-1]
    return float(1 + (descending / remaining)[:-2].sum())


def checked_problem(
    n_arms: int, n_objectives: int, complexity: float
) -> tuple[int, int, float]:
    """Return the numbers of arms and objectives, and the complexity, or raise."""
    if complexity != np.inf:
        complexity = _validation.positive(complexity, "complexity")
    return (
        _validation.count(n_arms, "n_arms", 2),
        _validation.count(n_objectives, "n_objectives", 1),
        complexity,
    )


def decay_budget(n_arms: int, cost_ratio: float, complexity: float) -> float:
    r"""Return the additional budget that divides the bound of Theorem 2 by e.

    This is :math:`256\, L_{K,\lambda} H_{\mu,c}`.
    """
    return 256 * allocation_constant(n_arms, cost_ratio) * complexity


def identification_error_bound(
    budget: float,
    *,
    n_arms: int,
    n_objectives: int,
    cost_ratio: float,
    complexity: float,
) -> float:
    r"""Return the bound of Theorem 2 on the probability that CoPSI returns a wrong set.

    .. math:: 2K^2 D \exp\bigl(-B / (256\, L_{K,\lambda} H_{\mu,c})\bigr)

    Parameters
    ----------
    budget : float
        B > 0. The theorem requires B >= 2 L H; below that, the formula exceeds one.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    cost_ratio : float
        lambda in (0, 1].
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` if a gap is zero.

    Returns
    -------
    float
        The bound as stated, which is trivial above one.

    Examples
    --------
    >>> problem = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 1.0}
    >>> identification_error_bound(1e5, **problem, complexity=10.0) < 1e-7
    True
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    budget = _validation.positive(budget, "budget")
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return 2 * n_arms**2 * n_objectives * exp(-budget / scale)
