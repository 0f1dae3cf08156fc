"""How many pulls a budget holds: the paper's T(B) against the loop of Algorithm 1, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.errors import CobanditError


def completed_pulls(costs: ArrayLike, budget: float) -> tuple[int, int]:
    r"""Count pulls by the definition, :math:`T(B) = \max\{t : C_t \le B\}`, and by the loop of Algorithm 1.

    The loop pulls while the costs so far are at most B, so that it ends with the first pull that crosses B.

    Parameters
    ----------
    costs : array_like, shape (T,)
        Costs of the pulls in their order; together more than ``budget``.
    budget : float

    Returns
    -------
    by_definition, by_loop : int

    Examples
    --------
    >>> completed_pulls([0.5, 0.5, 0.5], budget=1.0)
    (2, 3)
    """
    total = np.cumsum(_check.numbers(costs, "costs", 1))
    if not len(total) or total[-1] <= budget:
        raise CobanditError(f"costs: they have to sum to more than the budget {budget}")
    by_definition = int((total <= budget).sum())
    by_loop, spent = 0, 0.0
    while spent <= budget:
        spent = float(total[by_loop])
        by_loop += 1
    return by_definition, by_loop


def expected_stopping(units: ArrayLike, chances: ArrayLike, budget: int) -> dict[str, float]:
    r"""Expected pulls and spend of one arm with random costs in whole units, by recursion over what is left.

    Optional stopping would make the expected spend equal to the mean cost times the expected number of pulls.
    It does for the first pull that crosses the budget, which is a stopping time, and not for T(B), which is
    known only one pull later.

    Parameters
    ----------
    units : array_like of int, shape (n,)
        Values of the cost, >= 1.
    chances : array_like, shape (n,)
        Their probabilities.
    budget : int
        B, in the same units.

    Returns
    -------
    dict
        ``mean_cost``; ``pulls`` and ``spend``, expected up to T(B); ``crossing_pulls`` and
        ``crossing_spend``, expected with the pull that crosses.

    Examples
    --------
    Costs of 1 or 2 with even chances and B = 2: one pull if a 2 comes first or second, else two.

    >>> expected_stopping([1, 2], [0.5, 0.5], budget=2)["pulls"]
    1.25
    """
    units = np.asarray(units, dtype=np.int64)
    chances, budget = _check.numbers(chances, "chances", 1), _check.count(budget, "budget", 1)
    if units.shape != chances.shape or (units < 1).any() or not np.isclose(chances.sum(), 1):
        raise CobanditError("units and chances: one probability for each cost >= 1 is needed, adding up to 1")
    pulls, spend = np.zeros(budget + 1), np.zeros(budget + 1)
    crossing_pulls, crossing_spend = np.zeros(budget + 1), np.zeros(budget + 1)
    for left in range(budget + 1):
        for cost, chance in zip(units, chances, strict=True):
            fits = cost <= left
            rest = left - cost
            crossing_pulls[left] += chance * (1 + (crossing_pulls[rest] if fits else 0))
            crossing_spend[left] += chance * (cost + (crossing_spend[rest] if fits else 0))
            if fits:
                pulls[left] += chance * (1 + pulls[rest])
                spend[left] += chance * (cost + spend[rest])
    return {
        "mean_cost": float(units @ chances),
        "pulls": float(pulls[budget]),
        "spend": float(spend[budget]),
        "crossing_pulls": float(crossing_pulls[budget]),
        "crossing_spend": float(crossing_spend[budget]),
    }
