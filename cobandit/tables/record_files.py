"""Files of records (Parquet, CSV, TSV, JSON, JSON Lines) as data frames."""

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
from pyarrow import parquet

from cobandit.errors import TableError, raise_fault

#: Column separator of a text file, by its suffix.
SEPARATORS = {".csv": ",", ".tsv": "\t"}

#: Separators that are recognised where a file does not use that of its suffix.
OTHER_SEPARATORS = (";", "\t", "|", ",")

#: Largest size of an expanded file, in bytes.
MAX_EXPANDED = 4 * 1024**3

#: Peak memory of reading, in bytes per row and column: 39 to 48 were measured on 10^6 to 10^7 rows.
BYTES_PER_VALUE = 50

#: Bytes at the start of a text file from which its rows and its layout are estimated.
HEAD = 2**20


class TextLayout(NamedTuple):
    """Separator, decimal mark and encoding of a text file."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def __str__(self) -> str:
        """Name the three parts."""
        mark = {",": "comma", ".": "point"}.get(self.decimal, self.decimal)
        return f"separator {self.separator!r}, decimal {mark}, encoding {self.encoding}"


def recognise_layout(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> TextLayout:
    r"""Recognise the layout of a CSV or TSV file; parts that are given are kept.

    Parameters
    ----------
    path : Path
        The file; text may be compressed, with ``.gz`` behind its suffix.
    separator, decimal, encoding : str, optional
        Parts that are known.

    Returns
    -------
    TextLayout
        The encoding is UTF-8 where the file can be decoded so, UTF-16 where it begins with that mark, else
        cp1252, the one of Western spreadsheets.  The separator is that of the suffix where the first lines
        agree on it, else the one with the most columns on which they agree.  Decimal commas are recognised
        where no column is separated by commas and no number has a decimal point.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("modèle;score\na;0,5\nb;0,25\n", encoding="cp1252")
    ...     recognise_layout(path)
    TextLayout(separator=';', decimal=',', encoding='cp1252')
    """
    encoding = encoding or _recognise_encoding(path)
    with _open(path) as file:
        head = file.read(HEAD).decode(encoding, errors="replace").removeprefix("\ufeff")
    # the last line may be cut
    lines = head.splitlines()[:-1] or head.splitlines()
    separator = separator or _recognise_separator(lines, _default_separator(path))
    if decimal is None:
        cells = [cell.strip() for row in csv.reader(lines, delimiter=separator) for cell in row]
        with_comma = any(re.fullmatch(r"[+-]?\d+,\d+", cell) for cell in cells)
        with_point = any(re.fullmatch(r"[+-]?\d+\.\d+", cell) for cell in cells)
        decimal = "," if with_comma and not with_point else "."
    return TextLayout(separator, decimal, encoding)


def _open(path: Path) -> IO[bytes]:
    """Open a file, expanded if it is compressed."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _default_separator(path: Path) -> str:
    stem = Path(path.stem) if path.suffix.lower() == ".gz" else path
    return SEPARATORS.get(stem.suffix.lower(), ",")


def _recognise_encoding(path: Path) -> str:
    with _open(path) as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(HEAD):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _recognise_separator(lines: Sequence[str], default: str) -> str:
    """Find the separator on which the first lines agree."""
    n_columns = {}
    for candidate in (default, *OTHER_SEPARATORS):
        rows = csv.reader(lines[:50], delimiter=candidate)
        lengths = {len(row) for row in rows if row}
        if len(lengths) == 1 and lengths != {1}:
            n_columns[candidate] = lengths.pop()
    if default in n_columns or not n_columns:
        return default
    return max(n_columns, key=lambda candidate: n_columns[candidate])


def read_columns(
    path: Path,
    names: Sequence[str],
    wanted: Sequence[str] | None = None,
    *,
    layout: TextLayout | None = None,
    records: str | None = None,
    flatten: bool = False,
) -> pd.DataFrame:
    """Read a Parquet, CSV, TSV, JSON or JSON Lines file that is not empty.

    Parameters
    ----------
    path : Path
        A file with the suffix of its format; text may be compressed, with ``.gz`` behind it.
    names : sequence of str
        Columns that name something.  They become text before a frame is made, since a column of numbers with
        a gap would turn 8 into 8.0, and long whole numbers into others.
    wanted : sequence of str, optional
        The columns to read, by default all.  All are read too if one of these is missing or there twice, so
        that a message can say what there is.
    layout : TextLayout, optional
        Of a CSV or TSV file; by default the separator of its suffix, decimal points and UTF-8.
    records : str, optional
        Of a JSON file: the keys that lead to the list of records, separated by points.  By default the file
        is that list.
    flatten : bool
        Whether fields of nested records become columns of their own, such as ``usage.tokens``.

    Raises
    ------
    TableError
        If the file is damaged or does not parse.

    Examples
    --------
    >>> read_columns(Path("nowhere.parquet"), ["config"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: nowhere.parquet: the file is damaged, or does not parse: [Errno 2] ...
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz":
            _check_expanded(path)
            suffix = Path(path.stem).suffix.lower()
        if suffix == ".parquet":
            return _read_parquet(path, names, wanted, flatten)
        if suffix == ".json":
            return _make_frame(_read_json(path, records), names, None, flatten, path)
        if suffix == ".jsonl":
            return _make_frame(_read_jsonl(path, wanted), names, wanted, flatten, path)
        if suffix in SEPARATORS:
            return _read_separated(path, layout or TextLayout(SEPARATORS[suffix]), names, wanted)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, EOFError, zlib.error) as error:
        raise_fault(
            path, f"the file is damaged, or does not parse: {error}", "correct it, or export it again"
        )
    remedy = "save them as .parquet, .csv, .jsonl or .json"
    raise_fault(path, f"records with the suffix {suffix!r} cannot be read", remedy)


def _check_memory(path: Path, n_rows: float, n_columns: int) -> None:
    """Refuse a table that is larger than the memory, before it fills it.

    Raises
    ------
    TableError
    """
    needed = BYTES_PER_VALUE * n_rows * n_columns
    free = psutil.virtual_memory().available
    if needed > free:
        takes = f"to read about {n_rows:,.0f} rows takes {needed / 1e9:.1f} GB of memory"
        problem = f"{takes}, and {free / 1e9:.1f} GB are free"
        raise_fault(
            path, problem, "leave out configurations or instances, or read it where there is more memory"
        )


def _estimate_rows(path: Path) -> float:
    """Estimate the number of rows of a text file from its first lines; compression is not undone."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return path.stat().st_size * max(1, head.count(b"\n")) / len(head)


