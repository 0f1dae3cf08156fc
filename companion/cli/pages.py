"""``cobandit-book page`` and ``rerun``: pages of the book on a table of the user's."""

from pathlib import Path
from typing import Annotated

import typer

from cobandit.cli import About, Budget, Level, console, read_pairs
from cobandit.errors import CobanditError


def page(
    name: Annotated[str, typer.Argument(help="Page of the book, such as experiments.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter", "-p", help="NAME=VALUE, the value in YAML; repeat for more."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Executed notebook, .ipynb (default: show parameters).",
        ),
    ] = None,
) -> None:
    """Run one page of the book with parameters of your own; without --output, show which it has.

    How a page's replays run in parallel is its parameter [b]how[/b], where it has one:
    -p 'how={workers: 4, backend: loky}'.

    Example: [b]cobandit-book page experiments -p dataset=my.parquet -p replications=20
    -o out.ipynb[/b]
    """
    from companion.report import pages as book

    given = read_pairs("--parameter", parameter or [])
    out = console()
    book.refuse_unknown(name, given)
    if output is None and given:
        raise CobanditError(
            "--output: nothing is run without it; name a notebook that ends in .ipynb,"
            " or leave --parameter out to see the parameters"
        )
    if output is None:
        for key, known in book.parameters(name).items():
            out.print(
                f"{key} = {known.default}  # {known.meaning}",
                markup=False,
                soft_wrap=True,
            )
        return
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(
            f"--output {output}: name a file that ends in .ipynb, in a folder that"
            " exists"
        )
    book.execute(name, given, output)
    out.print(f"executed: {output}", soft_wrap=True)


def rerun(
    table: Annotated[
        str | None,
        typer.Argument(help="Name in the catalogue, or file with a card next to it."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Folder of the report: new, empty, or of an earlier one.",
        ),
    ] = Path("report"),
    fast: Annotated[
        bool, typer.Option("--fast", help="A tenth of the paper's replications.")
    ] = False,
    pages: Annotated[
        list[str] | None,
        typer.Option("--page", help="Only this page; repeat for more."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    budget: Budget = None,
    about: About = "instances",
    level: Level = 0.95,
    follow: Annotated[
        Path | None,
        typer.Option("--from", help="Manifest of a report that is to be made again."),
    ] = None,
) -> None:
    """Run the book's pages on a table and write a report that opens from disk.

    An interrupted run goes on where it stopped when the same command is given again.

    Example: [b]cobandit-book rerun my.parquet -o report/[/b]
    """
    from companion.report import rerun as make

    options = {
        "fast": fast,
        "pages": pages,
        "seed": seed,
        "budget": budget,
        "about": about,
        "level": level,
    }
    out = console()
    err = console(stderr=True)
    try:
        manifest = make(table, output, follow=follow, **options)
    except KeyboardInterrupt:
        err.print("interrupted; the same command continues")
        raise typer.Exit(130) from None
    for made in manifest.pages:
        out.print(
            f"{made.page}: {made.status}" + (f", {made.reason}" if made.reason else "")
        )
    failed = any(made.status == "failed" for made in manifest.pages)
    if follow and not failed:
        same = "the results are those of the manifest, byte for byte"
        out.print(
            f"differs from the manifest: {', '.join(manifest.differs)}"
            if manifest.differs
            else same
        )
    out.print(f"report: {output / 'index.html'}", soft_wrap=True)
    if failed or manifest.differs:
        raise typer.Exit(1)
