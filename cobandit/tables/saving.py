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
from cobandit.tables.readers import file_sha256, read
from cobandit.tables.table import EvaluationTable

MEMORY = b"cobandit"
"""Key of the Parquet metadata under which `save` puts what a file remembers."""


def remembered(path: Path) -> dict[str, Any]:
    """What a Parquet file remembers besides its rows; empty if `save` did not write it."""
    return dict(json.loads((parquet.read_schema(path).metadata or {}).get(MEMORY, b"{}")))


def save(
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
