"""Any table of evaluations, tidy or wide, with a mapping that says which column is what.

Tidy: one row per evaluation.  Wide: one row per instance, and for each configuration
one column per measure, named by a pattern such as ``{config}_{field}``
(``small_correct``, ``small_tokens``, ``large_correct``, ...), or just one, its score.
Faults name the row and the column of the file that was read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobandit._text import suggest
from cobandit.errors import Faults, Place, TableError, raise_fault, raise_if_any
from cobandit.tables.bounded_files import MAX_FILE, check_size, find_files
from cobandit.tables.card import RESERVED, Cost
from cobandit.tables.conditions import evaluate_condition
from cobandit.tables.frames import charge
from cobandit.tables.importers.file_columns import FileColumns, SourceFile
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.importer_registry import ImportResult, importer
from cobandit.tables.importers.log_costs import charge_free
from cobandit.tables.importers.named_columns import find_where, read_names, take_columns
from cobandit.tables.importers.repeated_evaluations import average_repeats
from cobandit.tables.importers.tidy_options import (
    TidyOptions,
    complete_options,
    read_cost,
)
from cobandit.tables.importers.tidy_scores import (
    leave_out_missing,
    read_words,
    scale_objectives,
)
from cobandit.tables.importers.wide_columns import melt
from cobandit.tables.measured_columns import (
    MISSING,
    ColumnRule,
    check_column,
    read_numbers,
)
from cobandit.tables.record_files import read_columns
from cobandit.tables.text_layout import SEPARATORS, TextLayout, recognise_layout
from cobandit.tables.token_counts import make_token_counter
from cobandit.tables.transforms import TRANSFORMS
from cobandit.tables.written_numbers import read_written

_TEXT = ("*.csv", "*.tsv", "*.jsonl", "*.json")
PATTERNS = (*_TEXT, *(f"{pattern}.gz" for pattern in _TEXT), "*.parquet")

#: Letters of the longest value of a column that says what instances have in common.
LONGEST_SHARED = 200

_PAID = ColumnRule(
    lambda x: x < 0,
    "the cost {value} is below zero",
    "give what the evaluation cost",
    "negative-cost",
)


@importer("csv", TidyOptions)
def read_tables(
    paths: Sequence[Path], options: TidyOptions, notes: Notes
) -> ImportResult:
    """Any tidy or wide table (CSV, TSV, JSON, JSON Lines, Parquet) with a mapping of its columns.

    Parameters
    ----------
    paths : sequence of Path
        Files of the same columns, or folders of such files; text may be compressed by
        gzip.
    options : TidyOptions
    notes : Notes

    Returns
    -------
    ImportResult

    Raises
    ------
    TableError
        If a file does not parse, the mapping is incomplete, or a column it names is
        missing or does not hold what it should.
    """
    files = find_files(paths, PATTERNS, "tables")
    places = FileColumns(files)
    options = complete_options(
        options, lambda: _read_file(files[0], places, options, Notes())
    )
    parts = _read_parts(files, paths, places, options, notes)
    frame = pd.concat(parts)
    origin = frame.index  # file and row
    frame = frame.reset_index(drop=True)
    for column in options.arm:
        frame[column] = _numbers_if_plain(frame[column])

    read_words(frame, options, notes)
    if options.missing != "refuse":
        frame, origin = leave_out_missing(frame, origin, options, notes)

    faults = Faults("the tables")
    cost = _add_cost(frame, options, notes)
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
    # a score that was rescaled stands in a column of its own
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
        {},  # what columns and cost mean stands on the card
        _locate(frame, origin[frame.index], options),
        cluster=options.cluster,
    )


def _read_parts(
    files: Sequence[Path],
    given: Sequence[Path],
    places: FileColumns,
    options: TidyOptions,
    notes: Notes,
) -> dict[str, pd.DataFrame]:
    """Read the files; those of a folder that hold no such records are left out, with the reason.

    Raises
    ------
    TableError
        If there are no rows, or what a file raises.
    """
    parts: dict[str, pd.DataFrame] = {}
    for file in files:
        try:
            source = _read_file(file, places, options, notes)
        except TableError as error:
            # such as the settings of a run, which stand beside its results
            if file in given or len(files) == 1 or error.faults[0].code != "no-records":
                raise
            notes.logs.append(str(error))
            continue
        if file in given or _has_named_column(source.frame, options):
            parts[str(file)] = _make_tidy(source, options, notes)
        else:
            reason = (
                "it has none of the columns that are named -> name others, or leave"
                " it out"
            )
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
    """Make the function that says where a row and column of the frame come from."""
    configs = frame["config"].tolist()

    def place(row: int, column: str | None) -> Place:
        file, number = origin[row - 1]
        if column == "instance":
            column = options.instance
        elif options.wide is not None and column not in (None, options.cluster):
            # the file's name of the column
            column = options.wide.replace("{config}", configs[row - 1]).replace(
                "{field}", column
            )
        elif column == "config":
            column = options.config[0]
        return Place(file, number + 1, column)

    return place


def _read_file(
    file: Path, places: FileColumns, options: TidyOptions, notes: Notes
) -> SourceFile:
    """Read a file, with the columns of where its rows stand that are wanted."""
    check_size(file, MAX_FILE)
    layout = _recognise_layout(file, options, notes)
    remarks: list[str] = []
    frame = read_columns(
        file,
        [*options.config, str(options.instance)],
        layout=layout,
        records=options.records,
        nested=True,
        remarks=remarks,
    )
    notes.remarks += [remark for remark in remarks if remark not in notes.remarks]
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    frame = places.add(
        frame, file, [*options.config, str(options.instance), *options.arm]
    )
    return SourceFile(
        file, frame, layout.decimal if layout else ".", places.names(file)
    )


def _has_named_column(frame: pd.DataFrame, options: TidyOptions) -> bool:
    """Whether a file of a folder has one of the named columns."""
    if options.wide is not None:
        return options.instance in frame
    measured = {
        *options.cost,
        *options.text,
        *(objective.column for objective in options.objective),
    }
    return not measured.isdisjoint(frame.columns)


def _make_tidy(source: SourceFile, options: TidyOptions, notes: Notes) -> pd.DataFrame:
    """Return ``config``, ``instance``, measured and descriptive columns, indexed by row of the file."""
    file, frame, decimal, _ = source
    if options.where is not None:
        is_taken = evaluate_condition(
            frame, options.where, f"--where {options.where!r}, {file}"
        )
        notes.left_out["rows that --where leaves out"] += int((~is_taken).sum())
        frame = frame[is_taken]
    scores = [objective.column for objective in options.objective]
    instance = read_names(frame, str(options.instance), file, options.where, scores)
    if options.wide is not None:
        long = melt(
            frame.drop(columns=str(options.instance)), instance, options, file, notes
        )
        return _without_units(long, [*scores, *options.cost], decimal, notes)

    names = [
        read_names(frame, column, file, options.where, scores)
        for column in options.config
    ]
    taken = [*scores, *options.text, *options.arm]
    taken += [] if options.cluster is None else [options.cluster]
    for name, colon, transform in (
        column.rpartition(":") for column in taken if column not in frame
    ):
        if colon and name in frame:
            raise_fault(
                file,
                f"there is no transform {transform!r}",
                suggest(transform, TRANSFORMS),
                "unknown-transform",
            )
    cost = read_cost(options.cost, frame.columns)
    paid = [cost] if isinstance(cost, str) else []
    tidy = take_columns(
        frame,
        {"config": list(map(" ".join, zip(*names, strict=True))), "instance": instance},
        {column: column for column in [*taken, *paid]},
        file,
    )
    tidy = _without_units(tidy, [*scores, *paid], decimal, notes)
    others = frame.drop(
        columns=[*options.config, str(options.instance), *tidy.columns], errors="ignore"
    )
    _note_differing(others, tidy, notes)
    # what instances have in common may be why their scores are correlated, which
    # `doctor` looks for
    return tidy.join(
        others[[name for name in others if _is_shared(others[name], tidy["instance"])]]
    )


def _without_units(
    frame: pd.DataFrame, columns: Sequence[str], decimal: str, notes: Notes
) -> pd.DataFrame:
    """Read measured columns of numbers with a unit or marks between thousands, and remark it."""
    for column in columns:
        written = read_written(frame[column], decimal) if column in frame else None
        if written is not None:
            frame = frame.assign(**{column: written.numbers})
            unit = f" without {written.unit!r}" if written.unit else ""
            remark = f"read {column!r} as numbers{unit}"
            notes.remarks += [] if remark in notes.remarks else [remark]
    return frame


def _is_shared(column: pd.Series, instance: pd.Series) -> bool:
    """Whether a column says what instances have in common: short, and the same in all rows of an instance."""
    if (
        column.name in RESERVED
        or pd.api.types.is_float_dtype(column)
        or column.isna().any()
    ):
        return False
    text = column.astype(str)
    per_instance = text.groupby(instance).nunique()
    if (per_instance != 1).any() or text.str.len().max() > LONGEST_SHARED:
        return False
    return 1 < text.nunique() < len(per_instance)


def _numbers_if_plain(column: pd.Series) -> pd.Series:
    """Return numerals as numbers, so that conditions can compare them, unless one is a code such as 007."""
    numbers = pd.Series(read_numbers(column)[0], column.index)
    is_present = column.notna()
    spelled = numbers[is_present].map(lambda number: f"{number:.15g}")
    plain = column[is_present].astype(str).str.removesuffix(".0") == spelled
    return numbers if plain.all() and column.dtype == object else column


def _recognise_layout(
    file: Path, options: TidyOptions, notes: Notes
) -> TextLayout | None:
    """Recognise the layout of a text file, and remark the assumptions."""
    if not any(suffix in SEPARATORS for suffix in map(str.lower, file.suffixes)):
        return None

    check_size(file)
    try:
        layout = recognise_layout(
            file, options.separator, options.decimal, options.encoding
        )
    except (OSError, EOFError, zlib.error):
        return None  # reading says what is wrong with the file
    except LookupError:
        raise_fault(
            "--encoding",
            f"{options.encoding!r} is not known",
            "give one such as utf-8 or cp1252",
            "unknown-encoding",
        )

    usual = TextLayout(
        SEPARATORS[next(s for s in map(str.lower, file.suffixes) if s in SEPARATORS)]
    )
    remark = f"read with {layout} (--separator, --decimal, --encoding)"
    if layout != usual and remark not in notes.remarks:
        notes.remarks.append(remark)
    return layout


def _note_differing(others: pd.DataFrame, tidy: pd.DataFrame, notes: Notes) -> None:
    """Remark which columns that nobody asked for differ between repeats of an evaluation."""
    pair = tidy.groupby(["config", "instance"], sort=False).ngroup()
    pair = pair[pair.duplicated(keep=False)]
    text = others.loc[pair.index].astype(str)
    differ = (text != text.groupby(pair).transform("first")).any()
    remark = (
        f"note: repeats differ in {', '.join(differ.index[differ])}: what is a setting"
        " belongs to --config"
    )
    if differ.any() and remark not in notes.remarks:
        notes.remarks.append(remark)


def _add_cost(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> Cost:
    """Put the cost into a column of the frame, unless one holds it."""
    cost = read_cost(options.cost, frame.columns)
    name, unit = "cost", options.unit or "evaluations"
    if isinstance(cost, str):
        return Cost(column=cost, unit=unit)

    if options.text:
        tokens = make_token_counter(options.tokenizer)
        name, unit = "tokens", options.unit or tokens.unit
        texts = frame[list(options.text)].astype(object)
        texts = texts.where(texts.notna(), "")
        costs = (
            texts.map(lambda text: tokens.count(str(text))).sum(axis=1).astype(float)
        )
    else:
        costs = charge(frame["config"], cost, "--cost")
        if not isinstance(cost, dict):
            alike = "methods that weigh costs treat all configurations alike"
            notes.remarks.append(
                f"cost: each evaluation costs {cost:.15g} ({unit}): {alike}"
            )

    while name in frame:
        name += "_"
    frame[name] = costs
    for column in {*options.text} - {
        *options.arm,
        *(each.column for each in options.objective),
    }:
        del frame[column]

    return Cost(column=name, unit=unit)
