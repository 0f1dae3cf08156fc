"""The keys of a table: who was evaluated on what, and which instances are for profiling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd


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
    mask = np.zeros(n_instances, dtype=bool)
    mask[np.random.default_rng(seed).permutation(n_instances)[:n_profiling]] = True
    return mask
