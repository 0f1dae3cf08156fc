"""Limits of logarithmic axes, from what is drawn in one panel, or in several."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from cobandit.figures.style import log_axis

#: Space beyond the smallest and the largest value, as a share of the axis.
MARGIN = 0.05


def fit_log_axis(ax: Axes, lowest: float = 0.0) -> None:
    """Make the vertical axis of a panel logarithmic, with the range of what is drawn.

    Bands are cut at a third of the smallest value of a line or mark.

    Parameters
    ----------
    ax : Axes
        Panel that does not share its vertical axis.
    lowest : float
        Smaller values are cut.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, ax = plt.subplots()
    >>> _ = ax.plot([0, 1], [0.1, 1.0])
    >>> fit_log_axis(ax)
    >>> low, high = ax.get_ylim()
    >>> bool(0.08 < low < 0.1 and 1 < high < 1.2)
    True
    >>> plt.close(figure)
    """
    ends = np.array([np.inf, -np.inf])
    for line in ax.lines:
        ends = _extend(ends, line.get_ydata(), lowest)
    smallest = ends[0] / 3
    for band in ax.collections:
        for path in band.get_paths():
            heights = np.asarray(path.vertices)[:, 1]
            ends = _extend(ends, heights, max(lowest, smallest))

    if np.isfinite(ends).all():
        low, high = np.log10(ends)
        margin = MARGIN * max(high - low, 0.2)
        ax.set_ylim(10 ** (low - margin), 10 ** (high + margin))
    log_axis(ax)


def fit_log_axes(axes: Sequence[Axes]) -> None:
    """Give panels one logarithmic vertical axis, with the range of all that is drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots(1, 2)
    >>> _ = axes[0].plot([0.1, 0.2]), axes[1].plot([0.5, 1.0])
    >>> fit_log_axes(axes)
    >>> axes[0].get_ylim() == axes[1].get_ylim()
    True
    >>> plt.close(figure)
    """
    for ax in axes:
        fit_log_axis(ax)
    drawn = [ax.get_ylim() for ax in axes if np.isfinite(ax.dataLim.minposy)]
    if drawn:
        low, high = np.transpose(drawn)
        for ax in axes:
            ax.set_ylim(low.min(), high.max())
            log_axis(ax)


def _extend(ends: np.ndarray, drawn: object, lowest: float) -> np.ndarray:
    """Extend a range to cover a line or band, but no value below ``lowest``."""
    values = np.asarray(drawn, dtype=float)
    values = values[values > 0].clip(lowest)
    if not len(values):
        return ends
    return np.array([min(ends[0], values.min()), max(ends[1], values.max())])
