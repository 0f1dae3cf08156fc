r"""Confidence limits for means of bounded scores, valid for any number of instances.

Student's limits are wrong near the ends of the range. For example, after 40 right
answers of 40, the sample has no variance. Gaffke (2005) adds one instance with the
worst possible score, and gives random weights to all instances. With independent
standard exponential weights :math:`E_0, \dots, E_n` and scores in [a, b],

.. math:: p(m) = P\Bigl( \sum_{s=1}^n E_s (x_s - m) + E_0 (a - m) \le 0 \Bigm| x \Bigr)

is a p-value of the hypothesis that the mean is at most m. If the hypothesis is true,
:math:`p(m) \le \alpha` has probability at most :math:`\alpha`, for every n (Vlassis and
Thomas 2026). If all scores are a or b, this is Clopper and Pearson's p-value. As n
grows, intervals become as short as Student's.

`cobandit.stats.finite_limits` has the corresponding limits for a finite benchmark.

References
----------
N. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the
mean of a nonnegative variable, Mathematical Methods of Statistics 14, 451-467.

N. Vlassis, P. S. Thomas (2026), An exact distribution-free test for means of
nonnegative random variables, arXiv:2607.08415.

J. Ming, A. Ramdas, Y. Shen, R. Wang, I. Waudby-Smith (2026), Gaffke's confidence
interval for the mean of bounded data is inadmissible but asymptotically efficient,
arXiv:2607.18661.
"""

from __future__ import annotations

import numpy as np
import scipy  # loads its parts at their first use
from numpy.typing import ArrayLike

from cobandit.stats.weighted_sums import (
    Floats,
    as_samples,
    find_quantile,
    lower_tail,
    only_ends,
)


def threshold_p_values(
    values: ArrayLike,
    counts: ArrayLike,
    threshold: ArrayLike,
    low: float = 0.0,
    high: float = 1.0,
) -> Floats:
    r"""Return p-values of "the mean is below the threshold", for independent scores.

    Parameters
    ----------
    values : array_like, shape (k, m) or (m,)
        Scores of k samples, in [low, high].
    counts : array_like, shape (k, m)
        Number of times that each score was observed.
    threshold : array_like, shape (k,) or ()
        Threshold of each mean, in the unit of the scores.
    low, high : float
        Ends of the range of scores.

    Returns
    -------
    ndarray, shape (k,)
        p-values, small if a mean is surely at least its threshold. They are exact if
        all scores are ``low`` or ``high``. Otherwise, they are saddle-point
        approximations, which are exact to a thousandth. If very few scores are above
        the threshold, the approximations may be a few percent too large.

    Notes
    -----
    Time O(k m) per step of Newton's method, of which there are about five.

    Examples
    --------
    At a level of .05, 40 right answers of 40 do not show a mean of 95 %, but 60 of 60
    do.

    >>> threshold_p_values([1.0], [[40], [60]], 0.95).round(3)
    array([0.129, 0.046])
    >>> threshold_p_values([0.0, 0.5, 1.0], [[0, 1, 59]], 0.95).round(3)
    array([0.09])
    """
    values, counts, threshold = as_samples(values, counts, threshold)
    p_values = np.empty(len(counts))

    binary = only_ends(values, counts, low, high)
    if binary.any():
        hits = (counts * (values > low)).sum(axis=1)[binary]
        misses = counts.sum(axis=1)[binary] - hits
        share = np.clip((threshold[binary] - low) / (high - low), 0.0, 1.0)
        p_values[binary] = _beta(hits, misses + 1, share)

    graded = ~binary
    if graded.any():
        p_values[graded] = lower_tail(
            values[graded], counts[graded], threshold[graded], low
        )

    return np.where(threshold <= low, 0.0, p_values)


def mean_limits(
    values: ArrayLike,
    counts: ArrayLike,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return confidence intervals for means of independent scores.

    The ends are quantiles of the randomly weighted mean of the scores and one
    additional score. The additional score is the lowest or the highest possible one,
    with probability 1/2 each. If all scores are ``low`` or ``high``, this is the mid-p
    interval. At a level of .95, its coverage is between .92 and .99; the coverage of
    Wilson's interval is between .84 and .98.

    Parameters
    ----------
    values, counts, low, high
        As in `threshold_p_values`.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (k,)
        Limits on both sides of the mean, usually at different distances; NaN for an
        empty sample.

    Examples
    --------
    56 right answers of 56, and 50 right answers of 56:

    >>> low, high = mean_limits([0.0, 1.0], [[0, 56], [6, 50]])
    >>> low.round(3), high.round(3)
    (array([0.948, 0.79 ]), array([1.   , 0.955]))
    """
    values, counts, _ = as_samples(values, counts, low)
    ends = np.full((2, len(counts)), np.nan)
    tails = (1 - level) / 2, (1 + level) / 2
    has_scores = counts.sum(axis=1) > 0
    for end, tail in zip(ends, tails, strict=True):
        end[has_scores] = _find_mid_quantile(
            values[has_scores], counts[has_scores], tail, low, high
        )
    return ends[0], ends[1]


def _find_mid_quantile(
    values: Floats, counts: Floats, tail: float, low: float, high: float
) -> Floats:
    """Return a quantile of the weighted mean, as described at `mean_limits`."""

    def chance(mean: Floats) -> Floats:
        below = threshold_p_values(values, counts, mean, low, high)

        # in the mirrored range, means above this one are below its mirror image
        mirrored = low + high - values
        above = threshold_p_values(mirrored, counts, low + high - mean, low, high)
        return np.asarray((below + 1 - above) / 2)

    return find_quantile(chance, values, counts, tail, low, high)


def _beta(a: Floats, b: Floats, share: Floats) -> Floats:
    """Return the probability that a beta variable is at most ``share``; 1 if a is 0."""
    chance = scipy.special.betainc(np.maximum(a, 1), b, share)
    return np.where(a > 0, chance, 1.0)
