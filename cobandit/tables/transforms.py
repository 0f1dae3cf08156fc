"""How a measured column becomes an objective in [0, 1] that is maximised: one entry of ``TRANSFORMS`` each.

======================  ==========================================================
``none``                x, which has to be in [0, 1] already
``inverse-percentile``  clip((1/x - 1/tau_high) / (1/tau_low - 1/tau_high), 0, 1)
``negate-minmax``       clip((x_max - x) / (x_max - x_min), 0, 1)
======================  ==========================================================

The limits (tau_low, tau_high) are percentiles of x itself, by default the 5th and the
95th with linear interpolation; (x_min, x_max) its range. Both are taken over all rows
of the *profiling* split, so that the evaluation split has no say in how it is scored;
what it holds beyond the limits is clipped.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cobandit.errors import TableError
from cobandit.tables.measured_columns import ColumnRule


class Transform(NamedTuple):
    """One way to turn a column into an objective.

    Parameters
    ----------
    fit : callable
        ``fit(profiling, low, high)`` gives the two values of the column that score 1
        and 0, from its values in the profiling split, shape (n,), all configurations
        together, and the card's percentiles.
    apply : callable
        ``apply(values, one, zero)`` gives the scores of values, given the values that
        score 1 and 0; TableError if no scale can be made of these.
    rule : ColumnRule, optional
        What every value of the column has to satisfy.
    percentiles : bool
        Whether ``fit`` uses ``low`` and ``high``; if not, a card that gives them is
        refused.

    Examples
    --------
    >>> fit, apply, *_ = TRANSFORMS["inverse-percentile"]
    >>> fit(np.array([3.0, 1.0, 2.0]), 0, 50)
    (1.0, 2.0)
    """

    fit: Callable[[np.ndarray, float, float], tuple[float, float]]
    apply: Callable[[np.ndarray, float, float], np.ndarray]
    rule: ColumnRule | None = None
    percentiles: bool = False


def inverse_percentile(
    values: np.ndarray, tau_low: float, tau_high: float
) -> np.ndarray:
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
    if tau_low == tau_high:
        raise TableError(f"the latency is constant: its limits are both {tau_low:g}")
    spread = 1.0 / tau_low - 1.0 / tau_high if tau_low > 0 and tau_high > 0 else np.nan
    if not 0 < spread < np.inf:
        raise TableError(
            f"limits of a latency are positive, the smaller one first, not {tau_low:g},"
            f" {tau_high:g}"
        )
    # clipping the latency is clipping the score, and gives exactly 1 and 0 at the ends
    clipped = np.clip(np.asarray(values, dtype=np.float64), tau_low, tau_high)
    return (1.0 / clipped - 1.0 / tau_high) / spread


def negate_minmax(values: np.ndarray, smallest: float, largest: float) -> np.ndarray:
    """Reverse a quantity that is to be minimised: 1 at ``smallest`` or below, 0 at ``largest`` or above.

    Raises
    ------
    TableError
        If the limits do not differ.

    Examples
    --------
    >>> negate_minmax(np.array([1.0, 2.0, 4.0, 9.0]), 2.0, 4.0)
    array([1., 1., 0., 0.])
    """
    if smallest == largest:
        raise TableError(f"the column is constant: its limits are both {smallest:g}")
    spread = largest - smallest
    if not 0 < spread < np.inf:
        raise TableError(
            f"limits have the smaller one first, not {smallest:g} and {largest:g}"
        )
    return (
        largest - np.clip(np.asarray(values, dtype=np.float64), smallest, largest)
    ) / spread


def _percentiles(profiling: np.ndarray, low: float, high: float) -> tuple[float, float]:
    tau_low, tau_high = np.percentile(profiling, [low, high], method="linear")
    return float(tau_low), float(tau_high)


#: Every transform by the name that a card gives it; an entry here is all that a new one
#: needs.
TRANSFORMS: dict[str, Transform] = {
    "none": Transform(
        fit=lambda profiling, low, high: (1.0, 0.0),
        apply=lambda values, one, zero: values,
        rule=ColumnRule(
            lambda x: (x < 0) | (x > 1),
            "the objective {value} is outside [0, 1]",
            "rescale the column, or give the objective a transform",
            "out-of-range",
        ),
    ),
    "inverse-percentile": Transform(
        fit=_percentiles,
        apply=inverse_percentile,
        rule=ColumnRule(
            lambda x: x <= 0,
            "the latency {value} is not positive, so it has no inverse",
            "give the measured latency, or another transform",
            "latency-not-positive",
        ),
        percentiles=True,
    ),
    "negate-minmax": Transform(
        fit=lambda profiling, low, high: (
            float(profiling.min()),
            float(profiling.max()),
        ),
        apply=negate_minmax,
    ),
}
