"""The commands `cobandit` and `cobandit-book` in this process."""

from typer.testing import CliRunner

import companion.cli.app
from cobandit.cli.app import app


def call(*words, columns=None, app=app):
    """Run a command with the given words, and return the result.

    ``columns`` is the width of the terminal.
    """
    terminal = {"COLUMNS": str(columns)} if columns else None
    return CliRunner().invoke(
        app, [str(word) for word in words], prog_name="cobandit", env=terminal
    )


def call_book(*words):
    """Run the command `cobandit-book` with the given words, and return the result."""
    return call(*words, app=companion.cli.app.app)
