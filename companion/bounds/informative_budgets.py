"""Smallest budgets at which a bound on pulls is informative."""

from collections.abc import Callable
from math import inf

import numpy as np

from cobandit import _budget, _validation


def informative_budget(
    bound: Callable[[float], float], cost: float, *, cost_ratio: float | None = None
) -> float:
    r"""Return the smallest budget at which a bound on pulls is informative.

    The bound is informative if it is below :math:`B / c`, the number of pulls that the
    budget B pays for at a cost of c per pull.

    Parameters
    ----------
    bound : callable
        Function of the budget, which grows more slowly than the budget.
    cost : float
        c: lambda for the paper's trivial bound, or the mean cost of the arm.
    cost_ratio : float, optional
        lambda, if the bound depends on the horizon. Budgets are then limited, because
        the horizon cannot be computed for more than 2^62 pulls.

    Returns
    -------
    float
        Budget with a relative accuracy of 1e-6, at least the cost. It is ``inf`` if the
        bound is not informative at 10^15 pulls, or at the largest budget whose horizon
        can be computed.

    Raises
    ------
    CobanditError
        If the cost is out of range.

    Examples
    --------
    >>> round(informative_budget(lambda budget: 100.0, cost=0.5), 3)
    50.0
    """
    cost = _validation.positive(cost, "cost", 1.0)
    low = cost
    high = 1e15 * cost
    if cost_ratio is not None:
        countable = (
            0.5
            * _budget.MOST_PULLS
            * _validation.positive(cost_ratio, "cost_ratio", 1.0)
        )
        high = max(low, min(high, countable))

    if bound(high) >= high / cost:
        return inf

    while high > low * (1 + 1e-6):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if bound(middle) >= middle / cost else (low, middle)

    return high
