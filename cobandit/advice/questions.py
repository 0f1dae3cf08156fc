r"""What the instances of a table settle, what they do not, and how many more would.

Many comparisons are made at once.  How large a t-statistic has to be for all of them to be right together
is found by step-down max-t, paired on instances.  Configurations share instances, so their t-statistics
move together, and the largest of many of them is smaller than Bonferroni's inequality allows for.  Its
distribution is drawn: every instance gets a standard normal weight, the same for all configurations and
objectives, which gives errors that are correlated as those of the means are.  What is settled at one step
leaves, and the rest is compared among fewer (Romano and Wolf, Econometrica 73, 2005).  Gaps that are three
standard errors to the other side do not count: they are not what errs (Hansen, Journal of Business and
Economic Statistics 23, 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget
from cobandit.advice import paired
from cobandit.advice.paired import Bools, Floats, Gaps, Ints, Paired, critical_value
from cobandit.policies.cost_comparison import FRONTS
from cobandit.policies.pareto_race import FIRST_LOOK, ParetoRace, arrange

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Draws of the largest statistic, unless that takes more than `WORK` numbers.
DRAWS = 2000
WORK = 10**9
#: Fewer draws than this beyond a quantile do not tell it: Bonferroni's value is taken.
BEYOND = 5
#: Standard errors at which a gap counts as being of the sign that it has.
CLEAR = 3.0


class Levels(NamedTuple):
    """One-sided levels of single comparisons at which all answers are right together."""

    off: float  # a configuration is off the front: some other beats it everywhere
    on: float  # it is on the front: each other fails to beat it in some objective


class DrawnErrors:
    """Errors of gaps, drawn so that they vary together as the gaps do.

    Parameters
    ----------
    compared : Paired
    replications : int
        R.
    seed : int
    """

    def __init__(self, compared: Paired, replications: int, seed: int):
        self.replications = replications
        self._compared, self._rng = compared, np.random.default_rng(seed)
        n_rows, n_arms = compared.variances.shape
        n_units = compared.evaluations.n_units
        if not compared.complete:  # every pair has instances of its own
            self._weights = self._rng.standard_normal((n_units, replications), dtype=np.float32)
            self._noise = self._draw_noise((n_rows, n_arms, replications))
            return
        self._errors = np.empty((n_rows, n_arms, replications), dtype=np.float32)
        for drawn in paired.cut(np.arange(replications), paired.BLOCK // n_units):
            weights = self._rng.standard_normal((len(drawn), n_units)).T
            for arms in compared.evaluations.blocks(np.arange(n_arms)):
                self._errors[:, arms[0] : arms[-1] + 1, drawn] = compared.influence(arms) @ weights
        self._errors += self._draw_noise(self._errors.shape)

    def _draw_noise(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw what the instance more of each arm adds."""
        spread = np.sqrt(self._compared.one_more)[:, :, None]
        noise: NDArray[np.float32] = spread * self._rng.standard_normal(shape, dtype=np.float32)
        return noise

    def of_gaps(self, arm: int, others: Ints) -> NDArray[np.float32]:
        """Errors of the gaps of an arm and others: shape (D + 1, m, R)."""
        if self._compared.complete:
            drawn: NDArray[np.float32] = self._errors[:, others] - self._errors[:, [arm]]
            return drawn
        influence, _, _, shared = self._compared.gap_influence(arm, others)
        units, shared = self._compared.units, np.maximum(shared, 1)
        mine, theirs = (units[arms] / shared for arms in (arm, others))
        drawn = influence.astype(np.float32) @ self._weights
        drawn += theirs[:, None] * self._noise[:, others] - mine[:, None] * self._noise[:, [arm]]
        return drawn


class Clearest(NamedTuple):
    """Of each arm the clearest evidence that one other beats it everywhere, shape (K,) each."""

    ratios: Floats
    shared: Ints  # instances behind it, or clusters


