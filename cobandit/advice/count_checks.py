"""Checks for flawed evaluations that a table counts, such as cut-off answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from cobandit._text import some_names
from cobandit.advice.findings import Finding, Findings
from cobandit.advice.words import name_counts
from cobandit.tables.card import (
    CUT_OFF,
    EMPTY,
    NO_SCORE,
    OUT_OF_RANGE,
    STATIC,
    UNMEASURED,
)

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Remedy for each kind of flawed evaluation that a table's card (its description)
#: counts.
REMEDIES = {
    CUT_OFF: (
        "Increase the limit of tokens for these: an answer that is cut off mostly"
        " scores zero"
    ),
    EMPTY: (
        "Look at a few of them: a parser, a filter or reasoning that used up all"
        " tokens has this effect"
    ),
    UNMEASURED: (
        "Use a cost that all evaluations have, such as seconds, or measure the cost"
        " again: an answer from a cache only looks cheap"
    ),
    OUT_OF_RANGE: (
        "Give their range with --range, and values that mark a missing score with"
        " --no-score"
    ),
    NO_SCORE: (
        "Look at the answers that the scorer could not read: some configurations may"
        " have more of them"
    ),
    STATIC: "Count repeats once: the answers came from a cache, or are deterministic",
}
FAILED = "Evaluate these again: evaluations may fail more often on hard instances"


def check_counted(table: EvaluationTable, rows: pd.DataFrame) -> Findings:
    """Find evaluations that the table's card (its description) counts as flawed."""
    counts = {
        name: kinds
        for name, kinds in table.card.counts.items()
        if name in table.configs
    }
    for kind, names in name_counts(counts).items():
        total = sum(kinds.get(kind, 0) for kinds in counts.values())
        problem = f"{kind[0].upper()}{kind[1:]}: {some_names(names)}"
        yield Finding("counted", total, problem, REMEDIES.get(kind, FAILED))
