"""Intervals of means and of steps between them, which stay within the range of scores.

About instances like these they are those of `mean_limits`, and about the benchmark
those of `finite_mean_limits`: of no width where all of it is evaluated.
"""

from __future__ import annotations

import numpy as np

from cobandit.stats.evaluations import Floats
from cobandit.stats.limits import finite_mean_limits, mean_limits
from cobandit.stats.pairwise import Paired


def mean_intervals(compared: Paired, level: float) -> tuple[Floats, Floats]:
    """Return the interval of each mean, one at a time.

    Parameters
    ----------
    compared : Paired
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (K, D)
        Of a mean that is adjusted for instances on which it is missing, as far from it
        as the ends are from the mean of its own instances, and not beyond what these
        leave possible on the benchmark.

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
            found = _limits(compared, scores, present, level) + shift
            least, most = np.zeros(len(arms)), np.ones(len(arms))
            if compared.finite:
                least = sums / compared.n_instances
                most = least + compared.missing[arms] / compared.n_instances
            ends[:, arms, d] = np.clip(found, least, most)
    return ends[0], ends[1]


def step_interval(
    compared: Paired, lower: int, upper: int, level: float
) -> tuple[Floats, Floats]:
    """Return the interval of the gain of one configuration over another, on shared instances.

    Parameters
    ----------
    compared : Paired
    lower, upper : int
        Numbers of the configurations.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (D,)
        NaN where the two share no instance.

    Examples
    --------
    >>> import cobandit as cb
    >>> low, high = step_interval(Paired(cb.load("synthetic-24")), 0, 1, 0.95)
    >>> low.shape, bool((low < high).all())
    ((2,), True)
    """
    values, present = compared.evaluations.block([lower, upper])
    both = present.all(axis=0)
    gains = (values[:-1, 1] - values[:-1, 0]) * both
    low, high = _limits(
        compared, gains, np.broadcast_to(both, gains.shape), level, low=-1.0
    )
    return low, high


def _limits(
    compared: Paired,
    scores: Floats,
    present: np.ndarray,
    level: float,
    low: float = 0.0,
) -> Floats:
    """Return the limits of means of scores in [low, 1], zero where there is none: shape (2, k).

    Of clusters each counts once, with the excess of all its instances over the mean,
    divided by the size of the largest so that it stays in the range; limits are then as
    much too close to the mean.  Of a benchmark as large a share of the clusters is
    missing as of the instances.
    """
    evaluations = compared.evaluations
    seen = present.sum(axis=1)
    total = np.full(len(seen), compared.n_instances) if compared.finite else None
    if not evaluations.is_clustered:
        values, counts = (
            _count(scores, present) if low == 0.0 else (scores, present.astype(float))
        )
        return _find_limits(values, counts, total, level, low)

    mean = scores.sum(axis=1) / np.maximum(seen, 1)
    sizes = evaluations.gather(present)
    sums = evaluations.gather(np.where(present, scores - mean[:, None], 0.0))
    largest = np.maximum(sizes.max(axis=1), 1)
    there = sizes > 0
    pooled = mean[:, None] + sums / largest[:, None]
    units = there.sum(axis=1)
    if total is not None:
        total = np.ceil(units * total / np.maximum(seen, 1))
    ends = _find_limits(pooled, there.astype(float), total, level, low)
    widening = largest * units / np.maximum(seen, 1)
    return np.clip(mean + (ends - mean) * widening, low, 1.0)


def _find_limits(
    values: Floats, counts: Floats, total: Floats | None, level: float, low: float
) -> Floats:
    if total is None:
        return np.array(mean_limits(values, counts, level, low=low))
    return np.array(finite_mean_limits(values, counts, total, level, low=low))


def _count(scores: Floats, present: np.ndarray) -> tuple[Floats, Floats]:
    """Count scores if all are true or false, and otherwise leave them one by one: values and counts."""
    if np.isin(scores, (0.0, 1.0)).all():  # an absent score is zero
        hits = scores.sum(axis=1)
        return np.array([0.0, 1.0]), np.column_stack([present.sum(axis=1) - hits, hits])
    return scores, present.astype(float)
