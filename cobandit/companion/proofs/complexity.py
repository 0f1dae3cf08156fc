"""Gaps from the pairwise margins, and the complexity by brute force (paper, Section 3.2)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance, theory


def _margins(means: ArrayLike) -> tuple[NDArray[np.float64], ...]:
    """Give m and M without their diagonals, Delta^- of each arm, and M(j, i)^+ + (Delta_j^-)^+ as (K, K)."""
    m, M = dominance.margins(means)
    np.fill_diagonal(m, -np.inf)
    np.fill_diagonal(M, np.inf)
    minus = m.max(axis=1)
    return m, M, minus, np.maximum(M.T, 0.0) + np.maximum(minus, 0.0)


def gap_bounds_hold(means: ArrayLike) -> bool:
    r"""Check the representation :math:`\gamma_i = \max(\Delta_i^-, \Delta_i^+)` that the proof starts from.

    Examples
    --------
    >>> gap_bounds_hold([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    True
    """
    _, M, minus, needed = _margins(means)
    plus = np.minimum(M, needed).min(axis=1)
    return bool(np.array_equal(np.maximum(minus, plus), dominance.classification_gaps(means)))


def smallest_gaps(trials: int, seed: int, max_arms: int = 8, max_objectives: int = 4) -> NDArray[np.float64]:
    """Two smallest classification gaps of random problems; in every second one, means tie often.

    Parameters
    ----------
    trials, seed : int
    max_arms, max_objectives : int
        Sizes are drawn from 2 and 1 up to these.

    Returns
    -------
    ndarray, shape (trials, 2)
        The smaller first; they are always equal.

    Examples
    --------
    >>> first, second = smallest_gaps(100, seed=0).T
    >>> np.array_equal(first, second), int((first == 0).sum()) > 10
    (True, True)
    """
    rng = np.random.default_rng(seed)
    smallest = np.empty((_check.count(trials, "trials", 1), 2))
    for trial in range(trials):
        shape = rng.integers(2, max_arms, endpoint=True), rng.integers(1, max_objectives, endpoint=True)
        means = np.round(rng.random(shape), 1 if trial % 2 else 15)
        smallest[trial] = np.sort(dominance.classification_gaps(means))[:2]
    return smallest


def brute_force_complexity(gaps: ArrayLike, costs: ArrayLike) -> float:
    r"""Maximum of :math:`C(A) / \gamma_{(|A|)}^2` over all :math:`2^K - 1` sets A, as the paper defines it.

    Parameters
    ----------
    gaps, costs : array_like, shape (K,)
        Positive; K small.

    Returns
    -------
    float

    Examples
    --------
    >>> brute_force_complexity([0.5, 0.25], [1.0, 2.0])
    32.0
    """
    gaps, costs = np.sort(_check.numbers(gaps, "gaps", 1)), _check.costs(costs)
    return max(
        float(sum(costs[list(chosen)]) / gaps[size - 1] ** 2)
        for size in range(1, len(gaps) + 1)
        for chosen in combinations(range(len(gaps)), size)
    )


def complexity_trials(trials: int, seed: int, max_arms: int = 10) -> pd.DataFrame:
    """Complexity of random problems, by brute force over all sets and by sorting.

    Returns
    -------
    DataFrame, one row per trial
        ``n_arms``, ``brute_force``, ``sorted``.

    Examples
    --------
    >>> complexity_trials(3, seed=0).columns.tolist()
    ['n_arms', 'brute_force', 'sorted']
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(_check.count(trials, "trials", 1)):
        n_arms = int(rng.integers(2, max_arms, endpoint=True))
        gaps, costs = 10 ** rng.uniform(-2, 0, n_arms), 10 ** rng.uniform(-3, 0, n_arms)
        rows.append((n_arms, brute_force_complexity(gaps, costs), theory.cost_complexity(gaps, costs)))
    return pd.DataFrame(rows, columns=["n_arms", "brute_force", "sorted"])


def unit_cost_complexity(gaps: ArrayLike) -> float:
    r"""Compute :math:`\max_k k / \gamma_{(k)}^2`, the complexity in pulls that equal costs give.

    Examples
    --------
    >>> unit_cost_complexity([0.5, 0.25])
    16.0
    """
    gaps = np.sort(_check.numbers(gaps, "gaps", 1))
    return float((np.arange(1, len(gaps) + 1) / gaps**2).max())


def one_term_gaps(means: ArrayLike) -> NDArray[np.float64]:
    r"""Classification gaps whose :math:`\Delta_i^+` has only its first term, :math:`\min_j M(i, j)`.

    Nobody proposes this: it shows what the second term is for.

    Examples
    --------
    >>> one_term_gaps([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    array([0.25 , 0.25 , 0.125])
    """
    _, M, _, _ = _margins(means)
    gaps, front = dominance.classification_gaps(means), dominance.pareto_mask(means)
    gaps[front] = M.min(axis=1)[front]
    return gaps
