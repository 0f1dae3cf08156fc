"""The importers by name, and the result of one."""

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
    """Result of an importer: a tidy frame and the meaning of its columns.

    ``source`` says to people what was measured; ``place`` gives the file, row and
    column that a row and column of the frame come from.  What a later import compares
    to tell if it means the same: ``measured``, which options and choices say what was
    measured, as JSON has it, and ``settings``, checksums of all that the logs say of a
    configuration, by its name and theirs.
    """

    frame: pd.DataFrame
    cost: Cost
    objectives: tuple[Objective, ...]
    arms: tuple[str, ...]
    source: str
    measured: dict[str, Any]
    place: Callable[[int, str | None], Place] = lambda row, column: Place(
        "the logs", None, column
    )
    settings: dict[str, dict[str, str]] = {}  # noqa: RUF012 (never written to)
    cluster: str | None = None  # the column of what instances have in common


#: What an importer does: paths, its options and the notes it may add to in, tidy
#: records out.
Reader = Callable[[Sequence[Path], Any, Notes], ImportResult]


class Importer(NamedTuple):
    """A registered importer."""

    name: str
    help: str
    options: type[Options]
    read_logs: Reader


#: Every importer by name.
IMPORTERS: dict[str, Importer] = {}


def importer(name: str, options: type[Options]) -> Callable[[Reader], Reader]:
    """Register a function as an importer; its first docstring line is the help."""

    def register(read_logs: Reader) -> Reader:
        IMPORTERS[name] = Importer(
            name, (read_logs.__doc__ or "").splitlines()[0], options, read_logs
        )
        return read_logs

    return register
