"""Checks of instances: too few, missing, related, not shared, or misleading costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from cobandit._text import amount, some_names
from cobandit.advice.findings import Finding, Findings, name_few
from cobandit.advice.splits import compare_splits
from cobandit.advice.words import describe_dependence
from cobandit.errors import CobanditError
from cobandit.stats.likeness import find_likeness
from cobandit.stats.missingness import find_dependence
from cobandit.stats.paired_errors import replays_needed

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def check_few(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find objectives with too few instances to distinguish best and median arm."""
    short = []
    for name in table.objectives:
        order = table.summary()[name].sort_values(ascending=False, kind="stable").index
        best, middle = order[0], order[len(order) // 2]
        shared = rows[rows["config"] == best].merge(
            rows[rows["config"] == middle], on="instance"
        )
        better = shared[f"{name}_x"]
        worse = shared[f"{name}_y"]
        if len(better) < 2 or better.mean() <= worse.mean():
            continue
        needed = _count_needed(
            better, worse, is_binary=bool(rows[name].isin([0, 1]).all())
        )
        if needed > len(better):
            place = "the other" if len(order) == 2 else "the median one"
            problem = (
                f"To distinguish the best in {name}, {name_few([best])}"
                f" ({better.mean():.3f}), from {place}, {name_few([middle])}"
                f" ({worse.mean():.3f}), with a chance of 80 %, {amount(needed)}"
                f" shared instances are needed; there are {len(better):,}"
            )
            short.append((needed, problem, f"{amount(needed)} in {name}"))

    if short:
        needed, problem, _ = max(short)
        fewer = [text for other, _, text in short if other < needed]
        if fewer:
            problem += f" (needed: {some_names(fewer)})"
        yield Finding(
            "few",
            needed,
            problem,
            "Add instances, or compare fewer and more different configurations",
        )


def _count_needed(
    better: pd.Series[float], worse: pd.Series[float], is_binary: bool
) -> float:
    """Return the number of instances for power .8 of a paired test at level .05."""
    if is_binary:
        wrong = [
            (scores == 0).mean()
            for scores in (better, worse, np.maximum(better, worse))
        ]
        return float(replays_needed(*wrong))
    difference = better - worse
    effect = difference.mean() / max(difference.std(), 1e-12)
    quantiles = -special.ndtri([0.025, 0.2])
    return float(np.ceil((quantiles.sum() / effect) ** 2))


def check_missing(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find evaluations that are missing on harder, easier or costlier instances."""
    cases = find_dependence(table)
    if cases:
        clearest = cases[0]
        problem = describe_dependence(clearest)
        others = [
            *dict.fromkeys(case.configuration for case in cases if case.configuration)
        ][1:]
        if others:
            problem += f"; the same holds, less clearly, for {name_few(others)}"

        yield Finding(
            "missing",
            clearest.where_missing - clearest.where_present,
            problem,
            "Make the missing evaluations before comparing; until then nothing is"
            " settled",
        )


def check_clusters(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find columns whose values group similar instances, which are not independent."""
    columns = find_likeness(table)
    if columns:
        strongest, *weaker = columns
        problem = (
            f"Instances of one {name_few([strongest.column])} are alike (correlation"
            f" {strongest.correlation:.2f} in {strongest.measure}):"
            f" {rows['instance'].nunique():,} of them, with {strongest.n_clusters:,}"
            " values, are as informative about a mean as"
            f" {strongest.effective_size:,.0f} independent ones"
        )
        if weaker:
            named = name_few(likeness.column for likeness in weaker)
            problem += f"; the same holds for {named}"

        column = strongest.column
        yield Finding(
            "clusters",
            strongest.correlation,
            problem,
            f"Give --cluster {column} (in Python cluster={column!r}), or write it on"
            " the card; settled answers then count these values",
        )


def check_disjoint(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find configurations without shared instances, whose means are not comparable."""
    from scipy import sparse

    # if two configurations share no instance, both are incomplete, so complete ones are
    # skipped
    incomplete = np.flatnonzero(table.n_instances < rows["instance"].nunique())
    places = rows["config"].cat.codes, rows["instance"].cat.codes
    present = sparse.csr_array((np.ones(len(rows)), places))[incomplete]
    n_shared = (present @ present.T).toarray()
    apart = np.argwhere(np.triu(n_shared == 0, 1))
    if len(apart):
        yield Finding(
            "disjoint",
            len(apart),
            f"Pairs of configurations that share no instance: {len(apart)}, such as"
            f" {name_few(table.configs[arm] for arm in incomplete[apart[0]])}; their"
            " difference may be that of their instances",
            "Check that instances have the same names everywhere, or evaluate on"
            " shared ones",
        )


def check_profiling(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find whether the profiling costs change the most efficient configuration."""
    try:
        splits = compare_splits(table)
    except CobanditError:
        # a run may remove a configuration early, which then has no evaluation split
        return
    if splits.misled:
        low, high = splits.cost_ratios
        yield Finding(
            "profiling",
            max(high, 1 / low),
            splits.describe_profiling(),
            "Use another seed for the split, or more profiling instances",
        )
