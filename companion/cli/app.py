"""The ``cobandit-book`` command: run pages of the book, and verify its results."""

import typer

from cobandit.cli import run_app
from companion.cli.pages import page, rerun
from companion.cli.reconstruct import reconstruct
from companion.cli.verify import verify

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    help=(
        "The book of cobandit: run its pages on other tables, and verify its results."
    ),
)
for command in (page, rerun, reconstruct, verify):
    app.command()(command)


def main() -> None:
    """Run the command. On invalid input, print one message and exit with code 2."""
    run_app(app)
