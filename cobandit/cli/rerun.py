"""``cobandit rerun``: from a table to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cobandit.cli.parallel_options import Backend, Scheduler, Workers
from cobandit.cli.terminal import console
from cobandit.errors import CobanditError


def rerun(
    context: typer.Context,
    table: Annotated[
        str | None, typer.Argument(help="Name in the catalogue, or file with a card next to it.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the report: new, empty, or of an earlier one.")
    ] = Path("report"),
    fast: Annotated[bool, typer.Option("--fast", help="A tenth of the paper's replications.")] = False,
    page: Annotated[list[str] | None, typer.Option("--page", help="Only this page; repeat for more.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    budget: Annotated[
        float | None, typer.Option(help="What further evaluations may cost, in the table's unit.")
    ] = None,
    about: Annotated[
        str,
        typer.Option(help="What is to be settled: answers on instances like these, or on this benchmark."),
    ] = "instances",
    level: Annotated[float, typer.Option(help="Confidence of what is called settled.")] = 0.95,
    follow: Annotated[
        Path | None, typer.Option("--from", help="Manifest of a report that is to be made again.")
    ] = None,
    workers: Workers = -1,
    backend: Backend = "threading",
    scheduler: Scheduler = None,
) -> None:
    """Run the book's pages on a table and write a report that opens from disk.

    An interrupted run goes on where it stopped when the same command is given again.

    Example: [b]cobandit rerun my.parquet -o report/[/b]
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from cobandit.companion.report import rerun as make
    from cobandit.replay.parallel import run

    if follow is not None:
        _refuse_options_of_the_manifest(context)
    err = console(stderr=True)
    parallel: dict[str, Any] = {"workers": workers, "backend": backend}
    if scheduler is not None:
        parallel["scheduler"] = scheduler
    run(divmod, [(1, 1)], **parallel)  # tried now: a page would find out late
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} cells"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=err) as bar:
        tasks: dict[str, Any] = {}

        def watch(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        try:
            outcome = make(
                table,
                output,
                fast=fast,
                seed=seed,
                pages=page,
                budget=budget,
                about=about,
                level=level,
                how=parallel,
                follow=follow,
                watch=watch,
            )
        except KeyboardInterrupt:
            bar.stop()
            err.print("interrupted; the same command continues")
            raise typer.Exit(130) from None
    out = console()
    if outcome.kept:
        out.print(f"executed before and kept: {', '.join(outcome.kept)}")
    for name, reason in outcome.left_out.items():
        out.print(f"left out: {name}: {reason}")
    if follow and not outcome.failed:
        same = "the results are those of the manifest, byte for byte"
        said = f"differs from the manifest: {', '.join(outcome.differs)}" if outcome.differs else same
        out.print(said)
    out.print(f"report: {outcome.report}", soft_wrap=True)
    if outcome.failed:
        err.print(f"failed: {', '.join(outcome.failed)}; the report says where")
    if outcome.failed or outcome.differs:
        raise typer.Exit(1)


def _refuse_options_of_the_manifest(context: typer.Context) -> None:
    """Refuse options that the manifest of ``--from`` decides."""
    decided = ("fast", "page", "seed", "budget", "about", "level")
    given = [
        f"--{name}"
        for name in decided
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    ]
    if given:
        raise CobanditError(f"--from: the manifest decides on {', '.join(given)}; leave out one or the other")
