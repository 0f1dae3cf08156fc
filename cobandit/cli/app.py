"""The ``cobandit`` command, and ``cobandit import`` with one subcommand per format.

A subcommand imports its part of the library only when it runs, so that help is fast.
"""

from __future__ import annotations

import gc
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

import typer
from typer.core import TyperGroup

import cobandit as cb
from cobandit.cli import console, export, plain, run_app
from cobandit.cli.advise import recommend
from cobandit.cli.checking import datasets, doctor, validate
from cobandit.cli.moved import MOVED, refuse_moved
from cobandit.cli.replay import replay
from cobandit.cli.run import run
from cobandit.cli.show import rescore, show

if TYPE_CHECKING:
    from cobandit.tables.importers import Importer

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Logs, or folders of logs."),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help=(
            "Path of the new table, a .parquet file. The card (YAML description) is"
            " written beside it as .yml."
        ),
    ),
]


class ImportGroup(TyperGroup):
    """The import commands, created at first use because importers need pandas."""

    HELP = (
        "Make a table, and a card that describes it, from evaluation logs. Report which"
        " evaluations are used and which are left out."
    )

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names of the formats."""
        self._make()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a format; None if there is no such format."""
        self._make()
        command = super().get_command(ctx, cmd_name)
        if command is None and (Path(cmd_name).suffix or Path(cmd_name).exists()):
            formats = ", ".join(self.commands)
            ctx.fail(
                f"{cmd_name!r} is a file or a folder. Write its format before it"
                f" ({formats}): for example, cobandit import csv {cmd_name} -o"
                " table.parquet."
            )
        return command

    def _make(self) -> None:
        if self.commands:
            return
        from cobandit.tables.importers import IMPORTERS

        app = typer.Typer()
        for importer in IMPORTERS.values():
            app.command(importer.name)(_command(importer))
        self.commands = typer.main.get_group(app).commands


def _shared() -> list[inspect.Parameter]:
    """Return the options that all importers share."""
    from cobandit.tables.frames import UNKNOWN_LICENSE

    return [
        _parameter("name", str, "Name of the table (default: name of the file)."),
        _parameter("title", str, "Title of the table (default: name of the file)."),
        _parameter(
            "license", str, f"Licence of the records (default: {UNKNOWN_LICENSE})."
        ),
        _parameter("kind", str, "measured (default), synthetic or reconstruction."),
        _parameter(
            "profiling",
            int,
            "Number of instances in the profiling split, which only estimates costs and"
            " scales (default: a fifth, at least 2).",
        ),
        _parameter(
            "seed", int, "Seed of the profiling and evaluation splits (default: 0)."
        ),
        _parameter(
            "update",
            bool,
            "Update an earlier table: add new evaluations, and replace those that"
            " are imported again.",
        ),
        _parameter("force", bool, "Replace an earlier table and its card."),
    ]


def _parameter(name: str, kind: Any, help_: str) -> inspect.Parameter:
    annotation = Annotated[kind | None, typer.Option(help=help_)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _specific(importer: Importer) -> list[inspect.Parameter]:
    """Return the options of an importer, one per field of its options class."""
    parameters = []
    for name, field in importer.options.model_fields.items():
        kind: Any = list[str] if isinstance(field.default, tuple) else str
        if field.annotation is bool or get_origin(field.annotation) is Literal:
            kind = field.annotation
        text = field.description or ""
        if isinstance(field.default, str):
            text += f" [default: {field.default}]"
        parameters.append(_parameter(name, kind, text.replace("[", r"\[")))
    return parameters


def _command(importer: Importer) -> Any:
    """Return the command of an importer."""

    def command(paths: Paths, output: Output, **options: Any) -> None:
        from cobandit.tables.importers import import_logs

        terminal = console()
        # options that were not set get the importer's defaults
        options = {
            name: value for name, value in options.items() if value not in (None, [])
        }
        imported = import_logs(importer.name, paths, output, **options)
        for line in (*imported.report, f"wrote {imported.records} and {imported.card}"):
            terminal.print(plain(line, longest=1000), soft_wrap=True)
        validate(imported.records)

    signature = inspect.signature(command, eval_str=True)
    parameters = [signature.parameters[name] for name in ("paths", "output")]
    parameters += [*_specific(importer), *_shared()]
    signature = signature.replace(parameters=parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__doc__ = importer.help
    return command


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    help=(
        "Choose among LLM configurations under a budget: evaluate them, get"
        " recommendations from tables of evaluations, or replay methods on tables."
    ),
)
app.add_typer(
    typer.Typer(cls=ImportGroup, no_args_is_help=True, help=ImportGroup.HELP),
    name="import",
)
app.add_typer(export.app, name="export")
for command in (
    datasets,
    validate,
    doctor,
    replay,
    recommend,
    run,
    show,
    rescore,
):
    app.command()(command)
for moved in MOVED:
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(moved, hidden=True, context_settings=settings)(refuse_moved)


def _version(wanted: bool) -> None:
    if wanted:
        console().print(f"cobandit {cb.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; bad input ends it with a message and exit code 2."""
    # a command imports large packages, and little of it is garbage
    gc.set_threshold(100_000, 50, 50)
    run_app(app)
