"""One function a figure: tidy frame in, Axes out.

Every method has one colour and one marker through the whole book; variants of a method (its options)
share them and differ in their line.  Bands are 95 % intervals, and say which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator
from pandas.io.formats.style import Styler

from cobandit import _check, metrics
from cobandit.policies import Phase
from cobandit.replay.kernels import IDENTIFICATION, ONLINE

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Seaborn's colour-blind palette, in an order that keeps methods of one experiment far apart.
PALETTE = [sns.color_palette("colorblind")[place] for place in (0, 1, 2, 7, 3, 9, 5, 4, 8, 6)]
MARKERS = "osD^vPX*<>"
LINES = ("-", "--", ":", "-.")


def use_style() -> None:
    """Set the book's matplotlib style.

    Examples
    --------
    >>> use_style()
    """
    plt.rcParams.update(
        {
            "figure.dpi": 150,
            "figure.figsize": (7.0, 3.6),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.titlesize": "medium",
            "legend.frameon": False,
            "legend.fontsize": "small",
            "font.size": 10,
            "lines.linewidth": 1.6,
            "lines.markersize": 5,
        }
    )


def method_style(method: str) -> dict[str, Any]:
    """Colour and marker of a method, by its place among all methods.

    Parameters
    ----------
    method : str
        Name of a policy class.

    Returns
    -------
    dict
        Keyword arguments for ``plot``.

    Raises
    ------
    CobanditError
        If there is no such method.

    Examples
    --------
    >>> method_style("CoHVUCB")["marker"]
    'o'
    """
    names = [*ONLINE, *IDENTIFICATION]
    place = names.index(_check.choice(method, "method", names))
    return {"color": PALETTE[place % len(PALETTE)], "marker": MARKERS[place % len(MARKERS)]}


def method_label(method: str, options: str = "") -> str:
    """Readable name of a method; of its options only those that tell variants apart belong here.

    Examples
    --------
    >>> method_label("PSISR", "rounds=mean")
    'PSI-SR (rounds=mean)'
    """
    label = (ONLINE | IDENTIFICATION)[method].policy.label
    return f"{label} ({options})" if options else label


def provenance(source: EvaluationTable | pd.DataFrame) -> str:
    """Name of a table or of what a replay ran on, for titles; says what it is unless it was measured.

    Examples
    --------
    >>> import cobandit as cb
    >>> provenance(cb.load("synthetic-24"))
    'synthetic-24 (synthetic)'
    """
    if isinstance(source, pd.DataFrame):
        name, kind = source.attrs.get("dataset", ""), source.attrs.get("kind", "measured")
    else:
        name, kind = source.name, source.kind
    return name if kind == "measured" else f"{name} ({kind})"


def _variants(frame: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """(method, options, label, line) of each variant; options are shown only where a method has several."""
    pairs = list(frame[["method", "options"]].drop_duplicates().itertuples(index=False, name=None))
    shown = []
    for method, options in pairs:
        siblings = [o for m, o in pairs if m == method]
        place = siblings.index(options)
        label = method_label(method, (options or "default") if len(siblings) > 1 else "")
        shown.append((method, options, label, LINES[place % len(LINES)]))
    return shown


def _rho_axis(ax: Axes, rhos: Sequence[float]) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(list(rhos)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    )
    if len(rhos) > 6:
        ax.tick_params(axis="x", labelrotation=45)
    ax.set_xlabel(r"budget $\rho$, evaluations per configuration")


def log_axis(ax: Axes) -> None:
    """Make the vertical axis logarithmic, with plain numbers; call it when everything is drawn.

    Examples
    --------
    >>> ax = plt.subplots()[1]
    >>> log_axis(ax)
    >>> ax.get_yscale()
    'log'
    """
    if not np.isfinite(ax.dataLim.minposy):  # nothing to show: no budget was feasible
        ax.set_ylim(0.1, 1)
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 10 * low else range(1, 10)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    )


def by_budget(runs: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """Mean of a column against the budget, one line a method, with 95 % bands.

    Bands are bootstrap intervals over replications, or Wilson intervals for a column of true and false.
    Infeasible budgets leave a gap.

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
    cells = metrics.summarise(runs, column)
    for method, options, label, line in _variants(cells):
        cell = cells[(cells["method"] == method) & (cells["options"] == options)].sort_values("rho")
        style = method_style(method)
        ax.plot(cell["rho"], cell["mean"], line, label=label, **style)
        ax.fill_between(cell["rho"], cell["low"], cell["high"], color=style["color"], alpha=0.2, lw=0)
    _rho_axis(ax, sorted(cells["rho"].unique()))
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
    for method, options, label, line in _variants(cells):
        cell = cells[(cells["method"] == method) & (cells["options"] == options)].sort_values("rho")
        style, seen = method_style(method), cell["successes"] > 0
        ax.plot(cell["rho"], cell["mean"].where(seen), line, label=label, **style)
        ax.fill_between(
            cell["rho"], cell["low"].where(seen), cell["high"], color=style["color"], alpha=0.2, lw=0
        )
        unseen = cell[~seen & cell["high"].notna()]
        ax.plot(unseen["rho"], unseen["high"], ls="", marker=r"$\downarrow$", ms=9, color=style["color"])
    log_axis(ax)
    _rho_axis(ax, sorted(cells["rho"].unique()))
    ax.set_ylabel(r"error probability $\Pr(\hat P_B \neq P^\star)$")
    ax.set_title(provenance(runs))
    return ax


