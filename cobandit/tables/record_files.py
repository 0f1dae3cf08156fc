"""Reading files of records (Parquet, CSV, TSV, JSON, JSON Lines) as data frames."""

import gzip
import io
import json
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
from pyarrow import parquet

from cobandit.errors import TableError, raise_fault
from cobandit.tables.json_records import (
    FoundRecords,
    flatten,
    follow_path,
    search_records,
)
from cobandit.tables.text_layout import HEAD, SEPARATORS, TextLayout, open_expanded

#: Largest expanded size of a compressed file, in bytes.
MAX_EXPANDED_TEXT = 4 * 1024**3

#: Largest memory for reading a file, in bytes per row and column. Measurements on 10^6
#: to 10^7 rows gave 39 to 48 bytes.
BYTES_PER_VALUE = 50

#: Memory in bytes. For tables that need less, free memory is not checked.
SMALL = 10**8

#: Largest number of possible places of records that a message lists.
MOST_OFFERED = 5


def read_columns(
    path: Path,
    names: Sequence[str],
    wanted: Sequence[str] | None = None,
    *,
    layout: TextLayout | None = None,
    records: str | None = None,
    nested: bool = False,
    remarks: list[str] | None = None,
) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON or JSON Lines file as a data frame.

    Parameters
    ----------
    path : Path
        File with the suffix of its format; compressed text ends with ``.gz``.
    names : sequence of str
        Columns of names, which are read as text. If they were read as numbers, a
        missing value in a column of whole numbers would turn 8 into 8.0, and round long
        numbers.
    wanted : sequence of str, optional
        Columns to read, by default all. If one of these is missing or duplicated, all
        columns are read, so that later checks can list the columns.
    layout : TextLayout, optional
        Layout of a CSV or TSV file; by default the separator of its suffix, decimal
        points and UTF-8.
    records : str, optional
        Keys that lead to the records of a JSON file, separated by dots. By default the
        file is a list of records.
    nested : bool
        Whether fields of nested records, and of JSON within text, become columns such
        as ``usage.tokens``. If so, records are also searched within a JSON file, and
        short fields next to the records become columns such as ``file.model``.
    remarks : list of str, optional
        Receives a remark with the keys that lead to the records.

    Raises
    ------
    TableError
        If the file is missing, empty or damaged, does not parse, or has an unknown
        suffix.

    Examples
    --------
    >>> read_columns(Path("nowhere.parquet"), ["config"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.parquet: the file is damaged or does not ...
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz":
            _check_expanded(path)
            suffix = Path(path.stem).suffix.lower()
        if suffix == ".parquet":
            frame = _read_parquet(path, names, wanted, nested)
            return _expand_json(frame, names) if nested else frame
        if suffix == ".json":
            result = _read_json(path, records, nested)
            if result.path and records is None and remarks is not None:
                remarks.append(f"records: those at {result.path!r} (--records)")
            places = (
                (f"record {number}", row)
                for number, row in enumerate(result.records, 1)
            )
            return _make_frame(places, names, None, nested, path, result.beside)
        if suffix == ".jsonl":
            return _make_frame(
                _read_jsonl(path, wanted), names, wanted, nested, path, {}
            )
        if suffix in SEPARATORS:
            frame = _read_separated(
                path, layout or TextLayout(SEPARATORS[suffix]), names, wanted
            )
            return _expand_json(frame, names) if nested else frame
    except TableError:
        raise
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        TypeError,
        EOFError,
        zlib.error,
        RecursionError,
    ) as error:
        problem = f"the file is damaged or does not parse: {error}"
        remedy = "correct the file, or export it again"
        raise_fault(path, problem, remedy, "damaged-file")

    remedy = "save the records as .parquet, .csv, .tsv, .jsonl or .json"
    raise_fault(
        path,
        f"files with the suffix {suffix!r} cannot be read",
        remedy,
        "unknown-suffix",
    )


def _check_memory(path: Path, n_rows: float, n_columns: int) -> None:
    """Raise if a table would need more memory than is free.

    Raises
    ------
    TableError
    """
    needed = BYTES_PER_VALUE * n_rows * n_columns
    if needed < SMALL:
        return
    import psutil  # takes longer than reading a small table

    free = psutil.virtual_memory().available
    if needed > free:
        takes = (
            f"reading about {n_rows:,.0f} rows takes {needed / 1e9:.1f} GB of memory"
        )
        problem = f"{takes}, but only {free / 1e9:.1f} GB are free"
        remedy = (
            "leave out configurations or instances, or use a machine with more memory"
        )
        raise_fault(path, problem, remedy, "memory")


def _estimate_rows(path: Path) -> float:
    """Estimate the number of rows of an uncompressed text file from its first lines."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return path.stat().st_size * max(1, head.count(b"\n")) / len(head)


def _columns_to_read(
    names: Sequence[str], wanted: Sequence[str] | None
) -> list[str] | None:
    """Return the wanted columns, or None (all) if one is missing or duplicated."""
    return (
        list(wanted)
        if wanted and all(names.count(name) == 1 for name in wanted)
        else None
    )


def _check_expanded(path: Path) -> None:
    """Raise an error if a compressed file is damaged, or too large once expanded."""
    with gzip.open(path) as file:
        # seeking stops at the end of a shorter file
        expanded = file.seek(MAX_EXPANDED_TEXT + 1)
    if expanded > MAX_EXPANDED_TEXT:
        raise_fault(
            path,
            f"the file expands to more than {MAX_EXPANDED_TEXT:,} bytes, the limit",
            "split the file",
            "too-large",
        )
    if not expanded:
        raise_fault(
            path,
            "the file is empty",
            "export the file again, with its data",
            "empty-file",
        )


def _read_parquet(
    path: Path, names: Sequence[str], wanted: Sequence[str] | None, nested: bool
) -> pd.DataFrame:
    file = parquet.ParquetFile(path)
    columns = _columns_to_read(file.schema_arrow.names, wanted)
    _check_memory(path, file.metadata.num_rows, len(columns or file.schema_arrow.names))
    table = file.read(columns=columns)
    table.validate(full=True)  # the reader does not check that text is UTF-8
    while nested and any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()

    for place, field in enumerate(table.schema):
        # by default, pandas would turn whole numbers with missing values into floats
        if field.name in names and pa.types.is_integer(field.type):
            table = table.set_column(
                place, field.name, table.column(place).cast(pa.string())
            )
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    return frame


def _read_separated(
    path: Path, layout: TextLayout, names: Sequence[str], wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Read CSV or TSV with inferred types; names and dates remain text."""
    parsing = pa.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True)

    # with one thread, the parser reports the row of an error
    serial = pa.csv.ReadOptions(
        use_threads=False, encoding=layout.encoding, skip_rows=layout.title
    )
    with pa.csv.open_csv(path, serial, parsing) as head:
        columns = _columns_to_read(head.schema.names, wanted)
        _check_memory(path, _estimate_rows(path), len(columns or head.schema.names))

    text = dict.fromkeys(names, pa.string())
    while True:
        conversion = pa.csv.ConvertOptions(
            include_columns=columns,
            column_types=text,
            null_values=[""],
            strings_can_be_null=False,
            decimal_point=layout.decimal,
        )
        table = pa.csv.read_csv(path, serial, parsing, conversion)
        dates = {
            field.name for field in table.schema if pa.types.is_temporal(field.type)
        }
        if dates <= set(text):
            frame: pd.DataFrame = table.to_pandas()
            return frame
        text |= dict.fromkeys(dates, pa.string())


