"""A table's configurations in a plane and by every pair of scores, and tables as the book typesets them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cobandit import _check
from cobandit.dominance import pareto_mask
from cobandit.figures.style import FAINT, INK, escape_math, provenance

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from cobandit.tables import EvaluationTable


#: Area of the most expensive configuration's mark, in square points, and the cheapest one's share of it.
LARGEST, SMALLEST = 420, 0.15
#: Values of which the largest is so many medians crowd at the lower end of an axis: it becomes logarithmic.
CROWDED = 4
#: With more arms than this all marks are smaller, so that they still tell apart.
CROWD = 30
#: Marks of the front within so many points of each other share a label.
APART = 8
#: Members of the front that are numbered and named: what a legend can hold.
NAMED = 20
#: Columns that are drawn, at most: the grid grows with their square.
MOST = 5


def landscape(table: EvaluationTable, x: str, y: str, ax: Axes | None = None, split: str = "all") -> Axes:
    """Configurations in the plane of two objectives, or of cost and one, with the front; area is cost.

    Dark marks are Pareto-optimal in all objectives, which with more than two need not lie on the line.

    Parameters
    ----------
    table : EvaluationTable
    x, y : str
        Names of two objectives; ``x`` may be ``"cost"``, of which less is better.
    ax : Axes, optional
    split : {"all", "evaluation", "profiling"}
        Whose means are drawn; replays are judged by those of ``"evaluation"``.

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
    _check.choice(x, "objective", (*table.objectives, "cost"))
    _check.choice(y, "objective", table.objectives)
    points = table.summary(split)
    largest = LARGEST * min(1.0, CROWD / table.n_arms)
    low, high = points["cost"].min(), points["cost"].max()

    def area(cost: Any) -> Any:
        """Linear from the cheapest to the most expensive, so that costs within a tenth differ, too."""
        return largest * (SMALLEST + (1 - SMALLEST) * (cost - low) / ((high - low) or 1))

    if points[x].min() > 0 and points[x].max() > CROWDED * points[x].median():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    sizes = area(points["cost"])
    rest = ~points["on_front"]
    plane = points[[x, y]].to_numpy() * [-1 if x == "cost" else 1, 1]
    line = _along(points[pareto_mask(plane)], x, y)
    ax.scatter(points.loc[rest, x], points.loc[rest, y], s=sizes[rest], color=FAINT, lw=0)
    front = _along(points[points["on_front"]], x, y)
    ax.scatter(front[x], front[y], s=sizes[front.index], color=INK, alpha=0.8, lw=0, zorder=3)
    ax.plot(line[x], line[y], color="black", lw=1, zorder=2)
    named = numbered_front(table, x, y, split)
    for side, (numbers, at) in enumerate(_labels(ax, named[[x, y]].to_numpy())):
        place = {"xytext": (9, 3), "ha": "left"} if side % 2 else {"xytext": (-9, -9), "ha": "right"}
        ax.annotate(numbers, at, textcoords="offset points", fontsize="small", **place)
    unit = escape_math(table.card.cost.unit)
    for cost in points["cost"].quantile([0, 0.5, 1]):
        ax.scatter([], [], s=area(cost), color=FAINT, lw=0, label=f"{cost:.3g} {unit}")
    ax.plot([], [], color="black", lw=1, label="front of these two")
    ax.scatter([], [], s=40, color=INK, lw=0, label="Pareto-optimal:")
    for number, name in enumerate(named.index, start=1):
        ax.plot([], [], ls="", label=f"{number}  {escape_math(name)}")
    if len(front) > NAMED:
        ax.plot([], [], ls="", label=f"and {len(front) - NAMED} that cost more")
    spacing = 0.9 if table.n_arms <= CROWD else 0.5  # large marks need room
    ax.legend(title="mean cost", loc="upper left", bbox_to_anchor=(1, 1), labelspacing=spacing)
    ax.set(
        xlabel=f"mean cost ({unit})" if x == "cost" else f"mean {escape_math(x)}",
        ylabel=f"mean {escape_math(y)}",
    )
    ax.set_title(provenance(table).replace("$", r"\$"))
    return ax


def numbered_front(table: EvaluationTable, x: str, y: str, split: str = "all") -> pd.DataFrame:
    """Give the members of the front that `landscape` numbers, in their order: of many, the cheapest.

    Parameters
    ----------
    table, x, y, split
        As for `landscape`.

    Returns
    -------
    DataFrame
        Rows of ``table.summary(split)``.

    Examples
    --------
    >>> import cobandit as cb
    >>> front = numbered_front(cb.load("synthetic-24"), "accuracy", "efficiency")
    >>> front["accuracy"].is_monotonic_increasing, front["efficiency"].is_monotonic_decreasing
    (True, True)
    """
    points = table.summary(split)
    return _along(points[points["on_front"]].sort_values("cost")[:NAMED], x, y)


