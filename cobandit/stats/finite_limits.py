r"""Confidence limits for means of bounded scores on a partly evaluated benchmark.

Of the N instances of a benchmark, n are drawn without replacement. If all scores are at
the ends of their range, sums have the hypergeometric distribution. For other scores,
p-values come from bets against the hypothesis (Waudby-Smith and Ramdas 2024), and
limits from Polya's urn (Lo 1988). The urn initially contains the n scores and the worst
possible score. The N - n missing scores are drawn from the urn, and each drawn score is
put back with a copy. For scores at the ends of the range, this also leads to the
hypergeometric distribution. As N grows, the shares of the n + 1 scores among the draws
become Gaffke's weights (see `cobandit.stats.limits`).

References
----------
A. Y. Lo (1988), A Bayesian bootstrap for a finite population, Annals of Statistics 16,
1684-1695.

I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by
betting, Journal of the Royal Statistical Society B 86, 1-27.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

import numpy as np
import scipy  # imports its subpackages when they are first used
from numpy.typing import ArrayLike, NDArray

from cobandit.dominance import TIE
from cobandit.stats.weighted_sums import (
    Bools,
    Floats,
    as_samples,
    find_quantile,
    lower_tail,
    only_ends,
)

#: Largest number of missing scores that are drawn from the urn. If more are missing,
#: their sum is approximated.
MOST_DRAWN = 100
#: Number of simulated draws of all missing scores.
DRAWS = 4000


def finite_threshold_p_values(
    scores: ArrayLike,
    present: ArrayLike,
    threshold: ArrayLike,
    n_instances: int,
    level: float,
    low: float = 0.0,
    high: float = 1.0,
) -> Floats:
    """Return p-values of "the mean over N instances is below the threshold".

    Parameters
    ----------
    scores : array_like, shape (k, I)
        Scores of k samples in [low, high]. The columns have to be instances in random
        order.
    present : array_like of bool, shape (k, I)
        Mask of the scores of each sample.
    threshold : array_like, shape (k,) or ()
    n_instances : int
        N >= I.
    level : float
        Level at which the bets are most powerful. The p-values are valid at any level.
    low, high : float
        Ends of the range of scores.

    Returns
    -------
    ndarray, shape (k,)
        p-values, 0 or 1 if all N scores are present.

    Examples
    --------
    >>> scores = np.ones((1, 40))
    >>> for total in (40, 60, 900):
    ...     p = finite_threshold_p_values(scores, scores > 0, 0.95, total, level=0.05)
    ...     print(p.round(3))
    [0.]
    [0.01]
    [0.117]
    """
    scores = np.asarray(scores, dtype=float)
    present = np.asarray(present, dtype=bool)
    scores, counts, threshold = as_samples(scores, present, threshold)
    p_values = np.empty(len(scores))

    # scale scores to [0, 1] for the two tests below
    scores = (scores - low) / (high - low)
    threshold = (threshold - low) / (high - low)
    n_drawn = counts.sum(axis=1)
    sums = (scores * counts).sum(axis=1)

    binary = only_ends(scores, counts, 0.0, 1.0)
    if binary.any():
        # the largest number of hits whose mean is below the threshold
        most_hits = np.ceil(n_instances * threshold * (1 - TIE))[binary] - 1
        most_hits = np.clip(most_hits, -1, n_instances)
        hits = np.rint(sums[binary])
        tail = scipy.stats.hypergeom.sf(
            hits - 1, n_instances, np.maximum(most_hits, 0), n_drawn[binary]
        )
        p_values[binary] = np.where(most_hits < 0, 0.0, tail)

    graded = ~binary
    if graded.any():
        p_values[graded] = _bet(
            scores[graded], present[graded], threshold[graded], n_instances, level
        )

    is_exact = n_drawn == n_instances
    is_reached = sums >= n_instances * (threshold - TIE)
    return np.where(is_exact, np.where(is_reached, 0.0, 1.0), p_values)


def finite_mean_limits(
    values: ArrayLike,
    counts: ArrayLike,
    n_instances: ArrayLike,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return confidence intervals for means of N scores, given a part of the scores.

    Parameters
    ----------
    values, counts, low, high
        As in `cobandit.stats.limits.threshold_p_values`. Scores are drawn without
        replacement.
    n_instances : array_like of int, shape (k,) or ()
        N, at least the number of scores of each sample.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (k,)
        Both limits are the mean if all N scores are present, and NaN for an empty
        sample. If all scores are ``low`` or ``high``, the limits are exact: the mean is
        beyond each limit with probability at most (1 - level) / 2. Otherwise, they are
        quantiles of draws from Polya's urn (see the module). If more than `MOST_DRAWN`
        scores are missing, the shares of scores among the draws are approximated by
        gamma variables of the same mean and variance. As a continuity correction,
        each limit of the sum is then moved outwards by half the range of a score.

    Examples
    --------
    56 of 56 answers are right, on benchmarks of 56, 60 and 600 instances:

    >>> low, high = finite_mean_limits([0.0, 1.0], [[0, 56]] * 3, [56, 60, 600])
    >>> low.round(3), high
    (array([1.   , 0.983, 0.94 ]), array([1., 1., 1.]))
    """
    values, counts, _ = as_samples(values, counts, low)
    total = np.broadcast_to(np.asarray(n_instances, dtype=float), len(counts))
    n_drawn = counts.sum(axis=1)
    n_missing = total - n_drawn
    has_scores = n_drawn > 0
    ends = np.full((2, len(counts)), np.nan)

    is_exact = (n_missing == 0) & has_scores
    means = (values * counts).sum(axis=1) / np.maximum(n_drawn, 1)
    ends[:, is_exact] = means[is_exact]

    # the upper limit is minus the lower limit of the negated scores
    tail = (1 - level) / 2
    for sign, end in zip((1.0, -1.0), ends, strict=True):
        scores = sign * values
        lowest, highest = sorted((sign * low, sign * high))
        sums = (scores * counts).sum(axis=1)
        missing_sums = _smallest_missing_sums(
            scores, counts, total, tail, lowest, highest
        )
        limits = sign * ((sums + missing_sums) / total)
        end[~is_exact] = limits[~is_exact]

    return ends[0], ends[1]


