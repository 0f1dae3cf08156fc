"""Reuse of evaluations in an earlier table by a new run."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

from cobandit.errors import raise_fault
from cobandit.live.configurations import TABLE_COLUMNS
from cobandit.live.plan import Plan
from cobandit.live.records import FAILED_KEY, Reusable, check_row
from cobandit.live.run_table import NOT_SET
from cobandit.tables.catalogue import open_table
from cobandit.tables.record_files import read_columns
from cobandit.tables.table import EvaluationTable


def read_reusable(plan: Plan, path: Path, source: str) -> Reusable:
    """Return the evaluations of a table that a plan can reuse, except failed ones.

    Raises
    ------
    TableError
        If no evaluation of the table belongs to the plan, if table and plan have
        different costs or settings, or if a row lacks a column of the plan.
    """
    table = open_table(str(path))
    if table.card.cost != plan.cost:
        problem = (
            f"the table's cost is {table.card.cost}, but the plan's cost is {plan.cost}"
        )
        raise_fault(source, problem, "use a table with the same cost", "other-cost")

    names = _match_names(plan, table, source)
    frame = read_columns(path, ("config", "instance"))
    frame["config"] = frame["config"].map(lambda name: names.get(name, name))
    frame["instance"] = frame["instance"].astype(str)

    is_wanted = frame["config"].isin(plan.names) & frame["instance"].isin(
        plan.instances.ids
    )
    if FAILED_KEY in frame:
        is_wanted &= ~frame[FAILED_KEY].astype(bool)
    if not is_wanted.any():
        problem = (
            "the table has no evaluation of the plan. For example, it has"
            f" {frame['config'][0]!r} on instance {frame['instance'][0]!r}, but the"
            f" plan has {plan.names[0]!r} on {plan.order[0]!r}"
        )
        remedy = (
            "use the same names, or list the plan's settings as 'arms' on its card"
            " (--arm of an import)"
        )
        raise_fault(source, problem, remedy, "nothing-reusable")

    rows = frame[is_wanted]
    measured = rows.drop(
        columns=[*TABLE_COLUMNS, *plan.settings, *table.card.arms], errors="ignore"
    )
    records = (
        measured.select_dtypes(["number", "bool"]).astype(float).to_dict("records")
    )
    reusable = {}
    for name, instance, record in zip(
        rows["config"], rows["instance"], records, strict=True
    ):
        row = {
            str(column): value
            for column, value in record.items()
            if not math.isnan(value)
        }
        check_row(plan, row, name, instance)
        reusable[name, instance] = row
    return reusable


def _match_names(plan: Plan, table: EvaluationTable, source: str) -> dict[str, str]:
    """Map the table's names of configurations to the plan's names.

    Configurations match if their names are equal, or if the table has all settings of
    the plan with equal values. Matching configurations must not differ in a setting.
    """
    names = {}
    for name, theirs in table.arms.to_dict("index").items():
        for ours, settings in zip(plan.names, plan.configurations.all, strict=True):
            values = {setting: settings.get(setting) for setting in plan.settings}
            wanted = {
                setting: NOT_SET if value is None else value
                for setting, value in values.items()
            }
            shared = wanted.keys() & theirs.keys()
            differing = [
                setting
                for setting in plan.settings
                if setting in shared and not _is_equal(theirs[setting], wanted[setting])
            ]
            if name == ours and differing:
                setting = differing[0]
                problem = (
                    f"{name!r} has {setting} {theirs[setting]} in the table, but"
                    f" {wanted[setting]} in the plan"
                )
                remedy = "leave the table out, or use the settings of the table"
                raise_fault(source, problem, remedy, "other-setting")
            has_all = not differing and shared == wanted.keys()
            if name == ours or has_all:
                names[str(name)] = ours

    return names


def _is_equal(theirs: Any, ours: Any) -> bool:
    """Whether two values of a setting are equal, as numbers or as text."""
    try:
        return float(theirs) == float(ours)
    except (TypeError, ValueError):
        return str(theirs) == str(ours)


def order_by_reuse(plan: Plan, reusable: Reusable) -> Plan:
    """Return the plan with instances ordered by their number of reusable evaluations.

    Ties are in random order. The order is biased if the choice of the earlier
    evaluations depended on their scores.
    """
    counts = Counter(instance for _, instance in reusable)
    ids = sorted(plan.instances.shuffle(plan.seed), key=lambda name: -counts[name])
    rows = {name: plan.instances.rows[name] for name in ids}
    instances = plan.instances.model_copy(update={"rows": rows})
    return plan.model_copy(update={"instances": instances, "ordered": True})
