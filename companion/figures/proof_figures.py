"""Figures that illustrate the ideas of the paper's proofs."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cobandit import theory
from cobandit.figures.style import FAINT, INK

#: Costs of the arms of the staircase, in units of the largest cost.
COSTS = (1.0, 0.5, 0.25, 0.25)


def draw_shrinking_indices() -> Figure:
    """Draw an arm's largest possible index against its pulls, for two efficiency gaps.

    The arm can be pulled while this index is above the efficiency of the best arm.
    """
    # efficiency of the best arm
    best = 1.0
    # C beta, the largest excess of an index over the efficiency, after one pull
    excess = 2.0
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 2.9), sharex=True, sharey=True)
    for ax, gap, title in zip(axes, (0.5, 0.25), ("gap Δ", "gap Δ / 2"), strict=True):
        pulls = 2.0 ** np.arange(8)
        highest = best - gap + excess / np.sqrt(pulls)
        pulled = highest >= best
        for chosen, color, label in (
            (pulled, INK, "can still be pulled"),
            (~pulled, FAINT, "is pulled no more"),
        ):
            ax.vlines(
                pulls[chosen],
                best - gap,
                highest[chosen],
                color=color,
                lw=5,
                label=label,
            )

        last = (excess / gap) ** 2
        ax.annotate(
            f"{last:.0f} pulls",
            (last, best),
            xytext=(0, 42),
            textcoords="offset points",
            ha="center",
            arrowprops={"arrowstyle": "->", "color": INK},
        )

        ax.axhline(best, color=INK, lw=1, label="efficiency of the best arm")
        ax.axhline(best - gap, color=INK, lw=1, ls=":", label="of this arm")
        ax.set(title=title, xlabel="pulls of the arm", xscale="log")
        ax.set_xticks(pulls[::2], [f"{count:.0f}" for count in pulls[::2]])
        ax.set_yticks([1, 2])
        ax.minorticks_off()

    axes[0].set_ylabel("index")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def draw_margin_squares() -> Figure:
    """Draw why Lemma 2 holds: a mistake has a smaller empirical gap than another arm.

    A mistake is an arm that would be misclassified. Gap elimination removes the arm
    with the largest empirical classification gap, so it does not remove a mistake.
    """
    figure, (plane, line) = plt.subplots(1, 2, figsize=(8, 3.0), width_ratios=[1, 1.3])
    # the gap is eight times the error, as in the paper's proof
    gap = 0.4
    error = gap / 8
    means = {"i": np.array([0.3, 0.25]), "i†": np.array([0.3 + gap + 0.06, 0.25 + gap])}
    for name, mean in means.items():
        corner = (mean[0] - error / 2, mean[1] - error / 2)
        plane.add_patch(Rectangle(corner, error, error, fill=False, color=FAINT))
        plane.plot(*mean, "o", color=INK, ms=4)
        plane.annotate(name, mean, (9, -3), textcoords="offset points")
    plane.annotate(
        "",
        means["i"] + gap,
        means["i"],
        arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 4, "shrinkB": 0},
    )
    plane.annotate("$γ_i$", means["i"] + gap / 2, (8, -10), textcoords="offset points")
    plane.set(
        xlim=(0.1, 1),
        ylim=(0.1, 0.8),
        xlabel="first score",
        ylabel="second score",
        title="means that err by ε / 2",
    )
    plane.set_aspect("equal")
    plane.set(xticks=[], yticks=[])

    spans = {
        "a mistake:\nat most 2ε": (0, 2 / 8),
        "the removed arm:\nat least γ − 2ε": (1 - 2 / 8, 1.25),
    }
    for row, (low, high) in enumerate(spans.values()):
        line.barh(row, high - low, left=low, height=0.4, color=(FAINT, INK)[row])
    line.annotate("", (0.75, 0.5), (0.25, 0.5), arrowprops={"arrowstyle": "<->"})
    line.annotate("room to spare", (0.5, 0.55), ha="center", va="bottom")
    line.set_yticks(range(len(spans)), list(spans))
    line.set(
        xlim=(0, 1.25),
        ylim=(-0.5, 1.5),
        xlabel="empirical gap",
        title="ε = γ / 8: both at once are impossible",
    )
    line.set_xticks([0, 0.25, 0.75, 1], ["0", "2ε", "γ − 2ε", "γ"])
    return figure


def draw_budget_staircase(budget: float = 40.0) -> Figure:
    """Draw the phases of CoPSI as blocks, one panel per allocation constant.

    The allocation constant divides the budget.

    The area of a block is the cost of its phase. Filled blocks remove the cheapest arm
    first, and dashed blocks the most expensive arm first.
    """
    costs = np.array(COSTS)
    figure, axes = plt.subplots(1, 3, figsize=(8.8, 3.1), sharex=True, sharey=True)
    constants = {
        "$L_{K,λ}$": theory.allocation_constant(len(costs), costs.min()),
        "$L^⋆$": theory.exact_allocation_constant(costs),
        "adaptive": None,
    }
    for ax, (name, constant) in zip(axes, constants.items(), strict=True):
        spent = {}
        for order, removed in {
            "cheapest first": np.argsort(costs),
            "most expensive first": np.argsort(-costs),
        }.items():
            widths, targets = staircase(costs, removed, budget, constant)
            heights = np.diff(targets, prepend=0)
            spent[order] = widths @ heights / budget
            _draw_blocks(ax, widths, targets, filled=order == "cheapest first")
        ax.set_title(f"{name}: {spent['cheapest first']:.0%} spent".replace("%", " %"))
        ax.annotate(
            f"dashed: {spent['most expensive first']:.0%}".replace("%", " %"),
            (0.98, 0.9),
            xycoords="axes fraction",
            ha="right",
            fontsize="small",
        )
        ax.set(xlabel="cost of a pull of all active arms", xlim=(0, 2.1))
    axes[0].set(ylabel="pulls of each active arm", yticks=[0, 20, 40])
    axes[0].set_xticks([0, 1, 2])
    return figure


def staircase(
    costs: np.ndarray, removed: np.ndarray, budget: float, constant: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each phase, the cost of a pull of all active arms, and the target.

    The target of a phase is the number of pulls of each active arm by the end of the
    phase, without rounding.

    Parameters
    ----------
    costs : ndarray of shape (K,)
    removed : ndarray of K ints
        Arms in the order in which they are removed.
    budget : float
    constant : float, optional
        Allocation constant that divides the budget. With None, each phase divides the
        remaining budget by the exact constant of the active arms.

    Examples
    --------
    >>> costs = np.array([1.0, 0.5, 0.25, 0.25])
    >>> widths, targets = staircase(costs, np.argsort(-costs), 40, None)
    >>> widths.tolist(), round(float(widths @ np.diff(targets, prepend=0)), 9)
    ([2.0, 1.0, 0.5], 40.0)
    """
    widths = []
    targets = []
    # total cost of the pulls of the removed arms
    gone = 0.0
    for phase in range(len(costs) - 1):
        active = removed[phase:]
        width = costs[active].sum()
        divisor = constant or theory.exact_allocation_constant(costs[active])
        target = (budget - (0 if constant else gone)) / (divisor * width)
        gone += costs[removed[phase]] * target
        widths.append(width)
        targets.append(target)
    return np.array(widths), np.array(targets)


def _draw_blocks(
    ax: Axes, widths: np.ndarray, targets: np.ndarray, filled: bool
) -> None:
    bottoms = np.concatenate([[0], targets[:-1]])
    for width, bottom, top in zip(widths, bottoms, targets, strict=True):
        look: dict[str, Any] = (
            {"facecolor": FAINT, "alpha": 0.45, "edgecolor": INK, "lw": 0.8}
            if filled
            else {"fill": False, "edgecolor": INK, "ls": "--", "lw": 1.2}
        )
        ax.add_patch(Rectangle((0, bottom), width, top - bottom, **look))
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.05 * targets[-1]))
