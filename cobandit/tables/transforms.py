"""How a measured column becomes an objective in [0, 1] that is maximised.

======================  ==========================================================
``none``                x, which has to be in [0, 1] already
``inverse-percentile``  clip((1/x - 1/tau_high) / (1/tau_low - 1/tau_high), 0, 1)
``negate-minmax``       clip((x_max - x) / (x_max - x_min), 0, 1)
======================  ==========================================================

The limits (tau_low, tau_high) are percentiles of x itself, by default the 5th and the 95th with linear
interpolation; (x_min, x_max) its range. Both are taken over all rows of the *profiling* split, so that the
evaluation split has no say in how it is scored; what it holds beyond the limits is clipped.
"""

from __future__ import annotations

import numpy as np

from cobandit.faults import TableError
from cobandit.tables.card import Objective


def inverse_percentile(values: np.ndarray, tau_low: float, tau_high: float) -> np.ndarray:
    """Normalised inverse of a latency: 1 at ``tau_low`` or faster, 0 at ``tau_high`` or slower.

    Parameters
    ----------
    values : array of float, any shape
        Latencies, positive, in the unit of the limits.
    tau_low, tau_high : float
        The percentiles of the latency that map to 1 and to 0.

    Returns
    -------
    array of float, same shape, in [0, 1]

    Raises
    ------
    TableError
        If the limits do not differ: a constant latency ranks nothing.

    Examples
    --------
    >>> inverse_percentile(np.array([1.0, 2.0, 4.0, 9.0]), 2.0, 4.0)
    array([1., 1., 0., 0.])
    """
    spread = 1.0 / tau_low - 1.0 / tau_high
    if not 0 < spread < np.inf:
        raise TableError(f"the latency is constant: its percentiles are {tau_low:g} and {tau_high:g}")
    # clipping the latency is clipping the score, and gives exactly 1 and 0 at the ends
    clipped = np.clip(np.asarray(values, dtype=np.float64), tau_low, tau_high)
    return (1.0 / clipped - 1.0 / tau_high) / spread


def negate_minmax(values: np.ndarray, smallest: float, largest: float) -> np.ndarray:
    """Turn a quantity to be minimised around: 1 at ``smallest`` or below, 0 at ``largest`` or above.

    Raises
    ------
    TableError
        If the limits do not differ.

    Examples
    --------
    >>> negate_minmax(np.array([1.0, 2.0, 4.0, 9.0]), 2.0, 4.0)
    array([1., 1., 0., 0.])
    """
    spread = largest - smallest
    if not 0 < spread < np.inf:
        raise TableError(f"the column is constant: its range is {smallest:g} to {largest:g}")
    return (largest - np.clip(np.asarray(values, dtype=np.float64), smallest, largest)) / spread


def limits(objective: Objective, profiling: np.ndarray) -> tuple[float, float]:
    """Fit a transform: the two values of the column that become 1 and 0 (for ``none``, 1 and 0 themselves).

    Parameters
    ----------
    objective : Objective
        The card's entry.
    profiling : array of float, shape (n,)
        The column's values in the profiling split, all configurations together.

    Examples
    --------
    >>> speed = Objective(name="speed", column="seconds", transform="inverse-percentile", low=0, high=50)
    >>> limits(speed, np.array([3.0, 1.0, 2.0]))
    (1.0, 2.0)
    """
    if objective.transform == "inverse-percentile":
        low, high = np.percentile(profiling, [objective.low, objective.high], method="linear")
    elif objective.transform == "negate-minmax":
        low, high = profiling.min(), profiling.max()
    else:
        low, high = 1.0, 0.0
    return float(low), float(high)


def apply(objective: Objective, values: np.ndarray, fitted: tuple[float, float]) -> np.ndarray:
    """Apply the transform of a card's objective with the limits that :func:`limits` found.

    Raises
    ------
    TableError
        If the limits do not differ.

    Examples
    --------
    >>> apply(Objective(name="accuracy", column="correct"), np.array([0.0, 1.0]), (1.0, 0.0))
    array([0., 1.])
    """
    if objective.transform == "inverse-percentile":
        return inverse_percentile(values, *fitted)
    if objective.transform == "negate-minmax":
        return negate_minmax(values, *fitted)
    return np.asarray(values, dtype=np.float64)
