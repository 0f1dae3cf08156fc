r"""Distribution of weighted means of scores, with gamma weights, and its quantiles.

`cobandit.stats.limits` and `cobandit.stats.finite_limits` use this distribution. Let
the weights :math:`E_s` have the gamma distribution with shape :math:`c_s`. This module
computes the probability that :math:`\sum_s E_s (x_s - m)` is at most zero, and also the
m at which this probability has a given value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # loads its parts at their first use
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Largest number of steps of Newton's method and of the secant method. Usually, five
#: are enough.
STEPS = 100
#: Precision of a quantile, as a share of the range. A quantile within this distance of
#: an end of the range is set to the end.
PRECISION = 1e-7
#: For :math:`|w|` below this value, the correction in the saddle-point formula is
#: replaced by its limit.
NEAR = 1e-3


def as_samples(
    values: ArrayLike, counts: ArrayLike, threshold: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return values and counts with shape (k, m), and thresholds with shape (k,)."""
    counts = np.asarray(counts, dtype=float)
    values = np.asarray(values, dtype=float)
    threshold = np.asarray(threshold, dtype=float)
    return (
        np.broadcast_to(values, counts.shape),
        counts,
        np.broadcast_to(threshold, len(counts)),
    )


def only_ends(values: Floats, counts: Floats, low: float, high: float) -> Bools:
    """Return the mask of samples whose scores are all at an end of the range, (k,)."""
    is_end = (values == low) | (values == high) | (counts == 0)
    return np.asarray(is_end.all(axis=1))


def lower_tail(
    values: Floats,
    counts: Floats,
    threshold: Floats,
    low: float,
    low_count: ArrayLike = 1.0,
) -> Floats:
    r"""Return the probability that the weighted mean is below a threshold.

    The count of a score is the shape of its gamma weight. The lowest possible score is
    added with the count ``low_count``. The result is the probability that the weighted
    sum of the distances :math:`a_s` of scores from the threshold is not positive.

    It is computed by Barndorff-Nielsen's saddle-point approximation. Let :math:`K(t) =
    -\sum_s c_s \log(1 - t a_s)` be the cumulant generating function of the sum, and
    :math:`K'(\hat t) = 0`. Then the probability is about :math:`\Phi(w + \log(u / w) /
    w)`, where :math:`w = \mathrm{sgn}(\hat t) \sqrt{-2 K(\hat t)}` and :math:`u = \hat
    t \sqrt{K''(\hat t)}`.

    Parameters
    ----------
    values, counts : ndarray, shape (k, m)
        Scores of k samples, and their counts.
    threshold : ndarray, shape (k,)
    low : float
        Lowest possible score.
    low_count : array_like, shape (k,) or ()

    Returns
    -------
    ndarray, shape (k,)

    Examples
    --------
    >>> values, counts = np.array([[0.0, 0.5, 1.0]]), np.array([[0.0, 1.0, 59.0]])
    >>> lower_tail(values, counts, np.array([0.95]), low=0.0).round(3)
    array([0.09])
    """
    distances = np.column_stack([values - threshold[:, None], low - threshold])
    counts = np.column_stack([counts, np.broadcast_to(low_count, len(counts))])
    distances = np.where(counts > 0, distances, 0.0)
    smallest = distances.min(axis=1)
    largest = distances.max(axis=1)

    # the probability is 0 or 1 if no score is below the threshold, or none above it
    chance = np.where(smallest >= 0, 0.0, 1.0)
    is_open = (smallest < 0) & (largest > 0)
    if not is_open.all():
        if is_open.any():
            open_counts = counts[is_open]
            chance[is_open] = lower_tail(
                values[is_open],
                open_counts[:, :-1],
                threshold[is_open],
                low,
                low_count=open_counts[:, -1],
            )
        return chance

    t = _find_saddle(distances, counts, 1 / smallest, 1 / largest)
    reciprocal = 1 / (1 - t[:, None] * distances)
    ratio = distances * reciprocal
    weighted = counts * ratio * ratio
    second = weighted.sum(axis=1)
    third = 2 * np.einsum("ij,ij->i", weighted, ratio)
    cumulants = np.einsum("ij,ij->i", counts, np.log(reciprocal))
    w = np.sign(t) * np.sqrt(np.maximum(-2 * cumulants, 0.0))

    # log(u / w) / w is 0 / 0 at w = 0, and is replaced by its limit there
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = np.log(t * np.sqrt(second) / w) / w
    correction = np.where(np.abs(w) < NEAR, third / (6 * second**1.5), correction)
    return np.asarray(scipy.special.ndtr(w + correction))


