"""Paired comparisons of costs, with a tolerance for costs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.dominance import TIE
from cobandit.errors import CobanditError
from cobandit.policies.copsi_once import PRIOR_VARIANCE

#: Quantities whose front `ParetoRace` can identify. The paper compares objectives only.
FRONTS = ("objectives and cost", "objectives")
#: Smallest sum of squared deviations that a comparison of two arms assumes: that of one
#: deviation of size 1.
LEAST_SCATTER = 1.0

Floats = NDArray[np.float64]


class CostTolerance(NamedTuple):
    """Largest excess of one cost over another that does not matter."""

    share: float  #: excess as a share of the other cost; 0 if an amount is given
    amount: float  #: excess in the unit of the costs; 0 if a share is given


def read_cost_tolerance(written: float | str) -> CostTolerance:
    """Return a tolerance of costs, given as an amount or as a share like ``"10%"``.

    Parameters
    ----------
    written : float or str
        Amount in the unit of the costs, or share in percent.

    Raises
    ------
    CobanditError
        If the tolerance has another form, is negative, or is not finite.

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
            " or an amount in the unit of the cost, 0 or more",
            argument="cost_tolerance",
            code="bad-tolerance",
        )
    return CostTolerance(value / 100, 0.0) if is_share else CostTolerance(0.0, value)


def find_affordable(
    costs: ArrayLike, tolerance: float | str = 0.0
) -> NDArray[np.bool_]:
    """Return a mask of pairs of arms: the second costs little more than the first.

    Parameters
    ----------
    costs : array_like, shape (K,)
    tolerance : float or str
        As for `read_cost_tolerance`.

    Returns
    -------
    ndarray of bool, shape (K, K)
        Entry [i, j] is True if the excess of j's cost over i's is within the tolerance.

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
    """Comparison of the costs of two arms, in units of the larger mean cost.

    The fields are arrays of one shape, or numbers.
    """

    cheaper: Floats  #: mean cost of the arm minus mean cost of the other arm
    cheaper_error: Floats  #: standard error of ``cheaper``
    within: Floats  #: largest tolerated cost minus mean cost of the other arm
    within_error: Floats  #: standard error of ``within``
    varies: Any  #: 1 if the difference varies over instances, else 0


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
    r"""Compare two costs that were observed on the same n instances.

    The other cost is within the tolerance if its mean is at most :math:`(1 + r)\, c +
    a`, where c is the mean of the first cost, r the share and a the amount of the
    tolerance. The distance to this limit is a contrast of the two costs. The contrast
    has the sum of squared deviations

    .. math:: (1 + r)\, S_{\text{difference}}
              + r\, (S_{\text{cost}} - S_{\text{other}}) + r^2 S_{\text{cost}} .

    For scores, variance estimates allow for one difference as large as the range [0, 1]
    (`cobandit.ParetoRace`). Costs have no known range, so the larger of the two mean
    costs replaces the length of this range. A difference that is the same on every
    instance counts as exact, for example a difference of declared costs or of prices
    per call.

    Parameters
    ----------
    cost, other : ndarray or float
        Mean costs.
    cost_scatter, other_scatter, scatter : ndarray or float
        Sums of squared deviations of the two costs and of their difference.
    n : int
        Number of instances.
    scale : float
        Standard error of a mean, divided by the root of the sum of squared deviations.
    share, amount : float
        As in `CostTolerance`.

    Examples
    --------
    Two prices per call: the second is 5 % higher, which is within a tolerance of 10 %.

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
