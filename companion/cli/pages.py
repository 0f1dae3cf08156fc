"""``cobandit-book page`` and ``rerun``: run pages of the book on the user's table."""

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
            "--parameter",
            "-p",
            help="NAME=VALUE, with the value in YAML; repeat the option for more.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The .ipynb file for the executed notebook (default: list the"
            " parameters of the page).",
        ),
    ] = None,
) -> None:
    """Run a page of the book with your parameters; without --output, list parameters.

    Some pages have the parameter [b]how[/b], which sets how replays run in parallel:

    -p 'how={workers: 4, backend: loky}'

    Example: [b]cobandit-book page once -p dataset=my.parquet -o out.ipynb[/b]
    """
    from companion.report import pages as book

    values = read_pairs("--parameter", parameter or [])
    terminal = console()
    book.refuse_unknown(name, values)
    if output is None and values:
        raise CobanditError(
            "--output is missing: name a notebook that ends in .ipynb, or leave out"
            " --parameter to list the parameters",
            argument="--output",
            code="missing-output",
        )
    if output is None:
        for key, entry in book.parameters(name).items():
            terminal.print(
                f"{key} = {entry.default}  # {entry.meaning}",
                markup=False,
                soft_wrap=True,
            )
        return
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(
            f"--output {output}: name a file that ends in .ipynb in an existing folder",
            argument="--output",
            code="output-file",
        )
    book.execute(name, values, output)
    terminal.print(f"executed: {output}", soft_wrap=True)


def rerun(
    table: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Name in the catalogue, or file with a card (YAML description) beside"
                " it."
            )
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Folder of the report: new, empty, or with an earlier report.",
        ),
    ] = Path("report"),
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help=(
                "A tenth of the paper's replications, and only the chapters that"
                " --page names."
            ),
        ),
    ] = False,
    pages: Annotated[
        list[str] | None,
        typer.Option("--page", help="Run only this page; repeat the option for more."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    budget: Budget = None,
    about: About = "instances",
    level: Level = 0.95,
    follow: Annotated[
        Path | None,
        typer.Option("--from", help="Manifest (JSON) of a report to reproduce."),
    ] = None,
) -> None:
    """Run the book's pages on a table and write a report.

    Give the same command again to continue an interrupted run.

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
    terminal = console()
    err = console(stderr=True)
    try:
        manifest = make(table, output, follow=follow, **options)
    except KeyboardInterrupt:
        err.print("interrupted; the same command continues")
        raise typer.Exit(130) from None
    for entry in manifest.pages:
        reason = f", {entry.reason}" if entry.reason else ""
        terminal.print(f"{entry.page}: {entry.status}{reason}")

    failed = any(entry.status == "failed" for entry in manifest.pages)
    if follow and not failed:
        if manifest.differs:
            terminal.print(f"differs from the manifest: {', '.join(manifest.differs)}")
        else:
            terminal.print("the results equal those of the manifest, byte for byte")
    terminal.print(f"report: {output / 'index.html'}", soft_wrap=True)
    if failed or manifest.differs:
        raise typer.Exit(1)
