"""Tables in files: records as Parquet, CSV or JSON lines with a card next to them, read and written."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import yaml
from pyarrow import parquet

from cobandit.faults import Fault, TableError, refuse, stop
from cobandit.tables import swebench
from cobandit.tables.card import Card, Objective, Split, read_card
from cobandit.tables.safe_reading import check_size
from cobandit.tables.table import EvaluationTable

TAB = "\t"
SEPARATORS = {".csv": ",", ".tsv": TAB}
"""What separates the columns of a text file, by its suffix."""

LINES_AT_A_TIME = 50_000
"""JSON lines held as dictionaries at a time."""

MAX_EXPANDED = 4 * 1024**3
"""Most bytes that a compressed file may expand to."""

BYTES_PER_VALUE = 50
"""Memory that reading takes at its peak, per row and column: 39 to 48 were measured on 10^6 to 10^7 rows."""

HEAD = 2**20
"""Bytes at the start of a text file from which its rows are estimated."""


def read(path: str | Path, card: str | Path | Card | None = None) -> EvaluationTable:
    """Read an evaluation table from a file and its card.

    Parameters
    ----------
    path : str or Path
        A ``.parquet``, ``.csv`` or ``.jsonl`` file, or whatever the parser of the card's ``origin`` reads.
    card : str, Path or Card, optional
        The card; by default the file of the same name with suffix ``.yml`` next to the records.

    Returns
    -------
    EvaluationTable

    Raises
    ------
    TableError
        If the file is missing, empty, truncated, does not parse or has another checksum than its card says,
        or if the table or the card is not as the schema asks. Several faults are reported together.

    Examples
    --------
    >>> read("nowhere.csv", card="nowhere.yml")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere.csv: there is no such file -> check the path
    """
    if isinstance(path, pd.DataFrame):
        stop("read", "it takes the path of a file, not a data frame", "use EvaluationTable.from_frame")
    path = Path(path)
    if not path.is_file():
        stop(path, "there is no such file", "check the path")
    if path.suffix.lower() in (".yml", ".yaml"):
        stop(path, "this is a card, or another YAML file", "name its table; the card next to it is found")
    whose = "its card"
    if not isinstance(card, Card):
        file = Path(card) if card is not None else path.with_suffix(".yml")
        card, whose = read_card(file), str(file)
    check_size(path)
    found = file_sha256(path) if card.sha256 else None
    if found != card.sha256:
        problem = f"the file's sha256 is {found}, but {whose} says {card.sha256}"
        remedy = "restore the file that the card describes, or put the new sum into it if it is meant"
        stop(path, problem, remedy)
    notes: tuple[str, ...] = ()
    if card.origin and card.origin.parser == "swebench-bash-only":
        frame, notes = swebench.parse(path)
    else:
        suffixes = (".parquet", ".csv", ".jsonl")
        if path.suffix.lower() not in suffixes:
            remedy = f"save the records as one of {', '.join(suffixes)}"
            stop(path, f"records with the suffix {path.suffix!r} cannot be read", remedy)
        frame = read_columns(path, ("config", "instance"), card.columns)
    return EvaluationTable.from_records(frame, card, source=str(path), notes=notes)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's content, in lower case hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_columns(path: Path, names: Sequence[str], wanted: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV or JSON lines file that is not empty.

    Parameters
    ----------
    path : Path
        A file with the suffix of its format; text may be compressed, with ``.gz`` behind it.
    names : sequence of str
        Columns that stay text, whatever a CSV file has in them.
    wanted : sequence of str, optional
        The columns to read, by default all.  All are read too if one of these is missing or there twice, so
        that a message can say what there is.

    Raises
    ------
    TableError
        If the file is damaged or does not parse.

    Examples
    --------
    >>> read_columns(Path("nowhere.parquet"), ["config"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere.parquet: the Parquet file is truncated or damaged ([Errno 2] ...
    """
    suffix = path.suffix.lower()
    if suffix == ".gz":
        _check_expanded(path)
        suffix = Path(path.stem).suffix.lower()
    if suffix == ".parquet":
        return _read_parquet(path, wanted)
    if suffix == ".jsonl":
        return _read_jsonl(path, wanted)
    return _read_separated(path, SEPARATORS[suffix], names, wanted)


def _check_memory(path: Path, n_rows: float, n_columns: int) -> None:
    """Refuse a table that is larger than the memory, before it fills it.

    Raises
    ------
    TableError
    """
    needed, free = BYTES_PER_VALUE * n_rows * n_columns, psutil.virtual_memory().available
    if needed > free:
        problem = (
            f"to read about {n_rows:,.0f} rows takes {needed / 1e9:.1f} GB of memory, "
            f"and {free / 1e9:.1f} GB are free"
        )
        stop(path, problem, "leave out configurations or instances, or read it where there is more memory")


