"""Confidence intervals for means and paired differences of bounded scores.

If the population is the source of the instances, intervals come from `mean_limits`. If
the population is the benchmark itself, intervals come from `finite_mean_limits`, and
have no width if the benchmark is completely evaluated.
"""

from __future__ import annotations

import numpy as np

from cobandit.stats.evaluations import Floats
from cobandit.stats.finite_limits import finite_mean_limits
from cobandit.stats.limits import mean_limits
from cobandit.stats.pairwise import Paired


def mean_intervals(compared: Paired, level: float) -> tuple[Floats, Floats]:
    """Return confidence intervals for all means, not joint over the means.

    Parameters
    ----------
    compared : Paired
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (K, D)
        Ends of the interval for each mean. If evaluations are missing, the interval is
        shifted by the adjustment of the mean (`cobandit.tables.adjusted`), and
        restricted to the means that are still possible on the benchmark.

    Examples
    --------
    >>> import cobandit as cb
    >>> compared = Paired(cb.load("synthetic-24"))
    >>> low, high = mean_intervals(compared, 0.95)
    >>> bool(((low < compared.means) & (compared.means < high)).all())
    True
    """
    ends = np.empty((2, *compared.means.shape))
    for arms in compared.evaluations.blocks(np.arange(len(compared.means))):
        values, present = compared.evaluations.block(arms)
        for d, scores in enumerate(values[:-1]):
            sums = scores.sum(axis=1)
            shift = compared.means[arms, d] - sums / present.sum(axis=1)
            shifted = _limits(compared, scores, present, level) + shift

            # extreme means: the missing scores are all zero, or all one
            smallest = np.zeros(len(arms))
            largest = np.ones(len(arms))
            if compared.finite:
                smallest = sums / compared.n_instances
                largest = smallest + compared.missing[arms] / compared.n_instances
            ends[:, arms, d] = np.clip(shifted, smallest, largest)
    return ends[0], ends[1]


def step_interval(
    compared: Paired, lower: int, upper: int, level: float
) -> tuple[Floats, Floats]:
    """Return confidence intervals for one configuration's gain over another.

    Parameters
    ----------
    compared : Paired
    lower, upper : int
        Numbers of the configurations; the gain is that of ``upper`` over ``lower``.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (D,)
        Ends of the paired interval per objective, on the instances that the two share;
        NaN if they share none.

    Examples
    --------
    >>> import cobandit as cb
    >>> low, high = step_interval(Paired(cb.load("synthetic-24")), 0, 1, 0.95)
    >>> low.shape, bool((low < high).all())
    ((2,), True)
    """
    values, present = compared.evaluations.block([lower, upper])
    is_shared = present.all(axis=0)
    gains = (values[:-1, 1] - values[:-1, 0]) * is_shared
    is_shared = np.broadcast_to(is_shared, gains.shape)
    low, high = _limits(compared, gains, is_shared, level, low=-1.0)
    return low, high


def _limits(
    compared: Paired,
    scores: Floats,
    present: np.ndarray,
    level: float,
    low: float = 0.0,
) -> Floats:
    """Return confidence limits for means of scores in [low, 1], shape (2, k).

    Absent scores are zero. With clusters, a cluster is one observation: the sum of its
    instances' deviations from the mean.
    """
    evaluations = compared.evaluations
    n_present = present.sum(axis=1)
    total = None
    if compared.finite:
        total = np.full(len(n_present), compared.n_instances)
    if not evaluations.is_clustered:
        values, counts = scores, present.astype(float)
        if low == 0.0:
            values, counts = _count(scores, present)
        return _find_limits(values, counts, total, level, low)

    # Divide the excess by the size of the largest cluster, so that it remains within
    # the range of scores. Multiply the limits by this size below.
    mean = scores.sum(axis=1) / np.maximum(n_present, 1)
    sizes = evaluations.gather(present)
    excesses = evaluations.gather(np.where(present, scores - mean[:, None], 0.0))
    largest = np.maximum(sizes.max(axis=1), 1)
    pooled = mean[:, None] + excesses / largest[:, None]
    has_instances = sizes > 0
    units = has_instances.sum(axis=1)

    # assume that equal shares of clusters and of instances are missing
    if total is not None:
        total = np.ceil(units * total / np.maximum(n_present, 1))
    ends = _find_limits(pooled, has_instances.astype(float), total, level, low)
    widening = largest * units / np.maximum(n_present, 1)
    widened: Floats = np.clip(mean + (ends - mean) * widening, low, 1.0)
    return widened


def _find_limits(
    values: Floats, counts: Floats, total: Floats | None, level: float, low: float
) -> Floats:
    if total is None:
        return np.array(mean_limits(values, counts, level, low=low))
    return np.array(finite_mean_limits(values, counts, total, level, low=low))


def _count(scores: Floats, present: np.ndarray) -> tuple[Floats, Floats]:
    """Return scores with a count each; binary scores are counted by value."""
    if np.isin(scores, (0.0, 1.0)).all():  # an absent score is zero
        hits = scores.sum(axis=1)
        misses = present.sum(axis=1) - hits
        return np.array([0.0, 1.0]), np.column_stack([misses, hits])
    return scores, present.astype(float)
