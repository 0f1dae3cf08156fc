"""Compiled classification gaps of paired t-statistics, as in `cobandit.CoPSIOnce`.

Only the sums of squared differences are stored per pair of arms. `compare_pairs` reads
all of them once, and finds Delta^- of every arm. Few statistics are computed again:
those of an arm whose Delta^- was determined by a removed arm, and those of an arm on
the front, until its Delta^+ cannot be the largest gap.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.empirical_gaps import find_clearest, find_least
from cobandit.replay.kernels.pair_squares import add_squares, empty_squares


class Look(NamedTuple):
    """A comparison of the active arms, which are numbered by their position in it."""

    #: Number of instances on which the arms are compared.
    n: int
    #: Squared standard error of a mean difference, per unit of its scatter.
    per_scatter: float


class Gaps(NamedTuple):
    """Classification gaps of the k arms of the last comparison."""

    #: Shape (D, K, K), for i < j < k: sums of squared differences.
    squares: np.ndarray
    #: Shape (D, K): means.
    means: np.ndarray
    #: Shape (K,): smallest of the D statistics of each later arm over one arm.
    low: np.ndarray
    #: Shape (K,): largest of the D statistics of each later arm over one arm.
    high: np.ndarray
    #: Shape (K,): Delta^- of a dominated arm, and 0 on the front.
    minus: np.ndarray
    #: Shape (K,): the arm that attains the maximum in Delta^-; -1 on the front.
    above: np.ndarray
    #: Shape (K,): Delta^+ of an arm on the front, or a bound if it is not the largest.
    plus: np.ndarray


@inner
def empty_gaps(n_objectives, n_arms):
    """Return sums of zero, and uninitialised arrays for the gaps."""
    return Gaps(
        empty_squares(n_objectives, n_arms),
        np.empty((n_objectives, n_arms)),
        np.empty(n_arms),
        np.empty(n_arms),
        np.empty(n_arms),
        np.empty(n_arms, dtype=np.int64),
        np.empty(n_arms),
    )


@inner
def compare_pairs(arms, places, scores, n, n_instances, sums, gaps):
    """Add new scores; compute the statistics of all pairs of arms, and Delta^-."""
    look = Look(n, (1 - n / n_instances) / (n * n))
    k = len(arms)

    # a loop compiles faster than the assignment of a slice
    for a, arm in enumerate(arms):
        for d in range(sums.shape[1]):
            gaps.means[d, a] = sums[arm, d] / n
    gaps.minus[:k] = 0.0
    gaps.above[:k] = -1
    for a in range(k):
        add_squares(a, places, scores, gaps.squares)
        low = gaps.low[a + 1 : k]
        high = gaps.high[a + 1 : k]
        for b in range(len(low)):
            low[b] = inf
            high[b] = -inf
        for d in range(len(gaps.squares)):
            squares = gaps.squares[d, a, a + 1 : k]
            others = gaps.means[d, a + 1 : k]
            mean = gaps.means[d, a]
            for b in range(len(low)):
                statistic = _find_statistic(others[b] - mean, squares[b], look)
                low[b] = statistic if statistic < low[b] else low[b]
                high[b] = statistic if statistic > high[b] else high[b]

        # the statistics of a over b are the negated statistics of b over a
        minus = gaps.minus[a + 1 : k]
        above = gaps.above[a + 1 : k]
        for b in range(len(high)):
            if -high[b] > minus[b]:
                minus[b] = -high[b]
                above[b] = a
            if low[b] > gaps.minus[a]:
                gaps.minus[a] = low[b]
                gaps.above[a] = a + 1 + b

    return look


@inner
def _find_statistic(difference, squares, look):
    """Return the paired t-statistic of a difference of means."""
    difference = difference if abs(difference) > TIE else 0.0
    scatter = squares - look.n * (difference * difference)
    scatter = (scatter if scatter > 0.0 else 0.0) + PRIOR_VARIANCE
    return difference / sqrt(scatter * look.per_scatter)


@inner
def _find_extremes(a, b, look, gaps):
    """Return m(a, b) and M(b, a), the extreme statistics of b over a."""
    low = inf
    high = -inf
    for d in range(len(gaps.squares)):
        difference = gaps.means[d, b] - gaps.means[d, a]
        squares = gaps.squares[d, min(a, b), max(a, b)]
        statistic = _find_statistic(difference, squares, look)
        low = min(low, statistic)
        high = max(high, statistic)
    return low, high


@inner
def _find_minus(a, places, look, gaps):
    """Fill Delta^- of arm a, the largest positive m(a, b) over the arms b."""
    gaps.minus[a] = 0.0
    gaps.above[a] = -1
    for b in places:
        if b != a:
            low, _ = _find_extremes(a, b, look, gaps)
            if low > gaps.minus[a]:
                gaps.minus[a] = low
                gaps.above[a] = b


@inner
def _find_plus(a, places, look, gaps, enough):
    """Return Delta^+ of an arm on the front, or a bound below ``enough``.

    Delta^+ is the smallest of min{M(a, b), M(b, a)^+ + Delta_b^-} over the other arms
    b. The search ends as soon as a term is below ``enough``.
    """
    smallest = inf
    for b in places:
        if b != a:
            low, high = _find_extremes(a, b, look, gaps)
            smallest = min(smallest, min(-low, max(high, 0.0) + gaps.minus[b]))
        if smallest < enough:
            break
    return smallest


@inner
def find_largest_gap(places, look, gaps):
    """Return the arm with the largest gap, as in `find_clearest`.

    The second returned value is whether the arm is on the front.
    """
    largest = 0.0
    for a in places:
        largest = max(largest, gaps.minus[a])
    for a in places:
        if gaps.minus[a] == 0.0:
            enough = find_least(largest)
            gaps.plus[a] = _find_plus(a, places, look, gaps, enough)
            largest = max(largest, gaps.plus[a])
    return find_clearest(places, gaps.minus, gaps.plus)


@inner
def remove_gap(gone, places, look, gaps):
    """Update Delta^- of the arms at ``places`` after one arm is removed.

    The time is O(k) per arm whose Delta^- the removed arm determined.
    """
    for a in places:
        if gaps.above[a] == gone:
            _find_minus(a, places, look, gaps)
