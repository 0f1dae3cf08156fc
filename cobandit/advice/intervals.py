"""Intervals of means and of steps between them, which stay within the range of scores (`mean_limits`)."""

from __future__ import annotations

import numpy as np

from cobandit.advice.paired import Floats, Paired
from cobandit.stats.limits import mean_limits


def mean_intervals(compared: Paired, level: float) -> tuple[Floats, Floats]:
    """Give each mean its interval, one at a time, about instances like these.

    Parameters
    ----------
    compared : Paired
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (K, D)
        Of a mean that is adjusted for instances on which it is missing, as far from it as the ends are from
        the mean of its own instances.

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
            samples = _count(scores, present)
            shift = compared.means[arms, d] - scores.sum(axis=1) / present.sum(axis=1)
            ends[:, arms, d] = np.clip(mean_limits(*samples, level) + shift, 0.0, 1.0)
    return ends[0], ends[1]


def step_interval(compared: Paired, lower: int, upper: int, level: float) -> tuple[Floats, Floats]:
    """Give the interval of how much more one configuration scores than another, on what both have.

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
    gains = (values[:-1, 1] - values[:-1, 0])[:, both]
    return mean_limits(gains, np.ones(gains.shape), level, low=-1.0)


def _count(scores: Floats, present: np.ndarray) -> tuple[Floats, Floats]:
    """Count scores if all are true or false, and otherwise leave them one by one: values and counts."""
    if np.isin(scores, (0.0, 1.0)).all():  # an absent score is zero
        hits = scores.sum(axis=1)
        return np.array([0.0, 1.0]), np.column_stack([present.sum(axis=1) - hits, hits])
    return scores, present.astype(float)
