"""``cobandit run``, ``show`` and ``rescore``: evaluations that are made now, and their answers."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cobandit.cli import console, plain, print_lines
from cobandit.cli.advise import print_advice
from cobandit.errors import CobanditError

if TYPE_CHECKING:
    from cobandit.live import Progress, Run
    from cobandit.policies.asktell import AskTell

#: Seconds between two pictures, lines of events, and configurations that are named.
EVERY, EVENTS, NAMED = 0.2, 5, 8
#: Parts of the budget between two plain lines.
STEPS = 10


@contextmanager
def watching(out: Console) -> Iterator[Callable[[Progress], None]]:
    """Give what a run calls after each thing that happened."""
    shown: tuple[str, int, int | None] = ("", 0, None)
    drawn, events = 0.0, deque[str](maxlen=EVENTS)

    def tell(progress: Progress) -> None:
        """Print a line at the start of each part, at each tenth of the budget, one settled, and failure."""
        nonlocal shown
        stage = progress.stage
        step = 0 if stage.budget is None else int(STEPS * stage.spent / stage.budget)
        here = stage.name, step, progress.settled
        lines = [progress.line] if progress.failed or progress.notable else []
        if shown != here:
            shown = here
            lines.append("; ".join(describe(progress)[1:]))
        for line in lines:
            out.print(line, soft_wrap=True)

    def draw(progress: Progress) -> None:
        """Draw a table again, a few times a second."""
        nonlocal drawn
        if progress.line:
            events.append(progress.line)
        now = time.monotonic()
        if now - drawn >= EVERY or not progress.line:
            drawn = now
            live.update(picture(progress, events))

    if not out.is_terminal:
        yield tell
        return
    with Live(console=out, transient=True, refresh_per_second=1 / EVERY) as live:
        yield draw


def picture(progress: Progress, events: deque[str]) -> Group:
    """Draw how far a run is."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for line in describe(progress):
        what, _, said = line.partition(": ")
        table.add_row(what, said)
    return Group(table, *(Text(event, style="dim", no_wrap=True, overflow="ellipsis") for event in events))


def describe(progress: Progress) -> list[str]:
    """Say how far a run is, a line each: what was spent of what, evaluations, the front."""
    from cobandit._text import amount
    from cobandit.advice.words import some_names
    from cobandit.live.flaws import describe_overspending
    from cobandit.policies.identification_policy import IdentificationPolicy

    stage, plan, policy = progress.stage, progress.stage.plan, progress.stage.policy
    unit, n_arms = plan.cost.unit, len(stage.names)
    of = "" if stage.budget is None else f" of {amount(stage.budget)}"
    to_come = " (the pilot shows what the budget is)" * (stage.budget is None and plan.budget is not None)
    inherited = f", {amount(stage.inherited)} of it in an earlier table" if stage.inherited else ""
    begun = "in flight" if progress.busy else "begun and not ended (no process is at work)"
    under_way = f"{policy.in_flight.sum():,} {begun}"
    left = len(policy.active) if isinstance(policy, IdentificationPolicy) else n_arms
    over = stage.name == "run" and stage.over
    lines = [
        f"{plan.name}: {plan.method.name}, {'over' if over else stage.name}",
        f"spent: {amount(stage.spent)}{of} {unit}{inherited}{to_come}",
        f"evaluations: {len(stage.everything):,} made, {under_way}, {left} of {n_arms} configurations active",
    ]
    if over_budget := describe_overspending(stage):
        lines.append(f"note: {over_budget}")
    if stage.name == "run":
        front = some_names(list(map(plain, progress.front)), NAMED) or "none yet"
        lines.append(f"front so far: {front}")
    if progress.settled is not None:
        rest = f"; the rest takes about {amount(float(policy.forecast() @ policy.costs))} {unit}"
        lines.append(f"settled: {progress.settled} of {n_arms}" + rest * (progress.settled < n_arms))
    return lines


def read_question(policy: AskTell) -> dict[str, Any]:
    """Read off a method what `recommend` has to be asked for the same front."""
    from cobandit.policies.pareto_race import ParetoRace

    if not isinstance(policy, ParetoRace):
        return {"about": "benchmark", "ignores_cost": True}
    return {
        "about": "benchmark",
        "tolerance": policy.tolerance,
        "cost_tolerance": policy.cost_tolerance,
        "ignores_cost": not policy.compares_cost,
    }


