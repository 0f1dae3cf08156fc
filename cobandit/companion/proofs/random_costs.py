"""CoPSI with random costs: what plans overspend, exactly and in runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance, theory
from cobandit.errors import CobanditError
from cobandit.problem import Problem


def exact_overspend(pulls: ArrayLike, costs: ArrayLike, budget: float, *, cost_ratio: float) -> float:
    """Probability that fixed numbers of pulls cost more than B, if a pull costs lambda or 1.

    Parameters
    ----------
    pulls : array_like of int, shape (K,)
    costs : array_like, shape (K,)
        Mean costs in [lambda, 1].
    budget : float
        B.
    cost_ratio : float
        lambda in (0, 1).

    Returns
    -------
    float
        By convolution of binomials, in time O(N^2) for N pulls.

    Examples
    --------
    >>> exact_overspend([2, 1], [0.75, 0.75], 2.5, cost_ratio=0.5)  # all three cost 1
    0.125
    """
    from scipy import stats

    costs = _check.costs(costs)
    _of_range(costs, cost_ratio)
    expensive, counts = np.ones(1), np.asarray(pulls, dtype=np.int64)
    for count, cost in zip(counts, costs, strict=True):
        chance = (cost - cost_ratio) / (1 - cost_ratio)
        expensive = np.convolve(expensive, stats.binom.pmf(np.arange(count + 1), count, chance))
    spent = cost_ratio * counts.sum() + (1 - cost_ratio) * np.arange(len(expensive))
    return float(expensive[spent > _check.with_slack(budget)].sum())


def worst_overspend(budget: float, margin: float, *, cost_ratio: float) -> float:
    r"""Exact probability for the plan that varies most: arms of mean cost :math:`\sqrt\lambda`.

    Examples
    --------
    >>> round(worst_overspend(50.0, 0.1, cost_ratio=0.25), 4)
    0.0747
    """
    cost = cost_ratio**0.5
    pulls = _check.floor((1 - margin) * budget / cost)
    halves = [pulls // 2, pulls - pulls // 2]
    return exact_overspend(halves, [cost, cost], budget, cost_ratio=cost_ratio)


def _of_range(costs: NDArray[np.float64], cost_ratio: float) -> None:
    if not 0 < cost_ratio < 1 or costs.min() < cost_ratio or costs.max() > 1:
        raise CobanditError(
            f"costs run from {costs.min():g} to {costs.max():g}: they must lie in [{cost_ratio:g}, 1]"
        )


def planned_runs(
    problem: Problem,
    budget: float,
    margin: float,
    replications: int,
    seed: int,
    *,
    cost_ratio: float,
    pilot: int = 0,
    accuracy: float = 0.5,
) -> pd.DataFrame:
    r"""CoPSI with the adaptive constant and a plan for :math:`(1 - \delta) B`, if a pull costs lambda or 1.

    Rewards are coins, independent of each other; a run is not cut short, so that it is seen what it spends.

    Parameters
    ----------
    problem : Problem
        Its costs are mean costs in [lambda, 1].
    budget, margin : float
        B and delta.
    replications, seed : int
    cost_ratio : float
        lambda.
    pilot : int
        Pulls of each arm after which mean costs are estimated; zero if they are known.
    accuracy : float
        eta: costs are planned as :math:`\min\{1, \hat c_i / (1 - \eta)\}` after a pilot.

    Returns
    -------
    DataFrame, one row per replication
        ``spent``, ``planned`` (at the true mean costs), ``fewest`` (pulls of an arm) and ``correct``.

    Raises
    ------
    CobanditError
        If a cost leaves [lambda, 1], or the budget is too small for one pull of each arm in the first phase.

    Examples
    --------
    >>> problem = Problem([[0.9], [0.1]], [0.5, 0.75])
    >>> runs = planned_runs(problem, 40.0, 0.2, 20, seed=0, cost_ratio=0.25)
    >>> bool((runs["planned"] <= 32).all()), bool(runs["correct"].all())
    (True, True)
    """
    _of_range(problem.costs, cost_ratio)
    if pilot:  # its costs are planned at no more than one
        least = pilot * problem.n_arms * theory.allocation_constant(problem.n_arms, cost_ratio)
    else:
        least = float(theory.exact_allocation_constant(problem.costs) * problem.costs.sum())
    if (1 - margin) * budget < least:
        raise CobanditError(f"budget {budget:g}: at least {least / (1 - margin):g} is needed")
    rng, rows = np.random.default_rng(seed), []
    chance = (problem.costs - cost_ratio) / (1 - cost_ratio)
    most = int((1 - margin) * budget / cost_ratio) + 1
    for _ in range(_check.count(replications, "replications", 1)):
        costs = np.where(rng.random((problem.n_arms, most)) < chance[:, None], 1.0, cost_ratio)
        rewards = rng.random((problem.n_arms, most, problem.n_objectives)) < problem.means[:, None, :]
        declared = problem.costs
        if pilot:
            declared = np.minimum(1.0, costs[:, :pilot].mean(axis=1) / (1 - accuracy))
        sums = rewards.cumsum(axis=1)
        pulls, returned = _eliminate(sums, declared, (1 - margin) * budget)
        spent = sum(float(costs[arm, :count].sum()) for arm, count in enumerate(pulls))
        correct = np.array_equal(returned, problem.pareto_mask)
        rows.append((spent, float(pulls @ problem.costs), int(pulls.min()), correct))
    return pd.DataFrame(rows, columns=["spent", "planned", "fewest", "correct"])


def _eliminate(
    sums: NDArray[np.int64], costs: NDArray[np.float64], budget: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pulls and returned set of CoPSI with the adaptive constant, given sums (K, N, D) of rewards."""
    n_arms = len(sums)
    active, returned, pulls = (
        list(range(n_arms)),
        np.zeros(n_arms, dtype=bool),
        np.zeros(n_arms, dtype=np.int64),
    )
    gone = 0.0  # what the arms that left were planned to cost
    while len(active) > 1:
        own = costs[active]
        target = _check.floor((budget - gone) / (theory.exact_allocation_constant(own) * own.sum()))
        pulls[active] = target
        means = sums[active, target - 1] / target
        gaps, front = dominance.classification_gaps(means), dominance.pareto_mask(means)
        largest = gaps >= gaps.max() - 1e-12  # ties, but for rounding
        position = int((largest & ~front if (largest & ~front).any() else largest).argmax())
        leaves = active.pop(position)
        returned[leaves] = front[position]
        gone += float(costs[leaves]) * target
    returned[active[0]] = True
    return pulls, returned


def variance_trials(trials: int, seed: int) -> float:
    r"""Largest :math:`\mathrm{Var}(X) / ((1 - \sqrt\lambda)^2 c)` of random costs X in [lambda, 1] of mean c.

    Two- to four-point distributions, every second one with its outcomes at the ends; at most 1.

    Examples
    --------
    >>> 0.9 < variance_trials(2000, seed=0) <= 1
    True
    """
    rng, largest = np.random.default_rng(seed), 0.0
    for trial in range(_check.count(trials, "trials", 1)):
        ratio, chances = rng.uniform(0.01, 0.99), rng.dirichlet(np.ones(int(rng.integers(2, 5))))
        values = rng.uniform(ratio, 1, len(chances))
        if trial % 2:
            values = np.where(rng.random(len(chances)) < 0.5, ratio, 1.0)
        mean = chances @ values
        largest = max(largest, float(chances @ (values - mean) ** 2 / ((1 - ratio**0.5) ** 2 * mean)))
    return largest
