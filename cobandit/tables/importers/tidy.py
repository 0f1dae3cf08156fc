"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row per evaluation.  Wide: one row per instance, and for each configuration one column per measure,
named by a pattern such as ``{config}_{field}`` (``small_correct``, ``small_tokens``, ``large_correct``, ...).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError, field_validator

from cobandit.faults import nearest, stop
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.core import ImportResult, Notes, Options, importer
from cobandit.tables.importers.files import MAX_FILE, find, first_fault
from cobandit.tables.plain_yaml import load_yaml
from cobandit.tables.readers import read_columns
from cobandit.tables.transforms import TRANSFORMS

PATTERNS = ("*.csv", "*.tsv", "*.jsonl", "*.parquet")


class TidyOptions(Options):
    """Options of ``cobandit import csv``; a YAML mapping has the same keys."""

    mapping: Path | None = Field(
        None, description="A YAML file with the options below; the command line wins."
    )
    config: tuple[str, ...] = Field(
        (), description="The column that names the configuration; repeat to join several."
    )
    instance: str | None = Field(None, description="The column that names the instance.")
    cost: str | None = Field(None, description="The column (in a wide file, the field) of the cost.")
    unit: str | None = Field(None, description="The unit of the cost, such as tokens or USD.")
    objective: tuple[Objective, ...] = Field(
        (),
        description=f"NAME=COLUMN or NAME=COLUMN:TRANSFORM ({', '.join(TRANSFORMS)}); repeat.",
    )
    arm: tuple[str, ...] = Field(
        (), description="A column that describes the configuration; repeat for more."
    )
    wide: str | None = Field(
        None, description="The file is wide, with columns named by this pattern, such as {config}_{field}."
    )

    @field_validator("config", "arm", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("objective", mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        """Take ``NAME=COLUMN:TRANSFORM`` for an objective, as well as what a card has; one or several."""
        value = [value] if isinstance(value, (str, dict)) else value
        return [_objective(item) for item in value] if isinstance(value, (list, tuple)) else value

    @field_validator("wide")
    @classmethod
    def _pattern(cls, wide: str | None) -> str | None:
        if wide is not None and (wide.count("{config}") != 1 or wide.count("{field}") != 1):
            raise ValueError("the pattern needs {config} and {field}, each once")
        return wide


def _objective(item: Any) -> Any:
    if not isinstance(item, str):
        return item
    name, equals, rest = item.partition("=")
    column, colon, transform = rest.rpartition(":")
    if not equals:
        raise ValueError(f"expected NAME=COLUMN or NAME=COLUMN:TRANSFORM, got {item!r}")
    if colon and transform in TRANSFORMS:
        return {"name": name, "column": column, "transform": transform}
    return {"name": name, "column": rest}


@importer("csv", TidyOptions)
def read_tables(paths: Sequence[Path], options: TidyOptions, notes: Notes) -> ImportResult:
    """Any tidy or wide table (CSV, TSV, JSON Lines, Parquet) with a mapping of its columns.

    Parameters
    ----------
    paths : sequence of Path
        Files of the same columns, or folders of such files.
    options : TidyOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file does not parse, the mapping is incomplete, or a column it names is missing.
    """
    options = _with_mapping(options)
    needed = ["instance", "cost", "unit", "objective", *(["config"] if options.wide is None else [])]
    missing = [f"--{name}" for name in needed if not getattr(options, name)]
    if missing:
        problem = f"it does not say {', '.join(missing)}"
        stop("the mapping", problem, "give them, or a YAML file with --mapping")
    assert options.instance and options.cost and options.unit
    fields = list(dict.fromkeys([options.cost, *(objective.column for objective in options.objective)]))
    files = find(paths, PATTERNS, "tables")
    frames = []
    for file in files:
        frame = _table(file, [options.instance, *options.config])
        if options.wide is None:
            frames.append(_tidy(frame, fields, options, file))
        else:
            frames.append(_melted(frame, fields, options, file, notes))
    rows, ends = np.concatenate([part.index for part in frames]), np.cumsum([len(part) for part in frames])
    frame = pd.concat(frames, ignore_index=True)

    def place(row: int) -> tuple[str, int]:
        return str(files[int(np.searchsorted(ends, row))]), int(rows[row - 1]) + 1

    notes.remarks += [
        f"took: {len(frame)} rows",
        f"cost: column {options.cost}, in {options.unit}",
        "objectives: " + ", ".join(f"{o.name} from {o.column} ({o.transform})" for o in options.objective),
    ]
    source = f"{', '.join(sorted({path.name for path in paths}))}, with a mapping of its columns"
    cost = Cost(column=options.cost, unit=options.unit)
    return ImportResult(frame, cost, options.objective, options.arm, source, place)


def _with_mapping(options: TidyOptions) -> TidyOptions:
    """Take what the command line leaves open from the YAML file."""
    if options.mapping is None:
        return options
    path = options.mapping
    given = load_yaml(path, "mapping")
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        problem = "the mapping is not a list of 'option: value'"
        stop(path, problem, "write 'config: ...', 'instance: ...' and so on")
    known = [name for name in TidyOptions.model_fields if name != "mapping"]
    unknown = sorted(set(given) - set(known))
    if unknown:
        remedy = f"{nearest(unknown[0], known)}known keys: {', '.join(known)}"
        stop(path, f"unknown key {unknown[0]!r}", remedy)
    try:
        return TidyOptions.model_validate(given | options.model_dump(exclude_unset=True))
    except ValidationError as error:
        stop(path, first_fault(error), "correct the mapping")


def _table(file: Path, names: Sequence[str]) -> pd.DataFrame:
    """Read one file whole; columns of names stay text."""
    size = file.stat().st_size
    if size > MAX_FILE:
        stop(file, f"the file has more than the {MAX_FILE:,} bytes that are read", "split it")
    if not size:
        stop(file, "the file is empty", "export it again, with its data")
    frame = read_columns(file, names)
    if frame.empty:
        stop(file, "the table has no rows", "export it again, with its data")
    return frame


def _columns(frame: pd.DataFrame, wanted: Sequence[str], file: Path) -> None:
    known = [str(name) for name in frame.columns]
    for name in wanted:
        if known.count(name) > 1:
            stop(file, f"the column {name!r} stands in it more than once", "keep one")
        if name not in known:
            stop(file, f"there is no column {name!r}", f"{nearest(name, known)}there is {', '.join(known)}")


def _tidy(frame: pd.DataFrame, fields: list[str], options: TidyOptions, file: Path) -> pd.DataFrame:
    described = [*fields, *options.arm]
    _columns(frame, [*options.config, str(options.instance), *described], file)
    for column in sorted({"config", "instance"} & set(described)):
        problem = f"the column {column!r} is measured or descriptive"
        stop(file, problem, "rename it: the table needs that name")
    named = frame[list(options.config)].astype(object)
    for column in options.config:
        blank = named[column].isna() | (named[column].astype(str).str.strip() == "")
        if blank.any():
            where = f"in {int(blank.sum())} rows, first in row {blank.argmax() + 1}"
            remedy = "it names the configuration: fill it in, or leave those rows out"
            stop(file, f"column {column!r} is blank {where}", remedy)
    config = [" ".join(map(str, parts)) for parts in named.to_numpy()]
    measured = {column: frame[column] for column in described}
    return pd.DataFrame({"config": config, "instance": frame[options.instance]} | measured)


def _melted(
    frame: pd.DataFrame, fields: list[str], options: TidyOptions, file: Path, notes: Notes
) -> pd.DataFrame:
    """Turn the columns of each configuration into rows; a configuration has either every field or a fault."""
    if options.config or options.arm:
        problem = "a wide file names its configurations in its columns"
        stop("the mapping", problem, "leave out --config and --arm")
    _columns(frame, [str(options.instance)], file)
    found: dict[str, dict[str, str]] = {}
    assert options.wide
    for field in fields:
        before, after = (re.escape(part) for part in options.wide.replace("{field}", field).split("{config}"))
        for column in map(str, frame.columns):
            match = re.fullmatch(f"{before}(.+){after}", column)
            if match and column != options.instance:
                found.setdefault(match[1], {})[field] = column
    if not found:
        stop(file, f"no column fits the pattern {options.wide!r} with {', '.join(fields)}", "correct --wide")
    parts = []
    for config, columns in sorted(found.items()):
        lacking = [field for field in fields if field not in columns]
        if lacking:
            name = options.wide.replace("{config}", config).replace("{field}", lacking[0])
            stop(file, f"configuration {config!r} has no column {name!r}", "add it, or correct --wide")
        _columns(frame, list(columns.values()), file)
        measured = {field: frame[column] for field, column in columns.items()}
        part = pd.DataFrame({"config": config, "instance": frame[options.instance]} | measured)
        parts.append(part.dropna(how="all", subset=fields))
    melted = pd.concat(parts)
    holes = len(parts) * len(frame) - len(melted)
    if holes:
        notes.left_out["empty cells of a wide file: the configuration was not run there"] += holes
    return melted
