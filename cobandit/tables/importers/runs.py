"""From the runs that a format's importer read to one tidy frame with named configurations."""

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
from cobandit.tables.importers.core import Harvest, LogOptions, Notes, is_number
from cobandit.tables.importers.files import plain_text

UNSET = "not set"
SCORE, SECONDS = "score", "seconds"
_LONGEST = 40
_SECRET = re.compile(r"api_?key|secret|password|authorization|access_token|hf_token", re.IGNORECASE)


class Measured(NamedTuple):
    """One evaluation: instance, score, cost in the unit of the import, and seconds if they were logged.

    ``repeat`` tells evaluations of one instance apart, where the logs have several.
    """

    instance: str
    score: float
    cost: float
    seconds: float | None
    repeat: str | None = None

    @property
    def name(self) -> str:
        """Name of the evaluation: that of the instance, and of the repeat."""
        return self.instance if self.repeat is None else f"{self.instance}, {self.repeat}"


@dataclass
class Run:
    """One log: its file, the settings of the configuration, ``model`` among them, and its evaluations."""

    file: str
    settings: dict[str, Any]
    rows: list[Measured] = field(default_factory=list)


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


def harvest(
    runs: Sequence[Run],
    cost: Cost,
    options: LogOptions,
    notes: Notes,
    source: str,
    repeats: Literal["mean", "separate"] = "mean",
) -> Harvest:
    """Name the configurations and put the evaluations of all runs into one frame.

    A configuration is a model with those settings that differ between the runs, or those that
    ``options.by`` names. Efficiency is an objective if every evaluation has its seconds.

    Parameters
    ----------
    runs : sequence of Run
    cost : Cost
        What the cost column is called, and its unit.
    options : LogOptions
    notes : Notes
        Takes the remarks.
    source : str
        What the card says of the origin.
    repeats : {"mean", "separate"}
        What becomes of repeated evaluations of an instance: one row with the means of score, cost and
        seconds, or a row each.  They are not independent, so only the former keeps instances that are.

    Returns
    -------
    Harvest

    Raises
    ------
    TableError
        If a log has no usable evaluation, there are fewer than two configurations, these have no instance in
        common or one has an instance twice, a setting of ``options.by`` is in no log, a score is out of its
        range, or only some evaluations have their seconds.
    """
    for run in runs:
        if not run.rows:
            stop(run.file, "none of its evaluations can be used", _why(notes))
    names = _differing(runs, options)
    columns = {name: _column(name, cost.column) for name in names}
    values = _plain([{columns[name]: run.settings.get(name) for name in names} for run in runs])
    labels = [_label(run.settings["model"], chosen) for run, chosen in zip(runs, values, strict=True)]
    if len(set(labels)) < 2:
        stop(runs[0].file, f"there is only one configuration, {labels[0]!r}", "choosing needs two: add logs")
    _refuse_repeats(runs, labels)
    _check_scores(runs, options.scale)
    timed = _timed(runs, notes)
    rows = [
        {
            "config": label,
            "instance": row.instance if repeats == "mean" else row.name,
            SCORE: row.score / options.scale,
            cost.column: row.cost,
        }
        | ({SECONDS: row.seconds} if timed else {})
        | chosen
        for run, label, chosen in zip(runs, labels, values, strict=True)
        for row in run.rows
    ]
    frame = pd.DataFrame(rows)
    if any(row.repeat is not None for run in runs for row in run.rows):
        frame = _repeated(frame, [SCORE, cost.column, *([SECONDS] if timed else [])], repeats, notes)
    evaluated_by = frame.groupby("instance")["config"].nunique()
    shared = int((evaluated_by == len(set(labels))).sum())
    if not shared:
        problem = (
            f"no instance was evaluated under each of {len(set(labels))} configurations ({', '.join(names)})"
        )
        stop("the logs", problem, "say which settings make a configuration with --by, or leave logs out")
    objectives = [{"name": "accuracy", "column": SCORE}]
    if timed:
        objectives.append({"name": "efficiency", "column": SECONDS, "transform": "inverse-percentile"})
    notes.remarks[:0] = [
        f"took: {len(rows)} evaluations of {len(set(labels))} configurations from {len(runs)} logs",
        f"instances: {len(evaluated_by)}, of which {shared} were evaluated under every configuration",
        f"a configuration is: {', '.join(names)} ({'see' if options.by else 'what differs; see'} --by)",
    ]
    checked = tuple(Objective.model_validate(objective) for objective in objectives)
    return Harvest(frame, cost, checked, tuple(columns.values()), source)


