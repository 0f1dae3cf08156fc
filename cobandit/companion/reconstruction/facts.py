"""What is used of a table: deviations from what the paper prints that follow from means, and replays.

U5 to U12 of ``book/protocol-first.md``, and what accuracy per token favours.  Nothing of `from_means` is
replayed.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cobandit.companion.reconstruction.hierarchy import (
    N_INSTANCES,
    N_PROFILING,
    NAMED,
    SETTINGS,
    Setting,
    State,
    correct_counts,
    grid,
)
from cobandit.companion.reconstruction.instances import Body, body
from cobandit.dominance import pareto_mask
from cobandit.problem import Problem
from cobandit.replay import spec
from cobandit.replay.kernels import FeedbackRows, record
from cobandit.replay.kernels.elimination import empirical, find_front, front_gap
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables.transforms import inverse_percentile

Floats = NDArray[np.float64]

RHO, WINDOW = 32, 50
RADII: dict[str, Any] = {"reward_scale": 0.01, "cost_scale": 0.01, "eta": 0.05}
PAPER_ONLINE, PAPER_IDENTIFICATION = 100, 500
"""Replays behind a printed regret or F1, and behind a printed error."""
ALL_RHO = (10, 200)


class Used(NamedTuple):
    """What the paper prints about the regrets of the methods that may be run."""

    uniform: tuple[float, float, float]
    accuracy_cost: float


USED = {
    "gsm8k": Used((169.50, 87.69, 0.0502), 118.04),
    "piqa": Used((6541.145, 1517.77, 1.466), 1495.65),
}
"""Middles where the paper prints a thing twice; of uniform online its regrets and its moving average."""

FACTS = ("tokens-low", "tokens-high", "front", "same-best", "subset-front", "subset-gap")
"""Names of the deviations that `from_means` begins with."""
FAVOUR, FAVOURED_NOISE = 0.05, 0.15
"""Scale of the softmax over accuracy per token, as a share of the largest, and noise of what it loses."""
UNIFORM_NOISE = (0.005, 0.005, 0.03)
GAP_NOISE, ROUNDING, COUNT_NOISE, TOKENS_NOISE = 0.0003, 0.0004, 0.15, 0.5


@lru_cache
def subset_of(setting: Setting) -> NDArray[np.int64]:
    """Numbers of the 14 configurations, in the grid's order."""
    chosen = [
        model in NAMED and temperature > 0 and limit == 128 and prompt == "direct"
        for model, temperature, limit, prompt in grid(setting)
    ]
    return np.flatnonzero(chosen)


class Scene:
    """What of a drawn table does not depend on accuracies."""

    def __init__(self, setting: Setting, drawn: Body):
        split = drawn.tokens.shape[1] * N_PROFILING // N_INSTANCES
        taus = np.percentile(drawn.seconds[:, :split], [5, 95])
        efficiency = inverse_percentile(drawn.seconds, *taus)
        self.setting, self.body = setting, drawn
        self.efficiency = efficiency[:, split:]
        self.efficiencies = efficiency.mean(axis=1), self.efficiency.mean(axis=1)
        known, self.spent = drawn.tokens[:, :split], drawn.tokens[:, split:]
        self.costs, self.range = known.mean(axis=1), (float(known.min()), float(known.max()))
        self.mean_spent, self.variance_spent = self.spent.mean(axis=1), self.spent.var(axis=1)

    @cached_property
    def declared(self) -> Floats:
        """Declared costs over the largest single one, (K,)."""
        return self.costs / self.range[1]

    @cached_property
    def uniform(self) -> Uniform:
        """What uniform allocation pulls."""
        return _uniform_pulls(self)


class Landscape:
    """A drawn table without the detour over a checked `EvaluationTable`."""

    def __init__(self, scene: Scene, count: Floats):
        self.scene, self.setting, self.costs, self.range = scene, scene.setting, scene.costs, scene.range
        self.count = count
        everywhere, evaluated = scene.efficiencies
        self.all_means = np.stack([count / N_INSTANCES, everywhere], axis=1)
        right = scene.body.passed[np.arange(len(count)), count.astype(np.int64)] / (N_INSTANCES - N_PROFILING)
        self.means = np.stack([right, evaluated], axis=1)

    @cached_property
    def problem(self) -> Problem:
        """True means in the evaluation split, and declared costs over the largest single one."""
        return Problem(self.means, self.scene.declared)

    @cached_property
    def rewards(self) -> Floats:
        """Rewards (K, 800, 2) in the evaluation split."""
        correct = self.scene.body.rank[:, N_PROFILING:] < self.count[:, None]
        return np.stack([correct, self.scene.efficiency], axis=2)

    @cached_property
    def subset_front(self) -> NDArray[np.bool_]:
        """Pareto set of the 14 configurations, (14,)."""
        return _fronts(self.means[subset_of(self.setting)])

    def feedback(self, arms: Any = slice(None)) -> FeedbackRows:
        """What kernels draw from: cost, cost over the largest, and rewards in the evaluation split."""
        spent = self.scene.spent[arms]
        costs = np.stack([spent, spent / self.range[1]], axis=2)
        rows = np.concatenate([costs, self.rewards[arms]], axis=2)
        return FeedbackRows(rows.reshape(-1, 4), np.arange(len(rows) + 1) * rows.shape[1])


