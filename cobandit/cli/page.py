"""``cobandit page``: one page of the book with parameters of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cobandit.cli.terminal import console
from cobandit.errors import CobanditError


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

    How a page's replays run in parallel is its parameter [b]how[/b], where it has one:
    -p 'how={workers: 4, backend: loky}'.

    Example: [b]cobandit page online-results -p dataset=my.parquet -p replications=20 -o out.ipynb[/b]
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from cobandit.companion.report import pages as book

    given = dict(map(_assigned, parameter or []))
    book.refuse_unknown(name, given)
    out, err = console(), console(stderr=True)
    if output is None:
        for key, value in book.parameters(name).items():
            out.print(f"{key} = {value!r}")
        return
    if output.suffix != ".ipynb" or not output.parent.is_dir() or output.is_dir():
        raise CobanditError(f"--output {output}: name a file that ends in .ipynb, in a folder that exists")
    with Progress(TextColumn(name, markup=False), BarColumn(), TimeElapsedColumn(), console=err) as bar:
        task = bar.add_task(name, total=None)
        book.execute(name, given, output, on_cell=lambda n, total: bar.update(task, completed=n, total=total))
    out.print(f"executed: {output}", soft_wrap=True)


def _assigned(text: str) -> tuple[str, Any]:
    import yaml

    name, separator, value = text.partition("=")
    if not separator:
        raise CobanditError(f"--parameter {text}: expected NAME=VALUE")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise CobanditError(f"--parameter {text}: the value of {name.strip()!r} does not parse") from None
