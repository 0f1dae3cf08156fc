"""What every importer shares: options, registry, the notes that it makes, how it chooses or refuses."""

from __future__ import annotations

import fnmatch
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, TypeVar

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cobandit.faults import Fault, Place, TableError, stop, suggest
from cobandit.tables.card import Cost, Objective
from cobandit.tables.prices import Prices, read_prices

MOST_LINES = 20
"""Logs that a report or a message lists, at most."""


@dataclass
class Notes:
    """What an import has to tell: remarks, what was left out and how often, what else was seen how often.

    ``logs`` are those that are left out whole, each as a line that says where, why and what to do; ``reruns``
    say which log counts in place of which; ``smallest`` is what an evaluation that cost nothing counts as.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.remarks.append("cost: tokens")
    >>> notes.left_out["samples that ended in an error"] += 2
    >>> notes.logs.append("b.eval: it ended as 'cancelled' -> run it again")
    >>> for line in notes.lines():
    ...     print(line)
    cost: tokens
    left out: b.eval: it ended as 'cancelled' -> run it again
    left out: 2 samples that ended in an error
    """

    remarks: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    logs: list[str] = field(default_factory=list)
    reruns: list[str] = field(default_factory=list)
    smallest: float | None = None

    def compare(self, file: Path, held: int, counted: Any) -> None:
        """Remark that a log holds fewer evaluations than it counts itself, as one that was cut short does.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.compare(Path("logs/a.jsonl"), 7, 12)
        >>> notes.remarks
        ['incomplete: a.jsonl holds 7 of the 12 evaluations that its run counted']
        """
        if type(counted) is int and held < counted:
            self.remarks.append(
                f"incomplete: {file.name} holds {held} of the {counted} evaluations that its run counted"
            )

    def lines(self) -> list[str]:
        """All of it, one line each."""
        left = [f"left out: {number:,} {reason}" for reason, number in self.left_out.items()]
        seen = [f"note: {number:,} {what}" for what, number in self.seen.items()]
        whole = self._whole()
        return [*self.remarks, *_first(self.reruns), *(whole + left or ["left out: nothing"]), *seen]

    def stop(self, where: str | Path, problem: str, remedy: str) -> NoReturn:
        """Raise an error as ``faults.stop`` does, followed by the logs that were left out.

        Raises
        ------
        TableError
            Always.
        """
        raise TableError("\n".join([str(Fault(str(where), problem, remedy)), *self._whole()])) from None

    def _whole(self) -> list[str]:
        return _first([f"left out: {line}" for line in self.logs])


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more:,} more of these"]


T = TypeVar("T")


def read_each(files: Iterable[Path], read: Callable[[Path], T], notes: Notes) -> dict[Path, T]:
    """Read each log; leave out those that cannot be used, each with its reason.

    Raises
    ------
    TableError
        If none can be used; the message has all reasons.

    Examples
    --------
    >>> def read(file):
    ...     if not file.suffix:
    ...         raise TableError(f"{file}: it is empty -> run it again")
    ...     return len(file.name)
    >>> list(read_each([Path("a.log"), Path("b")], read, notes := Notes()).values()), notes.logs
    ([5], ['b: it is empty -> run it again'])
    """
    found: dict[Path, T] = {}
    for file in files:
        try:
            found[file] = read(file)
        except TableError as error:
            notes.logs.append(str(error))
    if not found and notes.logs:
        only = f"none of the {len(notes.logs):,} logs can be used"
        raise TableError(notes.logs[0] if len(notes.logs) == 1 else "\n".join([only, *_first(notes.logs)]))
    return found


Names = Annotated[
    tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given or ())
]
"""One name or several."""


