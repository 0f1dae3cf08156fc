"""Writes what an importer read: the records, their card and the report, or nothing at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cobandit.faults import TableError, refuse, stop
from cobandit.tables.card import check_card
from cobandit.tables.frames import UNKNOWN_LICENSE
from cobandit.tables.importers import updating
from cobandit.tables.importers.core import IMPORTERS, Importer, ImportResult, Options
from cobandit.tables.importers.files import first_fault
from cobandit.tables.importers.notes import Notes
from cobandit.tables.keys import default_profiling
from cobandit.tables.numeric import Terms
from cobandit.tables.saving import write_table
from cobandit.tables.schema import validate
from cobandit.tables.table import EvaluationTable

TERMS = Terms(
    profiling="--profiling",
    transform="a transform: --objective NAME=COLUMN:TRANSFORM",
    free="for one that was free, say with --smallest-cost what it counts as",
    column="name another",
    constant=" (logs: --latency none)",
)

_ORDER = ("name", "title", "source", "license", "kind", "records", "cost", "objectives", "split", "arms")
_OPTIONS = {name: f"--{name}" for name in ("name", "title", "license", "kind")}
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
    old = updating.earlier(output, source) if update and output.exists() else None
    described = bool(options.get("by"))
    if old is not None and "by" in chosen.options.model_fields and not described:
        options = options | {"by": old.by}
    notes = Notes()
    found = chosen.read_logs([Path(path) for path in paths], _options(chosen, options), notes)
    if old is not None:
        found = updating.added(old, found, described, notes)
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
    table = write_table(found.frame, fields, output, report, updating.to_remember(source, found))
    return ImportedTable(table, output, output.with_suffix(".yml"), report)


def _fields(found: ImportResult, old: updating.Earlier | None, output: Path) -> dict[str, Any]:
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
