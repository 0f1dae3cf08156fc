"""Exact probabilities that a running mean ever deviates by too much."""

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation

#: Function of the number of draws n and an array of sums. It returns the mask of the
#: sums that are outside a region.
Outside = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]


def ever_outside(
    steps: ArrayLike, chances: ArrayLike, outside: Outside, last: int
) -> float:
    """Return the exact probability that a sum of independent draws leaves a region.

    A recursion over the number of draws n stores, for each sum, the probability of the
    paths that have not left the region. Tiny probabilities keep their relative
    precision.

    Parameters
    ----------
    steps : array_like of int, shape (S,)
        Values of one draw.
    chances : array_like, shape (S,)
        Probabilities of the values.
    outside : callable
        Function of the number of draws n and an array of sums. It returns the mask of
        the sums that are outside the region.
    last : int
        Largest n.

    Returns
    -------
    float
        Time O(last^2 S), memory O(last).

    Examples
    --------
    The sum is the number of heads of a fair coin. It leaves the region if the first
    toss gives no head, or if two tosses give two heads:

    >>> def outside(n, heads):
    ...     return heads == (0 if n == 1 else 2)
    >>> ever_outside([0, 1], [0.5, 0.5], outside, last=2)
    0.75
    """
    steps = np.asarray(steps, dtype=np.int64)
    chances = _validation.numbers(chances, "chances", 1)
    smallest = int(steps.min())
    inside = np.zeros(
        (int(steps.max()) - smallest) * _validation.count(last, "last", 1) + 1
    )

    # inside[k] belongs to the sum k + n * smallest, so that indices are never negative
    inside[0] = 1.0
    probability = 0.0
    sums = np.arange(len(inside))
    for n in range(1, last + 1):
        drawn = np.zeros_like(inside)
        for step, chance in zip(steps - smallest, chances, strict=True):
            drawn[step:] += chance * inside[: len(inside) - step]
        inside = drawn
        leaves = outside(n, sums + n * smallest)
        probability += float(inside[leaves].sum())
        inside[leaves] = 0.0

    return probability


def leaving_probability(
    horizon: int, alpha: float, *, mean: float = 0.5, sides: int = 2
) -> float:
    r"""Return the probability that a Bernoulli mean ever leaves its confidence radius.

    .. math::

        \Pr\Bigl(\exists s \le T:\ |\hat\mu_s - \mu| > \sqrt{\alpha \log T / s}\Bigr)

    Parameters
    ----------
    horizon : int
        T >= 2.
    alpha : float
        Exploration constant.
    mean : float
        Mean of the Bernoulli variables, in (0, 1].
    sides : int
        2 to count deviations in both directions, 1 to count only upward deviations.

    Returns
    -------
    float
        Time O(T^2), memory O(T).

    Examples
    --------
    With T = 2, the radius of one sample is sqrt(0.25 log 2) = 0.42, so every first
    sample leaves.

    >>> leaving_probability(2, 0.25), leaving_probability(2, 0.25, sides=1)
    (1.0, 0.5)
    """
    horizon = _validation.count(horizon, "horizon", 2)
    mean = _validation.positive(mean, "mean", 1.0)
    width = _validation.positive(alpha, "alpha") * log(horizon)

    def is_outside(s: int, successes: NDArray[np.int64]) -> NDArray[np.bool_]:
        deviation = successes - s * mean
        return (deviation if sides == 1 else np.abs(deviation)) > sqrt(width * s)

    return ever_outside([0, 1], [1 - mean, mean], is_outside, horizon)


def leaving_from(
    steps: ArrayLike, chances: ArrayLike, first: int, width: float, last: int
) -> float:
    r"""Return the probability that a running mean is off by x after N to M draws.

    The event is that the mean is off by x or more after at least one of these numbers
    of draws.

    Parameters
    ----------
    steps : array_like of int, shape (S,)
        Values of one draw.
    chances : array_like, shape (S,)
        Probabilities of the values.
    first, last : int
        Smallest number N and largest number M of draws.
    width : float
        x > 0.

    Returns
    -------
    float
        Time O(M^2 S).

    Examples
    --------
    The mean of two coins is off by 1/2 if they agree.

    >>> leaving_from([0, 1], [0.5, 0.5], first=2, width=0.5, last=2)
    0.5
    """
    mean = float(np.asarray(steps) @ np.asarray(chances))

    def is_outside(n: int, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (np.abs(sums - n * mean) >= n * width - 1e-9) & (n >= first)

    return ever_outside(steps, chances, is_outside, last)


#: Largest number of draws as a multiple of N. Later deviations are not counted, so
#: probabilities are slightly too small, which favours the bounds.
SPAN = 20


def uniform_deviation(mean: float, first: int, width: float) -> tuple[float, float]:
    r"""Return the probability of a late deviation of a running mean, and its bound.

    The deviation is x or more after *some* number n >= N of draws. The bound is
    :math:`2\exp(-2Nx^2)`.

    Parameters
    ----------
    mean : float
        Mean of the Bernoulli draws.
    first : int
        N.
    width : float
        x > 0.

    Returns
    -------
    ever, bound : float
        The probability is exact for up to 20 N draws; later draws add at most
        :math:`2\exp(-40Nx^2)`.

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
    r"""Return the probability of a late deviation of a difference, and its bound.

    The difference of two running means deviates by x or more after some number n >= N
    of draws. The bound is :math:`2\exp(-Nx^2)`.

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
    p_up = better * (1 - worse)
    p_down = worse * (1 - better)
    ever = leaving_from(
        [-1, 0, 1], [p_down, 1 - p_up - p_down, p_up], first, width, SPAN * first
    )
    return ever, 2 * exp(-first * width**2)
