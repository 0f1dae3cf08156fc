"""The index of CoHV-UCB as a function of the radius, and how fast the hypervolume can move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.problem import hypervolume


def index_at(
    rewards: ArrayLike, cost: float, radius: ArrayLike, *, floor: float = 0.0, clip: bool = True
) -> NDArray[np.float64]:
    r"""Index of an arm with given empirical means, as a function of the radius.

    .. math:: I(\beta) = \frac{\prod_d \min\{1, \bar r^{(d)} + \beta\}}{\max\{f, \bar c - \beta\}}

    Parameters
    ----------
    rewards : array_like, shape (D,)
        Empirical mean rewards.
    cost : float
        Empirical mean cost.
    radius : array_like, shape (...)
        :math:`\beta \ge 0`.
    floor : float
        f, what truncates the denominator: lambda / 2 in the paper.  With 0 the index is infinite where the
        cost is within the radius.
    clip : bool
        Whether objectives are clipped at 1.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> index_at([0.5], 0.5, [0.0, 0.25, 0.75], floor=0.125)
    array([1., 3., 8.])
    """
    rewards, radius = _check.numbers(rewards, "rewards", 1), np.asarray(radius, dtype=np.float64)
    if (radius < 0).any():
        raise CobanditError("radius: it must not be negative")
    upper = rewards + radius[..., None]
    numerator = hypervolume(np.minimum(1.0, upper) if clip else upper)
    denominator = np.maximum(_check.non_negative(floor, "floor"), _check.positive(cost, "cost") - radius)
    with np.errstate(divide="ignore"):
        return numerator / denominator


def lipschitz_ratios(n_objectives: int, pairs: int, *, seed: int = 0) -> NDArray[np.float64]:
    r""":math:`|H(u) - H(v)| / \lVert u - v \rVert_\infty` for random pairs of points of the unit cube.

    Each pair is drawn in a cube of random side that has its far corner at (1, ..., 1), half of them on its
    diagonal: there the ratio comes closest to D.

    Parameters
    ----------
    n_objectives, pairs : int
        D >= 1 and the number of pairs.
    seed : int

    Returns
    -------
    ndarray, shape (pairs,)

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> bool(1.9 < lipschitz_ratios(2, 1000).max() <= 2)
    True
    """
    n_objectives, pairs = _check.count(n_objectives, "n_objectives", 1), _check.count(pairs, "pairs", 1)
    rng = np.random.default_rng(_check.seed(seed))
    side = 10.0 ** rng.uniform(-3, 0, (pairs, 1, 1))
    points = 1 - side * rng.random((pairs, 2, n_objectives))
    points[::2] = points[::2, :, :1]
    u, v = points[:, 0], points[:, 1]
    return np.abs(hypervolume(u) - hypervolume(v)) / np.abs(u - v).max(axis=1)
