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

if TYPE_CHECKING:
    from cobandit.live import Progress

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
    """A line at the start of each part of a run, at each tenth of the budget, and for each failure."""

    def __init__(self, out: Console):
        self.out = out
        self.shown: tuple[str, int] = ("", 0)

    def __call__(self, progress: Progress) -> None:
        step = 0 if progress.budget is None else int(STEPS * progress.spent / progress.budget)
        if progress.failed:
            self._print(progress.line)
        if self.shown != (progress.stage.name, step):
            self.shown = (progress.stage.name, step)
            front = f"; front so far: {_some(progress.front)}" if progress.stage.name == "run" else ""
            self._print(f"{progress.stage.name}: {spending(progress)}, {counts(progress)}{front}")

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
    plan = progress.stage.plan
    table.add_row(plan.name, f"{plan.method.name}, {progress.stage.name}")
    table.add_row("spent", spending(progress))
    table.add_row("evaluations", counts(progress))
    if progress.stage.name == "run":
        table.add_row("front so far", _some(progress.front))
    return Group(table, *(Text(event, style="dim", no_wrap=True, overflow="ellipsis") for event in events))


def spending(progress: Progress) -> str:
    """Say what was spent of what."""
    unit = progress.stage.plan.cost.unit
    if progress.budget is None:
        return f"{progress.spent:,.4g} {unit}, of a share of what the pilot finds"
    return f"{progress.spent:,.6g} of {progress.budget:,.6g} {unit} ({progress.spent / progress.budget:.0%})"


def counts(progress: Progress) -> str:
    """Count evaluations and configurations."""
    active = f"{len(progress.active)} of {len(progress.stage.names)} configurations active"
    return f"{progress.stage.evaluated} made, {progress.in_flight} in flight, {active}"


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (", ".join(map(plain, names[:NAMED])) or "none yet") + more
