"""Costs compared like scores: in pairs, in the user's unit, with a tolerance of their own."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.dominance import TIE
from cobandit.errors import CobanditError
from cobandit.policies.copsi_once import PRIOR_VARIANCE

#: What a race can look for: the front of the objectives and the cost, or the paper's.
FRONTS = ("objectives and cost", "objectives")
#: Least sum of squared deviations of a pair: that of one difference of the largest
#: size, seen or not.
LEAST_SCATTER = 1.0

Floats = NDArray[np.float64]


class CostTolerance(NamedTuple):
    """What is not worth telling apart in a cost c: ``share`` times c and ``amount`` more, in its unit."""

    share: float
    amount: float


def read_cost_tolerance(written: float | str) -> CostTolerance:
    """Read the tolerance of costs: an amount in their unit, or text such as ``"10%"``.

    Parameters
    ----------
    written : float or str

    Raises
    ------
    CobanditError
        If it is neither, negative or not finite.

    Examples
    --------
    >>> read_cost_tolerance("10%"), read_cost_tolerance(0.002)
    (CostTolerance(share=0.1, amount=0.0), CostTolerance(share=0.0, amount=0.002))
    """
    text = str(written).strip()
    is_share = text.endswith("%")
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = np.nan
    if isinstance(written, bool) or not 0 <= value < np.inf:
        raise CobanditError(
            f"the tolerance of the cost is {written!r} -> write a share such as '10%',"
            " or an amount in the unit of the cost, 0 or more"
        )
    return CostTolerance(value / 100, 0.0) if is_share else CostTolerance(0.0, value)


def find_affordable(
    costs: ArrayLike, tolerance: float | str = 0.0
) -> NDArray[np.bool_]:
    """Find which arm may stand for which by its cost.

    Parameters
    ----------
    costs : array_like, shape (K,)
    tolerance : float or str
        As `read_cost_tolerance` reads it.

    Returns
    -------
    ndarray of bool, shape (K, K)
        [i, j]: whether j costs at most the tolerance more than i.

    Examples
    --------
    >>> find_affordable([1.0, 1.05], "10%").tolist(), find_affordable([1.0, 1.05]).tolist()
    ([[True, True], [True, True]], [[True, False], [True, True]])
    """
    share, amount = read_cost_tolerance(tolerance)
    values = np.asarray(costs, dtype=np.float64)
    own = values[:, None]
    affordable: NDArray[np.bool_] = (
        1 + share
    ) * own + amount - values >= -TIE * np.maximum(own, values)
    return affordable


class CostMargin(NamedTuple):
    """How one cost compares with another, in units of the larger mean of the two.

    Arrays of one shape, or numbers.  ``cheaper`` is how much cheaper the other is, and
    ``within`` how far it is from being more expensive by more than the tolerance;
    ``cheaper_error`` and ``within_error`` are their standard errors.  ``varies`` is 1
    where the difference of the two varies, and 0 where it does not.
    """

    cheaper: Floats
    cheaper_error: Floats
    within: Floats
    within_error: Floats
    varies: Any


def compare_costs(
    own: Floats,
    other: Floats,
    own_scatter: Floats,
    other_scatter: Floats,
    scatter: Floats,
    n: int,
    scale: float,
    share: float,
    amount: float,
) -> CostMargin:
    r"""Compare a cost with another, both observed on the same n instances.

    The other is within the tolerance if its mean is at most :math:`(1 + r)\, c + a`,
    for a share r and an amount a.  That is a contrast of the two costs, whose scatter
    is

    .. math:: (1 + r)\, S_{\text{difference}} + r\, (S_{\text{own}} - S_{\text{other}}) + r^2 S_{\text{own}} .

    Scores lie in [0, 1], and costs have no largest size that is known: the larger of
    the two means stands for it.  A difference that is the same on every instance, as of
    declared costs, or of prices per call, counts as exact.

    Parameters
    ----------
    own, other : ndarray or float
        Mean costs.
    own_scatter, other_scatter, scatter : ndarray or float
        Sums of squared deviations, of the two and of their difference.
    n : int
        Instances seen.
    scale : float
        Standard error over the root of such a sum.
    share, amount : float
        As in `CostTolerance`.

    Examples
    --------
    Of two prices per call the second is a twentieth dearer, and within a tenth:

    >>> margin = compare_costs(1.0, 1.05, 0.0, 0.0, 0.0, 20, 0.05, 0.1, 0.0)
    >>> [round(float(each), 3) for each in margin]
    [-0.048, 0.0, 0.048, 0.0, 0.0]
    """
    size = np.maximum(own, other)
    square = size * size
    varies = 1.0 * (scatter > TIE * n * square)
    seen = varies * scatter
    contrast = (
        (1 + share) * seen
        + share * (own_scatter - other_scatter)
        + share * share * own_scatter
    )
    prior = varies * PRIOR_VARIANCE * square
    least = varies * LEAST_SCATTER * square
    cheaper_error = scale * np.sqrt(np.maximum(seen, least) + prior) / size
    within_error = (
        scale * np.sqrt(np.maximum(np.maximum(contrast, 0.0), least) + prior) / size
    )
    within = ((1 + share) * own + amount - other) / size
    return CostMargin((own - other) / size, cheaper_error, within, within_error, varies)
