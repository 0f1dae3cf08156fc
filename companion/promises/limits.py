"""Tests of intervals, and of statements that `recommend` calls sure or settled.

`recommend` calls a configuration sure, or a membership of the front settled, only if
the statement is wrong with a small probability.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice import recommend
from cobandit.advice.choice import choose_configuration, read_wishes
from cobandit.dominance import TIE
from cobandit.stats.finite_limits import finite_mean_limits
from cobandit.stats.limits import mean_limits
from cobandit.stats.pairwise import Paired, cost_aware_front
from cobandit.tables.table import EvaluationTable
from companion.promises.outcomes import ERROR, Outcome

Floats = NDArray[np.float64]
#: Allowed share of 95 % intervals that do not contain the mean. For binary scores, the
#: error of an interval depends on the mean. It is .05 on average over means, but larger
#: at some means (`cobandit.stats.limits.mean_limits`).
MISSES = 0.08
OBJECTIVE = "accuracy"


class DrawnScores(NamedTuple):
    """Scores (K, N), NaN if missing, with their true means (K,) and costs (K,)."""

    scores: Floats
    means: Floats
    costs: Floats


Draw = Callable[[np.random.Generator], DrawnScores]


def draw_answers(means: Sequence[float], n_instances: int, alike: float = 0.0) -> Draw:
    """Return a function that draws binary scores with given expected means.

    With probability ``alike``, a score depends on the difficulty of the instance, which
    is the same for all configurations.
    """

    def draw(rng: np.random.Generator) -> DrawnScores:
        size = len(means), n_instances
        drawn = np.where(
            rng.random(size) < alike, rng.random(n_instances), rng.random(size)
        )
        scores = (drawn < np.array(means)[:, None]).astype(float)
        return DrawnScores(
            scores, np.array(means, dtype=float), np.arange(1.0, len(means) + 1)
        )

    return draw


def grades(n_arms: int, n_instances: int, a: float, b: float) -> Draw:
    """Return a function that draws scores from the beta distribution (a, b)."""

    def draw(rng: np.random.Generator) -> DrawnScores:
        scores = rng.beta(a, b, (n_arms, n_instances))
        return DrawnScores(
            scores, np.full(n_arms, a / (a + b)), np.arange(1.0, n_arms + 1)
        )

    return draw


def halves(n_arms: int, n_instances: int, p_zero: float, p_half: float) -> Draw:
    """Return a function that draws scores of 0, one half and 1."""

    def draw(rng: np.random.Generator) -> DrawnScores:
        shares = [p_zero, p_half, 1 - p_zero - p_half]
        scores = rng.choice([0.0, 0.5, 1.0], (n_arms, n_instances), p=shares)
        return DrawnScores(
            scores, np.full(n_arms, 1 - p_zero - p_half / 2), np.arange(1.0, n_arms + 1)
        )

    return draw


def evaluate_part(draw: Draw, share: float, every: int = 1) -> Draw:
    """Return a function that draws benchmarks with missing evaluations.

    Every ``every``-th configuration is evaluated on a random share of the instances,
    and the others on all instances. The true means are the means over all instances.
    """

    def draw_part(rng: np.random.Generator) -> DrawnScores:
        benchmark = draw(rng)
        scores = benchmark.scores.copy()
        n_arms, n_instances = scores.shape
        n_evaluated = round(share * n_instances)
        for arm in range(0, n_arms, every):
            scores[arm, rng.permutation(n_instances)[n_evaluated:]] = np.nan
        costs = rng.permutation(np.linspace(1, 2, n_arms))
        return DrawnScores(scores, benchmark.scores.mean(axis=1), costs)

    return draw_part


def exactly(draw: Draw, below: float, share: float) -> Draw:
    """Return a function that draws benchmarks with missing evaluations and equal means.

    Scores are binary. All means have the largest possible value that is less than
    ``below``. From the tables of ``draw``, only the shape is used. ``share`` is the
    share of the instances on which each configuration is evaluated.
    """

    def draw_exactly(rng: np.random.Generator) -> DrawnScores:
        scores = draw(rng).scores
        n_instances = scores.shape[1]
        right = int(np.ceil(below * n_instances - 1e-9)) - 1
        full = rng.permuted(
            np.broadcast_to(np.arange(n_instances) < right, scores.shape), axis=1
        )
        benchmark = DrawnScores(
            full.astype(float), full.mean(axis=1), np.ones(len(full))
        )
        return evaluate_part(lambda _: benchmark, share)(rng)

    return draw_exactly


class Sure(NamedTuple):
    """A test of a condition on means.

    A run is wrong if `recommend` is sure of a configuration that does not meet the
    condition.
    """

    draw: Draw
    at_least: float | None = None
    within: float | None = None
    about: str = "instances"
    level: float = 0.95


class Settled(NamedTuple):
    """A test of memberships of the Pareto front.

    A run is wrong if `recommend` calls a wrong membership settled.
    """

    draw: Draw
    about: str = "instances"


class Interval(NamedTuple):
    """A test of an interval for a mean or, if ``step``, for a difference of two means.

    A run is wrong if the interval does not contain the true value. With
    ``n_evaluated``, only this number of the drawn instances is evaluated, and the true
    value is the mean over all drawn instances.
    """

    draw: Draw
    step: bool = False
    n_evaluated: int | None = None


_CELLS: dict[str, Sure | Settled | Interval] = {
    # tables on which limits from Student's t distribution fail
    "at least .95, 10 at .949, N = 40": Sure(draw_answers([0.949] * 10, 40), 0.95),
    "at least .95, 2 at .949, N = 40": Sure(draw_answers([0.949] * 2, 40), 0.95),
    "at least .95, 10 at .949, N = 200": Sure(draw_answers([0.949] * 10, 200), 0.95),
    "at least .9, 5 at .899, N = 30": Sure(draw_answers([0.899] * 5, 30), 0.9),
    "at least .65, 10 at .649, N = 40": Sure(draw_answers([0.649] * 10, 40), 0.65),
    "within .05, one at .99, 9 at .939, N = 40": Sure(
        draw_answers([0.99] + [0.939] * 9, 40), within=0.05
    ),
    # other sizes and levels
    "at least .99, 30 at .989, N = 100": Sure(draw_answers([0.989] * 30, 100), 0.99),
    "at least .8, 3 at .799, N = 12": Sure(draw_answers([0.799] * 3, 12), 0.8),
    "at least .5, 20 at .499, N = 500": Sure(draw_answers([0.499] * 20, 500), 0.5),
    "at least .05, 10 at .049, N = 60": Sure(draw_answers([0.049] * 10, 60), 0.05),
    "at least .95, 10 at .949, N = 40, alike": Sure(
        draw_answers([0.949] * 10, 40, 0.9), 0.95
    ),
    "at least .9, 10 at .899, N = 50, level .8": Sure(
        draw_answers([0.899] * 10, 50), 0.9, level=0.8
    ),
    "at least .9, 100 at .899, N = 150": Sure(draw_answers([0.899] * 100, 150), 0.9),
    "within .05, one at .99, 9 at .939, N = 200": Sure(
        draw_answers([0.99] + [0.939] * 9, 200), within=0.05
    ),
    "within .05, the same, half alike": Sure(
        draw_answers([0.99] + [0.939] * 9, 40, 0.5), within=0.05
    ),
    "within .05, the same, all alike": Sure(
        draw_answers([0.99] + [0.939] * 9, 40, 1.0), within=0.05
    ),
    "within .1, one at .7, 4 at .599, N = 60": Sure(
        draw_answers([0.7] + [0.599] * 4, 60, 0.5), within=0.1
    ),
    "within .02, one at 1, 20 at .979, N = 80": Sure(
        draw_answers([1.0] + [0.979] * 20, 80), within=0.02
    ),
    # scores between 0 and 1
    "at least .952, 10 beta (19, 1), N = 30": Sure(grades(10, 30, 19, 1), 0.952),
    "at least .992, 10 beta (1, .01), N = 40": Sure(grades(10, 40, 1, 0.01), 0.992),
    "at least .91, 10 beta (.2, .02), N = 40": Sure(grades(10, 40, 0.2, 0.02), 0.91),
    "at least .505, 10 beta (1, 1), N = 100": Sure(grades(10, 100, 1, 1), 0.505),
    "at least .961, 10 of 0, .5, 1, N = 40": Sure(halves(10, 40, 0.02, 0.04), 0.961),
    "at least .986, 20 of .5 and 1, N = 60": Sure(halves(20, 60, 0.0, 0.03), 0.986),
    "at least .9 and within .01, N = 60": Sure(
        draw_answers([0.92] + [0.899] * 6, 60, 0.5), 0.9, 0.01
    ),
    # a benchmark of which a part is evaluated
    "benchmark, at least .95, 10 below, 40 of 60": Sure(
        exactly(draw_answers([0.9] * 10, 60), 0.95, 2 / 3), 0.95, about="benchmark"
    ),
    "benchmark, at least .9, 5 below, 50 of 500": Sure(
        exactly(draw_answers([0.9] * 5, 500), 0.9, 0.1), 0.9, about="benchmark"
    ),
    "benchmark, at least .6, 10 below, 95 of 100": Sure(
        exactly(draw_answers([0.9] * 10, 100), 0.6, 0.95), 0.6, about="benchmark"
    ),
    "benchmark, within .05, 10 at .9, 50 of 100": Sure(
        evaluate_part(draw_answers([0.98] + [0.92] * 9, 100, 0.5), 0.5),
        within=0.05,
        about="benchmark",
    ),
    "benchmark, at least .91, 10 beta (.2, .02), 30 of 60": Sure(
        evaluate_part(grades(10, 60, 0.2, 0.02), 0.5), 0.91, about="benchmark"
    ),
    # memberships of the front
    "benchmark, front, 10 at .95, half on 30 of 60": Settled(
        evaluate_part(draw_answers([0.95] * 10, 60), 0.5, every=2), "benchmark"
    ),
    "benchmark, front, 5 at .98, half on 20 of 40": Settled(
        evaluate_part(draw_answers([0.98] * 5, 40), 0.5, every=2), "benchmark"
    ),
    "benchmark, front, 20 at .95, half on 60 of 120": Settled(
        evaluate_part(draw_answers([0.95] * 20, 120), 0.5, every=2), "benchmark"
    ),
    "benchmark, front, 10 at .9, all on 45 of 60": Settled(
        evaluate_part(draw_answers([0.9] * 10, 60), 0.75), "benchmark"
    ),
    "front, 10 at .95, N = 40": Settled(draw_answers([0.95] * 10, 40)),
    "front, 8 from .93 to .99, N = 60": Settled(
        draw_answers(np.linspace(0.93, 0.99, 8).tolist(), 60)
    ),
    # intervals
    "interval, .9, n = 20": Interval(draw_answers([0.9], 20)),
    "interval, .97, n = 20": Interval(draw_answers([0.97], 20)),
    "interval, .97, n = 50": Interval(draw_answers([0.97], 50)),
    "interval, .97, n = 100": Interval(draw_answers([0.97], 100)),
    "interval, .995, n = 30": Interval(draw_answers([0.995], 30)),
    "interval, .5, n = 10": Interval(draw_answers([0.5], 10)),
    "interval, beta (50, 1), n = 20": Interval(grades(1, 20, 50, 1)),
    "interval, beta (.2, .02), n = 30": Interval(grades(1, 30, 0.2, 0.02)),
    "interval, 0, .5, 1, n = 40": Interval(halves(1, 40, 0.01, 0.03)),
    "step, .95 to .97, n = 40": Interval(draw_answers([0.95, 0.97], 40), step=True),
    "step, .6 to .7, n = 60, alike": Interval(
        draw_answers([0.6, 0.7], 60, 0.8), step=True
    ),
    "step, beta (9, 1), n = 20": Interval(grades(2, 20, 9, 1), step=True),
    "benchmark, interval, .97, 40 of 60": Interval(
        draw_answers([0.97], 60), n_evaluated=40
    ),
    "benchmark, interval, .9, 50 of 500": Interval(
        draw_answers([0.9], 500), n_evaluated=50
    ),
    "benchmark, interval, beta (.2, .02), 30 of 60": Interval(
        grades(1, 60, 0.2, 0.02), n_evaluated=30
    ),
    "benchmark, interval, beta (50, 1), 30 of 300": Interval(
        grades(1, 300, 50, 1), n_evaluated=30
    ),
    "benchmark, interval, 0, .5, 1, 48 of 50": Interval(
        halves(1, 50, 0.01, 0.03), n_evaluated=48
    ),
    "benchmark, step, .95 to .97, 40 of 80": Interval(
        draw_answers([0.95, 0.97], 80), step=True, n_evaluated=40
    ),
    "benchmark, step, beta (9, 1), 200 of 400": Interval(
        grades(2, 400, 9, 1), step=True, n_evaluated=200
    ),
}
CELLS = tuple(_CELLS)


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Draw tables of one kind (a cell), and count the tables with a wrong statement."""
    case = _CELLS[cell]
    drawn = (case.draw(rng) for _ in range(runs))
    if isinstance(case, Interval):
        promise = (
            "the interval holds the step"
            if case.step
            else "the interval holds the mean"
        )
        allowed = MISSES if case.n_evaluated is None else ERROR
        wrong = sum(_misses(sample, case) for sample in drawn)
    elif isinstance(case, Settled):
        promise = "what is settled is right"
        allowed = ERROR
        wrong = sum(_settles_wrongly(sample, case.about) for sample in drawn)
    else:
        promise = "who is sure meets the condition"
        allowed = 1 - case.level
        wrong = sum(_is_wrongly_sure(sample, case) for sample in drawn)

    return [Outcome(promise, allowed, runs, int(wrong))]