def _read_json(path: Path, records: str | None, nested: bool) -> FoundRecords:
    """Return the records at the given keys, or the only records in the file."""
    with open_expanded(path) as file:
        value = json.load(io.TextIOWrapper(file, "utf-8-sig"))
    keys = f", with the keys {_list_keys(value)}" if isinstance(value, Mapping) else ""
    if records is not None:
        followed = follow_path(value, records)
        if followed is None or not followed.records:
            problem = (
                f"there are no records at {records!r}; the file has a"
                f" {type(value).__name__}{keys}"
            )
            raise_fault(path, problem, "correct --records", "no-records")
        return followed
    if isinstance(value, list):
        return FoundRecords("", value, {})

    candidates = search_records(value)
    if nested and len(candidates) == 1:
        return candidates[0]
    if nested and not candidates and isinstance(value, dict):
        return FoundRecords("", [value], {})  # such as the result of one instance
    paths = [
        candidate.path for candidate in candidates[:MOST_OFFERED] if candidate.path
    ]
    remedy = "give the keys that lead to the records, such as --records results.rows"
    if paths:
        remedy = f"choose the records: --records {' or '.join(map(shlex.quote, paths))}"
    problem = f"this is a {type(value).__name__}{keys}, not a list of records"
    raise_fault(path, problem, remedy, "no-records")


