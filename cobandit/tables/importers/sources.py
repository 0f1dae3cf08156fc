"""An import: importers and their options, the notes that one makes, and the table and card that it writes."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cobandit.errors import Place, TableError, raise_fault, raise_if_any
from cobandit.tables.card import Card, Cost, Objective
from cobandit.tables.columns import default_profiling
from cobandit.tables.frames import UNKNOWN_LICENSE
from cobandit.tables.prices import Prices, read_prices
from cobandit.tables.safe_reading import Positive, check_fields
from cobandit.tables.schema import validate
from cobandit.tables.storage import check_name, read, read_memory, write_table
from cobandit.tables.table import EvaluationTable
from cobandit.tables.usage import Doubt


@dataclass
class Notes:
    """What an import has to tell: remarks, and what was left out and how often.

    ``logs`` are those that are left out whole, each as a line that says where, why and what to do;
    ``smallest`` is what an evaluation that cost nothing counts as; ``doubts`` are what could not be read as
    it should, by kind: how often, and the first; ``counts`` are of evaluations that something is the matter
    with, by configuration and what it is, and ``counted`` is the same as lines.

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
    logs: list[str] = field(default_factory=list)
    smallest: float | None = None
    doubts: dict[str, tuple[int, str]] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)

    def count(self, what: str, configs: Iterable[str], every: Iterable[str] = (), how: str = "") -> None:
        """Count evaluations that something is the matter with, and remark how many each configuration has.

        Parameters
        ----------
        what : str
            The kind, such as `cobandit.tables.card.CUT_OFF`.
        configs : iterable of str
            Configuration of each such evaluation.
        every : iterable of str
            Configuration of each evaluation.
        how : str
            What was done about them, which the remark says.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.count("answers cut off", ["a"], ["a", "a", "b"])
        >>> notes.counted, notes.counts
        (['answers cut off: 1 of 2 evaluations of a'], {'a': Counter({'answers cut off': 1})})
        """
        totals = Counter(every)
        kind = f"{what}, {how}" if how else what
        lines = []
        for config, number in Counter(configs).items():
            total = f" of {totals[config]:,}" if totals else ""
            lines.append(f"{kind}: {number:,}{total} evaluations of {config}")
            self.counts.setdefault(config, Counter())[what] += number
        self.counted += limit_lines(lines)

    def doubt(self, where: str, doubts: Iterable[Doubt]) -> None:
        """Count what could not be read as it should."""
        for kind, text in doubts:
            number, first = self.doubts.get(kind, (0, f"{where}: {text}"))
            self.doubts[kind] = number + 1, first

    def compare(self, file: str, written: int, held: int, counted: Any) -> None:
        """Remark that a log holds fewer evaluations than its run counted, as one that was cut short, or more.

        Evaluations that are ``written`` twice may have been counted twice.
        """
        if type(counted) is not int or counted in (written, held):
            return
        if held < counted:
            self.remarks.append(f"incomplete: {file} holds {held} of the {counted} evaluations of its run")
        else:
            self.remarks.append(f"differs: {file} holds {held} evaluations, and its run counted {counted}")

    def lines(self) -> list[str]:
        """All of it, one line each."""
        counted = [f"left out: {number:,} {reason}" for reason, number in self.left_out.items()]
        doubts = [
            f"doubtful usage, {number:,} times {kind}; the first: {first}"
            for kind, (number, first) in self.doubts.items()
        ]
        return [*self.remarks, *self.counted, *doubts, *(self.list_logs() + counted or ["left out: nothing"])]

    def list_logs(self) -> list[str]:
        """The logs that are left out, one line each."""
        return limit_lines([f"left out: {line}" for line in self.logs])


def limit_lines(lines: list[str], most: int = 3) -> list[str]:
    """Keep the first lines, and say how many more there are."""
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"and {more:,} more of these"]


def as_list(given: Any) -> Any:
    """One value or several, or none, as a list."""
    return given if isinstance(given, (list, tuple)) else [] if given is None else [given]