def _table(drawn: DrawnScores) -> EvaluationTable:
    return EvaluationTable.from_arrays(
        drawn.scores[:, :, None], drawn.costs, objectives=[OBJECTIVE], profiling=5
    )


def _is_wrongly_sure(drawn: DrawnScores, case: Sure) -> bool:
    at_least = {} if case.at_least is None else {OBJECTIVE: case.at_least}
    within = {} if case.within is None else {OBJECTIVE: case.within}
    table = _table(drawn)
    wishes = read_wishes(table.objectives, at_least, within)
    assert wishes is not None
    n_arms = table.n_arms
    compared = Paired(table, finite=case.about == "benchmark")

    # run only the part of `recommend` that makes the choice, because this is faster
    everyone = np.ones(n_arms, dtype=bool)
    choice = choose_configuration(
        wishes, compared, drawn.means[None, :, None], case.level, everyone
    )
    if choice.sure is None:
        return False

    mean = drawn.means[table.configs.index(choice.sure)]
    meets_least = case.at_least is None or mean >= case.at_least - 1e-9
    meets_within = case.within is None or mean >= drawn.means.max() - case.within - 1e-9
    return not (meets_least and meets_within)


def _settles_wrongly(drawn: DrawnScores, about: str) -> bool:
    table = _table(drawn)
    arms = recommend(table, about=about, replications=1).arms.loc[list(table.configs)]
    front = cost_aware_front(drawn.means[:, None], drawn.costs)
    return bool((arms["front_settled"] & (arms["on_front"] != front)).any())


def _misses(drawn: DrawnScores, case: Interval) -> bool:
    scores = drawn.scores[:1]
    truth = drawn.means[0]
    lowest = 0.0
    if case.step:
        scores = drawn.scores[1:] - drawn.scores[:1]
        truth = drawn.means[1] - drawn.means[0]
        lowest = -1.0

    if case.n_evaluated is None:
        low, high = mean_limits(scores, np.ones(scores.shape), low=lowest)
        return not low[0] <= truth <= high[0]

    n_instances = scores.shape[1]
    truth = scores.mean()
    scores = scores[:, : case.n_evaluated]
    low, high = finite_mean_limits(
        scores, np.ones(scores.shape), n_instances, low=lowest
    )
    return not low[0] - TIE <= truth <= high[0] + TIE
