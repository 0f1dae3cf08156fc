"""From the logs that a format's importer read to one tidy frame with named configurations."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from cobandit.faults import nearest, stop
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.core import ImportResult, LogOptions, Notes, is_number
from cobandit.tables.importers.files import plain_text

UNSET = "not set"
SCORE, SECONDS = "score", "seconds"
_LONGEST = 40
_SECRET = re.compile(r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE)


class Evaluation(NamedTuple):
    """One evaluation: instance, score, cost in the unit of the import, and seconds if they were logged.

    ``repeat`` tells evaluations of one instance apart, where the logs have several.
    """

    instance: str
    score: float
    cost: float
    seconds: float | None = None
    repeat: str = ""


@dataclass
class LoggedRun:
    """One log: its file, its task, the settings of the configuration with the model, and its evaluations."""

    file: str
    task: str
    settings: dict[str, Any]
    evaluations: list[Evaluation] = field(default_factory=list)


def settings_of(file: str | Path, model: Any, *groups: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge what a log says of its configuration, later groups winning.

    What is plain is kept (text, numbers, true, false), and no secret.

    Raises
    ------
    TableError
        If the model is not named.

    Examples
    --------
    >>> settings_of("a.json", "m", {"temperature": 0.0, "until": ["."]}, {"temperature": 0.7, "api_key": "x"})
    {'temperature': 0.7, 'model': 'm'}
    """
    if not isinstance(model, str):
        stop(file, "it does not name the model", "check that it is complete, and of the same run")
    merged: dict[str, Any] = {}
    for group in groups:
        merged |= {str(key): value for key, value in (group or {}).items() if value is not None}
    plain = {key: value for key, value in merged.items() if is_number(value) or isinstance(value, str)}
    # a whole number that no column could hold exactly, such as a long seed, is kept as text
    known = {
        key: str(value) if type(value) is int and abs(value) >= 2**53 else value
        for key, value in plain.items()
        if not _SECRET.search(key)
    }
    return known | {"model": plain_text(model, file, "the model")}


def combine(
    runs: Sequence[LoggedRun],
    cost: Cost,
    options: LogOptions,
    notes: Notes,
    source: str,
    repeats: Literal["mean", "separate"] = "mean",
) -> ImportResult:
    """Name the configurations and put the evaluations of all runs into one frame.

    A configuration is a model with those settings that differ between the runs, or those that
    ``options.by`` names. Where several tasks are pooled, an instance's name starts with that of its task.
    Efficiency is an objective if every evaluation has its seconds.

    Parameters
    ----------
    runs : sequence of LoggedRun
    cost : Cost
        What the cost column is called, and its unit.
    options : LogOptions
    notes : Notes
        Takes the remarks.
    source : str
        What the card says of the origin.
    repeats : {"mean", "separate"}
        What becomes of repeated evaluations of an instance: one row with the means of score, cost and
        seconds, or one row for each.  They are not independent, so only the former keeps instances that are.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a log has no usable evaluation, there are fewer than two configurations, these have no instance in
        common or one has an instance twice, a setting of ``options.by`` is in no log, a score is out of its
        range, or only some evaluations have their seconds.
    """
    for run in runs:
        if not run.evaluations:
            stop(run.file, "none of its evaluations can be used", _why(notes))
    given = [run.settings | ({"task": run.task} if options.compare_tasks else {}) for run in runs]
    names = _differing(given, options)
    columns = {name: _column(name, cost.column) for name in names}
    settings = _plain([{columns[name]: each.get(name) for name in names} for each in given])
    labels = [_label(run.settings["model"], chosen) for run, chosen in zip(runs, settings, strict=True)]
    if len(set(labels)) < 2:
        stop(runs[0].file, f"there is only one configuration, {labels[0]!r}", "choosing needs two: add logs")
    logged = _evaluations(runs, labels, pooled=not options.compare_tasks)
    _check_scores(logged, options.scale)
    _refuse_duplicates(logged)
    timed = _timed(logged, notes)

    rows = {
        "config": logged["config"],
        "instance": logged["instance" if repeats == "mean" else "name"],
        SCORE: logged["score"] / options.scale,
        cost.column: logged["cost"],
    } | ({SECONDS: logged["seconds"].astype(float)} if timed else {})
    described = pd.DataFrame(settings).iloc[logged["run"].tolist()].reset_index(drop=True)
    frame = pd.concat([pd.DataFrame(rows), described], axis=1)
    if not logged["name"].equals(logged["instance"]):
        frame = _repeated(frame, repeats, list(rows)[2:], notes)
    configs = frame.groupby("instance")["config"].nunique()
    shared = int((configs == len(set(labels))).sum())
    if not shared:
        those = f"{len(set(labels))} configurations ({', '.join(names)})"
        remedy = "say which settings make a configuration with --by, or leave logs out"
        stop("the logs", f"no instance was evaluated under each of {those}", remedy)
    notes.remarks[:0] = [
        f"took: {len(logged)} evaluations of {len(set(labels))} configurations from {len(runs)} logs",
        f"instances: {len(configs)}, of which {shared} were evaluated under every configuration",
        f"a configuration is: {', '.join(names)} ({'see' if options.by else 'what differs; see'} --by)",
    ]
    objectives = [Objective(name="accuracy", column=SCORE)]
    if timed:
        objectives.append(Objective(name="efficiency", column=SECONDS, transform="inverse-percentile"))
    return ImportResult(frame, cost, tuple(objectives), tuple(columns.values()), source)


