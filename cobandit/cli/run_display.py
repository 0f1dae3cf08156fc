"""What ``cobandit run`` shows while it works: a live table, or plain lines where nobody watches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cobandit.cli.terminal import plain
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.policies.registry import get_kind

if TYPE_CHECKING:
    from cobandit.live import Progress, Run

#: Seconds between two pictures, lines of events, and configurations that are named.
EVERY, EVENTS, NAMED = 0.2, 5, 8
#: Parts of the budget between two plain lines.
STEPS = 10


@contextmanager
def watching(out: Console) -> Iterator[Callable[[Progress], None]]:
    """Give what a run calls after each thing that happened."""
    if not out.is_terminal:
        yield _Lines(out)
        return
    with Live(console=out, transient=True, refresh_per_second=1 / EVERY) as live:
        yield _Picture(live)


class _Lines:
    """A line at the start of each part, each tenth of the budget, each one settled, and each failure."""

    def __init__(self, out: Console):
        self.out = out
        self.shown: tuple[str, int, int | None] = ("", 0, None)

    def __call__(self, progress: Progress) -> None:
        step = 0 if progress.budget is None else int(STEPS * progress.spent / progress.budget)
        if progress.failed:
            self._print(progress.line)
        settled = progress.settled
        if self.shown != (progress.stage.name, step, settled):
            self.shown = (progress.stage.name, step, settled)
            self._print("; ".join(describe(progress)[1:]))

    def _print(self, line: str) -> None:
        self.out.print(line, soft_wrap=True)


class _Picture:
    """A table that is drawn again, a few times a second."""

    def __init__(self, live: Live):
        self.live = live
        self.events: deque[str] = deque(maxlen=EVENTS)
        self.drawn = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.line:
            self.events.append(progress.line)
        now = time.monotonic()
        if now - self.drawn >= EVERY or not progress.line:
            self.drawn = now
            self.live.update(picture(progress, self.events))


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
    """Say how far a run is, a line each."""
    plan = progress.stage.plan
    lines = [
        f"{plan.name}: {plan.method.name}, {progress.stage.name}",
        f"spent: {spending(progress)}",
        f"evaluations: {counts(progress)}",
    ]
    if progress.stage.name == "run":
        lines.append(f"front so far: {_some(progress.front)}")
        if progress.settled is not None and progress.outstanding is not None:
            within = "" if plan.stop is None else f" within {plan.stop.tolerance}"
            lines.append(
                f"settled{within}: {progress.settled} of {len(progress.stage.names)}; still to be paid: "
                f"about {progress.outstanding:,.4g} {plan.cost.unit}"
            )
    return lines


def spending(progress: Progress) -> str:
    """Say what was spent of what."""
    plan = progress.stage.plan
    inherited = f", {progress.inherited:,.6g} of it by an earlier run" if progress.inherited else ""
    if progress.budget is not None:
        part = f"{progress.spent:,.6g} of {progress.budget:,.6g} {plan.cost.unit}"
        return f"{part} ({progress.spent / progress.budget:.0%}){inherited}"
    of = ", of a share of what the pilot finds" if plan.budget is not None else ""
    return f"{progress.spent:,.4g} {plan.cost.unit}{of}{inherited}"


def counts(progress: Progress) -> str:
    """Count evaluations and configurations."""
    active = f"{len(progress.active)} of {len(progress.stage.names)} configurations active"
    return f"{progress.stage.evaluated} made, {progress.in_flight} in flight, {active}"


def print_end(done: Run, out: Console) -> None:
    """Print what a run came to: one answer, the set that its method returns, with what that means."""
    import cobandit as cb
    from cobandit.cli.recommend import show

    plan, policy = done.plan, done.policy
    of = "" if done.budget is None else f" of {done.budget:,.6g}"
    inherited = f"; an earlier run had paid {done.inherited:,.6g} of it" if done.inherited else ""
    lines = [f"spent {done.spent:,.6g}{of} {plan.cost.unit}{inherited}"]
    if isinstance(policy, ParetoRace):
        within = "exactly" if plan.stop is None else f"within {plan.stop.tolerance}"
        settled = f"{int(policy.settled.sum())} of {policy.n_arms} configurations are settled {within}"
        why = "" if policy.status == "settled" else f": {policy.status}"
        lines.append(f"{settled}, on the first {policy.pulls.max()} of {len(plan.order)} instances{why}")
    counts = f"by {' and '.join(each.name for each in plan.objectives)}, whatever the cost"
    if not isinstance(policy, IdentificationPolicy):
        counts = "as the most hypervolume per cost"
    lines += [*done.losses, f"{plan.method.name} returns, {counts}:"]
    lines += [f"  {name}" for name in done.recommendation]
    lines.append(f"table: {done.table}, with its card")
    if get_kind(type(policy)) == "once" and policy.pulls.max() < len(plan.order):
        lines.append("to go on: change the plan's stop, budget or method, and give the same command again")
    for line in [*lines, ""]:
        out.print(line, soft_wrap=True)
    tolerance = 0.0 if plan.stop is None else plan.stop.tolerance
    show(cb.recommend(cb.read(done.table), returned=done.recommendation, tolerance=tolerance), out)


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (", ".join(map(plain, names[:NAMED])) or "none yet") + more
