"""Checks of scores: constant, equal, correlated, or too often the best value."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobandit._text import amount, some_names
from cobandit.advice.findings import Finding, Findings, name_few
from cobandit.advice.words import percent

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Smallest number of instances for which a constant score is reported.
ENOUGH_SCORES = 10
#: Smallest reported share of instances on which all configurations have equal scores.
ALIKE_SHARE = 0.2
#: Rank correlation at which two objectives count as one.
SAME_ORDER = 0.95
#: Smallest reported share of a configuration's values that equal the column's best one.
MASS_AT_BEST = 0.1
#: Name of the cost as an objective to maximise.
LOW_COST = "low cost"
#: A configuration with many best values is reported only if the share of these values
#: is more than this multiple of the median share over all configurations.
UNUSUAL = 5.0


def check_constant(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find configurations that score 0 on every instance, or 1 on every instance."""
    for name in table.objectives:
        by_config = rows.groupby("config", observed=True)[name]
        scores = by_config.agg(["min", "max", "count"])

        for value in (0, 1):
            is_constant = (scores["min"] == value) & (scores["max"] == value)
            arms = scores.index[is_constant & (scores["count"] >= ENOUGH_SCORES)]
            if 0 < len(arms) < table.n_arms:
                yield Finding(
                    "constant",
                    len(arms),
                    f"{name} is {value} on every instance for {len(arms)} of"
                    f" {table.n_arms} configurations: {name_few(arms)}",
                    "Look at a few of their answers: a broken prompt, parser or"
                    " scorer, or a task that is too hard or too easy, has this"
                    " effect",
                )


def check_duplicates(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find groups of configurations with the same scores and costs throughout."""
    measured = rows[["instance", *table.objectives, "cost"]]
    digests = (
        pd.util.hash_pandas_object(measured, index=False)
        .groupby(rows["config"], observed=True)
        .sum()
    )
    twice = digests[digests.duplicated(keep=False)]

    if len(twice):
        equal = twice.groupby(twice, sort=False).groups.values()
        groups = [name_few(group) for group in equal]
        further = f"; and {len(groups) - 3} more such groups" if len(groups) > 3 else ""

        yield Finding(
            "duplicates",
            int(digests.duplicated().sum()),
            "Scores and costs are the same on every instance for"
            f" {'; '.join(groups[:3])}{further}",
            "Keep one of them: the same one may be logged under two names, or a"
            " setting had no effect",
        )


def check_alike(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find a large share of instances on which all configurations have equal scores."""
    for name in table.objectives:
        by_instance = rows.groupby("instance", observed=True)[name]
        scores = by_instance.agg(["min", "max", "count"])

        # skip instances evaluated by too few configurations
        scores = scores[scores["count"] >= max(3, table.n_arms / 2)]
        same = scores["min"][scores["min"] == scores["max"]]
        if len(same) > ALIKE_SHARE * len(scores):
            share = len(same) / len(scores)
            yield Finding(
                "alike",
                share,
                f"On {percent(share)} of the instances all configurations have the"
                f" same {name} (all 1 on {(same == 1).sum()}, all 0 on"
                f" {(same == 0).sum()}): {len(scores) - len(same)} of {len(scores)}"
                " distinguish configurations",
                "Add instances that are neither too easy nor too hard, and check the"
                " right answers of instances that no configuration solves",
            )


def check_best_end(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find configurations with many best values of a column, such as zero latency."""
    for objective in table.card.objectives:
        if objective.transform == "none":
            continue

        # small values are better if the limit that scores 1 is the smaller one
        column = table.evaluations[objective.column]
        one, zero = table.limits[objective.name]
        best = column.min() if one <= zero else column.max()
        at_best = column == best
        share = at_best.groupby(rows["config"], observed=True).mean()
        many = share[(share >= MASS_AT_BEST) & (share > UNUSUAL * share.median())]
        if len(many):
            named = [
                f"{percent(part)} of {name}"
                for name, part in many.sort_values()[::-1].items()
            ]
            yield Finding(
                "best_end",
                float(many.max()),
                f"{objective.column} is {amount(best)}, its best value, on"
                f" {some_names(named)}",
                "Look at a few of these answers: refusals and answers from a cache"
                " are fast, but not good. Leave out such rows with --where",
            )


def check_same(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find objectives that order configurations like another objective or the cost."""
    if table.n_arms < 5:
        return

    made_of = {objective.name: objective.column for objective in table.card.objectives}
    summary = table.summary()

    columns = summary[list(table.objectives)].assign(**{LOW_COST: -summary["cost"]})
    varied = [
        name
        for name, means in columns.items()
        if not np.allclose(means, means.iloc[0], atol=0)
    ]
    for first, second in combinations(varied, 2):
        rank = columns[first].corr(columns[second], method="spearman")
        is_made_of_cost = (
            second == LOW_COST and made_of[str(first)] == table.card.cost.column
        )
        if rank < SAME_ORDER or is_made_of_cost:
            continue
        remedy = "Keep one of them: the paper's ratio counts both"
        if second == LOW_COST:
            remedy = (
                "Leave it out: the cost is compared anyway, and the paper's ratio"
                " counts both"
            )
        problem = (
            f"{first} and {second} order the configurations alike (rank correlation"
            f" {rank:.2f})"
        )
        yield Finding("same", rank, problem, remedy)
