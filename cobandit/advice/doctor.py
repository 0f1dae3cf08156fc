"""What a careful colleague would notice before trusting a table, each with its number and what to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.advice.paired import Evaluations, compare_pairs
from cobandit.advice.questions import find_tails
from cobandit.advice.splits import compare_splits
from cobandit.advice.words import describe_free, percent, some_names
from cobandit.errors import CobanditError
from cobandit.faults import amount, ellipsize
from cobandit.stats.paired_errors import replays_needed

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Letters of a name that a finding shows, at most.
LONGEST = 60


class Finding(NamedTuple):
    """One thing to notice: what it is called, the number behind it, what was found and what to do."""

    name: str
    number: float
    found: str
    todo: str

    def __str__(self) -> str:
        """What was found and what to do, on one line."""
        return f"{self.found}. {self.todo}."


class Rows(NamedTuple):
    """A table as flat arrays, arm after arm."""

    table: EvaluationTable
    evaluations: Evaluations

    def of(self, arm: int) -> slice:
        """Rows of an arm."""
        first, last = self.evaluations.offsets[arm : arm + 2]
        return slice(int(first), int(last))

    def objectives(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Name and scores of each objective."""
        return zip(self.table.objectives, self.evaluations.values[:-1], strict=True)

    def name(self, arm: int) -> str:
        """Name of a configuration; of a long one beginning and end."""
        return ellipsize(self.table.configs[arm], LONGEST)

    def names(self, arms: NDArray[np.int64] | list[int], most: int = 3) -> str:
        """Name some configurations, and count the rest."""
        return some_names([self.name(arm) for arm in arms], most)


#: An outlier costs so many times what the next costs, and is so large a share of its configuration's cost.
TIMES, SHARE = 5.0, 0.1
#: Share of a mean cost that may not have been met, from which on it is said, where so few carry half of it.
UNMET, FEW = 0.5, 0.2
#: Probability of an alarm about missing evaluations that are missing at random.
FALSE_ALARMS = 0.01
#: Most instances that are asked for in words.
MANY = 1_000_000


def doctor(table: EvaluationTable) -> list[Finding]:
    """Look a table over.

    Looked for are configurations of constant scores, and duplicates; instances that tell nothing; costs that
    an import made up, or that one evaluation or a heavy tail dominates; objectives that are mostly one value,
    or one thing with another; too few instances; evaluations that are missing where it is hard; names that
    differ by spaces, and configurations that share no instance; a profiling split that was unlucky.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.

    Returns
    -------
    list of Finding
        Nothing in it is an error, and an empty list is no certificate.

    Notes
    -----
    Time O(N log N) for N rows, and what `cobandit.advice.compare_splits` takes.

    Examples
    --------
    >>> import cobandit as cb
    >>> [(finding.name, round(finding.number, 2)) for finding in doctor(cb.load("synthetic-24"))]
    []
    """
    _check.table(table)
    rows = Rows(table, Evaluations(table))
    checks = (
        constant,
        duplicates,
        alike,
        _free,
        _outlier,
        _tail,
        one_value,
        same,
        _few,
        _missing,
        _spaces,
        _disjoint,
        _profiling,
    )
    return [finding for check in checks for finding in check(rows)]


def _free(rows: Rows) -> Iterator[Finding]:
    """Costs that are made up, since an evaluation cost nothing."""
    table, smallest = rows.table, rows.table.card.smallest_cost
    if smallest is not None and table.n_free:
        yield Finding(
            "free",
            table.n_free,
            describe_free(table.n_free, len(table.rows), smallest, table.card.cost.unit),
            "See whether what is best for its cost stays so with another --smallest-cost of the import, or "
            "take a cost that is never zero, such as tokens",
        )


