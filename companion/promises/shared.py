"""Tests of `recommend` on tables with missing evaluations or with clusters."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.advice import recommend
from cobandit.stats.intervals import step_interval
from cobandit.stats.pairwise import Paired, cost_aware_front
from cobandit.tables.table import EvaluationTable
from companion.promises.limits import MISSES, OBJECTIVE
from companion.promises.outcomes import ERROR, Outcome

Floats = NDArray[np.float64]
LEVEL = 0.95
#: Number of tests of intervals of differences per test of a recommendation. Tests of
#: recommendations take longer.
STEPS_PER_RUN = 10


class DrawnClusters(NamedTuple):
    """Scores (K, N), NaN if missing, their means (K,), and clusters (N,)."""

    scores: Floats
    means: Floats
    clusters: NDArray[np.int64] | None = None


Draw = Callable[[np.random.Generator], DrawnClusters]


def hide(
    easy: list[float],
    hard: list[float],
    n_instances: int,
    share: float,
    hidden: int = 0,
) -> Draw:
    """Return a function that draws tables with easy and hard instances.

    ``easy`` and ``hard`` have the means of the configurations on easy and on hard
    instances. ``share`` is the share of hard instances. Configuration ``hidden`` is not
    evaluated on hard instances.
    """

    def draw(rng: np.random.Generator) -> DrawnClusters:
        is_hard = np.arange(n_instances) < round(share * n_instances)
        chance = np.where(is_hard, np.array(hard)[:, None], np.array(easy)[:, None])
        scores = (rng.random(chance.shape) < chance).astype(float)
        scores[hidden, is_hard] = np.nan
        return DrawnClusters(scores, chance.mean(axis=1))

    return draw


def after_failures(means: list[float], n_instances: int) -> Draw:
    """Return a function that draws tables whose missing evaluations depend on scores.

    The last configuration is evaluated only on instances on which the first
    configuration failed.
    """

    def draw(rng: np.random.Generator) -> DrawnClusters:
        hard = rng.random(n_instances)
        difficulty = np.where(
            rng.random((len(means), n_instances)) < 0.5, hard, rng.random(n_instances)
        )
        scores = (difficulty < np.array(means)[:, None]).astype(float)
        scores[-1, scores[0] == 1] = np.nan
        return DrawnClusters(scores, np.array(means))

    return draw


def at_random(means: list[float], n_instances: int, share: float) -> Draw:
    """Return a function that draws tables whose evaluations are missing at random.

    The first configuration is evaluated on all instances. Any evaluation of
    another configuration is missing with probability ``share``.
    """

    def draw(rng: np.random.Generator) -> DrawnClusters:
        size = len(means), n_instances
        scores = (rng.random(size) < np.array(means)[:, None]).astype(float)
        scores[1:][rng.random((size[0] - 1, n_instances)) < share] = np.nan
        return DrawnClusters(scores, np.array(means))

    return draw


def passages(
    means: list[float], n_passages: int, largest: int, *, equal: bool, noise: float
) -> Draw:
    """Return a function that draws tables with several questions per passage.

    A configuration gives the same answer to all questions on a passage, except for
    random flips with probability ``noise``.
    """

    def draw(rng: np.random.Generator) -> DrawnClusters:
        sizes = (
            np.full(n_passages, largest)
            if equal
            else rng.integers(1, largest + 1, n_passages)
        )
        clusters = np.repeat(np.arange(n_passages), sizes)
        right = rng.random((len(means), n_passages)) < np.array(means)[:, None]
        answers = right[:, clusters] ^ (rng.random((len(means), len(clusters))) < noise)
        expected = np.array(means) * (1 - noise) + (1 - np.array(means)) * noise
        return DrawnClusters(answers.astype(float), expected, clusters)

    return draw


class SharedCell(NamedTuple):
    """A generator of tables, and the condition that the chosen arm must meet.

    ``is_random`` is true if evaluations are missing at random. Only then, intervals of
    differences are tested as well.
    """

    draw: Draw
    at_least: float
    is_random: bool = True


_CELLS = {
    "one on the easy half of 40": SharedCell(
        hide([0.95, 0.98], [0.2, 0.4], 40, 0.5), 0.7, False
    ),
    "the hardest quarter of 100 missing": SharedCell(
        hide([0.75, 0.75, 0.6], [0.2, 0.35, 0.2], 100, 0.25), 0.65, False
    ),
    "the hardest tenth of 300 missing": SharedCell(
        hide([0.8, 0.8, 0.6], [0.2, 0.4, 0.2], 300, 0.1), 0.76, False
    ),
    "tried where another failed, N = 60": SharedCell(
        after_failures([0.7, 0.6, 0.72], 60), 0.71, False
    ),
    "half missing at random, N = 200": SharedCell(
        at_random([0.5, 0.5, 0.5, 0.7], 200, 0.5), 0.71
    ),
    "a fifth missing at random, N = 60": SharedCell(
        at_random([0.89, 0.89, 0.89], 60, 0.2), 0.9
    ),
    "8 copies of 30 passages": SharedCell(
        passages([0.59, 0.59], 30, 8, equal=True, noise=0.0), 0.6
    ),
    "up to 15 copies of 30 passages": SharedCell(
        passages([0.59, 0.59], 30, 15, equal=False, noise=0.0), 0.6
    ),
    "10 near copies of 40 passages": SharedCell(
        passages([0.5] * 4, 40, 10, equal=True, noise=0.03), 0.51
    ),
}
CELLS = tuple(_CELLS)


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Draw tables of one kind (a cell), and count wrong statements and intervals."""
    draw, at_least, is_random = _CELLS[cell]
    n_unsettled = n_unsure = 0
    for _ in range(runs):
        sample = draw(rng)
        table = _table(sample)
        costs = np.arange(len(sample.means), 0, -1.0)
        advice = recommend(
            table, at_least={OBJECTIVE: at_least}, level=LEVEL, replications=1
        )
        arms = advice.arms.loc[list(table.configs)]
        on_front = cost_aware_front(sample.means[:, None], costs)
        n_unsettled += bool(
            (arms["front_settled"] & (arms["on_front"] != on_front)).any()
        )
        assert advice.choice is not None
        sure = advice.choice.sure
        n_unsure += (
            sure is not None and sample.means[table.configs.index(sure)] < at_least
        )

    outcomes = [
        Outcome("what is settled is right", ERROR, runs, n_unsettled),
        Outcome("who is sure meets the condition", ERROR, runs, n_unsure),
    ]
    if is_random:
        steps = STEPS_PER_RUN * runs
        n_missed = sum(_misses_step(draw(rng)) for _ in range(steps))
        outcomes.append(Outcome("the interval holds the step", MISSES, steps, n_missed))

    return outcomes


def _misses_step(sample: DrawnClusters) -> bool:
    low, high = step_interval(Paired(_table(sample)), 0, 1, LEVEL)
    return not low[0] <= sample.means[1] - sample.means[0] <= high[0]


def _table(sample: DrawnClusters) -> EvaluationTable:
    """Return a table in which later configurations are cheaper."""
    arm, instance = np.nonzero(~np.isnan(sample.scores))
    frame = pd.DataFrame(
        {"config": arm, "instance": instance, OBJECTIVE: sample.scores[arm, instance]}
    )
    frame["cost"] = len(sample.scores) - arm.astype(float)
    cluster = None
    if sample.clusters is not None:
        cluster = "passage"
        frame[cluster] = sample.clusters[instance]
    return EvaluationTable.from_frame(
        frame, cost="cost", objectives=[OBJECTIVE], cluster=cluster
    )
