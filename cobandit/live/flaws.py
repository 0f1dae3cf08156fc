"""Flaws of a run's evaluations: failures, answers cut off or empty, costs that are not as they should be."""

from __future__ import annotations

import pandas as pd

from cobandit import _budget
from cobandit._text import amount
from cobandit.live.records import COST_WAS_ZERO, FAILED
from cobandit.live.stages import MainStage, Stage
from cobandit.tables.card import CUT_OFF, EMPTY, FAILURES, FREE

#: Columns that are 1 where something is odd about an answer, which is scored as it is.
COUNTED = {
    "truncated": "cut off at a limit of tokens",
    "empty": "empty",
    COST_WAS_ZERO: "free, and charged as the cheapest one",
    "doubtful": "counted in tokens that do not add up, and are charged in full",
    "estimated": "not counted in tokens, which are estimated from their text",
}


#: Configurations that a line of losses names.
NAMED = 3


def describe_overspending(stage: Stage) -> str:
    """Say by how much the budget is exceeded, and how to prevent it; nothing if it is not."""
    plan, budget = stage.plan, stage.budget
    if budget is None or stage.spent <= _budget.add_slack(budget):
        return ""
    over = f"the budget is exceeded by {amount(stage.spent - budget)} {plan.cost.unit}"
    if plan.largest_cost is not None:
        return f"{over}, since an evaluation cost more than the plan's largest_cost: raise it"
    return (
        f"{over}, since an evaluation cost more than those before it.  A run stays within its budget with "
        "largest_cost in its plan: the most that one may cost, or the setting that says it (max_tokens)"
    )


def losses_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say what was lost by failures, and what else is not as it should be, if anything is."""
    lines = list(filter(None, [describe_overspending(stage)]))
    if FAILED in frame:
        first = next(record[FAILED] for record in stage.everything.values() if FAILED in record)
        failed = f"{frame[FAILED].sum()} of {len(frame)} evaluations failed and score zero"
        lines.append(f"{failed} ({_by_configuration(frame, FAILED)}); the first: {first}")
    for column, what in COUNTED.items():
        if column in frame and frame[column].any():
            counted = f"{int(frame[column].sum())} of {len(frame)} answers were {what}"
            lines.append(f"{counted} ({_by_configuration(frame, column)})")
    if stage.left_out:
        lines.append(f"{len(stage.left_out)} instances are left out, since an evaluation on them failed")
    return lines


def _by_configuration(frame: pd.DataFrame, column: str) -> str:
    """Say how many of each configuration's rows a column marks, the most first."""
    marked = frame.groupby("config")[column].agg(["sum", "size"])
    marked = marked[marked["sum"] > 0].sort_values("sum", ascending=False, kind="stable")
    named = [
        f"{row['sum']:.0f} of {row['size']:.0f} of {name}" for name, row in marked.head(NAMED).iterrows()
    ]
    more = len(marked) - NAMED
    return ", ".join(named) + (f", and of {more} more" if more > 0 else "")


def count_flaws(frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count what is not as it should be, by configuration, as a card has it."""
    kinds = {FAILED: FAILURES, "truncated": CUT_OFF, "empty": EMPTY, COST_WAS_ZERO: FREE}
    counts: dict[str, dict[str, int]] = {}
    for column, what in kinds.items():
        if column in frame:
            for name, number in frame.groupby("config")[column].sum().items():
                if number:
                    counts.setdefault(str(name), {})[what] = int(number)
    return counts