def _repeated(
    frame: pd.DataFrame, measured: list[str], repeats: Literal["mean", "separate"], notes: Notes
) -> pd.DataFrame:
    """Average the repeats of an instance, if so wished, and remark what was done."""
    if repeats == "separate":
        notes.remarks.append(
            "note: repeats of an instance (epochs, trials) count as instances, though they are not "
            "independent: more will be called settled than is"
        )
        return frame
    groups = frame.groupby(["config", "instance"], sort=False)
    each, others = groups.size(), [name for name in frame if name not in ("config", "instance", *measured)]
    notes.remarks.append(
        f"note: repeats of an instance (epochs, trials) are averaged, {each.min()} to {each.max()} to a row: "
        "instances are what counts as independent; --repeats separate keeps them apart"
    )
    how = dict.fromkeys(measured, "mean") | {str(name): "first" for name in others}
    return groups.agg(how).reset_index()[list(frame)]


def _why(notes: Notes) -> str:
    reasons = ", ".join(f"{number} {reason}" for reason, number in notes.left_out.items())
    return f"left out so far: {reasons}" if reasons else "check that this is the log of a finished run"


def _differing(runs: Sequence[Run], options: LogOptions) -> list[str]:
    """Settings that describe a configuration: the model, and what differs or was asked for."""
    known = {name for run in runs for name in run.settings}
    for name in options.by:
        if name not in known:
            problem = f"no log has the setting {name!r} of --by"
            stop("the logs", problem, f"{nearest(name, known)}there is {', '.join(sorted(known))}")
    different = [name for name in sorted(known) if len({_key(run.settings.get(name)) for run in runs}) > 1]
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


def _check_scores(runs: Sequence[Run], scale: float) -> None:
    for run in runs:
        for row in run.rows:
            if not 0 <= row.score <= scale:
                problem = f"instance {row.instance!r} has the score {row.score:g}, outside 0 to {scale:g}"
                stop(run.file, problem, "choose another score with --metric, or say its range with --scale")


def _refuse_repeats(runs: Sequence[Run], labels: Sequence[str]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for run, label in zip(runs, labels, strict=True):
        instances = {row.name for row in run.rows}
        if len(instances) < len(run.rows):
            problem = (
                f"{len(run.rows) - len(instances)} of its evaluations repeat an instance of the same log"
            )
            stop(run.file, problem, "keep one line an instance")
        for instance in sorted(instances):
            other = seen.setdefault((label, instance), run.file)
            if other != run.file:
                problem = f"instance {instance!r} of {label!r} is already in {other}"
                stop(run.file, problem, "give only one of the two logs")


def _timed(runs: Sequence[Run], notes: Notes) -> bool:
    """Say whether all evaluations have their seconds, and refuse if only some have."""
    without = [run.file for run in runs for row in run.rows if row.seconds is None]
    total = sum(len(run.rows) for run in runs)
    if len(without) == total:
        notes.remarks.append("objectives: accuracy alone, since there is no latency to make efficiency from")
        return False
    if without:
        problem = f"{len(without)} of {total} evaluations have no time, the first of them here"
        stop(without[0], problem, "leave those logs out, or leave out all times with --latency none")
    for run in runs:
        for row in run.rows:
            if row.seconds is not None and not 0 < row.seconds < math.inf:
                problem = f"instance {row.instance!r} took {row.seconds:g} seconds, which has no inverse"
                stop(run.file, problem, "correct the log, or leave out all times with --latency none")
    notes.remarks.append("objectives: accuracy, and efficiency as the normalised inverse of the seconds")
    return True