def _find_saddle(
    distances: Floats, counts: Floats, left: Floats, right: Floats
) -> Floats:
    """Return the root of K' between its poles, by Newton's method within a bracket."""
    first = np.einsum("ij,ij->i", counts, distances)
    second = np.einsum("ij,ij,ij->i", counts, distances, distances)

    t: Floats = np.clip(-first / second, 0.9 * left, 0.9 * right)
    precision = 1e-9 * np.minimum(right, -left)
    for _ in range(STEPS):
        ratio = distances / (1 - t[:, None] * distances)
        weighted = counts * ratio
        slope = weighted.sum(axis=1)
        left = np.where(slope < 0, t, left)
        right = np.where(slope > 0, t, right)

        # bisect if Newton's step leaves the bracket
        following = t - slope / np.einsum("ij,ij->i", weighted, ratio)
        is_outside = (following < left) | (following > right)
        following = np.where(is_outside, (left + right) / 2, following)
        step = np.abs(following - t)
        t = following
        if (step <= precision).all():
            break

    return t


def find_quantile(
    chance: Callable[[Floats], Floats],
    values: Floats,
    counts: Floats,
    tail: float,
    low: float,
    high: float,
) -> Floats:
    """Return means at which a given function equals ``tail``, by the secant method.

    Parameters
    ----------
    chance : callable
        Increasing function. Given one mean per sample, it returns the probabilities
        that the weighted means are below these means.
    values, counts : ndarray, shape (k, m)
        Scores of the samples and their counts, for the first guess.
    tail : float
        In (0, 1).
    low, high : float
        Ends of the range of scores.

    Returns
    -------
    ndarray, shape (k,)
    """
    goal = scipy.special.ndtri(tail)
    n = counts.sum(axis=1)
    mean = (values * counts).sum(axis=1) / n

    def distance(mean: Floats) -> Floats:
        """Return the normal quantile of the probability at a mean, minus the goal.

        This difference is nearly linear in the mean.
        """
        inner = np.clip(chance(mean), 1e-300, 1 - 1e-16)
        return np.asarray(scipy.special.ndtri(inner) - goal)

    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / n
    spread = np.sqrt(variance / n) + (high - low) / (n + 1) / 2
    left = np.full(len(n), low)
    right = np.full(len(n), high)
    previous = np.clip(mean, low + spread / 8, high - spread / 8)
    previous_distance = distance(previous)
    current = np.clip(mean + goal * spread, low + spread / 16, high - spread / 16)
    for _ in range(STEPS):
        current_distance = distance(current)
        left = np.where(current_distance < 0, current, left)
        right = np.where(current_distance > 0, current, right)

        # bisect if the secant step leaves the bracket
        with np.errstate(divide="ignore", invalid="ignore"):
            following = current - current_distance * (current - previous) / (
                current_distance - previous_distance
            )
        is_outside = ~((following > left) & (following < right))
        following = np.where(is_outside, (left + right) / 2, following)
        following = np.where(current_distance == 0, current, following)

        previous = current
        previous_distance = current_distance
        current = following
        if (np.abs(current - previous) <= PRECISION * (high - low)).all():
            break

    near = 2 * PRECISION * (high - low)
    current = np.where(current - low <= near, low, current)
    return np.where(high - current <= near, high, current)
