"""The pictures of the chapter on the experiments: summarised cells in, one figure each.

Cells are those of `companion.paper.experiments.summary`.  Crosses are values that the
paper prints, pale bars what was predicted of them before; colours are the methods'
alone, so tables and arms have none.
"""

from collections.abc import Mapping, Sequence, Sized
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from cobandit.figures.style import (
    FAINT,
    INK,
    LINES,
    escape_math,
    log_axis,
    method_label,
    method_style,
    name_rows,
    provenance,
    shared_legend,
)
from cobandit.tables import EvaluationTable
from companion.pages.comparison import mark_printed, printed_points
from companion.paper.numbers import as_frame

#: Rows of a figure: the experiments that may print a quantity, its own first; label;
#: whether in logarithms.
FigureRow = tuple[tuple[str, ...], str, bool]
REGRETS: dict[str, FigureRow] = {
    "efficiency_regret": (("online", "trajectory"), "efficiency regret", True),
    "standard_regret": (("online",), "standard regret", True),
}
SETS: dict[str, FigureRow] = {
    "error": (("identification", "stochastic"), "wrong sets", True),
    "f1": (("full-set",), "F1, all arms", False),
}


def titles_of(tables: Sequence[EvaluationTable]) -> dict[str, str]:
    """Write what stands above the column of each table, by its name."""
    return {table.name: escape_math(provenance(table)) for table in tables}