def _evaluations(runs: Sequence[LoggedRun], labels: Sequence[str], pooled: bool) -> pd.DataFrame:
    """Put the evaluations of all runs into one frame, with the number of their run, its file and its label.

    ``name`` tells them apart where ``instance`` does not: it adds the repeat, if there are several.
    """
    logged = pd.DataFrame(
        [(i, run.file, labels[i], *row) for i, run in enumerate(runs) for row in run.evaluations],
        columns=["run", "file", "config", *Evaluation._fields],
    )
    # as objects, so that a time that is missing stays apart from one that is not a number
    logged["seconds"] = pd.Series([row.seconds for run in runs for row in run.evaluations], dtype=object)
    if pooled and len({run.task for run in runs}) > 1:
        logged["instance"] = [f"{runs[i].task}/" for i in logged["run"]] + logged["instance"]
    repeated = len(set(logged["repeat"])) > 1
    logged["name"] = logged["instance"] + (", " + logged["repeat"] if repeated else "")
    return logged


def _repeated(
    frame: pd.DataFrame, repeats: Literal["mean", "separate"], measured: list[str], notes: Notes
) -> pd.DataFrame:
    """Average the repeats of an instance, unless they are to stay apart, and remark what was done."""
    if repeats == "separate":
        notes.remarks.append(
            "note: repeats of an instance (epochs, trials) count as instances, though they are not "
            "independent: more will be called settled than is"
        )
        return frame
    groups = frame.groupby(["config", "instance"], sort=False)
    each = groups.size()
    notes.remarks.append(
        f"note: repeats of an instance (epochs, trials) are averaged, {each.min()} to {each.max()} per row: "
        "instances are what counts as independent; --repeats separate keeps them apart"
    )
    how = {str(name): "mean" if name in measured else "first" for name in list(frame)[2:]}
    return groups.agg(how).reset_index()


def _why(notes: Notes) -> str:
    reasons = ", ".join(f"{number} {reason}" for reason, number in notes.left_out.items())
    return f"left out so far: {reasons}" if reasons else "check that this is the log of a finished run"


def _differing(settings: Sequence[Mapping[str, Any]], options: LogOptions) -> list[str]:
    """Settings that describe a configuration: the model, and what differs or was asked for."""
    known = sorted({name for each in settings for name in each})
    for name in options.by:
        if name not in known:
            problem = f"no log has the setting {name!r} of --by"
            stop("the logs", problem, f"{nearest(name, known)}there is {', '.join(known)}")
    different = [name for name in known if len({_key(each.get(name)) for each in settings}) > 1]
    return ["model", *(name for name in (options.by or different) if name != "model")]


def _key(value: Any) -> str:
    """Tell values apart: 1 and 1.0 are the same, 1 and true or 1 and its numeral are not."""
    return repr(float(value)) if type(value) is int else repr(value)


def _column(name: str, cost: str) -> str:
    return f"{name}_setting" if name in ("config", "instance", SCORE, SECONDS, cost) else name


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each column one type: numbers if all of its values are, else text."""
    for name in rows[0]:
        kinds = {type(row[name]) for row in rows}
        if not (kinds <= {int, float} or kinds == {bool}):
            for row in rows:
                row[name] = UNSET if row[name] is None else _short(str(row[name]))
        elif kinds == {int, float}:
            for row in rows:
                row[name] = float(row[name])
    return rows


def _short(text: str) -> str:
    """Keep names readable: what is long or has odd white space is its beginning and a checksum."""
    plain = " ".join(text.split())
    if plain == text and 0 < len(text) <= _LONGEST:
        return text
    return f"{plain[:24]}... ({hashlib.sha256(text.encode()).hexdigest()[:6]})"


def _label(model: str, settings: dict[str, Any]) -> str:
    rest = [f"{name}={value}" for name, value in settings.items() if name != "model"]
    return " ".join([model, *rest])


def _check_scores(logged: pd.DataFrame, scale: float) -> None:
    outside = logged[~logged["score"].between(0, scale)]
    if len(outside):
        row = outside.iloc[0]
        problem = f"instance {row['instance']!r} has the score {row['score']:g}, outside 0 to {scale:g}"
        stop(row["file"], problem, "choose another score with --metric, or say its range with --scale")


def _refuse_duplicates(logged: pd.DataFrame) -> None:
    again = logged[logged.duplicated(["config", "name"])]
    if again.empty:
        return
    row = again.iloc[0]
    first = logged[(logged["config"] == row["config"]) & (logged["name"] == row["name"])].iloc[0]
    if first["file"] == row["file"]:
        number = logged[logged["file"] == row["file"]].duplicated("name").sum()
        problem = f"{number} of its evaluations repeat an instance of the same log"
        stop(row["file"], problem, "keep one line per instance")
    problem = f"instance {row['name']!r} of {row['config']!r} is already in {first['file']}"
    stop(row["file"], problem, "give only one of the two logs")


def _timed(logged: pd.DataFrame, notes: Notes) -> bool:
    """Say whether all evaluations have their seconds, and refuse if only some have."""
    without = logged[logged["seconds"].map(lambda seconds: seconds is None)]
    if len(without) == len(logged):
        notes.remarks.append("objectives: accuracy alone, since there is no latency to make efficiency from")
        return False
    if len(without):
        problem = f"{len(without)} of {len(logged)} evaluations have no time, the first of them here"
        remedy = "leave those logs out, or leave out all times with --latency none"
        stop(without.iloc[0]["file"], problem, remedy)
    useless = logged[[not 0 < seconds < math.inf for seconds in logged["seconds"]]]
    if len(useless):
        row = useless.iloc[0]
        problem = f"instance {row['instance']!r} took {row['seconds']:g} seconds, which has no inverse"
        stop(row["file"], problem, "correct the log, or leave out all times with --latency none")
    notes.remarks.append("objectives: accuracy, and efficiency as the normalised inverse of the seconds")
    return True