def _smallest_missing_sums(
    values: Floats,
    counts: Floats,
    total: Floats,
    tail: float,
    low: float,
    high: float,
) -> Floats:
    """Return lower confidence limits for sums of the missing scores, shape (k,).

    Limits are NaN for samples without scores or without missing scores.
    """
    n_drawn = counts.sum(axis=1)
    n_missing = total - n_drawn
    is_open = (n_drawn > 0) & (n_missing != 0)
    binary = only_ends(values, counts, low, high) & is_open
    drawn = is_open & ~binary & (n_missing <= MOST_DRAWN)
    approximated = is_open & ~binary & (n_missing > MOST_DRAWN)
    sums = np.full(len(counts), np.nan)

    if binary.any():
        hits = (counts * (values > low)).sum(axis=1)[binary]
        fewest_hits = _fewest_hits(hits, n_drawn[binary], total[binary], tail)
        sums[binary] = n_missing[binary] * low + (high - low) * (fewest_hits - hits)
    for row in np.flatnonzero(drawn):
        sums[row] = _draw_smallest_sum(
            values[row], counts[row], int(n_missing[row]), tail, low
        )
    if approximated.any():
        missing = n_missing[approximated]
        mean = _find_smallest_mean(
            values[approximated], counts[approximated], missing, tail, low, high
        )
        lowest = missing * low
        sums[approximated] = np.maximum(missing * mean - (high - low) / 2, lowest)
    return sums


def _fewest_hits(hits: Floats, n_drawn: Floats, total: Floats, tail: float) -> Floats:
    """Return a lower limit of the number of hits in a population, by bisection.

    The limit is the smallest number of hits in the population for which a sample of
    size ``n_drawn`` has at least ``hits`` hits with probability above ``tail``.
    """
    left = hits - 1
    right = hits + total - n_drawn
    while (right - left > 1).any():
        middle = np.floor((left + right) / 2)
        chance = scipy.stats.hypergeom.sf(
            hits - 1, total, np.maximum(middle, 0), n_drawn
        )
        is_enough = (chance > tail) & (middle >= hits)
        right = np.where(is_enough, middle, right)
        left = np.where(is_enough, left, middle)
    return right


