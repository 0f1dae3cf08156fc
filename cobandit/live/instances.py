"""The instances of a plan: a number, a list of ids, or a file."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
from pydantic import Field, RootModel, ValidationInfo, model_serializer, model_validator

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.live.evaluators.rows import quote_value
from cobandit.tables.bounded_files import read_bytes, read_lines
from cobandit.tables.checked_fields import Fields
from cobandit.tables.checked_json import parse_json

#: The values of an instance in its file, by column.
Columns = Mapping[str, Any]


def read_instances(path: Path, column: str) -> dict[str, Columns]:
    """Read a file of instances.

    Parameters
    ----------
    path : Path
        A .csv, .jsonl or .parquet file, or a .txt file with one id per line.
    column : str
        The column of the ids.

    Returns
    -------
    dict
        Columns by id; values of a CSV file are text.

    Raises
    ------
    TableError
        If the file cannot be read, lacks an id or has it twice.
    """
    rows: dict[str, Columns] = {}
    try:
        for where, row in _read_rows(path, column):
            if row.get(column) is None:
                remedy = suggest(
                    column, row, f"name the column: {{file: {path.name}, column: ...}}"
                )
                problem = f"there is no {column!r}, but {', '.join(map(str, row))}"
                raise_fault(where, problem, remedy, "no-id")
            name = str(row[column])
            if name in rows:
                raise_fault(
                    where,
                    f"the instance {name!r} was there before",
                    "name each once",
                    "equal-ids",
                )
            rows[name] = row
    except (csv.Error, UnicodeDecodeError) as error:
        problem = f"this is no CSV file, or no text in UTF-8: {error}"
        raise_fault(path, problem, "export it again", "unreadable-file")

    return rows


class _Line(RootModel[dict[str, Any]]):
    """An instance in a JSON Lines file."""


def _read_rows(path: Path, column: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Read the rows of a file, each with its place in it."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        from cobandit.tables.record_files import read_columns  # pandas takes its time

        frame = read_columns(path, (column,)).astype(object)
        for number, row in enumerate(
            frame.where(frame.notna(), None).to_dict("records"), 1
        ):
            yield f"{path}, row {number}", row
    elif suffix == ".jsonl":
        for where, line in read_lines(path):
            yield where, parse_json(_Line, line, where).root
    elif suffix == ".csv":
        reader = csv.DictReader(
            io.StringIO(read_bytes(path).decode(), newline=""), strict=True
        )
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                problem = "it has more or fewer values than there are columns"
                raise_fault(where, problem, "correct it", "row-length")
            yield where, row
    elif suffix not in (".txt", ""):
        remedy = (
            "take a .csv, .jsonl or .parquet file, or a .txt file with one id per line"
        )
        raise_fault(
            path, f"instances are not read from a {suffix} file", remedy, "file-format"
        )
    else:
        for where, line in read_lines(path):
            yield where, {column: line.decode().strip()}


class Instances(Fields):
    """The instances of a plan, written as their number, a list of ids, or ``{file: questions.jsonl}``.

    A .csv, .jsonl or .parquet file has its ids in a column, ``instance`` if ``column``
    names no other; a .txt file has one per line.  ``cluster`` names a column of what
    instances have in common, such as a passage: a race then hands out whole clusters,
    and counts them.

    Parameters
    ----------
    rows : mapping of str to mapping
        The values of each instance in its file, by id; empty without a file.
    cluster : str, optional
        A column of the rows.

    Examples
    --------
    >>> Instances.model_validate(3).ids, Instances.model_validate(["q1", 7]).ids
    (('0', '1', '2'), ('q1', '7'))
    """

    rows: dict[Annotated[str, Field(pattern=r"\S")], Columns] = Field(
        min_length=2, description="give at least two ids"
    )
    cluster: str | None = Field(
        None, description="name the column of what instances have in common"
    )

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in the order in which they are listed."""
        return tuple(self.rows)

    def find_cluster(self, name: str) -> str:
        """Return the cluster of an instance: the instance itself where there are none."""
        return name if self.cluster is None else str(self.rows[name][self.cluster])

    def shuffle(self, seed: int) -> tuple[str, ...]:
        """Put the instances into the order in which every configuration is evaluated.

        It is that of `cobandit.tables.profiling.profiling_mask`, so that the pilot's
        instances, which come first, are those that a card with the same seed chooses
        for profiling in a table that has them all. Clusters are shuffled as a whole.

        Examples
        --------
        >>> Instances.model_validate(["a", "b", "c", "d"]).shuffle(seed=0)
        ('c', 'a', 'b', 'd')
        """
        members: dict[str, list[str]] = {}
        for name in sorted(self.ids):
            members.setdefault(self.find_cluster(name), []).append(name)
        clusters = sorted(members)
        order = np.random.default_rng(seed).permutation(len(clusters))
        return tuple(name for place in order for name in members[clusters[place]])

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: Any, info: ValidationInfo) -> Any:
        if isinstance(written, int):
            written = range(written)
        if isinstance(written, Sequence) and not isinstance(written, str):
            return {"rows": cls._read_ids(written)}
        if not isinstance(written, Mapping):
            cls._refuse()
        if set(written) == {"rows", "cluster"}:  # as in the plan that a run keeps
            return written
        if not {"file"} <= set(written) <= {"file", "column", "cluster"}:
            cls._refuse()

        path = (info.context or {}).get("folder", Path()) / str(written["file"])
        rows = read_instances(path, str(written.get("column", "instance")))
        cluster = written.get("cluster")
        for name, row in rows.items():
            if cluster is not None and row.get(cluster) is None:
                problem = f"the instance {name!r} has no {cluster!r}"
                remedy = suggest(
                    str(cluster),
                    row,
                    "name the column of what instances have in common",
                )
                raise_fault(path, problem, remedy, "no-cluster")
        return {"rows": rows, "cluster": cluster}

    @staticmethod
    def _read_ids(written: Sequence[Any]) -> dict[str, Columns]:
        """Read a list of ids."""
        wrong = [name for name in written if not isinstance(name, (str, int))]
        if wrong:
            problem = f"{quote_value(wrong[0])} is not an id"
            raise_fault(None, problem, "give text or whole numbers", "no-id")
        ids = [str(name) for name in written]
        twice = [name for name, number in Counter(ids).items() if number > 1]
        if twice:
            problem = f"the instance {twice[0]!r} is named more than once"
            raise_fault(None, problem, "name each once", "equal-ids")
        return {name: {} for name in ids}

    @staticmethod
    def _refuse() -> NoReturn:
        remedy = "give their number, a list of ids, or {file: ...}"
        raise_fault(None, "this is not a list of instances", remedy, "no-instances")

    @model_serializer
    def _dump(self) -> list[str] | dict[str, Any]:
        if self.cluster is None:
            return list(self.ids)
        rows = {name: {self.cluster: self.find_cluster(name)} for name in self.ids}
        return {"rows": rows, "cluster": self.cluster}
