"""An import: importers and their options, the notes that one makes, and the table and card that it writes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cobandit.faults import Fault, Place, TableError, refuse, stop
from cobandit.tables.card import Card, Cost, Objective, read_card
from cobandit.tables.columns import default_profiling
from cobandit.tables.frames import UNKNOWN_LICENSE
from cobandit.tables.prices import Prices, read_prices
from cobandit.tables.safe_reading import check_fields, first_fault
from cobandit.tables.schema import validate
from cobandit.tables.storage import read, read_memory, write_table
from cobandit.tables.table import EvaluationTable

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
        return [*self.remarks, *limit_lines(self.reruns), *(whole + left or ["left out: nothing"]), *seen]

    def stop(self, where: str | Path, problem: str, remedy: str) -> NoReturn:
        """Raise an error as ``faults.stop`` does, followed by the logs that were left out.

        Raises
        ------
        TableError
            Always.
        """
        raise TableError("\n".join([str(Fault(str(where), problem, remedy)), *self._whole()])) from None

    def _whole(self) -> list[str]:
        return limit_lines([f"left out: {line}" for line in self.logs])


def limit_lines(lines: list[str]) -> list[str]:
    """Keep the first lines, and say how many more there are."""
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more:,} more of these"]


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
        column, unit = ("cost_usd", "USD") if self.cost == "usd" else ("tokens", "tokens")
        return Cost(column=column, unit=unit)

    @property
    def leaves_out_prompts(self) -> bool:
        """Whether the cost is of the tokens generated alone."""
        return self.cost == "tokens" and self.count == "generated"

    def identify(
        self, tasks: Sequence[str], metrics: Mapping[str, Sequence[str]], latency: str
    ) -> dict[str, Any]:
        """What tells an import with these options from another one, as JSON has it."""
        paid = "usd" if self.cost == "usd" else self.count
        return {"tasks": [*tasks], "metrics": metrics, "cost": paid, "latency": latency}

    def known_prices(self) -> Prices:
        """Read the file of prices; without one there are none."""
        if self.prices is None:
            return {}
        if self.cost == "tokens":
            problem = "prices mean nothing where tokens are the cost"
            stop("--prices", problem, "add --cost usd, or leave it out")
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


AGAIN = "import all the logs together, with --force in place of --update"


@dataclass(frozen=True)
class Earlier:
    """A table that an import made: its card, its rows, and what it remembers of how they were made."""

    path: Path
    card: Card
    frame: pd.DataFrame
    made: Mapping[str, Any]

    @property
    def by(self) -> list[str]:
        """The settings that describe its configurations, as ``--by`` takes them."""
        return [column.removesuffix("_setting") for column in self.card.arms]


def read_earlier(output: Path, source: str) -> Earlier:
    """Read the table that is to be added to.

    Raises
    ------
    TableError
        If it is not valid, or no import of the same kind made it.
    """
    card = read_card(output.with_suffix(".yml"))
    read(output)  # one error for whatever is wrong with it
    frame, made = pd.read_parquet(output), read_memory(output)
    if made.get("importer") != source:
        stop(output, f"it was not made by cobandit import {source}, so nothing can be added to it", AGAIN)
    return Earlier(output, card, frame, made)


def add_to(old: Earlier, found: ImportResult, described: bool, notes: Notes) -> ImportResult:
    """Put what was found on top of an earlier table, by configuration and instance.

    Parameters
    ----------
    old : Earlier
    found : ImportResult
    described : bool
        Whether the user said what makes a configuration, so that other settings may differ.
    notes : Notes
        Takes how many evaluations were added, replaced, unchanged and kept.

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If the two do not hold the same thing: other measures, other columns, or other settings under the
        same name of a configuration.
    """
    _refuse_others(old, found)
    new = _named_as_before(old, found)
    settings = {**old.made["settings"], **new.settings}
    for config, each in ({} if described else new.settings).items():
        known = old.made["settings"].get(config, each)
        if known != each:
            different = sorted(name for name in {*known, *each} if known.get(name) != each.get(name))
            problem = f"{config!r} was made with other settings: {', '.join(different)}"
            stop(old.path, problem, f"{AGAIN}, or say with --by that they do not matter")

    columns = [str(name) for name in new.frame]
    before, now = old.frame[columns].copy(), new.frame.copy()
    is_number = pd.api.types.is_numeric_dtype
    text = [name for name in columns if not (is_number(now[name]) and is_number(before[name]))]
    # numbers and text, as where a setting is missing, do not go into one column
    before[text], now[text] = before[text].astype(str), now[text].astype(str)
    pairs = [pd.MultiIndex.from_frame(each[["config", "instance"]]) for each in (before, now)]
    kept = np.flatnonzero(~pairs[0].isin(pairs[1]))
    again = pairs[1].isin(pairs[0])
    measured = [new.cost.column, *(objective.column for objective in new.objectives)]
    earlier_values = before.set_index(pairs[0])[measured].reindex(pairs[1]).to_numpy(float)
    same = (earlier_values == now[measured].to_numpy(float)).all(axis=1)
    notes.remarks.append(
        f"update: {(~again).sum():,} evaluations added, {(again & ~same).sum():,} replaced, "
        f"{(again & same).sum():,} unchanged, {len(kept):,} that are not in this import kept"
    )

    def place(row: int, column: str | None) -> Place:
        if row <= len(kept):
            return Place(str(old.path), int(kept[row - 1]) + 1, column)
        return new.place(row - len(kept), column) if new.place else Place("the logs", None, column)

    return new._replace(
        frame=pd.concat([before.iloc[kept], now], ignore_index=True),
        objectives=old.card.objectives,
        files=tuple(sorted({*old.made["files"], *new.files})),
        place=place,
        settings=settings,
    )


def _refuse_others(old: Earlier, found: ImportResult) -> None:
    """Refuse to mix what was measured in different ways."""
    cards = (old.card, found)
    measured = old.made["measured"], json.loads(json.dumps(found.measured))
    if not isinstance(measured[0], dict):
        stop(old.path, "an earlier version made it, which did not keep what can be compared", AGAIN)
    for what, before, now in (
        *((what, *(each.get(what) for each in measured)) for what in sorted({*measured[0], *measured[1]})),
        ("cost", *(f"{card.cost.column} in {card.cost.unit}" for card in cards)),
        ("objectives", *(", ".join(f"{o.name} from {o.column}" for o in card.objectives) for card in cards)),
        ("configurations are described by", *(", ".join(card.arms) or "nothing" for card in cards)),
    ):
        if before != now:
            problem = f"{what}: {before}, and in this import: {now}"
            stop(old.path, problem, f"use the same options, or {AGAIN}")


def _named_as_before(old: Earlier, found: ImportResult) -> ImportResult:
    """Call a configuration as the table does: 0 and 0.0 are the same setting, but not the same name."""
    if not found.arms:
        return found
    names = {values: name for name, values in _described(old.frame, found.arms).items()}
    known = {name: names.get(values, name) for name, values in _described(found.frame, found.arms).items()}
    frame = found.frame.assign(config=found.frame["config"].map(known))
    return found._replace(
        frame=frame, settings={known.get(name, name): each for name, each in found.settings.items()}
    )


def _described(frame: pd.DataFrame, arms: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    each = frame.drop_duplicates("config").set_index("config")[list(arms)]
    return {str(name): tuple(map(_plain, row)) for name, *row in each.itertuples(name=None)}


def _plain(value: Any) -> str:
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


_OPTIONS = {name: f"--{name}" for name in ("name", "title", "license", "kind")} | {"": "--title, --kind"}
_OPTIONS |= {"split.profiling": "--profiling", "split.seed": "--seed"}
_OPTIONS |= {"cost.unit": "--unit", "cost.column": "--cost"}


@dataclass(frozen=True)
class ImportedTable:
    """What :func:`import_logs` wrote: the table, where it and its card are, and the report, line by line."""

    table: EvaluationTable
    records: Path
    card: Path
    report: tuple[str, ...]


def import_logs(
    source: str,
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    name: str | None = None,
    title: str | None = None,
    license: str | None = None,
    kind: str | None = None,
    profiling: int | None = None,
    seed: int | None = None,
    update: bool = False,
    force: bool = False,
    **options: Any,
) -> ImportedTable:
    """Make an evaluation table and its card from evaluation logs.

    Both files appear complete and valid, or neither does. The report also stands at the head of the card.

    Parameters
    ----------
    source : str
        Which importer: a key of ``IMPORTERS``.
    paths : sequence of str or Path
        Files or folders of logs.
    output : str or Path
        The records, a ``.parquet`` file; the card is written next to it with the suffix ``.yml``.
    name, title, license : str, optional
        Fields of the card; name and title are by default those of the file.
    kind : {"measured", "synthetic", "reconstruction"}, optional
        Where the numbers come from, by default ``"measured"``.
    profiling : int, optional
        Number of profiling instances; by default a fifth of the instances, at least 2.
    seed : int, optional
        Seed of the split, by default 0.
    update : bool
        Add to an earlier table: what is new, by configuration and instance, is added, what was imported again
        replaces, all else is kept, also what the card says unless it is given here.
    force : bool
        Replace an earlier table and its card, which are otherwise left alone.
    **options
        The importer's own options, see its ``options``.

    Returns
    -------
    ImportedTable

    Raises
    ------
    TableError
        If anything is wrong with the logs, the options or the resulting table; the message says what, where
        and what to do, and no file is written.

    Examples
    --------
    >>> import_logs("lm-eval", ["nowhere"], "my.parquet")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere: there is no such file or folder -> check the path
    """
    if source not in IMPORTERS:
        stop("the source", f"{source!r} is not known", f"choose one of {', '.join(IMPORTERS)}")
    chosen = IMPORTERS[source]
    output = Path(output)
    _check_output(output, [Path(path) for path in paths], force, update)
    old = read_earlier(output, source) if update and output.exists() else None
    described = bool(options.get("by"))
    if old is not None and "by" in chosen.options.model_fields and not described:
        options = options | {"by": old.by}
    notes = Notes()
    found = chosen.read_logs([Path(path) for path in paths], _options(chosen, options), notes)
    if old is not None:
        found = add_to(old, found, described, notes)
    names = found.frame["config"].unique()
    if len(names) == 1:
        problem = f"there is only one configuration, {names[0]!r}"
        notes.stop("the logs", problem, "choosing needs two: add logs")
    fields = _fields(found, old, output)
    given = {"name": name, "title": title, "license": license, "kind": kind}
    fields |= {key: value for key, value in given.items() if value is not None}
    if notes.smallest is not None:  # of an earlier table the larger one: it covers both
        fields["smallest_cost"] = max(notes.smallest, fields.get("smallest_cost", 0.0))
    split = {"profiling": profiling, "seed": seed}
    fields["split"] |= {key: value for key, value in split.items() if value is not None}
    notes.remarks.append(
        f"split: {fields['split']['profiling']:,} of {found.frame['instance'].nunique():,} instances are for "
        f"profiling, seed {fields['split']['seed']}, licence: {fields['license']}"
    )
    card = check_fields(Card, fields, lambda field: _OPTIONS.get(field, f"the card, field {field!r}"))
    try:
        validate(found.frame, card, f"what was read of the {source} logs")
    except TableError as error:
        refuse(fault if found.place is None else fault.at(found.place) for fault in error.faults)
        raise
    report = (f"made by: cobandit import {source}", *notes.lines())
    made = {"importer": source, "measured": found.measured, "files": found.files, "settings": found.settings}
    table = write_table(found.frame, fields, output, report, made)
    return ImportedTable(table, output, output.with_suffix(".yml"), report)


def _fields(found: ImportResult, old: Earlier | None, output: Path) -> dict[str, Any]:
    """Make the card's fields; an earlier card keeps what it says, and its split if that was no default."""
    n_profiling = default_profiling(found.frame["instance"].nunique())
    files = f"{', '.join(found.files)}, with " if found.files else ""
    measured = {
        "records": output.name,
        "source": files + found.source,
        "cost": found.cost.model_dump(),
        "objectives": [objective.model_dump(exclude_defaults=True) for objective in found.objectives],
        "arms": list(found.arms),
    }
    if old is None:
        name = re.sub(r"[^a-z0-9._-]+", "-", output.stem.lower()).strip("-._") or "table"
        named = {"name": name, "title": output.stem, "license": UNKNOWN_LICENSE, "kind": "measured"}
        fields = named | measured | {"split": {"profiling": n_profiling, "seed": 0}}
        return {key: fields[key] for key in Card.model_fields if key in fields}
    kept = old.card.model_dump(mode="json", exclude_none=True, exclude={"sha256"})
    if kept["split"]["profiling"] == default_profiling(old.frame["instance"].nunique()):
        kept["split"]["profiling"] = n_profiling
    return kept | measured


