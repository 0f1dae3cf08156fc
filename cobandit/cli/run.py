"""``cobandit run``: evaluate configurations under a plan, and print the result."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cobandit.cli import console, print_lines
from cobandit.cli.answers import print_advice
from cobandit.cli.run_progress import watching

if TYPE_CHECKING:
    from cobandit.live import Run
    from cobandit.policies.pareto_race import ParetoRace


def print_end(done: Run, terminal: Console) -> None:
    """Print the result of a run: cost, flaws, returned set and recommendation."""
    import cobandit as cb

    print_lines(
        terminal, *write_spending(done), *write_returned(done), *write_files(done), ""
    )
    if done.recommendation:
        advice = cb.recommend(
            cb.read(done.table), returned=done.recommendation, **done.question
        )
        print_advice(advice, terminal)


def write_spending(done: Run) -> list[str]:
    """Return lines on the cost of a run and the flaws of its evaluations."""
    from cobandit._text import amount

    unit = done.plan.cost.unit
    budget = "" if done.budget is None else f" of {amount(done.budget)}"
    spent = f"spent {amount(done.spent)}{budget} {unit}"
    if done.inherited:
        spent += f", of which {amount(done.inherited)} in an earlier table"
    prices = [f"prices: {done.prices}"] if done.prices else []
    return [spent, *done.losses, *prices]


def write_returned(done: Run) -> list[str]:
    """Return lines on the returned configurations and their certainty."""
    from cobandit._text import some_names
    from cobandit.policies.identification_policy import IdentificationPolicy
    from cobandit.policies.pareto_race import ParetoRace

    plan = done.plan
    policy = done.policy
    lines = [_write_settled(done, policy)] if isinstance(policy, ParetoRace) else []
    measures = [objective.name for objective in plan.objectives]
    if not isinstance(policy, IdentificationPolicy):
        criterion = "as the most hypervolume per cost"
    elif done.question["ignores_cost"]:
        criterion = f"by {some_names(measures, len(measures))}, whatever the cost"
    else:
        criterion = f"by {some_names([*measures, 'cost'], len(measures) + 1)}"
    lines.append(f"{plan.method.name} returns, {criterion}:")
    return [*lines, *(f"  {name}" for name in done.recommendation or ["nothing yet"])]


def _write_settled(done: Run, policy: ParetoRace) -> str:
    """Return a line on the decided configurations, and why others are undecided."""
    from cobandit.advice.words import describe_tolerance

    plan = done.plan
    line = f"{int(policy.settled.sum())} of {policy.n_arms} configurations are settled"
    tolerance = describe_tolerance(
        policy.tolerance, policy.cost_tolerance, plan.cost.unit
    )
    if tolerance:
        line += (
            f" within {tolerance} (each is returned, or at most this much better than"
            " a returned one)"
        )
    line += f", on the first {policy.pulls.max()} of {len(plan.order)} instances"
    if policy.status == "out of budget":
        line += "; the budget is too small for another round"
        if plan.largest_cost is not None:
            line += " if each evaluation costs its largest_cost"
    return line


def write_files(done: Run) -> list[str]:
    """Return lines on the path of the table and on continuing the run."""
    lines = [f"table: {done.table}, with its card"]
    if not done.policy.finished:
        lines.append("to continue: run the same command again, without --export")
    elif done.plan.is_once and done.policy.pulls.max() < len(done.plan.order):
        lines.append(
            "to continue: change stop, budget or method in the plan, and run the"
            " same command again"
        )
    return lines


def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", "-f", help="Folder of the run (default: runs/NAME)."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A table whose evaluations are reused, instead of being repeated.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check the plan and estimate its cost, without any evaluation.",
        ),
    ] = False,
    export: Annotated[
        bool,
        typer.Option(
            "--export",
            help=(
                "Write the table of the evaluations so far, without any new"
                " evaluation; also during the run."
            ),
        ),
    ] = False,
) -> None:
    """Run a plan: evaluate configurations until it is clear which ones are best.

    The same command continues an interrupted run. The result is the Pareto set that
    the method returns, and the table of all evaluations with a card that describes it.

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
    """  # noqa: D301 (the backslash keeps line breaks)
    from cobandit import live

    terminal = console()

    def announce(estimate: live.Estimate) -> None:
        print_lines(terminal, *estimate.lines)

    if dry_run:
        announce(live.estimate(plan, folder, start=start))
        return
    if export:
        print_end(live.export(plan, folder, start=start), terminal)
        return

    try:
        with watching(terminal) as watch:
            done = live.run(plan, folder, watch=watch, announce=announce, start=start)
    except KeyboardInterrupt:
        _leave(terminal, plan, folder, start)
    print_end(done, terminal)


def _leave(
    terminal: Console, plan: Path, folder: Path | None, start: Path | None
) -> None:
    """Print how to continue an interrupted run, and end the process."""
    options = {"--folder": folder, "--from": start}
    words = ["cobandit", "run", str(plan)]
    for name, value in options.items():
        if value is not None:
            words += [name, str(value)]

    command = shlex.join(words)
    terminal.print(
        f"Interrupted; all evaluations are kept. Continue with: {command}\nOr write"
        f" the table of these evaluations: {command} --export",
        soft_wrap=True,
    )
    sys.stdout.flush()

    # the signal ends the process, because evaluations in threads cannot be cancelled
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)
