"""Displaying the progress of a run: a bar, and a line per failing configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cobandit.cli import plain

if TYPE_CHECKING:
    from cobandit.live import Progress

#: Seconds between two updates.
EVERY = 0.2
#: Largest number of failing configurations that are shown.
FAILING = 8
#: Largest number of configurations on the front that are named.
NAMED_MEMBERS = 8
#: Width of the bar, in columns.
BAR_WIDTH = 20
#: Number of equal parts of the budget; a line is printed after each part.
BUDGET_STEPS = 10


@dataclass
class Failures:
    """The failures of a run so far, by configuration."""

    #: number of failures
    counts: dict[str, int] = field(default_factory=dict)
    #: description of the last failure
    last: dict[str, str] = field(default_factory=dict)

    def add(self, progress: Progress) -> bool:
        """Count a failure; return whether it is the first of its configuration."""
        if not progress.failed:
            return False
        name = progress.configuration
        self.counts[name] = self.counts.get(name, 0) + 1
        self.last[name] = progress.line
        return self.counts[name] == 1

    def lines(self, repeated: bool = False) -> list[str]:
        """Return a line per failing configuration.

        With ``repeated``, configurations that failed only once are left out.
        """
        names = sorted(self.counts, key=lambda name: -self.counts[name])
        return [
            (
                f"{name}: {self.counts[name]:,} tries failed; the last one:"
                f" {self.last[name]}"
                if self.counts[name] > 1
                else self.last[name]
            )
            for name in names
            if self.counts[name] > repeated
        ]


@contextmanager
def watching(terminal: Console) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that displays the progress of a run after each event."""
    yield from _draw(terminal) if terminal.is_terminal else _print(terminal)


def _draw(terminal: Console) -> Iterator[Callable[[Progress], None]]:
    """Redraw the display a few times per second, and keep its last state visible."""
    failures = Failures()
    drawn = 0.0
    latest: Progress | None = None

    def draw(progress: Progress) -> None:
        nonlocal drawn, latest
        latest = progress
        failures.add(progress)
        if progress.notable:
            terminal.print(plain(progress.line, longest=2000), soft_wrap=True)
        now = time.monotonic()
        if now - drawn >= EVERY or not progress.line:
            drawn = now
            live.update(draw_progress(progress, failures))

    with Live(console=terminal, refresh_per_second=1 / EVERY) as live:
        try:
            yield draw
        finally:
            if latest is not None:
                live.update(draw_progress(latest, failures))


def _print(terminal: Console) -> Iterator[Callable[[Progress], None]]:
    """Print a line per stage, part of the budget, settled arm, and first failure."""
    failures = Failures()
    shown: tuple[str, int, int | None] = ("", 0, None)

    def report(progress: Progress) -> None:
        nonlocal shown
        stage = progress.stage
        step = 0
        if stage.budget is not None:
            step = int(BUDGET_STEPS * stage.spent / stage.budget)
        now = stage.name, step, progress.settled
        if failures.add(progress) or progress.notable:
            terminal.print(plain(progress.line, longest=2000), soft_wrap=True)
        if shown != now:
            shown = now
            terminal.print(
                plain(f"{stage.name}: {summarize(progress)}", longest=2000),
                soft_wrap=True,
            )

    try:
        yield report
    finally:
        for line in failures.lines(repeated=True):
            terminal.print(plain(line, longest=2000), soft_wrap=True)


def draw_progress(progress: Progress, failures: Failures) -> RenderableType:
    """Draw a progress bar with numbers, the current front, and failures."""
    share = find_share(progress)
    line = Table.grid(expand=True, padding=(0, 1, 0, 0))
    line.add_column(no_wrap=True)
    line.add_column(width=BAR_WIDTH)
    line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    name = f"{progress.stage.plan.name} {progress.stage.name}"
    bar = ProgressBar(total=1.0, completed=share, width=BAR_WIDTH)
    line.add_row(
        Text(plain(name, 40), style="bold"),
        bar,
        Text(plain(summarize(progress), longest=2000)),
    )

    failed = failures.lines()
    texts = [
        Text(plain(text, longest=2000), no_wrap=True, overflow="ellipsis")
        for text in failed[:FAILING]
    ]
    if len(failed) > FAILING:
        texts.append(Text(f"{len(failed) - FAILING} more configurations have failures"))
    return Group(line, *texts)


def find_share(progress: Progress) -> float:
    """Return the completed share of the pilot, the budget, or the expected cost."""
    from cobandit.policies.pareto_race import ParetoRace

    stage = progress.stage
    policy = stage.policy
    if stage.name == "pilot":
        return float(policy.pulls.sum() / (stage.plan.pilot * len(stage.names)))
    if stage.budget is not None:
        return min(1.0, stage.spent / stage.budget)
    if isinstance(policy, ParetoRace):
        forecast = float(policy.forecast() @ policy.costs)
        return stage.spent / (stage.spent + forecast)
    return 0.0


def summarize(progress: Progress) -> str:
    """Summarize the state of a run in one line, beginning with its cost."""
    from cobandit._text import some_names
    from cobandit.live.status import describe_spending

    stage = progress.stage
    parts = [describe_spending(progress), f"{len(stage.records):,} evaluations"]
    if stage.name == "pilot":
        n_all = stage.plan.pilot * len(stage.names)
        parts[1] = f"{stage.policy.pulls.sum():,} of {n_all:,} evaluations"
        return ", ".join(parts)
    if progress.settled is not None:
        parts.append(f"{progress.settled} of {len(stage.names)} settled")
    parts.append(
        f"front so far: {some_names(progress.front, NAMED_MEMBERS) or 'none yet'}"
    )
    return ", ".join(parts)
