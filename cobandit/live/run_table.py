"""The table of a run's evaluations, and the card, a YAML file that describes it."""

from __future__ import annotations

import platform
from datetime import date
from typing import Any

import pandas as pd

from cobandit._version import __version__
from cobandit.errors import raise_fault
from cobandit.live.flaws import COUNTED, count_flaws, describe_flaws
from cobandit.live.records import COST_WAS_ZERO, FAILED_KEY, name_row
from cobandit.live.stages import MainStage
from cobandit.tables.profiling import MIN_INSTANCES

#: Value in the table for a setting that a configuration does not have.
NOT_SET = "not set"


def frame_of(stage: MainStage) -> pd.DataFrame:
    """Return the table of a run, one row per evaluation.

    Rows are in the order of configurations and instances. A failed evaluation has
    values whose score is zero. Names of repeated instances end with a number.

    Returns
    -------
    DataFrame
        ``config``, ``instance``, the settings, and the measurements.

    Raises
    ------
    TableError
        If every instance is left out.
    """
    plan = stage.plan
    left_out = stage.left_out
    rows = [
        {"config": stage.names[arm], "instance": name_row(stage.order, place)}
        | stage.values(record)
        | {FAILED_KEY: FAILED_KEY in record}
        for (arm, place), record in sorted(stage.records.items())
        if place % len(stage.order) not in left_out
    ]
    if not rows:
        problem = (
            "every instance had a failed evaluation, so that all instances are left out"
        )
        remedy = "correct the evaluator, or write failures: zero into the plan"
        raise_fault(plan.name, problem, remedy, "nothing-left")

    frame = pd.DataFrame(rows)
    if not frame[FAILED_KEY].any():
        del frame[FAILED_KEY]
    for column in frame.columns.intersection([*COUNTED, "written_tokens"]):
        # evaluators usually return these columns only if they apply
        frame[column] = frame[column].fillna(0.0)

    for setting in reversed(plan.settings):
        values = [settings.get(setting) for settings in plan.configurations.all]
        types = {type(value) for value in values}
        # a column needs one type: numbers, truth values, or text for a mixture
        if types != {bool} and not types <= {int, float}:
            values = [NOT_SET if value is None else str(value) for value in values]
        by_name = dict(zip(stage.names, values, strict=True))
        frame.insert(2, setting, frame["config"].map(by_name))

    if plan.instances.cluster is not None:
        frame[plan.instances.cluster] = frame["instance"].map(
            plan.instances.find_cluster
        )

    return frame


def card_of(stage: MainStage, frame: pd.DataFrame) -> dict[str, Any]:
    """Return the fields of the table's card, the YAML file that describes the table.

    The profiling split has the pilot's instances without the left-out ones, and further
    instances if a table needs more of them. Objectives have the limits (the values that
    score 1 and 0) that the run used.
    """
    plan = stage.plan
    configs = frame.groupby("instance")["config"].nunique()
    shared = [name for name in stage.order if configs.get(name) == len(stage.names)]
    if len(shared) < MIN_INSTANCES:
        problem = (
            f"a table needs {MIN_INSTANCES} instances on which every configuration"
            f" was evaluated, but there are {len(shared)} so far"
        )
        remedy = "continue the run, or increase its budget"
        raise_fault(plan.name, problem, remedy, "few-instances")

    # the pilot's instances that are not left out, but at least as many as a table needs
    n_pilot = len(set(shared) & set(stage.order[: plan.pilot]))
    profiling = shared[: max(n_pilot, MIN_INSTANCES)]
    objectives = []
    for objective in plan.objectives:
        fields = objective.model_dump(
            exclude_defaults=True, exclude={"low", "high", "limits"}
        )
        if objective.transform != "none":
            fields["limits"] = list(stage.profile.limits[objective.name])
        objectives.append(fields)

    optional: dict[str, Any] = {}
    counts = count_flaws(frame)
    if counts:
        optional["counts"] = counts
    if COST_WAS_ZERO in frame:
        optional["smallest_cost"] = stage.smallest_cost
    if plan.instances.cluster is not None:
        optional["cluster"] = plan.instances.cluster
    return {
        "name": plan.name,
        "title": (
            plan.title
            or f"Evaluations of {len(stage.names)} configurations by cobandit run"
        ),
        "source": f"measured by cobandit {__version__}, {date.today():%d %B %Y}",
        "license": plan.license,
        "kind": "measured",
        "records": "table.parquet",
        "cost": plan.cost.model_dump(),
        "objectives": objectives,
        "split": {
            "profiling": len(profiling),
            "seed": plan.seed,
            "instances": profiling,
        },
        "arms": list(plan.settings),
        # a method that repeats instances has more rows than the benchmark has instances
        "n_instances": len(stage.order) - len(stage.left_out) if plan.is_once else None,
        **optional,
    }


def report_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Return lines on the origin of the table, for comments in its card.

    The card is the YAML file that describes the table.
    """
    plan = stage.plan
    method = f"{plan.method.name} {plan.method.options or ''}".rstrip()
    state = "over" if stage.policy.finished else "not over"
    lines = [
        f"made by: cobandit run, method {method}",
        (
            f"{len(frame)} evaluations for {stage.spent:g} {plan.cost.unit}; the run is"
            f" {state}"
        ),
        f"pilot: {plan.pilot} instances; order of the instances: seed {plan.seed}",
        (
            f"machine: {platform.machine()}, {platform.system()}, Python"
            f" {platform.python_version()}"
        ),
    ]

    if plan.reuse is not None:
        lines.append(f"evaluations of {plan.reuse} were reused")
    return lines + describe_flaws(stage, frame)
