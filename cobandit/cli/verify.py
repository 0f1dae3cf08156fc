"""``cobandit verify``: recompute the ledger and compare it with the committed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from cobandit.cli.parallel_options import Backend, Scheduler, Workers
from cobandit.cli.terminal import console

if TYPE_CHECKING:
    from cobandit.companion.stored.verification import Verification

#: Differences that are written out for each result.
SHOWN = 10


def verify(
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="Recompute one table of each posterior, one block of each part of the audit: minutes.",
        ),
    ] = False,
    workers: Workers = 1,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
) -> None:
    """Recompute every stored result and the ledger, compare, and exit 1 if anything differs.

    Everything starts from the bundled tables. Counts and verdicts have to agree exactly, other numbers to a
    relative 1e-9.
    """
    from rich.progress import (
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    from cobandit.companion.stored.verification import verify as compute

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True)) as bar:
        shown: dict[str, TaskID] = {}

        def tell(name: str, done: int, parts: int) -> None:
            if name not in shown:
                shown[name] = bar.add_task(name, total=parts)
            bar.update(shown[name], completed=done)

        outcomes = compute(fast=fast, workers=workers, backend=backend, scheduler=scheduler, tell=tell)
    _show(outcomes)
    if any(outcome.differences for outcome in outcomes):
        raise typer.Exit(1)


def _show(outcomes: list[Verification]) -> None:
    out, view = console(), Table(title="Stored and recomputed", title_justify="left")
    view.add_column("what")
    for heading in ("recomputed", "of", "seconds", "differences"):
        view.add_column(heading, justify="right")
    for outcome in outcomes:
        numbers = (f"{outcome.computed:,}", f"{outcome.parts:,}", f"{outcome.seconds:.0f}")
        count = len(outcome.differences)
        view.add_row(outcome.name, *numbers, Text(f"{count:,}", style="red" if count else ""))
    out.print(view)
    for outcome in outcomes:
        for text in outcome.differences[:SHOWN]:
            out.print(f"{outcome.name}: {text}", soft_wrap=True)
        if (more := len(outcome.differences) - SHOWN) > 0:
            out.print(f"{outcome.name}: and {more:,} more")
    left = [
        f"{outcome.parts - outcome.computed:,} of {outcome.parts:,} parts of {outcome.name}"
        for outcome in outcomes
        if outcome.computed < outcome.parts
    ]
    if left:
        out.print(f"not recomputed: {', '.join(left)}")
    if not any(outcome.differences for outcome in outcomes):
        out.print("nothing differs" + (" in what was recomputed" if left else ""), style="green")