#: One name or several.
Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Options(BaseModel):
    """Options of every importer; a field is an option of the command, its description the help text."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    scale: Positive = Field(1.0, description="Divide every score by this: 10 for a judge's 0 to 10.")
    smallest_cost: Positive | None = Field(
        None,
        description="What a free evaluation counts as (default: 1, or a thousandth of the median).",
    )


class ScoreOptions(Options):
    """Options on what a score counts as."""

    range: Names = Field(
        (), description="The range of an objective's scores, larger being better: NAME=LOW:HIGH; repeat."
    )
    no_score: Names = Field(
        (), description="A value that means no score, such as -1, or NAME=VALUE for one objective; repeat."
    )
    word: Names = Field((), description="The number of a score that is a word: WORD=NUMBER; repeat.")
    missing: Literal["leave-out", "zero", "refuse"] = Field(
        "leave-out", description="Evaluations without a score: left out, counted as 0, or an error."
    )


class CostOptions(Options):
    """Options on evaluations whose cost was not measured."""

    unmeasured: Literal["leave-out", "mean"] = Field(
        "leave-out",
        description="Evaluations whose cost was not measured, such as answers from a cache: left out, or the "
        "mean of the configuration's own other ones.",
    )


class LogOptions(ScoreOptions, CostOptions):
    """Options of every importer of evaluation logs."""

    metric: Names = Field(
        (),
        description="The score that is the accuracy; repeat for several objectives, or one a task.",
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
    where: str | None = Field(
        None,
        description="Take only samples that fulfil this, such as \"difficulty == 'hard'\": a condition on "
        "settings, scores, seconds and fields of samples.",
    )
    cluster: str | None = Field(
        None,
        description="A field of samples that says what instances have in common, such as a passage that "
        "questions are about: what is settled then counts its values.",
    )
    cost: Literal["tokens", "usd", "seconds", "none"] = Field(
        "tokens",
        description="Cost: tokens; money (usd), as it was logged or by prices of today; the seconds of "
        "--latency; or none, so that every evaluation costs 1.",
    )
    prices: Path | None = Field(
        None, description="For --cost usd: a file of USD per million tokens, before known prices."
    )

    @property
    def charged(self) -> Cost:
        """The column of the cost, and its unit."""
        column, unit = {
            "tokens": ("tokens", "tokens"),
            "usd": ("cost_usd", "USD"),
            "seconds": ("cost_seconds", "seconds"),
            "none": ("cost", "evaluations"),
        }[self.cost]
        return Cost(column=column, unit=unit)

    def identify(self, latency: str) -> dict[str, str]:
        """What tells an import with these options from another one."""
        return {"cost": self.count if self.cost == "tokens" else self.cost, "latency": latency}

    def note_unpriced(self, models: Iterable[str], notes: Notes) -> None:
        """Note the models without a price, whose evaluations have no cost."""
        if names := sorted(set(models)):
            remedy = "give it with --prices, or count tokens with --cost tokens"
            notes.logs.append(f"{', '.join(names)}: no price is known -> {remedy}")

    def known_prices(self) -> Prices:
        """Read the file of prices, which go before those that are known anyway."""
        if self.prices and self.cost != "usd":
            problem = f"prices mean nothing where the cost is {self.cost}"
            raise_fault("--prices", problem, "add --cost usd, or leave it out")
        return read_prices(self.prices)


class RepeatOptions(Options):
    """Options of importers of what may hold several evaluations of one instance."""

    repeats: Literal["mean", "separate"] = Field(
        "mean", description="Repeats of an instance (epochs, trials): their mean, or each an instance itself."
    )


class ImportResult(NamedTuple):
    """What an importer found: a tidy frame and what its columns mean, as the card will say it.

    ``source`` says to people what was measured; ``place`` gives the file, row and column that a row and
    column of the frame come from.  What a later import compares to tell if it means the same: ``measured``,
    which options and choices say what was measured, as JSON has it, and ``settings``, checksums of all that
    the logs say of a configuration, by its name and theirs.
    """

    frame: pd.DataFrame
    cost: Cost
    objectives: tuple[Objective, ...]
    arms: tuple[str, ...]
    source: str
    measured: dict[str, Any]
    place: Callable[[int, str | None], Place] = lambda row, column: Place("the logs", None, column)
    settings: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never written to)
    cluster: str | None = None  # the column of what instances have in common


#: What an importer does: paths, its options and the notes it may add to in, tidy records out.
Reader = Callable[[Sequence[Path], Any, Notes], ImportResult]


class Importer(NamedTuple):
    """A registered importer: its name, one line of help, its options and its function."""

    name: str
    help: str
    options: type[Options]
    read_logs: Reader


#: Every importer by name.
IMPORTERS: dict[str, Importer] = {}


def importer(name: str, options: type[Options]) -> Callable[[Reader], Reader]:
    """Register the function below as an importer; the first line of its docstring is the help text."""

    def register(read_logs: Reader) -> Reader:
        IMPORTERS[name] = Importer(name, (read_logs.__doc__ or "").splitlines()[0], options, read_logs)
        return read_logs

    return register


AGAIN = "import all the logs together, with --force in place of --update"


class Earlier(NamedTuple):
    """A table that an import made: its card, its rows, and what it remembers of how they were made."""

    path: Path
    card: Card
    frame: pd.DataFrame
    made: Mapping[str, Any]


def read_earlier(output: Path, source: str) -> Earlier:
    """Read the table that is to be added to.

    Raises
    ------
    TableError
        If it is not valid, or no import of the same kind made it.
    """
    card = read(output).card  # one error for whatever is wrong with the table
    frame, made = pd.read_parquet(output), read_memory(output)
    if made.get("importer") != source:
        raise_fault(
            output, f"it was not made by cobandit import {source}, so nothing can be added to it", AGAIN
        )
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
    before, now = _measures(old.card, old.made["measured"]), _measures(found, found.measured)
    for what in sorted({*before, *now}):
        if before.get(what) != now.get(what):
            problem = f"{what}: {before.get(what)}, and in this import: {now.get(what)}"
            raise_fault(old.path, problem, f"use the same options, or {AGAIN}")
    new = _named_as_before(old, found) if found.settings else found
    for config, each in ({} if described else new.settings).items():
        known = old.made["settings"].get(config, each)
        if different := sorted(name for name in {*known, *each} if known.get(name) != each.get(name)):
            problem = f"{config!r} was made with other settings: {', '.join(different)}"
            raise_fault(old.path, problem, f"{AGAIN}, or say with --by that they do not matter")
    return _on_top(old, new, notes)


def _measures(card: Card | ImportResult, measured: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be the same for two imports to be of one table, by what messages call it."""
    return json.loads(json.dumps(measured)) | {
        "the cost": f"{card.cost.column} in {card.cost.unit}",
        "objectives": ", ".join(f"{each.name} from {each.column}" for each in card.objectives),
        "configurations are described by": ", ".join(card.arms) or "nothing",
    }