def _outlier(rows: Rows) -> Iterator[Finding]:
    """A single evaluation that makes the mean cost of its configuration."""
    worst: tuple[float, int, int] | None = None
    for arm in range(rows.table.n_arms):
        costs = rows.evaluations.costs_of(arm)
        order = np.argsort(costs)
        first, second = costs[order[-1]], costs[order[-2]]
        share = float(first / costs.sum())
        if first > TIMES * second and share > SHARE and (worst is None or share > worst[0]):
            worst = share, arm, int(order[-1])
    if worst is None:
        return
    share, arm, place = worst
    costs, at = rows.evaluations.costs_of(arm), rows.evaluations.instance[rows.of(arm)][place]
    unit, instance = rows.table.card.cost.unit, rows.table.rows["instance"].cat.categories[at]
    yield Finding(
        "outlier",
        share,
        f"One evaluation makes {percent(share)} of the cost of {rows.name(arm)}: {amount(costs[place])} "
        f"{unit} on instance {instance}, where the median is {amount(float(np.median(costs)))}",
        "Look whether it is real: an answer that never ended, a retry loop or a wrong unit does that",
    )


def _tail(rows: Rows) -> Iterator[Finding]:
    """Mean costs of which much may not have been met."""
    tails, counts = find_tails(compare_pairs(rows.table)), rows.evaluations.counts
    arms = np.flatnonzero((tails.unmet >= UNMET) & (tails.carried_by <= FEW * counts))
    if not len(arms):
        return
    worst = int(min(arms, key=lambda arm: (-tails.unmet[arm], tails.carried_by[arm] / counts[arm])))
    unmet = float(tails.unmet[worst])
    beyond = f"as much as {percent(unmet)} of the true mean" if unmet < 1 else "nearly all of the true mean"
    yield Finding(
        "tail",
        unmet,
        f"The costs of {len(arms)} of {rows.table.n_arms} configurations have a heavy tail "
        f"({rows.names(arms)}). Of {rows.name(worst)}, {tails.carried_by[worst]} of "
        f"{counts[worst]} evaluations carry half of the mean cost, and {beyond} may lie in costs larger than "
        "any that was met",
        "Evaluate these on more instances, or cap what one evaluation may cost, before comparing by cost",
    )


def _few(rows: Rows) -> Iterator[Finding]:
    """Objectives in which the best configuration cannot be told from the one in the middle."""
    from scipy import stats

    for name, scores in rows.objectives():
        means = rows.table.summary()[name].to_numpy()
        order = np.argsort(-means, kind="stable")
        place = len(order) // 2
        best, middle = int(order[0]), int(order[place])
        if means[best] == means[middle]:
            continue
        one, other = rows.of(best), rows.of(middle)
        instance = rows.evaluations.instance
        _, first, second = np.intersect1d(instance[one], instance[other], return_indices=True)
        x, y = scores[one][first], scores[other][second]
        if len(x) < 2 or x.mean() <= y.mean():
            continue
        if np.isin(scores, (0, 1)).all():
            wrong, n = [int((each == 0).sum()) for each in (x, y, np.maximum(x, y))], len(x)
            needed = replays_needed(wrong[0] / n, wrong[1] / n, wrong[2] / n)
        else:
            effect = (x - y).mean() / max((x - y).std(ddof=1), 1e-12)
            needed = float(np.ceil(((stats.norm.isf(0.025) + stats.norm.isf(0.2)) / effect) ** 2))
        many = f"{needed:,.0f}" if needed < MANY else "more than a million"
        if needed > len(x):
            other_one = "the other" if len(order) == 2 else f"number {place + 1} of {len(order)}"
            yield Finding(
                "few",
                needed,
                f"To tell the best in {name}, {rows.name(best)} ({x.mean():.3f}), from {other_one}, "
                f"{rows.name(middle)} ({y.mean():.3f}), with a chance of 80 % takes {many} "
                f"shared instances; there are {len(x)}",
                "Add instances, or compare fewer and more different configurations",
            )