def find_clearest(compared: Paired) -> Clearest:
    """Find the clearest evidence against each arm: the least probable were the two alike."""
    from scipy import stats  # half a second that an import of cobandit need not take

    ratios, shared = [], []
    for gaps in compared.dominance():
        least = _least(gaps)
        evidence = least
        if not compared.complete:  # a ratio says more where more instances are shared
            evidence = -stats.t.logsf(least, np.maximum(gaps.shared, 2) - 1)
            evidence[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
        place = evidence.argmax(axis=1)[:, None]
        ratios.append(np.take_along_axis(least, place, axis=1)[:, 0])
        shared.append(np.take_along_axis(gaps.shared, place, axis=1)[:, 0])
    return Clearest(np.concatenate(ratios), np.concatenate(shared))


def find_levels(compared: Paired, alpha: float, seed: int = 0) -> Levels:
    r"""Find the levels of single comparisons that make all memberships right together.

    With :math:`g_i = \max_j \min_d t_{ij}^{(d)}` the clearest evidence that some j beats i everywhere, i is
    called off the front where :math:`g_i` is large and on it where :math:`-g_i` is.  Each configuration that
    might be called wrongly has an equal share of the error: those that may be off by its D objectives, those
    that may be on by the distribution of the largest :math:`g_i` among them, were none of them beaten.

    Parameters
    ----------
    compared : Paired
    alpha : float
        Probability that any membership that is called settled is wrong.
    seed : int

    Returns
    -------
    Levels
        None of them below Bonferroni's; ``on`` unless more arms may be wrong than there are.

    Notes
    -----
    Time O(K I R) for R draws and O(R) for each pair of configurations that Bonferroni's inequality leaves
    open.

    Examples
    --------
    >>> import cobandit as cb
    >>> levels = find_levels(Paired(cb.load("synthetic-24")), 0.05)
    >>> bonferroni = 0.05 / (24 * 23)
    >>> bool(levels.off > 2 * bonferroni)
    True
    """
    n_arms, n_objectives = len(compared.costs), compared.n_compared
    room = WORK / (n_objectives * n_arms**2)
    if not compared.complete:  # all weights are held at once
        room = min(room, 8 * paired.BLOCK / compared.evaluations.n_units)
    errors = DrawnErrors(compared, int(min(DRAWS, max(200, room))), seed)
    clearest = find_clearest(compared)
    found = Levels(alpha / (2 * n_arms * (n_arms - 1)), alpha / (2 * n_arms * n_objectives))  # Bonferroni's
    open_ = ~_settled(clearest, found)
    largest = _largest(compared, open_, errors)
    while open_.any():
        maybe_on, maybe_off = open_ & (clearest.ratios >= -CLEAR), open_ & (clearest.ratios <= CLEAR)
        either = int(maybe_on.sum() + maybe_off.sum())
        share = alpha * maybe_on.sum() / either
        least = share / max(1, maybe_on.sum() * (n_arms - 1))
        off = max(least, _level(largest[maybe_on], share))
        found = Levels(max(found.off, off), max(found.on, alpha / (either * n_objectives)))
        left = open_ & ~_settled(clearest, found)
        if (left == open_).all():
            break
        open_ = left
    return found


def _settled(clearest: Clearest, levels: Levels) -> Bools:
    off, on = (_critical(clearest.shared, level) for level in levels)
    settled: Bools = (clearest.ratios > off) | (clearest.ratios < -on)
    return settled


def _critical(shared: Ints, level: float) -> Floats:
    """Critical values for so many shared instances each, of which few numbers differ."""
    counts, place = np.unique(shared, return_inverse=True)
    return critical_value(counts, level)[place].reshape(shared.shape)


def _least(gaps: Gaps) -> Floats:
    """By how much each other is ahead in every objective, itself not at all: shape (k, K)."""
    least = gaps.ratios.min(axis=0)
    least[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
    return least


def _largest(compared: Paired, asked: Bools, errors: DrawnErrors) -> NDArray[np.float32]:
    """Largest statistic of each arm asked for, in each draw, if no other arm were ahead of it: shape (K, R).

    Others that are clearly behind in some objective do not count, nor do objectives in which they are clearly
    ahead, unless they are in all.
    """
    largest = np.full((len(asked), errors.replications), -np.inf, dtype=np.float32)
    for gaps in compared.dominance(np.flatnonzero(asked)):
        least = _least(gaps)
        for k, arm in enumerate(gaps.arms):
            t, error = gaps.ratios[:, k], gaps.errors[:, k].astype(np.float32)
            near = (least[k] >= -CLEAR) & (t <= np.maximum(CLEAR, least[k])) & (error > 0)
            near &= gaps.shared[k] > 1
            others = np.flatnonzero(near.any(axis=0))
            if not len(others):
                continue
            drawn = errors.of_gaps(arm, others)
            for d in range(len(t)):
                each = near[d, others]
                if each.any():
                    statistics = drawn[d, each] / error[d, others[each], None]
                    np.maximum(largest[arm], statistics.max(axis=0), out=largest[arm])
    return largest


def _level(largest: NDArray[np.float32], alpha: float) -> float:
    """One-sided level of the quantile of the largest statistic, 0 where the draws do not tell it."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if not len(largest) or alpha * largest.shape[1] < BEYOND:
        return 0.0
    return float(stats.norm.sf(np.quantile(largest.max(axis=0), 1 - alpha, method="higher")))


def find_questions(compared: Paired, levels: Levels) -> pd.DataFrame:
    r"""Find the memberships that are not settled, and how many evaluations more would settle each.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d t_{ij}^{(d)}` above the critical
    value at level ``off``; it is on the front if of every other arm the smallest t is below minus that at
    level ``on``.

    A standard error falls with the root of the number of instances, so the instances of both arms have to be
    ``(factor / ratio)^2`` times what they are; about the benchmark itself 1 / n falls towards 1 / N.

    Parameters
    ----------
    compared : Paired
    levels : Levels

    Returns
    -------
    DataFrame
        ``arm``, ``against``, ``ratio``, ``factor``, ``evaluations``, ``new_instances`` and ``price``, as
        `cobandit.advice.Recommendation` has them, the cheapest first.
    """
    clearest, asked = find_clearest(compared), []
    for gaps in compared.dominance():
        off, on = (_critical(gaps.shared, level) for level in levels)
        for k, (arm, ratio) in enumerate(zip(gaps.arms, _least(gaps), strict=True)):
            rivals, factor = np.arange(len(ratio)), on[k]
            if clearest.ratios[arm] > 0:  # dominated, by the means
                rivals, factor = np.flatnonzero(ratio == clearest.ratios[arm])[:1], off[k]
            is_open = (np.abs(ratio) <= factor) | compared.in_cycle[arm]
            rivals = rivals[np.isfinite(ratio[rivals]) & is_open[rivals]]
            if not len(rivals):
                continue
            with np.errstate(divide="ignore"):
                times = (factor / ratio)[rivals] ** 2
            hardest = int(times.argmax())
            against = rivals[hardest]
            arms, times = np.append(rivals, arm), np.append(times, times[hardest])
            extra = _count_more(compared, arms, times)
            new, price = np.maximum(extra - compared.missing[arms], 0).max(), extra @ compared.costs[arms]
            asked.append((arm, against, abs(ratio[against]), factor[against], extra.sum(), new, price))
    columns = ["arm", "against", "ratio", "factor", "evaluations", "new_instances", "price"]
    found = pd.DataFrame(asked, columns=columns, dtype=float).astype({"arm": int, "against": int})
    return found.sort_values("price", kind="stable", ignore_index=True)


def _count_more(compared: Paired, arms: Ints, times: Floats) -> Floats:
    """Count the evaluations more that make each arm's instances so many times what they are."""
    n, total = compared.counts[arms], compared.n_instances
    if not compared.finite:
        return np.maximum(np.ceil((times - 1) * n), 1.0)
    extra = np.ceil(1 / (1 / total + (1 / n - 1 / total) / times) - n - 1e-9)
    return np.clip(extra, np.minimum(1, total - n), total - n)


@dataclass(frozen=True)
class NextEvaluations:
    """What a race has settled, and what it would go on with.

    Attributes
    ----------
    settled : int
        Configurations that are settled now: known to be kept, or not needed.
    would_be_settled : int
        How many would be after the evaluations named, if means and variances stay as they are.
    compared : bool
        Whether all configurations share instances enough to be compared; if not, ``pairs`` are what the first
        comparison takes, and ``evaluations`` is everything that is missing.
    evaluations : int
        About how many it takes to settle all.
    price, step : float
        What these cost, in the table's unit; and those until one more can be expected to be settled.
    pairs : DataFrame
        ``configuration``, ``instance``: the evaluations to make, in order; those of a budget, if there is
        one, and none if the budget can be expected to settle nothing more.
    """

    settled: int
    would_be_settled: int
    compared: bool
    evaluations: int
    price: float
    step: float
    pairs: pd.DataFrame


def plan_next(
    table: EvaluationTable,
    budget: float | None = None,
    tolerance: ArrayLike = 0.0,
    error: float = 0.05,
    seed: int = 0,
    at_random: bool = True,
    certified: bool = False,
    *,
    front: str = FRONTS[0],
    cost_tolerance: float | str = 0.0,
) -> NextEvaluations:
    """Plan the evaluations that are missing, as `cobandit.ParetoRace` would go on.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.
    budget : float, optional
        What they may cost, in the table's unit.
    tolerance : float or array_like, shape (D,)
        What is not worth telling apart, in the unit of each objective.
    error : float
        In (0, 1).
    seed : int
        Of the order of the instances: those that most configurations have first, equal ones at random.
    at_random : bool
        Whether an evaluation is there whatever the instance; if not, nothing is settled by those that are,
        and the instances come in random order.
    certified : bool
        Whether only what a certified race would call certain is settled.
    front, cost_tolerance
        As of `cobandit.ParetoRace`.

    Returns
    -------
    NextEvaluations

    Examples
    --------
    >>> import cobandit as cb
    >>> plan = plan_next(cb.load("synthetic-24"))
    >>> plan.settled, plan.evaluations, len(plan.pairs)  # everything is evaluated
    (24, 0, 0)
    """
    rows, costs = table.rows, table.summary()["cost"].to_numpy()
    instances = rows["instance"].cat.categories.tolist()
    unmet = table.n_benchmark - len(instances)
    instances += [f"{number} of {unmet} that the table does not have" for number in range(1, unmet + 1)]
    scores = np.full((len(instances), table.n_arms, table.n_objectives), np.nan)
    scores[rows["instance"].cat.codes, rows["config"].cat.codes] = rows[list(table.objectives)]
    paid = np.full(scores.shape[:2], np.nan)
    paid[rows["instance"].cat.codes, rows["config"].cat.codes] = rows["cost"]
    unit = _number_units(table, len(instances))
    members = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    missing = np.isnan(scores[:, :, 0])
    complete = np.array([~missing[each].any(axis=0) for each in members])
    # with nothing to go by, all units stand in random order
    units = arrange(complete if at_random else np.zeros(complete.shape), seed)
    order = np.concatenate([members[each] for each in units])
    missing = missing[order]
    race = ParetoRace(
        costs,
        table.n_objectives,
        len(order),
        tolerance=np.minimum(np.asarray(tolerance, dtype=float), 1.0),
        error=error,
        certified=certified,
        front=front,
        cost_tolerance=cost_tolerance,
        cluster=None if table.clusters is None else unit[order],
    )
    race.know(scores[order], paid[order])

    def count_first(n_units: int) -> Ints:
        """Count the evaluations that so many units, the first ones, lack of each configuration."""
        lacking: Ints = missing[: sum(len(members[each]) for each in units[:n_units])].sum(axis=0)
        return lacking

    looks = [(part, float(part @ costs), int(who.sum())) for part, who in race.foresee()]
    settled, (whole, price, _) = looks[0][2], looks[-1]
    limit = inf if budget is None else _budget.add_slack(budget)
    compared = race.depth >= min(FIRST_LOOK, len(units))
    if not at_random:
        settled = would_be_settled = 0
        is_open: Bools = np.any(~complete[units], axis=1)
        whole, part = missing.sum(axis=0), count_first(_reach(is_open))
        price, step = float(whole @ costs), float(part @ costs)
        compared, worth = False, step <= limit
    elif compared:
        step = next((cost for _, cost, n in looks if n > settled), 0.0)
        *_, (part, _, would_be_settled) = (each for each in looks if each[1] <= limit)
        worth = would_be_settled > settled
    else:
        part, would_be_settled = count_first(FIRST_LOOK), settled
        step = float(part @ costs)
        worth = step <= limit
    places, arms = np.nonzero(missing & (missing.cumsum(axis=0) <= part))
    pairs = [(table.configs[arm], instances[order[place]]) for place, arm in zip(places, arms, strict=True)]
    named = pd.DataFrame(pairs if worth else [], columns=["configuration", "instance"], dtype=str)
    evaluations = int(whole.sum())
    return NextEvaluations(settled, would_be_settled, compared, evaluations, price, step, named)


def _number_units(table: EvaluationTable, n_instances: int) -> Ints:
    """Number the clusters of a benchmark, or its instances; those not met stand for themselves."""
    clusters = table.clusters
    if clusters is None:
        return np.arange(n_instances)
    _, unit = np.unique(clusters, return_inverse=True)
    return np.concatenate([unit, unit.max() + 1 + np.arange(n_instances - len(unit))])


def _reach(is_open: Bools) -> int:
    """How many units to go through, so that as many of them are open as a first comparison takes."""
    needed = min(FIRST_LOOK, int(is_open.sum()))
    return int(np.searchsorted(np.cumsum(is_open), needed)) + 1
