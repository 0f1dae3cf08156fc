r"""What the instances of a table settle, what they do not, and how many more would.

Many comparisons are made at once.  How large a t-statistic has to be for all of them to be right together
is found by step-down max-t, paired on instances.  Configurations share instances, so their t-statistics
move together, and the largest of many of them is smaller than Bonferroni's inequality allows for.  Its
distribution is drawn: every instance gets a standard normal weight, the same for all configurations and
objectives, which gives errors that are correlated as those of the means are.  What is settled at one step
leaves, and the rest is compared among fewer (Romano and Wolf, Econometrica 73, 2005).  Gaps that are three
standard errors to the other side do not count: they are not what errs (Hansen, Journal of Business and
Economic Statistics 23, 2005).

Of costs the tail is estimated, too: a few evaluations may carry most of a mean cost, and more may be unmet.
A standard error is computed from what was met.  Where costs have a heavy tail, most samples have met little
of it, and look both cheap and sure: with a tail like Pareto's of exponent 1.25 half of all means of sixty
evaluations are too low by a quarter or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.advice import paired
from cobandit.advice.paired import Evaluations, Gaps, Paired, critical_value
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
    """One-sided levels of single comparisons at which all answers to a question are right together."""

    off: float  # a configuration is off the front: some other beats it everywhere
    on: float  # it is on the front: each other fails to beat it in some objective
    best: NDArray[np.float64]  # (K,) it is less efficient than the best


def draw_errors(compared: Paired, replications: int, seed: int) -> NDArray[np.float32]:
    """Errors of means and, last, of efficiencies, that vary together as those do: shape (D + 2, K, R)."""
    rng, n_instances = np.random.default_rng(seed), compared.evaluations.n_instances
    n_arms, n_rows = len(compared.costs), len(compared.variances)
    errors = np.empty((n_rows, n_arms, replications), dtype=np.float32)
    chunk = max(1, paired.BLOCK // n_instances)
    for start in range(0, replications, chunk):
        drawn = slice(start, min(start + chunk, replications))
        weights = rng.standard_normal((drawn.stop - drawn.start, n_instances)).T
        for arms in compared.evaluations.blocks(np.arange(n_arms)):
            errors[:, arms[0] : arms[-1] + 1, drawn] = compared.influence(arms) @ weights
    errors += np.sqrt(compared.one_more)[:, :, None] * rng.standard_normal(errors.shape, dtype=np.float32)
    return errors


def find_levels(compared: Paired, alpha: float, seed: int = 0) -> Levels:
    r"""Find the levels of single comparisons that make all answers right together.

    Membership.  With :math:`g_i = \max_j \min_d t_{ij}^{(d)}` the clearest evidence that some j beats i
    everywhere, i is called off the front where :math:`g_i` is large and on it where :math:`-g_i` is.  Each
    configuration that might be called wrongly has an equal share of the error: those that may be off by its D
    objectives, those that may be on by the distribution of the largest :math:`g_i` among them, were none of
    them beaten.

    Efficiency.  Whether i could be the most efficient is one comparison of i with all others, by the
    distribution of the largest of these: only one configuration is most efficient, so no further correction
    is needed.

    Parameters
    ----------
    compared : Paired
    alpha : float
        Probability that any answer to one of the questions that is called settled is wrong.
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
    >>> from cobandit.advice.paired import compare_pairs
    >>> levels = find_levels(compare_pairs(cb.load("synthetic-24")), 0.05)
    >>> bonferroni = 0.05 / (24 * 23)
    >>> bool(levels.off > 2 * bonferroni), bool((levels.best >= 0.05 / 23).all())
    (True, True)
    """
    n_arms = len(compared.costs)
    draws = int(min(DRAWS, max(200, WORK / (compared.n_compared * n_arms**2))))
    errors = draw_errors(compared, draws, seed)
    off, on = _front_levels(compared, alpha, errors[: compared.n_compared])
    return Levels(off, on, _best_levels(compared, alpha, errors[-1:]))


def _front_levels(compared: Paired, alpha: float, errors: NDArray[np.float32]) -> tuple[float, float]:
    """Step down over configurations, starting from Bonferroni's inequality."""
    n_arms, n_objectives = len(compared.costs), compared.n_compared
    clearest = np.concatenate([_least(gaps).max(axis=1) for gaps in compared.dominance()])
    bonferroni = Levels(alpha / (2 * n_arms * (n_arms - 1)), alpha / (2 * n_arms * n_objectives), np.empty(0))
    found, open_ = bonferroni, ~_settled(compared, clearest, bonferroni)
    largest = np.full((n_arms, errors.shape[2]), -np.inf, dtype=np.float32)
    for gaps in compared.dominance(np.flatnonzero(open_)):
        largest[gaps.arms] = _largest(gaps, errors)
    while open_.any():
        maybe_on, maybe_off = open_ & (clearest >= -CLEAR), open_ & (clearest <= CLEAR)
        either = int(maybe_on.sum() + maybe_off.sum())
        share = alpha * maybe_on.sum() / either
        least = share / max(1, maybe_on.sum() * (n_arms - 1))
        off = max(least, _level(largest[maybe_on], share))
        found = Levels(max(found.off, off), max(found.on, alpha / (either * n_objectives)), found.best)
        left = open_ & ~_settled(compared, clearest, found)
        if (left == open_).all():
            break
        open_ = left
    return found.off, found.on


