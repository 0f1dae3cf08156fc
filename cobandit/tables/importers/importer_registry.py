"""The registry of importers, and the result that an importer returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cobandit.errors import Place
from cobandit.tables.card import Cost, Objective
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import Options


class ImportResult(NamedTuple):
    """Result of an importer: a data frame of evaluations, and its columns' meaning."""

    #: One row per evaluation.
    frame: pd.DataFrame
    #: Column and unit of the cost.
    cost: Cost
    #: Objectives and their columns.
    objectives: tuple[Objective, ...]
    #: Columns that describe the configurations.
    arms: tuple[str, ...]
    #: Description of the source, for the card.
    source: str
    #: Options and choices that a later import into the same table must share, as JSON
    #: values.
    measured: dict[str, Any]
    #: Function that maps a row and a column of the frame to their place in a source
    #: file.
    place: Callable[[int, str | None], Place] = lambda row, column: Place(
        "the logs", None, column
    )
    #: Checksums of all logged settings, by configuration and setting. A later import
    #: compares its settings with these.
    settings: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never written to)
    #: Column that groups instances.
    cluster: str | None = None


#: Function that reads the logs at some paths, given options, and adds remarks to notes.
Reader = Callable[[Sequence[Path], Any, Notes], ImportResult]


class Importer(NamedTuple):
    """A registered importer: its command, options and function."""

    #: Name of the command.
    name: str
    #: Help of the command, in one line.
    help: str
    #: Class of the options.
    options: type[Options]
    #: Function that reads the logs.
    read_logs: Reader


#: Importers by name.
IMPORTERS: dict[str, Importer] = {}


def importer(name: str, options: type[Options]) -> Callable[[Reader], Reader]:
    """Return a decorator that registers a function as an importer.

    The first line of the function's docstring is the help of the command.
    """

    def register(read_logs: Reader) -> Reader:
        IMPORTERS[name] = Importer(
            name, (read_logs.__doc__ or "").splitlines()[0], options, read_logs
        )
        return read_logs

    return register