class Options(BaseModel):
    """Options of every importer; a field is an option of the command, its description the help text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scale: float = Field(
        1.0, gt=0, allow_inf_nan=False, description="Divide every score by this: 10 for a judge's 0 to 10."
    )
    smallest_cost: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="What an evaluation that cost nothing counts as (default: 1 where costs are whole "
        "numbers, such as tokens, else a thousandth of their median).",
    )


class LogOptions(Options):
    """Options of every importer of evaluation logs."""

    metric: Names = Field(
        (),
        description="The score that becomes the accuracy objective; repeat it to make an objective of each, "
        "or where each task has its own.",
    )
    task: tuple[str, ...] = Field(
        (), description="The task to take, or a pattern such as 'mmlu_*'; repeat to take several."
    )
    compare_tasks: bool = Field(
        False, description="The tasks are variants of one (say, prompts): they are part of the configuration."
    )
    by: tuple[str, ...] = Field(
        (), description="A setting that, with the model, makes a configuration (default: all that differ)."
    )
    count: Literal["generated", "all"] = Field(
        "generated", description="Tokens that cost: those generated, or all, with the prompt's."
    )


class RepeatOptions(Options):
    """Options of importers of what may hold several evaluations of one instance."""

    repeats: Literal["mean", "separate"] = Field(
        "mean",
        description="Repeated evaluations of an instance (epochs, trials): one row with their mean, or one "
        "row for each, which then count as independent instances.",
    )


class PricedOptions(LogOptions, RepeatOptions):
    """Options of importers of logs that count tokens by model, which prices turn into money."""

    cost: Literal["tokens", "usd"] = Field(
        "tokens", description="Cost: tokens, or money (usd), as it was logged or by --prices."
    )
    prices: Path | None = Field(
        None,
        description="For --cost usd, a file of USD per million input, cached and output tokens by model.",
    )

    @property
    def charged(self) -> Cost:
        """The column of the cost, and its unit."""
        return (
            Cost(column="cost_usd", unit="USD")
            if self.cost == "usd"
            else Cost(column="tokens", unit="tokens")
        )

    @property
    def leaves_out_prompts(self) -> bool:
        """Whether the cost is of the tokens generated alone."""
        return self.cost == "tokens" and self.count == "generated"

    def identify(self, tasks: Sequence[str], metrics: Metrics, latency: str) -> dict[str, Any]:
        """What tells an import with these options from another one, as JSON has it."""
        paid = "usd" if self.cost == "usd" else self.count
        return {"tasks": [*tasks], "metrics": metrics.of, "cost": paid, "latency": latency}

    def known_prices(self) -> Prices:
        """Read the file of prices; without one there are none."""
        if self.prices is None:
            return {}
        if self.cost == "tokens":
            stop(
                "--prices", "prices mean nothing where tokens are the cost", "add --cost usd, or leave it out"
            )
        return read_prices(self.prices)


class ImportResult(NamedTuple):
    """What an importer found: a tidy frame and what its columns mean, as the card will say it.

    ``source`` says to people what was measured, ``files`` in which files if that is worth saying; ``place``
    gives the file, row and column that a row and column of the frame come from.  What a later import compares
    to tell if it means the same: ``measured``, which options and choices say what was measured, as JSON has
    it, and ``settings``, checksums of all that the logs say of a configuration, by its name and theirs.
    """

    frame: pd.DataFrame
    cost: Cost
    objectives: tuple[Objective, ...]
    arms: tuple[str, ...]
    source: str
    measured: dict[str, Any]
    files: tuple[str, ...] = ()
    place: Callable[[int, str | None], Place] | None = None
    settings: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never written to)


Reader = Callable[[Sequence[Path], Any, Notes], ImportResult]
"""What an importer does: paths, its options and the notes it may add to in, tidy records out."""


class Importer(NamedTuple):
    """A registered importer: its name, one line of help, its options and its function."""

    name: str
    help: str
    options: type[Options]
    read_logs: Reader


IMPORTERS: dict[str, Importer] = {}
"""Every importer by name."""


def importer(name: str, options: type[Options]) -> Callable[[Reader], Reader]:
    """Register the function below as an importer; the first line of its docstring is the help text."""

    def register(read_logs: Reader) -> Reader:
        IMPORTERS[name] = Importer(name, (read_logs.__doc__ or "").splitlines()[0], options, read_logs)
        return read_logs

    return register


def choose(what: str, wanted: str | None, found: Iterable[str], where: str, option: str) -> str:
    """Take the wanted one of those found, or the only one; never guess among several.

    Parameters
    ----------
    what : str
        What is chosen, such as ``"filter"``.
    wanted : str or None
        What the user asked for.
    found : iterable of str
        What there is.
    where, option : str
        The place, and the option that makes the choice, for the message.

    Raises
    ------
    TableError
        If there is none, none of that name, or several and no wish.

    Examples
    --------
    >>> choose("filter", None, ["none"], "the logs", "--filter")
    'none'
    >>> choose("filter", None, ["b", "a"], "the logs", "--filter")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the logs: there is more than one filter: a, b -> choose with --filter
    """
    names = sorted(set(found))
    listed = ", ".join(names)
    if not names:
        stop(where, f"there is no {what}", "check that these are the right files, of a run that finished")
    if wanted is None and len(names) > 1:
        stop(where, f"there is more than one {what}: {listed}", f"choose with {option}")
    if wanted is not None and wanted not in names:
        stop(where, f"there is no {what} {wanted!r}", suggest(wanted, names))
    return names[0] if wanted is None else wanted


class Metrics(NamedTuple):
    """The metrics that are taken: of each task one for each objective, and what the objectives are called."""

    of: dict[str, tuple[str, ...]]
    objectives: tuple[str, ...]

    def __str__(self) -> str:
        """Name those of all tasks, or each with its task."""
        if len(set(self.of.values())) == 1:
            return ", ".join(next(iter(self.of.values())))
        return ", ".join(f"{', '.join(names)} of {task}" for task, names in self.of.items())


def choose_metrics(what: str, wanted: Sequence[str], scored: Iterable[tuple[str, Iterable[str]]]) -> Metrics:
    """Take the wanted metrics, each as an objective, or the only one that there is, as the accuracy.

    Where each task has one of the wanted, and no task another, that is the accuracy too.

    Parameters
    ----------
    what : str
        What they are called, such as ``"scorer"``.
    wanted : sequence of str
        What the user asked for.
    scored : iterable of (str, iterable of str)
        Tasks, each once or several times, and what was found in their logs.

    Raises
    ------
    TableError
        If a wanted one is nowhere, some tasks have it and others not, or there are several and no wish.

    Examples
    --------
    >>> has = {"sums": ["exact_match"], "piqa": ["acc", "acc_norm"]}
    >>> choose_metrics("metric", ["exact_match", "acc"], has.items()).of
    {'sums': ('exact_match',), 'piqa': ('acc',)}
    >>> choose_metrics("metric", ["acc", "acc_norm"], [("piqa", has["piqa"])]).objectives
    ('acc', 'acc_norm')
    >>> choose_metrics("metric", ["acc"], has.items())  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: the logs: the task 'sums' has no metric acc, but exact_match -> name with
    --metric one of each task, or several that every task has, or choose other tasks with --task
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for task, own in scored:
        found[task].update(own)
    names = {name for each in found.values() for name in each}
    option = "--metric" + " (repeat it for several objectives)" * (len(names) > 1)
    wishes: Sequence[str | None] = list(dict.fromkeys(wanted)) or [None]
    chosen = tuple(choose(what, name, names, "the logs", option) for name in wishes)
    of = {task: tuple(name for name in chosen if name in has) for task, has in found.items()}
    for task, taken in of.items():
        if taken != chosen and any(len(each) != 1 for each in of.values()):
            missing = " or ".join(name for name in chosen if name not in taken)
            problem = (
                f"the task {task!r} has no {what} {missing}, but {', '.join(sorted(found[task])) or 'none'}"
            )
            remedy = "name with --metric one of each task, or several that every task has"
            stop("the logs", problem, f"{remedy}, or choose other tasks with --task")
    several = len(chosen) > 1 and all(taken == chosen for taken in of.values())
    return Metrics(of, chosen if several else ("accuracy",))