def _draw_smallest_sum(
    values: Floats, counts: Floats, n_missing: int, tail: float, low: float
) -> float:
    """Return a quantile of the sum of the missing scores, by draws from Polya's urn."""
    urn = np.append(np.repeat(values, counts.astype(np.int64)), low)
    sums = urn[_draw_balls(len(urn), n_missing)].sum(axis=1)
    return float(np.quantile(sums, tail, method="inverted_cdf"))


@lru_cache(maxsize=4)  # most samples of a table have the same size
def _draw_balls(n_balls: int, n_draws: int) -> NDArray[np.int64]:
    """Return the indices of balls drawn from Polya's urn, shape (DRAWS, n_draws)."""
    rng = np.random.default_rng(0)
    balls = rng.integers(0, n_balls, (DRAWS, n_draws))
    for number in range(1, n_draws):
        # the urn has the n_balls and a copy of each of the ``number`` earlier draws
        is_copy = rng.random(DRAWS) < number / (n_balls + number)
        earlier = balls[np.arange(DRAWS), rng.integers(0, number, DRAWS)]
        balls[is_copy, number] = earlier[is_copy]
    return balls


def _find_smallest_mean(
    values: Floats,
    counts: Floats,
    n_missing: Floats,
    tail: float,
    low: float,
    high: float,
) -> Floats:
    r"""Return an approximate quantile of the mean of the missing scores.

    Polya's urn begins with :math:`A = n + 1` balls. The share of one ball among m draws
    has the mean 1 / A, and a variance that is :math:`(A + m) / m` times the variance of
    Gaffke's weight. A gamma variable with a shape below one approximates this share.
    """
    balls = counts.sum(axis=1) + 1
    shape = (n_missing * (balls + 1) / (balls + n_missing) - 1) / balls
    weighted = counts * shape[:, None]

    def chance(mean: Floats) -> Floats:
        return lower_tail(values, weighted, mean, low, low_count=shape)

    return find_quantile(chance, values, counts, tail, low, high)


def _bet(
    scores: Floats, present: Bools, threshold: Floats, n_instances: int, level: float
) -> Floats:
    r"""Return p-values of "the mean is at most the threshold", by bets on the scores.

    Scores are in [0, 1], and there is one bet per score. Under the hypothesis, the mean
    of the remaining scores is at most :math:`m_q` before the q-th bet, and capital is
    bet on a larger score. The stake uses the variance of the earlier scores, and is
    best for n scores and the given level. A bet can lose at most .9 of the capital:

    .. math::

        m_q = \frac{N m - S_{q-1}}{N - q + 1}, \qquad
        W_q = W_{q-1} \bigl(1 + \lambda_q (x_q - m_q)\bigr), \qquad
        \lambda_q = \min\Bigl\{ \frac{.9}{m_q},
            \sqrt{\frac{2 \log (1 / \alpha)}{n\, \hat\sigma^2_{q-1}}} \Bigr\}

    If the hypothesis is true, the capital is a supermartingale that begins at 1. By
    Ville's inequality, the inverse of its largest value is therefore a p-value.
    """
    n = present.sum(axis=1)
    order = np.cumsum(present, axis=1)
    sums = np.cumsum(np.where(present, scores, 0.0), axis=1)
    before = sums - np.where(present, scores, 0.0)
    n_before: NDArray[np.int64] = order - present
    n_remaining = np.maximum(n_instances - n_before, 1)
    remaining_mean = (n_instances * threshold[:, None] - before) / n_remaining

    # variance of the earlier scores, with a prior of half an instance that scored one
    # and half an instance that scored zero
    squares = np.where(present, (scores - (0.5 + sums) / (order + 1)) ** 2, 0.0)
    variance = (0.25 + np.cumsum(squares, axis=1) - squares) / (n_before + 1)
    stake = np.sqrt(2 * log(1 / level) / (np.maximum(n, 1)[:, None] * variance))
    stake = np.minimum(stake, 0.9 / np.maximum(remaining_mean, TIE))

    log_factors = np.log1p(stake * (scores - remaining_mean))
    growth = np.where(present & (remaining_mean > 0), log_factors, 0.0)
    largest = np.cumsum(growth, axis=1).max(axis=1, initial=0.0)
    capital = np.exp(np.minimum(largest, 700.0))

    # a hypothesis that needs negative remaining scores is wrong
    is_contradicted = (sums > n_instances * (threshold[:, None] + TIE)).any(axis=1)
    return np.where(is_contradicted, 0.0, 1 / capital)
