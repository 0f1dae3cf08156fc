"""Conversion of the rows of a file, tidy or wide, to a tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.card import RESERVED
from cobandit.tables.conditions import evaluate_condition
from cobandit.tables.importers.file_columns import SourceFile
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.named_columns import read_names, take_columns
from cobandit.tables.importers.tidy_options import TidyOptions, read_cost
from cobandit.tables.importers.wide_columns import melt
from cobandit.tables.measured_columns import read_numbers
from cobandit.tables.transforms import TRANSFORMS
from cobandit.tables.written_numbers import read_written

#: Longest value, in characters, of a column that may group instances.
LONGEST_SHARED = 200


def make_tidy(source: SourceFile, options: TidyOptions, notes: Notes) -> pd.DataFrame:
    """Return a tidy table, indexed by the rows of the file.

    Its columns are ``config``, ``instance``, the measured columns and the descriptive
    columns.
    """
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
    wanted = [*scores, *options.text, *options.arm]
    wanted += [] if options.cluster is None else [options.cluster]
    for name, colon, transform in (
        column.rpartition(":") for column in wanted if column not in frame
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
        {column: column for column in [*wanted, *paid]},
        file,
    )
    tidy = _without_units(tidy, [*scores, *paid], decimal, notes)
    others = frame.drop(
        columns=[*options.config, str(options.instance), *tidy.columns], errors="ignore"
    )
    _note_differing(others, tidy, notes)
    # keep columns that may group instances, because `doctor` checks scores for
    # correlation within groups
    return tidy.join(
        others[[name for name in others if _is_shared(others[name], tidy["instance"])]]
    )


def _without_units(
    frame: pd.DataFrame, columns: Sequence[str], decimal: str, notes: Notes
) -> pd.DataFrame:
    """Convert numbers with a unit or thousands separators to plain numbers."""
    for column in columns:
        written = read_written(frame[column], decimal) if column in frame else None
        if written is not None:
            frame = frame.assign(**{column: written.numbers})
            unit = f" without {written.unit!r}" if written.unit else ""
            remark = f"read {column!r} as numbers{unit}"
            notes.remarks += [] if remark in notes.remarks else [remark]
    return frame


def _is_shared(column: pd.Series, instance: pd.Series) -> bool:
    """Return whether a column groups instances: one short value per instance."""
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


def read_plain_numerals(column: pd.Series) -> pd.Series:
    """Convert a column of numerals to numbers, unless one is a code such as 007."""
    numbers = pd.Series(read_numbers(column)[0], column.index)
    is_present = column.notna()
    spelled = numbers[is_present].map(lambda number: f"{number:.15g}")
    plain = column[is_present].astype(str).str.removesuffix(".0") == spelled
    return numbers if plain.all() and column.dtype == object else column


def _note_differing(others: pd.DataFrame, tidy: pd.DataFrame, notes: Notes) -> None:
    """Note unused columns with different values in repeats of an evaluation."""
    pair = tidy.groupby(["config", "instance"], sort=False).ngroup()
    pair = pair[pair.duplicated(keep=False)]
    text = others.loc[pair.index].astype(str)
    differ = (text != text.groupby(pair).transform("first")).any()
    remark = (
        f"note: repeats differ in {', '.join(differ.index[differ])}; add a column"
        " that is a setting to --config"
    )
    if differ.any() and remark not in notes.remarks:
        notes.remarks.append(remark)
