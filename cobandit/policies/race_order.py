"""The order in which `ParetoRace` evaluates instances, by whole clusters."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.errors import CobanditError


def find_starts(cluster: Sequence[Any] | None, n_instances: int) -> NDArray[np.int64]:
    """Return the positions of the first instances of clusters, followed by N.

    Raises
    ------
    CobanditError
        If the number of labels differs from N, or instances of a cluster are not
        adjacent.

    Examples
    --------
    >>> find_starts(["a", "a", "b", "c", "c"], 5), find_starts(None, 3)
    (array([0, 2, 3, 5]), array([0, 1, 2, 3]))
    """
    if cluster is None:
        return np.arange(n_instances + 1)

    labels = list(cluster)
    if len(labels) != n_instances:
        raise CobanditError(
            f"cluster has {len(labels)} labels for {n_instances} instances -> give one"
            " label per instance",
            argument="cluster",
            code="wrong-length",
        )

    starts = [
        place
        for place in range(n_instances)
        if place == 0 or labels[place] != labels[place - 1]
    ]
    counts = Counter(labels[place] for place in starts)
    if apart := [label for label, count in counts.items() if count > 1]:
        raise CobanditError(
            f"cluster: the instances of {apart[0]!r} are not adjacent -> order the"
            " instances by cluster",
            argument="cluster",
            code="scattered-cluster",
        )

    return np.array([*starts, n_instances])


def arrange(evaluated: ArrayLike, seed: int = 0) -> NDArray[np.int64]:
    """Return an order of instances by their number of evaluations, largest first.

    Ties are in random order. With this order, a `cobandit.ParetoRace` on existing
    evaluations is valid only if no evaluation is missing because of its score.

    Parameters
    ----------
    evaluated : array_like of bool, shape (N, K)
        Mask of the present evaluations.
    seed : int

    Returns
    -------
    ndarray of int, shape (N,)
        Row numbers of the instances, in the order of their evaluation.

    Examples
    --------
    >>> arrange([[True, False], [False, False], [True, True]]).tolist()
    [2, 0, 1]
    """
    counts = np.asarray(evaluated, dtype=np.bool_).sum(axis=1)
    shuffled = np.random.default_rng(seed).permutation(len(counts))
    return shuffled[np.argsort(-counts[shuffled], kind="stable")]
