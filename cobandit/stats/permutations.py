"""Joint permutation tests of several statistics, by their maximum.

All statistics are computed on the same permutations, so the distribution of their
maximum accounts for their dependence (Westfall and Young, Resampling-Based Multiple
Testing, 1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit import _validation
from cobandit.dominance import TIE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Level of the tests: probability of a report if nothing is wrong.
FALSE_ALARMS = 0.01
#: Largest number of permutations, for a small table, and smallest number, for a very
#: large table.
MOST_PERMUTATIONS = 999
FEWEST_PERMUTATIONS = 199
#: Number of values that all permutations of a test may process together.
WORK = 10**9


def draw_orders(n_instances: int, numbers_per_order: int, seed: int) -> Ints:
    """Return the original order of the instances, followed by random orders.

    Parameters
    ----------
    n_instances : int
        Number of instances, I.
    numbers_per_order : int
        Number of values that are processed to compute all statistics for one order. If
        it is large, fewer orders are drawn.
    seed : int

    Returns
    -------
    ndarray of int, shape (1 + R, I)
        The orders, with R between `FEWEST_PERMUTATIONS` and `MOST_PERMUTATIONS`.

    Examples
    --------
    >>> orders = draw_orders(5, numbers_per_order=10**7, seed=0)
    >>> orders.shape, orders[0].tolist()
    ((200, 5), [0, 1, 2, 3, 4])
    """
    affordable = WORK / numbers_per_order
    n_orders = int(np.clip(affordable, FEWEST_PERMUTATIONS, MOST_PERMUTATIONS))
    rng = np.random.default_rng(_validation.seed(seed))
    permuted = [rng.permutation(n_instances) for _ in range(n_orders)]
    return np.vstack([np.arange(n_instances), *permuted])


def permutation_p_value(statistic: float, largest: Floats) -> float:
    """Return the p-value of a statistic, given the largest statistic per permutation.

    Parameters
    ----------
    statistic : float
    largest : ndarray, shape (R,)

    Returns
    -------
    float
        p-value. It is at least 1 / (R + 1), because the observed order counts as a
        permutation.

    Examples
    --------
    >>> permutation_p_value(2.5, np.array([1.0, 2.0, 3.0]))
    0.5
    """
    # sums of the same numbers in another order may differ by rounding
    n_reached = (largest >= statistic * (1 - TIE)).sum()
    return float((1 + n_reached) / (1 + len(largest)))
