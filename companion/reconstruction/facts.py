"""Deviations of a random table from printed numbers that it should reproduce.

These facts follow from the table's means, without replays. The facts are U5 to U12 of
``book/protocol-first.md``, and the efficiency gap of arms with a high accuracy per
token.
"""

from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import classification_gaps
from cobandit.problem import Problem
from cobandit.replay.kernels import FeedbackRows
from cobandit.tables.transforms import inverse_percentile
from companion.reconstruction.hierarchy import (
    N_INSTANCES,
    N_PROFILING,
    NAMED,
    Floats,
    Setting,
    grid,
)
from companion.reconstruction.instances import Body

RHO = 32
WINDOW = 50

#: Temperature of the softmax over accuracy per token, relative to the largest value.
FAVOUR = 0.05
#: Noise of the logarithm of `favoured_gap`.
FAVOURED_NOISE = 0.15
UNIFORM_NOISE = (0.005, 0.005, 0.03)
GAP_NOISE = 0.0003
ROUNDING = 0.0004
COUNT_NOISE = 0.15
TOKENS_NOISE = 0.5


@lru_cache
def subset_of(setting: Setting) -> NDArray[np.int64]:
    """Return the indices in `grid` of the 14 arms of the paper's identification."""
    chosen = set(product(NAMED, (0.5, 1.0), (128,), ("direct",)))
    return np.flatnonzero([arm in chosen for arm in grid(setting)])


class Scene:
    """Costs, latencies and efficiencies of a random table, computed from a `Body`.

    None of them depends on accuracies. ``costs`` are the declared costs (K,), and
    ``declared`` are these costs divided by the largest single cost.
    """

    def __init__(self, setting: Setting, drawn: Body):
        split = drawn.tokens.shape[1] * N_PROFILING // N_INSTANCES
        taus = np.percentile(drawn.seconds[:, :split], [5, 95])
        efficiency = inverse_percentile(drawn.seconds, *taus)
        self.setting = setting
        self.body = drawn
        self.efficiency = efficiency[:, split:]
        self.efficiencies = efficiency.mean(axis=1), self.efficiency.mean(axis=1)
        profiling = drawn.tokens[:, :split]
        self.spent = drawn.tokens[:, split:]
        self.costs = profiling.mean(axis=1)
        self.range = float(profiling.min()), float(profiling.max())
        self.declared = self.costs / self.range[1]
        self.mean_spent = self.spent.mean(axis=1)
        self.variance_spent = self.spent.var(axis=1)

    @cached_property
    def uniform(self) -> tuple[float, NDArray[np.int64]]:
        """Expected number of pulls of uniform allocation, and its last arms.

        The budget is the paper's largest. The last arms have the shape (13, WINDOW),
        with one row per possible end of the run.
        """
        rounds = RHO * self.costs.sum() / self.mean_spent.sum()
        pulls = rounds * len(self.costs)
        # single costs vary, so the run ends at a random arm; 13 points approximate
        # the distribution of the end
        deviation = np.sqrt(rounds * self.variance_spent.sum()) / self.mean_spent.mean()
        ends = np.rint(pulls - 0.5 + deviation * np.linspace(-1.5, 1.5, 13)).astype(int)
        return pulls, (ends[:, None] - 1 - np.arange(WINDOW)) % len(self.costs)


class Landscape:
    """A randomly drawn table: its costs, rewards and true means.

    It is constructed faster than an `EvaluationTable`, because nothing is checked.
    ``count`` is the number of correct answers of each configuration.
    """

    def __init__(self, scene: Scene, count: Floats):
        self.scene = scene
        self.setting = scene.setting
        self.costs = scene.costs
        self.range = scene.range
        self.count = count
        everywhere, evaluated = scene.efficiencies
        self.all_means = np.stack([count / N_INSTANCES, everywhere], axis=1)
        right = scene.body.passed[np.arange(len(count)), count.astype(np.int64)] / (
            N_INSTANCES - N_PROFILING
        )
        self.means = np.stack([right, evaluated], axis=1)

    @cached_property
    def problem(self) -> Problem:
        """The true means in the evaluation split, and declared costs in (0, 1]."""
        return Problem(self.means, self.scene.declared)

    @cached_property
    def rewards(self) -> Floats:
        """The rewards (K, 800, 2) in the evaluation split."""
        correct = self.scene.body.rank[:, N_PROFILING:] < self.count[:, None]
        return np.stack([correct, self.scene.efficiency], axis=2)

    def feedback(self, arms: Any = slice(None)) -> FeedbackRows:
        """Return the rows of the evaluation split, from which replays draw feedback.

        The columns are the cost, the cost over the largest cost, and the rewards.
        """
        spent = self.scene.spent[arms]
        costs = np.stack([spent, spent / self.range[1]], axis=2)
        rows = np.concatenate([costs, self.rewards[arms]], axis=2)
        return FeedbackRows(
            rows.reshape(-1, 4), np.arange(len(rows) + 1) * rows.shape[1]
        )


