"""Figures of single runs, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from cobandit.figures.looks import INK, SHADES
from cobandit.figures.style import LINES, escape_math
from cobandit.policies import Phase


def index_path(history: pd.DataFrame, column: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """One quantity of each arm (index, numerator or denominator) after every pull of a run.

    Parameters
    ----------
    history : DataFrame
        Columns ``pull``, ``arm`` (a name) and ``column``, one row per arm and pull.
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
            label=escape_math(arm),
            color=list(SHADES)[place // len(LINES) % len(SHADES)],
            ls=LINES[place % len(LINES)],
        )
    ax.set(xlabel="pull", ylabel=ylabel)
    return ax


def phase_plane(phase: Phase, names: Sequence[str], labels: tuple[str, str], ax: Axes | None = None) -> Axes:
    """Empirical means at the end of one phase of an elimination; the arm that leaves is ringed.

    The ring of one that is accepted is whole, that of one that is rejected is dashed.

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
        ax.plot(*mean, "o", color=INK, ms=6)
        if leaves:
            ax.scatter(
                mean[0], mean[1], s=170, facecolors="none", edgecolors=INK, ls="-" if phase.accepted else ":"
            )
        ax.annotate(
            escape_math(names[arm]), mean, xytext=(5, 4), textcoords="offset points", fontsize="small"
        )
    verdict = "accepted" if phase.accepted else "rejected"
    ax.set(xlabel=f"mean {labels[0]}", ylabel=f"mean {labels[1]}")
    ax.set_title(
        f"phase {phase.phase}: {phase.target} pulls each, {escape_math(names[phase.removed])} {verdict}"
    )
    return ax