def _named_as_before(old: Earlier, found: ImportResult) -> ImportResult:
    """Call a configuration as the table does: 0 and 0.0 are the same setting, but not the same name."""
    arms = list(found.arms)
    before, now = (
        frame.drop_duplicates("config").set_index("config")[arms].map(_plain).reset_index()
        for frame in (old.frame, found.frame)
    )
    both = before.merge(now, on=arms, suffixes=("", "_now"))
    names = dict(zip(both["config_now"], both["config"], strict=True))
    return found._replace(
        frame=found.frame.assign(config=found.frame["config"].replace(names)),
        settings={names.get(name, name): each for name, each in found.settings.items()},
    )


def _plain(value: Any) -> str:
    """Spell a value alike in a column of numbers and, where a configuration lacks it, in one of text."""
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def spell(value: Any) -> str:
    """Tell values apart: 1 and 1.0 are the same, 1 and true or 1 and its numeral are not.

    Examples
    --------
    >>> spell(1), spell(1.0), spell(True), spell("1")
    ('1.0', '1.0', 'True', "'1'")
    """
    return repr(float(value)) if type(value) is int else repr(value)


def _on_top(old: Earlier, new: ImportResult, notes: Notes) -> ImportResult:
    columns = [name for name in new.frame if name in old.frame]
    is_number = pd.api.types.is_numeric_dtype
    # numbers and text, as where a setting is missing, do not go into one column
    text = [name for name in columns if not (is_number(new.frame[name]) and is_number(old.frame[name]))]
    before, now = (frame[columns].astype(dict.fromkeys(text, str)) for frame in (old.frame, new.frame))
    measured = [new.cost.column, *(objective.column for objective in new.objectives)]
    earlier, newer = (frame.set_index(["config", "instance"])[measured] for frame in (before, now))
    again = newer.index.isin(earlier.index)
    same = (earlier.reindex(newer.index).to_numpy(float) == newer.to_numpy(float)).all(axis=1)
    kept = before[~earlier.index.isin(newer.index)]
    notes.remarks.append(
        f"update: {(~again).sum():,} evaluations added, {(again & ~same).sum():,} replaced, "
        f"{same.sum():,} unchanged, {len(kept):,} that are not in this import kept"
    )

    def place(row: int, column: str | None) -> Place:
        if row <= len(kept):
            return Place(str(old.path), int(kept.index[row - 1]) + 1, column)
        return new.place(row - len(kept), column)

    source = old.card.source
    return new._replace(
        frame=pd.concat([kept, now], ignore_index=True),
        objectives=old.card.objectives,
        source=source if new.source in source else f"{source}; {new.source}",
        place=place,
        settings={**old.made["settings"], **new.settings},
    )


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
    cobandit.errors.TableError: nowhere: there is no such file or folder -> check the path
    """
    if source not in IMPORTERS:
        raise_fault("the source", f"{source!r} is not known", f"choose one of {', '.join(IMPORTERS)}")
    chosen, files, output, notes = IMPORTERS[source], [Path(path) for path in paths], Path(output), Notes()
    _check_output(output, files, force, update)
    old = read_earlier(output, source) if update and output.exists() else None
    described = bool(options.get("by"))
    if old is not None and "by" in chosen.options.model_fields and not described:
        options = options | {"by": [column.removesuffix("_setting") for column in old.card.arms]}
    given = {"name": name, "title": title, "license": license, "kind": kind}
    split = {"profiling": profiling, "seed": seed}
    try:
        checked = check_fields(chosen.options, options, _name_option)
        found = chosen.read_logs(files, checked, notes)
        if old is not None:
            found = add_to(old, found, described, notes)
        fields = _fields(found, old, output) | _given(given)
        fields["split"] |= _given(split)
        if notes.smallest is not None:  # of an earlier table the larger one: it covers both
            fields["smallest_cost"] = max(notes.smallest, fields.get("smallest_cost", 0.0))
        fields |= _add_counts(found, old, notes)
        card = check_fields(Card, fields, _name_card_option)
        _validate(found, card, f"what was read of the {source} logs")
    except TableError as error:
        error.args = ("\n".join([str(error), *notes.list_logs(), *notes.counted]),)
        raise
    report = (f"made by: cobandit import {source}", *notes.lines())
    made = {"importer": source, "measured": found.measured, "settings": found.settings}
    table = write_table(found.frame, fields, output, report, made)
    return ImportedTable(table, output, output.with_suffix(".yml"), report)


def _add_counts(found: ImportResult, old: Earlier | None, notes: Notes) -> dict[str, Any]:
    """Return the card's counts: those of this import, and of an earlier table's other configurations."""
    configs = set(found.frame["config"])
    before = {} if old is None else old.card.counts
    counts = {config: dict(number) for config, number in before.items() if config in configs}
    counts |= {config: dict(number) for config, number in notes.counts.items() if config in configs}
    return {"counts": counts} if counts else {}


def _name_option(field: str) -> str:
    return f"--{field.partition('.')[0].replace('_', '-')}"


def _name_card_option(field: str) -> str:
    """Name the option that a field of the card comes from; the whole card breaks a rule of its words."""
    named = {"": "title, --kind or another of the card", "objectives": "objective", "arms": "arm"}
    return f"--{named.get(field.partition('.')[0], field.rpartition('.')[2])}"


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _validate(found: ImportResult, card: Card, name: str) -> None:
    """Validate what was found; faults name the files that it comes from, if the importer knows."""
    try:
        validate(found.frame, card, name)
    except TableError as error:
        raise_if_any(fault.at(found.place) for fault in error.faults)


def _fields(found: ImportResult, old: Earlier | None, output: Path) -> dict[str, Any]:
    """Make the card's fields; an earlier card keeps what it says, and its split if that was no default."""
    n_profiling = default_profiling(found.frame["instance"].nunique())
    measured = {
        "records": output.name,
        "source": found.source,
        "cost": found.cost.model_dump(),
        "objectives": [objective.model_dump(exclude_defaults=True) for objective in found.objectives],
        "arms": list(found.arms),
    } | ({} if found.cluster is None else {"cluster": found.cluster})
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
    check_name(output)
    if output.resolve() in [path.resolve() for path in paths]:
        raise_fault(output, "this is also what is to be imported", "choose another name")
    if force and update:
        raise_fault(output, "--force starts again and --update adds to what is there", "give one of them")
    replaced = force or (update and output.exists())
    for path in (output, card):
        if path.is_dir():
            raise_fault(path, "this is a folder", "choose another name")
        if update and path.exists() and not output.exists():
            raise_fault(output, f"this is missing next to {card}", "restore it, or start again with --force")
        if path.exists() and not replaced:
            remedy = "add to it with --update, replace table and card with --force, or choose another name"
            raise_fault(path, "this is already there", remedy)
