"""Tables in files: records as Parquet, CSV or JSON lines with a card next to them, read and written."""

import gzip
import hashlib
import json
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import yaml
from pyarrow import parquet

from cobandit.faults import TableError, stop
from cobandit.tables import swebench
from cobandit.tables.card import Card, Objective, Split, read_card
from cobandit.tables.safe_reading import check_size
from cobandit.tables.table import EvaluationTable

#: What separates the columns of a text file, by its suffix.
SEPARATORS = {".csv": ",", ".tsv": "\t"}

#: Most bytes that a compressed file may expand to.
MAX_EXPANDED = 4 * 1024**3

#: Memory that reading takes at its peak, per row and column: 39 to 48 were measured on 10^6 to 10^7 rows.
BYTES_PER_VALUE = 50

#: Bytes at the start of a text file from which its rows are estimated.
HEAD = 2**20


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
    path = Path(path)
    if not path.is_file():
        stop(path, "there is no such file", "check the path")
    if path.suffix.lower() in (".yml", ".yaml"):
        stop(path, "this is a card, or another YAML file", "name its table; the card next to it is found")
    if not isinstance(card, Card):
        card = read_card(path.with_suffix(".yml") if card is None else card)
    check_size(path)
    found = file_sha256(path) if card.sha256 else None
    if found != card.sha256:
        problem = f"the file's sha256 is {found}, but its card says {card.sha256}"
        remedy = "restore the file that the card describes, or put the new sum into it if it is meant"
        stop(path, problem, remedy)
    if card.origin and card.origin.parser == "swebench-bash-only":
        frame, notes = swebench.parse(path)
        return EvaluationTable.from_records(frame, card, str(path), notes)
    frame = read_columns(path, ("config", "instance"), card.columns)
    return EvaluationTable.from_records(frame, card, str(path))


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
    cobandit.faults.TableError: nowhere.parquet: the file is damaged, or does not parse: [Errno 2] ...
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz":
            _check_expanded(path)
            suffix = Path(path.stem).suffix.lower()
        if suffix == ".parquet":
            return _read_parquet(path, wanted)
        if suffix == ".jsonl":
            return _read_jsonl(path, wanted)
        if suffix in SEPARATORS:
            return _read_separated(path, SEPARATORS[suffix], names, wanted)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, EOFError, zlib.error) as error:
        stop(path, f"the file is damaged, or does not parse: {error}", "correct it, or export it again")
    stop(path, f"records with the suffix {suffix!r} cannot be read", "save them as .parquet, .csv or .jsonl")


def _check_memory(path: Path, n_rows: float, n_columns: int) -> None:
    """Refuse a table that is larger than the memory, before it fills it.

    Raises
    ------
    TableError
    """
    needed, free = BYTES_PER_VALUE * n_rows * n_columns, psutil.virtual_memory().available
    if needed > free:
        takes = f"to read about {n_rows:,.0f} rows takes {needed / 1e9:.1f} GB of memory"
        problem = f"{takes}, and {free / 1e9:.1f} GB are free"
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
    with gzip.open(path) as file:
        expanded = file.seek(MAX_EXPANDED + 1)  # or the end, if that comes first
    if expanded > MAX_EXPANDED:
        stop(path, f"it expands to more than the {MAX_EXPANDED:,} bytes that are read", "split it")
    if not expanded:
        stop(path, "the file is empty", "export it again, with its data")


def _read_parquet(path: Path, wanted: Sequence[str] | None) -> pd.DataFrame:
    file = parquet.ParquetFile(path)
    columns = _sound(file.schema_arrow.names, wanted)
    _check_memory(path, file.metadata.num_rows, len(columns or file.schema_arrow.names))
    table = file.read(columns=columns)
    table.validate(full=True)  # the reader does not look whether text is UTF-8
    return table.to_pandas(ignore_metadata=True)


def _read_separated(
    path: Path, separator: str, names: Sequence[str], wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Read with types inferred, except that names stay text and dates are not guessed."""
    parsing = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    # one thread: the parser can then say in which row it failed
    serial = pa.csv.ReadOptions(use_threads=False)
    with pa.csv.open_csv(path, serial, parsing) as head:
        columns = _sound(head.schema.names, wanted)
        _check_memory(path, _text_rows(path), len(columns or head.schema.names))
    text = dict.fromkeys(names, pa.string())
    while True:
        conversion = pa.csv.ConvertOptions(
            include_columns=columns, column_types=text, null_values=[""], strings_can_be_null=False
        )
        table = pa.csv.read_csv(path, serial, parsing, conversion)
        dates = {field.name for field in table.schema if pa.types.is_temporal(field.type)}
        if dates <= set(text):
            return table.to_pandas()
        text |= dict.fromkeys(dates, pa.string())


def _read_jsonl(path: Path, wanted: Sequence[str] | None) -> pd.DataFrame:
    """Read the lines that are not blank; of all but the first, which a message shows, the wanted columns."""
    _check_memory(path, _text_rows(path), len(wanted or ()))
    records: list[dict[str, Any]] = []
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.isspace():
                continue
            try:
                record, problem = json.loads(line), "it holds another value"
            except (ValueError, RecursionError) as error:
                record, problem = None, str(error)
            if not isinstance(record, dict):
                stop(path, f"line {number} is not a JSON object: {problem}", "correct it or export it again")
            keep = wanted if wanted and records else record
            records.append({name: record[name] for name in keep if name in record})
    return pd.DataFrame(records)


#: Key of the Parquet metadata under which `save` puts what a file remembers.
MEMORY = b"cobandit"


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
    check_name(path)
    frame = table.evaluations
    for card in (table.card, _pinned(table)):
        if _says_all(card, table, frame):
            write_table(frame, card.model_dump(mode="json", exclude_none=True, exclude={"origin"}), path)
            return path.with_suffix(".yml")
    problem = "its split is not one of instances: it is a part of another table"
    stop(path, problem, "save the whole table, and take the part after reading it")


def check_name(path: Path) -> None:
    """Refuse a name under which no table could be written."""
    if path.suffix != ".parquet":
        stop(path, "the table is written as Parquet", "let the name end in .parquet")
    if not path.parent.is_dir():
        stop(path, f"there is no folder {path.parent}", "make it first")


def _says_all(card: Card, table: EvaluationTable, frame: pd.DataFrame) -> bool:
    """Whether a card gives the table's own scores and split to its evaluations."""
    if frame.duplicated(["config", "instance"]).any():
        return False
    made = EvaluationTable.from_records(frame, card, table.name)
    return made.limits == table.limits and made.rows["split"].equals(table.rows["split"])


def _pinned(table: EvaluationTable) -> Card:
    """Say of a part of a table what was fitted to and drawn from the whole."""
    rows, card = table.rows, table.card
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
