"""What is evaluated: configurations, and instances in one order that all of them share."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, RootModel, ValidationInfo, model_serializer, model_validator

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import ADDRESS_SETTINGS
from cobandit.live.evaluators.rows import quote_value
from cobandit.tables.safe_reading import Fields, parse, read_bytes, read_lines

#: Columns of a table that no setting may take.
TABLE_COLUMNS = ("config", "instance", "failed")


def _check_value(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, int, float)):
        raise_fault(None, f"the value {quote_value(value)} is nested", "give text, a number, true or false")
    return value


SettingName = Annotated[str, Field(pattern=r"\S")]
Value = Annotated[Any, BeforeValidator(_check_value)]
WRITE = "write {grid: {model: [a, b], temperature: [0, 1]}} or {list: [{model: a}, {model: b}]}"
#: One configuration: its settings by name, plain values.
Settings = dict[SettingName, Value]


class Configurations(Fields):
    """The configurations of a plan: a grid, whose last setting varies fastest, or a list.

    Examples
    --------
    >>> some = Configurations(grid={"model": ["a", "b"], "shots": [2], "temperature": [0, 0.5]})
    >>> some.all[1], some.names[:2]
    ({'model': 'a', 'shots': 2, 'temperature': 0.5}, ('a temperature=0', 'a temperature=0.5'))
    >>> Configurations(grid={"shots": [0, 2]}).names
    ('shots=0', 'shots=2')
    """

    grid: dict[SettingName, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field({}, description=WRITE)
    list: tuple[Annotated[Settings, Field(min_length=1)], ...] = Field((), description=WRITE)

    @cached_property
    def all(self) -> tuple[Settings, ...]:
        """Every configuration, in the plan's order: the position is the arm number."""
        return self.list or tuple(
            dict(zip(self.grid, each, strict=True)) for each in product(*self.grid.values())
        )

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, which describe a configuration."""
        return tuple(dict.fromkeys(name for each in self.all for name in each))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the configurations: the model first, if there is one, then the settings that differ."""
        differ = [
            name
            for name in self.settings
            if name != "model" and len({(type(c.get(name)), c.get(name)) for c in self.all}) > 1
        ]
        # where a model is asked tells configurations apart only if nothing else does
        what = [name for name in differ if name not in ADDRESS_SETTINGS]
        names = tuple(self._label(each, what) for each in self.all)
        if len(set(names)) == len(names):
            return names
        return tuple(self._label(each, differ) for each in self.all)

    def _label(self, each: Settings, differ: Sequence[str]) -> str:
        model = [str(each["model"])] if "model" in each else []
        described = [f"{name}={each[name]}" for name in differ if name in each]
        return " ".join([*model, *described]) or "no settings"

    @model_validator(mode="before")
    @classmethod
    def _take_list(cls, written: Any) -> Any:  # as the plan that a run keeps has it
        is_list = isinstance(written, Sequence) and not isinstance(written, str)
        return {"list": written} if is_list else written

    @model_validator(mode="after")
    def _differ(self) -> Configurations:
        if bool(self.grid) == bool(self.list):
            raise_fault(None, "either a grid or a list is needed", WRITE)
        if len(self.all) < 2:
            raise_fault(None, "there is only 1 configuration", "choosing needs two at least")
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            raise_fault(
                None, f"two configurations are {twice[0]!r}", "keep one of them, or let a setting differ"
            )
        return self

    @model_serializer
    def _dump(self) -> list[Settings]:  # type: ignore[valid-type]
        return [dict(each) for each in self.all]


#: What a file says of an instance, by column.
Columns = Mapping[str, Any]


def read_instances(path: Path, column: str) -> dict[str, Columns]:
    """Read a file of instances.

    Parameters
    ----------
    path : Path
        A .csv, .jsonl or .parquet file, or a .txt file with one id per line.
    column : str
        That of the ids.

    Returns
    -------
    dict
        Columns by id; what a CSV file holds is text.

    Raises
    ------
    TableError
        If the file cannot be read, lacks an id or has it twice.
    """
    found: dict[str, Columns] = {}
    try:
        for where, row in _read_rows(path, column):
            if row.get(column) is None:
                remedy = suggest(column, row, f"name the column: {{file: {path.name}, column: ...}}")
                raise_fault(where, f"there is no {column!r}, but {', '.join(map(str, row))}", remedy)
            name = str(row[column])
            if name in found:
                raise_fault(where, f"the instance {name!r} was there before", "name each once")
            found[name] = row
    except (csv.Error, UnicodeDecodeError) as error:
        raise_fault(path, f"this is no CSV file, or no text in UTF-8: {error}", "export it again")
    return found


