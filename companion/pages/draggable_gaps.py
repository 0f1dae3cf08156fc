"""An interactive figure of classification gaps, in which the reader moves the arms.

The HTML element holds the means of the arms, and a static figure for print and for
browsers without scripts. The script `book/_static/gaps.js` replaces the static figure.
The script computes the gaps of the moved arms by the definitions of
`cobandit.dominance.gap_terms`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from numpy.typing import ArrayLike, NDArray

from cobandit import dominance
from cobandit.dominance import GapTerm
from cobandit.errors import CobanditError
from cobandit.figures import described, panels
from cobandit.figures.style import FAINT, INK

#: Moved means are multiples of 1 / STEPS, so that the script finds ties exactly.
STEPS = 200
#: Limits of both axes. Squares at the border of the unit square stay visible.
LIMITS = (-0.15, 1.15)


class Square(NamedTuple):
    """A square with one corner at the mean of an arm.

    Adding ``change`` to both scores of the arm gives the opposite corner. The absolute
    value of ``change`` is the length of a side.
    """

    arm: int
    change: float


def find_squares(means: ArrayLike, terms: Sequence[GapTerm], arm: int) -> list[Square]:
    """Return the squares whose sides add up to the classification gap of an arm.

    Parameters
    ----------
    means : array_like, shape (K, 2)
    terms : sequence of GapTerm
        Result of `cobandit.dominance.gap_terms`.
    arm : int

    Returns
    -------
    list of Square
        One square, or two squares at the mean of another arm. At one opposite corner,
        the other arm would be dominated by ``arm``. At the other opposite corner, the
        other arm would be on the front.

    Examples
    --------
    >>> means = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> find_squares(means, dominance.gap_terms(means), 0)
    [Square(arm=2, change=0.125)]
    """
    row = terms[arm]
    if row.term == "dominated":
        return [Square(arm, row.gap)]
    if row.term == "overtaken":
        return [Square(arm, -row.gap)]

    _, lead = dominance.margins(means)
    fall = max(float(lead[row.by, arm]), 0.0)
    gain = 0.0 if terms[row.by].front else terms[row.by].gap
    squares = (Square(row.by, -fall), Square(row.by, gain))
    return [square for square in squares if square.change]


def describe_arms(
    means: ArrayLike, names: Sequence[str], objectives: tuple[str, str]
) -> dict[str, Any]:
    """Return the data of the figure in a form that JSON can represent.

    Parameters
    ----------
    means : array_like, shape (K, 2)
        Means in [0, 1], multiples of 1 / `STEPS`.
    names : sequence of str
    objectives : (str, str)

    Returns
    -------
    dict

    Raises
    ------
    CobanditError
        If a mean is not a multiple of 1 / `STEPS` in [0, 1].

    Examples
    --------
    >>> data = describe_arms([[0.75, 0.25], [0.25, 0.75]], "ab", ("first", "second"))
    >>> data["names"], data["means"]
    (['a', 'b'], [[150, 50], [50, 150]])
    """
    scaled = np.asarray(means, dtype=float) * STEPS
    steps = scaled.round()
    if abs(scaled - steps).max() > 1e-9 or steps.min() < 0 or steps.max() > STEPS:
        raise CobanditError(
            f"Means are not multiples of 1/{STEPS} in [0, 1]. Round them.",
            argument="means",
            code="not-on-the-grid",
        )
    return {
        "names": list(names),
        "means": steps.astype(int).tolist(),
        "steps": STEPS,
        "limits": list(LIMITS),
        "objectives": list(objectives),
    }


def draw_arms(data: dict[str, Any]) -> Figure:
    r"""Draw the static figure, with one panel per arm.

    Parameters
    ----------
    data : dict
        Result of `describe_arms`.

    Examples
    --------
    >>> means = [[0.75, 0.25], [0.25, 0.75]]
    >>> figure = draw_arms(describe_arms(means, "ab", ("first", "second")))
    >>> [ax.get_title() for ax in figure.axes]
    ['a: on the front,\n0.5 by b', 'b: on the front,\n0.5 by a']
    """
    names = data["names"]
    means = np.array(data["means"]) / data["steps"]
    terms = dominance.gap_terms(means)
    figure, axes = plt.subplots(
        1, len(names), figsize=(9, 2.9), sharex=True, sharey=True, squeeze=False
    )
    for arm, ax in enumerate(axes[0]):
        row = terms[arm]
        _draw_arm(ax, means, terms, arm)
        for name, mean in zip(names, means, strict=True):
            ax.annotate(name, mean, (9, -14), textcoords="offset points")
        status = "on the front" if row.front else "dominated"
        ax.set_title(f"{names[arm]}: {status},\n{row.gap:.3g} by {names[row.by]}")
        ax.set(xlim=data["limits"], ylim=data["limits"], xlabel=data["objectives"][0])
        ax.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes[0, 0].set_ylabel(data["objectives"][1])
    return figure


def _draw_arm(
    ax: Axes, means: NDArray[np.float64], terms: Sequence[GapTerm], arm: int
) -> None:
    row = terms[arm]
    better = means[arm if row.term == "needed" else row.by]
    ax.fill_between(
        [LIMITS[0], better[0]], LIMITS[0], better[1], color=FAINT, alpha=0.15
    )
    for square in find_squares(means, terms, arm):
        corner = means[square.arm] + min(square.change, 0.0)
        side = abs(square.change)
        ax.add_patch(Rectangle(tuple(corner), side, side, fc=FAINT, alpha=0.45))
        ax.add_patch(Rectangle(tuple(corner), side, side, fill=False, ec=INK))

    for i, mean in enumerate(means):
        ax.plot(*mean, "o", color=INK, mfc=INK if terms[i].front else "none", ms=5)
    for i, line in ((arm, "-"), (row.by, "--")):
        ax.add_patch(Circle(tuple(means[i]), 0.09, fill=False, ec=INK, ls=line))


def figure_html(data: dict[str, Any]) -> str:
    """Return the HTML element of the figure: the static figure, and the data.

    The page's script replaces the static figure.

    Examples
    --------
    >>> means = [[0.75, 0.25], [0.25, 0.75]]
    >>> text = figure_html(describe_arms(means, "ab", ("first", "second")))
    >>> text.count("<svg"), "a: on the front, 0.5 by b. b: on the front" in text
    (2, True)
    """
    figure = draw_arms(data)
    titles = [ax.get_title().replace("\n", " ") for ax in figure.axes]
    drawing = described(
        panels(figure), f"A panel per arm, with its gap. {'. '.join(titles)}."
    )
    plt.close(figure)
    return f'<div id="gaps" data-arms="{escape(json.dumps(data))}">{drawing}</div>'
