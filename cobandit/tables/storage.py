"""Reading and writing tables: a file of records, and its YAML description (card)."""

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import yaml
from pyarrow import parquet

from cobandit.errors import raise_fault
from cobandit.tables import swebench
from cobandit.tables.bounded_files import check_size
from cobandit.tables.card import Card, Objective, Split, read_card
from cobandit.tables.record_files import read_columns
from cobandit.tables.table import EvaluationTable


def read(path: str | Path, card: str | Path | Card | None = None) -> EvaluationTable:
    """Read an evaluation table from a file and its card.

    Parameters
    ----------
    path : str or Path
        A ``.parquet``, ``.csv`` or ``.jsonl`` file, or a file in the format that the
        ``origin`` on the card names.
    card : str, Path or Card, optional
        The card, which describes the table; by default the file of the same name with
        suffix ``.yml`` next to the records.

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError
        If the file is missing, empty, damaged or does not match the checksum on its
        card, or if the table or the card is not valid. Several faults are reported
        together.

    Examples
    --------
    >>> read("nowhere.csv", card="nowhere.yml")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.csv: there is no such file -> check the path
    """
    path = Path(path)
    if not path.is_file():
        raise_fault(path, "there is no such file", "check the path", "no-file")
    if path.suffix.lower() in (".yml", ".yaml"):
        raise_fault(
            path,
            "this is a YAML file, such as a card, and not a table",
            "give the file of the table; the card next to it is found by its name",
            "is-a-card",
        )

    if not isinstance(card, Card):
        card = read_card(path.with_suffix(".yml") if card is None else card)
    check_size(path)
    checksum = file_sha256(path) if card.sha256 else None
    if checksum != card.sha256:
        described = path.with_name(card.records)
        if described.name != path.name and described.is_file():
            problem = f"the card of this file describes {described.name} instead"
            raise_fault(path, problem, f"give the file {described}", "other-card")
        problem = f"the file's sha256 is {checksum}, but its card says {card.sha256}"
        remedy = (
            "restore the file that the card describes; or, if the change is"
            " intended, write the new sha256 into the card"
        )
        raise_fault(path, problem, remedy, "other-checksum")

    if card.origin and card.origin.parser == "swebench-bash-only":
        frame, notes = swebench.read_submissions(path)
        return EvaluationTable.from_records(frame, card, str(path), notes)

    names = (
        ("config", "instance")
        if card.cluster is None
        else ("config", "instance", card.cluster)
    )
    frame = read_columns(path, names, (*card.columns, *_find_short_columns(path, card)))
    return EvaluationTable.from_records(frame, card, str(path))


#: A column that the card does not name is read only if it has at most this number of
#: bytes per row.
BYTES_OF_SHORT = 8
#: In text files larger than this, in bytes, columns that the card does not name are not
#: read.
SMALL_FILE = 2**26


def _find_short_columns(path: Path, card: Card) -> list[str]:
    """Return names of further columns that may group instances, with short values."""
    if path.suffix.lower() == ".parquet":
        try:
            metadata = parquet.ParquetFile(path).metadata
        except (pa.ArrowException, OSError):
            # reading the records will report the fault
            return []
        groups = [
            metadata.row_group(number) for number in range(metadata.num_row_groups)
        ]
        sizes: dict[str, int] = {}
        for group in groups:
            for place in range(group.num_columns):
                column = group.column(place)
                sizes[column.path_in_schema] = (
                    sizes.get(column.path_in_schema, 0) + column.total_uncompressed_size
                )
        plain = [name for name in parquet.read_schema(path).names if name in sizes]
        short = [
            name for name in plain if sizes[name] <= BYTES_OF_SHORT * metadata.num_rows
        ]
        return [name for name in short if name not in card.columns]
    if path.suffix.lower() == ".csv" and path.stat().st_size <= SMALL_FILE:
        try:
            with path.open(encoding="utf-8", newline="") as file:
                names = next(csv.reader(file), [])
        except (OSError, UnicodeDecodeError, csv.Error):
            return []
        return [name for name in names if name not in card.columns]

    return []


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content in lower-case hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


#: Key in the Parquet metadata for the provenance of a table.
MEMORY = b"cobandit"


def read_memory(path: Path) -> dict[str, Any]:
    """Return the provenance that a Parquet file stores; empty if it stores none."""
    return dict(
        json.loads((parquet.read_schema(path).metadata or {}).get(MEMORY, b"{}"))
    )


