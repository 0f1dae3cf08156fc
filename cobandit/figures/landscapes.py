"""Figures of the configurations of a table, and typesetting of tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cobandit import _validation
from cobandit.dominance import pareto_mask
from cobandit.figures.style import (
    FAINT,
    INK,
    escape_math,
    log_axis,
    provenance,
    show_plain,
)

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from cobandit.tables import EvaluationTable


#: Areas of the marks of the cheapest and the most expensive configuration, in square
#: points.
SMALLEST, LARGEST = 30, 200
#: The x axis is logarithmic if the largest value is more than this multiple of the
#: median. Most values would otherwise be crowded at the lower end.
CROWDED = 4
#: Marks of the front within this distance, in points, share a label.
APART = 8
#: Largest number of numbered members of the front, for which a legend has room. The
#: cheapest ones are numbered.
NAMED = 20
#: If all values of the x axis are below this number, the axis has few ticks, because
#: labels with many digits would overlap.
SHORT = 0.01


def landscape(
    table: EvaluationTable, x: str, y: str, ax: Axes | None = None, split: str = "all"
) -> Axes:
    """Draw configurations in a plane: two objectives, or cost and one objective.

    The line is the front of the two drawn quantities. Dark marks are Pareto-optimal in
    all objectives; with more than two objectives, they may be off the line.

    Parameters
    ----------
    table : EvaluationTable
    x, y : str
        Names of two objectives; ``x`` may be ``"cost"``, where less is better.
    ax : Axes, optional
    split : {"all", "evaluation", "profiling"}
        Split of the instances whose means are drawn. Replays use the means over
        ``"evaluation"`` as true means.

    Returns
    -------
    Axes

    Raises
    ------
    CobanditError
        If an objective is unknown.

    Examples
    --------
    >>> import cobandit as cb
    >>> landscape(cb.load("synthetic-24"), "accuracy", "efficiency").get_xlabel()
    'mean accuracy'
    """
    ax = ax or plt.subplots()[1]
    _validation.choice(x, "objective", (*table.objectives, "cost"))
    _validation.choice(y, "objective", table.objectives)
    points = table.summary(split)
    low = points["cost"].min()
    high = points["cost"].max()

    def area(cost: Any) -> Any:
        """Return areas of marks, linear in cost, to show small differences."""
        return SMALLEST + (LARGEST - SMALLEST) * (cost - low) / ((high - low) or 1)

    front = _along(points[points["on_front"]], x, y)
    for part, color in ((points[~points["on_front"]], FAINT), (front, INK)):
        ax.scatter(part[x], part[y], s=area(part["cost"]), color=color, alpha=0.8, lw=0)

    # the front of the two drawn quantities; costs are negated, because less is better
    plane = points[[x, y]].to_numpy() * [-1 if x == "cost" else 1, 1]
    line = _along(points[pareto_mask(plane)], x, y)
    ax.plot(line[x], line[y], color="black", lw=1, label="front of these two")

    if points[x].min() > 0 and points[x].max() > CROWDED * points[x].median():
        log_axis(ax, "x")
    elif ax.get_xlim()[1] < SHORT:
        ax.xaxis.set_major_locator(MaxNLocator(5))

    # number the marks, on alternating sides
    named = _along(front.sort_values("cost")[:NAMED], x, y)
    sides = {"xytext": (-9, -9), "ha": "right"}, {"xytext": (9, 3), "ha": "left"}
    for number, (label, mark) in enumerate(_labels(ax, named[[x, y]].to_numpy())):
        ax.annotate(
            label,
            mark,
            textcoords="offset points",
            fontsize="small",
            **sides[number % 2],
        )

    unit = escape_math(table.card.cost.unit)
    for cost in points["cost"].quantile([0, 0.5, 1]):
        ax.scatter(
            [],
            [],
            s=area(cost),
            color=FAINT,
            lw=0,
            label=f"mean cost {cost:.3g} {unit}",
        )
    ax.scatter([], [], s=40, color=INK, lw=0, label="Pareto-optimal:")
    for number, name in enumerate(named.index, start=1):
        ax.plot([], [], ls="", label=f"{number}  {escape_math(name)}")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_xlabel(f"mean cost ({unit})" if x == "cost" else f"mean {escape_math(x)}")
    ax.set_ylabel(f"mean {escape_math(y)}")
    ax.set_title(provenance(table).replace("$", r"\$"))
    return ax


def _along(front: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Sort a front by x, then by y, so that a line through it never turns back."""
    return front.sort_values([x, y], ascending=[True, x == "cost"])


