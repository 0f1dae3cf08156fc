"""Scores of a table with columns named by options: words, ranges, missing values."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from cobandit.errors import Faults
from cobandit.tables.card import Objective
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.scores import (
    ScoreReader,
    read_by_objective,
    read_number,
    read_range,
    settle_missing,
)
from cobandit.tables.importers.tidy_options import TidyOptions
from cobandit.tables.measured_columns import ColumnRule, check_column, read_numbers
from cobandit.tables.transforms import TRANSFORMS

#: Largest number of different words for which a remedy lists --word options.
FEW_WORDS = 6


def _missing_remedy(objective: Objective) -> str:
    """Return the remedy for missing values of an objective.

    Only objectives without a transform can count as 0.
    """
    counted = ", or count them as 0 with --missing zero" * (
        objective.transform == "none"
    )
    return f"leave such rows out with --missing leave-out{counted}"


def _foreign_remedy(column: pd.Series) -> str:
    """Return the remedy for scores that are not numbers.

    If there are few different words, the remedy is a --word option for each word.
    """
    text = pd.Series(
        [cell.strip() for cell in column if isinstance(cell, str)], dtype=object
    )
    words = text[text != ""].value_counts()
    numbers, _ = read_numbers(words.index.to_series())
    if not 0 < len(words) <= FEW_WORDS or np.isfinite(numbers).any():
        return "store the column as numbers"
    return offer_words(words.index)


def offer_words(words: Iterable[str]) -> str:
    """Return a remedy with a --word option for each word."""
    return "give each word its number: " + " ".join(
        f"--word {shlex.quote(word)}=NUMBER" for word in words
    )


def read_words(frame: pd.DataFrame, options: TidyOptions, notes: Notes) -> None:
    """Replace words by their numbers, and values that mark a missing score by NaN."""
    names = [objective.name for objective in options.objective]

    no_scores = read_by_objective(options.no_score, names, "--no-score")
    reader = ScoreReader(options.word)
    for objective in options.objective:
        column = frame[objective.column]
        if options.word and not is_numeric_dtype(column):
            column = column.map(
                lambda value, name=objective.name: reader.read(value, name),
                na_action="ignore",
            )
        numbers, _ = read_numbers(column)
        for text in no_scores[objective.name]:
            column = column.mask(numbers == read_number(text, "--no-score"))
        frame[objective.column] = column

    notes.logs += reader.unknown_words()


def leave_out_missing(
    frame: pd.DataFrame, origin: pd.Index[Any], options: TidyOptions, notes: Notes
) -> tuple[pd.DataFrame, pd.Index[Any]]:
    """Leave out rows without a score, or count them as 0, depending on the options."""
    columns = [objective.column for objective in options.objective]
    missing = np.column_stack([read_numbers(frame[column])[0] for column in columns])

    # text that is not a number is reported later, with its place
    missing[np.isnan(missing) & frame[columns].notna().to_numpy()] = 0.0
    _, has_scores = settle_missing(missing, frame["config"], options, notes)
    if options.missing == "zero":
        for objective in options.objective:
            worst = (
                _ranges(options)[objective.name][0]
                if objective.transform == "none"
                else np.nan
            )
            frame[objective.column] = frame[objective.column].fillna(worst)

    return frame[has_scores].reset_index(drop=True), origin[has_scores]


def scale_objectives(
    frame: pd.DataFrame, options: TidyOptions, faults: Faults
) -> tuple[Objective, ...]:
    """Check the columns of all objectives, and scale scores to [0, 1]."""
    ranges = _ranges(options)
    return tuple(
        _scale(frame, objective, ranges[objective.name], faults)
        for objective in options.objective
    )


def _ranges(options: TidyOptions) -> dict[str, tuple[float, float]]:
    """Return the range of each objective's scores."""
    names = [objective.name for objective in options.objective]
    limits = read_by_objective(options.range, names, "--range")
    return {
        name: read_range(limits[name], (0.0, options.scale), name) for name in names
    }


def _scale(
    frame: pd.DataFrame,
    objective: Objective,
    limits: tuple[float, float],
    faults: Faults,
) -> Objective:
    """Check an objective's column, and add a copy scaled to [0, 1]."""
    column = objective.column
    rule = TRANSFORMS[objective.transform].rule
    low, high = (0.0, 1.0) if objective.transform != "none" else limits
    if objective.transform == "none":
        numbers = read_numbers(frame[column])[0]
        finite = numbers[np.isfinite(numbers)]
        extent = (
            f"values are from {finite.min():.15g} to {finite.max():.15g}: "
            if len(finite)
            else ""
        )
        rule = ColumnRule(
            lambda x: (x < low) | (x > high),
            f"the objective {{value}} is outside {low:.15g} to {high:.15g}",
            f"{extent}give the range with --range {objective.name}=LOW:HIGH, and"
            " values that mark a missing score with --no-score, or give a transform:"
            f" {objective.name}={column}:TRANSFORM",
            "out-of-range",
        )

    foreign = _foreign_remedy(frame[column])
    values = check_column(
        frame[column],
        [rule] if rule else [],
        faults,
        _missing_remedy(objective),
        foreign,
    )
    if values is None:
        return objective

    if (low, high) != (0.0, 1.0):
        column += f" / {high:.15g}" if low == 0 else f" from {low:.15g} to {high:.15g}"
    frame[column] = (values - low) / (high - low)
    return objective.model_copy(update={"column": column})
