"""Figures of runs: means against the budget, and single runs step by step."""

from collections.abc import Sequence
from html import escape
from itertools import count, cycle, product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from cobandit import _validation, dominance
from cobandit._text import amount
from cobandit.figures.style import (
    FAINT,
    INK,
    LINES,
    SHADES,
    escape_math,
    log_axis,
    method_label,
    method_style,
    plain_log,
    plain_numbers,
    provenance,
)
from cobandit.policies import Phase
from cobandit.stats import summaries

_numbers = count()


def by_budget(
    runs: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None
) -> Axes:
    """Draw the mean of a column against the budget, with a line and band per method.

    Bands are 95 % bootstrap intervals over replications, or Wilson intervals for a
    boolean column. Infeasible budgets leave a gap. The lower axis counts evaluations
    per configuration, and the upper axis has the same budgets in the unit of the
    table's costs.

    Parameters
    ----------
    runs : DataFrame
        From `replay_online` or `replay_identification`.
    column, ylabel : str
        Column to draw, and label of the axis (with its unit).
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> runs = cb.replay_online(table, ["CoHVUCB"], rho=[4, 8], replications=5)
    >>> by_budget(runs, "efficiency_regret", "efficiency regret").get_ylabel()
    'efficiency regret'
    """
    ax = ax or plt.subplots()[1]
    _draw_means(summaries.summarise(runs, column), ax)
    plain_numbers(ax.yaxis)
    return _label_budget(ax, runs, ylabel)


