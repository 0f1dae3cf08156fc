"""The importers by name, and their result."""

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
    """Result of an importer: a tidy frame and the meaning of its columns."""

    #: One row per evaluation.
    frame: pd.DataFrame
    #: Column and unit of the cost.
    cost: Cost
    #: Objectives and their columns.
    objectives: tuple[Objective, ...]
    #: Columns that describe the configurations.
    arms: tuple[str, ...]
    #: Description of the measurements, for people.
    source: str
    #: Options and choices that define the measurements, as JSON values. A later import
    #: into the same table must have the same ones.
    measured: dict[str, Any]
    #: Function that maps a row and column of the frame to a file with its row and
    #: column.
    place: Callable[[int, str | None], Place] = lambda row, column: Place(
        "the logs", None, column
    )
    #: Checksums of all logged settings, by configuration and setting, for comparison
    #: with a later import.
    settings: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never written to)
    #: Column that groups instances.
    cluster: str | None = None


#: Function that reads the logs at some paths with its options, and adds remarks to the
#: notes.
Reader = Callable[[Sequence[Path], Any, Notes], ImportResult]


class Importer(NamedTuple):
    """A registered importer."""

    #: Name of the command.
    name: str
    #: One-line help.
    help: str
    #: Model of its options.
    options: type[Options]
    #: Function that reads the logs.
    read_logs: Reader


#: Importers by name.
IMPORTERS: dict[str, Importer] = {}


def importer(name: str, options: type[Options]) -> Callable[[Reader], Reader]:
    """Register a function as an importer; its first docstring line is the help."""

    def register(read_logs: Reader) -> Reader:
        IMPORTERS[name] = Importer(
            name, (read_logs.__doc__ or "").splitlines()[0], options, read_logs
        )
        return read_logs

    return register
