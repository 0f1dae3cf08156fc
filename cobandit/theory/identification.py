"""Pareto identification: the normaliser of CoPSI, its complexity and Theorem 2, as stated and sharpened.

What is not the paper's says so in its first line.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.errors import CobanditError


def allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Normaliser of CoPSI, :math:`L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}`.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1]: the smallest cost over the largest.

    Returns
    -------
    float
        Between the harmonic number H_K (equal costs) and K.  Time O(K).

    Examples
    --------
    >>> allocation_constant(3, 1.0)  # 1 + 1/2 + 1/3
    1.8333333333333333
    """
    others = np.arange(1, _check.count(n_arms, "n_arms", 2))
    return float(1 + (1 / (1 + others * _check.positive(cost_ratio, "cost_ratio", 1.0))).sum())


def needed_allocation_constant(n_arms: int, cost_ratio: float) -> float:
    r"""Not the paper's: what its proof uses of its normaliser, :math:`L_{K,\lambda} - 1/(1+\lambda)`.

    Step 2 of the proof of Theorem 2 needs one term for each removal that more sampling follows, which leave
    active sets of K, ..., 3 arms.  The term of :math:`\ell = 2` is never used.  At equal costs what is left
    is :math:`\frac12 + \sum_{i=2}^K \frac1i`, the normaliser of PSI-SR.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    cost_ratio : float
        lambda in (0, 1].

    Returns
    -------
    float
        A constant with which no run spends more than B, whatever the costs in [lambda, 1].  Time O(K).

    Examples
    --------
    >>> needed_allocation_constant(3, 1.0)  # 1 + 1/3
    1.3333333333333333
    """
    return allocation_constant(n_arms, cost_ratio) - 1 / (1 + cost_ratio)


def exact_allocation_constant(costs: ArrayLike) -> float:
    r"""Not the paper's: the smallest normaliser that always fits the budget, for costs that are known.

    .. math::

        L^\star(c) = 1 + \max_{e} \sum_{r=1}^{K-2} \frac{c_{e_r}}{C_r}
                   = 1 + \sum_{r=1}^{K-2} \frac{c^{[r]}}{c^{[r]} + \dots + c^{[K]}},
        \qquad c^{[1]} \ge \dots \ge c^{[K]} .

    The maximum is over orders of elimination; the most expensive arm first attains it, because exchanging two
    neighbours in the order so that the more expensive one leaves first raises the sum.  It is at most
    :math:`L_{K,\lambda} - 1/(1+\lambda)` and at most :math:`1 + \log(C_1 / (c^{[K-1]} + c^{[K]}))`.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Costs in any unit, K >= 2.

    Returns
    -------
    float
        Between 1 (two arms) and `needed_allocation_constant`.  Time O(K log K).

    Raises
    ------
    CobanditError
        If a cost is not positive.

    Examples
    --------
    >>> exact_allocation_constant([1.0, 2.0, 1.0])  # 1 + 2 / 4
    1.5
    """
    descending = np.sort(_check.costs(costs))[::-1]
    left = np.cumsum(descending[::-1])[::-1]
    return float(1 + (descending / left)[:-2].sum())