class _Line(RootModel[dict[str, Any]]):
    """An instance in a JSON Lines file."""


def _read_rows(path: Path, column: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        from cobandit.tables.record_files import read_columns  # pandas takes its time

        frame = read_columns(path, (column,)).astype(object)
        for number, row in enumerate(frame.where(frame.notna(), None).to_dict("records"), 1):
            yield f"{path}, row {number}", row
    elif suffix == ".jsonl":
        for where, line in read_lines(path):
            yield where, parse(_Line, line, where).root
    elif suffix == ".csv":
        reader = csv.DictReader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True)
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise_fault(where, "it has more or fewer values than there are columns", "correct it")
            yield where, row
    elif suffix not in (".txt", ""):
        remedy = "take a .csv, .jsonl or .parquet file, or a .txt file with one id per line"
        raise_fault(path, f"instances are not read from a {suffix} file", remedy)
    else:
        for where, line in read_lines(path):
            yield where, {column: line.decode().strip()}


class Instances(Fields):
    """The instances of a plan, written as their number, a list of ids, or ``{file: questions.jsonl}``.

    A .csv, .jsonl or .parquet file has its ids in a column, ``instance`` if ``column`` names no other; a .txt
    file has one per line.  ``cluster`` names a column of what instances have in common, such as a passage: a
    race then hands out whole clusters, and counts them.

    Parameters
    ----------
    rows : mapping of str to mapping
        What the file says of each instance, by id; nothing without a file.
    cluster : str, optional
        A column of the rows.

    Examples
    --------
    >>> Instances.model_validate(3).ids, Instances.model_validate(["q1", 7]).ids
    (('0', '1', '2'), ('q1', '7'))
    """

    rows: dict[Annotated[str, Field(pattern=r"\S")], Columns] = Field(
        min_length=2, description="give two ids at least"
    )
    cluster: str | None = Field(None, description="name the column of what instances have in common")

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in the order in which they are listed."""
        return tuple(self.rows)

    def find_cluster(self, name: str) -> str:
        """Name the cluster of an instance, itself where there are none."""
        return name if self.cluster is None else str(self.rows[name][self.cluster])

    def shuffle(self, seed: int) -> tuple[str, ...]:
        """Put the instances into the order in which every configuration is evaluated.

        It is that of `cobandit.tables.columns.profiling_mask`, so that the pilot's instances, which come
        first, are those that a card with the same seed chooses for profiling in a table that has them all.
        Clusters are shuffled as a whole.

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
    def _list(cls, written: Any, info: ValidationInfo) -> Any:
        if isinstance(written, int):
            written = range(written)
        if isinstance(written, Sequence) and not isinstance(written, str):
            if wrong := [each for each in written if not isinstance(each, (str, int))]:
                raise_fault(None, f"{quote_value(wrong[0])} is no id", "give text or whole numbers")
            ids = [str(each) for each in written]
            if twice := [name for name, n in Counter(ids).items() if n > 1]:
                raise_fault(None, f"the instance {twice[0]!r} is named more than once", "name each once")
            return {"rows": {name: {} for name in ids}}
        if isinstance(written, Mapping) and set(written) == {"rows", "cluster"}:
            return written  # as the plan that a run keeps has it
        if not isinstance(written, Mapping) or not {"file"} <= set(written) <= {"file", "column", "cluster"}:
            raise_fault(None, "this says no instances", "give their number, a list of ids, or {file: ...}")
        path = (info.context or {}).get("folder", Path()) / str(written["file"])
        rows, cluster = read_instances(path, str(written.get("column", "instance"))), written.get("cluster")
        for name, row in rows.items():
            if cluster is not None and row.get(cluster) is None:
                remedy = suggest(str(cluster), row, "name the column of what instances have in common")
                raise_fault(path, f"the instance {name!r} has no {cluster!r}", remedy)
        return {"rows": rows, "cluster": cluster}

    @model_serializer
    def _dump(self) -> list[str] | dict[str, Any]:
        if self.cluster is None:
            return list(self.ids)
        rows = {name: {self.cluster: self.find_cluster(name)} for name in self.ids}
        return {"rows": rows, "cluster": self.cluster}
