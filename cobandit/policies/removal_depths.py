"""Numbers of instances (depths) that a policy on shared instances can afford."""

from math import floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit._budget import SLACK


def planned_depth(
    costs: ArrayLike, depth: int, n_instances: int, remaining: float
) -> int:
    r"""Return the largest affordable number of instances before the next removal.

    The number of instances on which all active configurations are evaluated is called
    depth. The plan assumes that the most expensive configurations are removed first,
    and returns the largest m such that all evaluations fit into the remaining budget R:

    .. math::

        n_r = \min\Bigl\{N, \Bigl\lfloor \frac{m\, C_1}{C_r} \Bigr\rfloor\Bigr\}, \qquad
        \max\Bigl\{m \in [n_0, N] : \sum_{r=1}^{k-1} C_r\, (n_r - n_{r-1}) \le R \Bigr\}

    Here :math:`C_r` is the cost of one evaluation of each configuration that remains
    after r - 1 removals. Whichever configuration is removed first, the evaluations
    until then cost exactly :math:`C_1 (m - n_0)`. If the plan is renewed after each
    removal, no more than R is ever spent. At m = N, everything is evaluated.

    There may be no such m. For example, at costs 1, 4, 1 and a depth of 3, the plan for
    m = 3 evaluates the two cheap configurations up to a depth of 9, which costs 12. If
    R is smaller, the current depth is returned. A configuration is then removed without
    further evaluations, and a new plan is made.

    Parameters
    ----------
    costs : array_like, shape (k,)
        Costs of the k >= 2 active configurations.
    depth, n_instances : int
        :math:`n_0`, the number of evaluations that each active configuration already
        has, and N, the number of instances.
    remaining : float
        R, the remaining budget, in the unit of the costs.

    Returns
    -------
    int
        m, or :math:`n_0` if there is no such m. Time O(k log(k N)).

    Examples
    --------
    Ten units pay for one evaluation of all three configurations (6), and for two more
    of each cheap one (4).

    >>> planned_depth([1, 4, 1], depth=0, n_instances=10, remaining=10)
    1
    >>> planned_depth([1, 4, 1], depth=0, n_instances=10, remaining=60)  # everything
    10
    """
    sums = np.cumsum(np.sort(_validation.costs(costs)))
    return find_depth(sums, depth, n_instances, remaining)


def find_depth(
    sums: NDArray[np.float64], depth: int, n_instances: int, remaining: float
) -> int:
    """Return `planned_depth`, given the cumulative sums of the ascending costs.

    The kernel compiles this function.
    """
    low = depth
    high = n_instances + 1
    while high - low > 1:
        middle = (low + high) // 2
        reached = depth
        spend = 0.0
        for round_cost in sums[:0:-1]:  # C_1, ..., C_{k-1}
            target = min(
                n_instances, floor(middle * sums[-1] / round_cost * (1.0 + SLACK))
            )
            if target > reached:
                spend += round_cost * (target - reached)
                reached = target
            # later phases only increase the cost, or add none once everything is
            # evaluated, so the comparison below is already decided
            if spend > remaining or reached == n_instances:
                break

        if spend <= remaining:
            low = middle
        else:
            high = middle

    return low
