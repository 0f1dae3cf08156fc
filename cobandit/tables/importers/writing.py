"""Writes what an importer read: the records, their card and the report, or nothing at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from cobandit.faults import Place, TableError, refuse, stop
from cobandit.tables.card import Card, check_card, read_card
from cobandit.tables.columns import Terms, default_profiling
from cobandit.tables.frames import UNKNOWN_LICENSE
from cobandit.tables.importers.safe_reading import first_fault
from cobandit.tables.importers.sources import IMPORTERS, Importer, ImportResult, Notes, Options
from cobandit.tables.schema import validate
from cobandit.tables.storage import read, read_memory, write_table
from cobandit.tables.table import EvaluationTable

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


def _describe_import(source: str, found: ImportResult) -> dict[str, Any]:
    """What a table remembers of its import."""
    return {
        "importer": source,
        "measured": found.measured,
        "files": list(found.files),
        "settings": found.settings,
    }


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

    columns = list(new.frame)
    before, now = old.frame[columns].copy(), new.frame.copy()
    for column in columns:  # numbers and text, as where a setting is missing, do not go into one column
        if not pd.api.types.is_numeric_dtype(now[column]) or not pd.api.types.is_numeric_dtype(
            before[column]
        ):
            before[column], now[column] = before[column].astype(str), now[column].astype(str)
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
        if new.place is None:
            return Place("the logs", None, column)
        return new.place(row - len(kept), column)

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
            stop(
                old.path, f"{what}: {before}, and in this import: {now}", f"use the same options, or {AGAIN}"
            )


def _named_as_before(old: Earlier, found: ImportResult) -> ImportResult:
    """Call a configuration as the table does: 0 and 0.0 are the same setting, but not the same name."""
    if not found.arms:
        return found
    names = {}
    for name, values in _described(old.frame, found.arms).items():
        names[values] = name
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


TERMS = Terms(
    profiling="--profiling",
    transform="a transform: --objective NAME=COLUMN:TRANSFORM",
    free="for one that was free, say with --smallest-cost what it counts as",
    column="name another",
    constant=" (logs: --latency none)",
)

_ORDER = ("name", "title", "source", "license", "kind", "records", "cost", "objectives", "split", "arms")
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
    _refuse_one_configuration(found, notes)
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
    card = check_card(fields, lambda field: _OPTIONS.get(field, f"the card, field {field!r}"))
    try:
        validate(found.frame, card, f"what was read of the {source} logs", TERMS)
    except TableError as error:
        refuse(fault if found.place is None else fault.at(found.place) for fault in error.faults)
        raise
    report = (f"made by: cobandit import {source}", *notes.lines())
    table = write_table(found.frame, fields, output, report, _describe_import(source, found))
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
        named = {"name": _name(output), "title": output.stem, "license": UNKNOWN_LICENSE, "kind": "measured"}
        fields = named | measured | {"split": {"profiling": n_profiling, "seed": 0}}
        return {key: fields[key] for key in _ORDER}
    kept = old.card.model_dump(mode="json", exclude_none=True, exclude={"sha256"})
    if kept["split"]["profiling"] == default_profiling(old.frame["instance"].nunique()):
        kept["split"]["profiling"] = n_profiling
    return kept | measured


def _refuse_one_configuration(found: ImportResult, notes: Notes) -> None:
    names = found.frame["config"].unique()
    if len(names) == 1:
        notes.stop(
            "the logs", f"there is only one configuration, {names[0]!r}", "choosing needs two: add logs"
        )


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


def _name(output: Path) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", output.stem.lower()).strip("-._") or "table"


def _options(chosen: Importer, given: dict[str, Any]) -> Options:
    try:
        return chosen.options.model_validate(given)
    except ValidationError as error:
        option = str(error.errors()[0]["loc"][0]).replace("_", "-")
        stop(f"--{option}", first_fault(error), f"see cobandit import {chosen.name} --help")
