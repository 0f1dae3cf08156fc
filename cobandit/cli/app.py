"""The ``cobandit`` command, put together from its subcommands.

A subcommand imports what it computes with when it runs, so that help is quick.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

import cobandit as cb
from cobandit.cli.book import page, reconstruct, rerun, verify
from cobandit.cli.check import datasets, doctor, validate
from cobandit.cli.importing import ImportGroup
from cobandit.cli.recommend import recommend
from cobandit.cli.replay import replay
from cobandit.cli.run import rescore, run, show
from cobandit.cli.terminal import console, plain
from cobandit.errors import CobanditError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    help="Budgeted bandits for choosing among LLM configurations: live, and replayed on tables.",
)
app.add_typer(typer.Typer(cls=ImportGroup, no_args_is_help=True, help=ImportGroup.HELP), name="import")
for command in (
    datasets,
    validate,
    doctor,
    replay,
    reconstruct,
    recommend,
    run,
    show,
    rescore,
    rerun,
    page,
    verify,
):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        console().print(f"cobandit {cb.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; bad input ends it with one message and exit code 2, never with a traceback."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
    err = console(stderr=True)
    try:
        app()
    except CobanditError as error:
        err.print("error: ", style="red", end="")
        for line in str(error).splitlines():
            err.print(plain(line, most=2000))
        sys.exit(2)
    except OSError as error:  # a name that is too long, a folder that may not be read
        err.print("error: ", style="red", end="")
        err.print(
            plain(f"{error.filename or 'a file'}: {error.strerror or error} -> check the path", most=2000)
        )
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(130)