def error_by_budget(runs: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the probability of a wrong Pareto set against the budget.

    If no replication returned a wrong set, an arrow marks the upper confidence limit,
    because the estimate of zero cannot be drawn on a logarithmic axis.

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
    >>> table = cb.load("synthetic-24")
    >>> runs = cb.replay_identification(table, ["CoPSI"], [50, 100], replications=5)
    >>> error_by_budget(runs).get_yscale()
    'log'
    """
    ax = ax or plt.subplots()[1]
    cells = summaries.summarise(
        runs.assign(error=~runs["correct"].astype(bool)), "error"
    )
    _draw_means(cells.assign(unseen=cells["high"].where(cells["successes"] == 0)), ax)
    log_axis(ax)
    return _label_budget(ax, runs, r"error probability $\Pr(\hat P_B \neq P^\star)$")


def _draw_means(cells: pd.DataFrame, ax: Axes) -> None:
    """Draw a line and a band for each method and its options.

    An arrow marks the upper limit at a budget without errors. A label includes the
    options only if the method was run with more than one set of options.
    """
    variants = list(summaries.rows_by_cell(cells, ["method", "options"]))
    for (method, options), rows in variants:
        siblings = [sibling for (name, sibling), _ in variants if name == method]
        line = LINES[siblings.index(options) % len(LINES)]
        style = method_style(method) | {"ls": line}
        shown_options = (options or "default") if len(siblings) > 1 else ""
        label = method_label(method, shown_options)

        cell = cells.iloc[rows].sort_values("rho")
        rho = cell["rho"]
        limits = cell.get("unseen", cell["mean"] * np.nan)
        has_errors = limits.isna()
        ax.plot(rho, cell["mean"].where(has_errors), label=label, **style)

        low = cell["low"].where(has_errors)
        high = cell["high"]
        if len(cell) > 1:
            ax.fill_between(rho, low, high, color=style["color"], alpha=0.2, lw=0)
        else:
            # with a single budget, a band would have no width
            ax.vlines(rho, low, high, color=style["color"], alpha=0.5)

        if "unseen" in cell:
            ax.plot(
                rho[~has_errors],
                limits[~has_errors],
                ls="",
                marker=r"$\downarrow$",
                ms=9,
                color=style["color"],
            )


def _label_budget(ax: Axes, runs: pd.DataFrame, ylabel: str) -> Axes:
    """Label the horizontal axis with budgets: rho below, and B in costs above."""
    rho = np.unique(runs["rho"])
    units = runs["unit"].unique()

    # cost of one evaluation of each configuration
    cost = (runs["budget"] / runs["rho"]).iloc[0]
    ax.set_xscale("log", base=2)
    ax.set(xlabel="budget ρ, evaluations per configuration", ylabel=ylabel)
    ax.set_xticks(rho, [amount(value) for value in rho])
    ax.xaxis.set_minor_locator(NullLocator())
    if len(rho) > 6:
        ax.tick_params(axis="x", labelrotation=45)
    above = ax.secondary_xaxis(
        "top", functions=(lambda value: value * cost, lambda value: value / cost)
    )
    above.set_xlabel(
        f"budget B ({units[0]})" if len(units) == 1 else "budget B", fontsize="small"
    )
    if len(rho) > 1:
        plain_log(above.xaxis, (1, 3) if rho[-1] > 50 * rho[0] else (1, 2, 5))
    else:
        above.set_xticks(rho * cost, [amount(budget) for budget in rho * cost])
        above.xaxis.set_minor_locator(NullLocator())

    above.tick_params(labelsize="small")
    ax.set_title(provenance(runs))
    return ax


def index_path(
    history: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None
) -> Axes:
    """Draw a quantity of each arm, such as its index, after every pull of a run.

    Parameters
    ----------
    history : DataFrame
        Columns ``pull``, ``arm`` (a name) and the drawn one; one row per arm and pull.
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
    looks = cycle(product(SHADES, LINES))
    for arm, (color, line) in zip(history["arm"].unique(), looks, strict=False):
        path = history[history["arm"] == arm]
        ax.plot(
            path["pull"],
            path[column],
            line,
            ds="steps-post",
            color=color,
            label=escape_math(arm),
        )

    ax.set(xlabel="pull", ylabel=ylabel)
    return ax


def phase_plane(
    phase: Phase,
    names: Sequence[str],
    labels: tuple[str, str],
    ax: Axes | None = None,
    front: ArrayLike | None = None,
) -> Axes:
    """Draw the empirical means of the active arms at the end of a phase.

    The removed arm has a solid ring if it is accepted, a dotted ring if it is rejected,
    and also a cross if this is a mistake.

    Parameters
    ----------
    phase : Phase
        A phase of an elimination with two objectives, from ``phases`` of a policy such
        as `cobandit.CoPSI`.
    names : sequence of str
        Names of all arms.
    labels : (str, str)
        Names of the objectives.
    ax : Axes, optional
    front : array_like of bool, optional
        The true Pareto set; decisions that differ from it are marked as mistakes.

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
    mistaken = (
        front is not None and bool(np.asarray(front)[phase.removed]) != phase.accepted
    )
    for arm, mean in zip(phase.active, phase.means, strict=True):
        x, y = mean
        ax.plot(x, y, "o", color=INK, ms=6)
        if arm == phase.removed:
            ax.scatter(
                x,
                y,
                s=170,
                facecolors="none",
                edgecolors=INK,
                ls="-" if phase.accepted else ":",
            )
            if mistaken:
                ax.scatter(x, y, s=230, marker="x", color=INK)
        _write(ax, names[arm], mean, (5, 4))

    verdict = ("accepted" if phase.accepted else "rejected") + (
        " by mistake" if mistaken else ""
    )
    ax.margins(0.1)  # leaves room for the names
    ax.set(xlabel=f"mean {labels[0]}", ylabel=f"mean {labels[1]}")
    removed = escape_math(names[phase.removed])
    ax.set_title(f"phase {phase.phase}: {phase.target} pulls each, {removed} {verdict}")
    return ax


def _write(
    ax: Axes, name: str, at: tuple[float, float], offset: tuple[int, int]
) -> None:
    """Write a name at an offset in points from its mark."""
    ax.annotate(
        escape_math(name),
        at,
        xytext=offset,
        textcoords="offset points",
        fontsize="small",
    )


def gap_plane(
    means: ArrayLike,
    arm: int,
    names: Sequence[str],
    labels: tuple[str, str],
    ax: Axes | None = None,
) -> Axes:
    """Draw the classification gap of an arm, and the arm that determines it.

    The mark of the arm is filled, the mark of the arm that determines its gap is open,
    and all others are grey. An arrow moves an arm by the same amount in all
    coordinates, and the lengths of the arrows in one coordinate add up to the gap. The
    shaded quadrant is the region that one of the two arms dominates. This is the arm
    itself if the term of its gap is ``"needed"``, and otherwise the arm that determines
    the gap.

    Parameters
    ----------
    means : array_like, shape (K, 2)
    arm : int
    names : sequence of str
    labels : (str, str)
        Names of the objectives.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> means = [[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]]
    >>> gap_plane(means, 2, "abc", ("first", "second")).get_title()
    'c, gap 0.125'
    """
    ax = ax or plt.subplots()[1]
    means = _validation.means(means)
    terms = dominance.gap_terms(means)

    # half the width of a panel: no arrow is longer than the largest gap
    room = max(term.gap for term in terms) + 0.05
    row = terms[arm]
    other = row.by
    gap = row.gap
    dominator = arm if row.term == "needed" else other

    low = means.min(axis=0) - room
    ax.fill_between(
        [low[0], means[dominator, 0]],
        low[1],
        means[dominator, 1],
        color=FAINT,
        alpha=0.15,
        lw=0,
    )
    for i, mean in enumerate(means):
        near = i in (arm, other)
        face = "none" if i == other else INK if near else FAINT
        ax.plot(*mean, "o", color=INK if near else FAINT, mfc=face, ms=7 if near else 5)
        _write(ax, names[i], mean, (6, -11))

    if row.term == "dominated":
        steps = [(arm, gap)]
    elif row.term == "overtaken":
        steps = [(arm, -gap)]
    else:
        m, M = dominance.margins_of_others(means)
        steps = [(other, -max(M[other, arm], 0.0)), (other, max(m[other].max(), 0.0))]

    arrow = {"arrowstyle": "->", "color": INK, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    for start, step in steps:
        if step:
            ax.annotate("", means[start] + step, means[start], arrowprops=arrow)

    high = means.max(axis=0) + room
    ax.set(
        xlabel=labels[0],
        ylabel=labels[1],
        xlim=(low[0], high[0]),
        ylim=(low[1], high[1]),
    )
    ax.set_title(f"{escape_math(names[arm])}, gap {gap:.3g}")
    return ax


def stepper(
    steps: Sequence[tuple[str, str]], printed: Sequence[int] | None = None
) -> str:
    """Return HTML that shows one of several pictures, with a button for each.

    It needs no JavaScript.

    Parameters
    ----------
    steps : sequence of (str, str)
        Text of each button, and HTML of its picture.
    printed : sequence of int, optional
        Positions of the pictures that are printed on paper, by default all.

    Returns
    -------
    str

    Examples
    --------
    >>> stepper([("one", "<p>1</p>"), ("two", "<p>2</p>")], printed=[1]).count("<input")
    2
    """
    name = f"stepper{next(_numbers)}"
    buttons = ""
    pictures = ""
    selectors = []
    for place, (label, picture) in enumerate(steps):
        button = f"{name}-{place}"
        checked = "" if place else " checked"
        buttons += f'<input type="radio" name="{name}" id="{button}"{checked}>'
        buttons += f'<label for="{button}">{escape(label)}</label> '

        is_printed = printed is None or place in printed
        classes = "step paper" if is_printed else "step"
        pictures += f'<div class="{classes}">{picture}</div>'
        selectors.append(f"#{button}:checked ~ .step:nth-of-type({place + 1})")

    rules = [
        f".{name} > .step {{display: none}}",
        f"{', '.join(selectors)} {{display: block}}",
        f".{name} > label {{margin-right: 0.8rem}}",
        (
            f"@media print {{.{name} > .step, .{name} > input, .{name} > label"
            " {display: none !important}"
        ),
        f".{name} > .paper {{display: block !important}}}}",
    ]
    style = f"<style>{' '.join(rules)}</style>"
    return (
        f'<div class="{name}" role="radiogroup"'
        f' aria-label="steps">{style}{buttons}{pictures}</div>'
    )
