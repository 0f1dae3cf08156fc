"""``cobandit show`` and ``rescore``: show a run, and score its answers again."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from cobandit.cli import console, plain, print_lines
from cobandit.errors import CobanditError

if TYPE_CHECKING:
    from cobandit.live import Progress

#: Seconds between two updates of the page of a run in progress.
PAGE_SECONDS = 30

#: Largest number of rows of the table of configurations.
ROWS = 30

Folder = Annotated[
    Path, typer.Argument(help="The folder of a run, such as runs/my-run.")
]


def show(
    folder: Folder,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Write an HTML page, which is updated and reloads itself while the"
                " run is in progress."
            ),
        ),
    ] = None,
) -> None:
    """Show the state of a run, finished or in progress: cost, front and configurations.

    Example: [b]cobandit show runs/my-run[/b]
    Example: [b]cobandit show runs/my-run --html run.html[/b]
    """
    from cobandit import live

    terminal = console()
    progress = live.read_progress(folder)
    print_lines(terminal, *write_lines(progress))
    print_configurations(progress, terminal)
    if html is None:
        return
    is_announced = False
    try:
        while progress.busy:
            if _write_page(progress, html) and not is_announced:
                terminal.print(
                    f"the page is at {html}; it is updated until this command ends",
                    soft_wrap=True,
                )
                is_announced = True
            time.sleep(PAGE_SECONDS)
            progress = live.read_progress(folder)
    except KeyboardInterrupt:
        return
    if not _write_page(progress, html):
        raise CobanditError(
            f"{folder}: there are too few evaluations for a page. Continue the run, and"
            " try again.",
            argument=str(folder),
            code="few-evaluations",
        )
    terminal.print(f"the page is at {html}", soft_wrap=True)


def write_lines(progress: Progress) -> list[str]:
    """Return lines on the state of a run, and on flaws that may change its front."""
    from cobandit.live.status import describe_losers, describe_progress

    lines = [f"{name}: {text}" for name, text in describe_progress(progress).items()]
    return [*lines, *describe_losers(progress)]


def print_configurations(progress: Progress, terminal: Console) -> None:
    """Print the state of each configuration, once all have evaluations."""
    from cobandit.live.status import tabulate_configurations

    try:
        frame = tabulate_configurations(progress)
    except CobanditError:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("configuration", overflow="fold")
    for column in frame.columns:
        table.add_column(column, justify="left" if column == "state" else "right")
    for row in frame.head(ROWS).itertuples(name=None):
        table.add_row(*map(plain, row))
    terminal.print()
    terminal.print(table)
    if len(frame) > ROWS:
        terminal.print(f"and {len(frame) - ROWS} more")


def _write_page(progress: Progress, path: Path) -> bool:
    """Write the page of a run; return False if there are too few evaluations."""
    import cobandit as cb
    from cobandit.figures.front_page import RunReport, write_front_page
    from cobandit.live.status import tabulate_configurations, tabulate_evaluations

    try:
        table = tabulate_evaluations(progress)
    except CobanditError:
        return False
    # before its first comparison, the method has no front, so the means are used
    returned = progress.front or None
    advice = cb.recommend(table, returned=returned, **progress.question)
    seconds = PAGE_SECONDS if progress.busy else None
    report = RunReport(
        write_lines(progress), tabulate_configurations(progress), seconds
    )
    write_front_page(advice, path, report)
    return True


def rescore(
    folder: Folder,
    scorer: Annotated[
        str,
        typer.Option(
            help="exact, contains, regex, number, or a function as module:function."
        ),
    ],
    pattern: Annotated[
        str | None,
        typer.Option(help="The regular expression that the scorer 'regex' uses."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help=("Largest accepted difference of a number."))
    ] = 0.0,
) -> None:
    """Score the stored answers of a run again with another scorer, without model calls.

    Example: [b]cobandit rescore runs/my-run --scorer number[/b]
    """
    from cobandit import live

    options = {"scorer": scorer, "pattern": pattern, "tolerance": tolerance or None}
    chosen = {name: value for name, value in options.items() if value is not None}
    table = live.rescore(folder, chosen)
    terminal = console()
    terminal.print(f"table: {table}, with its card", soft_wrap=True)
    terminal.print(
        f"to compare: cobandit recommend {shlex.quote(str(table))}", soft_wrap=True
    )
