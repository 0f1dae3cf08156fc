"""``cobandit import``: from evaluation logs to a table and its card, one command per format."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cobandit.cli.formats import formats
from cobandit.cli.terminal import console, plain
from cobandit.cli.validate import validate

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs, or folders that hold them.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="The table, .parquet; its card goes next to it, .yml.")
]
#: By the kind of an option: what is given for it, and what stands for nothing given.
KINDS: dict[str, tuple[Any, Any]] = {
    "text": (str | None, None),
    "texts": (list[str] | None, None),
    "number": (int | None, None),
    "flag": (bool, False),
}


class ImportGroup(TyperGroup):
    """The commands of all formats, made when one of them is asked for."""

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
        app = typer.Typer()
        for name, about in formats().items():
            app.command(name)(_command(name, about["help"], about["options"]))
        self.commands = typer.main.get_group(app).commands


def _parameter(name: str, kind: str, help_: str) -> inspect.Parameter:
    given: Any
    given, default = KINDS[kind]
    annotation: Any = Annotated[given, typer.Option(help=help_)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _command(source: str, help_: str, options: list[list[str]]) -> Any:
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
        imported = import_logs(source, paths, output, **given)
        for line in (*imported.report, f"wrote {imported.records} and {imported.card}"):
            out.print(plain(line, most=1000), soft_wrap=True)
        validate(imported.records)

    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("paths", positional, annotation=Paths),
            inspect.Parameter("output", positional, annotation=Output),
            *(_parameter(*option) for option in options),
        ]
    )
    command.__doc__ = help_
    return command
