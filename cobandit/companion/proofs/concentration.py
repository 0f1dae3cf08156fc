"""How often empirical means leave the confidence radii of Theorem 1: simulated, and exactly."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cobandit import _check


@njit(cache=True)
def _excursions(horizon: Any, paths: Any, mean: Any, rng: Any) -> Any:
    largest = np.zeros(paths)
    for path in range(paths):
        total = 0.0
        for s in range(1, horizon + 1):
            total += (rng.random() < mean) - mean
            largest[path] = max(largest[path], abs(total) / sqrt(s))
    return largest


def excursions(horizon: int, paths: int, *, mean: float = 0.5, seed: int = 0) -> NDArray[np.float64]:
    r"""Largest scaled deviation :math:`\max_{s \le T} \sqrt s\, |\hat\mu_s - \mu|` of Bernoulli sample paths.

    A path leaves the concentration event with constant alpha if it exceeds
    :math:`\sqrt{\alpha \log T}`, so one simulation serves every alpha.

    Parameters
    ----------
    horizon : int
        T >= 2: the paper's :math:`T_B`.
    paths : int
        Independent paths.
    mean : float
        Of the Bernoulli variables, in (0, 1]; 1/2 has the largest variance.
    seed : int

    Returns
    -------
    ndarray, shape (paths,)
        Time O(paths T).

    Examples
    --------
    >>> excursions(2, 4, mean=0.5, seed=1) >= 0.5  # the first sample deviates by 1/2
    array([ True,  True,  True,  True])
    """
    horizon, paths = _check.count(horizon, "horizon", 2), _check.count(paths, "paths", 1)
    rng = np.random.default_rng(_check.seed(seed))
    return _excursions(horizon, paths, _check.positive(mean, "mean", 1.0), rng)


def ever_outside(horizon: int, mean: float, outside: Callable[[int], NDArray[np.bool_]]) -> float:
    """Probability that a Bernoulli sample path is ever outside a region, exactly.

    By a recursion over the number of successes with the paths that have left taken out, so that no
    probability is too small to be told.

    Parameters
    ----------
    horizon : int
        T >= 1.
    mean : float
        Of the Bernoulli variables.
    outside : callable
        From s = 1, ..., T to which of 0, ..., s successes are outside.

    Returns
    -------
    float
        Time O(T^2), memory O(T).

    Examples
    --------
    Within two tosses of a fair coin two heads, or one tail at once:

    >>> ever_outside(2, 0.5, lambda s: np.array([s == 1, False, True][: s + 1]))
    0.75
    """
    inside = np.zeros(horizon + 1)
    inside[0], left = 1.0, 0.0
    for s in range(1, horizon + 1):
        inside[1 : s + 1] = inside[1 : s + 1] * (1 - mean) + inside[:s] * mean
        inside[0] *= 1 - mean
        out = outside(s)
        left += float(inside[: s + 1][out].sum())
        inside[: s + 1][out] = 0.0
    return left


def leaving_probability(horizon: int, alpha: float, *, mean: float = 0.5, sides: int = 2) -> float:
    r"""Probability that a Bernoulli sample path ever leaves the radius, exactly.

    .. math::

        \Pr\Bigl(\exists s \le T:\ |\hat\mu_s - \mu| > \sqrt{\alpha \log T / s}\Bigr)

    Parameters
    ----------
    horizon : int
        T >= 2.
    alpha : float
        Exploration constant.
    mean : float
        Of the Bernoulli variables, in (0, 1].
    sides : int
        2, or 1 for leaving upwards only.

    Returns
    -------
    float
        Time O(T^2), memory O(T).

    Examples
    --------
    With T = 2 and a radius of sqrt(0.25 log 2) = 0.42 every first sample leaves.

    >>> leaving_probability(2, 0.25), leaving_probability(2, 0.25, sides=1)
    (1.0, 0.5)
    """
    horizon, mean = _check.count(horizon, "horizon", 2), _check.positive(mean, "mean", 1.0)
    width = _check.positive(alpha, "alpha") * log(horizon)

    def off(s: int) -> NDArray[np.bool_]:
        deviation = np.arange(s + 1) - s * mean
        return (deviation if sides == 1 else np.abs(deviation)) > sqrt(width * s)

    return ever_outside(horizon, mean, off)
