"""Reading the files of a table, with their names, folders and rows as columns."""

from __future__ import annotations

import zlib
from pathlib import Path

import pandas as pd

from cobandit.errors import raise_fault
from cobandit.tables.bounded_files import MAX_FILE, check_size
from cobandit.tables.importers.file_columns import FileColumns, SourceFile
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.tidy_options import TidyOptions
from cobandit.tables.record_files import read_columns
from cobandit.tables.text_layout import SEPARATORS, TextLayout, recognise_layout

_TEXT = ("*.csv", "*.tsv", "*.jsonl", "*.json")

#: Name patterns of files that contain tables.
PATTERNS = (*_TEXT, *(f"{pattern}.gz" for pattern in _TEXT), "*.parquet")


def read_file(
    file: Path, places: FileColumns, options: TidyOptions, notes: Notes
) -> SourceFile:
    """Read a file, and add the columns for its name, folders and rows if wanted."""
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


def has_named_column(frame: pd.DataFrame, options: TidyOptions) -> bool:
    """Return whether a file has at least one of the columns in the options."""
    if options.wide is not None:
        return options.instance in frame
    measured = {
        *options.cost,
        *options.text,
        *(objective.column for objective in options.objective),
    }
    return not measured.isdisjoint(frame.columns)


def _recognise_layout(
    file: Path, options: TidyOptions, notes: Notes
) -> TextLayout | None:
    """Recognise the layout of a text file, and add a remark on it."""
    if not any(suffix in SEPARATORS for suffix in map(str.lower, file.suffixes)):
        return None

    check_size(file)
    try:
        layout = recognise_layout(
            file, options.separator, options.decimal, options.encoding
        )
    except (OSError, EOFError, zlib.error):
        return None  # reading the file will report the fault
    except LookupError:
        raise_fault(
            "--encoding",
            f"{options.encoding!r} is not an encoding",
            "give an encoding such as utf-8 or cp1252",
            "unknown-encoding",
        )

    usual = TextLayout(
        SEPARATORS[next(s for s in map(str.lower, file.suffixes) if s in SEPARATORS)]
    )
    remark = f"read with {layout} (--separator, --decimal, --encoding)"
    if layout != usual and remark not in notes.remarks:
        notes.remarks.append(remark)
    return layout
