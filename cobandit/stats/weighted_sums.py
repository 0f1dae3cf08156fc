r"""Distribution of exponentially weighted sums of scores, and its quantiles.

What the limits of means share: for weights :math:`E_s` of the gamma distribution with
shape :math:`c_s`, the chance that :math:`\sum_s E_s (x_s - m)` is at most zero, and the
m at which this chance has a given value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy  # loads its parts at their first use
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Largest number of steps of Newton's method, or of halvings; mostly five are enough.
STEPS = 100
#: Precision of a quantile, as a share of the range. A quantile that is as close to an
#: end of the range is that end.
PRECISION = 1e-7
#: Distance of a saddle point from zero below which a ratio is replaced by its limit.
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
    """Return which samples have only the lowest and the highest score, shape (k,)."""
    is_end = (values == low) | (values == high) | (counts == 0)
    return np.asarray(is_end.all(axis=1))


def lower_tail(
    values: Floats,
    counts: Floats,
    threshold: Floats,
    low: float,
    low_count: ArrayLike = 1.0,
) -> Floats:
    r"""Return the chance that the weighted mean is below a threshold.

    This is the chance that the sum of the weighted distances from it is not positive.
    The lowest score takes part as well, with the count ``low_count``: 1 for an
    exponential weight, else the shape of its gamma distribution.  With :math:`K(t) =
    -\sum_s c_s \log(1 - t a_s)` the cumulant generating function of the sum, and
    :math:`K'(\hat t) = 0`, the chance is about :math:`\Phi(w + \log(u / w) / w)`, where
    :math:`w = \mathrm{sgn}(\hat t) \sqrt{-2 K(\hat t)}` and :math:`u = \hat t
    \sqrt{K''(\hat t)}` (Barndorff-Nielsen's saddle-point approximation).

    Parameters
    ----------
    values, counts : ndarray, shape (k, m)
    threshold : ndarray, shape (k,)
    low : float
        Lowest score of the range.
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

    # certain where nothing is below the threshold, or nothing above it
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

    # log(u / w) / w is 0 / 0 at w = 0, where its limit takes its place
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = np.log(t * np.sqrt(second) / w) / w
    correction = np.where(np.abs(w) < NEAR, third / (6 * second**1.5), correction)
    return np.asarray(scipy.special.ndtr(w + correction))


def _find_saddle(
    distances: Floats, counts: Floats, left: Floats, right: Floats
) -> Floats:
    """Find the root of K' between its poles, by Newton's method within a bracket."""
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

        # halve the bracket where Newton's step would leave it
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
    """Find the mean at which a chance equals ``tail``, by secants within a bracket.

    Parameters
    ----------
    chance : callable
        Gives the chance that the weighted mean is below each of k means; increasing.
    values, counts : ndarray, shape (k, m)
        Scores of the samples, which the search starts from.
    tail : float
        In (0, 1).
    low, high : float
        Ends of the range.

    Returns
    -------
    ndarray, shape (k,)
    """
    goal = scipy.special.ndtri(tail)
    n = counts.sum(axis=1)
    mean = (values * counts).sum(axis=1) / n

    def distance(mean: Floats) -> Floats:
        """Return chance minus goal, as normal quantiles: almost linear in the mean."""
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

        # halve the bracket where the secant would leave it
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
