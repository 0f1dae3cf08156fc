"""Conversion of wide tables: a row per instance, and columns per configuration."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.named_columns import check_present, take_columns
from cobandit.tables.importers.scores import ScoreReader
from cobandit.tables.importers.tidy_options import SCORE, TidyOptions
from cobandit.tables.importers.tidy_scores import FEW_WORDS, offer_words
from cobandit.tables.measured_columns import read_numbers
from cobandit.tables.written_numbers import read_written


def melt(
    frame: pd.DataFrame,
    instance: np.ndarray,
    options: TidyOptions,
    file: Path,
    notes: Notes,
) -> pd.DataFrame:
    """Return a tidy frame: the columns of each configuration become rows."""
    by_config = _find_columns(list(frame.columns), options)
    named = [name for columns in by_config.values() for name in columns.values()]
    check_present(frame, named, file)
    if "{field}" not in str(options.wide):
        # the pattern {config} also matches columns that are not scores
        score = options.objective[0].column
        for config, columns in list(by_config.items()):
            if len(frame) and not _has_scores(frame[columns[score]], options):
                notes.left_out[
                    f"column without a number: {columns[score]!r} in {file.name}"
                ] += 1
                del by_config[config]
    if not by_config:
        words = _find_shared_words(frame[named])
        others = "the columns of --objective, --text and --cost"
        remedy = words or f"correct --wide, or correct {others}"
        of_scores = " and has scores" if named else ""
        raise_fault(
            file,
            f"no column matches the pattern {options.wide!r}{of_scores}",
            remedy,
            "no-wide-column",
        )

    fields = {objective.column for objective in options.objective}.union(
        options.text, *by_config.values()
    )
    check_present(frame, [options.cluster] if options.cluster else [], file)
    shared = {options.cluster: frame[options.cluster]} if options.cluster else {}
    parts = []
    for config, columns in sorted(by_config.items()):
        missing = sorted(fields - columns.keys())
        if missing:
            problem = f"configuration {config!r} has no column for {missing[0]!r}"
            remedy = "correct --wide, or name the fields with --objective and --cost"
            raise_fault(file, problem, remedy, "missing-column")
        names = {"config": config, "instance": instance, **shared}
        parts.append(take_columns(frame, names, columns, file))
    long = pd.concat(parts).dropna(how="all", subset=sorted(fields - {*options.text}))
    holes = len(parts) * len(frame) - len(long)
    if holes:
        notes.left_out[
            "empty cells of a wide file, where the configuration was not evaluated"
        ] += holes
    return long


def _find_shared_words(frame: pd.DataFrame) -> str | None:
    """Return a remedy with --word options for words that several columns contain.

    Such words are probably scores. None if there are no such words, or too many.
    """
    columns = [
        {str(value).strip() for value in frame[name].dropna()} - {""} for name in frame
    ]
    counts = Counter(word for words in columns for word in words)
    shared = [word for word, number in counts.items() if number > 1]
    if not 0 < len(shared) <= FEW_WORDS:
        return None
    return offer_words(sorted(shared))


def _has_scores(column: pd.Series, options: TidyOptions) -> bool:
    """Return whether a column has a number, or a word that stands for a number."""
    if np.isfinite(read_numbers(column)[0]).any():
        return True
    reader = ScoreReader(options.word)
    has_known_word = options.word and any(
        np.isfinite(reader.read(value, "")) for value in column.dropna()
    )
    return (
        bool(has_known_word)
        or read_written(column, ".") is not None
        or read_written(column, ",") is not None
    )


def _find_columns(
    names: Sequence[str], options: TidyOptions
) -> dict[str, dict[str, str]]:
    """Return the columns that match the pattern, by configuration and field."""
    measured = [objective.column for objective in options.objective]
    field = "|".join(
        re.escape(name) for name in [*measured, *options.text, *options.cost]
    )
    pattern = re.escape(str(options.wide)).replace(r"\{config\}", "(?P<config>.+?)")
    pattern = pattern.replace(r"\{field\}", f"(?P<field>{field})")
    by_config: dict[str, dict[str, str]] = {}
    for match in filter(None, (re.fullmatch(pattern, name) for name in names)):
        by_config.setdefault(match["config"], {})[
            match.groupdict().get("field", measured[0])
        ] = match[0]

    for config, columns in by_config.items():
        if SCORE in measured and config in names:
            columns.setdefault(SCORE, config)

    return by_config
