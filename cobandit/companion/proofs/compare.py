"""Every bound on the pulls of CoHV-UCB next to its simulated pulls."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit import theory
from cobandit.companion.known_arms import Arms
from cobandit.companion.proofs.pulls import WatchedRuns, run_cohv
from cobandit.problem import Problem
from cobandit.stats import metrics

#: Names of the bounds that `pull_bounds` gives, from the loosest to the sharpest.
BOUNDS = ("Theorem 1", "lean", "instance", "threshold", "split")


def pull_bounds(
    problem: Problem, arm: int, *, cost_ratio: float, budget: float, alpha: float = 2.0
) -> dict[str, float]:
    r"""Theorem 1 and the sharper bounds of `cobandit.theory` for one suboptimal arm.

    Parameters
    ----------
    problem : Problem
        With costs in [lambda, 1].
    arm : int
        An arm whose efficiency gap is positive.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    dict
        By the names in ``BOUNDS``.

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    >>> bounds = pull_bounds(Problem([[1.0], [0.5]], [1.0, 1.0]), 1, cost_ratio=1.0, budget=99)
    >>> {name: int(bound) for name, bound in bounds.items()}
    {'Theorem 1': 9433, 'lean': 2358, 'instance': 590, 'threshold': 590, 'split': 260}
    """
    gap, cost, best = problem.efficiency_gaps[arm], problem.costs[arm], problem.efficiency.max()
    how = {"cost_ratio": cost_ratio, "budget": budget, "alpha": alpha}
    D = problem.n_objectives
    return {
        "Theorem 1": theory.pull_bound(gap, n_arms=problem.n_arms, n_objectives=D, **how),
        "lean": theory.lean_pull_bound(gap, n_objectives=D, **how),
        "instance": theory.instance_pull_bound(gap, cost, best, n_objectives=D, **how),
        "threshold": theory.threshold_pull_bound(problem.means[arm], cost, best, **how),
        "split": theory.split_pull_bound(problem.means[arm], cost, best, **how),
    }


def compare_bounds(
    arms: Arms, budget: float, replications: int, *, alpha: float = 2.0, seed: int = 0
) -> tuple[pd.DataFrame, WatchedRuns]:
    r"""Bounds and simulated pulls of every suboptimal arm, sorted by gap, and the runs.

    Parameters
    ----------
    arms : Arms
    budget : float
        B.
    replications : int
    alpha : float
    seed : int

    Returns
    -------
    frame : DataFrame
        One row per suboptimal arm: ``arm``, ``gap``, the bounds by name, ``simulated`` (mean pulls) with its
        95 % interval ``low`` to ``high``, ``trivial`` (:math:`B / \lambda`) and ``affordable``, what the
        budget can buy of the arm in expectation, :math:`(B + 1 - \lambda) / \mu_i^c`.
    runs : WatchedRuns

    Raises
    ------
    CobanditError
        If the budget is too small or an argument is out of range.

    Examples
    --------
    >>> from cobandit.companion.known_arms import two_arms
    >>> frame, _ = compare_bounds(two_arms(1, 1.0, 0.5), 1e4, 4)
    >>> bool((frame["high"] < frame["split"]).all())
    True
    """
    problem = arms.problem
    runs = run_cohv(arms, budget, replications, alpha=alpha, seed=seed)
    rows = []
    for arm in np.flatnonzero(problem.efficiency_gaps > 0).tolist():
        counts = runs.pulls[:, arm]
        low, high = metrics.mean_interval(counts)
        bounds = pull_bounds(problem, arm, cost_ratio=arms.cost_ratio, budget=budget, alpha=alpha)
        bought = theory.completed_utility_bound(1 / problem.costs[arm], budget, arms.cost_ratio)
        seen = {"simulated": counts.mean(), "low": low, "high": high}
        most = {"affordable": bought, "trivial": budget / arms.cost_ratio}
        rows.append({"arm": arm, "gap": problem.efficiency_gaps[arm], **bounds, **seen, **most})
    return pd.DataFrame(rows).sort_values("gap", ignore_index=True), runs
