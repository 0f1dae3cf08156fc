"""Printing a recommendation: headline, table of the front, and lines below it."""

from __future__ import annotations

import shlex
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from cobandit.cli import plain, print_lines

if TYPE_CHECKING:
    import pandas as pd

    from cobandit.advice import Recommendation
    from cobandit.advice.rivals import Rivals
    from cobandit.tables import EvaluationTable

#: Largest number of rows of the table, for one screen; ``--all`` and ``--json`` show
#: all.
SHOWN = 15
#: Smallest width of the column of names. In a terminal that is too narrow for this, the
#: table has no intervals.
NAME = 24
#: Width of the labels of the lines below the table.
LABEL = 11


def print_advice(
    advice: Recommendation,
    terminal: Console,
    ratio: bool = False,
    everything: bool = False,
    source: str | None = None,
) -> None:
    """Print a recommendation: headline, table of the front, and lines below.

    With ``source``, the user's name of the table, the last line shows further options.
    """
    from cobandit.advice.answer import answer

    texts = answer(advice, ratio)
    print_lines(terminal, texts.headline, *texts.warnings)
    terminal.print(_draw_front(advice, terminal.width, everything), crop=False)
    grid = Table.grid()
    grid.add_column(width=LABEL, style="bold")
    grid.add_column(overflow="fold")
    for topic, line in texts.lines.items():
        grid.add_row(topic, plain(line[0].upper() + line[1:], longest=100_000))
    if source is not None:
        command = f"cobandit recommend {shlex.quote(source)}"
        options = "--html front.html   --why NAME   --all   --json"
        grid.add_row("More", plain(f"{command} {options}", longest=100_000))
    terminal.print(grid)


class Layout(NamedTuple):
    """Parts of the table of an answer."""

    steps: bool  #: whether it has the gains over the next cheaper member
    intervals: bool  #: whether it has the intervals of the means
    measured: bool  #: whether it has columns of measured values, such as seconds


#: Layouts, from the widest to the narrowest.
LAYOUTS = (
    Layout(steps=True, intervals=True, measured=True),
    Layout(steps=False, intervals=True, measured=True),
    Layout(steps=False, intervals=False, measured=True),
    Layout(steps=False, intervals=False, measured=False),
)


def _draw_front(advice: Recommendation, width: int, everything: bool) -> Table:
    """Draw the table of the front in the widest layout that the terminal allows."""
    from cobandit.advice.answer_table import STEP, front_first, shorten, worth_showing

    likely = worth_showing(advice)
    shown = front_first(advice) if everything else shorten(advice, likely, SHOWN)
    longest = max(len(plain(name)) for name in shown.index)

    # names are wrapped, but never truncated
    for layout in LAYOUTS:
        texts = _write_columns(advice, shown, layout)
        widths = [max(len(str(head)), texts[head].str.len().max()) for head in texts]
        room = width - sum(widths) - len(widths) - 2
        if room >= (longest if layout.steps else min(longest, NAME)):
            break

    caption = _write_caption(advice, layout, n_hidden=max(0, len(likely) - len(shown)))
    view = Table(
        box=box.SIMPLE_HEAD, padding=0, caption=caption, caption_justify="left"
    )
    view.add_column("configuration", min_width=len("configuration"), overflow="fold")
    for head in map(str, texts):
        view.add_column(head, justify="left" if head == STEP else "right", no_wrap=True)
    places = front_first(advice).index.get_indexer(shown.index)
    for number, (name, *cells) in enumerate(texts.itertuples(name=None)):
        # a row with an ellipsis marks hidden rows
        if number and places[number] > places[number - 1] + 1:
            view.add_row("…")
        view.add_row(plain(name), *cells)
    if room < len("configuration"):
        view.width = width - room + len("configuration")
    return view


def _write_columns(
    advice: Recommendation, shown: pd.DataFrame, layout: Layout
) -> pd.DataFrame:
    """Write the columns of a layout as text."""
    from cobandit.advice.answer_table import STEP, TIMES, write_answer_table

    texts = write_answer_table(
        advice, shown, layout.intervals, step_intervals=False, measured=layout.measured
    )
    texts = texts.rename(columns={TIMES: ""})
    return texts if layout.steps else texts.drop(columns=STEP)


def _write_caption(advice: Recommendation, layout: Layout, n_hidden: int) -> str:
    """Write the caption: hidden rows and columns, and the kind of intervals."""
    from cobandit.advice.words import percent

    notes = []
    if n_hidden:
        notes.append(f"{n_hidden} more with --all")
    if layout.intervals and not advice.exact:
        notes.append(f"intervals: {percent(advice.level)}, one mean at a time")
    if advice.measured and not layout.measured:
        notes.append(
            f"{', '.join(advice.measured.values())}: in a wider terminal, or with"
            " --html"
        )
    return "; ".join(notes)


def print_rivals(against: Rivals, table: EvaluationTable, terminal: Console) -> None:
    """Print the rivals of a configuration."""
    from cobandit.advice.words import percent

    name = plain(against.configuration)
    rivals = against.rivals
    if against.beaten:
        number = len(rivals)
        subject = (
            "one configuration beats"
            if number == 1
            else f"{number} configurations beat"
        )
        headline = f"{name} is not worth its cost by the means: {subject} it."
    else:
        headline = (
            f"{name} is worth its cost by the means: no configuration beats it. The"
            " closest are:"
        )
    print_lines(terminal, headline)

    view = Table(box=box.SIMPLE_HEAD, padding=0)
    view.add_column("rival", min_width=len("configuration"), overflow="fold")
    for head in (
        f"{table.card.cost.unit}/eval",
        *(f"points of {objective}" for objective in table.objectives),
    ):
        view.add_column(head, justify="right")
    for rival, row in rivals.head(SHOWN).iterrows():
        gains = []
        for objective in table.objectives:
            gain, low, high = (
                100 * row[f"more_{objective}{end}"] for end in ("", "_low", "_high")
            )
            gains.append(f"{gain:+.1f} ({low:+.1f} to {high:+.1f})")
        times = "" if isnan(row["times"]) else f"{row['times']:.3g}x"
        view.add_row(plain(rival), times, *gains)
    terminal.print(view)
    level = percent(against.level)
    print_lines(
        terminal,
        f"Difference of rival and {name} on shared instances; intervals: {level}, one"
        " difference at a time.",
    )