class Online(NamedTuple):
    """Replays of an online method at the largest budget, (R,) each."""

    efficiency_regret: Floats
    standard_regret: Floats
    moving_average: Floats


class Pulls(NamedTuple):
    """Pulls (R, K) of an online method at the largest budget, and the arms of the last ones (R, WINDOW)."""

    counts: NDArray[np.int64]
    last: NDArray[np.int64]


def pull(land: Landscape, method: str, replays: int, seed: int, **options: Any) -> Pulls:
    """Replay an online method with the paper's radii."""
    n_arms, budget = len(land.costs), RHO * float(land.costs.sum())
    policy: Any = spec(method, **(RADII | options)).make(
        RHO, n_arms=n_arms, n_objectives=2, budget=budget, cost_range=land.range, expected_costs=land.costs
    )
    taken = record(replays, int(budget / land.costs.min() * 1.1))
    counts, _ = run_kernel(policy, land.feedback(), seed, np.arange(replays), taken)
    ends = counts.sum(axis=1)[:, None] - 1 - np.arange(WINDOW)
    return Pulls(counts, taken.arms[np.arange(replays)[:, None], ends])


def judge_pulls(land: Landscape, pulls: Pulls, problem: Problem) -> Online:
    """Regrets and moving averages of pulls, by the true means of a problem."""
    return Online(
        metrics.efficiency_regret(problem, pulls.counts),
        metrics.standard_regret(problem, pulls.counts, RHO * float(land.costs.sum()) / land.range[1]),
        problem.efficiency_gaps[pulls.last].mean(axis=1),
    )