def choose_tasks(
    options: LogOptions, task_of: Mapping[Path, str], notes: Notes
) -> tuple[list[str], list[Path]]:
    """Take the wanted tasks, or the only one; several are compared or pooled only if that is asked for.

    Parameters
    ----------
    options : LogOptions
    task_of : mapping of Path to str
        The task of each log.
    notes : Notes
        Takes the number of logs that are left out.

    Returns
    -------
    tasks : list of str
    files : list of Path
        The logs of these tasks.

    Examples
    --------
    >>> logs = {Path("a"): "mmlu_law", Path("b"): "piqa", Path("c"): "mmlu_art"}
    >>> choose_tasks(LogOptions(task=("mmlu_*",)), logs, notes := Notes())[0], notes.lines()
    (['mmlu_art', 'mmlu_law'], ['left out: 1 logs of other tasks'])
    """
    names = sorted(set(task_of.values()))
    wanted: Sequence[str | None] = options.task or (names if options.compare_tasks else [None])
    option = "--task" if options.task else "--task (repeat to pool several), or with --compare-tasks"
    tasks: dict[str, None] = {}
    for task in wanted:
        pattern = task is not None and task not in names and set(task) & {"*", "?"}
        found = fnmatch.filter(names, str(task)) if pattern else []
        tasks |= dict.fromkeys(found or [choose("task", task, names, "the logs", option)])
    files = [file for file, task in task_of.items() if task in tasks]
    if len(files) < len(task_of):
        notes.left_out["logs of other tasks"] += len(task_of) - len(files)
    return list(tasks), files


def is_number(value: Any) -> bool:
    """Say whether a value is a number that JSON can hold, true and false included.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("0.5"), is_number([1])
    (True, True, False, False)
    """
    return isinstance(value, (bool, int, float))


def finite(value: Any, where: str | Path, what: str) -> float:
    """Return a value as a finite float.

    Raises
    ------
    TableError
        If it is not a number, or not a finite one.

    Examples
    --------
    >>> finite(True, "a.json", "the score")
    1.0
    >>> finite("high", "a.json", "the score")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: a.json: the score is 'high', not a finite number -> correct it or leave it out
    """
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = repr(value)[:60]
        stop(where, f"{what} is {shown}, not a finite number", "correct it or leave it out")
    return number