def _missing(rows: Rows) -> Iterator[Finding]:
    """Configurations whose missing evaluations are on harder, or easier, instances than the others."""
    from scipy import stats

    instance, (name, scores) = rows.evaluations.instance, next(rows.objectives())
    seen, total = np.bincount(instance), np.bincount(instance, scores)
    short = np.flatnonzero(rows.evaluations.counts <= rows.evaluations.n_instances - 5)
    for arm in short:
        own = rows.of(int(arm))
        mine = np.zeros(len(seen), dtype=bool)
        mine[instance[own]] = True
        others = seen - mine
        rest = (total - np.bincount(instance[own], scores[own], len(seen))) / np.maximum(others, 1)
        there, gone = rest[mine & (others > 0)], rest[~mine & (others > 0)]
        if min(len(there), len(gone)) < 5 or np.ptp(rest[others > 0]) == 0:
            continue
        test = stats.mannwhitneyu(gone, there)
        if test.pvalue * len(short) <= FALSE_ALARMS:
            harder = "harder" if gone.mean() < there.mean() else "easier"
            yield Finding(
                "missing",
                float(gone.mean() - there.mean()),
                f"{rows.name(int(arm))} is missing on {len(gone)} of {len(seen)} instances, and they are "
                f"{harder}: the others' mean {name} is {gone.mean():.3f} there and {there.mean():.3f} where "
                "it was evaluated",
                "Evaluate it there before comparing: its mean is of other instances",
            )


def _spaces(rows: Rows) -> Iterator[Finding]:
    """Names that differ in nothing but white space: what is one thing is counted as two."""
    for what, names in (
        ("configurations", list(rows.table.configs)),
        ("instances", rows.table.rows["instance"].cat.categories.tolist()),
    ):
        alike = defaultdict(list)
        for name in names:
            alike[" ".join(name.split())].append(ellipsize(name, LONGEST))
        twice = [each for each in alike.values() if len(each) > 1]
        if twice:
            first, number = twice[0], sum(map(len, twice))
            yield Finding(
                "spaces",
                float(number),
                f"{number} {what} are named as another but for spaces, such as {first[0]!r} and {first[1]!r}",
                "Strip the names, if they mean the same, and make the table again",
            )


def _disjoint(rows: Rows) -> Iterator[Finding]:
    """Configurations that were never asked the same: what differs may be the instances."""
    from scipy import sparse

    # of two that share none, both miss what the other has: those that have all need no look
    short = np.flatnonzero(rows.evaluations.counts < rows.evaluations.n_instances)
    if len(short) < 2:
        return
    there = sparse.csr_array(
        (np.ones(len(rows.evaluations.arm)), (rows.evaluations.arm, rows.evaluations.instance))
    )[short]
    shared = (there @ there.T).toarray()
    apart = np.argwhere(np.triu(shared == 0, 1))
    if len(apart):
        one, other = short[apart[0]]
        yield Finding(
            "disjoint",
            float(len(apart)),
            f"Pairs of configurations that share no instance: {len(apart)}, first {rows.name(one)} and "
            f"{rows.name(other)}; what they differ in may be their instances",
            "See whether instances have the same names everywhere, or evaluate on shared ones",
        )


def _profiling(rows: Rows) -> Iterator[Finding]:
    """A profiling split that misleads."""
    try:
        splits = compare_splits(rows.table)
    except CobanditError:  # a configuration left a run early, and has no evaluation split to be held to
        return
    found, todo = splits.profiling()
    if todo:
        yield Finding("profiling", splits.p_value, found, todo)


#: A constant score means something from so many instances on.
ENOUGH = 10
#: Share of instances on which all configurations score alike, from which on it is said.
ALIKE = 0.2
#: Share of evaluations with one value, from which on a column hardly measures.
ONE_VALUE = 0.5
#: Rank correlation of two objectives from which on they are one thing.
SAME = 0.95


def constant(rows: Rows) -> Iterator[Finding]:
    """Configurations that score the same on every instance."""
    starts, counts = rows.evaluations.offsets[:-1], rows.evaluations.counts
    for name, scores in rows.objectives():
        low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
        for value in (0.0, 1.0):
            arms = np.flatnonzero((low == high) & (low == value) & (counts >= ENOUGH))
            if 0 < len(arms) < rows.table.n_arms:
                have = "has" if len(arms) == 1 else "have"
                yield Finding(
                    "constant",
                    float(len(arms)),
                    f"{len(arms)} of {rows.table.n_arms} configurations {have} {name} {value:g} "
                    f"on every instance: {rows.names(arms)}",
                    "Look at a few of their answers: a broken prompt, parser or scorer does that, or a task "
                    "that is too hard or too easy for them",
                )


