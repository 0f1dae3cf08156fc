"""Evaluations of an earlier run: what its table has is not made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cobandit.faults import stop
from cobandit.live.configurations import RESERVED
from cobandit.live.evaluators import Row
from cobandit.live.pilot import FAILED
from cobandit.live.plan import Plan
from cobandit.live.scoring import check_row
from cobandit.tables import open_table
from cobandit.tables.readers import read_columns
from cobandit.tables.table import EvaluationTable

Made = dict[tuple[str, str], Row]
"""Rows by name of the configuration and instance."""


def read_made(plan: Plan, path: Path, source: str) -> Made:
    """Take the plan's evaluations from a table; those that failed are left out.

    Raises
    ------
    CobanditError
        If it has none of them, its cost or a setting is another, or a row lacks what the plan needs.
    """
    where = f"{source}, field 'reuse': {path}"
    table = open_table(str(path))
    if table.card.cost != plan.cost:
        problem = f"its cost is {table.card.cost}, the plan's {plan.cost}"
        stop(where, problem, "take a table with the same cost")
    _check_settings(plan, table, where)
    frame = read_columns(path, ("config", "instance"))
    if FAILED in frame:
        frame = frame[~frame[FAILED].astype(bool)]
    pairs = frame["config"].isin(plan.names) & frame["instance"].astype(str).isin(plan.instances)
    frame = frame[pairs]
    if frame.empty:
        problem = "it has no evaluation of a configuration and an instance of the plan"
        stop(where, problem, "name the table of a run with the same configurations and instances")
    measured = frame.drop(columns=[*RESERVED, *plan.settings, *table.card.arms], errors="ignore")
    rows = measured.select_dtypes(["number", "bool"]).astype(float).to_dict("records")
    keys = zip(frame["config"], frame["instance"].astype(str), strict=True)
    made = {
        key: {str(name): value for name, value in row.items() if value == value}
        for key, row in zip(keys, rows, strict=True)
    }
    for (name, instance), row in made.items():
        check_row(plan, row, name, instance)
    return made


def _check_settings(plan: Plan, table: EvaluationTable, where: str) -> None:
    """A name has only the settings that differ within a plan; here all have to be the same."""
    arms = table.arms.to_dict("index")
    for name, settings in zip(plan.names, plan.configurations, strict=True):
        for setting, value in settings.items():
            there = arms.get(name, {}).get(setting, value)
            if not _same(there, value):
                problem = f"{name!r} has {setting} {there} there and {value} here"
                stop(where, problem, "leave reuse out, or give the settings that were evaluated")


def _same(there: Any, here: Any) -> bool:
    try:
        return float(there) == float(here)
    except (TypeError, ValueError):
        return str(there) == str(here)
