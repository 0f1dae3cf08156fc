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

#: Row of an instance in the file of instances: values by column.
Columns = Mapping[str, Any]


def read_instances(path: Path, column: str) -> dict[str, Columns]:
    """Read a file of instances, and return the columns of each instance by its id.

    Parameters
    ----------
    path : Path
        A .csv, .jsonl or .parquet file, or a .txt file with one id per line.
    column : str
        Column of the ids.

    Returns
    -------
    dict
        Columns by id; values of a CSV file are text.

    Raises
    ------
    TableError
        If the file cannot be read, or an id is missing or duplicated.
    """
    rows: dict[str, Columns] = {}
    try:
        for place, row in _read_rows(path, column):
            if row.get(column) is None:
                problem = (
                    f"the column {column!r} is missing; the file has"
                    f" {', '.join(map(str, row))}"
                )
                otherwise = (
                    f"name the column of the ids: {{file: {path.name}, column: ...}}"
                )
                remedy = suggest(column, row, otherwise)
                raise_fault(place, problem, remedy, "no-id")
            name = str(row[column])
            if name in rows:
                problem = f"the instance {name!r} is listed twice"
                raise_fault(place, problem, "list each instance once", "equal-ids")
            rows[name] = row
    except (csv.Error, UnicodeDecodeError) as error:
        problem = f"this is not a CSV file in UTF-8: {error}"
        raise_fault(path, problem, "save the file as CSV in UTF-8", "unreadable-file")

    return rows


class _Line(RootModel[dict[str, Any]]):
    """An instance in a JSON Lines file."""


def _read_rows(path: Path, column: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Yield the rows of a file, each with its place in the file."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        # imported here, because pandas is slow to import
        from cobandit.tables.record_files import read_columns

        frame = read_columns(path, (column,)).astype(object)
        for number, row in enumerate(
            frame.where(frame.notna(), None).to_dict("records"), 1
        ):
            yield f"{path}, row {number}", row
    elif suffix == ".jsonl":
        for place, line in read_lines(path):
            yield place, parse_json(_Line, line, place).root
    elif suffix == ".csv":
        reader = csv.DictReader(
            io.StringIO(read_bytes(path).decode(), newline=""), strict=True
        )
        for row in reader:
            place = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                problem = "the number of values differs from the number of columns"
                raise_fault(place, problem, "correct this line", "row-length")
            yield place, row
    elif suffix not in (".txt", ""):
        remedy = (
            "use a .csv, .jsonl or .parquet file, or a .txt file with one id per line"
        )
        problem = f"instances cannot be read from a {suffix} file"
        raise_fault(path, problem, remedy, "file-format")
    else:
        for place, line in read_lines(path):
            yield place, {column: line.decode().strip()}


class Instances(Fields):
    """Instances of a plan: their number, a list of ids, or a file.

    A file is written as ``{file: questions.jsonl}``. In a .csv, .jsonl or .parquet
    file, ``column`` names the column of the ids (default: ``instance``); a .txt file
    has one id per line. ``cluster`` names a column that groups instances, for example
    by passage. A race (`cobandit.ParetoRace`) then evaluates whole clusters, and counts
    clusters instead of instances as independent.

    Parameters
    ----------
    rows : mapping of str to mapping
        Columns of each instance in the file, by id; without a file, they are empty.
    cluster : str, optional
        Column that groups instances.

    Examples
    --------
    >>> Instances.model_validate(3).ids, Instances.model_validate(["q1", 7]).ids
    (('0', '1', '2'), ('q1', '7'))
    """

    rows: dict[Annotated[str, Field(pattern=r"\S")], Columns] = Field(
        min_length=2, description="give at least two ids"
    )
    cluster: str | None = Field(
        None, description="name the column that groups instances"
    )

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in the order of the list."""
        return tuple(self.rows)

    def find_cluster(self, name: str) -> str:
        """Return the cluster of an instance; without clusters, the instance's name."""
        return name if self.cluster is None else str(self.rows[name][self.cluster])

    def shuffle(self, seed: int) -> tuple[str, ...]:
        """Return the random order in which the instances are evaluated.

        A table that is made from a complete run has the same order. If the table is
        also split with the same seed, the pilot's instances are in its profiling split
        (`cobandit.tables.profiling.profiling_mask`). Clusters are shuffled as a whole.

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
        # the plan in a run folder is written in this form
        if set(written) == {"rows", "cluster"}:
            return written
        if not {"file"} <= set(written) <= {"file", "column", "cluster"}:
            cls._refuse()

        path = (info.context or {}).get("folder", Path()) / str(written["file"])
        rows = read_instances(path, str(written.get("column", "instance")))
        cluster = written.get("cluster")
        for name, row in rows.items():
            if cluster is not None and row.get(cluster) is None:
                problem = (
                    f"the instance {name!r} has no value in the column {cluster!r}"
                )
                otherwise = "name the column that groups instances"
                remedy = suggest(str(cluster), row, otherwise)
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
            problem = f"the instance {twice[0]!r} is listed more than once"
            raise_fault(None, problem, "list each instance once", "equal-ids")
        return {name: {} for name in ids}

    @staticmethod
    def _refuse() -> NoReturn:
        remedy = "give the number of instances, a list of ids, or {file: ...}"
        raise_fault(
            None, "instances must be a number, a list or a file", remedy, "no-instances"
        )

    @model_serializer
    def _dump(self) -> list[str] | dict[str, Any]:
        if self.cluster is None:
            return list(self.ids)
        rows = {name: {self.cluster: self.find_cluster(name)} for name in self.ids}
        return {"rows": rows, "cluster": self.cluster}