def _along(front: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Sort a front along x, of equal x the better y first: a line through it never doubles back."""
    return front.sort_values([x, y], ascending=[True, x == "cost"])


def _labels(ax: Axes, marks: np.ndarray) -> list[tuple[str, tuple[float, float]]]:
    """Numbers of the marks, and where they stand: of neighbours closer than `APART` points one range."""
    ax.autoscale_view()
    places = ax.transData.transform(marks) * 72 / ax.figure.dpi
    found: list[tuple[str, tuple[float, float]]] = []
    start = 0
    for number in range(1, len(marks) + 1):
        if number == len(marks) or np.abs(places[number] - places[start]).max() > APART:
            label = str(start + 1) if number == start + 1 else f"{start + 1}–{number}"
            found.append((label, tuple(marks[start])))
            start = number
    return found


def pairs(table: EvaluationTable) -> Figure:
    """Draw the configurations by each pair of objectives and the mean cost, dark where on the front.

    Parameters
    ----------
    table : EvaluationTable
        Of its objectives the first four, and the mean cost.

    Returns
    -------
    Figure
        Scatter plots below the diagonal, a histogram of the configurations on it.

    Examples
    --------
    >>> import cobandit as cb
    >>> len(pairs(cb.load("synthetic-24")).axes)  # six panels, and a second axis for each histogram
    9
    """
    import seaborn as sns  # a second that other figures need not wait for

    cost = f"mean cost ({escape_math(table.card.cost.unit)})"
    named = {name: escape_math(name) for name in table.objectives[: MOST - 1]} | {"cost": cost}
    points = table.summary().rename(columns=named)
    points["on the front"] = points["on_front"].map({True: "yes", False: "no"})
    with plt.rc_context({"figure.constrained_layout.use": False}):  # seaborn lays it out
        grid = sns.pairplot(
            points,
            vars=list(named.values()),
            hue="on the front",
            hue_order=["no", "yes"],
            palette={"no": FAINT, "yes": INK},
            corner=True,
            diag_kind="hist",
            height=2.0,
        )
    return grid.figure


def show_table(frame: pd.DataFrame, caption: str = "", filterable: bool = False, **formats: str) -> Styler:
    """Typeset a frame: no index, aligned numbers, the same HTML in every run.

    Parameters
    ----------
    frame : DataFrame
    caption : str
        Stands above the table; different for each table of a page.
    filterable : bool
        Whether the book gives the table a field by which its readers choose rows.
    **formats : str
        Format specifications by column, such as ``cost=".3f"``.

    Returns
    -------
    Styler

    Examples
    --------
    >>> "0.50" in show_table(pd.DataFrame({"x": [0.5]}), "One number", x=".2f").to_html()
    True
    """
    from pandas.io.formats.style import Styler  # a tenth of a second, which no picture needs

    name = re.sub(r"\W+", "-", caption.lower()).strip("-") or "table"
    shown = Styler(frame, uuid=name, uuid_len=0, cell_ids=False, caption=caption or None)
    words = [name for name, dtype in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    wrap = "text-align: left; white-space: normal"
    left: Any = [{"selector": f".col{frame.columns.get_loc(name)}", "props": wrap} for name in words]
    if filterable:
        shown = shown.set_table_attributes('class="filterable"')
    shown = shown.hide(axis="index").set_table_styles(left)
    return shown.format(
        {column: f"{{:{spec}}}" for column, spec in formats.items()}, na_rep="–", escape="html"
    )


def drawn_from(
    source: EvaluationTable | Sequence[EvaluationTable],
    replications: int | None = None,
    seed: int | None = None,
    drawn_by: str | Sequence[str] = (),
) -> str:
    """Say in Markdown what a figure was drawn from, how often, with which seed, by what, one line per table.

    Parameters
    ----------
    source : EvaluationTable, or several of them
    replications, seed : int, optional
        None where nothing was replayed or redrawn.
    drawn_by : str or sequence of str
        Functions below ``cobandit``; none where the page itself draws.

    Examples
    --------
    >>> import cobandit as cb
    >>> drawn_from(cb.load("synthetic-24"), 100, 0, "figures.by_budget")[:33]
    '*synthetic-24 (synthetic), sha256'
    >>> drawn_from(cb.load("synthetic-24")).split("; ")[1]
    'drawn by code on this page.*'
    """
    listed = [drawn_by] if isinstance(drawn_by, str) else list(drawn_by)
    functions = " and ".join(f"{{py:func}}`cobandit.{name}`" for name in listed)
    by = f"drawn by {functions or 'code on this page'}"
    many = "replication" if replications == 1 else "replications"
    runs = "" if replications is None else f"; {replications:,} {many}, seed {seed}"
    lines = []
    for table in source if isinstance(source, Sequence) else [source]:
        checksum = f", sha256 {table.card.sha256[:12]}…" if table.card.sha256 else ""
        lines.append(f"*{provenance(table)}{checksum}{runs}; {by}.*")
    return "  \n".join(lines)