def duplicates(rows: Rows) -> Iterator[Finding]:
    """Configurations that are the same in everything that was measured."""
    groups: defaultdict[bytes, list[int]] = defaultdict(list)
    for arm in range(rows.table.n_arms):
        own = rows.of(arm)
        parts = (rows.evaluations.instance[own], *(values[own] for values in rows.evaluations.values))
        groups[b"".join(part.tobytes() for part in parts)].append(arm)
    same = [arms for arms in groups.values() if len(arms) > 1]
    if same:
        yield Finding(
            "duplicates",
            float(sum(len(arms) - 1 for arms in same)),
            "Scores and costs are the same on every instance for "
            + "; ".join(rows.names(arms) for arms in same[:3]),
            "One may have been logged twice under two names, or an option did nothing: keep one",
        )


def alike(rows: Rows) -> Iterator[Finding]:
    """Instances on which all configurations score alike: no comparison learns from them."""
    instance = rows.evaluations.instance
    seen = np.bincount(instance)
    asked = seen >= max(3, rows.table.n_arms / 2)  # of an instance that few have met nothing follows
    for name, scores in rows.objectives():
        low, high = np.full(len(seen), np.inf), np.full(len(seen), -np.inf)
        np.minimum.at(low, instance, scores)
        np.maximum.at(high, instance, scores)
        same = asked & (low == high)
        share = same.sum() / max(1, asked.sum())
        if share <= ALIKE:
            continue
        right, wrong = (int((same & (low == value)).sum()) for value in (1, 0))
        left = asked.sum() - same.sum()
        yield Finding(
            "alike",
            float(share),
            f"On {percent(share)} of the instances all configurations have the same {name} (all 1 on "
            f"{right}, all 0 on {wrong}): {left} of {asked.sum()} tell configurations apart",
            "Add instances that are neither trivial nor hopeless"
            + (", and check the answer keys of those that nobody gets right" if wrong else ""),
        )


def one_value(rows: Rows) -> Iterator[Finding]:
    """Objectives that hardly measure: most evaluations have the same value."""
    for name, scores in rows.objectives():
        values, counts = np.unique(scores, return_counts=True)
        share = counts.max() / len(scores)
        value = values[counts.argmax()]
        card = rows.table.card.objectives[rows.table.objectives.index(name)]
        averaged = card.transform == "none" and value in (0, 1)  # right or wrong, over repeats
        if len(values) > 2 and share > ONE_VALUE and not averaged:
            yield Finding(
                "one value",
                float(share),
                f"{percent(share)} of the evaluations have {name} {value:.3g} (column {card.column})",
                "Check the clock or its resolution, or take other percentiles (low, high) in the card",
            )


def same(rows: Rows) -> Iterator[Finding]:
    """Objectives that order the configurations alike, or as the cost does that they are not made of."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if rows.table.n_arms < 5:
        return
    every = rows.table.summary()
    columns = {name: every[name] for name in rows.table.objectives} | {"low cost": -every["cost"]}
    names = list(columns)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if any(np.allclose(columns[name], columns[name].iloc[0], atol=0) for name in (first, second)):
                continue  # nothing is ordered by a constant
            rank = float(stats.spearmanr(columns[first], columns[second]).statistic)
            if rank < SAME:
                continue
            as_cost = second == "low cost"
            if as_cost and rows.table.card.objectives[i].column == rows.table.card.cost.column:
                continue
            yield Finding(
                "same",
                rank,
                f"{first} and {second} order the configurations alike (rank correlation {rank:.2f})",
                f"Leave {first} out unless it says something that the cost, which is compared anyway, does "
                "not: the paper's ratio counts it twice"
                if as_cost
                else "Keep one of them as an objective",
            )
