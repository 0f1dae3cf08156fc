"""Checks of costs: free evaluations, dominating evaluations, and heavy tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from cobandit._text import amount, some_names
from cobandit.advice.findings import Finding, Findings, name_few
from cobandit.advice.words import describe_free, percent
from cobandit.stats.tails import estimate_tail

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Smallest ratio of an outlier to the next largest cost.
OUTLYING_TIMES = 5.0
#: Smallest share of an outlier in the total cost of its configuration.
OUTLYING_SHARE = 0.1
#: A heavy tail is reported only if at least this share of the mean cost may come from
#: costs above the largest observed one.
UNMET_SHARE = 0.5
#: A heavy tail is reported only if half of the mean cost comes from at most this
#: share of the evaluations.
CARRIED_SHARE = 0.2


def check_free(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find free evaluations, whose cost an import replaced by a small positive one."""
    smallest = table.card.smallest_cost
    if smallest is not None and table.n_free:
        free = pd.Series(table.free_evaluations, table.configs)
        free = free[free > 0].sort_values(ascending=False, kind="stable")
        named = some_names([f"{number:,} of {name}" for name, number in free.items()])
        unit = table.card.cost.unit

        yield Finding(
            "free",
            table.n_free,
            f"{describe_free(table.n_free, len(rows), smallest, unit)} ({named})",
            "Check whether the best configuration for its cost changes with another"
            " --smallest-cost in the import, or use a cost that is never zero, such"
            " as tokens",
        )


def check_outlier(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find a single evaluation that dominates the mean cost of its configuration."""
    costs = rows.groupby("config", observed=True)["cost"]
    first = costs.max()
    second = costs.nlargest(2).groupby(level=0, observed=True).min()
    share = (first / costs.sum())[first > OUTLYING_TIMES * second]

    if share.max() > OUTLYING_SHARE:
        config = str(share.idxmax())
        (row,) = rows.loc[[costs.idxmax()[config]]].to_dict("records")
        yield Finding(
            "outlier",
            share.max(),
            f"One evaluation is {percent(share.max())} of the cost of"
            f" {name_few([config])}: {amount(row['cost'])} {table.card.cost.unit} on"
            f" instance {row['instance']}, where the median is"
            f" {amount(costs.median()[config])}",
            "Check whether this cost is real: an endless answer, a retry loop or a"
            " wrong unit has this effect",
        )


def check_tail(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find mean costs that may depend mostly on rare, not yet observed, large costs."""
    by_config = rows.groupby("config", observed=True)["cost"]
    estimated = [
        (config, len(costs), *estimate_tail(costs.to_numpy()))
        for config, costs in by_config
    ]

    tails = pd.DataFrame(estimated, columns=["config", "n", "carried", "unmet"])
    heavy = tails[
        (tails["unmet"] >= UNMET_SHARE)
        & (tails["carried"] <= CARRIED_SHARE * tails["n"])
    ]
    for worst in heavy.nlargest(1, "unmet").to_dict("records"):
        part = (
            f"{percent(worst['unmet'])} of the"
            if worst["unmet"] < 1
            else "nearly all of the"
        )
        yield Finding(
            "tail",
            worst["unmet"],
            f"The costs of {len(heavy)} of {table.n_arms} configurations have a heavy"
            f" tail ({name_few(heavy['config'])}). Of {name_few([worst['config']])},"
            f" {worst['carried']} of {worst['n']} evaluations carry half of the mean"
            f" cost, and {part} true mean may come from costs larger than any"
            " observed one",
            "Evaluate these on more instances, or limit the cost of an evaluation,"
            " before comparing by cost",
        )
