"""``make measure``: asks both models every question again, and writes the two bundled tables.

It takes hours, can be stopped at any time, and goes on where it was.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
from rich.console import Console

from cobandit import live
from cobandit.companion.measured.bundle import bundle, conditions
from cobandit.companion.measured.evaluation import TASKS
from cobandit.errors import CobanditError

FUNCTIONS = {"word-sums": "evaluate_word_sums", "piqa-small": "evaluate_piqa_small"}
AT_ONCE = 2
"""Processes: one for each core of the machine that the bundled tables were measured on."""


def plan(name: str) -> dict[str, Any]:
    """Plan of a run that evaluates everything, question by question.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> len(check_plan(plan("word-sums"), "the plan").configurations.all)
    72
    """
    return {
        "name": name,
        "configurations": {"list": TASKS[name].configurations()},
        "instances": TASKS[name].instances(),
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


def measure(name: str) -> None:
    """Evaluate every pair of a table, and bundle what came out."""
    out = Console()
    done = live.run(plan(name), watch=lambda progress: out.print(progress.line, markup=False))
    for path in bundle(name, pd.read_parquet(done.table), conditions()):
        out.print(f"wrote {path}", markup=False)


def main(names: list[str]) -> None:
    """Measure the tables that are named, by default both."""
    try:
        for name in names or list(TASKS):
            if name not in TASKS:
                raise CobanditError(f"there is no measured table {name!r}: choose of {', '.join(TASKS)}")
            measure(name)
    except CobanditError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
