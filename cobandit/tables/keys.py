"""The keys of a table: who was evaluated on what, and which instances are for profiling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

SHARE = 0.2
"""Share of the instances that are for profiling by default: the paper's 200 of 1,000."""


class Keys(NamedTuple):
    """A text column as sorted distinct labels and, for each row, the number of its label (-1: missing)."""

    labels: tuple[str, ...]
    codes: npt.NDArray[np.int64]


def encode(column: pd.Series) -> Keys:
    """Give the labels of a column, as text, their numbers in sorted (code point) order.

    Parameters
    ----------
    column : Series, length N
        Labels of any plain type; missing and blank ones get -1.

    Returns
    -------
    Keys
        ``labels``, a sorted tuple of str, and ``codes``, int64 of shape (N,). Takes O(N) and sorts only the
        distinct labels.

    Examples
    --------
    >>> keys = encode(pd.Series(["b", "a", None, "b"]))
    >>> keys.labels, keys.codes.tolist()
    (('a', 'b'), [1, 0, -1, 1])
    """
    codes, distinct = pd.factorize(column)
    texts = [str(label) for label in distinct]
    # 1 and "1" are different to pandas and the same configuration to a reader
    labels = tuple(sorted({text for text in texts if text.strip()}))
    number = {label: i for i, label in enumerate(labels)}
    # one entry more at the end: it is where factorize's -1 for missing points
    lookup = np.array([*(number.get(text, -1) for text in texts), -1], dtype=np.int64)
    return Keys(labels, lookup[codes])


def default_profiling(n_instances: int) -> int:
    """Number of profiling instances where nobody says: a fifth of them, and two at least.

    Examples
    --------
    >>> default_profiling(1000), default_profiling(4)
    (200, 2)
    """
    return max(2, round(SHARE * n_instances))


def profiling_mask(n_instances: int, n_profiling: int, seed: int) -> np.ndarray:
    """Choose the profiling instances: the first ``n_profiling`` of a permutation of the sorted ids.

    Parameters
    ----------
    n_instances, n_profiling : int
        Number of distinct instances in the whole table, and how many of them are for profiling.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    array of bool, shape (n_instances,)
        By position in the sorted list of instance ids.

    Examples
    --------
    >>> int(profiling_mask(10, 4, seed=0).sum())
    4
    """
    return _places(n_instances, seed) < n_profiling


def profiling_rows(
    arm: np.ndarray, instance: np.ndarray, n_profiling: int, seed: int, least: int
) -> np.ndarray:
    """Choose the profiling rows, so that either split holds some of every arm.

    An arm's profiling rows are the first of its rows in the one random order of the instances: as many as are
    on the profiling instances, and where that leaves fewer than ``least`` in a split, as many more or less.

    Parameters
    ----------
    arm, instance : ndarray of int, shape (N,)
        Of each row, from 0.
    n_profiling, seed : int
        As in `profiling_mask`.
    least : int
        Rows of each arm in either split; an arm that has not twice as many is left as it is.

    Returns
    -------
    array of bool, shape (N,)

    Examples
    --------
    >>> arm, instance = np.repeat([0, 1], [10, 4]), np.array([*range(10), 0, 3, 4, 9])
    >>> by_instance = profiling_mask(10, 2, seed=1)[instance]
    >>> by_arm = profiling_rows(arm, instance, 2, seed=1, least=2)
    >>> np.bincount(arm, by_instance), np.bincount(arm, by_arm)
    (array([2., 1.]), array([2., 2.]))
    """
    place = _places(instance.max() + 1, seed)[instance]
    known, n = np.bincount(arm, place < n_profiling).astype(np.int64), np.bincount(arm)
    wanted = np.where(n < 2 * least, known, np.clip(known, least, n - least))
    order = np.lexsort((place, arm))
    within = np.empty(len(arm), dtype=np.int64)
    within[order] = np.arange(len(arm)) - np.repeat(np.cumsum(n) - n, n)
    rows: np.ndarray = within < wanted[arm]
    return rows


def _places(n_instances: int, seed: int) -> np.ndarray:
    """Place of each instance in the random order."""
    return np.argsort(np.random.default_rng(seed).permutation(n_instances))
