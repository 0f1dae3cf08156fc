"""The importer of tables, tidy or wide, whose columns are named by options.

A tidy table has one row per evaluation. A wide table has one row per instance, and for
each configuration one column per measure (or only one column, its score). A pattern
such as ``{config}_{field}`` gives the names of these columns (``small_correct``,
``small_tokens``, ``large_correct``, ...). Faults name the row and the column of the
input file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobandit.errors import Faults, Place, TableError, raise_fault, raise_if_any
from cobandit.tables.bounded_files import find_files
from cobandit.tables.importers.file_columns import FileColumns
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_costs import charge_free
from cobandit.tables.importers.named_columns import find_where
from cobandit.tables.importers.repeated_evaluations import average_repeats
from cobandit.tables.importers.table_files import PATTERNS, has_named_column, read_file
from cobandit.tables.importers.tidy_costs import add_cost
from cobandit.tables.importers.tidy_options import (
    TidyOptions,
    complete_options,
)
from cobandit.tables.importers.tidy_rows import make_tidy, read_plain_numerals
from cobandit.tables.importers.tidy_scores import (
    leave_out_missing,
    read_words,
    scale_objectives,
)
from cobandit.tables.measured_columns import (
    MISSING,
    ColumnRule,
    check_column,
    read_numbers,
)

_PAID = ColumnRule(
    lambda x: x < 0,
    "the cost {value} is negative",
    "give the cost of the evaluation",
    "negative-cost",
)


@importer("csv", TidyOptions)
def read_tables(
    paths: Sequence[Path], options: TidyOptions, notes: Notes
) -> ImportResult:
    """Read any table (CSV, TSV, JSON, JSON Lines, Parquet), given its columns' meaning.

    Parameters
    ----------
    paths : sequence of Path
        Files with the same columns, or folders of such files. Text may be compressed
        with gzip.
    options : TidyOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file does not parse, options are missing, or a named column is missing or
        has unusable values.
    """
    files = find_files(paths, PATTERNS, "tables")
    places = FileColumns(files)
    options = complete_options(
        options, lambda: read_file(files[0], places, options, Notes())
    )
    parts = _read_parts(files, paths, places, options, notes)
    frame = pd.concat(parts)
    origin = frame.index  # file and row
    frame = frame.reset_index(drop=True)
    for column in options.arm:
        frame[column] = read_plain_numerals(frame[column])

    read_words(frame, options, notes)
    if options.missing != "refuse":
        frame, origin = leave_out_missing(frame, origin, options, notes)

    faults = Faults("the tables")
    cost = add_cost(frame, options, notes)
    unpaid = np.isnan(read_numbers(frame[cost.column])[0])
    with_cost = (
        None if options.wide else find_where(frame, cost.column, unpaid, options.where)
    )
    paid = check_column(
        frame[cost.column], [_PAID], faults, with_cost or MISSING.remedy
    )
    if paid is not None:
        frame[cost.column] = charge_free(
            pd.Series(paid), frame["config"], cost.unit, options.smallest_cost, notes
        )

    objectives = scale_objectives(frame, options, faults)
    raise_if_any(
        fault.locate(_locate(frame, origin, options)) for fault in faults.entries
    )

    named = ", ".join(sorted({path.resolve().name for path in map(Path, parts)}))
    notes.remarks.insert(0, f"took: {len(frame):,} rows of {named}")

    number = frame.groupby(["config", "instance"], sort=False).cumcount() + 1
    separate = frame["instance"] + ", repeat " + number.astype(str)
    # a rescaled score is in a separate column
    scores = [objective.column for objective in (*options.objective, *objectives)]
    measured = {cost.column, *options.text, *scores}
    names = [
        str(name) for name in frame if name not in measured | {"config", "instance"}
    ]
    frame = average_repeats(frame, names, separate, options.repeats, notes)

    return ImportResult(
        frame.reset_index(drop=True),
        cost,
        objectives,
        options.arm,
        f"{named}, with a mapping of columns",
        {},  # the card already describes columns and cost
        _locate(frame, origin[frame.index], options),
        cluster=options.cluster,
    )


def _read_parts(
    files: Sequence[Path],
    named: Sequence[Path],
    places: FileColumns,
    options: TidyOptions,
    notes: Notes,
) -> dict[str, pd.DataFrame]:
    """Read the files; in folders, skip files without any of the named columns.

    Raises
    ------
    TableError
        If there are no rows, or a file cannot be read.
    """
    parts: dict[str, pd.DataFrame] = {}
    for file in files:
        try:
            source = read_file(file, places, options, notes)
        except TableError as error:
            # for example a file of settings next to the results
            if file in named or len(files) == 1 or error.faults[0].code != "no-records":
                raise
            notes.logs.append(str(error))
            continue
        if file in named or has_named_column(source.frame, options):
            parts[str(file)] = make_tidy(source, options, notes)
        else:
            reason = "the file has none of the named columns -> leave it out"
            notes.logs.append(f"{file}: {reason}")

    columns = {str(name) for part in parts.values() for name in part}
    places.check_config(options.config, columns)
    parts = {file: part for file, part in parts.items() if len(part)}
    if not parts:
        that_where_takes = "" if options.where is None else " that --where takes"
        problem = f"there are no rows with a value{that_where_takes}"
        raise_fault(
            ", ".join(map(str, files)),
            problem,
            "give tables with their data",
            "no-rows",
        )
    return parts


def _locate(
    frame: pd.DataFrame, origin: pd.Index[Any], options: TidyOptions
) -> Callable[[int, str | None], Place]:
    """Return a function from a row and column of the frame to a place in a file."""
    configs = frame["config"].tolist()

    def place(row: int, column: str | None) -> Place:
        file, number = origin[row - 1]
        if column == "instance":
            column = options.instance
        elif options.wide is not None and column not in (None, options.cluster):
            # the column's name in the file
            column = options.wide.replace("{config}", configs[row - 1]).replace(
                "{field}", column
            )
        elif column == "config":
            column = options.config[0]
        return Place(file, number + 1, column)

    return place
