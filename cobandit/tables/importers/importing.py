"""Importing logs: reading and checking them, and writing a table with a description."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobandit.errors import TableError, raise_fault, raise_if_any
from cobandit.tables.card import Card
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.frames import UNKNOWN_LICENSE
from cobandit.tables.importers.earlier_table import Earlier, add_to, read_earlier
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.importer_registry import IMPORTERS, ImportResult
from cobandit.tables.profiling import default_profiling
from cobandit.tables.schema import validate
from cobandit.tables.storage import check_name, write_table
from cobandit.tables.table import EvaluationTable


@dataclass(frozen=True)
class ImportedTable:
    """Result of :func:`import_logs`: a table, its files and a report."""

    #: The table.
    table: EvaluationTable
    #: Path of the file with the table's records.
    records: Path
    #: Path of the file with the table's card.
    card: Path
    #: Remarks on the import, one line each.
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

    The card is a YAML file that describes the table. Either both files are written, or
    neither. The report is also written as comments at the top of the card.

    Parameters
    ----------
    source : str
        Name of the importer, a key of ``IMPORTERS``.
    paths : sequence of str or Path
        Files or folders of logs.
    output : str or Path
        Path of the table, a ``.parquet`` file. The card is written next to it, with the
        suffix ``.yml``.
    name, title, license : str, optional
        Fields of the card. By default, name and title are the name of the file.
    kind : {"measured", "synthetic", "reconstruction"}, optional
        How the numbers were obtained, by default ``"measured"``.
    profiling : int, optional
        Number of profiling instances; by default a fifth of the instances, at least 2.
    seed : int, optional
        Seed of the split, by default 0.
    update : bool
        Whether to update an earlier table. An evaluation is identified by its
        configuration and instance. New evaluations are added, evaluations that are
        imported again are replaced, and all others are kept. Fields of the card that
        are not given here are also kept.
    force : bool
        Whether to replace an earlier table and its card.
    **options
        Options of the importer: the fields of ``IMPORTERS[source].options``.

    Returns
    -------
    ImportedTable

    Raises
    ------
    TableError
        If the logs, the options or the resulting table have a fault. The message has
        the problem, its place and a remedy. No file is written.

    Examples
    --------
    >>> import_logs("lm-eval", ["nowhere"], "my.parquet")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere: there is no such file or folder -> check ...
    """
    if source not in IMPORTERS:
        problem = f"there is no importer {source!r}"
        remedy = f"choose one of {', '.join(IMPORTERS)}"
        raise_fault("the source", problem, remedy, "unknown-source")

    chosen = IMPORTERS[source]
    files = [Path(path) for path in paths]
    output = Path(output)
    notes = Notes()
    _check_output(output, files, force, update)
    earlier = read_earlier(output, source) if update and output.exists() else None
    described = bool(options.get("by"))
    if earlier is not None and "by" in chosen.options.model_fields and not described:
        options = options | {
            "by": [column.removesuffix("_setting") for column in earlier.card.arms]
        }

    card_options = {"name": name, "title": title, "license": license, "kind": kind}
    split = {"profiling": profiling, "seed": seed}
    try:
        checked = check_fields(chosen.options, options, _name_option)
        result = chosen.read_logs(files, checked, notes)
        if earlier is not None:
            result = add_to(earlier, result, described, notes)
        fields = _fields(result, earlier, output) | _given(card_options)
        fields["split"] |= _given(split)
        # with an update, the larger cost is used, because it covers both imports
        if notes.smallest is not None:
            fields["smallest_cost"] = max(
                notes.smallest, fields.get("smallest_cost", 0.0)
            )
        fields |= _add_counts(result, earlier, notes)
        card = check_fields(Card, fields, _name_card_option)
        _validate(result, card, f"the content of the {source} logs")
    except TableError as error:
        error.args = ("\n".join([str(error), *notes.list_logs(), *notes.counted]),)
        raise

    report = (f"made by: cobandit import {source}", *notes.lines())
    provenance = {
        "importer": source,
        "measured": result.measured,
        "settings": result.settings,
    }
    table = write_table(result.frame, fields, output, report, provenance)
    return ImportedTable(table, output, output.with_suffix(".yml"), report)