def play_identification(
    land: Landscape,
    method: str,
    rho: float,
    replays: int,
    seed: int,
    arms: Any = slice(None),
    truth: NDArray[np.bool_] | None = None,
    equal: float | None = None,
    **options: Any,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Replay identification of some arms: F1 and whether the set is right, (R,) each.

    The truth is the front in the evaluation split, if it is not given.  With ``equal`` the method is CoPSI
    where all arms cost that, which leaves so much of the budget that no run is cut short.
    """
    costs = land.costs[arms]
    budget = rho * float(costs.sum())
    if equal is not None:  # CoPSI's own schedule, by rounds
        method, costs = "CoPSI", np.full(len(costs), equal)
    policy: Any = spec(method, **options).make(rho, costs=costs, budget=budget, n_objectives=2)
    *_, returned = run_kernel(policy, land.feedback(arms), seed, np.arange(replays), realised=False)
    if truth is None:
        truth = pareto_mask(land.means[arms])
    return metrics.f1_score(returned, truth), (returned == truth).all(axis=1)


def _fronts(means: Floats) -> NDArray[np.bool_]:
    """Pareto sets (..., k) of means (..., k, 2), faster than one by one."""
    x, y = means[..., 0], means[..., 1]
    dominated = (x[..., None, :] > x[..., None]) & (y[..., None, :] > y[..., None])
    return np.asarray(~dominated.any(axis=-1))


@njit(cache=True)
def _moments(rewards: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Means (k, 2), deviation of x, slope of y on x and deviation of what remains of y, (k,) each."""
    k, n, _ = rewards.shape
    truth, spread, slope, rest = np.zeros((k, 2)), np.empty(k), np.empty(k), np.empty(k)
    for i in range(k):
        for q in range(n):
            truth[i, 0] += rewards[i, q, 0]
            truth[i, 1] += rewards[i, q, 1]
        truth[i] /= n
        xx, xy, yy = 0.0, 0.0, 0.0
        for q in range(n):
            x, y = rewards[i, q, 0] - truth[i, 0], rewards[i, q, 1] - truth[i, 1]
            xx += x * x
            xy += x * y
            yy += y * y
        spread[i], slope[i] = np.sqrt(xx / n), xy / max(xx, 1e-12 * n)
        rest[i] = np.sqrt(max(yy - slope[i] * xy, 0.0) / n)
    return truth, spread, slope, rest


def uniform_fronts(rewards: Floats, n: int, replays: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Pareto sets (R, k) that n pulls of each arm show: so many that their means are taken as normal."""
    truth, spread, slope, rest = _moments(rewards)
    by_x, by_rest = rng.standard_normal((2, replays, len(rewards))) * np.stack([spread, rest])[:, None]
    return _fronts(truth + np.stack([by_x, slope * by_x + by_rest], axis=-1) / np.sqrt(n))


class Uniform(NamedTuple):
    """Uniform allocation at the largest budget: its pulls, its last arms, and their charges over the cost."""

    pulls: float
    last: NDArray[np.int64]


def _uniform_pulls(on: Scene) -> Uniform:
    rounds = RHO * on.costs.sum() / on.mean_spent.sum()
    pulls = rounds * len(on.costs)
    # the run ends somewhere in a round, with the deviation that the costs of single evaluations give
    deviation = np.sqrt(rounds * on.variance_spent.sum()) / on.mean_spent.mean()
    ends = np.rint(pulls - 0.5 + deviation * np.linspace(-1.5, 1.5, 13)).astype(int)
    return Uniform(pulls, (ends[:, None] - 1 - np.arange(WINDOW)) % len(on.costs))


def uniform_online(land: Landscape, costs: Floats | None = None) -> Floats:
    """Regrets and final moving average of uniform allocation, expected, from the means alone.

    The costs over the largest single one are those of profiling, unless they are given.
    """
    costs = land.scene.declared if costs is None else costs
    pulls, last = land.scene.uniform
    hypervolume = land.means[:, 0] * land.means[:, 1]
    efficiency = hypervolume / costs
    gaps = efficiency.max() - efficiency
    standard = efficiency.max() * RHO * costs.sum() - pulls * hypervolume.mean()
    return np.array([pulls * gaps.mean(), standard, gaps[last].mean()])


def favoured_gap(land: Landscape) -> float:
    """Efficiency gap of the arms that accuracy per token favours, a softmax over it: what its index loses."""
    costs = land.scene.declared
    efficiency, per_token = land.means[:, 0] * land.means[:, 1] / costs, land.means[:, 0] / costs
    weight = np.exp((per_token / per_token.max() - 1) / FAVOUR)
    return float(weight @ (efficiency.max() - efficiency) / weight.sum())


@njit(cache=True)
def front_and_gap(means: Floats) -> tuple[int, float]:
    """Size of the Pareto set of means (k, 2), and the smallest classification gap."""
    order = np.argsort(-means[:, 0])
    at = empirical(len(means), 2)
    at.means[:] = means
    size, smallest = len(find_front(order, at)), np.inf
    for position, i in enumerate(order):
        gap = at.minus[i] if at.minus[i] > 0.0 else front_gap(position, order, at)
        smallest = min(smallest, gap)
    return size, smallest


def _same_best(setting: Setting, land: Landscape) -> float:
    """Deviation of U7: six, and more the farther from it."""
    hypervolume = land.means[:, 0] * land.means[:, 1]
    efficiency = hypervolume / land.scene.declared
    largest, runner_up = hypervolume.argsort()[[-1, -2]]
    same = bool(largest == efficiency.argmax())
    if same == setting.same_best:
        return 0.0
    if setting.same_best:
        return 6.0 + 20 * (1 - float(efficiency[largest] / efficiency.max()))
    return 6.0 + 20 * (1 - float(hypervolume[runner_up] / hypervolume[largest]))


def from_means(name: str, land: Landscape) -> Floats:
    """Deviations of U5 to U12, and of the gap that Accuracy-Cost-UCB ends with, over their noise."""
    setting = SETTINGS[name]
    few = land.means[subset_of(setting)]
    uniform = np.log(uniform_online(land) / USED[name].uniform) / UNIFORM_NOISE
    wanted = USED[name].accuracy_cost / land.scene.uniform.pulls
    favoured = np.log(max(favoured_gap(land), 1e-9) / wanted) / FAVOURED_NOISE
    size, gap = front_and_gap(few)
    others = [
        land.scene.body.missed[0] / TOKENS_NOISE,
        land.scene.body.missed[1] / TOKENS_NOISE,
        (_fronts(land.all_means).sum() - setting.front) / COUNT_NOISE,
        _same_best(setting, land),
        (size - setting.subset_front) / COUNT_NOISE,
        max(abs(gap - setting.subset_gap) - ROUNDING, 0.0) / GAP_NOISE,
    ]
    return np.array([*others, *uniform, favoured])


def scene(name: str, state: State, every: int = 1) -> Scene | None:
    """Draw all but accuracies, of every so-many-th instance; None where the prior is cut off."""
    drawn = body(SETTINGS[name], state, every)
    return None if drawn is None else Scene(SETTINGS[name], drawn)


def landscape(state: State, on: Scene) -> Landscape:
    """Draw the rest of a table."""
    return Landscape(on, correct_counts(on.setting, state, on.body.verbosity))
