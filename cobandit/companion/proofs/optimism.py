"""The index of CoHV-UCB as a function of the radius, without noise, and how fast the hypervolume can move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.companion.known_arms import Arms
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


def noise_free_pulls(
    arms: Arms, budget: float, *, alpha: float = 2.0, best_index_fixed: bool = False
) -> float:
    r"""Pulls of the worse of two arms after which the indices are equal, if all means are exact.

    CoHV-UCB pulls whichever index is larger, so a run without noise ends where they meet.

    Parameters
    ----------
    arms : Arms
        Two, one of them suboptimal.
    budget : float
        B; all of it is spent, at mean costs.
    alpha : float
    best_index_fixed : bool
        Take :math:`\nu_{i^\star}` for the index of the best arm, which otherwise carries a radius of its own.

    Returns
    -------
    float
        By bisection.

    Raises
    ------
    CobanditError
        If there are not two arms of different efficiency, or an argument is out of range.

    Examples
    --------
    >>> from cobandit.companion.known_arms import two_arms
    >>> known = two_arms(2, 0.5, 0.5)
    >>> [round(noise_free_pulls(known, 1e6, best_index_fixed=fixed)) for fixed in (False, True)]
    [750, 779]
    """
    problem, (best, other) = arms.problem, np.argsort(-arms.problem.efficiency)
    if problem.n_arms != 2 or not problem.efficiency_gaps.max() > 0:
        raise CobanditError("arms: two of different efficiency are needed")

    def index(arm: int, pulls: float) -> float:
        one = theory.confidence_radius(1, budget, arms.cost_ratio, alpha)
        radius = one / np.sqrt(pulls)
        return float(index_at(problem.means[arm], problem.costs[arm], radius, floor=arms.cost_ratio / 2))

    low, high = 0.0, budget / float(problem.costs[other])
    for _ in range(80):
        middle = (low + high) / 2
        rest = (budget - middle * problem.costs[other]) / problem.costs[best]
        reached = problem.efficiency[best] if best_index_fixed else index(best, rest)
        low, high = (middle, high) if index(other, middle) > reached else (low, middle)
    return low


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
