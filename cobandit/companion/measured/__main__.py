"""``make measure``: asks both models every question again, and writes the two bundled tables.

It takes hours, can be stopped at any time, and goes on where it was.  With ``--more`` it asks the questions
that the bundled tables do not hold yet, and adds them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from cobandit import live
from cobandit.companion.measured.bundle import bundle, conditions
from cobandit.companion.measured.evaluation import TASKS
from cobandit.errors import CobanditError
from cobandit.tables.catalogue import records_of

FUNCTIONS = {"word-sums": "evaluate_word_sums", "piqa-small": "evaluate_piqa_small"}
AT_ONCE = 2
"""Processes: one for each core of the machine that the bundled tables were measured on."""


def plan(name: str, instances: list[str]) -> dict[str, Any]:
    """Plan of a run that evaluates everything, question by question.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> len(check_plan(plan("word-sums", ["0", "1", "2"]), "the plan").configurations)
    72
    """
    return {
        "name": name,
        "configurations": {"list": TASKS[name].configurations()},
        "instances": instances,
        "method": "UniformOnce",
        "budget": 1,
        "unit": "share",
        "cost": {"column": "tokens", "unit": "tokens"},
        "largest_cost": "max_tokens",
        "objectives": [
            {"name": "accuracy", "column": "correct"},
            {"name": "efficiency", "column": "seconds", "transform": "inverse-percentile"},
        ],
        "pilot": 2,
        "evaluate": {"callable": {"function": f"cobandit.companion.measured.evaluation:{FUNCTIONS[name]}"}},
        "at_once": AT_ONCE,
        "timeout": 600,
    }


def measure(name: str, more: bool) -> None:
    """Evaluate every pair of a table, or those of further questions, and bundle what came out."""
    instances, kept = TASKS[name].instances(), pd.DataFrame()
    if more:
        kept = pd.read_parquet(records_of(name))
        instances = [each for each in instances if each not in set(kept["instance"])]
    out = Console()
    folder = Path("runs") / (f"{name}-from-{len(kept['instance'].unique())}" if more else name)
    done = live.run(
        plan(name, instances), folder, watch=lambda progress: out.print(progress.line, markup=False)
    )
    rows = pd.concat([kept, pd.read_parquet(done.table)], ignore_index=True)
    for path in bundle(name, rows, conditions()):
        out.print(f"wrote {path}", markup=False)


def main(words: list[str]) -> None:
    """Measure the tables that are named, by default both."""
    more = "--more" in words
    try:
        for name in [word for word in words if word != "--more"] or list(TASKS):
            if name not in TASKS:
                raise CobanditError(f"there is no measured table {name!r}: choose of {', '.join(TASKS)}")
            measure(name, more)
    except CobanditError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
