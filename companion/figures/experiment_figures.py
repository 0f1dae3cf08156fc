"""Figures of the chapter on the experiments, one function per figure.

They show summaries of replays, as `companion.paper.experiments.summary` returns them.
Crosses are values that the paper prints, and pale bars are our predictions of these
values. A colour always stands for a method.
"""

from collections.abc import Mapping, Sequence, Sized
from math import ceil
from typing import Any, NamedTuple

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
from companion.figures.log_limits import fit_log_axes, fit_log_axis
from companion.pages.comparison import mark_printed, printed_points
from companion.paper.numbers import as_frame


class FigureRow(NamedTuple):
    """A row of panels, one per table, that shows one quantity.

    ``experiments`` are those for which the paper may print the quantity, with the main
    experiment first. The vertical axis is ``logarithmic`` or linear, and may be
    ``shared`` by the panels.
    """

    experiments: tuple[str, ...]
    label: str
    logarithmic: bool
    shared: bool


REGRETS = {
    "efficiency_regret": FigureRow(
        ("online", "trajectory"), "efficiency regret", logarithmic=True, shared=False
    ),
    "standard_regret": FigureRow(
        ("online",), "standard regret", logarithmic=True, shared=False
    ),
}
SETS = {
    "error": FigureRow(
        ("identification", "stochastic"), "wrong sets", logarithmic=True, shared=True
    ),
    "f1": FigureRow(("full-set",), "F1, all arms", logarithmic=False, shared=True),
}


def titles_of(tables: Sequence[EvaluationTable]) -> dict[str, str]:
    """Return the title of each table's column in a figure, by the table's name."""
    return {table.name: escape_math(provenance(table)) for table in tables}


