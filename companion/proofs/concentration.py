"""How often running means leave a region, exactly."""

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation

#: From the number of draws n and an array of sums to which of these are outside a
#: region.
Outside = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]


def ever_outside(
    steps: ArrayLike, chances: ArrayLike, outside: Outside, last: int
) -> float:
    """Probability that a sum of independent draws is ever outside a region, exactly.

    By a recursion over the sums with the paths that have left taken out, so that no
    probability is too small to be told.

    Parameters
    ----------
    steps : array_like of int, shape (S,)
        Values of one draw.
    chances : array_like, shape (S,)
        Their probabilities.
    outside : callable
        From the number of draws n and an array of sums to which of these are outside.
    last : int
        Draws of a path.

    Returns
    -------
    float
        Time O(last^2 S), memory O(last).

    Examples
    --------
    A fair coin, tossed twice: tails at first, or heads twice.

    >>> ever_outside([0, 1], [0.5, 0.5], lambda n, heads: heads == (0 if n == 1 else 2), last=2)
    0.75
    """
    steps = np.asarray(steps, dtype=np.int64)
    chances = _validation.numbers(chances, "chances", 1)
    least = int(steps.min())
    inside = np.zeros(
        (int(steps.max()) - least) * _validation.count(last, "last", 1) + 1
    )

    inside[0] = 1.0
    left = 0.0
    sums = np.arange(len(inside))
    for n in range(1, last + 1):
        drawn = np.zeros_like(inside)
        for step, chance in zip(steps - least, chances, strict=True):
            drawn[step:] += chance * inside[: len(inside) - step]
        inside = drawn
        out = outside(n, sums + n * least)
        left += float(inside[out].sum())
        inside[out] = 0.0

    return left


def leaving_probability(
    horizon: int, alpha: float, *, mean: float = 0.5, sides: int = 2
) -> float:
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
    horizon = _validation.count(horizon, "horizon", 2)
    mean = _validation.positive(mean, "mean", 1.0)
    width = _validation.positive(alpha, "alpha") * log(horizon)

    def off(s: int, successes: NDArray[np.int64]) -> NDArray[np.bool_]:
        deviation = successes - s * mean
        return (deviation if sides == 1 else np.abs(deviation)) > sqrt(width * s)

    return ever_outside([0, 1], [1 - mean, mean], off, horizon)


# ------------------------------------------------------------------------- of targets that depend on the data
def leaving_from(
    steps: ArrayLike, chances: ArrayLike, first: int, width: float, last: int
) -> float:
    r"""Probability that a running mean is off by x or more at some n from N to M.

    Parameters
    ----------
    steps : array_like of int, shape (S,)
        Values of one draw.
    chances : array_like, shape (S,)
        Their probabilities.
    first, last : int
        N and M.
    width : float
        x > 0.

    Returns
    -------
    float
        Time O(M^2 S).

    Examples
    --------
    Two coins are off by 1/2 if they agree; one draw later the others may be off by more than 1/3.

    >>> leaving_from([0, 1], [0.5, 0.5], first=2, width=0.5, last=2)
    0.5
    """
    mean = float(np.asarray(steps) @ np.asarray(chances))

    def off(n: int, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (np.abs(sums - n * mean) >= n * width - 1e-9) & (n >= first)

    return ever_outside(steps, chances, off, last)


#: Paths end after so many N draws, so that probabilities are a little too small, which
#: favours the bounds.
SPAN = 20


def uniform_deviation(mean: float, first: int, width: float) -> tuple[float, float]:
    r"""How often a running mean is off by x or more at *some* n >= N, against :math:`2\exp(-2Nx^2)`.

    Parameters
    ----------
    mean : float
        Of the Bernoulli draws.
    first : int
        N.
    width : float
        x > 0.

    Returns
    -------
    ever, bound : float
        Exact, but for what comes after 20 N draws: at most :math:`2\exp(-40Nx^2)`.

    Examples
    --------
    >>> ever, bound = uniform_deviation(0.5, 50, 0.15)
    >>> ever < bound
    True
    """
    ever = leaving_from([0, 1], [1 - mean, mean], first, width, SPAN * first)
    return ever, 2 * exp(-2 * first * width**2)


def difference_deviation(
    better: float, worse: float, first: int, width: float
) -> tuple[float, float]:
    r"""How often the difference of two running means is off by x or more, against :math:`2\exp(-Nx^2)`.

    Parameters
    ----------
    better, worse : float
        Means of the Bernoulli draws of two independent arms, in [0, 1].
    first, width
        As in `uniform_deviation`.

    Returns
    -------
    ever, bound : float

    Examples
    --------
    >>> ever, bound = difference_deviation(0.6, 0.4, 50, 0.25)
    >>> ever < bound
    True
    """
    up = better * (1 - worse)
    down = worse * (1 - better)
    ever = leaving_from(
        [-1, 0, 1], [down, 1 - up - down, up], first, width, SPAN * first
    )
    return ever, 2 * exp(-first * width**2)
