"""Labels of points at the right margin of a panel, and names above the rows of a panel.

A name above its row needs no room beside the panel, which a phone does not have.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from cobandit.figures.style import FAINT, INK, NAME_SIZE, escape_math

#: Smallest distance of two labels, as a share of the height of the panel.
SPACING = 0.075


def label_at_margin(ax: Axes, points: ArrayLike, names: Sequence[str]) -> None:
    """Write the names of points at the right of a panel, with lines to the points.

    The names are in the vertical order of the points. Call this function when the
    limits of the axes are final.

    Parameters
    ----------
    ax : Axes
    points : array_like of shape (n, 2)
    names : sequence of n str

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plt.subplots()[1]
    >>> label_at_margin(ax, [(0.2, 0.5), (0.2, 0.5), (0.8, 0.9)], ["a", "b", "c"])
    >>> heights = {text.get_text(): float(text.xyann[1]) for text in ax.texts}
    >>> heights["c"] > heights["a"] > heights["b"]
    True
    """
    places = np.asarray(points, dtype=float)
    low, high = ax.get_ylim()
    # among points of equal height, the rightmost is first, so that lines do not cross
    order = np.lexsort((-places[:, 0], -places[:, 1]))
    heights = spread((places[order, 1] - low) / (high - low), SPACING)

    for row, height in zip(order, heights, strict=True):
        ax.annotate(
            escape_math(names[row]),
            places[row],
            xytext=(1.04, height),
            textcoords="axes fraction",
            fontsize="medium",
            color=INK,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": FAINT,
                "lw": 0.7,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def name_above(ax: Axes, names: Sequence[str]) -> None:
    """Write a name above each row of a panel, inside the panel, the first row on top.

    Parameters
    ----------
    ax : Axes
        Axes whose row ``k`` is at the y coordinate ``k``.
    names : sequence of str

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> ax = plt.subplots()[1]
    >>> name_above(ax, ["a", "b"])
    >>> [text.get_text() for text in ax.texts], ax.get_yticks().tolist()
    (['a', 'b'], [0, 1])
    """
    ax.set_yticks(range(len(names)), [""] * len(names))
    ax.set_ylim(len(names) - 0.5, -0.8)
    for row, name in enumerate(names):
        ax.annotate(
            escape_math(name),
            (0, row),
            xycoords=("axes fraction", "data"),
            xytext=(3, 4),
            textcoords="offset points",
            va="bottom",
            color=INK,
            fontsize=NAME_SIZE,
        )


def spread(heights: ArrayLike, spacing: float) -> np.ndarray:
    """Move heights so that neighbours are at least ``spacing`` apart.

    The given heights must be in decreasing order. The sum of squared moves is minimal.

    Examples
    --------
    >>> spread([0.9, 0.5, 0.5, 0.1], 0.1).round(2).tolist()
    [0.9, 0.55, 0.45, 0.1]
    >>> spread([0.5], 0.1).tolist()
    [0.5]
    """
    # With i * spacing added to the i-th height, the sequence only has to be decreasing.
    # This is isotonic regression, by pooling adjacent violators.
    wanted = np.asarray(heights, dtype=float)
    steps = spacing * np.arange(len(wanted))
    pools: list[tuple[float, int]] = []
    for value in wanted + steps:
        mean, size = float(value), 1
        while pools and pools[-1][0] < mean:
            earlier, count = pools.pop()
            mean = (earlier * count + mean * size) / (count + size)
            size += count
        pools.append((mean, size))
    fitted = [mean for mean, size in pools for _ in range(size)]
    return np.array(fitted) - steps
