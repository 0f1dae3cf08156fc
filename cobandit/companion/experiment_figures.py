"""The pictures of the chapter on the experiments: summarised cells in, one figure each.

Cells are those of `cobandit.companion.paper.experiments.summary`.  Crosses are values that the paper prints,
pale bars what was predicted of them before; colours are the methods' alone, so tables and arms have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from cobandit.companion.comparison import mark_printed, printed_points
from cobandit.figures.style import FAINT, INK, LINES, method_label, method_style, provenance, shared_legend
from cobandit.tables import EvaluationTable

#: Rows of a figure: the experiments that may print a quantity, its own first; label; whether in logarithms.
Row = tuple[tuple[str, ...], str, bool]
REGRETS: dict[str, Row] = {
    "efficiency_regret": (("online", "trajectory"), "efficiency regret", True),
    "standard_regret": (("online",), "standard regret", True),
}
SETS: dict[str, Row] = {
    "error": (("identification", "stochastic"), "wrong sets", True),
    "f1": (("full-set",), "F1, all arms", False),
}


def titles_of(tables: Sequence[EvaluationTable]) -> dict[str, str]:
    """What stands above the column of each table, by its name."""
    return {table.name: provenance(table).replace("$", r"\$") for table in tables}


def draw_cells(
    cells: pd.DataFrame,
    rows: Mapping[str, Row],
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
        From `cobandit.companion.stored.results.predictions_of`.
    """
    figure, axes = _panels(titles, len(rows), 2.0 * len(rows) + 0.6, "evaluations per configuration", "row")
    for line, (quantity, (experiments, label, logarithmic)) in zip(axes, rows.items(), strict=True):
        own = cells[(cells["experiment"] == experiments[0]) & (cells["quantity"] == quantity)]
        own = own[own["rho"].notna() & own["against"].isna()]
        for ax, name in zip(line, titles, strict=True):
            _draw_methods(ax, own[own["dataset"] == name], logarithmic)
            mark_printed(ax, printed_points(name, quantity, *experiments), predicted)
        line[0].set_ylabel(label)
        ticks = np.unique(own["rho"])[:: 2 if own["rho"].nunique() < 6 else 3]
        line[0].set(xscale="log", yscale="log" if logarithmic else "linear")
        if logarithmic:
            _few_decades(line[0])
        line[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        line[0].xaxis.set_minor_locator(NullLocator())
    shared_legend(figure, columns=4)
    return figure


def _panels(
    titles: Mapping[str, str], rows: int, height: float, label: str, sharex: Any
) -> tuple[Figure, Any]:
    """A column of panels for each table, its title above, what the horizontal axis is below."""
    size = 2.3 * len(titles), height
    figure, axes = plt.subplots(rows, len(titles), figsize=size, sharex=sharex, sharey="row", squeeze=False)
    for title, top, bottom in zip(titles.values(), axes[0], axes[-1], strict=True):
        top.set_title(title)
        bottom.set_xlabel(label)
    return figure, axes


def _few_decades(ax: Axes) -> None:
    """Three decades of the vertical axis at most have a number, and a plain one."""
    low, high = np.log10(ax.get_ylim())
    powers = np.arange(np.ceil(low), np.floor(high) + 1)
    powers = powers[:: -(-len(powers) // 3)]
    ax.set_yticks(10**powers, [f"{10**power:g}" for power in powers])


def _draw_methods(ax: Axes, cells: pd.DataFrame, logarithmic: bool) -> None:
    for method, line in cells.groupby("method", sort=False):
        look, line = method_style(str(method)), line.sort_values("rho")
        shown = line[line["mean"] > 0] if logarithmic else line  # no logarithm of an error that no run made
        ax.plot(shown["rho"], shown["mean"], ms=3, label=method_label(str(method)), **look)
        ax.fill_between(line["rho"], line["low"], line["high"], color=look["color"], alpha=0.2, lw=0)


def draw_along(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Both quantities of a run at the largest budget, against the share of it that is spent."""
    own = cells[(cells["experiment"] == "trajectory") & cells["spent"].notna() & cells["against"].isna()]
    labels = {"efficiency_regret": "regret so far", "moving_average": "gap, last 50 pulls"}
    figure, axes = _panels(titles, 2, 4.4, "share of the budget spent", True)
    for line, (quantity, label) in zip(axes, labels.items(), strict=True):
        for ax, name in zip(line, titles, strict=True):
            here = own[(own["quantity"] == quantity) & (own["dataset"] == name)]
            _draw_methods(ax, here.assign(rho=here["spent"] / here["spent"].max()), False)
        line[0].set(ylabel=label, yscale="log")
        _few_decades(line[0])
    shared_legend(figure, columns=4)
    return figure


def draw_charges(cells: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The error at the largest budget, charged what was declared and what it really cost."""
    own = cells[(cells["experiment"] == "stochastic") & cells["against"].isna()]
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    size = 4.3 * columns, 1.4 * rows + 0.5
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    methods = list(own["method"].unique())
    for ax, (name, title) in zip(axes.flat, titles.items(), strict=False):
        for row in own[own["dataset"] == name].to_dict("records"):
            realised = row["costs"] == "realised"
            place = methods.index(row["method"]) + (0.17 if realised else -0.17)
            color = method_style(row["method"])["color"]
            ax.plot([row["low"], row["high"]], [place] * 2, color=color, lw=1.2)
            ax.plot(row["mean"], place, "o", color=color, ms=6, mfc="none" if realised else color)
            for at in printed_charges(name, row["method"], row["costs"]):
                ax.plot(at, place, "x", color=INK, ms=7, mew=1.6, zorder=3)
        ax.set(title=title, ylim=(len(methods) - 0.5, -0.5))
        ax.set_xscale("symlog", linthresh=0.01)
        ax.set_xlim(-0.001, 1)
        ax.set_xticks([0, 0.01, 0.1, 1], ["0", ".01", ".1", "1"])
        ax.xaxis.set_minor_locator(NullLocator())
    for ax in axes[-1]:
        ax.set_xlabel("wrong sets")
    axes[0, 0].set_yticks(range(len(methods)), map(method_label, methods))
    for costs, face in (("declared costs", INK), ("realised costs", "none")):
        axes[0, 0].plot([], [], "o", color=INK, mfc=face, label=costs)
    axes[0, 0].plot([], [], "x", color=INK, label="the paper's value")
    shared_legend(figure)
    return figure


def printed_charges(dataset: str, method: str, costs: str) -> list[float]:
    """What the paper prints of an error in its Figure 6, if it does."""
    from cobandit.companion.paper.numbers import published

    return [
        number.value
        for number in published()
        if (number.experiment, number.quantity, number.operation) == ("stochastic", "error", None)
        and (number.dataset, number.method, number.costs) == (dataset, method, costs)
    ]


def draw_fronts(tables: Sequence[EvaluationTable], chances: Mapping[str, np.ndarray]) -> Figure:
    """Configurations of each table in the plane of two scores, as dark as they are likely to be on the front.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        With one objective the mean cost is the other axis.
    chances : mapping of str to ndarray, shape (K,)
        By table, how often each configuration is Pareto-optimal when the instances are weighted anew.
    """
    figure, axes = plt.subplots(1, len(tables), figsize=(2.3 * len(tables), 2.5), squeeze=False)
    for ax, table in zip(axes.flat, tables, strict=True):
        points = table.summary()
        x, y = table.objectives[:2] if table.n_objectives > 1 else ("cost", *table.objectives)
        at = points[[x, y]].to_numpy(dtype=float)
        ax.scatter(*at.T, s=22, color=INK, alpha=0.05 + 0.95 * chances[table.name], lw=0, zorder=3)
        ax.scatter(*at.T, s=22, facecolors="none", edgecolors=FAINT, lw=0.5)
        problem = table.problem
        named: dict[int, str] = {}
        for what, arm in {
            "most per cost": problem.efficiency.argmax(),
            "most in all": problem.hypervolume.argmax(),
            "dearest": points["cost"].to_numpy().argmax(),
        }.items():
            named[int(arm)] = f"{named[int(arm)]},\n{what}" if int(arm) in named else what
        middle = (at.min(axis=0) + at.max(axis=0)) / 2
        line = {"arrowstyle": "-", "color": INK, "lw": 0.6, "shrinkA": 1, "shrinkB": 3}
        for above, number in zip((-18, -3, 12), sorted(named, key=lambda arm: at[arm, 1]), strict=False):
            side = 1 if at[number, 0] < middle[0] else -1
            place: dict[str, Any] = {"xytext": (14 * side, above), "ha": "left" if side > 0 else "right"}
            place |= {"textcoords": "offset points", "fontsize": "small", "arrowprops": line}
            place["bbox"] = {"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 0.5}  # above the marks
            ax.annotate(named[number], at[number], **place)
        ax.margins(0.12)
        ax.set(title=provenance(table).replace("$", r"\$"), xlabel=f"mean {x}", ylabel=f"mean {y}")
    return figure


def draw_questions(spread: pd.DataFrame) -> Figure:
    """What the paper's method gets over what each other gets: on the table, and with questions drawn again.

    Parameters
    ----------
    spread : DataFrame
        From `cobandit.companion.sensitivity.draw_again`.
    """
    names, parts = list(spread["dataset"].unique()), ["standard_regret", "f1"]
    size = 8.6, 0.5 + 1.15 * len(names)
    figure, axes = plt.subplots(len(names), 2, figsize=size, sharex="col", squeeze=False)
    words = {"standard_regret": "CoHV-UCB's regret", "f1": "CoPSI's F1"}
    for line, name in zip(axes, names, strict=True):
        for ax, quantity in zip(line, parts, strict=True):
            own = spread[(spread["dataset"] == name) & (spread["quantity"] == quantity)]
            for place, row in enumerate(own.itertuples()):
                color = method_style(row.method)["color"]
                ax.plot([row.least, row.most], [place] * 2, color=INK, lw=0.8)
                ax.plot([row.low, row.high], [place] * 2, color=color, lw=6, alpha=0.5)
                ax.plot(row.mean, place, "|", color=color, ms=12, mew=2)
            ax.axvline(1, color=INK, lw=0.8)
            ax.set_xscale("log")
            ax.set_yticks(range(len(own)), map(method_label, own["against"]))
            ax.set(ylim=(len(own) - 0.5, -0.5), title=name)
            _plain_logarithm(ax)
    for ax, quantity in zip(axes[-1], parts, strict=True):
        ax.set_xlabel(f"{words[quantity]} over that of the other")
    return figure


def draw_changes(changes: pd.DataFrame, radii: pd.DataFrame) -> Figure:
    """What the open choices change, and what the radii do to the mean and to the worst runs.

    Parameters
    ----------
    changes, radii : DataFrame
        From `cobandit.companion.sensitivity`: `change_choices` and `widen_radii`, of one or two tables.
    """
    left, right = list(changes["what"].unique()), list(radii["radius"].unique())
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 0.9 + 0.27 * max(len(left), len(right))))
    looks = [("o", INK, -0.16), ("s", "none", 0.16)]
    for (marker, face, shift), (name, own) in zip(
        looks, changes.groupby("dataset", sort=False), strict=False
    ):
        at = [left.index(what) + shift for what in own["what"]]
        axes[0].hlines(at, own["low"], own["high"], color=INK, lw=1)
        axes[0].plot(own["times"], at, marker, color=INK, mfc=face, ms=4, label=name)
    axes[0].axvline(1, color=INK, lw=0.6)
    axes[0].set_yticks(range(len(left)), left)
    axes[0].set(xlabel="times the default's", ylim=(len(left) - 0.5, -0.5))
    _plain_logarithm(axes[0])
    for (marker, face, shift), (_, own) in zip(looks, radii.groupby("dataset", sort=False), strict=False):
        at = [right.index(radius) + shift for radius in own["radius"]]
        axes[1].hlines(at, own["mean"], own["worst"], color=FAINT, lw=1)
        axes[1].plot(own["mean"], at, marker, color=INK, mfc=face, ms=4)
        axes[1].hlines(at, own["worst_low"], own["worst_high"], color=INK, lw=1)
        axes[1].plot(own["worst"], at, "|", color=INK, ms=9, mew=1.6)
    axes[1].set_yticks(range(len(right)), right)
    axes[1].set(xlabel="share lost", ylim=(len(right) - 0.5, -0.5), xlim=(0, None))
    shared_legend(figure)
    return figure


def _plain_logarithm(ax: Axes) -> None:
    """A logarithmic axis of ratios around one, with plain numbers that do not collide."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    near = [0.7, 0.8, 0.9, 1, 1.1, 1.2] if high / low < 2.5 else [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]
    ticks = [tick for tick in near if low <= tick <= high]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())


def draw_crossing(advantage: pd.DataFrame) -> Figure:
    """When dividing by cost pays: the difference to the same method without it, by ratio of costs.

    Parameters
    ----------
    advantage : DataFrame
        From `cobandit.companion.regions.advantage_of_dividing`.
    """
    figure, ax = plt.subplots(figsize=(6.8, 3.0))
    color = method_style("CoHVUCB")["color"]
    words = {-1.0: "better is cheaper", 0.0: "no order", 1.0: "better always costs more"}
    for line, (dependence, label) in zip(LINES, words.items(), strict=False):
        own = 100 * advantage.xs(dependence, level="dependence")
        ax.plot(own.index, own["mean"], line, color=color, marker="o", ms=4)
        ax.fill_between(own.index, own["low"], own["high"], color=color, alpha=0.2, lw=0)
        end = (own.index[-1], own["mean"].iloc[-1])
        ax.annotate(label, end, (6, 0), textcoords="offset points", va="center", fontsize="small")
    ax.axhline(0, color=INK, lw=0.8)
    ax.set(xscale="log", xlim=(0.9, 700), xlabel="largest over smallest mean cost")
    ax.set_ylabel("points that dividing gains")
    ticks = advantage.index.get_level_values("cost_ratio").unique()
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    ax.xaxis.set_minor_locator(NullLocator())
    return figure
