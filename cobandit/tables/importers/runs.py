"""From the logs that a format's importer read to one tidy frame with named configurations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from cobandit.faults import Fault, stop
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.charges import with_smallest
from cobandit.tables.importers.configurations import checksums, configurations, differing
from cobandit.tables.importers.core import ImportResult, LogOptions
from cobandit.tables.importers.notes import Notes
from cobandit.tables.importers.repeats import Repeats, settle

SCORE, SECONDS = "score", "seconds"


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
    """One log: its file, its task, the settings of the configuration with the model, and its evaluations.

    ``finished`` and ``when`` (seconds since 1970) say which of several runs of the same counts; ``left_out``
    counts the evaluations that cannot be used, by reason.
    """

    file: str
    task: str
    settings: dict[str, Any]
    evaluations: list[Evaluation] = field(default_factory=list)
    finished: bool = True
    when: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def combine(
    runs: Sequence[LoggedRun],
    cost: Cost,
    options: LogOptions,
    notes: Notes,
    source: str,
    repeats: Repeats = "mean",
) -> ImportResult:
    """Name the configurations and put the evaluations of all runs into one frame.

    A configuration is a model with those settings that differ between the runs, or those that
    ``options.by`` names. Where several tasks are pooled, an instance's name starts with that of its task.
    Where several runs of a configuration have an instance, the newest that finished counts. Efficiency is an
    objective if every evaluation has its seconds.

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
        If no log has a usable evaluation, one has an instance twice, several configurations have no instance
        in common, a setting of ``options.by`` is in no log, a score is out of its range, or only some
        evaluations have their seconds.
    """
    runs = _usable(runs, notes)
    given = [run.settings | ({"task": run.task} if options.compare_tasks else {}) for run in runs]
    taken = ("config", "instance", SCORE, SECONDS, cost.column)
    names, columns, labels, described = configurations(given, options.by, taken)
    logged = _evaluations(runs, labels, pooled=not options.compare_tasks)
    _check_scores(logged, runs, options.scale)
    _refuse_duplicates(runs)
    logged = _newest(logged, runs, notes)
    timed = _timed(logged, runs, notes)

    rows = {
        "config": logged["config"],
        "instance": logged["instance"],
        SCORE: logged["score"] / options.scale,
        cost.column: with_smallest(logged["cost"], cost.unit, options.smallest_cost, notes),
    } | ({SECONDS: logged["seconds"].astype(float)} if timed else {})
    of_each = logged["run"].tolist()
    frame = pd.DataFrame(rows | {name: [described[i][name] for i in of_each] for name in columns})
    if logged["name"].tolist() != logged["instance"].tolist():
        frame = settle(frame, list(rows)[2:], logged["name"], repeats, notes).reset_index(drop=True)
    n_configs, per_instance = len(set(labels)), Counter(frame["instance"].tolist())
    shared = sum(number == n_configs for number in per_instance.values())
    if not shared:
        those = f"{n_configs} configurations ({', '.join(names)})"
        remedy = "say which settings make a configuration with --by, or leave logs out"
        notes.stop("the logs", f"no instance was evaluated under each of {those}", remedy)
    notes.remarks[:0] = [
        f"took: {len(logged):,} evaluations of {n_configs:,} configurations from {len(set(of_each)):,} logs",
        f"instances: {len(per_instance):,}, of which {shared:,} were evaluated under every configuration",
        f"a configuration is: {', '.join(names)} ({'see' if options.by else 'what differs; see'} --by)",
    ]
    objectives = [Objective(name="accuracy", column=SCORE)]
    if timed:
        objectives.append(Objective(name="efficiency", column=SECONDS, transform="inverse-percentile"))
    settings = {label: checksums(each) for label, each in zip(labels, given, strict=True)}
    return ImportResult(frame, cost, tuple(objectives), tuple(columns), source, settings=settings)


def _usable(runs: Sequence[LoggedRun], notes: Notes) -> list[LoggedRun]:
    """Leave out the logs none of whose evaluations can be used, with the reasons, unless all are so."""
    found = [run for run in runs if run.evaluations]
    for run in runs:
        if run.evaluations:
            notes.left_out.update(run.left_out)
            continue
        why = ", ".join(f"{number:,} {reason}" for reason, number in run.left_out.items())
        problem = f"none of its evaluations can be used{f': {why}' if why else ''}"
        notes.logs.append(str(Fault(run.file, problem, "check that this is the log of a finished run")))
    if not found:
        notes.stop("the logs", "none has an evaluation that can be used", "give the logs of a finished run")
    return found


def _evaluations(runs: Sequence[LoggedRun], labels: Sequence[str], pooled: bool) -> pd.DataFrame:
    """Put the evaluations of all runs into one frame, with the number of their run and its label.

    ``name`` tells them apart where ``instance`` does not: it adds the repeat, if there are several.
    """
    number = [i for i, run in enumerate(runs) for _ in run.evaluations]
    each = zip(*(row for run in runs for row in run.evaluations), strict=True)
    found: dict[str, Any] = dict(zip(Evaluation._fields, map(list, each), strict=True))
    # as objects, so that a time that is missing stays apart from one that is not a number
    found["seconds"] = pd.Series(found["seconds"], dtype=object)
    if pooled and len({run.task for run in runs}) > 1:
        tasks = [run.task for run in runs]
        found["instance"] = [f"{tasks[i]}/{name}" for i, name in zip(number, found["instance"], strict=True)]
    found["name"] = found["instance"]
    if len(set(found["repeat"])) > 1:
        pairs = zip(found["instance"], found["repeat"], strict=True)
        found["name"] = [f"{instance}, {repeat}" for instance, repeat in pairs]
    return pd.DataFrame({"run": number, "config": [labels[i] for i in number]} | found)


def _check_scores(logged: pd.DataFrame, runs: Sequence[LoggedRun], scale: float) -> None:
    scores = logged["score"].to_numpy()
    outside = ~((scores >= 0) & (scores <= scale))
    if outside.any():
        row = logged.iloc[int(outside.argmax())]
        problem = f"instance {row['instance']!r} has the score {row['score']:.15g}, outside 0 to {scale:g}"
        remedy = "choose another score with --metric, or say its range with --scale"
        stop(runs[row["run"]].file, problem, remedy)


def _refuse_duplicates(runs: Sequence[LoggedRun]) -> None:
    """One log has an instance once, or several repeats of it that are known apart."""
    for run in runs:
        again = len(run.evaluations) - len({(row.instance, row.repeat) for row in run.evaluations})
        if again:
            problem = f"{again:,} of its evaluations repeat an instance of the same log"
            stop(run.file, problem, "keep one line per instance")


def _newest(logged: pd.DataFrame, runs: Sequence[LoggedRun], notes: Notes) -> pd.DataFrame:
    """Of several runs of a configuration, the newest that finished gives an instance that both have.

    Runs that are the same only by what ``--by`` names may differ for a reason: that is for the user to say.
    """
    if len(runs) == logged["config"].nunique():
        return logged
    order = sorted(range(len(runs)), key=lambda i: (runs[i].finished, runs[i].when, runs[i].file))
    rank = pd.Series(range(len(runs)), index=order).loc[logged["run"]].to_numpy()
    pairs = logged.assign(best=rank).groupby(["config", "instance"])["best"].transform("max")
    older = rank < pairs.to_numpy()
    if not older.any():
        return logged
    counts = pd.Series(order).loc[pairs[older]].to_numpy()
    replaced = logged[older].assign(by=counts).groupby(["run", "by"]).size().reset_index(name="number")
    for run, by, number in replaced.itertuples(index=False):
        old, new = runs[run], runs[by]
        if different := differing([old.settings, new.settings]):
            problem = f"{number:,} of its evaluations are also in {new.file}"
            problem += f", which differs in {', '.join(different)}"
            stop(old.file, problem, "name what tells them apart with --by, or give only one of the two logs")
        why = "an earlier run of the same" if old.finished else "a run of the same that did not finish"
        notes.reruns.append(f"rerun: {new.file} counts, not {old.file}, {why}: {number:,} evaluations")
    return logged[~older].reset_index(drop=True)


def _timed(logged: pd.DataFrame, runs: Sequence[LoggedRun], notes: Notes) -> bool:
    """Say whether all evaluations have their seconds, and refuse if only some have."""
    given = logged["seconds"].tolist()
    without = [place for place, seconds in enumerate(given) if seconds is None]
    if len(without) == len(logged):
        notes.remarks.append("objectives: accuracy alone, since there is no latency to make efficiency from")
        return False
    if len(without):
        problem = f"{len(without):,} of {len(logged):,} evaluations have no time, the first of them here"
        stop(runs[logged["run"].iloc[without[0]]].file, problem, "leave out all times with --latency none")
    useless = [place for place, seconds in enumerate(given) if not 0 < seconds < math.inf]
    if useless:
        row = logged.iloc[useless[0]]
        problem = f"instance {row['instance']!r} took {row['seconds']:g} seconds, which has no inverse"
        remedy = "correct the log, or leave out all times with --latency none"
        stop(runs[row["run"]].file, problem, remedy)
    notes.remarks.append("objectives: accuracy, and efficiency as the normalised inverse of the seconds")
    return True
