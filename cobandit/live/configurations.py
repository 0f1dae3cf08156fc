"""What is evaluated: configurations, and instances in one order that all of them share."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from cobandit.faults import stop, suggest
from cobandit.live.evaluators import WHERE, shorten
from cobandit.tables.safe_reading import Fields

RESERVED = ("config", "instance", "failed")
"""Columns of a table that no setting may take."""


def _check_setting(name: str) -> str:
    if not name.strip():
        stop(None, f"the setting {name!r} has no name", "name settings by text")
    if name in RESERVED:
        stop(None, f"{name!r} is the name of another column of the table", "call the setting otherwise")
    return name


def _check_value(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, int, float)):
        stop(None, f"the value {shorten(value)} is nested", "give text, a number, true or false")
    return value


Setting = Annotated[str, AfterValidator(_check_setting)]
Value = Annotated[Any, BeforeValidator(_check_value)]
Settings = dict[Setting, Value]
"""One configuration: its settings by name, plain values."""


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

    grid: dict[Setting, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(
        {}, description="write {grid: {model: [a, b], temperature: [0, 1]}}, each setting with a list"
    )
    list: tuple[Annotated[Settings, Field(min_length=1)], ...] = Field(
        (), description="write {list: [{model: a}, {model: b}]}, each with its settings"
    )

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
        what = [name for name in differ if name not in WHERE]
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
        return (
            {"list": written} if isinstance(written, Sequence) and not isinstance(written, str) else written
        )

    @model_validator(mode="after")
    def _differ(self) -> Configurations:
        if bool(self.grid) == bool(self.list):
            stop(
                None,
                "either a grid or a list is needed",
                "write {grid: {model: [a, b], temperature: [0, 1]}} or {list: [{model: a}, {model: b}]}",
            )
        if len(self.all) < 2:
            stop(None, "there is only 1 configuration", "choosing needs two at least")
        twice = [name for name, n in Counter(self.names).items() if n > 1]
        if twice:
            stop(None, f"two configurations are {twice[0]!r}", "keep one of them, or let a setting differ")
        return self

    @model_serializer
    def _dump(self) -> list[Settings]:  # type: ignore[valid-type]
        return [dict(each) for each in self.all]


Columns = Mapping[str, Any]
"""What a file says of an instance, by column."""


def read_instances(path: Path, column: str) -> dict[str, Columns]:
    """Read a file of instances.

    Parameters
    ----------
    path : Path
        A .csv, .tsv, .jsonl or .parquet file; any other one has an id in each line.
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
    if not path.is_file():
        stop(None, f"there is no file {path}", "check the path, which starts where the plan is")
    found: dict[str, Columns] = {}
    try:
        for where, row in _read_rows(path, column):
            if row.get(column) is None:
                known = ", ".join(map(str, row))
                remedy = suggest(column, row, f"name the column: {{file: {path.name}, column: ...}}")
                stop(None, f"{where}: there is no {column!r}, but {known}", remedy)
            name = str(row[column])
            if name in found:
                stop(None, f"{where}: the instance {name!r} was there before", "name each once")
            found[name] = row
    except (csv.Error, UnicodeDecodeError) as error:
        stop(None, f"{path}: this is no CSV file, or no text in UTF-8: {error}", "export it again")
    return found


def _read_rows(path: Path, column: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    from cobandit.tables.safe_reading import read_bytes, read_lines  # pandas takes its time

    suffix = path.suffix.lower()
    if suffix == ".parquet":
        from cobandit.tables.storage import read_columns

        frame = read_columns(path, (column,)).astype(object)
        for number, row in enumerate(frame.where(frame.notna(), None).to_dict("records"), 1):
            yield f"{path}, row {number}", row
    elif suffix == ".jsonl":
        for where, line in read_lines(path):
            try:
                row = json.loads(line)
            except ValueError as error:
                stop(None, f"{where}: this is not JSON: {error}", "write one object a line")
            if not isinstance(row, dict):
                stop(None, f"{where}: this is no object", 'write one a line: {"instance": ..., ...}')
            yield where, row
    elif suffix in (".csv", ".tsv"):
        text = io.StringIO(read_bytes(path).decode(), newline="")
        reader = csv.DictReader(text, strict=True, delimiter="\t" if suffix == ".tsv" else ",")
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                stop(None, f"{where}: it has more or fewer values than there are columns", "correct it")
            yield where, row
    else:
        for where, line in read_lines(path):
            yield where, {column: line.decode().strip()}


class Instances(Fields):
    """The instances of a plan: ids, written as their number, a list, or a file that has them.

    A .csv, .tsv, .jsonl or .parquet file has its ids in a column, any other one in a line.

    Examples
    --------
    >>> Instances.model_validate(3).ids, Instances.model_validate(["q1", 7]).ids
    (('0', '1', '2'), ('q1', '7'))
    """

    ids: tuple[str, ...] = Field(description="give their number, a list of ids, or a file of ids")
    file: str | None = None
    column: str = "instance"

    def shuffle(self, seed: int) -> tuple[str, ...]:
        """Put the instances into the order in which every configuration is evaluated.

        It is that of `cobandit.tables.columns.profiling_mask`, so that the pilot's instances, which come
        first, are those that a card with the same seed chooses for profiling in a table that has them all.

        Examples
        --------
        >>> Instances.model_validate(["a", "b", "c", "d"]).shuffle(seed=0)
        ('c', 'a', 'b', 'd')
        """
        ids = sorted(self.ids)
        return tuple(ids[place] for place in np.random.default_rng(seed).permutation(len(ids)))

    @model_validator(mode="before")
    @classmethod
    def _list(cls, written: Any, info: ValidationInfo) -> Any:
        if isinstance(written, int) and not isinstance(written, bool):
            return {"ids": tuple(map(str, range(written)))}
        if isinstance(written, Sequence) and not isinstance(written, str):
            return {"ids": [str(each) if isinstance(each, int) else each for each in written]}
        if isinstance(written, str):
            written = {"file": written}
        if not isinstance(written, Mapping) or not {"file"} <= set(written) <= {"file", "column"}:
            stop(None, "this says no instances", "give their number, a list of ids, or {file: ...}")
        column = str(written.get("column", cls.model_fields["column"].default))
        path = (info.context or {}).get("folder", Path()) / str(written["file"])
        return {"ids": tuple(read_instances(path, column)), "file": str(written["file"]), "column": column}

    @model_validator(mode="after")
    def _differ(self) -> Instances:
        if len(self.ids) < 2:
            stop(None, f"there are {len(self.ids)} instances", "give two at least")
        if not all(each.strip() for each in self.ids):
            stop(None, "an id is blank", "give each instance an id")
        twice = [name for name, n in Counter(self.ids).items() if n > 1]
        if twice:
            stop(None, f"the instance {twice[0]!r} is named more than once", "name each once")
        return self

    @model_serializer
    def _dump(self) -> list[str]:
        return list(self.ids)