def draw_cells(
    cells: pd.DataFrame,
    rows: Mapping[str, FigureRow],
    titles: Mapping[str, str],
    predicted: pd.DataFrame | None = None,
) -> Figure:
    """Quantities against the budget: a row per quantity, a column per table.

    Parameters
    ----------
    cells : DataFrame
    rows : mapping of str to Row
        Such as `REGRETS` and `SETS`, or parts of both.
    titles : mapping of str to str
        Names of the tables, in order, and what stands above their columns.
    predicted : DataFrame, optional
        From `companion.stored.results.predict_printed`.
    """
    figure, axes = _panels(
        titles, len(rows), 2.0 * len(rows) + 0.6, "evaluations per configuration", "row"
    )
    for line, (quantity, (experiments, label, logarithmic)) in zip(
        axes, rows.items(), strict=True
    ):
        own = cells[
            (cells["experiment"] == experiments[0]) & (cells["quantity"] == quantity)
        ]
        own = own[own["rho"].notna() & own["against"].isna()]
        for ax, name in zip(line, titles, strict=True):
            _draw_methods(ax, own[own["dataset"] == name], logarithmic)
            mark_printed(ax, printed_points(name, quantity, *experiments), predicted)
        line[0].set_ylabel(label)
        ticks = np.unique(own["rho"])[:: 2 if own["rho"].nunique() < 6 else 3]
        line[0].set_xscale("log")
        if logarithmic:
            log_axis(line[0])
        line[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        line[0].xaxis.set_minor_locator(NullLocator())

    shared_legend(figure, columns=4)
    return figure


def _panels(
    titles: Mapping[str, str], rows: int, height: float, label: str, sharex: Any
) -> tuple[Figure, Any]:
    """Draw a column of panels for each table, its title above, what the horizontal axis is below."""
    size = _width(titles), height
    figure, axes = plt.subplots(
        rows, len(titles), figsize=size, sharex=sharex, sharey="row", squeeze=False
    )
    for title, top, bottom in zip(titles.values(), axes[0], axes[-1], strict=True):
        top.set_title(title)
        bottom.set_xlabel(label)
    return figure, axes


def _width(tables: Sized) -> float:
    """Width of a figure with a column per table, in inches; a single one need not be narrow."""
    return max(2.3 * len(tables), 4.2)


def _draw_methods(ax: Axes, cells: pd.DataFrame, logarithmic: bool) -> None:
    if cells.empty:
        ax.annotate(
            "not replayed",
            (0.5, 0.5),
            xycoords="axes fraction",
            ha="center",
            color=FAINT,
            fontsize="small",
        )

    for method, line in cells.groupby("method", sort=False):
        look, line = method_style(str(method)), line.sort_values("rho")
        # no logarithm of an error that no run made
        shown = line[line["mean"] > 0] if logarithmic else line
        ax.plot(
            shown["rho"], shown["mean"], ms=3, label=method_label(str(method)), **look
        )
        ax.fill_between(
            line["rho"], line["low"], line["high"], color=look["color"], alpha=0.2, lw=0
        )


def draw_along(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Both quantities of a run at the largest budget, against the share of it that is spent."""
    own = cells[
        (cells["experiment"] == "trajectory")
        & cells["spent"].notna()
        & cells["against"].isna()
    ]

    labels = {
        "efficiency_regret": "regret so far",
        "moving_average": "gap, last 50 pulls",
    }
    figure, axes = _panels(titles, 2, 4.4, "share of the budget spent", True)
    for line, (quantity, label) in zip(axes, labels.items(), strict=True):
        for ax, name in zip(line, titles, strict=True):
            here = own[(own["quantity"] == quantity) & (own["dataset"] == name)]
            _draw_methods(
                ax, here.assign(rho=here["spent"] / here["spent"].max()), False
            )
            # the paper prints where runs end, at the end of the axis here
            mark_printed(
                ax, printed_points(name, quantity, "trajectory").assign(rho=1.0)
            )
        line[0].set_ylabel(label)
        log_axis(line[0])

    shared_legend(figure, columns=4)
    return figure


def draw_charges(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw the error at the largest budget, charged what was declared and what it really cost."""
    own = cells[(cells["experiment"] == "stochastic") & cells["against"].isna()]
    numbers = as_frame().query(
        "experiment == 'stochastic' and quantity == 'error' and operation.isna()"
    )
    printed = numbers.set_index(["dataset", "method", "costs"])["value"]
    methods = list(own["method"].unique())

    # names of methods stand at each panel
    rows, columns = -(-len(titles) // 2), min(2, len(titles))
    size = (4.3 * columns, 1.4 * rows + 0.5)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False
    )
    for ax in axes.flat[len(titles) :]:
        ax.remove()
    for ax, (name, title) in zip(axes.flat, titles.items(), strict=False):
        ax.set(title=title, xlabel="wrong sets")
        for row in own[own["dataset"] == name].to_dict("records"):
            realised, color = (
                row["costs"] == "realised",
                method_style(row["method"])["color"],
            )
            place = methods.index(row["method"]) + (0.17 if realised else -0.17)
            ax.plot([row["low"], row["high"]], [place] * 2, "-", color=color, lw=1.2)
            face = "none" if realised else color
            ax.plot(row["mean"], place, "o", color=color, ms=6, mfc=face)
            at = printed.get((name, row["method"], row["costs"]), np.nan)
            ax.plot(at, place, "x", color=INK, ms=7, mew=1.6, zorder=3)

    axes[0, 0].set_xscale("symlog", linthresh=0.01)
    most = 1.15 if own["mean"].max() > 0.9 else 1
    axes[0, 0].set(
        xlim=(-0.001, most),
        xticks=[0, 0.01, 0.1, 1],
        xticklabels=["0", ".01", ".1", "1"],
    )
    axes[0, 0].xaxis.set_minor_locator(NullLocator())
    name_rows(axes[0, 0], [method_label(method) for method in methods])
    entries = [("o", INK, "declared costs"), ("o", "none", "realised costs")]
    if {*titles} & {*numbers["dataset"]}:
        entries.append(("x", INK, "the paper's value"))
    for marker, face, label in entries:
        axes[0, 0].plot([], [], marker, color=INK, mfc=face, label=label)
    shared_legend(figure)
    return figure


def draw_fronts(
    tables: Sequence[EvaluationTable], chances: Mapping[str, np.ndarray]
) -> Figure:
    """Draw configurations in the plane of two scores, darker the likelier they are to be on the front.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        With one objective the mean cost is the other axis.
    chances : mapping of str to ndarray, shape (K,)
        By table, how often each configuration is Pareto-optimal when the instances are
        weighted anew.
    """
    figure, axes = plt.subplots(
        1, len(tables), figsize=(_width(tables), 2.5), squeeze=False
    )
    for ax, table in zip(axes.flat, tables, strict=True):
        points = table.summary()
        x, y = (
            table.objectives[:2]
            if table.n_objectives > 1
            else ("cost", *table.objectives)
        )
        at = points[[x, y]].to_numpy(dtype=float)
        ax.scatter(
            *at.T,
            s=22,
            color=INK,
            alpha=0.05 + 0.95 * chances[table.name],
            lw=0,
            zorder=3,
        )
        ax.scatter(*at.T, s=22, facecolors="none", edgecolors=FAINT, lw=0.5)
        named = {
            "most per cost": table.problem.efficiency,
            "most in all": table.problem.hypervolume,
            "most expensive": points["cost"].to_numpy(),
        }
        for marker, (what, values) in zip("sD^", named.items(), strict=True):
            ax.plot(
                *at[values.argmax()], marker, color=INK, mfc="none", ms=9, label=what
            )
        ax.set(
            title=escape_math(provenance(table)), xlabel=f"mean {x}", ylabel=f"mean {y}"
        )

    shared_legend(figure)
    return figure


def draw_questions(spread: pd.DataFrame) -> Figure:
    """Draw the paper's method over each other one: on the table, and with questions drawn again.

    Parameters
    ----------
    spread : DataFrame
        From `companion.pages.sensitivity.draw_again`.
    """
    names = list(spread["dataset"].unique())
    size = 8.6, 0.5 + 1.15 * len(names)

    figure, axes = plt.subplots(
        len(names), 2, figsize=size, sharex="col", squeeze=False
    )
    words = {"standard_regret": "CoHV-UCB's regret", "f1": "CoPSI's F1"}
    for line, name in zip(axes, names, strict=True):
        for ax, (quantity, label) in zip(line, words.items(), strict=True):
            own = spread[(spread["dataset"] == name) & (spread["quantity"] == quantity)]
            for place, row in enumerate(own.itertuples()):
                color = method_style(row.method)["color"]
                ax.plot([row.least, row.most], [place] * 2, "-", color=INK, lw=0.8)
                ax.plot(
                    [row.low, row.high], [place] * 2, "-", color=color, lw=6, alpha=0.5
                )
                ax.plot(row.mean, place, "|", color=color, ms=12, mew=2)
            ax.axvline(1, color=INK, lw=0.8)
            ax.set(
                title=name,
                xlabel=f"{label} over that of the other" if ax in axes[-1] else "",
            )
            name_rows(ax, list(map(method_label, own["against"])))
            log_axis(ax, "x")

    return figure


def draw_changes(changes: pd.DataFrame, radii: pd.DataFrame) -> Figure:
    """Draw what the open choices change, and what the radii do to the mean and to the worst runs.

    Parameters
    ----------
    changes, radii : DataFrame
        From `companion.pages.sensitivity`: `change_choices` and `widen_radii`, of one
        or two tables.
    """
    left, right = list(changes["what"].unique()), list(radii["radius"].unique())

    figure, axes = plt.subplots(
        1, 2, figsize=(9.2, 0.9 + 0.27 * max(len(left), len(right)))
    )
    looks = [("o", INK, -0.16), ("s", "none", 0.16)]
    for (marker, face, shift), name in zip(
        looks, changes["dataset"].unique(), strict=False
    ):
        own, wide = (frame[frame["dataset"] == name] for frame in (changes, radii))
        at = [left.index(what) + shift for what in own["what"]]
        axes[0].hlines(at, own["low"], own["high"], color=INK, lw=1)
        axes[0].plot(own["times"], at, marker, color=INK, mfc=face, ms=4, label=name)
        at = [right.index(radius) + shift for radius in wide["radius"]]
        axes[1].hlines(at, wide["mean"], wide["worst"], color=FAINT, lw=1)
        axes[1].plot(wide["mean"], at, marker, color=INK, mfc=face, ms=4)
        axes[1].hlines(at, wide["worst_low"], wide["worst_high"], color=INK, lw=1)
        axes[1].plot(wide["worst"], at, "|", color=INK, ms=9, mew=1.6)

    axes[0].axvline(1, color=INK, lw=0.6)
    axes[0].set_xlabel("times the default's")
    log_axis(axes[0], "x")
    axes[1].set(xlabel="share lost", xlim=(0, None))
    for ax, names in zip(axes, (left, right), strict=True):
        name_rows(ax, names)
    shared_legend(figure)
    return figure


def draw_crossing(advantage: pd.DataFrame) -> Figure:
    """When dividing by cost pays: the difference to the same method without it, by ratio of costs.

    Parameters
    ----------
    advantage : DataFrame
        From `companion.pages.regions.advantage_of_dividing`.
    """
    figure, ax = plt.subplots(figsize=(6.8, 3.0))

    color = method_style("CoHVUCB")["color"]
    words = {
        -1.0: "better is cheaper",
        0.0: "no order",
        1.0: "better always costs more",
    }
    for line, (dependence, label) in zip(LINES, words.items(), strict=False):
        own = 100 * advantage.xs(dependence, level="dependence")
        ax.plot(
            own.index, own["mean"], line, color=color, marker="o", ms=4, label=label
        )
        ax.fill_between(
            own.index, own["low"], own["high"], color=color, alpha=0.2, lw=0
        )

    ax.axhline(0, color=INK, lw=0.8)
    ax.set(
        xlabel="largest over smallest mean cost", ylabel="points that dividing gains"
    )
    log_axis(ax, "x")
    ax.legend()
    return figure
