"""``cobandit-book verify``: recompute stored results and compare them."""

from typing import Annotated

import typer
from rich.table import Table

from cobandit.cli import Backend, Scheduler, Workers, console, show_progress

#: Largest number of differences that are printed per result.
SHOWN = 10


def verify(
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help=(
                "Recompute only a sample, such as one table of each posterior; takes"
                " minutes."
            ),
        ),
    ] = False,
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Recompute the stored results, and exit with 1 if any number differs.

    The stored results include the ledger, which compares the paper's numbers with ours.
    All numbers are computed from the bundled tables. Counts must be equal, and other
    numbers must agree to a relative 1e-9.
    """
    from companion.stored.results import verify as compute

    with show_progress() as tell:
        outcomes = compute(
            fast=fast, workers=workers, backend=backend, scheduler=scheduler, tell=tell
        )
    terminal = console()
    view = Table(title="Stored and recomputed", title_justify="left")
    view.add_column("what")
    for heading in ("recomputed", "of", "seconds", "differences"):
        view.add_column(heading, justify="right")
    for name, computed, parts, seconds, differences in outcomes:
        n_differences = f"{len(differences):,}" if differences else ""
        view.add_row(
            name,
            f"{computed:,}",
            f"{parts:,}",
            f"{seconds:.0f}",
            n_differences,
        )
    terminal.print(view)
    for outcome in outcomes:
        for text in outcome.differences[:SHOWN]:
            terminal.print(f"{outcome.name}: {text}", soft_wrap=True)
    if any(outcome.differences for outcome in outcomes):
        raise typer.Exit(1)
    terminal.print("all recomputed parts agree with the stored ones", style="green")
