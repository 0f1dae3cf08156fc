"""The loss of the fit: how far a drawn table is from the published numbers of `Setting`, and of nothing else.

Uniform allocation's regrets follow from the means, uniform identification and Accuracy-Cost-UCB are replayed
a few times; no other method is run.  The loss is a sum of penalties, each zero where its number is met with a
margin.  They are computed one after the other, cheap ones first, and no further than needed to see that a
proposal is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from math import inf, log
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cobandit.companion.reconstruction.generator import Draw, Parameters, generate, grid
from cobandit.companion.reconstruction.settings import (
    N_INSTANCES,
    N_PROFILING,
    NAMED,
    REGRET_TOLERANCE,
    Setting,
)
from cobandit.companion.reconstruction.targets import (
    ACCURACY_COST,
    NEAR_TIE,
    NEAR_TIES,
    PAPER_REPLAYS,
    RHO,
)
from cobandit.dominance import classification_gaps
from cobandit.problem import Problem
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import run_kernel
from cobandit.tables.transforms import inverse_percentile

ACCURACY_COST_REPLAYS, UNIFORM_REPLAYS = (10, 100), 1000
"""Replays of Accuracy-Cost-UCB, more where fewer are content, and of uniform identification."""

_RNG = np.random.default_rng(0)
_FEW = 20
_DRAWN = _RNG.integers(N_INSTANCES - N_PROFILING, size=(UNIFORM_REPLAYS, _FEW, 14))
_NORMAL = _RNG.standard_normal((UNIFORM_REPLAYS, 14, 2))


class Landscape:
    """Means of a drawn table, without the detour over a checked `EvaluationTable`."""

    def __init__(self, draw: Draw):
        seconds = draw.latency_ms / 1000
        taus = np.percentile(seconds[:, :N_PROFILING], [5, 95])
        self.correct, self.efficiency = draw.correct, inverse_percentile(seconds, *taus)
        known, self.spent = draw.tokens[:, :N_PROFILING], draw.tokens[:, N_PROFILING:]
        self.costs, self.smallest, self.largest = known.mean(axis=1), float(known.min()), float(known.max())
        self.problem = Problem(self.means(N_PROFILING), self.costs / self.largest)

    def means(self, first: int) -> NDArray[np.float64]:
        """Mean rewards (K, 2) over the instances from ``first`` on."""
        return np.stack([x[:, first:].mean(axis=1) for x in (self.correct, self.efficiency)], axis=1)

    def rewards(self, arms: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        """Rewards (k, 800, 2) of some arms in the evaluation split."""
        return np.stack([x[arms, N_PROFILING:] for x in (self.correct, self.efficiency)], axis=2)

    @property
    def uniform_regrets(self) -> tuple[float, float]:
        """Efficiency and standard regret of a uniform policy that pulls every arm equally often."""
        problem, budget = self.problem, RHO * self.costs.sum()
        pulls = budget / self.spent.mean(axis=1).mean()
        best = problem.efficiency.max()
        efficiency = pulls * (best - problem.efficiency.mean())
        return efficiency, best * budget / self.largest - pulls * problem.hypervolume.mean()

    @cached_property
    def feedback(self) -> FeedbackRows:
        """What the kernel draws from: cost, cost over the largest, and rewards in the evaluation split."""
        costs = np.stack([self.spent, self.spent / self.largest], axis=2)
        rows = np.concatenate([costs, self.rewards(slice(None))], axis=2)
        return FeedbackRows(rows.reshape(-1, 4), np.arange(len(rows) + 1) * rows.shape[1])

    def accuracy_cost_regret(self, replays: int) -> float:
        """Efficiency regret of Accuracy-Cost-UCB, the mean of some replays."""
        n_arms, budget = len(self.costs), RHO * float(self.costs.sum())
        policy: Any = ACCURACY_COST.make(
            RHO,
            n_arms=n_arms,
            n_objectives=2,
            budget=budget,
            cost_range=(self.smallest, self.largest),
            expected_costs=self.costs,
        )
        pulls, _ = run_kernel(policy, self.feedback, 0, np.arange(replays))
        return float((pulls @ self.problem.efficiency_gaps).mean())


@njit(cache=True)
def _means_of(rewards: NDArray[np.float64], drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean rewards (R, k, 2) of the pulls (R, n, k) of each arm."""
    replays, n, n_arms = drawn.shape
    means = np.zeros((replays, n_arms, 2))
    for r in range(replays):
        for s in range(n):
            for arm in range(n_arms):
                means[r, arm] += rewards[arm, drawn[r, s, arm]]
    return means / n