def _settled(compared: Paired, clearest: NDArray[np.float64], levels: Levels) -> NDArray[np.bool_]:
    off, on = critical_value(compared.counts, levels.off), critical_value(compared.counts, levels.on)
    settled: NDArray[np.bool_] = (clearest > off) | (clearest < -on)
    return settled


def _best_levels(compared: Paired, alpha: float, errors: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each arm the level at which the largest of its comparisons with the others exceeds chance."""
    n_arms, levels = len(compared.costs), np.full(len(compared.costs), alpha / (len(compared.costs) - 1))
    best = int(compared.efficiency.argmax())
    behind = np.concatenate([gaps.ratios[0, :, best] for gaps in compared.efficiency_gaps()])
    # what Bonferroni's inequality settles needs no draws, nor what a single comparison would leave open
    between = (behind <= critical_value(compared.counts, alpha / (n_arms - 1))) & (
        behind > critical_value(compared.counts, alpha)
    )
    for gaps in compared.efficiency_gaps(np.flatnonzero(between)):
        for arm, drawn in zip(gaps.arms, _largest(gaps, errors), strict=True):
            levels[arm] = max(levels[arm], _level(drawn[None], alpha))
    return levels


def _least(gaps: Gaps) -> NDArray[np.float64]:
    """By how much each other is ahead in every objective, itself not at all: shape (k, K)."""
    least = gaps.ratios.min(axis=0)
    least[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
    return least


def _largest(gaps: Gaps, errors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Largest statistic of each arm in each draw, if no other arm were ahead of it: shape (k, R).

    Others that are clearly behind in some objective do not count, nor do objectives in which they are clearly
    ahead, unless they are in all.
    """
    least = _least(gaps)
    largest = np.full((len(gaps.arms), errors.shape[2]), -np.inf, dtype=np.float32)
    for k, arm in enumerate(gaps.arms):
        for d, each in enumerate(errors):
            t, error = gaps.ratios[d, k], gaps.errors[d, k].astype(np.float32)
            others = (least[k] >= -CLEAR) & (t <= np.maximum(CLEAR, least[k])) & (error > 0)
            if others.any():
                drawn = (each[others] - each[arm]) / error[others, None]
                np.maximum(largest[k], drawn.max(axis=0), out=largest[k])
    return largest


def _level(largest: NDArray[np.float32], alpha: float) -> float:
    """One-sided level of the quantile of the largest statistic, 0 where the draws do not tell it."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if not len(largest) or alpha * largest.shape[1] < BEYOND:
        return 0.0
    return float(stats.norm.sf(np.quantile(largest.max(axis=0), 1 - alpha, method="higher")))


#: Standard errors that are added to an estimated tail index.
CAUTION = 3.0
#: A largest cost that is met so often is a cap.
CAPPED = 3


class Tails(NamedTuple):
    """Tails of the costs of K arms."""

    carried_by: NDArray[np.int64]  # (K,) most expensive evaluations that carry half of the mean cost
    unmet: NDArray[
        np.float64
    ]  # (K,) share of the mean cost that a tail like this may hold beyond what was met


def find_tails(compared: Paired) -> Tails:
    r"""Estimate how much of each arm's mean cost may lie beyond what was met.

    .. math::

        \hat\xi_i = \frac1k \sum_{m=1}^k \log \frac{c_{i(m)}}{c_{i(k+1)}}, \qquad
        u_i = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi_i \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate (Annals of Statistics 3, 1975) from the :math:`k = 2 \sqrt n` largest of n costs, and the
    share of its mean that a Pareto tail of index :math:`\xi` holds beyond its 1 - 1/n quantile, over what
    constant costs hold there, with the index three of its standard errors up.  For sixty costs within a
    factor of two that is about a hundredth, for sixty exponential ones a half, and for sixty with a tail like
    Pareto's of exponent 1.25 everything.  Costs whose largest is met three times or more have a cap, such as
    a limit on what is generated, and no tail beyond it.

    Parameters
    ----------
    compared : Paired

    Returns
    -------
    Tails
        About the benchmark itself, ``unmet`` is for missing evaluations only.

    Examples
    --------
    >>> import cobandit as cb
    >>> from cobandit.advice.paired import compare_pairs
    >>> tails = find_tails(compare_pairs(cb.load("synthetic-24")))
    >>> tails.carried_by.min(), tails.unmet.max().round(4)  # of 400 evaluations
    (np.int64(152), np.float64(0.0012))
    """
    carried_by = np.empty(len(compared.costs), dtype=np.int64)
    unmet = np.empty(len(compared.costs))
    for arm in range(len(unmet)):
        costs = np.sort(compared.evaluations.costs_of(arm))[::-1]
        carried_by[arm] = np.searchsorted(np.cumsum(costs), costs.sum() / 2 * (1 - 1e-12)) + 1
        unmet[arm] = _unmet(costs)
    if compared.finite:
        unmet *= compared.missing / compared.n_instances
    return Tails(carried_by, unmet)


def _unmet(costs: NDArray[np.float64]) -> float:
    """Share of the mean beyond what was met, of costs sorted downwards."""
    n = len(costs)
    if costs[min(CAPPED, n) - 1] == costs[0]:
        return 0.0
    k = max(1, min(int(2 * np.sqrt(n)), n - 1))
    index = np.log(costs[:k] / costs[k]).mean() * (1 + CAUTION / np.sqrt(k))
    return float(min(1.0, np.expm1(min(index, 1.0) * np.log(n)) / n)) if index < 1 else 1.0


class Question(NamedTuple):
    """An unsettled answer: about which arm, and how many evaluations more of which arms would settle it."""

    kind: str  # "front" or "efficiency"
    arm: int
    against: int  # the arm that is hardest to tell from it
    ratio: float  # gap over its standard error, now
    factor: float  # what the ratio has to be
    arms: NDArray[np.int64]
    extra: NDArray[np.float64]  # (len(arms),), inf for a tie or a tail
    price: float  # in the table's unit

    def new(self, missing: NDArray[np.int64]) -> float:
        """Instances that it takes beyond the benchmark, of which each arm of all still misses so many."""
        return float(np.maximum(self.extra - missing[self.arms], 0).max())

    @property
    def why(self) -> str:
        """What leaves it open: the size of the gap, that it is a tie, or the tail of the costs."""
        if self.ratio > self.factor:  # and open even so
            return "tail"
        return "gap" if np.isfinite(self.price) else "tie"


def front_questions(compared: Paired, levels: Levels) -> list[Question]:
    r"""Memberships that are not settled.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d t_{ij}^{(d)}` above the critical
    value at level ``off``; it is on the front if of every other arm the smallest t is below minus that at
    level ``on``.
    """
    off, on = critical_value(compared.counts, levels.off), critical_value(compared.counts, levels.on)
    asked = []
    for gaps in compared.dominance():
        for arm, ratio in zip(gaps.arms, _least(gaps), strict=True):
            rival = int(ratio.argmax())
            if ratio[rival] > 0:  # dominated, by the means
                rivals, factor = np.array([rival]), np.maximum(off[arm], off[[rival]])
            else:
                rivals, factor = np.flatnonzero(np.isfinite(ratio)), np.maximum(on[arm], on)
                factor = factor[rivals]
            asked += _question("front", int(arm), rivals, np.abs(ratio[rivals]), factor, compared)
    return asked


def efficiency_questions(compared: Paired, levels: Levels, tails: Tails) -> list[Question]:
    """Arms that could be more efficient than the one that is most efficient by the means.

    Either the gap is too small for its standard error, or what the tail of the best arm's costs may hold
    beyond what was met would close it.
    """
    best = int(compared.efficiency.argmax())
    ratio = np.concatenate([gaps.ratios[0, :, best] for gaps in compared.efficiency_gaps()])
    factor = critical_value(np.minimum(compared.counts, compared.counts[best]), levels.best)
    within = compared.efficiency[best] * (1 - tails.unmet[best]) <= compared.efficiency
    asked = []
    for arm in np.flatnonzero((ratio <= factor) | within).tolist():
        exact = compared.finite and not compared.missing[[arm, best]].any()
        if arm == best or exact:
            continue
        if ratio[arm] > factor[arm]:  # no number of evaluations is told by so few
            arms, never = np.array([best, arm]), np.full(2, np.inf)
            asked += [Question("efficiency", arm, best, ratio[arm], factor[arm], arms, never, float("inf"))]
        else:
            here = np.array([best])
            asked += _question("efficiency", arm, here, ratio[[arm]], factor[[arm]], compared)
    return asked


def _question(
    kind: str,
    arm: int,
    rivals: NDArray[np.int64],
    ratio: NDArray[np.float64],
    factor: NDArray[np.float64],
    compared: Paired,
) -> list[Question]:
    """One question, or none if every ratio is beyond its factor.

    A standard error falls with the root of the number of instances, so the instances of both arms have to be
    ``(factor / ratio)^2`` times what they are; about the benchmark itself 1 / n falls towards 1 / N.
    """
    unsettled = ratio <= factor
    if not unsettled.any():
        return []
    rivals, ratio, factor = rivals[unsettled], ratio[unsettled], factor[unsettled]
    with np.errstate(divide="ignore"):
        times = (factor / ratio) ** 2
    hardest = int(times.argmax())
    arms, times = np.append(rivals, arm), np.append(times, times[hardest])
    n = compared.counts[arms]
    if compared.finite:
        total = compared.n_instances
        extra = np.ceil(1 / (1 / total + (1 / n - 1 / total) / times) - n - 1e-9)
        extra = np.clip(extra, np.minimum(1, total - n), total - n)
    else:
        extra = np.maximum(np.ceil((times - 1) * n), 1.0)
    price = float(extra @ compared.costs[arms])
    return [
        Question(
            kind, arm, int(rivals[hardest]), float(ratio[hardest]), float(factor[hardest]), arms, extra, price
        )
    ]


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
    n_instances: int | None = None,
) -> NextEvaluations:
    """Plan the evaluations that are missing, as `cobandit.ParetoRace` would go on.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.  Whether an evaluation is there must not depend on what it gave.
    budget : float, optional
        What they may cost, in the table's unit.
    tolerance : float or array_like, shape (D,)
        What is not worth telling apart, in the unit of each objective.
    error : float
        In (0, 1).
    seed : int
        Of the order of the instances: those that most configurations have first, equal ones at random.
    n_instances : int, optional
        Of the benchmark, by default those that the table says it has; those beyond the table have no names.

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
    instances = table.rows["instance"].cat.categories.tolist()
    unmet = (n_instances or table.n_benchmark) - len(instances)
    instances += [f"{number} of {unmet} that the table does not have" for number in range(1, unmet + 1)]
    values, present = Evaluations(table).block(np.arange(table.n_arms))
    values = np.pad(values, [(0, 0), (0, 0), (0, unmet)])
    present = np.pad(present, [(0, 0), (0, unmet)])
    order = arrange(present.T, seed)
    rewards = np.where(present.T[order][:, :, None], values[:-1].transpose(2, 1, 0)[order], np.nan)
    costs = table.summary()["cost"].to_numpy()
    race = ParetoRace(costs, table.n_objectives, len(order), tolerance=tolerance, error=error)
    race.know(rewards)
    looks = [(part, float(part @ costs), int(who.sum())) for part, who in race.foresee()]
    settled, (whole, price, _) = looks[0][2], looks[-1]
    limit = inf if budget is None else _check.add_slack(budget)
    compared = race.depth >= min(FIRST_LOOK, len(order))
    if compared:
        step = next((cost for _, cost, n in looks if n > settled), 0.0)
        *_, (part, _, would_be_settled) = (each for each in looks if each[1] <= limit)
        worth = would_be_settled > settled
    else:
        part, would_be_settled = (~present[:, order[:FIRST_LOOK]]).sum(axis=1), settled
        step = float(part @ costs)
        worth = step <= limit
    chosen = sorted(
        (place, arm)
        for arm in np.flatnonzero(part).tolist()
        for place in np.flatnonzero(~present[arm, order])[: part[arm]].tolist()
    )
    pairs = [(table.configs[arm], instances[order[place]]) for place, arm in chosen] if worth else []
    return NextEvaluations(
        settled,
        would_be_settled,
        compared,
        int(whole.sum()),
        price,
        step,
        pd.DataFrame(pairs, columns=["configuration", "instance"], dtype=str),
    )
