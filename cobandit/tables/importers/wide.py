"""A wide table: the columns of each configuration become rows."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from cobandit.faults import stop
from cobandit.tables.importers.mapping import TidyOptions, cost_of
from cobandit.tables.importers.notes import Notes
from cobandit.tables.numeric import as_numbers


def melted(
    frame: pd.DataFrame, instance: np.ndarray, options: TidyOptions, file: Path, notes: Notes
) -> tuple[pd.DataFrame, dict[tuple[str, str] | str, str]]:
    """Turn the columns of each configuration into rows; a configuration has either every field or a fault.

    Parameters
    ----------
    frame : DataFrame, N rows
        The columns of the file besides that of the instances.
    instance : array of str, shape (N,)
    options : TidyOptions
        With a pattern.
    file : Path
    notes : Notes
        Takes the number of cells that are empty, and columns of text that are no configurations.

    Returns
    -------
    frame : DataFrame
        ``config``, ``instance`` and a column for each field; the index is that of the given frame.
    columns : dict
        The file's column of each (configuration, field).

    Raises
    ------
    TableError
        If no column fits the pattern, or a configuration lacks one.
    """
    measured = list(dict.fromkeys(objective.column for objective in options.objective))
    if options.fields:
        found = _by_field(frame, options, measured, file)
    else:
        found = _by_name(frame, options, file, notes)
    if not found:
        stop(file, f"no column fits the pattern {options.wide!r}", "correct --wide")
    numbers = [name for name in next(iter(found.values())) if name not in options.text]
    known = list(map(str, frame.columns))
    parts = []
    for config, columns in sorted(found.items()):
        for column in columns.values():
            if known.count(column) > 1:
                stop(file, f"the column {column!r} stands in it more than once", "keep one")
        cells = {field: frame[column] for field, column in columns.items()}
        parts.append(pd.DataFrame({"config": config, "instance": instance} | cells, index=frame.index))
    long = pd.concat(parts).dropna(how="all", subset=numbers)
    holes = len(parts) * len(frame) - len(long)
    if holes:
        notes.left_out["empty cells of a wide file: the configuration was not run there"] += holes
    if long.empty:
        stop(file, "every cell of the configurations is empty", "export it again, with its data")
    places = {(config, field): name for config, columns in found.items() for field, name in columns.items()}
    return long, dict(places)


def _by_field(
    frame: pd.DataFrame, options: TidyOptions, measured: list[str], file: Path
) -> dict[str, dict[str, str]]:
    """Columns by configuration and field, of a pattern with both."""
    names = list(map(str, frame.columns))
    fits = {
        field: {match[1]: name for name in names if (match := re.fullmatch(_pattern(options, field), name))}
        for field in dict.fromkeys([*measured, *options.text, *options.cost])
    }
    cost = cost_of(options.cost, {field for field in options.cost if fits[field]})
    fields = [*measured, *options.text, *([cost] if isinstance(cost, str) else [])]
    fields = list(dict.fromkeys(fields))
    found: dict[str, dict[str, str]] = {}
    for config in sorted({config for field in fields for config in fits[field]}):
        for field in fields:
            if config not in fits[field]:
                name = str(options.wide).replace("{config}", config).replace("{field}", field)
                stop(file, f"configuration {config!r} has no column {name!r}", "add it, or correct --wide")
            found.setdefault(config, {})[field] = fits[field][config]
    return found


def _by_name(
    frame: pd.DataFrame, options: TidyOptions, file: Path, notes: Notes
) -> dict[str, dict[str, str]]:
    """Columns by configuration where each has one, of numbers; a column of nothing but text is none."""
    found, text = {}, []
    for position, name in enumerate(map(str, frame.columns)):
        match = re.fullmatch(_pattern(options, ""), name)
        if match is None:
            continue
        column = frame.iloc[:, position]
        if column.notna().any() and np.isnan(as_numbers(column)[0]).all():
            text.append(name)
        else:
            found[match[1]] = {options.objective[0].column: name}
    if text:
        listed = ", ".join(text)
        notes.remarks.append(f"columns of text in {file.name}, which are no configurations: {listed}")
    return found


def _pattern(options: TidyOptions, field: str) -> str:
    before, after = str(options.wide).replace("{field}", field).split("{config}")
    return f"{re.escape(before)}(.+){re.escape(after)}"
