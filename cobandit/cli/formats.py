"""What ``cobandit import`` says of its formats, kept in a file: help does without the importers' pandas.

Written from the importers, whenever one of their options changes, by

    python -m cobandit.cli.formats
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobandit.tables.importers import Importer

FILE = Path(__file__).with_suffix(".json")


def formats() -> dict[str, dict[str, Any]]:
    """Read the help and the options of each format, an option being its name, its kind and its help."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def described() -> dict[str, dict[str, Any]]:
    """Ask the importers for the same."""
    from cobandit.tables.importers import IMPORTERS

    return {each.name: {"help": each.help, "options": _own(each) + _shared()} for each in IMPORTERS.values()}


def _own(importer: Importer) -> list[list[str]]:
    """Turn the fields of an importer's options into options of its command, which check themselves."""
    options = []
    for name, field in importer.options.model_fields.items():
        kind = "text"
        if field.annotation is bool:
            kind = "flag"
        elif isinstance(field.default, tuple):
            kind = "texts"
        text = field.description or ""
        if isinstance(field.default, str):
            text += f" [default: {field.default}]"
        options.append([name, kind, text.replace("[", r"\[")])
    return options


def _shared() -> list[list[str]]:
    """Options that every importer has."""
    from cobandit.tables.importers.writing import UNKNOWN_LICENSE

    return [
        ["name", "text", "Name of the table (default: that of the file)."],
        ["title", "text", "Title of the table (default: the name of the file)."],
        ["license", "text", f"Licence of the records (default: {UNKNOWN_LICENSE})."],
        ["kind", "text", "measured (default) or synthetic."],
        ["profiling", "number", "Number of profiling instances (default: a fifth, at least 2)."],
        ["seed", "number", "Seed of the split (default: 0)."],
        [
            "update",
            "flag",
            "Add to an earlier table: new evaluations are added, those imported again replaced, others kept.",
        ],
        ["force", "flag", "Replace an earlier table and its card."],
    ]


if __name__ == "__main__":
    FILE.write_text(json.dumps(described(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {FILE}")
