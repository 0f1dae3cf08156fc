"""Writes what an importer read: the records, their card and the report, or nothing at all."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import yaml
from pydantic import ValidationError

from cobandit.faults import TableError, refuse, stop
from cobandit.tables.card import check_card
from cobandit.tables.importers.core import IMPORTERS, Importer, Notes, Options
from cobandit.tables.importers.files import first_fault
from cobandit.tables.readers import file_sha256, read
from cobandit.tables.table import EvaluationTable

SHARE = 0.2
"""Share of the instances that are for profiling by default: the paper's 200 of 1,000."""

UNKNOWN_LICENSE = "not stated"


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
    license: str = UNKNOWN_LICENSE,
    kind: str = "measured",
    profiling: int | None = None,
    seed: int = 0,
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
        Fields of the card; the name is by default that of the file.
    kind : {"measured", "synthetic", "reconstruction"}
        Where the numbers come from.
    profiling : int, optional
        Number of profiling instances; by default a fifth of the instances, at least 2.
    seed : int
        Seed of the split.
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
    _check_output(output, [Path(path) for path in paths], force)
    notes = Notes()
    found = chosen.read_logs([Path(path) for path in paths], _options(chosen, options), notes)
    n_instances = found.frame["instance"].nunique()
    n_profiling = max(2, round(SHARE * n_instances)) if profiling is None else profiling
    fields = {
        "name": name or _name(output),
        "title": title or f"Evaluations imported from {source}",
        "source": found.source,
        "license": license,
        "kind": kind,
        "records": output.name,
        "cost": found.cost.model_dump(),
        "objectives": [objective.model_dump(exclude_defaults=True) for objective in found.objectives],
        "split": {"profiling": n_profiling, "seed": seed},
        "arms": list(found.arms),
    }
    notes.remarks.append(
        f"split: {n_profiling} of {n_instances} instances are for profiling, seed {seed}, licence: {license}"
    )
    card = check_card(fields, "the card")
    try:
        EvaluationTable.from_frame(found.frame, card, source=f"what was read of the {source} logs")
    except TableError as error:
        if found.place is not None:
            refuse(fault.at(found.place) for fault in error.faults)
        raise
    return _write(found.frame, fields, output, (f"made by: cobandit import {source}", *notes.lines()))


def _check_output(output: Path, paths: Sequence[Path], force: bool) -> None:
    if output.suffix != ".parquet":
        stop(output, "the table is written as Parquet", "let the name end in .parquet")
    if not output.parent.is_dir():
        stop(output, f"there is no folder {output.parent}", "make it first")
    if output.resolve() in [path.resolve() for path in paths]:
        stop(output, "this is also what is to be imported", "choose another name")
    for path in (output, output.with_suffix(".yml")):
        if path.is_dir():
            stop(path, "this is a folder", "choose another name")
        if path.exists() and not force:
            stop(path, "this is already there", "choose another name, or replace table and card with --force")


def _name(output: Path) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", output.stem.lower()).strip("-._") or "table"


def _options(chosen: Importer, given: dict[str, Any]) -> Options:
    try:
        return chosen.options.model_validate(given)
    except ValidationError as error:
        option = str(error.errors()[0]["loc"][0]).replace("_", "-")
        stop(f"--{option}", first_fault(error), f"see cobandit import {chosen.name} --help")


def _write(
    frame: pd.DataFrame, fields: dict[str, Any], output: Path, report: tuple[str, ...]
) -> ImportedTable:
    """Write both files in a folder of their own, read them back as a user would, then move them in place."""
    card_path = output.with_suffix(".yml")
    # a comment may hold no line breaks, and YAML no control characters
    head = "".join(f"# {''.join(c if c.isprintable() else ' ' for c in line)}\n" for line in report)
    try:
        with tempfile.TemporaryDirectory(prefix=".cobandit-", dir=output.parent) as folder:
            records, card = Path(folder) / output.name, Path(folder) / card_path.name
            frame.to_parquet(records, index=False)
            content = fields | {"sha256": file_sha256(records)}
            body = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
            card.write_text(head + body, encoding="utf-8")
            table = read(records)
            records.replace(output)
            card.replace(card_path)
    except (pa.ArrowException, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        problem = f"a column mixes kinds of values, or has numbers too large to store ({reason})"
        stop(output, problem, "give each column one kind, text or numbers, in all files")
    except OSError as error:
        stop(output, f"it could not be written: {error}", "free some space, or choose another folder")
    return ImportedTable(table, output, card_path, report)
