"""The ``cobandit-book`` command: everything that needs the book's pages or stored results."""

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
        "The book behind cobandit: its pages on other tables, its stored results again."
    ),
)
for command in (page, rerun, reconstruct, verify):
    app.command()(command)


def main() -> None:
    """Run the command; bad input ends it with one message and exit code 2."""
    run_app(app)
