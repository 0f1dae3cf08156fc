"""Evaluations of an earlier table that a plan need not make again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from cobandit.errors import raise_fault
from cobandit.live.configurations import TABLE_COLUMNS
from cobandit.live.plan import Plan
from cobandit.live.records import FAILED, Made, check_row
from cobandit.live.run_table import NOT_SET
from cobandit.tables.catalogue import open_table
from cobandit.tables.record_files import read_columns
from cobandit.tables.table import EvaluationTable


def read_made(plan: Plan, path: Path, source: str) -> Made:
    """Take the plan's evaluations from a table; those that failed are left out.

    Raises
    ------
    CobanditError
        If it has none of them, its cost or a setting is another, or a row lacks what the plan needs.
    """
    table = open_table(str(path))
    if table.card.cost != plan.cost:
        problem = f"its cost is {table.card.cost}, the plan's {plan.cost}"
        raise_fault(source, problem, "take a table with the same cost")
    ours = _match(plan, table, source)
    frame = read_columns(path, ("config", "instance"))
    frame["config"] = frame["config"].map(lambda name: ours.get(name, name))
    frame["instance"] = frame["instance"].astype(str)
    wanted = frame["config"].isin(plan.names) & frame["instance"].isin(plan.instances.ids)
    if FAILED in frame:
        wanted &= ~frame[FAILED].astype(bool)
    if not wanted.any():
        problem = (
            f"it has no evaluation of the plan, but such as {frame['config'][0]!r} on instance "
            f"{frame['instance'][0]!r} (here {plan.names[0]!r} on {plan.order[0]!r})"
        )
        remedy = "name both alike, or list the plan's settings as 'arms' on its card (--arm of an import)"
        raise_fault(source, problem, remedy)
    rows = frame[wanted]
    measured = rows.drop(columns=[*TABLE_COLUMNS, *plan.settings, *table.card.arms], errors="ignore")
    records = measured.select_dtypes(["number", "bool"]).astype(float).to_dict("records")
    made = {}
    for name, instance, record in zip(rows["config"], rows["instance"], records, strict=True):
        made[name, instance] = {str(column): value for column, value in record.items() if value == value}
        check_row(plan, made[name, instance], name, instance)
    return made


def _match(plan: Plan, table: EvaluationTable, source: str) -> dict[str, str]:
    """Names of configurations here, by those in a table: of one name, or with the same settings.

    A name has only the settings that differ within a plan; all have to be the same.
    """
    found = {}
    for name, there in table.arms.to_dict("index").items():
        for here, settings in zip(plan.names, plan.configurations.all, strict=True):
            values = {setting: settings.get(setting) for setting in plan.settings}
            given = {setting: NOT_SET if value is None else value for setting, value in values.items()}
            differ = [
                setting for setting in given if setting in there and not _same(there[setting], given[setting])
            ]
            if name == here and differ:
                problem = f"{name!r} has {differ[0]} {there[differ[0]]} there and {given[differ[0]]} here"
                raise_fault(source, problem, "leave the table out, or give the settings that were evaluated")
            if name == here or not (differ or given.keys() - there.keys()):
                found[str(name)] = here
    return found


def _same(there: Any, here: Any) -> bool:
    try:
        return float(there) == float(here)
    except (TypeError, ValueError):
        return str(there) == str(here)


def order_from(plan: Plan, made: Made) -> Plan:
    """Let a plan begin with the instances of which most is there, and go on at random.

    Whether an evaluation is there must not depend on what it gave.
    """
    seen = Counter(instance for _, instance in made)
    ids = sorted(plan.instances.shuffle(plan.seed), key=lambda name: -seen[name])
    instances = plan.instances.model_copy(update={"rows": {name: plan.instances.rows[name] for name in ids}})
    return plan.model_copy(update={"instances": instances, "ordered": True})
