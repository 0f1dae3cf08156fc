"""Transforms that turn a measured column into scores in [0, 1], larger is better.

======================  ==========================================================
``none``                x, which has to be in [0, 1] already
``inverse-percentile``  clip((1/x - 1/tau_high) / (1/tau_low - 1/tau_high), 0, 1)
``negate-minmax``       clip((x_max - x) / (x_max - x_min), 0, 1)
======================  ==========================================================

tau_low and tau_high are percentiles of x, by default the 5th and the 95th with linear
interpolation. x_min and x_max are the smallest and the largest x. These limits are
computed over all rows of the *profiling* split, so that scores in the evaluation split
do not depend on each other. Values beyond the limits are clipped.
"""

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from cobandit.errors import raise_fault
from cobandit.tables.measured_columns import ColumnRule


class Transform(NamedTuple):
    """A transform that turns the values of a column into scores of an objective.

    Examples
    --------
    >>> fit, apply, *_ = TRANSFORMS["inverse-percentile"]
    >>> fit(np.array([3.0, 1.0, 2.0]), 0, 50)
    (1.0, 2.0)
    """

    #: ``fit(profiling, low, high)`` returns the limits, the two values whose scores are
    #: 1 and 0. ``profiling`` has the values of all configurations in the profiling
    #: split, shape (n,). ``low`` and ``high`` are the percentiles on the card.
    fit: Callable[[np.ndarray, float, float], tuple[float, float]]
    #: ``apply(values, one, zero)`` returns the scores of values, given the limits. It
    #: raises a `TableError` if the limits are not valid.
    apply: Callable[[np.ndarray, float, float], np.ndarray]
    #: Rule that every value of the column must satisfy.
    rule: ColumnRule | None = None
    #: Whether ``fit`` uses ``low`` and ``high``, so that a card can set these.
    percentiles: bool = False


def inverse_percentile(
    values: np.ndarray, tau_low: float, tau_high: float
) -> np.ndarray:
    """Return scores of latencies: the inverse latency, scaled to [0, 1].

    The score is 1 at ``tau_low`` or below, and 0 at ``tau_high`` or above.

    Parameters
    ----------
    values : array of float, any shape
        Latencies, positive, in the unit of the limits.
    tau_low, tau_high : float
        Latencies whose scores are 1 and 0.

    Returns
    -------
    array of float, same shape, in [0, 1]

    Raises
    ------
    TableError
        If the limits are equal, in the wrong order or not positive.

    Examples
    --------
    >>> inverse_percentile(np.array([1.0, 2.0, 4.0, 9.0]), 2.0, 4.0)
    array([1., 1., 0., 0.])
    """
    if tau_low == tau_high:
        _refuse(f"the latency is constant: its limits are both {tau_low:g}")

    spread = 1.0 / tau_low - 1.0 / tau_high if tau_low > 0 and tau_high > 0 else np.nan
    if not 0 < spread < np.inf:
        _refuse(
            "limits of a latency must be positive, with the smaller one first, not"
            f" {tau_low:g}, {tau_high:g}"
        )

    # clipping the latency instead of the score gives exactly 1 and 0 at the limits
    clipped = np.clip(np.asarray(values, dtype=np.float64), tau_low, tau_high)
    return (1.0 / clipped - 1.0 / tau_high) / spread


def negate_minmax(values: np.ndarray, smallest: float, largest: float) -> np.ndarray:
    """Return scores in [0, 1] of a quantity that should be small.

    The score is 1 at ``smallest`` or below, and 0 at ``largest`` or above.

    Raises
    ------
    TableError
        If the limits are equal or in the wrong order.

    Examples
    --------
    >>> negate_minmax(np.array([1.0, 2.0, 4.0, 9.0]), 2.0, 4.0)
    array([1., 1., 0., 0.])
    """
    if smallest == largest:
        _refuse(f"the column is constant: its limits are both {smallest:g}")

    spread = largest - smallest
    if not 0 < spread < np.inf:
        _refuse(
            f"limits must have the smaller one first, not {smallest:g}, {largest:g}"
        )

    clipped = np.clip(np.asarray(values, dtype=np.float64), smallest, largest)
    return (largest - clipped) / spread


def _refuse(problem: str) -> NoReturn:
    remedy = (
        "correct the limits, use another column or transform, or leave the objective"
        " out (when importing logs: --latency none)"
    )
    raise_fault("the objective", problem, remedy, "no-scale")


def _percentiles(profiling: np.ndarray, low: float, high: float) -> tuple[float, float]:
    tau_low, tau_high = np.percentile(profiling, [low, high], method="linear")
    return float(tau_low), float(tau_high)


#: Transforms by their names in a table's description (card). A new transform needs only
#: an entry here.
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
