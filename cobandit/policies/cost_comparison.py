"""Paired comparisons of costs, with a tolerance for costs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.dominance import TIE
from cobandit.errors import CobanditError
from cobandit.policies.copsi_once import PRIOR_VARIANCE

#: Fronts of a race: of the objectives and the cost, or of the objectives (the paper's).
FRONTS = ("objectives and cost", "objectives")
#: Smallest sum of squared deviations of a pair: one difference of the largest size.
LEAST_SCATTER = 1.0

Floats = NDArray[np.float64]


class CostTolerance(NamedTuple):
    """Largest excess of one cost over another that does not matter."""

    share: float  #: share of the cost
    amount: float  #: amount in the unit of costs


def read_cost_tolerance(written: float | str) -> CostTolerance:
    """Read the tolerance of costs: an amount in their unit, or text such as ``"10%"``.

    Parameters
    ----------
    written : float or str

    Raises
    ------
    CobanditError
        If the tolerance is neither, or is negative or not finite.

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
    """Return the pairs of arms in which one may cover the other by its cost.

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
    >>> find_affordable([1.0, 1.05], "10%").tolist()
    [[True, True], [True, True]]
    >>> find_affordable([1.0, 1.05]).tolist()
    [[True, False], [True, True]]
    """
    share, amount = read_cost_tolerance(tolerance)
    values = np.asarray(costs, dtype=np.float64)
    covered = values[:, None]
    margin = (1 + share) * covered + amount - values
    affordable: NDArray[np.bool_] = margin >= -TIE * np.maximum(covered, values)
    return affordable


class CostMargin(NamedTuple):
    """Comparison of two costs, in units of the larger of their means.

    The fields are arrays of one shape, or numbers.
    """

    cheaper: Floats  #: first cost less the other one
    cheaper_error: Floats  #: its standard error
    within: Floats  #: margin of the other cost to the tolerance
    within_error: Floats  #: its standard error
    varies: Any  #: 1 if the difference of the costs varies, else 0


def compare_costs(
    cost: Floats,
    other: Floats,
    cost_scatter: Floats,
    other_scatter: Floats,
    scatter: Floats,
    n: int,
    scale: float,
    share: float,
    amount: float,
) -> CostMargin:
    r"""Compare a cost with another cost, both observed on the same n instances.

    The other cost is within the tolerance if its mean is at most :math:`(1 + r)\, c +
    a`, for a share r and an amount a.  This is a contrast of the two costs, with the
    scatter

    .. math:: (1 + r)\, S_{\text{difference}}
              + r\, (S_{\text{cost}} - S_{\text{other}}) + r^2 S_{\text{cost}} .

    Scores are in [0, 1], but costs have no known range, so the larger of the two means
    replaces the length of the range.  A difference that is equal on every instance,
    such as a difference of declared costs or of prices per call, counts as exact.

    Parameters
    ----------
    cost, other : ndarray or float
        Mean costs.
    cost_scatter, other_scatter, scatter : ndarray or float
        Sums of squared deviations of the two costs and of their difference.
    n : int
        Number of instances.
    scale : float
        Ratio of a standard error to the root of the sum of squared deviations.
    share, amount : float
        As in `CostTolerance`.

    Examples
    --------
    The second of two prices per call is a twentieth higher, and within a tenth:

    >>> margin = compare_costs(1.0, 1.05, 0.0, 0.0, 0.0, 20, 0.05, 0.1, 0.0)
    >>> [round(float(value), 3) for value in margin]
    [-0.048, 0.0, 0.048, 0.0, 0.0]
    """
    size = np.maximum(cost, other)
    square = size * size
    varies = 1.0 * (scatter > TIE * n * square)

    # scatter of the difference, and of the contrast with the tolerance
    difference = varies * scatter
    contrast = (1 + share) * difference + share * (cost_scatter - other_scatter)
    contrast = np.maximum(contrast + share * share * cost_scatter, 0.0)

    prior = varies * PRIOR_VARIANCE * square
    smallest = varies * LEAST_SCATTER * square
    cheaper_scatter = np.maximum(difference, smallest) + prior
    within_scatter = np.maximum(contrast, smallest) + prior
    return CostMargin(
        cheaper=(cost - other) / size,
        cheaper_error=scale * np.sqrt(cheaper_scatter) / size,
        within=((1 + share) * cost + amount - other) / size,
        within_error=scale * np.sqrt(within_scatter) / size,
        varies=varies,
    )
