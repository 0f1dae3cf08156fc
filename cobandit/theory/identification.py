"""Pareto identification: the normaliser of CoPSI, its complexity and Theorem 2."""

from __future__ import annotations

from math import exp

import numpy as np

from cobandit import _check


def allocation_constant(n_arms: int, min_cost: float) -> float:
    r"""Normaliser of CoPSI, :math:`L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}`.

    Parameters
    ----------
    n_arms : int
        K >= 2.
    min_cost : float
        lambda in (0, 1]: the smallest cost over the largest.

    Returns
    -------
    float
        Between the harmonic number H_K (equal costs) and K.  Time O(K).

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> allocation_constant(3, 1.0)  # 1 + 1/2 + 1/3
    1.8333333333333333
    """
    others = np.arange(1, _check.count(n_arms, "n_arms", 2))
    return float(1 + (1 / (1 + others * _check.positive(min_cost, "min_cost", 1.0))).sum())


def identification_error_bound(
    budget: float, *, n_arms: int, n_objectives: int, min_cost: float, complexity: float
) -> float:
    r"""Theorem 2: :math:`2K^2 D \exp\bigl(-B / (256\, L_{K,\lambda} H_{\mu,c})\bigr)`.

    Parameters
    ----------
    budget : float
        B > 0.  The theorem asks for B >= 2 L H; below that the formula exceeds one anyway.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    min_cost : float
        lambda in (0, 1].
    complexity : float
        :math:`H_{\mu,c}` in the unit of the budget; ``inf`` is allowed (a gap of zero).

    Returns
    -------
    float
        As stated: it may exceed one, and then says nothing.

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> identification_error_bound(1e5, n_arms=3, n_objectives=2, min_cost=1.0, complexity=10.0) < 1e-7
    True
    """
    n_arms, n_objectives = _check.count(n_arms, "n_arms", 2), _check.count(n_objectives, "n_objectives", 1)
    if complexity != np.inf:
        complexity = _check.positive(complexity, "complexity")
    scale = 256 * allocation_constant(n_arms, min_cost) * complexity
    return 2 * n_arms**2 * n_objectives * exp(-_check.positive(budget, "budget") / scale)
