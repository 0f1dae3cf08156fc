"""Classification gaps drawn on the plane of two objectives."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from cobandit import _check, dominance
from cobandit.dominance import TERMS, gap_terms
from cobandit.figures.looks import FAINT, INK
from cobandit.figures.style import escape_math


def gap_plane(
    means: ArrayLike, arm: int, names: Sequence[str], labels: tuple[str, str], ax: Axes | None = None
) -> Axes:
    """One arm's classification gap as steps along the diagonal, next to the arm j that decides it.

    The arm is filled, j open, all others grey.  An arrow moves all coordinates of one arm by the same amount,
    and the arrows of a panel are together as long (in each coordinate) as the gap.  The shaded quadrant is
    what the dominating one of the two dominates.

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
    >>> gap_plane([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]], 2, "abc", ("first", "second")).get_title()
    'c: 0.125, by b, $m(i,j)$'
    """
    ax = ax or plt.subplots()[1]
    means = _check.means(means)
    terms = gap_terms(means)
    row, room = terms[arm], max(term.gap for term in terms) + 0.05  # no arrow is longer than the largest gap
    other, gap = row.by, row.gap
    dominator = arm if row.term == "needed" else other
    low = means.min(axis=0) - room
    ax.fill_between([low[0], means[dominator, 0]], low[1], means[dominator, 1], color=FAINT, alpha=0.15, lw=0)
    for i, mean in enumerate(means):
        near = i in (arm, other)
        face = "none" if i == other else INK if near else FAINT
        ax.plot(*mean, "o", color=INK if near else FAINT, mfc=face, ms=7 if near else 5)
        ax.annotate(
            escape_math(names[i]), mean, xytext=(6, -11), textcoords="offset points", fontsize="small"
        )
    if row.term == "dominated":
        steps = [(arm, gap)]
    elif row.term == "overtaken":
        steps = [(arm, -gap)]
    else:
        m, M = dominance.margins(means)
        np.fill_diagonal(m, -np.inf)
        steps = [(other, -max(M[other, arm], 0.0)), (other, max(m[other].max(), 0.0))]
    for start, step in steps:
        if step:
            ax.annotate(
                "",
                means[start] + step,
                means[start],
                arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
            )
    high = means.max(axis=0) + room
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_title(f"{escape_math(names[arm])}: {gap:.3g}, by {escape_math(names[other])}, {TERMS[row.term]}")
    return ax
