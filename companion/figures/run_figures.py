"""Figures of single runs: the sequence of pulls, and the phases of CoPSI."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cobandit import figures
from cobandit.figures.style import FAINT, INK
from cobandit.policies import Phase
from companion.paper.examples import Example

#: Half of the height of the blocks in a row of pulls.
HALF = 0.3


def draw_ruler(example: Example, runs: Mapping[str, str]) -> Figure:
    """Draw the pulls of runs as blocks along the budget, each as wide as its cost.

    Parameters
    ----------
    example : Example
        Arms with their costs, and a budget.
    runs : mapping from str to str
        For each run, by its label, the names of its pulled arms, one letter per pull.
    """
    figure, ax = plt.subplots(figsize=(4.8, 0.55 * len(runs) + 0.9))
    shades = dict(zip(example.names, (0.55, 0.3, 0.1), strict=True))
    costs = dict(zip(example.names, example.costs, strict=True))

    for row, pulls in enumerate(runs.values()):
        ends = np.cumsum([costs[name] for name in pulls])
        for name, end in zip(pulls, ends, strict=True):
            crosses = end > example.budget
            corner = (end - costs[name], row - HALF)
            block = Rectangle(corner, costs[name], 2 * HALF, fill=not crosses)
            block.set(edgecolor=INK, lw=1, ls="--" if crosses else "-")
            if not crosses:
                block.set_facecolor(to_rgba(FAINT, shades[name]))
            ax.add_patch(block)
            middle = (end - costs[name] / 2, row)
            ax.annotate(name, middle, ha="center", va="center")

    ax.axvline(example.budget, color=INK, lw=2)
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set(
        xlim=(0, example.budget + max(example.costs) + 0.1),
        ylim=(len(runs) - 0.5, -0.5),
        xlabel="spent",
    )
    ax.set_xticks(range(int(example.budget) + 2))
    ax.grid(False)
    return figure


def spent_by_phase(phases: Sequence[Phase], costs: np.ndarray) -> np.ndarray:
    """Return the total cost of all pulls up to the end of each phase of CoPSI.

    Each pull is charged the known cost of its arm.

    Examples
    --------
    >>> import cobandit as cb
    >>> from companion.paper.examples import IDENTIFICATION as example
    >>> finder = cb.CoPSI(example.costs, example.budget, 2)
    >>> _ = cb.play(finder, example.table())
    >>> spent_by_phase(finder.phases, example.costs).tolist()
    [12.0, 24.0]
    """
    targets = np.array([phase.target for phase in phases])
    rounds = np.array([costs[phase.active].sum() for phase in phases])
    return (rounds * np.diff(targets, prepend=0)).cumsum()


def draw_phase(
    phases: Sequence[Phase],
    place: int,
    names: Sequence[str],
    labels: tuple[str, str],
    shares: Sequence[float],
    *,
    front: np.ndarray,
    ax: Axes,
) -> None:
    """Draw one phase of CoPSI, with the arms removed earlier and the spent budget.

    The limits of the axes are the same for all phases of a run.

    Parameters
    ----------
    phases : sequence of Phase
        All phases of the run, with two objectives.
    place : int
        Index of the phase to draw.
    names : sequence of str
        Names of the arms.
    labels : (str, str)
        Names of the objectives.
    shares : sequence of float
        Share of the budget that is spent by the end of each phase.
    front : ndarray of bool
        The true Pareto set.
    ax : Axes
    """
    figures.phase_plane(phases[place], names, labels, ax, front)
    for earlier in phases[:place]:
        mean = earlier.means[list(earlier.active).index(earlier.removed)]
        line = "-" if earlier.accepted else ":"
        ax.scatter(
            mean[0], mean[1], s=45, facecolors="none", edgecolors=FAINT, linestyle=line
        )
        name = figures.escape_math(names[earlier.removed])
        ax.annotate(
            name, mean, (5, 4), textcoords="offset points", color=FAINT, size="small"
        )

    points = np.concatenate([phase.means for phase in phases])
    low = points.min(axis=0)
    margin = np.maximum(0.12 * np.ptp(points, axis=0), 0.01)
    high = points.max(axis=0) + margin
    ax.set(xlim=(low[0] - margin[0], high[0]), ylim=(low[1] - margin[1], high[1]))

    ax.set_title(ax.get_title(), pad=22)
    bar = ax.inset_axes((0, 1.03, 1, 0.07))
    bar.barh(0, shares[place], color=FAINT, alpha=0.45, height=1)
    bar.barh(0, 1, color="none", edgecolor=INK, lw=0.8, height=1, clip_on=False)
    words = f"{100 * shares[place]:.0f} % of the budget spent"
    bar.annotate(
        words, (0.99, 0.5), xycoords="axes fraction", ha="right", va="center", size=8.5
    )
    bar.set(xlim=(0, 1), ylim=(-0.5, 0.5))
    bar.set_axis_off()
