"""What a careful colleague would notice before trusting a table, each with its number and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cobandit import _check
from cobandit.advice.findings import Finding, Rows, of_free
from cobandit.advice.paired_gaps import paired
from cobandit.advice.resampling import Evaluations
from cobandit.advice.score_checks import alike, constant, duplicates, one_value, same
from cobandit.advice.splits import compare_splits
from cobandit.advice.tails import find_tails
from cobandit.errors import CobanditError
from cobandit.stats.power import replays_needed

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

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
    or one thing with another; too few instances; evaluations that are missing where it is hard; a profiling
    split that was unlucky.

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
            of_free(table.n_free, len(table.rows), smallest, table.card.cost.unit),
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
        f"One evaluation makes {share:.0%} of the cost of {rows.name(arm)}: {costs[place]:.4g} "
        f"{unit} on instance {instance}, where the median is {np.median(costs):.4g}",
        "Look whether it is real: an answer that never ended, a retry loop or a wrong unit does that",
    )


def _tail(rows: Rows) -> Iterator[Finding]:
    """Mean costs of which much may not have been met."""
    tails, counts = find_tails(paired(rows.table)), rows.evaluations.counts
    arms = np.flatnonzero((tails.unmet >= UNMET) & (tails.carried_by <= FEW * counts))
    if not len(arms):
        return
    worst = int(min(arms, key=lambda arm: (-tails.unmet[arm], tails.carried_by[arm] / counts[arm])))
    unmet = float(tails.unmet[worst])
    beyond = f"as much as {unmet:.0%} of the true mean" if unmet < 1 else "nearly all of the true mean"
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
        best, middle = int(order[0]), int(order[len(order) // 2])
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
            yield Finding(
                "few",
                needed,
                f"To tell the best {name} ({rows.name(best)}, {x.mean():.3f}) from that in the "
                f"middle ({rows.name(middle)}, {y.mean():.3f}) four times in five takes {many} "
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


def _profiling(rows: Rows) -> Iterator[Finding]:
    """A profiling split that misleads."""
    try:
        splits = compare_splits(rows.table)
    except CobanditError:  # a configuration left a run early, and has no evaluation split to be held to
        return
    found, todo = splits.profiling()
    if todo:
        yield Finding("profiling", splits.p_value, found, todo)
