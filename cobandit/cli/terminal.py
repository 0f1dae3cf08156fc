"""What every command prints on, and the options that several of them have."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

#: Letters of a name that a table on the terminal shows, at most.
LONGEST = 120


def console(stderr: bool = False) -> Console:
    """Make a console that takes nothing for markup or emoji; what is coloured is given a style."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def plain(name: object, most: int = LONGEST) -> str:
    r"""Make a name fit to be shown: no line breaks, no control characters, and its middle cut if it is long.

    Examples
    --------
    >>> plain("[0-shot]\ngpt \x1b[31m"), plain("a" * 100_000 + "b", 10)
    ('[0-shot] gpt  [31m', 'aaaa...aab')
    """
    from cobandit.faults import ellipsize

    return ellipsize("".join(c if c.isprintable() else " " for c in str(name)), most)


Workers = Annotated[int, typer.Option(help="Processes, or threads; -1 takes every core.")]
Backend = Annotated[str, typer.Option(help="loky (processes), threading or dask.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")]