def _check_output(output: Path, paths: Sequence[Path], force: bool, update: bool) -> None:
    card = output.with_suffix(".yml")
    if output.suffix != ".parquet":
        stop(output, "the table is written as Parquet", "let the name end in .parquet")
    if not output.parent.is_dir():
        stop(output, f"there is no folder {output.parent}", "make it first")
    if output.resolve() in [path.resolve() for path in paths]:
        stop(output, "this is also what is to be imported", "choose another name")
    if force and update:
        stop(output, "--force starts again and --update adds to what is there", "give one of them")
    for path in (output, card):
        if path.is_dir():
            stop(path, "this is a folder", "choose another name")
        if path.exists() and not force and not update:
            remedy = "add to it with --update, replace table and card with --force, or choose another name"
            stop(path, "this is already there", remedy)
    if update and output.exists() != card.exists():
        there, lost = (output, card) if output.exists() else (card, output)
        stop(lost, f"this is missing next to {there}", "restore it, or start again with --force")


def _options(chosen: Importer, given: dict[str, Any]) -> Options:
    try:
        return chosen.options.model_validate(given)
    except ValidationError as error:
        option = str(error.errors()[0]["loc"][0]).replace("_", "-")
        stop(f"--{option}", first_fault(error), f"see cobandit import {chosen.name} --help")
