"""``cobandit import``: from evaluation logs to a table and its card, one command a format."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cobandit.tables.importers import IMPORTERS, Importer, import_logs
from cobandit.tables.importers.writing import UNKNOWN_LICENSE

app = typer.Typer(
    no_args_is_help=True,
    help="Make a table and its card from evaluation logs, and report what was taken and what was not.",
)
out = Console()

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs, or folders that hold them.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The table, .parquet; its card goes beside it, .yml.")
]
SHARED = {
    "name": (str | None, None, "Name of the table (default: that of the file)."),
    "title": (str | None, None, "Title of the table."),
    "license": (str, UNKNOWN_LICENSE, "Licence of the records."),
    "kind": (str, "measured", "measured or synthetic."),
    "profiling": (int | None, None, "Number of profiling instances (default: a fifth, at least 2)."),
    "seed": (int, 0, "Seed of the split."),
    "force": (bool, False, "Replace an earlier table and its card."),
}


def _parameter(name: str, kind: Any, default: Any, help_: str) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(help=help_)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _own(importer: Importer) -> list[inspect.Parameter]:
    """Turn the fields of an importer's options into options of its command, which check themselves."""
    parameters = []
    for name, field in importer.options.model_fields.items():
        kind: Any = str | None
        if field.annotation is bool:
            kind = bool
        elif isinstance(field.default, tuple):
            kind = list[str] | None
        default = False if kind is bool else None
        text = field.description or ""
        if isinstance(field.default, str):
            text += f" [default: {field.default}]"
        parameters.append(_parameter(name, kind, default, text.replace("[", r"\[")))
    return parameters


def _add(importer: Importer) -> None:
    def command(**given: Any) -> None:
        paths, output = given.pop("paths"), given.pop("output")
        # what was not given is left to the importer's defaults
        given = {name: value for name, value in given.items() if value not in (None, [], False)}
        imported = import_logs(importer.name, paths, output, **given)
        for line in imported.report:
            out.print(line, highlight=False, markup=False, soft_wrap=True)
        out.print(
            f"wrote {imported.records} and {imported.card}", highlight=False, markup=False, soft_wrap=True
        )
        from cobandit.cli.app import validate  # it is built on top of this module

        validate(imported.records)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("paths", positional, annotation=Paths),
            inspect.Parameter("output", positional, annotation=Output),
            *_own(importer),
            *(_parameter(name, *how) for name, how in SHARED.items()),
        ]
    )
    command.__doc__ = importer.help
    app.command(importer.name)(command)


for _importer in IMPORTERS.values():
    _add(_importer)