def landscape(table: EvaluationTable, x: str, y: str, ax: Axes | None = None, split: str = "all") -> Axes:
    """Configurations in the plane of two objectives; area is mean cost, the empirical front is drawn.

    Parameters
    ----------
    table : EvaluationTable
    x, y : str
        Names of two objectives.
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
    for name in (x, y):
        _check.choice(name, "objective", table.objectives)
    points = table.summary(split)
    sizes = 20 + 380 * points["cost"] / points["cost"].max()
    front = points[points["on_front"]].sort_values([x, y])
    rest = ~points["on_front"]
    ax.scatter(points.loc[rest, x], points.loc[rest, y], s=sizes[rest], color="0.6", alpha=0.6, lw=0)
    ax.scatter(front[x], front[y], s=sizes[front.index], color=PALETTE[0], alpha=0.8, lw=0, zorder=3)
    ax.plot(front[x], front[y], color="black", lw=1, zorder=2)
    for number, at in enumerate(front[[x, y]].to_numpy(), start=1):
        place = (-9, -4) if number % 2 else (9, -4)  # neighbours on the front often lie close together
        ax.annotate(str(number), tuple(at), place, textcoords="offset points", ha="center", fontsize="small")
    unit = table.card.cost.unit
    for cost in points["cost"].quantile([0, 0.5, 1]):
        size = 20 + 380 * cost / points["cost"].max()
        ax.scatter([], [], s=size, color="0.6", alpha=0.6, lw=0, label=f"{cost:.3g} {unit}")
    ax.plot([], [], color="black", lw=1, label="empirical front:")
    for number, name in enumerate(front.index, start=1):
        ax.plot([], [], ls="", label=f"{number}  {name}")
    ax.legend(title="mean cost", loc="upper left", bbox_to_anchor=(1, 1), labelspacing=0.9)
    ax.set(xlabel=f"mean {x}", ylabel=f"mean {y}")
    ax.set_title(provenance(table))
    return ax


def index_path(history: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """One quantity of each arm (index, numerator or denominator) after every pull of a run.

    Parameters
    ----------
    history : DataFrame
        Columns ``pull``, ``arm`` (a name) and ``column``, one row an arm and pull.
    column, ylabel : str
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> history = pd.DataFrame({"pull": [1, 2], "arm": "a", "index": [0.5, 0.25]})
    >>> index_path(history, "index", "index").get_xlabel()
    'pull'
    """
    ax = ax or plt.subplots()[1]
    for place, arm in enumerate(history["arm"].unique()):
        path = history[history["arm"] == arm]
        ax.plot(
            path["pull"],
            path[column],
            drawstyle="steps-post",
            label=arm,
            color=PALETTE[place],
            ls=LINES[place % 4],
        )
    ax.set(xlabel="pull", ylabel=ylabel)
    return ax


def phase_plane(phase: Phase, names: Sequence[str], labels: tuple[str, str], ax: Axes | None = None) -> Axes:
    """Empirical means at the end of one phase of an elimination; the arm that leaves is ringed.

    Parameters
    ----------
    phase : Phase
        An entry of ``finder.phases``, with D = 2.
    names : sequence of str
        Names of all arms.
    labels : (str, str)
        Names of the objectives.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> finder = cb.CoPSI(costs=[1, 1], budget=8, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, [[0.75, 0.25], [0.5, 0.125]][arm])
    >>> phase_plane(finder.phases[0], ["a", "b"], ("accuracy", "speed")).get_title()
    'phase 1: 2 pulls each, b rejected'
    """
    ax = ax or plt.subplots()[1]
    for arm, mean in zip(phase.active, phase.means, strict=True):
        leaves = arm == phase.removed
        color = PALETTE[0] if not leaves else PALETTE[2] if phase.accepted else PALETTE[4]
        ax.plot(*mean, "o", color=color, ms=6)
        if leaves:
            ax.plot(*mean, "o", mfc="none", mec=color, ms=13)
        ax.annotate(names[arm], mean, xytext=(5, 4), textcoords="offset points", fontsize="small")
    verdict = "accepted" if phase.accepted else "rejected"
    ax.set(xlabel=f"mean {labels[0]}", ylabel=f"mean {labels[1]}")
    ax.set_title(f"phase {phase.phase}: {phase.target} pulls each, {names[phase.removed]} {verdict}")
    return ax


def shared_legend(figure: Figure, columns: int = 4) -> None:
    """Put one legend for all panels below the figure.

    Parameters
    ----------
    figure : Figure
    columns : int

    Examples
    --------
    >>> figure, axes = plt.subplots(1, 2)
    >>> _ = axes[0].plot([0, 1], label="a"), axes[1].plot([0, 1], label="a")
    >>> shared_legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a']
    """
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)


def show_table(frame: pd.DataFrame, caption: str = "", **formats: str) -> Styler:
    """Typeset a frame: no index, aligned numbers, the same HTML in every run.

    Parameters
    ----------
    frame : DataFrame
    caption : str
        Stands above the table; different for each table of a page.
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
    name = re.sub(r"\W+", "-", caption.lower()).strip("-") or "table"
    shown = Styler(frame, uuid=name, uuid_len=0, cell_ids=False, caption=caption or None)
    words = [name for name, dtype in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]
    wrap = "text-align: left; white-space: normal"
    left: Any = [{"selector": f".col{frame.columns.get_loc(name)}", "props": wrap} for name in words]
    shown = shown.hide(axis="index").set_table_styles(left)
    return shown.format({column: f"{{:{spec}}}" for column, spec in formats.items()}, na_rep="–")