def fronts(means: Floats) -> NDArray[np.bool_]:
    """Return the mask (..., k) of the Pareto set for arrays of means (..., k, 2)."""
    x = means[..., 0]
    y = means[..., 1]
    dominated = (x[..., None, :] > x[..., None]) & (y[..., None, :] > y[..., None])
    return np.asarray(~dominated.any(axis=-1))


def uniform_online(land: Landscape, costs: Floats | None = None) -> Floats:
    """Return the expected regrets and moving average of uniform allocation.

    They are computed from means, without replays, at the paper's largest budget.
    ``costs`` are the mean costs that define efficiency and regret, by default the
    declared costs.
    """
    costs = land.scene.declared if costs is None else costs
    pulls, last = land.scene.uniform
    hypervolume = land.means[:, 0] * land.means[:, 1]
    efficiency = hypervolume / costs
    gaps = efficiency.max() - efficiency
    standard = efficiency.max() * RHO * costs.sum() - pulls * hypervolume.mean()
    return np.array([pulls * gaps.mean(), standard, gaps[last].mean()])


def favoured_gap(land: Landscape) -> float:
    """Return an approximation of the regret per pull of Accuracy-Cost-UCB.

    The approximation is the mean efficiency gap, weighted by a softmax of the accuracy
    per token.
    """
    costs = land.scene.declared
    efficiency = land.means[:, 0] * land.means[:, 1] / costs
    per_token = land.means[:, 0] / costs
    weight = np.exp((per_token / per_token.max() - 1) / FAVOUR)
    return float(weight @ (efficiency.max() - efficiency) / weight.sum())


def _same_best(land: Landscape) -> float:
    """Return the deviation from fact U7: zero if U7 holds, and at least six otherwise.

    U7 states whether the arm of the largest hypervolume has the largest hypervolume per
    cost.
    """
    hypervolume = land.means[:, 0] * land.means[:, 1]
    efficiency = hypervolume / land.scene.declared
    first, second = hypervolume.argsort()[[-1, -2]]
    same_best = land.setting.same_best
    if same_best == (first == efficiency.argmax()):
        return 0.0
    near = (
        efficiency[first] / efficiency.max()
        if same_best
        else hypervolume[second] / hypervolume[first]
    )
    return 6.0 + 20 * (1 - float(near))


def from_means(land: Landscape) -> Floats:
    """Return the deviations (10,) of a table from the facts, in units of their noise.

    The first two are about the smallest and largest mean tokens. The next four can be
    exactly zero: the size of the front, the best arm, and, for the 14 arms of the
    paper's identification experiment, the size of the front and the smallest
    classification gap. Three are about uniform allocation, and the last is about the
    regret of Accuracy-Cost-UCB.
    """
    setting = land.setting
    subset_means = land.means[subset_of(setting)]
    uniform = np.log(uniform_online(land) / setting.uniform) / UNIFORM_NOISE
    wanted = setting.accuracy_cost / land.scene.uniform[0]
    favoured = np.log(max(favoured_gap(land), 1e-9) / wanted) / FAVOURED_NOISE
    size = fronts(subset_means).sum()
    gap = classification_gaps(subset_means).min()
    others = [
        *np.divide(land.scene.body.missed, TOKENS_NOISE),
        (fronts(land.all_means).sum() - setting.front) / COUNT_NOISE,
        _same_best(land),
        (size - setting.subset_front) / COUNT_NOISE,
        max(abs(gap - setting.subset_gap) - ROUNDING, 0.0) / GAP_NOISE,
    ]
    return np.array([*others, *uniform, favoured])
