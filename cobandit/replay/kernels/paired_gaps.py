"""Compiled classification gaps of paired t-statistics, as in `cobandit.CoPSIOnce`."""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.pair_squares import add_squares


class Gaps(NamedTuple):
    """Classification gaps of the k arms of the last comparison.

    Arms are numbered by their position in this comparison. When an arm is removed, only
    the gaps that it determined are computed again.
    """

    #: Shape (K, K), for i < j < k: smallest of the D statistics of j over i.
    low: np.ndarray
    #: Shape (K, K), for i < j < k: largest of the D statistics of j over i.
    high: np.ndarray
    #: Shape (K,): Delta^-.
    minus: np.ndarray
    #: Shape (K,): the arm that attains the maximum in Delta^-.
    above: np.ndarray
    #: Shape (K,): Delta^+ of arms on the front.
    plus: np.ndarray
    #: Shape (K,): the arm that attains the minimum in Delta^+.
    nearest: np.ndarray


@inner
def empty_gaps(n_arms):
    """Return uninitialised arrays for gaps."""
    return Gaps(
        np.empty((n_arms, n_arms)),
        np.empty((n_arms, n_arms)),
        np.empty(n_arms),
        np.zeros(n_arms, dtype=np.int64),
        np.empty(n_arms),
        np.zeros(n_arms, dtype=np.int64),
    )


@inner
def compare_pairs(arms, places, scores, n, n_instances, sums, squares, gaps):
    """Add new scores; compute the statistics of all pairs of arms, and the gaps."""
    per_scatter = (1 - n / n_instances) / (n * n)
    k = len(arms)

    means = np.ascontiguousarray((sums[arms] / n).T)
    gaps.minus[:k] = -inf
    gaps.above[:k] = 0
    for a in range(k):
        add_squares(a, places, scores, squares)
        low = gaps.low[a, a + 1 : k]
        high = gaps.high[a, a + 1 : k]
        for b in range(len(low)):
            low[b] = inf
            high[b] = -inf
        for d in range(len(squares)):
            sums_of_squares = squares[d, a, a + 1 : k]
            others = means[d, a + 1 :]
            mean = means[d, a]
            for b in range(len(low)):
                difference = others[b] - mean
                difference = difference if abs(difference) > TIE else 0.0
                scatter = sums_of_squares[b] - n * (difference * difference)
                scatter = (scatter if scatter > 0.0 else 0.0) + PRIOR_VARIANCE
                statistic = difference / sqrt(scatter * per_scatter)
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

    for a in range(k):
        _find_plus(a, k, gaps)


@inner
def _find_weakest(a, b, gaps):
    """Return m(a, b), the smallest statistic of b over a."""
    return gaps.low[a, b] if a < b else -gaps.high[b, a]


@inner
def _find_minus(a, k, gaps):
    """Fill Delta^- of arm a, the largest m(a, b) over all remaining arms b."""
    largest = -inf
    above = 0
    for b in range(k):
        # Delta^- of a removed arm is infinite
        if b != a and gaps.minus[b] < inf and _find_weakest(a, b, gaps) > largest:
            largest = _find_weakest(a, b, gaps)
            above = b
    gaps.minus[a] = largest
    gaps.above[a] = above


@inner
def _find_term(a, b, gaps):
    """Return the smaller of M(a, b) and M(b, a)^+ + (Delta_b^-)^+."""
    needed = max(-_find_weakest(b, a, gaps), 0.0) + max(gaps.minus[b], 0.0)
    return min(-_find_weakest(a, b, gaps), needed)


@inner
def _find_plus(a, k, gaps):
    """Fill Delta^+ of an arm, if it is on the front."""
    if gaps.minus[a] > 0.0:
        return
    smallest = inf
    nearest = 0
    for b in range(k):
        if b != a and gaps.minus[b] < inf and _find_term(a, b, gaps) < smallest:
            smallest = _find_term(a, b, gaps)
            nearest = b
    gaps.plus[a] = smallest
    gaps.nearest[a] = nearest


@inner
def remove_gaps(gone, k, places, gaps):
    """Update the gaps of the arms at ``places`` after one of the k arms is removed.

    The time is O(k) per gap that the removed arm determined. Computing all gaps would
    take O(k^2).
    """
    minus = gaps.minus
    minus[gone] = inf
    freed = places[gaps.above[places] == gone]

    # only a positive Delta^-, that of a dominated arm, enters the gaps of other arms
    dominated = freed[minus[freed] > 0.0]
    for j in freed:
        _find_minus(j, k, gaps)
    for a in places:
        if gaps.nearest[a] == gone:
            _find_plus(a, k, gaps)

    for j in dominated:
        _find_plus(j, k, gaps)
        # its Delta^- has decreased, so its term in other gaps may have decreased
        for a in places:
            if a != j and minus[a] <= 0.0 and _find_term(a, j, gaps) < gaps.plus[a]:
                gaps.plus[a] = _find_term(a, j, gaps)
                gaps.nearest[a] = j
