"""Commands that moved to ``cobandit-book``, which comes with the book."""

import typer

from cobandit.errors import CobanditError

MOVED = ("page", "rerun", "verify", "reconstruct")


def refuse_moved(context: typer.Context) -> None:
    """Raise an error with the new name of the command."""
    raise CobanditError(
        f"cobandit {context.info_name} is now cobandit-book {context.info_name} -> "
        "install cobandit-book in a checkout of the book: pip install ./companion",
        code="moved-command",
    )