def summed_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Not the paper's: :math:`\sum_i c_i / \gamma_i^2`, which charges each arm its own cost.

    The paper's :math:`H_{\mu,c}` sorts gaps and costs apart from each other, so that it does not see which
    arm is the expensive one; this sum does.

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        Classification gaps >= 0, and costs in any unit.

    Returns
    -------
    float
        ``inf`` if a gap is zero.  Time O(K).

    Raises
    ------
    CobanditError
        If the lengths differ, a gap is negative or a cost is not positive.

    Examples
    --------
    >>> summed_complexity([0.5, 0.25], [1.0, 2.0]), summed_complexity([0.5, 0.25], [2.0, 1.0])
    (36.0, 24.0)
    """
    gaps = _check.numbers(gaps, "gaps", 1)
    costs = _check.costs(costs, n_arms=len(gaps))
    if (gaps < 0).any():
        raise CobanditError(f"gaps: {gaps.min()} is negative; classification gaps never are")
    return float((costs / gaps**2).sum()) if gaps.all() else float("inf")


def checked_problem(n_arms: int, n_objectives: int, complexity: float) -> tuple[int, int, float]:
    """Check what the bounds read of a problem; a complexity of ``inf`` is one with a gap of zero."""
    if complexity != np.inf:
        complexity = _check.positive(complexity, "complexity")
    return _check.count(n_arms, "n_arms", 2), _check.count(n_objectives, "n_objectives", 1), complexity


def decay_budget(n_arms: int, cost_ratio: float, complexity: float) -> float:
    r"""Budget that divides the bound of Theorem 2 by e, :math:`256\, L_{K,\lambda} H_{\mu,c}`."""
    return 256 * allocation_constant(n_arms, cost_ratio) * complexity


def identification_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, cost_ratio: float, complexity: float
) -> float:
    r"""Theorem 2: :math:`2K^2 D \exp\bigl(-B / (256\, L_{K,\lambda} H_{\mu,c})\bigr)`.

    Parameters
    ----------
    budget : float
        B > 0.  The theorem asks for B >= 2 L H; below that the formula exceeds one anyway.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    cost_ratio : float
        lambda in (0, 1].
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed (a gap of zero).

    Returns
    -------
    float
        As stated: it may exceed one, and then says nothing.

    Examples
    --------
    >>> identification_error_bound(1e5, n_arms=3, n_objectives=2, cost_ratio=1.0, complexity=10.0) < 1e-7
    True
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return 2 * n_arms**2 * n_objectives * exp(-_check.positive(budget, "budget") / scale)


def sharpened_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, allocation: float, complexity: float
) -> float:
    r"""Not the paper's: Theorem 2 by its own proof, without what that gives away.

    .. math:: 2K(K-1)D \exp\Bigl(\frac{1}{32} - \frac{B}{32\, L H_{\mu,c}}\Bigr)

    Three steps are tightened.  Lemma 2 holds for margins that err by less than :math:`\gamma_{(k)}/4`, hence
    for means that err by less than :math:`\gamma_{(k)}/8`; a target loses at most one pull to its floor, not
    half of them; there are K - 1 phases, not K.

    Parameters
    ----------
    budget : float
        B > 0.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    allocation : float
        L >= 1, the constant that the targets :math:`\lfloor B / (L C_r) \rfloor` divide by:
        `allocation_constant` for CoPSI as published, `exact_allocation_constant` for what known costs allow.
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "complexity": 10.0}
    >>> sharper = sharpened_error_bound(1e4, allocation=allocation_constant(3, 1.0), **how)
    >>> sharper < identification_error_bound(1e4, cost_ratio=1.0, **how)
    True
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    exponent = 1 / 32 - _check.positive(budget, "budget") / (
        32 * _check.positive(allocation, "allocation") * complexity
    )
    return 2 * n_arms * (n_arms - 1) * n_objectives * exp(exponent)


def identification_budget(
    error: float, *, n_arms: int, n_objectives: int, cost_ratio: float, complexity: float
) -> float:
    r"""Budget at which Theorem 2 promises an error of at most p.

    .. math:: B = 256\, L_{K,\lambda} H_{\mu,c} \log(2K^2 D / p)

    Parameters
    ----------
    error : float
        p in (0, 1]; at 1 the budget from which on the theorem says anything.
    n_arms, n_objectives, cost_ratio, complexity
        As in `identification_error_bound`.

    Returns
    -------
    float
        B, in the unit of the complexity; ``inf`` where that is.

    Examples
    --------
    >>> how = {"n_arms": 3, "n_objectives": 2, "cost_ratio": 1.0, "complexity": 10.0}
    >>> round(identification_error_bound(identification_budget(0.05, **how), **how), 6)
    0.05
    """
    n_arms, n_objectives, complexity = checked_problem(n_arms, n_objectives, complexity)
    scale = decay_budget(n_arms, cost_ratio, complexity)
    return scale * log(2 * n_arms**2 * n_objectives / _check.positive(error, "error", 1.0))