def _text_rows(path: Path) -> float:
    """About how many rows a text file has, by its first lines; what is compressed counts little."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return path.stat().st_size * max(1, head.count(b"\n")) / len(head)


def _sound(there: Sequence[str], wanted: Sequence[str] | None) -> list[str] | None:
    """Return the wanted columns, or None, for all, if one is not there exactly once."""
    return list(wanted) if wanted and all(there.count(name) == 1 for name in wanted) else None


def _check_expanded(path: Path) -> None:
    """Refuse a compressed file that is damaged, or expands beyond bounds; nothing of it is kept."""
    expanded = 0
    try:
        with gzip.open(path) as file:
            while chunk := file.read(2**20):
                expanded += len(chunk)
                if expanded > MAX_EXPANDED:
                    most = f"the {MAX_EXPANDED:,} bytes that are read"
                    stop(path, f"it expands to more than {most}", "split it")
    except (OSError, EOFError, zlib.error) as error:
        stop(path, f"the compressed file is truncated or damaged ({error})", "copy or export it again")
    if not expanded:
        stop(path, "the file is empty", "export it again, with its data")


def _read_parquet(path: Path, wanted: Sequence[str] | None) -> pd.DataFrame:
    try:
        file = parquet.ParquetFile(path)
        columns = _sound(file.schema_arrow.names, wanted)
        _check_memory(path, file.metadata.num_rows, len(columns or file.schema_arrow.names))
        table = file.read(columns=columns)
        for name, column in zip(table.column_names, table.columns, strict=True):
            try:
                column.validate(full=True)  # the reader does not look whether text is UTF-8
            except pa.ArrowInvalid as error:
                problem = f"the column does not hold what its type says ({error})"
                refuse([Fault(str(path), problem, "export it again, with text as UTF-8", column=name)])
        return table.to_pandas(ignore_metadata=True)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        stop(path, f"the Parquet file is truncated or damaged ({error})", "copy or export it again")


def _check_separator(path: Path, separator: str) -> None:
    """Refuse a file that is separated by something else, as spreadsheets of some languages write it."""
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
        first = file.readline(HEAD)
    others = [other for other in (",", ";", TAB, "|") if other.encode() in first]
    if others and separator not in others:
        wanted = "tabs" if separator == TAB else "commas"
        problem = f"its columns are separated by {others[0]!r}, not by {wanted}"
        stop(path, problem, f"export it with {wanted} between the columns, and points in numbers")


def _read_separated(
    path: Path, separator: str, names: Sequence[str], wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Read with types inferred, except that names stay text and dates are not guessed."""
    _check_separator(path, separator)
    parsing = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    # one thread: the parser can then say in which row it failed
    serial = pa.csv.ReadOptions(use_threads=False)
    text = dict.fromkeys(names, pa.string())
    try:
        with pa.csv.open_csv(path, serial, parsing) as head:
            columns = _sound(head.schema.names, wanted)
            _check_memory(path, _text_rows(path), len(columns or head.schema.names))
        while True:
            conversion = pa.csv.ConvertOptions(
                include_columns=columns, column_types=text, null_values=[""], strings_can_be_null=False
            )
            table = pa.csv.read_csv(path, serial, parsing, conversion)
            dates = {field.name for field in table.schema if pa.types.is_temporal(field.type)}
            if dates <= set(text):
                return table.to_pandas()
            text |= dict.fromkeys(dates, pa.string())
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        # the parser counts the header as its row 1
        found = re.search(r"Row #(\d+): (.*)", str(error), re.DOTALL)
        row, reason = (int(found[1]) - 1, found[2]) if found else (None, str(error))
        problem = f"the {'TSV' if separator == TAB else 'CSV'} does not parse: {reason}"
        refuse([Fault(str(path), problem, "correct the row or export the file again", row)])
        raise


def _read_jsonl(path: Path, wanted: Sequence[str] | None) -> pd.DataFrame:
    """Read chunk by chunk, which bounds memory to that of the wanted columns."""
    _check_memory(path, _text_rows(path), len(wanted or ()))
    names: dict[str, None] = {}
    chunks = []
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
            records = _json_objects(path, file)
            while chunk := list(islice(records, LINES_AT_A_TIME)):
                names |= dict.fromkeys(name for record in chunk for name in record)
                columns = {c: [record.get(c) for record in chunk] for c in wanted or names if c in names}
                chunks.append(pd.DataFrame(columns, index=range(len(chunk))))
    except UnicodeError as error:  # also half a character, written as an escape
        stop(path, f"the file is not UTF-8 text: {error}", "save it as UTF-8")
    frame = pd.concat(chunks, ignore_index=True) if chunks else pd.DataFrame()
    return frame if _sound(list(names), wanted) else frame.reindex(columns=[*names])


def _json_objects(path: Path, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Parse line by line; blank ones are skipped."""
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record, problem = json.loads(line), "is not a JSON object"
        except json.JSONDecodeError as error:
            record, problem = None, f"is not JSON: {error.msg} at character {error.pos + 1}"
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, or of brackets
            record, problem = None, f"cannot be read: {error}"
        if not isinstance(record, dict):
            stop(path, f"line {number} {problem}", "correct the line or export the file again")
        yield record


MEMORY = b"cobandit"
"""Key of the Parquet metadata under which `save` puts what a file remembers."""


def read_memory(path: Path) -> dict[str, Any]:
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
    objectives = tuple(
        Objective(name=o.name, column=o.column, transform=o.transform, limits=table.limits[o.name])
        if o.transform != "none"
        else o
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
        What the Parquet file remembers besides its rows, for `read_memory`.

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
            kept = made.schema.metadata | ({MEMORY: json.dumps(metadata)} if metadata else {})
            parquet.write_table(made.replace_schema_metadata(kept), records, compression="zstd")
            content = {**fields, "records": output.name, "sha256": file_sha256(records)}
            body = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
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
