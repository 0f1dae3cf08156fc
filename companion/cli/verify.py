"""``cobandit-book verify``: compute stored results again and compare them."""

from typing import Annotated

import typer
from rich.table import Table

from cobandit.cli import Backend, Scheduler, Workers, console, show_progress

#: Differences that are written out for each result.
SHOWN = 10


def verify(
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help=(
                "Recompute one table of each posterior, one block of each part of the"
                " audit: minutes."
            ),
        ),
    ] = False,
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Recompute every stored result and the ledger, compare, and exit 1 if anything differs.

    Everything starts from the bundled tables. Counts have to agree exactly, other
    numbers to a relative 1e-9.
    """
    from companion.stored.results import verify as compute

    with show_progress() as tell:
        outcomes = compute(
            fast=fast, workers=workers, backend=backend, scheduler=scheduler, tell=tell
        )
    out = console()
    view = Table(title="Stored and recomputed", title_justify="left")
    view.add_column("what")
    for heading in ("recomputed", "of", "seconds", "differences"):
        view.add_column(heading, justify="right")
    for name, computed, parts, seconds, differences in outcomes:
        view.add_row(
            name,
            f"{computed:,}",
            f"{parts:,}",
            f"{seconds:.0f}",
            f"{len(differences):,}" if differences else "",
        )
    out.print(view)
    for outcome in outcomes:
        for text in outcome.differences[:SHOWN]:
            out.print(f"{outcome.name}: {text}", soft_wrap=True)
    if any(outcome.differences for outcome in outcomes):
        raise typer.Exit(1)
    out.print("nothing differs in what was recomputed", style="green")
