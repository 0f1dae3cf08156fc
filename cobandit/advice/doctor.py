"""What a careful colleague would notice before trusting a table, each with its number and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _validation
from cobandit._text import amount, ellipsize, some_names
from cobandit.advice.missing import LONGEST, find_dependence
from cobandit.advice.splits import compare_splits
from cobandit.advice.words import describe_free, name_counts, percent
from cobandit.errors import CobanditError
from cobandit.stats.likeness import find_likeness
from cobandit.stats.paired_errors import replays_needed
from cobandit.tables.card import CUT_OFF, EMPTY, NO_SCORE, OUT_OF_RANGE, STATIC, UNMEASURED

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: A constant score means something from so many instances on.
ENOUGH = 10
#: Share of instances on which all configurations score alike, from which on it is said.
ALIKE = 0.2
#: Rank correlation of two objectives from which on they are one thing.
SAME = 0.95
#: An outlier costs so many times what the next costs, and is so large a share of its configuration's cost.
TIMES, SHARE = 5.0, 0.1
#: Share of a configuration's values at the best end of a column from which on it is said.
MASS = 0.1
#: Share of a mean cost that may not have been met, from which on it is said, where so few carry half of it.
UNMET, FEW = 0.5, 0.2


class Finding(NamedTuple):
    """One thing to notice: what it is called, the number behind it, what was found and what to do."""

    name: str
    number: float
    found: str
    todo: str

    def __str__(self) -> str:
        """What was found and what to do, on one line."""
        return f"{self.found}. {self.todo}."


#: What a check yields: the number, what was found, what to do.
Found = Iterator[tuple[float, str, str]]


def doctor(table: EvaluationTable) -> list[Finding]:
    """Look a table over.

    Looked for are configurations of constant scores, and duplicates; instances that tell nothing; costs that
    an import made up, or that one evaluation or a heavy tail dominates; what was counted when the table was
    made, such as answers that were cut off; a mass of values at the best end of a column; objectives that are
    one thing with another; too few instances; evaluations that are missing where it is hard; instances that
    have something in common; configurations that share no instance; a profiling split that misleads.

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
    Time O(N log N) for N rows.

    Examples
    --------
    >>> import cobandit as cb
    >>> [(finding.name, round(finding.number, 2)) for finding in doctor(cb.load("synthetic-24"))]
    []
    """
    _validation.table(table)
    rows = table.rows
    return [
        Finding(check.__name__.removeprefix("_"), float(number), found, todo)
        for check in LOOKS
        for number, found, todo in check(table, rows)
    ]


def _names(configs: Iterable[object]) -> str:
    """Name some configurations, of long names beginning and end."""
    return some_names([ellipsize(str(name), LONGEST) for name in configs])


def _constant(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Configurations that score the same on every instance."""
    for name in table.objectives:
        by = rows.groupby("config", observed=True)[name].agg(["min", "max", "count"])
        for value in (0, 1):
            arms = by.index[(by["min"] == value) & (by["max"] == value) & (by["count"] >= ENOUGH)]
            if 0 < len(arms) < table.n_arms:
                yield (
                    len(arms),
                    f"{name} is {value} on every instance for {len(arms)} of {table.n_arms} configurations: "
                    f"{_names(arms)}",
                    "Look at a few of their answers: a broken prompt, parser or scorer does that, or a task "
                    "that is too hard or too easy for them",
                )


