"""Writes a table: records and card appear together, complete and valid, or not at all."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import yaml
from pyarrow import parquet

from cobandit.faults import stop
from cobandit.tables.card import Card, Objective, Split
from cobandit.tables.readers import file_sha256, read
from cobandit.tables.table import EvaluationTable

MEMORY = b"cobandit"
"""Key of the Parquet metadata under which `save` puts what a file remembers."""


def remembered(path: Path) -> dict[str, Any]:
    """What a Parquet file remembers besides its rows; empty if `save` did not write it."""
    return dict(json.loads((parquet.read_schema(path).metadata or {}).get(MEMORY, b"{}")))


def save(table: EvaluationTable, path: str | Path) -> Path:
    """Write a table and its card, which `cobandit.read` reads as the same table.

    Parameters
    ----------
    table : EvaluationTable
    path : str or Path
        A ``.parquet`` file; the card goes next to it with the suffix ``.yml``. What is there is replaced.

    Returns
    -------
    Path
        The card.

    Raises
    ------
    TableError
        If the file could not be written, or the table is a part of another whose split no card could name.

    Examples
    --------
    >>> import cobandit as cb, tempfile
    >>> part = cb.load("synthetic-24").subset("temperature > 0")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(part, f"{folder}/part.parquet")
    ...     bool((cb.read(f"{folder}/part.parquet").means == part.means).all())
    True
    """
    path = Path(path)
    if path.suffix != ".parquet":
        stop(path, "the table is written as Parquet", "let the name end in .parquet")
    if not path.parent.is_dir():
        stop(path, f"there is no folder {path.parent}", "make it first")
    frame, card = table.evaluations, table.card
    if not _says_all(card, table, frame):
        card = _pinned(card, table)
        if not _says_all(card, table, frame):
            problem = "its split is not one of instances: it is a part of another table"
            stop(path, problem, "save the whole table, and take the part after reading it")
    write_table(frame, card.model_dump(mode="json", exclude_none=True, exclude={"origin"}), path)
    return path.with_suffix(".yml")


def _says_all(card: Card, table: EvaluationTable, frame: pd.DataFrame) -> bool:
    """Whether a card gives the table's own scores and split to its evaluations."""
    if frame.duplicated(["config", "instance"]).any():
        return False
    made = EvaluationTable.from_records(frame, card, table.name)
    return made.limits == table.limits and made.rows["split"].equals(table.rows["split"])


def _pinned(card: Card, table: EvaluationTable) -> Card:
    """Say of a part of a table what was fitted to and drawn from the whole."""
    rows = table.rows
    names = rows.loc[rows["split"] == "profiling", "instance"].astype(str).unique()
    objectives = [
        objective
        if objective.transform == "none"
        else Objective(
            name=objective.name,
            column=objective.column,
            transform=objective.transform,
            limits=table.limits[objective.name],
        )
        for objective in card.objectives
    ]
    split = Split(profiling=len(names), seed=card.split.seed, instances=tuple(names))
    return card.model_copy(update={"objectives": tuple(objectives), "split": split})


def write_table(
    frame: pd.DataFrame,
    fields: Mapping[str, Any],
    output: Path,
    head: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> EvaluationTable:
    """Write records and card, and read them back as a user would, before they replace earlier ones.

    Parameters
    ----------
    frame : DataFrame
        One row per (configuration, instance).
    fields : mapping
        The card's; ``records`` and ``sha256`` are added.
    output : Path
        A ``.parquet`` file; the card goes next to it with the suffix ``.yml``.
    head : iterable of str
        Comments at the head of the card.
    metadata : mapping, optional
        What the Parquet file remembers besides its rows, for `remembered`.

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError
        If the table is not valid, or could not be written; earlier files are left as they were.
    """
    card_path = output.with_suffix(".yml")
    # a comment may hold no line breaks, and YAML no control characters
    comments = "".join(f"# {''.join(c if c.isprintable() else ' ' for c in line)}\n" for line in head)
    try:
        with tempfile.TemporaryDirectory(prefix=".cobandit-", dir=output.parent) as folder:
            records, card = Path(folder) / output.name, Path(folder) / card_path.name
            made = pa.Table.from_pandas(frame, preserve_index=False)
            kept = {**made.schema.metadata, MEMORY: json.dumps(dict(metadata or {}))}
            parquet.write_table(made.replace_schema_metadata(kept), records)
            content = {**fields, "records": output.name, "sha256": file_sha256(records)}
            body = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
            card.write_text(comments + body, encoding="utf-8")
            table = read(records)
            records.replace(output)
            card.replace(card_path)
    except (pa.ArrowException, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        problem = f"a column mixes kinds of values, or has numbers too large to store ({reason})"
        stop(output, problem, "give each column one kind, text or numbers, in all files")
    except OSError as error:
        stop(output, f"it could not be written: {error}", "free some space, or choose another folder")
    return table