def _labels(ax: Axes, marks: np.ndarray) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield labels of marks with their positions; neighbouring marks share a label."""
    ax.autoscale_view()
    places = ax.transData.transform(marks) * 72 / ax.figure.dpi
    start = 0
    for number in range(1, len(marks) + 1):
        if number == len(marks) or np.abs(places[number] - places[start]).max() > APART:
            label = str(start + 1) if number == start + 1 else f"{start + 1}–{number}"
            yield label, tuple(marks[start])
            start = number


def show_table(
    frame: pd.DataFrame, caption: str = "", filterable: bool = False, **formats: str
) -> Styler:
    """Return a data frame as a formatted HTML table without its index.

    Numbers are aligned, and the HTML is the same in every run.

    Parameters
    ----------
    frame : DataFrame
    caption : str
        Caption above the table, unique on its page.
    filterable : bool
        Whether the table in the book has a field for filtering its rows.
    **formats : str
        Format specifications by column, such as ``cost=".3f"``.

    Returns
    -------
    Styler

    Examples
    --------
    >>> table = show_table(pd.DataFrame({"x": [-0.5]}), "One number", x=".2f")
    >>> "−0.50" in table.to_html()
    True

    Numbers in scientific notation are written as powers of ten, and an interval is
    never broken across lines.
    """
    # imported here, because it takes a tenth of a second and pictures do not need it
    from pandas.io.formats.style import Styler

    name = re.sub(r"\W+", "-", caption.lower()).strip("-") or "table"
    shown = Styler(
        frame, uuid=name, uuid_len=0, cell_ids=False, caption=caption or None
    )
    words = [
        name
        for name, dtype in frame.dtypes.items()
        if not pd.api.types.is_numeric_dtype(dtype)
    ]
    wrap = "text-align: left; white-space: normal"
    left: Any = [
        {"selector": f".col{frame.columns.get_loc(name)}", "props": wrap}
        for name in words
    ]
    if filterable:
        shown = shown.set_table_attributes('class="filterable"')
    shown = shown.hide(axis="index").set_table_styles(left)
    typeset: Any = dict.fromkeys(words, typeset_text)
    typeset |= {column: _typeset_number(spec) for column, spec in formats.items()}
    return shown.format(typeset, na_rep="–", escape="html")


def _typeset_number(spec: str) -> Callable[[Any], str]:
    """Return a formatter of numbers that writes minus signs and powers of ten."""

    def typeset(value: Any) -> str:
        text = format(value, spec)
        if re.fullmatch(r"-?[\d.]+e[+-]\d+", text):
            text = show_plain(float(text))
        return text.replace("-", "−")

    return typeset


def typeset_text(value: Any) -> Any:
    r"""Write numbers in a text as they are printed, and keep intervals on one line.

    Numbers get minus signs, powers of ten, and a space before their percent sign, but
    not in quotes. A value that is not a text is returned as it is.

    Examples
    --------
    >>> typeset_text("-16.0 points, at most 2.5e-08 in 40%")
    '−16.0 points, at most 2.5 · 10⁻⁸ in 40\xa0%'
    >>> typeset_text("write a share such as '10%'")
    "write a share such as '10%'"
    """
    if not isinstance(value, str):
        return value
    text = re.sub(
        r"(?<![^\s(])\d[\d.]*e[+-]?\d+(?![\w.-])",
        lambda number: show_plain(float(number[0])),
        value,
    )
    text = re.sub(r"(^|\(|, | to )-(?=\d)", r"\1−", text)
    space = "\N{NO-BREAK SPACE}"
    text = re.sub(r"(?<=\d)%(?!')", f"{space}%", text)
    text = re.sub(r"\(([−+\d.,]+) to ([−+\d.,]+)\)", rf"(\1{space}to{space}\2)", text)
    return re.sub(r"(?<=\d) ± (?=\d)", f"{space}±{space}", text)
