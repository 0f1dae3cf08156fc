"""Choosing the logs, tasks and metrics that are imported."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from cobandit._text import suggest
from cobandit.errors import TableError, raise_fault
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import LogOptions
from cobandit.tables.importers.log_samples import Log

T = TypeVar("T")


def read_each(
    files: Iterable[Path], read: Callable[[Path], T], notes: Notes
) -> dict[Path, T]:
    """Read each log; leave out unusable logs, and note the reasons.

    Raises
    ------
    TableError
        If no log can be used.

    Examples
    --------
    >>> def read(file):
    ...     if not file.suffix:
    ...         raise TableError(f"{file}: it is empty -> run it again")
    ...     return len(file.name)
    >>> notes = Notes()
    >>> logs = read_each([Path("a.log"), Path("b")], read, notes)
    >>> list(logs.values()), notes.logs
    ([5], ['b: it is empty -> run it again'])
    """
    by_file: dict[Path, T] = {}
    for file in files:
        try:
            by_file[file] = read(file)
        except TableError as error:
            notes.logs.append(str(error))
    if not by_file and notes.logs:
        raise_fault(
            "the logs",
            f"none of the {len(notes.logs):,} logs can be used",
            "see the reasons below",
            "no-usable-log",
        )
    return by_file


def collect(
    files: Iterable[Path],
    read: Callable[[Path], Iterable[Log]],
    options: LogOptions,
    notes: Notes,
    task_of: Callable[[Path], str] | None = None,
) -> list[Log]:
    """Return the usable logs of the chosen tasks.

    Parameters
    ----------
    files : iterable of Path
    read : callable
        Returns the logs in a file, or raises TableError.
    options : LogOptions
    notes : Notes
    task_of : callable, optional
        Returns the task of a file, so that files of other tasks need not be read.

    Returns
    -------
    list of Log

    Raises
    ------
    TableError
        If no file can be used, or if the user has to choose a task.
    """
    if task_of is not None:
        _, files = choose_tasks(options, read_each(files, task_of, notes), notes)
    by_file = read_each(files, lambda file: list(read(file)), notes)
    collected = [log for of_file in by_file.values() for log in of_file]
    if task_of is not None:
        return collected
    _, chosen = choose_tasks(
        options, {number: log.task for number, log in enumerate(collected)}, notes
    )
    return [collected[number] for number in chosen]


def choose(
    kind: str, wanted: str | None, candidates: Iterable[str], option: str
) -> str:
    """Return the name that the user chose, or the only candidate; raise if ambiguous.

    Parameters
    ----------
    kind : str
        Kind of the names, such as ``"filter"``.
    wanted : str or None
        Name that the user chose, if any.
    candidates : iterable of str
        Available names.
    option : str
        Option that makes the choice, for messages.

    Raises
    ------
    TableError
        If there is no candidate, the wanted name is not a candidate, or there are
        several candidates and no wanted name.

    Examples
    --------
    >>> choose("filter", None, ["none"], "--filter")
    'none'
    >>> choose("filter", None, ["b", "a"], "--filter")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the logs: there is more than one filter: a, b -> ...
    """
    names = sorted(set(candidates))
    if not names:
        remedy = "check that these are the right files, from a finished run"
        raise_fault("the logs", f"the logs have no {kind}", remedy, "nothing-to-choose")

    if wanted is None and len(names) > 1:
        problem = f"there is more than one {kind}: {', '.join(names)}"
        raise_fault(
            "the logs", problem, f"choose one with {option}", "several-to-choose"
        )

    if wanted is not None and wanted not in names:
        raise_fault(
            "the logs",
            f"the logs have no {kind} {wanted!r}",
            suggest(wanted, names),
            "unknown-choice",
        )

    return names[0] if wanted is None else wanted


class Metrics(NamedTuple):
    """The chosen metrics: for each task, one metric per objective."""

    #: Metrics of each task, one per objective.
    of: dict[str, tuple[str, ...]]
    #: Names of the objectives.
    objectives: tuple[str, ...]


def choose_metrics(
    kind: str, wanted: Sequence[str], scored: Iterable[tuple[str, Iterable[str]]]
) -> Metrics:
    """Return the metrics that the user chose as objectives, or the only metric.

    If every task has exactly one of the chosen metrics, these metrics form one
    objective, named accuracy. If the user chose no metric, the only metric forms this
    objective.

    Parameters
    ----------
    kind : str
        Word for a metric in messages, such as ``"scorer"``.
    wanted : sequence of str
        Names that the user chose, if any.
    scored : iterable of (str, iterable of str)
        Task of each log, and the metrics in it; tasks may repeat.

    Raises
    ------
    TableError
        If some tasks lack a chosen metric, or there are several metrics and the user
        chose none.

    Examples
    --------
    >>> has = {"sums": ["exact_match"], "piqa": ["acc", "acc_norm"]}
    >>> choose_metrics("metric", ["exact_match", "acc"], has.items()).of
    {'sums': ('exact_match',), 'piqa': ('acc',)}
    >>> piqa = [("piqa", has["piqa"])]
    >>> choose_metrics("metric", ["acc", "acc_norm"], piqa).objectives
    ('acc', 'acc_norm')
    >>> choose_metrics("metric", ["acc"], has.items())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: the logs: the task 'sums' has exact_match, not ...
    """
    by_task: defaultdict[str, set[str]] = defaultdict(set)
    for task, metrics in scored:
        by_task[task].update(metrics)
    names = {name for scores in by_task.values() for name in scores}
    option = "--metric (repeat it for several objectives)"
    wishes: Sequence[str | None] = list(dict.fromkeys(wanted)) or [None]

    chosen = tuple(choose(kind, name, names, option) for name in wishes)
    chosen_by_task = {
        task: tuple(name for name in chosen if name in has)
        for task, has in by_task.items()
    }
    for task, metrics in chosen_by_task.items():
        if metrics != chosen and any(
            len(scores) != 1 for scores in chosen_by_task.values()
        ):
            problem = (
                f"the task {task!r} has {', '.join(sorted(by_task[task]))}, not all of"
                f" {', '.join(chosen)}"
            )
            remedy = (
                "name with --metric one metric per task, or metrics that every task has"
            )
            raise_fault("the logs", problem, remedy, "needs-choice")

    several = len(chosen) > 1 and all(
        metrics == chosen for metrics in chosen_by_task.values()
    )
    return Metrics(chosen_by_task, chosen if several else ("accuracy",))


def choose_tasks(
    options: LogOptions, task_of: Mapping[T, str], notes: Notes
) -> tuple[list[str], list[T]]:
    """Return the tasks that the user chose, or the only task, and their logs.

    If the user chose none of several tasks, ``--compare-tasks`` takes all tasks.
    Without this option, several tasks are an error.

    Parameters
    ----------
    options : LogOptions
    task_of : mapping to str
        Task of each log, by file or number.
    notes : Notes
        Receives the number of left-out logs.

    Returns
    -------
    tasks : list of str
    logs : list
        Keys of ``task_of`` (files or numbers) with the chosen tasks.

    Examples
    --------
    >>> logs = {Path("a"): "mmlu_law", Path("b"): "piqa", Path("c"): "mmlu_art"}
    >>> notes = Notes()
    >>> tasks, _ = choose_tasks(LogOptions(task=("mmlu_*",)), logs, notes)
    >>> tasks, notes.lines()
    (['mmlu_art', 'mmlu_law'], ['left out: 1 logs of other tasks'])
    """
    names = sorted(set(task_of.values()))
    wanted: Sequence[str | None] = options.task or (
        names if options.compare_tasks else [None]
    )
    option = "--task (repeat it to pool several), or with --compare-tasks"
    tasks: dict[str, None] = {}
    for task in wanted:
        fitting = fnmatch.filter(names, task or "")
        tasks |= dict.fromkeys(fitting or [choose("task", task, names, option)])
    chosen = [log for log, task in task_of.items() if task in tasks]
    if len(chosen) < len(task_of):
        notes.left_out["logs of other tasks"] += len(task_of) - len(chosen)
    return list(tasks), chosen