def _duplicates(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Configurations that are the same in everything that was measured."""
    measured = rows[["instance", *table.objectives, "cost"]]
    digests = pd.util.hash_pandas_object(measured, index=False).groupby(rows["config"], observed=True).sum()
    twice = digests[digests.duplicated(keep=False)]
    if len(twice):
        groups = [_names(group) for group in twice.groupby(twice, sort=False).groups.values()]
        more = f"; and {len(groups) - 3} more such groups" if len(groups) > 3 else ""
        yield (
            int(digests.duplicated().sum()),
            f"Scores and costs are the same on every instance for {'; '.join(groups[:3])}{more}",
            "One may have been logged twice under two names, or an option did nothing: keep one",
        )


def _alike(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Instances on which all configurations score alike: no comparison learns from them."""
    for name in table.objectives:
        by = rows.groupby("instance", observed=True)[name].agg(["min", "max", "count"])
        by = by[by["count"] >= max(3, table.n_arms / 2)]  # of one that few have met nothing follows
        same = by["min"][by["min"] == by["max"]]
        if len(same) > ALIKE * len(by):
            yield (
                len(same) / len(by),
                f"On {percent(len(same) / len(by))} of the instances all configurations have the same {name} "
                f"(all 1 on {(same == 1).sum()}, all 0 on {(same == 0).sum()}): {len(by) - len(same)} of "
                f"{len(by)} tell configurations apart",
                "Add instances that are neither trivial nor hopeless, and check the answer keys of those "
                "that nobody gets right",
            )


def _free(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Costs that are made up, since an evaluation cost nothing."""
    smallest = table.card.smallest_cost
    if smallest is not None and table.n_free:
        free = pd.Series(table.free_evaluations, table.configs).sort_values(ascending=False, kind="stable")
        named = some_names([f"{number:,} of {name}" for name, number in free[free > 0].items()])
        yield (
            table.n_free,
            f"{describe_free(table.n_free, len(rows), smallest, table.card.cost.unit)} ({named})",
            "See whether what is best for its cost stays so with another --smallest-cost of the import, or "
            "take a cost that is never zero, such as tokens",
        )


#: What to do about each kind of evaluations that a card counts.
REMEDIES = {
    CUT_OFF: "Raise the limit of tokens for these: an answer that is cut off mostly scores nothing",
    EMPTY: "Look at a few: a parser, a filter or reasoning that used up all tokens does that",
    UNMEASURED: "Take a cost that all have, such as seconds, or measure it anew: an answer from a "
    "cache is not cheap",
    OUT_OF_RANGE: "Give their range with --range, and values that mean no score with --no-score",
    NO_SCORE: "Look at what the scorer could not read: that may happen more often to one configuration",
    STATIC: "Count them once: answers came from a cache, or are not drawn at random",
}
FAILED = "Evaluate these again: what fails may be what is hard"


def _counted(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Evaluations that something is the matter with, counted when the table was made."""
    counts = {name: each for name, each in table.card.counts.items() if name in table.configs}
    for what, names in name_counts(counts).items():
        total = sum(each.get(what, 0) for each in counts.values())
        yield total, f"{what[0].upper()}{what[1:]}: {some_names(names)}", REMEDIES.get(what, FAILED)


def _best_end(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Many values at the best end of a column, as where a refused request took no time."""
    for objective in table.card.objectives:
        if objective.transform == "none":
            continue
        column = table.evaluations[objective.column]
        best = (
            column.min()
            if table.limits[objective.name][0] <= table.limits[objective.name][1]
            else column.max()
        )
        at_best = column == best
        share = at_best.groupby(rows["config"], observed=True).mean()
        many = share[(share >= MASS) & (share > TIMES * share.median())]
        if len(many):
            named = [f"{percent(part)} of {name}" for name, part in many.sort_values()[::-1].items()]
            yield (
                float(many.max()),
                f"{objective.column} is {amount(best)}, the best there is, on {some_names(named)}",
                "Look at a few: what was refused or came from a cache is fast, and not good; leave such rows "
                "out with --where",
            )


def _outlier(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """A single evaluation that makes the mean cost of its configuration."""
    costs = rows.groupby("config", observed=True)["cost"]
    first, second = costs.max(), costs.nlargest(2).groupby(level=0, observed=True).min()
    share = (first / costs.sum())[first > TIMES * second]
    if share.max() > SHARE:
        config = str(share.idxmax())
        (at,) = rows.loc[[costs.idxmax()[config]]].to_dict("records")
        yield (
            share.max(),
            f"One evaluation makes {percent(share.max())} of the cost of {_names([config])}: "
            f"{amount(at['cost'])} {table.card.cost.unit} on instance {at['instance']}, where the median is "
            f"{amount(costs.median()[config])}",
            "Look whether it is real: an answer that never ended, a retry loop or a wrong unit does that",
        )


def _tail(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Mean costs of which much may not have been met."""
    by = rows.groupby("config", observed=True)["cost"]
    estimated = [(config, len(costs), *estimate_tail(costs.to_numpy())) for config, costs in by]
    tails = pd.DataFrame(estimated, columns=["config", "n", "carried", "unmet"])
    heavy = tails[(tails["unmet"] >= UNMET) & (tails["carried"] <= FEW * tails["n"])]
    for worst in heavy.nlargest(1, "unmet").to_dict("records"):
        part = f"{percent(worst['unmet'])} of the" if worst["unmet"] < 1 else "nearly all of the"
        yield (
            worst["unmet"],
            f"The costs of {len(heavy)} of {table.n_arms} configurations have a heavy tail "
            f"({_names(heavy['config'])}). Of {_names([worst['config']])}, {worst['carried']} of "
            f"{worst['n']} evaluations carry half of the mean cost, and {part} "
            "true mean may lie in costs larger than any that was met",
            "Evaluate these on more instances, or cap what one evaluation may cost, before comparing by cost",
        )


def estimate_tail(costs: NDArray[np.float64]) -> tuple[int, float]:
    r"""Estimate how much of a mean cost may lie beyond what was met.

    .. math::

        \hat\xi = \frac1k \sum_{m=1}^k \log \frac{c_{(m)}}{c_{(k+1)}}, \qquad
        u = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate (Annals of Statistics 3, 1975) from the :math:`k = 2 \sqrt n` largest of n costs, and the
    share of its mean that a Pareto tail of index :math:`\xi` holds beyond its 1 - 1/n quantile, over what
    constant costs hold there, with the index three of its standard errors up.  For sixty costs within a
    factor of two that is about a hundredth, for sixty exponential ones a half, and for sixty with a tail like
    Pareto's of exponent 1.25 everything.  Costs whose largest is met three times or more have a cap, such as
    a limit on what is generated, and no tail beyond it.

    Parameters
    ----------
    costs : ndarray, shape (n,)

    Returns
    -------
    carried : int
        How many of the most expensive evaluations carry half of the mean cost.
    unmet : float
        The share u of the mean.

    Examples
    --------
    >>> carried, unmet = estimate_tail(np.linspace(1, 2, 60))
    >>> carried, round(unmet, 3)
    (26, 0.012)
    """
    costs, n = np.sort(costs)[::-1], len(costs)
    carried = int(np.searchsorted(np.cumsum(costs), costs.sum() / 2 * (1 - 1e-12))) + 1
    if costs[min(3, n) - 1] == costs[0]:
        return carried, 0.0
    k = max(1, min(int(2 * np.sqrt(n)), n - 1))
    index = min(1.0, np.log(costs[:k] / costs[k]).mean() * (1 + 3 / np.sqrt(k)))
    return carried, 1.0 if index == 1 else float(min(1.0, np.expm1(index * np.log(n)) / n))


def _same(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Objectives that order the configurations alike, or as the cost does that they are not made of."""
    every, made_of = table.summary(), {each.name: each.column for each in table.card.objectives}
    columns = every[list(table.objectives)].assign(**{"low cost": -every["cost"]})
    varied = [name for name, means in columns.items() if not np.allclose(means, means.iloc[0], atol=0)]
    for first, second in combinations(varied, 2) if table.n_arms >= 5 else ():
        rank = columns[first].corr(columns[second], method="spearman")
        if rank >= SAME and not (second == "low cost" and made_of[str(first)] == table.card.cost.column):
            yield (
                rank,
                f"{first} and {second} order the configurations alike (rank correlation {rank:.2f})",
                "Leave it out: the cost is compared anyway, and the paper's ratio counts both"
                if second == "low cost"
                else "Keep one of them: the paper's ratio counts both",
            )


def _few(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Objectives in which the best configuration cannot be told from the one in the middle."""
    from scipy import stats  # half a second that an import of cobandit need not take

    for name in table.objectives:
        order = table.summary()[name].sort_values(ascending=False, kind="stable").index
        best, middle = order[0], order[len(order) // 2]
        which = "the other" if len(order) == 2 else "the one in the middle"
        shared = rows[rows["config"] == best].merge(rows[rows["config"] == middle], on="instance")
        x, y = shared[f"{name}_x"], shared[f"{name}_y"]
        if len(x) < 2 or x.mean() <= y.mean():
            continue
        if rows[name].isin([0, 1]).all():
            needed = float(replays_needed(*((each == 0).mean() for each in (x, y, np.maximum(x, y)))))
        else:
            effect = (x - y).mean() / max((x - y).std(), 1e-12)
            needed = float(np.ceil(((stats.norm.isf(0.025) + stats.norm.isf(0.2)) / effect) ** 2))
        if needed > len(x):
            yield (
                needed,
                f"To tell the best in {name}, {_names([best])} ({x.mean():.3f}), from {which}, "
                f"{_names([middle])} ({y.mean():.3f}), with a chance of 80 % takes {amount(needed)} shared "
                f"instances; there are {len(x):,}",
                "Add instances, or compare fewer and more different configurations",
            )


def _missing(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Evaluations that are missing where instances are harder, easier or dearer: one cause, one finding."""
    cases = find_dependence(table)
    if cases:
        clearest = cases[0]
        problem = clearest.found
        others = [*dict.fromkeys(case.configuration for case in cases if case.configuration)][1:]
        if others:
            problem += f"; so it is, less clearly, for {_names(others)}"
        yield (
            clearest.where_missing - clearest.where_there,
            problem,
            "Evaluate what is missing there before comparing: until then nothing is settled",
        )


def _clusters(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Instances that have something in common, and are counted as independent."""
    for found, *others in filter(None, [find_likeness(table)]):
        also = f"; so are those of one {_names(other.column for other in others)}" if others else ""
        yield (
            found.correlation,
            f"Instances of one {_names([found.column])} are alike (correlation {found.correlation:.2f} in "
            f"{found.measure}): {rows['instance'].nunique():,} of them, with {found.n_clusters:,} values, "
            f"say as much about a mean as {found.as_many:,.0f} independent ones{also}",
            f"Give --cluster {found.column} (in Python cluster={found.column!r}), or write it on the card: "
            "what is settled then counts these values",
        )


def _disjoint(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """Configurations that were never asked the same: what differs may be the instances."""
    from scipy import sparse

    # of two that share none, both miss what the other has: those that have all need no look
    short = np.flatnonzero(table.n_instances < rows["instance"].nunique())
    at = rows["config"].cat.codes, rows["instance"].cat.codes
    there = sparse.csr_array((np.ones(len(rows)), at))[short]
    apart = np.argwhere(np.triu((there @ there.T).toarray() == 0, 1))
    if len(apart):
        yield (
            len(apart),
            f"Pairs of configurations that share no instance: {len(apart)}, such as "
            f"{_names(table.configs[arm] for arm in short[apart[0]])}; what they differ in may be their "
            "instances",
            "See whether instances have the same names everywhere, or evaluate on shared ones",
        )


def _profiling(table: EvaluationTable, rows: pd.DataFrame) -> Found:
    """A profiling split that misleads."""
    try:
        splits = compare_splits(table)
    except CobanditError:  # a configuration left a run early, and has no evaluation split to be held to
        return
    if splits.misled:
        low, high = splits.cost_ratios
        todo = "Take another seed of the split, or more profiling instances"
        yield max(high, 1 / low), splits.sentences()[1].removesuffix("."), todo


#: What is looked for, one after the other; what is found is called as the function that looks for it.
LOOKS = (
    _constant,
    _duplicates,
    _alike,
    _free,
    _counted,
    _best_end,
    _outlier,
    _tail,
    _same,
    _few,
    _missing,
    _clusters,
    _disjoint,
    _profiling,
)
