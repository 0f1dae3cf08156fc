"""The `cobandit` command in this process."""

from typer.testing import CliRunner

from cobandit.cli.app import app


def call(*words, columns=None):
    """What the command gives for these words, maybe in a terminal of so many columns."""
    terminal = {"COLUMNS": str(columns)} if columns else None
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="cobandit", env=terminal)
