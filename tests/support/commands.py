"""The commands `cobandit` and `cobandit-book` in this process."""

from typer.testing import CliRunner

import companion.cli.app
from cobandit.cli.app import app


def call(*words, columns=None, app=app):
    """Run the command, optionally in a terminal of a given width."""
    terminal = {"COLUMNS": str(columns)} if columns else None
    return CliRunner().invoke(
        app, [str(word) for word in words], prog_name="cobandit", env=terminal
    )


def call_book(*words):
    """What `cobandit-book` gives for these words."""
    return call(*words, app=companion.cli.app.app)
