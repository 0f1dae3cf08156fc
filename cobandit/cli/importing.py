"""``cobandit import``: from evaluation logs to a table and its card, one command per format."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cobandit.cli.check import validate
from cobandit.cli.terminal import console, plain

if TYPE_CHECKING:
    from cobandit.tables.importers import Importer

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs, or folders that hold them.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The table, .parquet; its card goes next to it, .yml.")
]


class ImportGroup(TyperGroup):
    """The commands of all importers, made when one of them is asked for: the importers read with pandas."""

    HELP = "Make a table and its card from evaluation logs, and report what was taken and what was not."

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the formats."""
        self._make()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a format, None if there is no such format."""
        self._make()
        return super().get_command(ctx, cmd_name)

    def _make(self) -> None:
        if self.commands:
            return
        from cobandit.tables.importers import IMPORTERS

        app = typer.Typer()
        for importer in IMPORTERS.values():
            app.command(importer.name)(_command(importer))
        self.commands = typer.main.get_group(app).commands


def _shared() -> list[inspect.Parameter]:
    """Options that every importer has."""
    from cobandit.tables.importers.writing import UNKNOWN_LICENSE

    return [
        _parameter("name", str | None, None, "Name of the table (default: that of the file)."),
        _parameter("title", str | None, None, "Title of the table (default: the name of the file)."),
        _parameter("license", str | None, None, f"Licence of the records (default: {UNKNOWN_LICENSE})."),
        _parameter("kind", str | None, None, "measured (default) or synthetic."),
        _parameter(
            "profiling", int | None, None, "Number of profiling instances (default: a fifth, at least 2)."
        ),
        _parameter("seed", int | None, None, "Seed of the split (default: 0)."),
        _parameter(
            "update",
            bool,
            False,
            "Add to an earlier table: new evaluations are added, those imported again replaced, others kept.",
        ),
        _parameter("force", bool, False, "Replace an earlier table and its card."),
    ]


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


def _command(importer: Importer) -> Any:
    def command(**given: Any) -> None:
        from cobandit.tables.importers import import_logs

        out = console()
        paths, output = given.pop("paths"), given.pop("output")
        # what was not given is left to the importer's defaults
        given = {
            name: value
            for name, value in given.items()
            if value is not None and value != [] and value is not False
        }
        imported = import_logs(importer.name, paths, output, **given)
        for line in (*imported.report, f"wrote {imported.records} and {imported.card}"):
            out.print(plain(line, most=1000), soft_wrap=True)
        validate(imported.records)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("paths", positional, annotation=Paths),
            inspect.Parameter("output", positional, annotation=Output),
            *_own(importer),
            *_shared(),
        ]
    )
    command.__doc__ = importer.help
    return command