def _columns_to_read(there: Sequence[str], wanted: Sequence[str] | None) -> list[str] | None:
    """Return the wanted columns, or None, for all, if one is not there exactly once."""
    return list(wanted) if wanted and all(there.count(name) == 1 for name in wanted) else None


def _check_expanded(path: Path) -> None:
    """Refuse a compressed file that is damaged, or expands beyond bounds; nothing of it is kept."""
    with gzip.open(path) as file:
        expanded = file.seek(MAX_EXPANDED + 1)  # or the end, if that comes first
    if expanded > MAX_EXPANDED:
        raise_fault(path, f"it expands to more than the {MAX_EXPANDED:,} bytes that are read", "split it")
    if not expanded:
        raise_fault(path, "the file is empty", "export it again, with its data")


def _read_parquet(
    path: Path, names: Sequence[str], wanted: Sequence[str] | None, flatten: bool
) -> pd.DataFrame:
    file = parquet.ParquetFile(path)
    columns = _columns_to_read(file.schema_arrow.names, wanted)
    _check_memory(path, file.metadata.num_rows, len(columns or file.schema_arrow.names))
    table = file.read(columns=columns)
    table.validate(full=True)  # the reader does not look whether text is UTF-8
    while flatten and any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()

    for place, field in enumerate(table.schema):
        # pandas has no whole numbers with gaps: they would become floats
        if field.name in names and pa.types.is_integer(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.string()))
    return table.to_pandas(ignore_metadata=True)


def _read_separated(
    path: Path, layout: TextLayout, names: Sequence[str], wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Read with types inferred, except that names stay text and dates are not guessed."""
    parsing = pa.csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True)
    # one thread: the parser can then say in which row it failed
    serial = pa.csv.ReadOptions(use_threads=False, encoding=layout.encoding)
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
        dates = {field.name for field in table.schema if pa.types.is_temporal(field.type)}
        if dates <= set(text):
            return table.to_pandas()
        text |= dict.fromkeys(dates, pa.string())


def _read_json(path: Path, records: str | None) -> Iterator[tuple[str, Any]]:
    """Read the records of a JSON file, each with its place."""
    with _open(path) as file:
        value = json.load(io.TextIOWrapper(file, "utf-8-sig"))
    for key in records.split(".") if records else ():
        if not isinstance(value, Mapping) or key not in value:
            known = list(value) if isinstance(value, Mapping) else []
            there = f"there are {', '.join(map(str, known[:20]))}" if known else "there are no keys"
            raise_fault(path, f"there is no {key!r} on the way to {records!r}; {there}", "correct --records")
        value = value[key]
    if not isinstance(value, list):
        found = list(_find_lists(value))
        remedy = "say where the list of records is with --records, such as results.rows"
        if found:
            remedy = f"say where the list of records is: --records {max(found, key=lambda each: each[1])[0]}"
        keys = f", with the keys {', '.join(list(value)[:20])}" if isinstance(value, Mapping) else ""
        raise_fault(path, f"this is {type(value).__name__}{keys}, not a list of records", remedy)
    for number, record in enumerate(value, 1):
        yield f"record {number}", record


def _find_lists(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Find lists of objects in nested JSON: the keys that lead there, and how long each is."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        there = f"{path}.{key}" if path else str(key)
        if isinstance(inner, list) and inner and all(isinstance(each, dict) for each in inner):
            yield there, len(inner)
        yield from _find_lists(inner, there)


def _read_jsonl(path: Path, wanted: Sequence[str] | None) -> Iterator[tuple[str, Any]]:
    """Read the lines that are not blank, each with its place."""
    _check_memory(path, _estimate_rows(path), len(wanted or ()))
    with _open(path) as file:
        for number, line in enumerate(io.TextIOWrapper(file, "utf-8-sig"), 1):
            if line.isspace():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = f"line {number} is not a JSON object: {error}"
                raise_fault(path, problem, "correct it or export it again")
            yield f"line {number}", record


def _make_frame(
    records: Iterable[tuple[str, Any]],
    names: Sequence[str],
    wanted: Sequence[str] | None,
    flatten: bool,
    path: Path,
) -> pd.DataFrame:
    """Make a frame of JSON objects; of all but the first, which a message shows, the wanted columns."""
    rows: list[dict[str, Any]] = []
    for place, record in records:
        if not isinstance(record, dict):
            problem = f"{place} is not a JSON object: it holds another value"
            raise_fault(path, problem, "correct it or export it again")
        row = dict(_flatten(record)) if flatten else record
        if wanted and rows:
            row = {name: row[name] for name in wanted if name in row}
        numbers = {name: str(row[name]) for name in names if type(row.get(name)) is int}
        rows.append(row | numbers)
    return pd.DataFrame(rows)


def _flatten(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give each field of nested objects, under a name that says where it was."""
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
