"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row an evaluation.  Wide: one row an instance, and for each configuration a column a measure, named
by a pattern such as ``{config}_{field}`` (``small_correct``, ``small_tokens``, ``large_correct``, ...).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
from pydantic import Field, ValidationError, field_validator

from cobandit.faults import nearest, stop
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.core import Harvest, Notes, Options, importer
from cobandit.tables.importers.files import MAX_FILE, find, first_fault
from cobandit.tables.plain_yaml import load_yaml

KINDS = {"*.csv": ",", "*.tsv": "\t", "*.jsonl": None, "*.parquet": None}
"""Files that are read, and what separates their columns."""


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
        description="NAME=COLUMN or NAME=COLUMN:TRANSFORM (none, inverse-percentile, negate-minmax); repeat.",
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
    if colon and transform in ("none", "inverse-percentile", "negate-minmax"):
        return {"name": name, "column": column, "transform": transform}
    return {"name": name, "column": rest}


@importer("csv", TidyOptions)
def read(paths: Sequence[Path], options: TidyOptions, notes: Notes) -> Harvest:
    """Any tidy or wide table (CSV, TSV, JSON Lines, Parquet) with a mapping of its columns.

    Parameters
    ----------
    paths : sequence of Path
        Files of the same columns, or folders of such files.
    options : TidyOptions
    notes : Notes

    Returns
    -------
    Harvest

    Raises
    ------
    TableError
        If a file does not parse, the mapping is incomplete, or a column it names is missing.
    """
    options = _with_mapping(options)
    needed: dict[str, object] = {
        "instance": options.instance,
        "cost": options.cost,
        "unit": options.unit,
        "objective": options.objective,
    }
    if options.wide is None:
        needed["config"] = options.config
    missing = [f"--{name}" for name, given in needed.items() if not given]
    if missing:
        stop(
            "the mapping", f"it does not say {', '.join(missing)}", "give them, or a YAML file with --mapping"
        )
    assert options.instance and options.cost and options.unit
    fields: list[str] = list(
        dict.fromkeys([options.cost, *(objective.column for objective in options.objective)])
    )
    frames, files = [], find(paths, list(KINDS), "tables")
    for file in files:
        frame = _table(file, {options.instance, *options.config})
        if options.wide is None:
            frame = _tidy(frame, fields, options, file)
        else:
            frame = _melted(frame, fields, options, file, notes)
        frames.append(frame)
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
    return Harvest(
        frame, Cost(column=options.cost, unit=options.unit), options.objective, options.arm, source, place
    )


def _with_mapping(options: TidyOptions) -> TidyOptions:
    """Take what the command line leaves open from the YAML file."""
    if options.mapping is None:
        return options
    path = options.mapping
    given = load_yaml(path, "mapping")
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        stop(
            path,
            "the mapping is not a list of 'option: value'",
            "write 'config: ...', 'instance: ...' and so on",
        )
    unknown = sorted(set(given) - set(TidyOptions.model_fields) | (set(given) & {"mapping"}))
    if unknown:
        known = [name for name in TidyOptions.model_fields if name != "mapping"]
        stop(
            path, f"unknown key {unknown[0]!r}", f"{nearest(unknown[0], known)}known keys: {', '.join(known)}"
        )
    try:
        return TidyOptions.model_validate(given | options.model_dump(exclude_unset=True))
    except ValidationError as error:
        stop(path, first_fault(error), "correct the mapping")


def _table(file: Path, names: set[str]) -> pd.DataFrame:
    """Read one file whole; columns of names stay text, and dates are not guessed."""
    if file.stat().st_size > MAX_FILE:
        stop(file, f"the file has more than the {MAX_FILE:,} bytes that are read", "split it")
    if not file.stat().st_size:
        stop(file, "the file is empty", "export it again, with its data")
    try:
        suffix = file.suffix.lower()
        separator = KINDS.get(f"*{suffix}")
        if separator:
            table = _separated(file, separator, names)
        else:
            table = pa.parquet.read_table(file) if suffix == ".parquet" else pa.json.read_json(file)
        table.validate(full=True)  # neither of the last two readers looks whether text is UTF-8
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        problem = f"the file does not parse, or is cut short: {' '.join(str(error).split())[:200]}"
        stop(file, problem, "correct it or export it again")
    if frame.empty:
        stop(file, "the table has no rows", "export it again, with its data")
    return frame


def _separated(file: Path, separator: str, names: set[str]) -> pa.Table:
    text = dict.fromkeys(names, pa.string())
    parsing = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    while True:
        conversion = pa.csv.ConvertOptions(column_types=text, null_values=[""], strings_can_be_null=False)
        table = pa.csv.read_csv(file, pa.csv.ReadOptions(use_threads=False), parsing, conversion)
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        if not dates or set(dates) <= set(text):
            return table
        text.update(dict.fromkeys(dates, pa.string()))


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
    for column in described:
        if column in ("config", "instance"):
            stop(
                file,
                f"the column {column!r} is measured or descriptive",
                "rename it: the table needs that name",
            )
    named = frame[list(options.config)]
    for column in options.config:
        blank = named[column].isna() | (named[column].astype(str).str.strip() == "")
        if blank.any():
            problem = (
                f"column {column!r} is blank in {int(blank.sum())} rows, first in row {blank.argmax() + 1}"
            )
            stop(file, problem, "it names the configuration: fill it in, or leave those rows out")
    config = [" ".join(map(str, parts)) for parts in named.to_numpy(dtype=object)]
    measured = {column: frame[column] for column in described}
    return pd.DataFrame({"config": config, "instance": frame[options.instance]} | measured)


def _melted(
    frame: pd.DataFrame, fields: list[str], options: TidyOptions, file: Path, notes: Notes
) -> pd.DataFrame:
    """Turn the columns of each configuration into rows; a configuration has either every field or a fault."""
    if options.config or options.arm:
        stop(
            "the mapping",
            "a wide file names its configurations in its columns",
            "leave out --config and --arm",
        )
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
        part = pd.DataFrame(
            {"config": config, "instance": frame[options.instance]}
            | {field: frame[column] for field, column in columns.items()}
        )
        holes = part[fields].isna().all(axis=1)
        if holes.any():
            notes.left_out["empty cells of a wide file: the configuration was not run there"] += int(
                holes.sum()
            )
        parts.append(part[~holes])
    return pd.concat(parts)