def _list_keys(value: Mapping[str, Any]) -> str:
    return ", ".join(map(str, list(value)[:20]))


def _read_jsonl(path: Path, wanted: Sequence[str] | None) -> Iterator[tuple[str, Any]]:
    """Yield the place and value of each non-blank line."""
    _check_memory(path, _estimate_rows(path), len(wanted or ()))
    with open_expanded(path) as file:
        for number, line in enumerate(io.TextIOWrapper(file, "utf-8-sig"), 1):
            if line.isspace():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = f"line {number} is not a JSON object: {error}"
                raise_fault(
                    path,
                    problem,
                    "correct the line, or export the file again",
                    "not-an-object",
                )
            yield f"line {number}", record


def _make_frame(
    records: Iterable[tuple[str, Any]],
    names: Sequence[str],
    wanted: Sequence[str] | None,
    nested: bool,
    path: Path,
    beside: dict[str, Any],
) -> pd.DataFrame:
    """Return a data frame of JSON objects, one row per object."""
    rows: list[dict[str, Any]] = []
    for place, record in records:
        if not isinstance(record, dict):
            problem = f"{place} is a JSON value, but not an object"
            remedy = "correct the file, or export it again"
            raise_fault(path, problem, remedy, "not-an-object")
        row = dict(flatten(record)) | beside if nested else record
        if wanted and rows:
            row = {name: row[name] for name in wanted if name in row}
        numbers = {name: str(row[name]) for name in names if type(row.get(name)) is int}
        rows.append(row | numbers)
    return pd.DataFrame(rows)


def _expand_json(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Parse columns of JSON text, and add a column for each field after its text."""
    parts: list[pd.DataFrame] = []
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        parts.append(column.to_frame())
        objects = _parse_objects(column)
        if objects is not None:
            rows = [
                {
                    key: value
                    for key, value in flatten(record, f"{name}.")
                    if key not in frame
                }
                for record in objects
            ]
            whole_numbers = [
                {key: str(row[key]) for key in names if type(row.get(key)) is int}
                for row in rows
            ]
            fields = [
                row | numbers for row, numbers in zip(rows, whole_numbers, strict=True)
            ]
            parts.append(pd.DataFrame(fields, index=frame.index))

    return frame if len(parts) == len(frame.columns) else pd.concat(parts, axis=1)


def _parse_objects(column: pd.Series) -> list[dict[str, Any]] | None:
    """Parse a column of text as JSON objects; None if a text is not an object."""
    if column.dtype != object and not pd.api.types.is_string_dtype(column):
        return None
    text = column.dropna()
    if not text.map(lambda cell: isinstance(cell, str)).all():
        return None
    text = text[text != ""]
    if text.empty or not text.str.lstrip().str.startswith("{").all():
        return None
    try:
        values = {row: json.loads(cell) for row, cell in text.items()}
    except (ValueError, RecursionError):
        return None
    return [values.get(row, {}) for row in column.index]