@njit(cache=True)
def _share_wrong(shown: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Share of the means (R, k, 2) whose Pareto set is not that of the true means (k, 2)."""
    n_arms, wrong = len(truth), 0
    for means in shown:
        differs = False
        for i in range(n_arms):
            beaten, truly = False, False
            for j in range(n_arms):
                beaten |= means[j, 0] > means[i, 0] and means[j, 1] > means[i, 1]
                truly |= truth[j, 0] > truth[i, 0] and truth[j, 1] > truth[i, 1]
            differs |= beaten != truly
        wrong += differs
    return wrong / len(shown)


def uniform_error(rewards: NDArray[np.float64], n: int) -> float:
    """Probability that n pulls of each arm show a wrong Pareto set.

    At the smallest budget pulls are drawn; at larger ones their mean is taken as normal.

    Parameters
    ----------
    rewards : ndarray, shape (14, m, 2)
        Correctness and efficiency that the pulls of each arm are drawn from.
    n : int
    """
    truth = rewards.mean(axis=1)
    if n == _FEW:
        shown = _means_of(rewards, _DRAWN)
    else:
        x, y = (rewards[..., d] - truth[:, None, d] for d in range(2))
        spread, slope = x.std(axis=1), (x * y).mean(axis=1) / np.maximum(x.var(axis=1), 1e-12)
        rest = (y - slope[:, None] * x).std(axis=1)
        by_x, by_rest = spread * _NORMAL[..., 0], rest * _NORMAL[..., 1]
        shown = truth + np.stack([by_x, slope * by_x + by_rest], axis=-1) / np.sqrt(n)
    return _share_wrong(shown, truth)


def _beyond(value: float, margin: float, most: float = 8.0) -> float:
    """By how much a deviation exceeds a margin, at most ``most``."""
    return min(max(0.0, abs(value) - margin), most)


def _front_penalty(means: NDArray[np.float64], size: int) -> float:
    """Zero if the Pareto set has the wanted size, else how far the next arm is from changing sides."""
    margins = np.minimum(*(means[:, d] - means[:, d, None] for d in range(2)))  # by which j dominates i
    np.fill_diagonal(margins, -inf)
    dominated = np.sort(margins.max(axis=1))
    number = int((dominated <= 0).sum())
    if number == size:
        return 0.0
    return 0.5 + _beyond(dominated[size - (number < size)] / 0.01, 0.0, 4)


def _logit(share: float) -> float:
    return log(share / (1 - share))


def _table_penalties(setting: Setting, land: Landscape) -> Iterator[float]:
    """Yield the penalties of the whole table, each from 0 up."""
    yield 3.0 * (land.largest != setting.limits[1])
    tolerance = REGRET_TOLERANCE["UniformAllocation"]
    for published, value in zip(setting.uniform_regrets, land.uniform_regrets, strict=True):
        yield _beyond(log(value / published) / tolerance, 0.9, 300) / 2
    # how much worse the rival is: of the largest hypervolume per cost, or the runner-up in hypervolume
    largest, runner_up = land.problem.hypervolume.argsort()[[-1, -2]]
    if setting.same_best:
        short = 1 - land.problem.efficiency[largest] / land.problem.efficiency.max()
        yield min(0.5 + 10 * short, 3.0) * (short > 0)
    else:
        short = 1 - land.problem.hypervolume[runner_up] / land.problem.hypervolume[largest]
        yield min(0.5 + 10 * short, 3.0) * bool(largest == land.problem.best_arm)
    yield _front_penalty(land.means(0), setting.front)
    near = int((land.problem.classification_gaps < NEAR_TIE).sum())
    yield 0.5 * max(0, NEAR_TIES - near)


def _subset_penalties(setting: Setting, land: Landscape, subset: NDArray[np.int64]) -> Iterator[float]:
    """Yield the penalties of the 14 configurations."""
    few = land.problem.means[subset]
    yield 5 * _front_penalty(few, setting.subset_front)
    yield 2 * _beyond((classification_gaps(few).min() - setting.subset_gap) / 0.002, 0.24, 3)
    for n, error in reversed(setting.uniform_errors.items()):
        deviation = 1 / np.sqrt(PAPER_REPLAYS * error * (1 - error))  # of the logit of the paper's number
        ours = np.clip(uniform_error(land.rewards(subset), n), 1 / UNIFORM_REPLAYS, 1 - 1 / UNIFORM_REPLAYS)
        yield _beyond((_logit(ours) - _logit(error)) / deviation, 1.2, 30)


def _accuracy_cost_penalty(setting: Setting, land: Landscape) -> Iterator[float]:
    """Yield the penalty for Accuracy-Cost-UCB's regret, by all replays unless few of them are far off."""
    for replays in ACCURACY_COST_REPLAYS:
        missed = log(land.accuracy_cost_regret(replays) / setting.accuracy_cost_regret) / log(1.25)
        penalty = 1.5 * _beyond(missed, 0.9)
        if penalty > 1 or replays == ACCURACY_COST_REPLAYS[-1]:
            yield penalty
            return


def loss(
    setting: Setting,
    parameters: Parameters,
    subset: NDArray[np.int64],
    limit: float = inf,
    whole: bool = True,
) -> float:
    """Sum of the penalties, or a part of it that exceeds ``limit`` already.

    Parameters
    ----------
    setting : Setting
    parameters : Parameters
    subset : ndarray of int, shape (14,)
    limit : float
        Penalties are computed, cheap ones first, until their sum exceeds it.
    whole : bool
        False: only the penalties of the 14 configurations.
    """
    land, total = Landscape(generate(setting, parameters)), 0.0
    parts = [_subset_penalties(setting, land, subset)]
    if whole:
        parts = [_table_penalties(setting, land), *parts, _accuracy_cost_penalty(setting, land)]
    for penalty in chain(*parts):
        total += penalty
        if total > limit:
            break
    return total


def subset_of(setting: Setting) -> NDArray[np.int64]:
    """Numbers of the 14 configurations, in the grid's order."""
    chosen = [
        model in NAMED and temperature > 0 and limit == 128 and prompt == "direct"
        for model, temperature, limit, prompt in grid(setting)
    ]
    return np.flatnonzero(chosen)
