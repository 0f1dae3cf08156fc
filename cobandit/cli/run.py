"""``cobandit run``: evaluations that are made now, under a budget, as a plan says."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from cobandit.cli.terminal import console


def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", "-f", help="Where the run lives (default: runs/NAME).")
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Evaluate nothing: write the table of what is there.")
    ] = False,
) -> None:
    """Evaluate configurations under a budget; interrupted or killed, the same command goes on.

    Ends with what the method recommends, the table of all evaluations with its card, and what
    [b]cobandit recommend[/b] says of it.

    Example: [b]cobandit run plan.yml[/b], where plan.yml has

    \b
    name: my-run
    configurations: {grid: {model: \\[a, b], temperature: \\[0, 0.5, 1]}}
    instances: 300  # a number, a list of ids, or a file
    budget: 0.5
    unit: share  # of what evaluating everything costs; or the unit of the cost
    cost: {column: tokens, unit: tokens}
    objectives:
      - {name: accuracy, column: correct}
      - {name: efficiency, column: seconds, transform: inverse-percentile}
    evaluate: {callable: {function: "my_module:evaluate"}}
    """  # noqa: D301 (that one backslash keeps the lines apart)
    from cobandit import live
    from cobandit.cli.recommend import show
    from cobandit.cli.run_display import watching

    out = console()
    if export:
        done = live.export(plan, folder)
    else:
        try:
            with watching(out) as watch:
                done = live.run(plan, folder, watch=watch)
        except KeyboardInterrupt:
            words = shlex.join(["cobandit", "run", str(plan), *(["--folder", str(folder)] if folder else [])])
            out.print(
                f"interrupted; what was told is kept.  Go on with: {words}\n"
                f"Or write the table of what is there: {words} --export",
                soft_wrap=True,
            )
            sys.stdout.flush()
            # Of the signal itself, at once: nobody can cancel what evaluations do in threads.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
    import cobandit as cb

    table = cb.read(done.table)
    unit = table.card.cost.unit
    for line in (
        f"spent {done.spent:.6g} of {done.budget:.6g} {unit}; {type(done.policy).__name__} recommends:",
        *(f"  {name}" for name in done.recommendation),
        *done.losses,
        f"table: {done.table}, with its card",
        "",
    ):
        out.print(line, soft_wrap=True)
    show(cb.recommend(table), out)
