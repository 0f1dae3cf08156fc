"""What is used of a table: deviations from what the paper prints that follow from means.

U5 to U12 of ``book/protocol-first.md``, and what accuracy per token favours.  Nothing
is replayed.
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

#: Scale of the softmax over accuracy per token, as a share of the largest, and noise of
#: what it loses.
FAVOUR = 0.05
FAVOURED_NOISE = 0.15
UNIFORM_NOISE = (0.005, 0.005, 0.03)
GAP_NOISE = 0.0003
ROUNDING = 0.0004
COUNT_NOISE = 0.15
TOKENS_NOISE = 0.5


@lru_cache
def subset_of(setting: Setting) -> NDArray[np.int64]:
    """Numbers of the 14 configurations, in the grid's order."""
    chosen = set(product(NAMED, (0.5, 1.0), (128,), ("direct",)))
    return np.flatnonzero([arm in chosen for arm in grid(setting)])


class Scene:
    """What of a drawn table does not depend on accuracies.

    ``costs`` are the declared ones, (K,), and ``declared`` the same over the largest
    single one.
    """

    def __init__(self, setting: Setting, drawn: Body):
        split = drawn.tokens.shape[1] * N_PROFILING // N_INSTANCES
        taus = np.percentile(drawn.seconds[:, :split], [5, 95])
        efficiency = inverse_percentile(drawn.seconds, *taus)
        self.setting, self.body = setting, drawn
        self.efficiency = efficiency[:, split:]
        self.efficiencies = efficiency.mean(axis=1), self.efficiency.mean(axis=1)
        known = drawn.tokens[:, :split]
        self.spent = drawn.tokens[:, split:]
        self.costs, self.range = (
            known.mean(axis=1),
            (float(known.min()), float(known.max())),
        )
        self.declared = self.costs / self.range[1]
        self.mean_spent, self.variance_spent = (
            self.spent.mean(axis=1),
            self.spent.var(axis=1),
        )

    @cached_property
    def uniform(self) -> tuple[float, NDArray[np.int64]]:
        """How often uniform allocation pulls at the largest budget, and its last arms."""
        rounds = RHO * self.costs.sum() / self.mean_spent.sum()
        pulls = rounds * len(self.costs)
        # the run ends somewhere in a round, with the deviation that the costs of single
        # evaluations give
        deviation = np.sqrt(rounds * self.variance_spent.sum()) / self.mean_spent.mean()
        ends = np.rint(pulls - 0.5 + deviation * np.linspace(-1.5, 1.5, 13)).astype(int)
        return pulls, (ends[:, None] - 1 - np.arange(WINDOW)) % len(self.costs)


class Landscape:
    """A drawn table without the detour over a checked `EvaluationTable`."""

    def __init__(self, scene: Scene, count: Floats):
        self.scene, self.setting, self.costs, self.range = (
            scene,
            scene.setting,
            scene.costs,
            scene.range,
        )
        self.count = count
        everywhere, evaluated = scene.efficiencies
        self.all_means = np.stack([count / N_INSTANCES, everywhere], axis=1)
        right = scene.body.passed[np.arange(len(count)), count.astype(np.int64)] / (
            N_INSTANCES - N_PROFILING
        )
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

    def feedback(self, arms: Any = slice(None)) -> FeedbackRows:
        """Return what kernels draw from: cost, cost over the largest, and rewards in the evaluation split."""
        spent = self.scene.spent[arms]
        costs = np.stack([spent, spent / self.range[1]], axis=2)
        rows = np.concatenate([costs, self.rewards[arms]], axis=2)
        return FeedbackRows(
            rows.reshape(-1, 4), np.arange(len(rows) + 1) * rows.shape[1]
        )


def fronts(means: Floats) -> NDArray[np.bool_]:
    """Pareto sets (..., k) of means (..., k, 2), faster than one by one."""
    x = means[..., 0]
    y = means[..., 1]
    dominated = (x[..., None, :] > x[..., None]) & (y[..., None, :] > y[..., None])
    return np.asarray(~dominated.any(axis=-1))


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
    efficiency = land.means[:, 0] * land.means[:, 1] / costs
    per_token = land.means[:, 0] / costs
    weight = np.exp((per_token / per_token.max() - 1) / FAVOUR)
    return float(weight @ (efficiency.max() - efficiency) / weight.sum())


def _same_best(land: Landscape) -> float:
    """Deviation of U7: six, and more the farther from it."""
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
    """Deviations of U5 to U12, and of the gap that Accuracy-Cost-UCB ends with, over their noise.

    Those of the two ends of the tokens, four that can be met exactly, three of uniform
    allocation, the gap.
    """
    setting = land.setting
    few = land.means[subset_of(setting)]
    uniform = np.log(uniform_online(land) / setting.uniform) / UNIFORM_NOISE
    wanted = setting.accuracy_cost / land.scene.uniform[0]
    favoured = np.log(max(favoured_gap(land), 1e-9) / wanted) / FAVOURED_NOISE
    size = fronts(few).sum()
    gap = classification_gaps(few).min()
    others = [
        *np.divide(land.scene.body.missed, TOKENS_NOISE),
        (fronts(land.all_means).sum() - setting.front) / COUNT_NOISE,
        _same_best(land),
        (size - setting.subset_front) / COUNT_NOISE,
        max(abs(gap - setting.subset_gap) - ROUNDING, 0.0) / GAP_NOISE,
    ]
    return np.array([*others, *uniform, favoured])
