"""``cobandit rerun``, from a table to a report, and ``cobandit page``, one page of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from cobandit.cli.spreading import Backend, Scheduler, Workers
from cobandit.companion.report import pages as book
from cobandit.errors import CobanditError


def _how(workers: int, backend: str, scheduler: str | None) -> dict[str, Any]:
    """How replays are spread, tried now: a page would find out late."""
    from cobandit.replay import parallel

    how: dict[str, Any] = {"workers": workers, "backend": backend} | (
        {"scheduler": scheduler} if scheduler else {}
    )
    parallel.run(divmod, [(1, 1)], **how)
    return how


def rerun(
    context: typer.Context,
    table: Annotated[
        str | None, typer.Argument(help="Name in the catalogue, or file with a card beside it.")
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
    from cobandit.companion.report import rerun as make

    if follow is not None:
        _refuse_options_of_the_manifest(context)
    err, how = Console(stderr=True), _how(workers, backend, scheduler)
    columns = (
        TextColumn("{task.description}"),
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
                level=level,
                how=how,
                follow=follow,
                watch=watch,
            )
        except KeyboardInterrupt:
            bar.stop()
            err.print("interrupted; the same command continues")
            raise typer.Exit(130) from None
    out = Console()
    if outcome.kept:
        out.print(f"executed before and kept: {', '.join(outcome.kept)}", highlight=False)
    for name, reason in outcome.left_out.items():
        out.print(f"left out: {name}: {reason}", highlight=False, markup=False)
    if follow and not outcome.failed:
        same = "the results are those of the manifest, byte for byte"
        said = f"differs from the manifest: {', '.join(outcome.differs)}" if outcome.differs else same
        out.print(said, highlight=False)
    out.print(f"report: {outcome.report}", highlight=False, soft_wrap=True)
    if outcome.failed:
        err.print(f"failed: {', '.join(outcome.failed)}; the report says where", highlight=False)
    if outcome.failed or outcome.differs:
        raise typer.Exit(1)


def _refuse_options_of_the_manifest(context: typer.Context) -> None:
    """Refuse options beside ``--from`` that the manifest decides."""
    decided = ("fast", "page", "seed", "budget", "level")
    given = [
        f"--{name}"
        for name in decided
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    ]
    if given:
        raise CobanditError(f"--from: the manifest decides on {', '.join(given)}; leave out one or the other")


def page(
    name: Annotated[str, typer.Argument(help="Page of the book, such as online-results.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="NAME=VALUE, the value in YAML; repeat for more."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Executed notebook, .ipynb (default: show parameters)."),
    ] = None,
) -> None:
    """Run one page of the book with parameters of your own; without --output, show which it has.

    How a page's replays are spread is its parameter [b]how[/b], where it has one:
    -p 'how={workers: 4, backend: loky}'.

    Example: [b]cobandit page online-results -p dataset=my.parquet -p replications=20 -o out.ipynb[/b]
    """
    given = dict(map(_assigned, parameter or []))
    book.check(name, given)
    out, err = Console(), Console(stderr=True)
    if output is None:
        for key, value in book.parameters(name).items():
            out.print(f"{key} = {value!r}", highlight=False, markup=False)
        return
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(f"--output {output}: name a file that ends in .ipynb, in a folder that exists")
    with Progress(TextColumn(name), BarColumn(), TimeElapsedColumn(), console=err) as bar:
        task = bar.add_task(name, total=None)
        book.execute(name, given, output, on_cell=lambda n, total: bar.update(task, completed=n, total=total))
    out.print(f"executed: {output}", highlight=False, soft_wrap=True)


def _assigned(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise CobanditError(f"--parameter {text}: expected NAME=VALUE")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise CobanditError(f"--parameter {text}: the value of {name.strip()!r} does not parse") from None