def draw_cells(
    cells: pd.DataFrame,
    rows: Mapping[str, FigureRow],
    titles: Mapping[str, str],
    predicted: pd.DataFrame | None = None,
) -> Figure:
    """Draw replayed quantities against the budget, with the paper's printed values.

    The figure has one row per quantity and one column per table.

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary`.
    rows : mapping of str to FigureRow
        Rows by quantity, for example `REGRETS` or `SETS`.
    titles : mapping of str to str
        Titles of the columns by the names of the tables, in order.
    predicted : DataFrame, optional
        Result of `companion.stored.results.predict_printed`.
    """
    figure, axes = _panels(
        titles, len(rows), 2.0 * len(rows) + 0.6, "evaluations per configuration", "row"
    )
    for line, (quantity, row) in zip(axes, rows.items(), strict=True):
        quantity_cells = cells[
            (cells["experiment"] == row.experiments[0])
            & (cells["quantity"] == quantity)
        ]
        quantity_cells = quantity_cells[
            quantity_cells["rho"].notna() & quantity_cells["against"].isna()
        ]
        for ax, name in zip(line, titles, strict=True):
            _draw_methods(
                ax, quantity_cells[quantity_cells["dataset"] == name], row.logarithmic
            )
            points = printed_points(name, quantity, *row.experiments)
            mark_printed(ax, points, predicted)
        line[0].set_ylabel(row.label)
        ticks = np.unique(quantity_cells["rho"])[
            :: 2 if quantity_cells["rho"].nunique() < 6 else 3
        ]
        line[0].set_xscale("log")
        _set_scales(line, row)
        line[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        line[0].xaxis.set_minor_locator(NullLocator())

    shared_legend(figure, columns=4)
    return figure


def _panels(
    titles: Mapping[str, str], rows: int, height: float, label: str, sharex: Any
) -> tuple[Figure, Any]:
    """Return a figure and its panels, one column per table, with titles and x label."""
    size = _width(titles), height
    figure, axes = plt.subplots(
        rows, len(titles), figsize=size, sharex=sharex, squeeze=False
    )
    for title, top, bottom in zip(titles.values(), axes[0], axes[-1], strict=True):
        top.set_title(title)
        bottom.set_xlabel(label)
    return figure, axes


def _set_scales(line: Sequence[Axes], row: FigureRow) -> None:
    """Set the vertical axes of a row of panels, as the row says."""
    if row.logarithmic:
        for group in [line] if row.shared else [[ax] for ax in line]:
            fit_log_axes(group)
    elif row.shared:
        for ax in line[1:]:
            ax.sharey(line[0])
        line[0].autoscale(axis="y")


def _width(tables: Sized) -> float:
    """Return the width in inches of a figure with one column per table."""
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
        look = method_style(str(method))
        line = line.sort_values("rho")
        # an error rate of zero has no logarithm
        shown = line[line["mean"] > 0] if logarithmic else line
        ax.plot(
            shown["rho"], shown["mean"], ms=3, label=method_label(str(method)), **look
        )
        ax.fill_between(
            line["rho"], line["low"], line["high"], color=look["color"], alpha=0.2, lw=0
        )


def draw_along(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw regrets and mean efficiency gaps against the spent share of a budget.

    The means are moving averages over pulls. The budget is the largest budget of the
    experiment ``"trajectory"``.
    """
    trajectories = cells[
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
            panel_cells = trajectories[
                (trajectories["quantity"] == quantity)
                & (trajectories["dataset"] == name)
            ]
            _draw_methods(
                ax,
                panel_cells.assign(
                    rho=panel_cells["spent"] / panel_cells["spent"].max()
                ),
                False,
            )
            # the paper prints values at the end of runs, where the share is 1
            mark_printed(
                ax, printed_points(name, quantity, "trajectory").assign(rho=1.0)
            )
        line[0].set_ylabel(label)
        for ax in line:
            fit_log_axis(ax)

    shared_legend(figure, columns=4)
    return figure


def draw_charges(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw identification errors with declared costs and with realised costs.

    Declared costs charge each pull the mean cost of the arm, and realised costs the
    cost of the evaluation.
    """
    errors = cells[(cells["experiment"] == "stochastic") & cells["against"].isna()]
    numbers = as_frame().query(
        "experiment == 'stochastic' and quantity == 'error' and operation.isna()"
    )
    printed = numbers.set_index(["dataset", "method", "costs"])["value"]
    methods = list(errors["method"].unique())

    # at most two columns, since names of methods need room
    rows = ceil(len(titles) / 2)
    columns = min(2, len(titles))
    size = (4.3 * columns, 1.4 * rows + 0.5)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False
    )
    for ax in axes.flat[len(titles) :]:
        ax.remove()
    for ax, (name, title) in zip(axes.flat, titles.items(), strict=False):
        ax.set(title=title, xlabel="wrong sets")
        for row in errors[errors["dataset"] == name].to_dict("records"):
            realised = row["costs"] == "realised"
            color = method_style(row["method"])["color"]
            place = methods.index(row["method"]) + (0.17 if realised else -0.17)
            ax.plot([row["low"], row["high"]], [place] * 2, "-", color=color, lw=1.2)
            face = "none" if realised else color
            ax.plot(row["mean"], place, "o", color=color, ms=6, mfc=face)
            value = printed.get((name, row["method"], row["costs"]), np.nan)
            ax.plot(value, place, "x", color=INK, ms=7, mew=1.6, zorder=3)

    axes[0, 0].set_xscale("symlog", linthresh=0.01)
    limit = 1.15 if errors["mean"].max() > 0.9 else 1
    axes[0, 0].set(
        xlim=(-0.001, limit),
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
    """Draw configurations by two mean scores, darker if more likely on the front.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        If a table has one objective, the x axis is the mean cost.
    chances : mapping of str to ndarray, shape (K,)
        For each table, an array with one share per configuration: the share of random
        reweightings of the instances under which this configuration is Pareto-optimal.
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
        positions = points[[x, y]].to_numpy(dtype=float)
        ax.scatter(
            *positions.T,
            s=22,
            color=INK,
            alpha=0.05 + 0.95 * chances[table.name],
            lw=0,
            zorder=3,
        )
        ax.scatter(*positions.T, s=22, facecolors="none", edgecolors=FAINT, lw=0.5)
        named = {
            "most per cost": table.problem.efficiency,
            "most in all": table.problem.hypervolume,
            "most expensive": points["cost"].to_numpy(),
        }
        for marker, (label, values) in zip("sD^", named.items(), strict=True):
            ax.plot(
                *positions[values.argmax()],
                marker,
                color=INK,
                mfc="none",
                ms=9,
                label=label,
            )
        ax.set(
            title=escape_math(provenance(table)), xlabel=f"mean {x}", ylabel=f"mean {y}"
        )

    shared_legend(figure)
    return figure


def draw_questions(spread: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw ratios of two methods' results, on tables and on their bootstrap resamples.

    The first method is one of the paper's. Its regret or F1 is divided by the regret or
    F1 of another method.

    Parameters
    ----------
    spread : DataFrame
        Result of `companion.pages.sensitivity.draw_again`.
    titles : mapping of str to str
        Titles of the rows by the names of the tables.
    """
    names = list(spread["dataset"].unique())
    size = 8.6, 0.5 + 1.15 * len(names)

    figure, axes = plt.subplots(
        len(names), 2, figsize=size, sharex="col", squeeze=False
    )
    words = {"standard_regret": "CoHV-UCB's regret", "f1": "CoPSI's F1"}
    for line, name in zip(axes, names, strict=True):
        for ax, (quantity, label) in zip(line, words.items(), strict=True):
            comparisons = spread[
                (spread["dataset"] == name) & (spread["quantity"] == quantity)
            ]
            for position, row in enumerate(comparisons.itertuples()):
                color = method_style(row.method)["color"]
                ax.plot([row.least, row.most], [position] * 2, "-", color=INK, lw=0.8)
                ax.plot(
                    [row.low, row.high],
                    [position] * 2,
                    "-",
                    color=color,
                    lw=6,
                    alpha=0.5,
                )
                ax.plot(row.mean, position, "|", color=color, ms=12, mew=2)
            ax.axvline(1, color=INK, lw=0.8)
            ax.set(
                title=titles[name],
                xlabel=f"{label} over that of the other" if ax in axes[-1] else "",
            )
            name_rows(ax, list(map(method_label, comparisons["against"])))
            log_axis(ax, "x")

    return figure


def draw_changes(
    changes: pd.DataFrame, radii: pd.DataFrame, titles: Mapping[str, str]
) -> Figure:
    """Draw the effects of choices that the paper leaves open, and of wider radii.

    Parameters
    ----------
    changes, radii : DataFrame
        Results of `companion.pages.sensitivity.change_choices` and `.widen_radii`, for
        at most two tables.
    titles : mapping of str to str
        Labels of the tables by their names.
    """
    choices = list(changes["what"].unique())
    radius_names = list(radii["radius"].unique())

    figure, axes = plt.subplots(
        1, 2, figsize=(9.2, 0.9 + 0.27 * max(len(choices), len(radius_names)))
    )
    looks = [("o", INK, -0.16), ("s", "none", 0.16)]
    for (marker, face, shift), name in zip(
        looks, changes["dataset"].unique(), strict=False
    ):
        changed, wide = (frame[frame["dataset"] == name] for frame in (changes, radii))
        places = [choices.index(choice) + shift for choice in changed["what"]]
        axes[0].hlines(places, changed["low"], changed["high"], color=INK, lw=1)
        axes[0].plot(
            changed["times"],
            places,
            marker,
            color=INK,
            mfc=face,
            ms=4,
            label=titles[name],
        )
        places = [radius_names.index(radius) + shift for radius in wide["radius"]]
        axes[1].hlines(places, wide["mean"], wide["worst"], color=FAINT, lw=1)
        axes[1].plot(wide["mean"], places, marker, color=INK, mfc=face, ms=4)
        axes[1].hlines(places, wide["worst_low"], wide["worst_high"], color=INK, lw=1)
        axes[1].plot(wide["worst"], places, "|", color=INK, ms=9, mew=1.6)

    axes[0].axvline(1, color=INK, lw=0.6)
    axes[0].set_xlabel("times the default's")
    log_axis(axes[0], "x")
    axes[1].set(xlabel="share lost", xlim=(0, None))
    for ax, names in zip(axes, (choices, radius_names), strict=True):
        name_rows(ax, names)
    shared_legend(figure)
    return figure


def draw_crossing(advantage: pd.DataFrame) -> Figure:
    """Draw the gain of dividing an index by the cost, against the ratio of costs.

    One line stands for each dependence between score and cost.

    Parameters
    ----------
    advantage : DataFrame
        Result of `companion.pages.regions.advantage_of_dividing`.
    """
    figure, ax = plt.subplots(figsize=(5.0, 3.0))

    color = method_style("CoHVUCB")["color"]
    words = {
        -1.0: "better is cheaper",
        0.0: "no order",
        1.0: "better always costs more",
    }
    for line, (dependence, label) in zip(LINES, words.items(), strict=False):
        gains = 100 * advantage.xs(dependence, level="dependence")
        ax.plot(
            gains.index, gains["mean"], line, color=color, marker="o", ms=4, label=label
        )
        ax.fill_between(
            gains.index, gains["low"], gains["high"], color=color, alpha=0.2, lw=0
        )

    ax.axhline(0, color=INK, lw=0.8)
    ax.set(
        xlabel="largest over smallest mean cost", ylabel="points that dividing gains"
    )
    log_axis(ax, "x")
    ax.legend(title="score and cost", fontsize="medium")
    return figure
