"""The layout of CSV and TSV files: separator, decimal mark, encoding and title."""

import codecs
import csv
import gzip
from collections.abc import Sequence
from itertools import chain, takewhile
from pathlib import Path
from typing import IO, NamedTuple

from cobandit.tables.written_numbers import recognise_decimal

#: Default column separator of a text file, by its suffix.
SEPARATORS = {".csv": ",", ".tsv": "\t"}

#: Separators to try if a file does not use the usual separator of its suffix.
OTHER_SEPARATORS = (";", "\t", "|", ",")

#: Number of bytes at the start of a text file that are used to estimate its layout and
#: its number of rows.
HEAD = 2**20


class TextLayout(NamedTuple):
    """Layout of a CSV or TSV file."""

    #: Separator of the columns.
    separator: str = ","
    #: Decimal mark.
    decimal: str = "."
    #: Encoding of the text.
    encoding: str = "utf-8"
    #: Number of lines of a title above the columns.
    title: int = 0

    def __str__(self) -> str:
        """Return the layout in words, for a remark."""
        mark = {",": "comma", ".": "point"}.get(self.decimal, self.decimal)
        title = f", skipping {self.title} title lines" if self.title else ""
        return (
            f"separator {self.separator!r}, decimal {mark}, encoding"
            f" {self.encoding}{title}"
        )


def recognise_layout(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> TextLayout:
    r"""Recognise the layout of a CSV or TSV file.

    Parameters
    ----------
    path : Path
        The file, which may be compressed (``.csv.gz``).
    separator, decimal, encoding : str, optional
        Parts of the layout that the user gives, and that need not be recognised.

    Returns
    -------
    TextLayout
        The encoding is UTF-16 if the file begins with its byte order mark, UTF-8 if the
        file is valid UTF-8, and otherwise cp1252, the encoding of Western spreadsheets.
        A separator is possible if it gives the same number of columns, at least two, in
        the first 50 lines. The usual separator of the suffix is preferred, and
        otherwise the one with the most columns. The decimal mark is a comma if some
        number has a decimal comma and none has a decimal point; in comma-separated
        files, the comma in 1,234 is not a decimal comma. Lines at the beginning
        that have only one cell are a title.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("modèle;score\na;0,5\nb;0,25\n", encoding="cp1252")
    ...     recognise_layout(path)
    TextLayout(separator=';', decimal=',', encoding='cp1252', title=0)
    """
    encoding = encoding or _recognise_encoding(path)
    with open_expanded(path) as file:
        head = file.read(HEAD).decode(encoding, errors="replace").removeprefix("\ufeff")

    # the last line may be incomplete
    lines = head.splitlines()[:-1] or head.splitlines()
    separator = separator or _recognise_separator(lines, _default_separator(path))
    rows = list(csv.reader(lines, delimiter=separator))
    if decimal is None:
        cells = chain.from_iterable(rows)
        decimal = recognise_decimal(cells, with_commas=separator != ",")
    return TextLayout(separator, decimal, encoding, _count_title_lines(rows))


def _count_title_lines(rows: Sequence[Sequence[str]]) -> int:
    """Count the title lines at the beginning, including blank lines."""
    title = list(takewhile(lambda row: not any(cell.strip() for cell in row[1:]), rows))
    return len(title) if len(title) < len(rows) and any(map(len, title)) else 0


def open_expanded(path: Path) -> IO[bytes]:
    """Open a file, expanded if it is compressed."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _default_separator(path: Path) -> str:
    stem = Path(path.stem) if path.suffix.lower() == ".gz" else path
    return SEPARATORS.get(stem.suffix.lower(), ",")


def _recognise_encoding(path: Path) -> str:
    with open_expanded(path) as file:
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
    """Return the separator that gives the first lines equal numbers of columns."""
    n_columns = {}
    for candidate in (default, *OTHER_SEPARATORS):
        rows = csv.reader(lines[:50], delimiter=candidate)
        lengths = {len(row) for row in rows if row}
        if len(lengths) == 1 and lengths != {1}:
            n_columns[candidate] = lengths.pop()
    if default in n_columns or not n_columns:
        return default
    return max(n_columns, key=lambda candidate: n_columns[candidate])