def print_end(done: Run, out: Console) -> None:
    """Print what a run came to: one answer, the set that its method returns, with what that means."""
    import cobandit as cb
    from cobandit._text import amount
    from cobandit.advice.words import describe_tolerance
    from cobandit.policies.identification_policy import IdentificationPolicy
    from cobandit.policies.pareto_race import ParetoRace

    plan, policy = done.plan, done.policy
    of = "" if done.budget is None else f" of {amount(done.budget)}"
    inherited = f", {amount(done.inherited)} of it in an earlier table" if done.inherited else ""
    lines = [f"spent {amount(done.spent)}{of} {plan.cost.unit}{inherited}", *done.losses]
    if done.prices:
        lines.append(f"prices: {done.prices}")
    given = read_question(policy)
    if isinstance(policy, ParetoRace):
        settled = f"{int(policy.settled.sum())} of {policy.n_arms} configurations are settled"
        if within := describe_tolerance(policy.tolerance, policy.cost_tolerance, plan.cost.unit):
            settled += f" within {within} (each is returned, or at most so much better than one that is)"
        why = ""
        if policy.status == "out of budget" and plan.largest_cost is not None:
            why = "; the budget may not hold another round, should each cost its largest_cost"
        elif policy.status == "out of budget":
            why = "; the budget does not hold another round"
        lines.append(f"{settled}, on the first {policy.pulls.max()} of {len(plan.order)} instances{why}")
    counts = f"by {' and '.join(each.name for each in plan.objectives)}"
    counts += ", whatever the cost" if given["ignores_cost"] else " and cost"
    if not isinstance(policy, IdentificationPolicy):
        counts = "as the most hypervolume per cost"
    lines.append(f"{plan.method.name} returns, {counts}:")
    lines += [f"  {name}" for name in done.recommendation or ["nothing yet"]]
    lines.append(f"table: {done.table}, with its card")
    if not policy.finished:
        lines.append("to go on: give the same command again, without --export")
    elif plan.is_once and policy.pulls.max() < len(plan.order):
        lines.append("to go on: change the plan's stop, budget or method, and give the same command again")
    print_lines(out, *lines, "")
    if done.recommendation:  # which is about the plan's instances
        table = cb.read(done.table)
        advice = cb.recommend(table, returned=done.recommendation, **given)
        print_advice(advice, out)


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
    stop: {tolerance: 0.02, cost: 10%, error: 0.05}  # or budget: 0.5, unit: share
    cost: {column: tokens, unit: tokens}
    objectives:
      - {name: accuracy, column: correct}
      - {name: efficiency, column: seconds, transform: inverse-percentile}
    evaluate: {callable: {function: "my_module:evaluate"}}
    """  # noqa: D301 (that one backslash keeps the lines apart)
    from cobandit import live

    out = console()

    def announce(estimate: live.Estimate) -> None:
        print_lines(out, *estimate.lines)

    if dry_run:
        announce(live.estimate(plan, folder, start=start))
        return
    if export:
        print_end(live.export(plan, folder, start=start), out)
        return

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
        f"interrupted; what was evaluated is kept.  Go on with: {words}\n"
        f"Or write the table of what is there: {words} --export",
        soft_wrap=True,
    )
    sys.stdout.flush()
    # Of the signal itself, at once: nobody can cancel what evaluations do in threads.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


#: Seconds between two pages of a run that goes on.
PAGE_SECONDS = 30


def show(
    folder: Folder,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a page that reloads itself, again and again while the run goes on."
        ),
    ] = None,
) -> None:
    """Show how far a run is, which may be going on: what it spent, and the front so far.

    Example: [b]cobandit show runs/my-run[/b]
    Example: [b]cobandit show runs/my-run --html run.html[/b]
    """
    from cobandit import live

    out = console()
    progress = live.read_progress(folder)
    print_lines(out, *describe(progress))
    if html is None:
        return
    said = False
    try:
        while progress.busy:
            if _write_page(progress, html) and not said:
                out.print(
                    f"the page is at {html}; it follows the run as long as this goes on", soft_wrap=True
                )
                said = True
            time.sleep(PAGE_SECONDS)
            progress = live.read_progress(folder)
    except KeyboardInterrupt:
        return
    if not _write_page(progress, html):
        raise CobanditError(
            f"{folder}: there are too few evaluations for a page. Continue the run, and ask again."
        )
    out.print(f"the page is at {html}", soft_wrap=True)


def _write_page(progress: Progress, path: Path) -> bool:
    """Write the page of a run as far as it is; return whether there is enough to compare."""
    import cobandit as cb
    from cobandit.figures.front_page import RunReport, write_front_page
    from cobandit.live.status import tabulate_configurations, tabulate_evaluations

    try:
        table = tabulate_evaluations(progress)
    except CobanditError:
        return False
    # before the first comparison there is no front to take over
    returned = progress.front or None
    advice = cb.recommend(table, returned=returned, **read_question(progress.stage.policy))
    seconds = PAGE_SECONDS if progress.busy else None
    write_front_page(advice, path, RunReport(describe(progress), tabulate_configurations(progress), seconds))
    return True


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
