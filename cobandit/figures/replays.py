"""Figures of replays: means with bands against the budget, along a run, or as bars."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from cobandit.figures.style import (
    FAINT,
    INK,
    escape_math,
    log_axis,
    method_style,
    provenance,
    rho_axis,
    unit_of,
    variants,
)
from cobandit.stats import metrics


def by_budget(runs: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """Mean of a column against the budget, log2, one line a method, with 95 % bands.

    Bands are bootstrap intervals over replications, or Wilson intervals for a column of true and false.
    Infeasible budgets leave a gap.  The axis below counts evaluations per configuration, the one above gives
    the same budgets in the unit of the table's costs.

    Parameters
    ----------
    runs : DataFrame
        From `replay_online` or `replay_identification`.
    column, ylabel : str
        What is drawn, and how the axis calls it (with its unit).
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = cb.replay_online(cb.load("synthetic-24"), ["CoHVUCB"], rho=[4, 8], replications=5)
    >>> by_budget(runs, "efficiency_regret", "efficiency regret").get_ylabel()
    'efficiency regret'
    """
    ax = ax or plt.subplots()[1]
    _draw_means(metrics.summarise(runs, column), "rho", ax)
    rho_axis(ax, runs)
    ax.set_ylabel(ylabel)
    ax.set_title(provenance(runs))
    return ax


def error_by_budget(runs: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Probability of a wrong Pareto set against the budget, both logarithmic, with Wilson 95 % bands.

    Where no replication erred the mark is an arrow at the upper end of the interval: a limit, not a value.

    Parameters
    ----------
    runs : DataFrame
        From `replay_identification`.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = cb.replay_identification(cb.load("synthetic-24"), ["CoPSI"], rho=[50, 100], replications=5)
    >>> error_by_budget(runs).get_yscale()
    'log'
    """
    ax = ax or plt.subplots()[1]
    cells = metrics.summarise(runs.assign(error=~runs["correct"].astype(bool)), "error")
    _draw_means(cells.assign(unseen=cells["high"].where(cells["successes"] == 0)), "rho", ax)
    log_axis(ax)
    rho_axis(ax, runs)
    ax.set_ylabel(r"error probability $\Pr(\hat P_B \neq P^\star)$")
    ax.set_title(provenance(runs))
    return ax


def along_runs(paths: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """Mean of a column along the runs, aligned by what was spent, with pointwise bootstrap 95 % bands.

    Parameters
    ----------
    paths : DataFrame
        From `replay_paths`, at one budget.
    column, ylabel : str
        What is drawn, and how the axis calls it.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> paths = cb.replay_paths(cb.load("synthetic-24"), ["CoHVUCB"], 4, 5)
    >>> along_runs(paths, "efficiency_regret", "cumulative regret").get_xlabel()
    'consumed budget (thousand tokens)'
    """
    ax = ax or plt.subplots()[1]
    shown = paths[paths[column].notna()].assign(status="ok")  # no pull yet: nothing to average
    _draw_means(metrics.summarise(shown, column, ("method", "options", "spent")), "spent", ax, marker="")
    unit, most = unit_of(paths), float(shown["spent"].max())
    if most >= 10_000:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:,.4g}"))
        unit = f"thousand {unit}"
    ax.set(xlabel=f"consumed budget ({escape_math(unit)})", ylabel=ylabel)
    ax.set_title(provenance(paths))
    return ax


def _draw_means(cells: pd.DataFrame, x: str, ax: Axes, **look: str) -> None:
    """A line and a band for each variant; where a column ``unseen`` has a limit, an arrow in their place."""
    for method, options, label, line in variants(cells):
        cell = cells[(cells["method"] == method) & (cells["options"] == options)].sort_values(x)
        style = method_style(method) | look
        limits = cell.get("unseen", cell["mean"] * np.nan)
        seen = limits.isna()
        ax.plot(cell[x], cell["mean"].where(seen), line, label=label, **style)
        ax.fill_between(cell[x], cell["low"].where(seen), cell["high"], color=style["color"], alpha=0.2, lw=0)
        if "unseen" in cell:
            ax.plot(cell[x][~seen], limits[~seen], ls="", marker=r"$\downarrow$", ms=9, color=style["color"])


def error_bars(runs: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Probability of a wrong Pareto set as bars with their values, by variant and by what was charged.

    Parameters
    ----------
    runs : DataFrame
        Replays of identification at one budget, with a column ``costs`` that says what was charged.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = cb.replay_identification(cb.load("synthetic-24"), ["CoPSI", "PSISR"], rho=50, replications=4)
    >>> len(error_bars(runs.assign(costs="declared")).patches)
    2
    """
    ax = ax or plt.subplots()[1]
    errors = runs.assign(error=~runs["correct"].astype(bool))
    cells = metrics.summarise(errors, "error", ("method", "options", "costs"))
    shown, kinds = variants(cells), cells["costs"].unique().tolist()
    places = {(method, options): place for place, (method, options, *_) in enumerate(shown)}
    width = 0.8 / len(kinds)
    for row in cells.to_dict("records"):
        variant = row["method"], row["options"]
        place = places[variant] + width * (kinds.index(row["costs"]) - (len(kinds) - 1) / 2)
        hatch = "" if row["costs"] == kinds[0] else "//"
        color = method_style(row["method"])["color"]
        ax.bar(place, row["mean"], width * 0.92, color=color, hatch=hatch, edgecolor="white")
        reach = [[row["mean"] - row["low"]], [row["high"] - row["mean"]]]
        ax.errorbar(place, row["mean"], yerr=reach, color=INK, capsize=3, lw=1)
        ax.annotate(
            f"{row['mean']:.3f}",
            (place, row["high"]),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    ax.set_xticks(range(len(shown)), [label for _, _, label, _ in shown])
    ax.set_ylabel(r"error probability $\Pr(\hat P_B \neq P^\star)$")
    ax.set_title(provenance(runs))
    hatches = zip(kinds, ("", "//"), strict=False)
    keys = [Patch(fc=FAINT, ec="white", hatch=h, label=f"{kind} costs") for kind, h in hatches]
    ax.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=len(keys))  # off the bars
    return ax