def _add_counts(
    result: ImportResult, earlier: Earlier | None, notes: Notes
) -> dict[str, Any]:
    """Return the numbers of flawed evaluations, for the table's description (card).

    Counts of a configuration in this import replace its counts in the earlier table.
    """
    configs = set(result.frame["config"])
    earlier_counts = {} if earlier is None else earlier.card.counts
    counts = {
        config: dict(number)
        for config, number in earlier_counts.items()
        if config in configs
    }
    counts |= {
        config: dict(number)
        for config, number in notes.counts.items()
        if config in configs
    }
    return {"counts": counts} if counts else {}


def _name_option(field: str) -> str:
    return f"--{field.partition('.')[0].replace('_', '-')}"


def _name_card_option(field: str) -> str:
    """Return the name of the option that sets a field of the table's description."""
    named = {
        "": "title, --kind or another option of the card",
        "objectives": "objective",
        "arms": "arm",
    }
    return f"--{named.get(field.partition('.')[0], field.rpartition('.')[2])}"


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _validate(result: ImportResult, card: Card, name: str) -> None:
    """Check the result; faults name the place in the source file if it is known."""
    try:
        validate(result.frame, card, name)
    except TableError as error:
        raise_if_any(fault.locate(result.place) for fault in error.faults)


def _fields(
    result: ImportResult, earlier: Earlier | None, output: Path
) -> dict[str, Any]:
    """Return the fields of the table's card; those not measured keep earlier values.

    The card is the YAML file that describes the table.
    """
    n_profiling = default_profiling(result.frame["instance"].nunique())
    measured = {
        "records": output.name,
        "source": result.source,
        "cost": result.cost.model_dump(),
        "objectives": [
            objective.model_dump(exclude_defaults=True)
            for objective in result.objectives
        ],
        "arms": list(result.arms),
    } | ({} if result.cluster is None else {"cluster": result.cluster})
    if earlier is None:
        name = (
            re.sub(r"[^a-z0-9._-]+", "-", output.stem.lower()).strip("-._") or "table"
        )
        named = {
            "name": name,
            "title": output.stem,
            "license": UNKNOWN_LICENSE,
            "kind": "measured",
        }
        fields = named | measured | {"split": {"profiling": n_profiling, "seed": 0}}
        return {key: fields[key] for key in Card.model_fields if key in fields}

    card_fields = earlier.card.model_dump(
        mode="json", exclude_none=True, exclude={"sha256"}
    )
    if card_fields["split"]["profiling"] == default_profiling(
        earlier.frame["instance"].nunique()
    ):
        card_fields["split"]["profiling"] = n_profiling

    return card_fields | measured


def _check_output(
    output: Path, paths: Sequence[Path], force: bool, update: bool
) -> None:
    card = output.with_suffix(".yml")
    check_name(output)
    if output.resolve() in [path.resolve() for path in paths]:
        raise_fault(
            output,
            "this file is also an input of the import",
            "choose another name",
            "output-is-input",
        )

    if force and update:
        raise_fault(
            output,
            "--force and --update are both given, but --force replaces the table and"
            " --update adds to it",
            "give only one of them",
            "force-and-update",
        )

    replaced = force or (update and output.exists())
    for path in (output, card):
        if path.is_dir():
            raise_fault(path, "this is a folder", "choose another name", "is-a-folder")
        if update and path.exists() and not output.exists():
            raise_fault(
                output,
                f"this table is missing, but its card {card} exists",
                "restore the table, or replace the card with --force",
                "missing-records",
            )
        if path.exists() and not replaced:
            remedy = (
                "add evaluations to this table with --update, replace table and card"
                " with --force, or choose another name"
            )
            raise_fault(path, "this file already exists", remedy, "file-exists")
