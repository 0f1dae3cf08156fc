"""Combining the logged runs of all configurations in one data frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.card import CUT_OFF, EMPTY, RESERVED, Cost, Objective
from cobandit.tables.importers.import_notes import Notes, limit_lines
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.importer_registry import ImportResult
from cobandit.tables.importers.log_choices import Metrics
from cobandit.tables.importers.log_costs import charge_free, settle_unmeasured
from cobandit.tables.importers.log_settings import (
    find_differing,
    name_configurations,
    sum_settings,
)
from cobandit.tables.importers.logged_runs import Evaluation, LoggedRun
from cobandit.tables.importers.repeated_evaluations import (
    average_repeats,
    count_same_repeats,
)
from cobandit.tables.importers.scores import rescale_scores, settle_missing

SCORE = "score"
SECONDS = "seconds"


def combine_runs(
    runs: Sequence[LoggedRun],
    tasks: Sequence[str],
    metrics: Metrics,
    cost: Cost,
    options: LogOptions,
    notes: Notes,
    source: str,
    measured: Mapping[str, Any],
) -> ImportResult:
    """Name the configurations, and combine the evaluations of all runs in one frame.

    A configuration is a model with the settings that differ between runs, or with the
    settings that ``options.by`` names. If several tasks are pooled, names of instances
    start with the name of the task. If several runs of a configuration evaluated an
    instance, the newest finished run counts. Efficiency becomes an objective if the
    seconds of every evaluation are known.

    Parameters
    ----------
    runs : sequence of LoggedRun
    tasks : sequence of str
    metrics : Metrics
        Names of the objectives, and the metric of each task for each objective.
    cost : Cost
        Name of the cost column, and its unit.
    options : LogOptions
        Options of the import. With ``repeats="mean"``, repeated evaluations of an
        instance become one row with the means of scores, cost and seconds; with
        ``"separate"``, each becomes a row. Repeats are not independent, so averaging is
        the default.
    notes : Notes
        Receives remarks for the report.
    source : str
        Kind of logs, for the description of the measurements.
    measured : mapping
        Further properties, besides configurations, tasks and metrics, that two imports
        into one table must share. Each value is a name, several names, or names per
        task.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If no log has a usable evaluation, a log has an instance twice, configurations
        share no instance, or a setting of ``options.by`` is in no log.
    """
    runs = _usable(runs, notes)
    settings_of_runs = [
        run.settings | ({"task": run.task} if options.compare_tasks else {})
        for run in runs
    ]
    # a single score becomes the objective "accuracy" in the column "score"; several
    # scores keep their names
    reserved = {"config", "instance", SECONDS, cost.column}
    no_names = {*reserved, *RESERVED, "efficiency"}
    scored = [
        f"{name}_score" if name in no_names else name for name in metrics.objectives
    ]
    scores = {name: SCORE if len(scored) == 1 else name for name in scored}
    shared = [] if options.cluster is None else [options.cluster]
    described = name_configurations(
        settings_of_runs, options.by, {*reserved, *scores.values(), *shared}
    )
    if not options.by and all(run.name for run in runs):
        described["config"] = [run.name for run in runs]
    arms = [str(name) for name in described][1:]
    _count_left_out(runs, described["config"], notes)
    evaluations = _evaluations(runs, described, metrics.objectives, options, notes)
    logged = _newest(evaluations, runs, notes)
    for flaw in (CUT_OFF, EMPTY):
        flawed = (
            logged["flaws"].map(lambda flaws, flaw=flaw: flaw in flaws).astype(bool)
        )
        notes.count(flaw, logged["config"][flawed], logged["config"])
    logged = settle_unmeasured(logged, options.unmeasured, notes)
    if options.count == "all":
        logged["cost"] += logged["prompt"].fillna(0.0)
    elif logged["prompt"].notna().all():
        added = f"{logged['prompt'].mean():,.4g} {cost.unit} per evaluation"
        notes.remarks.append(
            f"the cost excludes prompts, which would add {added} (see --count all)"
        )

    values = np.array(logged["scores"].tolist()).T
    frame = logged[["config", "instance"]].assign(
        **dict(zip(scores.values(), values, strict=True))
    )
    frame[cost.column] = charge_free(
        logged["cost"], logged["config"], cost.unit, options.smallest_cost, notes
    )
    objectives = [
        Objective(name=name, column=column) for name, column in scores.items()
    ]
    if logged["seconds"].notna().all():
        frame[SECONDS] = logged["seconds"]
        objectives.append(
            Objective(name="efficiency", column=SECONDS, transform="inverse-percentile")
        )
    frame = frame.join(described[arms].loc[logged["run"]].reset_index(drop=True))
    for column in shared:
        if column in frame:
            raise_fault(
                "--cluster",
                f"{column!r} is the name of another column of the table",
                "rename this field, or choose another one",
                "reserved-name",
            )
        frame[column] = logged["cluster"].astype(str)
    count_same_repeats(frame, list(scores.values()), notes)
    repeats = getattr(options, "repeats", "mean")
    frame = average_repeats(
        frame, [*arms, *shared], logged["name"], repeats, notes
    ).reset_index(drop=True)

    n_configs = frame["config"].nunique()
    n_logs = logged["run"].nunique()
    per_instance = frame["instance"].value_counts()
    n_shared = int((per_instance == n_configs).sum())
    if not n_shared:
        those = f"{n_configs} configurations ({', '.join(arms)})"
        remedy = (
            "name the settings that define a configuration with --by, or leave out some"
            " logs"
        )
        raise_fault(
            "the logs",
            f"no instance was evaluated with all of {those}",
            remedy,
            "no-common-instance",
        )
    measured = {"tasks": tasks, "metrics": metrics.of, **measured}
    origin = "; ".join(
        [source, *(f"{name}: {_list(value)}" for name, value in measured.items())]
    )
    notes.remarks[:0] = [
        f"source: {origin}",
        (
            f"took: {len(logged):,} evaluations of {n_configs:,} configurations from"
            f" {n_logs:,} logs"
        ),
        (
            f"instances: {len(per_instance):,}, of which {n_shared:,} were evaluated"
            " under every configuration"
        ),
        (
            f"a configuration is: {', '.join(arms)}"
            f" ({'see' if options.by else 'what differs; see'} --by)"
        ),
    ]
    settings = {
        label: sum_settings(run_settings)
        for label, run_settings in zip(
            described["config"], settings_of_runs, strict=True
        )
    }
    return ImportResult(
        frame,
        cost,
        tuple(objectives),
        tuple(arms),
        origin,
        measured,
        settings=settings,
        cluster=options.cluster,
    )


def _list(value: Any) -> str:
    """Write a name, several names, or names per task as text."""
    if isinstance(value, Mapping):
        by_task = {task: _list(names) for task, names in value.items()}
        alike = len(set(by_task.values())) == 1
        if alike:
            return next(iter(by_task.values()))
        return _list([f"{names} of {task}" for task, names in by_task.items()])
    return value if isinstance(value, str) else ", ".join(value)


def _usable(runs: Sequence[LoggedRun], notes: Notes) -> list[LoggedRun]:
    """Return the runs with usable evaluations; raise if there are none."""
    usable = [run for run in runs if run.evaluations]
    for run in runs:
        if not run.evaluations:
            why = ", ".join(
                f"{number:,} {reason}" for reason, number in run.left_out.items()
            )
            notes.logs.append(
                f"{run.file}: none of the evaluations can be used: {why} -> run the"
                " evaluation again"
            )

    if not usable:
        raise_fault(
            "the logs",
            "no log has a usable evaluation",
            "give the logs of a finished run",
            "no-evaluation",
        )

    return usable


def _count_left_out(
    runs: Sequence[LoggedRun], configs: pd.Series, notes: Notes
) -> None:
    """Count evaluations that cannot be used, per configuration and reason."""
    reasons = dict.fromkeys(reason for run in runs for reason in run.left_out)
    totals = [
        config
        for run, config in zip(runs, configs, strict=True)
        for _ in range(len(run.evaluations) + run.left_out.total())
    ]
    for reason in reasons:
        lost = [
            config
            for run, config in zip(runs, configs, strict=True)
            for _ in range(run.left_out[reason])
        ]
        notes.count(reason, lost, totals)
        notes.left_out[reason] += len(lost)


def _evaluations(
    runs: Sequence[LoggedRun],
    described: pd.DataFrame,
    objectives: Sequence[str],
    options: LogOptions,
    notes: Notes,
) -> pd.DataFrame:
    """Collect the evaluations of all runs in one frame, with run numbers and labels.

    The column ``name`` distinguishes repeats of an instance: it is the instance's name
    followed by the number of the repeat.
    """
    rows = [
        (number, *evaluation)
        for number, run in enumerate(runs)
        for evaluation in run.evaluations
    ]
    frame = pd.DataFrame(rows, columns=["run", *Evaluation._fields])
    frame = frame.astype({"cost": float, "seconds": float, "prompt": float})
    frame["config"] = described["config"].loc[frame["run"]].to_numpy()

    logged_scores = np.array(frame["scores"].tolist())
    scores = rescale_scores(logged_scores, objectives, frame["config"], options, notes)
    scores, has_scores = settle_missing(scores, frame["config"], options, notes)
    frame["scores"] = pd.Series(list(scores), dtype=object)
    frame = frame[has_scores].reset_index(drop=True)
    if frame.empty:
        raise_fault(
            "the logs",
            "no evaluation has a usable score",
            "see the reasons below, or choose another score with --metric",
            "no-score",
        )

    match getattr(options, "cost", "tokens"):
        case "none":
            frame = frame.assign(cost=1.0, prompt=math.nan)
        case "seconds":
            frame = frame.assign(
                cost=frame["seconds"].where(frame["seconds"] > 0), prompt=math.nan
            )
    seconds = frame["seconds"]
    untimed = ~((seconds > 0) & (seconds < math.inf))
    if untimed.any() and seconds.notna().any():
        counted = (
            f"{untimed.sum():,} of {len(frame):,} evaluations have no time above zero"
        )
        notes.remarks.append(f"note: {counted}, so efficiency is not an objective")
    if untimed.any():
        frame["seconds"] = math.nan
    tasks = [run.task for run in runs]
    if len(set(tasks)) > 1 and not options.compare_tasks:
        frame["instance"] = (
            frame["run"].map(tasks.__getitem__) + "/" + frame["instance"]
        )
    several = len(set(frame["repeat"])) > 1
    return frame.assign(
        name=(
            frame["instance"] + ", " + frame["repeat"] if several else frame["instance"]
        )
    )


def _newest(
    logged: pd.DataFrame, runs: Sequence[LoggedRun], notes: Notes
) -> pd.DataFrame:
    """Return only the newest evaluation of each configuration and instance.

    Raises if two runs of a configuration differ in settings that ``--by`` does not
    name, because these may be different configurations.
    """
    order = sorted(
        range(len(runs)), key=lambda i: (runs[i].finished, runs[i].began, runs[i].file)
    )
    rank = logged["run"].map({run: place for place, run in enumerate(order)})
    best = rank.groupby([logged["config"], logged["instance"]]).transform("max")
    older = rank < best

    remarks = []
    replaced = pd.DataFrame({"run": logged["run"], "newest": best})[older].value_counts(
        sort=False
    )
    for run, newest, number in replaced.reset_index().to_numpy():
        older_run = runs[run]
        newer_run = runs[order[newest]]
        different = find_differing([older_run.settings, newer_run.settings])
        if different:
            problem = f"{number:,} evaluations of this log are also in {newer_run.file}"
            problem += f", which differs in {', '.join(different)}"
            raise_fault(
                older_run.file,
                problem,
                "name the settings that distinguish them with --by, or give only one"
                " of the two logs",
                "same-configuration",
            )
        remarks.append(
            f"rerun: {number:,} evaluations of {newer_run.file} replace those of"
            f" {older_run.file}"
        )

    notes.remarks += limit_lines(remarks)
    return logged[~older].reset_index(drop=True)
