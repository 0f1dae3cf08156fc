"""``cobandit page``, ``rerun``, ``reconstruct`` and ``verify``: the book's pages and stored results again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cobandit.cli import About, Backend, Budget, Level, Scheduler, Workers, console, read_pairs, show_progress
from cobandit.errors import CobanditError


def page(
    name: Annotated[str, typer.Argument(help="Page of the book, such as experiments.")],
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

    How a page's replays run in parallel is its parameter [b]how[/b], where it has one:
    -p 'how={workers: 4, backend: loky}'.

    Example: [b]cobandit page experiments -p dataset=my.parquet -p replications=20 -o out.ipynb[/b]
    """
    from cobandit.companion.report import pages as book

    given, out = read_pairs("--parameter", parameter or []), console()
    book.refuse_unknown(name, given)
    if output is None:
        for key, known in book.parameters(name).items():
            out.print(f"{key} = {known.default}  # {known.meaning}", markup=False, soft_wrap=True)
        return
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(f"--output {output}: name a file that ends in .ipynb, in a folder that exists")
    book.execute(name, given, output)
    out.print(f"executed: {output}", soft_wrap=True)


def rerun(
    table: Annotated[
        str | None, typer.Argument(help="Name in the catalogue, or file with a card next to it.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the report: new, empty, or of an earlier one.")
    ] = Path("report"),
    fast: Annotated[bool, typer.Option("--fast", help="A tenth of the paper's replications.")] = False,
    pages: Annotated[
        list[str] | None, typer.Option("--page", help="Only this page; repeat for more.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    budget: Budget = None,
    about: About = "instances",
    level: Level = 0.95,
    follow: Annotated[
        Path | None, typer.Option("--from", help="Manifest of a report that is to be made again.")
    ] = None,
) -> None:
    """Run the book's pages on a table and write a report that opens from disk.

    An interrupted run goes on where it stopped when the same command is given again.

    Example: [b]cobandit rerun my.parquet -o report/[/b]
    """
    from cobandit.companion.report import rerun as make

    options = {"fast": fast, "pages": pages, "seed": seed, "budget": budget, "about": about, "level": level}
    out, err = console(), console(stderr=True)
    try:
        manifest = make(table, output, follow=follow, **options)
    except KeyboardInterrupt:
        err.print("interrupted; the same command continues")
        raise typer.Exit(130) from None
    for made in manifest.pages:
        out.print(f"{made.page}: {made.status}" + (f", {made.reason}" if made.reason else ""))
    failed = any(made.status == "failed" for made in manifest.pages)
    if follow and not failed:
        same = "the results are those of the manifest, byte for byte"
        out.print(f"differs from the manifest: {', '.join(manifest.differs)}" if manifest.differs else same)
    out.print(f"report: {output / 'index.html'}", soft_wrap=True)
    if failed or manifest.differs:
        raise typer.Exit(1)


def reconstruct(
    name: Annotated[str, typer.Argument(help="gsm8k or piqa.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for NAME.parquet and NAME.yml.")
    ] = Path(),
    number: Annotated[int, typer.Option(min=0, help="Seed of the table.")] = 12,
) -> None:
    """Draw a reconstruction of one of the paper's tables, which are not public.

    One that misses a printed fact is refused, as about a third do.
    """
    from cobandit.companion import reconstruction

    if not output.is_dir():
        raise CobanditError(f"--output {output}: there is no such folder")
    console().print(f"{reconstruction.write(name, output, number)} written", soft_wrap=True)


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

    Everything starts from the bundled tables. Counts have to agree exactly, other numbers to a
    relative 1e-9.
    """
    from cobandit.companion.stored.results import verify as compute

    with show_progress() as tell:
        outcomes = compute(fast=fast, workers=workers, backend=backend, scheduler=scheduler, tell=tell)
    out, view = console(), Table(title="Stored and recomputed", title_justify="left")
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
