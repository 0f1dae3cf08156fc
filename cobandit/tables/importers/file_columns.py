"""Columns with the file, the folders and the row number of a record."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.text_layout import SEPARATORS

#: Names of three kinds of columns: the name of a record's file, the record's row in the
#: file, and (as a prefix, followed by the depth) the folders on the path to the file.
FILE = "file"
ROW = "row"
FOLDER = "folder"

_SUFFIXES = (*SEPARATORS, ".jsonl", ".json", ".parquet")


class SourceFile(NamedTuple):
    """A file that was read, with its rows."""

    #: The file.
    path: Path
    #: The rows of the file.
    frame: pd.DataFrame
    #: Decimal mark of numbers in text.
    decimal: str
    #: Names of the columns that locate a record.
    places: list[str]


class FileColumns:
    """Columns with the file, folders and row of each record, which options can name.

    ``file`` is the name of the file without its suffix, and ``row`` is the number of
    the record. ``folder1``, ``folder2``, ... are the folders on the path to the file,
    starting below the folder that all files share. Columns of the same names in a file
    take precedence.

    Parameters
    ----------
    files : sequence of Path

    Examples
    --------
    >>> paths = [Path("runs/gpt-4.1/a.json"), Path("runs/gpt-4.1-mini/a.json")]
    >>> columns = FileColumns(paths)
    >>> columns.add(pd.DataFrame({"ok": [1, 0]}), paths[0], ["folder1", "row"])
       ok  folder1 row
    0   1  gpt-4.1   1
    1   0  gpt-4.1   2
    """

    def __init__(self, files: Sequence[Path]):
        parents = {file: file.resolve().parent for file in files}
        common = os.path.commonpath(parents.values())
        self._folders = {
            file: parent.relative_to(common).parts for file, parent in parents.items()
        }

    def names(self, file: Path) -> list[str]:
        """Return the names of the columns that can be added to a file's records."""
        return [
            FILE,
            ROW,
            *(f"{FOLDER}{depth}" for depth, _ in enumerate(self._folders[file], 1)),
        ]

    def add(
        self, frame: pd.DataFrame, file: Path, wanted: Iterable[str]
    ) -> pd.DataFrame:
        """Add the wanted columns that the frame lacks."""
        folders = {
            f"{FOLDER}{depth}": name
            for depth, name in enumerate(self._folders[file], 1)
        }
        values = folders | {
            FILE: name_file(file),
            ROW: [str(row + 1) for row in frame.index],
        }
        added = {
            name: values[name]
            for name in wanted
            if name in values and name not in frame
        }
        return frame.assign(**added)

    def check_config(self, config: Sequence[str], columns: Iterable[str]) -> None:
        """Raise if files name the configurations, but two files have the same name."""
        if FILE in columns or not set(config) <= {FILE}:
            return
        names = [name_file(file) for file in self._folders]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            remedy = f"name the configuration by the folder: --config {FOLDER}1"
            raise_fault(
                "--config",
                f"several files have the name {repeated[0]!r}",
                remedy,
                "equal-file-names",
            )


def name_file(file: Path) -> str:
    """Return the name of a file without its suffix, such as ``.csv``.

    Examples
    --------
    >>> name_file(Path("gpt-4.1-mini.csv.gz")), name_file(Path("m_temp_0.5.jsonl"))
    ('gpt-4.1-mini', 'm_temp_0.5')
    """
    name = file.name[:-3] if file.suffix.lower() == ".gz" else file.name
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in _SUFFIXES else name