def save(table: EvaluationTable, path: str | Path) -> Path:
    """Write a table and its card, so that `cobandit.read` returns the same table.

    Parameters
    ----------
    table : EvaluationTable
    path : str or Path
        A ``.parquet`` file. The card, which describes the table, is written next to it,
        with the suffix ``.yml``. Existing files are replaced.

    Returns
    -------
    Path
        Path of the card.

    Raises
    ------
    TableError
        If the file cannot be written, or if no card can describe the table's split, as
        for some parts of other tables.

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

    check_name(path)
    frame = table.evaluations
    for card in (table.card, _pinned(table)):
        if _says_all(card, table, frame):
            write_table(
                frame,
                card.model_dump(mode="json", exclude_none=True, exclude={"origin"}),
                path,
            )
            return path.with_suffix(".yml")

    problem = "this part of another table has a split that a card cannot describe"
    raise_fault(
        path,
        problem,
        "save the whole table, and take the part again after reading it",
        "part-of-table",
    )


def check_name(path: Path) -> None:
    """Raise if no table can be written with this file name."""
    if path.suffix != ".parquet":
        raise_fault(
            path,
            "a table is written as Parquet, but the file has another suffix",
            "use the suffix .parquet",
            "not-parquet",
        )
    if not path.parent.is_dir():
        raise_fault(
            path,
            f"there is no folder {path.parent}",
            "create this folder first",
            "no-folder",
        )


def _says_all(card: Card, table: EvaluationTable, frame: pd.DataFrame) -> bool:
    """Return whether reading the written rows and description gives the same table."""
    if frame.duplicated(["config", "instance"]).any():
        return False
    copy = EvaluationTable.from_records(frame, card, table.name)
    return copy.limits == table.limits and copy.rows["split"].equals(
        table.rows["split"]
    )


def _pinned(table: EvaluationTable) -> Card:
    """Return a description (card) that states the limits and the split of the table."""
    rows = table.rows
    card = table.card
    names = rows.loc[rows["split"] == "profiling", "instance"].astype(str).unique()
    objectives = tuple(
        (
            Objective(
                name=o.name,
                column=o.column,
                transform=o.transform,
                limits=table.limits[o.name],
            )
            if o.transform != "none"
            else o
        )
        for o in card.objectives
    )
    split = Split(profiling=len(names), seed=card.split.seed, instances=tuple(names))
    return card.model_copy(update={"objectives": objectives, "split": split})


def write_table(
    frame: pd.DataFrame,
    fields: Mapping[str, Any],
    output: Path,
    head: Iterable[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> EvaluationTable:
    """Write a table and its card; replace existing files only if both are valid.

    Parameters
    ----------
    frame : DataFrame
        One row per (configuration, instance).
    fields : mapping
        Fields of the card; ``records`` and ``sha256`` are added.
    output : Path
        A ``.parquet`` file. The card, which describes the table, is written next to it,
        with the suffix ``.yml``.
    head : iterable of str
        Comments at the top of the card.
    metadata : mapping, optional
        Provenance to store in the Parquet file, for `read_memory`.

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError
        If the table is not valid, or cannot be written. Earlier files are then
        unchanged.
    """
    card_path = output.with_suffix(".yml")

    # a comment cannot have line breaks, and YAML cannot have control characters
    comments = "".join(
        f"# {''.join(c if c.isprintable() else ' ' for c in line)}\n" for line in head
    )
    try:
        with tempfile.TemporaryDirectory(
            prefix=".cobandit-", dir=output.parent
        ) as folder:
            records = Path(folder) / output.name
            card = Path(folder) / card_path.name
            records_table = pa.Table.from_pandas(frame, preserve_index=False)
            schema_metadata = records_table.schema.metadata | (
                {MEMORY: json.dumps(metadata)} if metadata else {}
            )
            parquet.write_table(
                records_table.replace_schema_metadata(schema_metadata),
                records,
                compression="zstd",
            )
            content = {**fields, "records": output.name, "sha256": file_sha256(records)}
            body = yaml.safe_dump(
                content, sort_keys=False, allow_unicode=True, width=110
            )
            card.write_text(comments + body, encoding="utf-8")
            table = read(records)
            records.replace(output)
            card.replace(card_path)
    except (pa.ArrowException, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        problem = (
            "a column mixes kinds of values, or has numbers too large to store"
            f" ({reason})"
        )
        raise_fault(
            output,
            problem,
            "use only text, or only numbers, in a column of all files",
            "mixed-column",
        )
    except OSError as error:
        raise_fault(
            output,
            f"the file could not be written: {error}",
            "free some disk space, or choose another folder",
            "not-written",
        )

    return table
