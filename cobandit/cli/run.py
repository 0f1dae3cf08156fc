"""``cobandit run``, ``show`` and ``rescore``: evaluations that are made now, and their answers."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cobandit.cli.terminal import console

if TYPE_CHECKING:
    pass

Folder = Annotated[Path, typer.Argument(help="The folder of a run, such as runs/my-run.")]


def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", "-f", help="Where the run lives (default: runs/NAME).")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--from", help="A table to start from: what it has is not evaluated again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Evaluate nothing: check all, and say what it will cost.")
    ] = False,
    export: Annotated[
        bool,
        typer.Option("--export", help="Evaluate nothing: write the table of what is there, also meanwhile."),
    ] = False,
) -> None:
    """Evaluate configurations until it is clear which are best; killed, the same command goes on.

    Ends with the Pareto set that the method returns, and the table of all evaluations with its card.

    Example: [b]cobandit run plan.yml[/b], where plan.yml has

    \b
    name: my-run
    configurations: {grid: {model: \\[a, b], temperature: \\[0, 0.5, 1]}}
    instances: 300  # a number, a list of ids, or a file
    stop: {tolerance: 0.02, error: 0.05}  # or budget: 0.5, unit: share; or both
    cost: {column: tokens, unit: tokens}
    objectives:
      - {name: accuracy, column: correct}
      - {name: efficiency, column: seconds, transform: inverse-percentile}
    evaluate: {callable: {function: "my_module:evaluate"}}
    """  # noqa: D301 (that one backslash keeps the lines apart)
    from cobandit import live
    from cobandit.cli.run_display import print_end, watching

    out = console()
    if dry_run:
        for line in live.estimate(plan, folder, start=start).lines:
            out.print(line, soft_wrap=True)
        return
    if export:
        print_end(live.export(plan, folder, start=start), out)
        return

    def announce(estimate: live.Estimate) -> None:
        for line in estimate.lines:
            out.print(line, soft_wrap=True)

    try:
        with watching(out) as watch:
            done = live.run(plan, folder, watch=watch, announce=announce, start=start)
    except KeyboardInterrupt:
        _leave(out, plan, folder, start)
    print_end(done, out)


def _leave(out: Console, plan: Path, folder: Path | None, start: Path | None) -> None:
    options = {"--folder": folder, "--from": start}
    given = [str(word) for option in options.items() if option[1] for word in option]
    words = shlex.join(["cobandit", "run", str(plan), *given])
    out.print(
        f"interrupted; what was told is kept.  Go on with: {words}\n"
        f"Or write the table of what is there: {words} --export",
        soft_wrap=True,
    )
    sys.stdout.flush()
    # Of the signal itself, at once: nobody can cancel what evaluations do in threads.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


def show(folder: Folder) -> None:
    """Show how far a run is, which may be going on: what it spent, and the front so far.

    Example: [b]cobandit show runs/my-run[/b]
    """
    from cobandit import live
    from cobandit.cli.run_display import describe

    out = console()
    for line in describe(live.read_progress(folder)):
        out.print(line, soft_wrap=True)


def rescore(
    folder: Folder,
    scorer: Annotated[
        str, typer.Option(help="exact, contains, regex, number, or a function as module:function.")
    ],
    pattern: Annotated[str | None, typer.Option(help="The regular expression of regex.")] = None,
    tolerance: Annotated[float, typer.Option(help="How far off a number may be.")] = 0.0,
) -> None:
    """Score the answers that a run has kept again, by another scorer and without a call.

    Example: [b]cobandit rescore runs/my-run --scorer number[/b]
    """
    from cobandit import live

    given = {"scorer": scorer, "pattern": pattern, "tolerance": tolerance or None}
    table = live.rescore(folder, {name: value for name, value in given.items() if value is not None})
    out = console()
    out.print(f"table: {table}, with its card", soft_wrap=True)
    out.print(f"what it says: cobandit recommend {shlex.quote(str(table))}", soft_wrap=True)
