"""The profiling split: instances that are only used to estimate costs and scales."""

import numpy as np
from numpy.typing import NDArray

#: Default share of profiling instances: the paper's 200 of 1,000.
PROFILING_SHARE = 0.2

#: Smallest number of instances of an arm in each split, because a variance needs two.
MIN_INSTANCES = 2


def default_profiling(n_instances: int) -> int:
    """Return the default number of profiling instances: a fifth, and at least two.

    Examples
    --------
    >>> default_profiling(1000), default_profiling(4)
    (200, 2)
    """
    return max(2, round(PROFILING_SHARE * n_instances))


def profiling_mask(n_instances: int, n_profiling: int, seed: int) -> np.ndarray:
    """Return a mask of the profiling instances, which come first in a random order.

    Parameters
    ----------
    n_instances, n_profiling : int
        Number of distinct instances in the whole table, and number of profiling
        instances.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    array of bool, shape (n_instances,)
        Mask, in the order of the sorted ids of instances.

    Examples
    --------
    >>> int(profiling_mask(10, 4, seed=0).sum())
    4
    """
    return _places(n_instances, seed) < n_profiling


def profiling_rows(
    arm: np.ndarray, instance: np.ndarray, n_profiling: int, seed: int
) -> np.ndarray:
    """Return a mask of the profiling rows, with rows of every arm in both splits.

    All arms share one random order of the instances, and the first rows of an arm in
    this order are its profiling rows. An arm has as many profiling rows as it has rows
    on the profiling instances. If a split would have fewer than `MIN_INSTANCES` rows of
    the arm, this number is raised or lowered. In two cases this is impossible, and
    later checks report a fault: an arm has fewer than twice `MIN_INSTANCES` rows, or
    the table has too few instances for the requested number of profiling instances.

    Parameters
    ----------
    arm, instance : ndarray of int, shape (N,)
        Number of the arm and of the instance of each row, from 0.
    n_profiling, seed : int
        As in `profiling_mask`.

    Returns
    -------
    array of bool, shape (N,)

    Examples
    --------
    >>> arm, instance = np.repeat([0, 1], [10, 4]), np.array([*range(10), 0, 3, 4, 9])
    >>> by_instance = profiling_mask(10, 2, seed=1)[instance]
    >>> by_arm = profiling_rows(arm, instance, 2, seed=1)
    >>> np.bincount(arm, by_instance), np.bincount(arm, by_arm)
    (array([2., 1.]), array([2., 2.]))
    """
    n_instances = instance.max() + 1
    place = _places(n_instances, seed)[instance]
    chosen: NDArray[np.bool_] = place < n_profiling
    if n_profiling > n_instances - MIN_INSTANCES:
        return chosen

    n_rows = np.bincount(arm)
    n_chosen = np.bincount(arm, chosen)
    n_wanted = np.where(
        n_rows < 2 * MIN_INSTANCES,
        n_chosen,
        np.clip(n_chosen, MIN_INSTANCES, n_rows - MIN_INSTANCES),
    )

    by_arm_and_place = np.lexsort((place, arm))
    first_row = np.cumsum(n_rows) - n_rows
    rank_in_arm = np.arange(len(arm)) - np.repeat(first_row, n_rows)
    rows = np.empty(len(arm), dtype=bool)
    rows[by_arm_and_place] = rank_in_arm < np.repeat(n_wanted, n_rows)
    return rows


def _places(n_instances: int, seed: int) -> np.ndarray:
    """Return the position of each instance in the random order."""
    return np.argsort(np.random.default_rng(seed).permutation(n_instances))
