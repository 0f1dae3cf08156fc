"""Compiled comparisons of `ParetoRace`: certain dominance and covering of arms."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import LEAST_SCATTER, compare_costs
from cobandit.policies.look_thresholds import widen
from cobandit.policies.near_ties import NEAR, REACH, count_near_ties
from cobandit.policies.pareto_race import UNSEEN
from cobandit.replay.kernels._cache import inner

inner(compare_costs)
inner(count_near_ties)
inner(widen)

#: Bits of a call, the result of comparing two arms: the second arm certainly dominates
#: the first, certainly covers it within the tolerance, or may dominate it by more than
#: the tolerance.
DOMINATED = 1
COVERED = 2
OPEN = 4


class Costs(NamedTuple):
    """Costs of the k active arms on n instances; the index is an arm's position."""

    #: Whether costs are compared.
    compared: bool
    #: Shape (k,): mean costs.
    means: np.ndarray
    #: Shape (k,): sums of squared deviations.
    scatter: np.ndarray
    #: Shape (K, K): sums of squared differences of the pairs a < b.
    squares: np.ndarray
    n: int
    #: Tolerance of costs, as a share of the cost of the arm to be covered.
    share: float
    #: Tolerance of costs, as an amount.
    amount: float


@inner
def _compare_costs(costs, a, b, scale):
    """Return `compare_costs` for the arms at positions a and b."""
    difference = costs.means[b] - costs.means[a]
    squares = costs.squares[a, b] if a < b else costs.squares[b, a]
    return compare_costs(
        costs.means[a],
        costs.means[b],
        costs.scatter[a],
        costs.scatter[b],
        squares - costs.n * (difference * difference),
        costs.n,
        scale,
        costs.share,
        costs.amount,
    )


@inner
def judge(sign, differences, halves, tolerances, start):
    """Return the certain result for two arms, given differences and half-widths.

    ``differences`` are those of the second arm minus the first. With sign 1, the result
    is whether the second arm dominates or covers the first; with sign -1, whether the
    first arm dominates or covers the second. ``start`` has the bounds of the cost
    (see `_bound_cost`).
    """
    low, low_with, low_less, high, high_with, high_less = start
    for d in range(len(differences)):
        least = sign * differences[d] - halves[d]
        most = sign * differences[d] + halves[d]
        low = min(low, least)
        high = max(high, least)
        low_with = min(low_with, least + tolerances[d])
        high_with = max(high_with, least + tolerances[d])
        low_less = min(low_less, most - tolerances[d])
        high_less = max(high_less, most - tolerances[d])

    return (
        DOMINATED * (low >= -TIE and high > TIE)
        + COVERED * (low_with >= -TIE and high_with > TIE)
        + OPEN * (low_less >= -TIE and high_less > TIE)
    )


#: Bounds of the cost for `judge` if costs are not compared.
NO_COST = (np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf)


@inner
def _bound_cost(costs, a, b, scale, wide, least):
    """Return the bounds of the cost with which `judge` starts, for arm b against a.

    There are three bounds of the difference: its lower end, and both its ends with the
    tolerance added. For each bound, `judge` computes the smallest and the largest value
    over all compared quantities. With the cost alone, these two values are equal.
    """
    if not costs.compared:
        return NO_COST
    margin = _compare_costs(costs, a, b, scale)
    floor_ = least * margin.varies
    above = margin.cheaper - wide * max(margin.cheaper_error, floor_)
    half = wide * max(margin.within_error, floor_)
    within = margin.within - half
    beyond = margin.within + half
    return above, within, beyond, above, within, beyond


@inner
def _compare(means, n, scale, squares, a, b, differences, errors):
    """Fill the differences of arm b minus arm a, and their standard errors."""
    for d in range(len(differences)):
        difference = means[b, d] - means[a, d]
        scatter = squares[d, a, b] - n * (difference * difference)
        differences[d] = difference
        errors[d] = scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


@inner
def _place(sign, differences, errors, tolerances, costs, a, b, scale, n_reached):
    """Return whether arm b clearly exceeds arm a, and whether it is a rival of arm a.

    It clearly exceeds arm a if it is two standard errors above it in every quantity.
    `cobandit.policies.near_ties.Others` defines rivals and reach. For each quantity in
    which b is in reach of a, the count in ``n_reached`` is increased. The last quantity
    is the cost.
    """
    above = True
    near = True
    short = False
    for d in range(len(differences)):
        difference = sign * differences[d]
        level = NEAR * errors[d]
        distance = difference + tolerances[d]
        above = above and difference >= level
        near = near and distance >= -level
        short = short or distance < level
        n_reached[d] += abs(distance) < REACH * errors[d]

    if costs.compared:
        margin = _compare_costs(costs, a, b, scale)
        level = NEAR * margin.within_error
        above = above and margin.cheaper >= NEAR * margin.cheaper_error
        near = near and margin.within >= -level
        short = short or margin.within < level
        n_reached[-1] += abs(margin.within) < REACH * margin.within_error

    return above, near and short


@inner
def _count_ties(means, n, scale, tolerances, squares, costs, outdone):
    """Return m, the number of near ties for which the threshold is corrected."""
    k, n_objectives = means.shape
    differences, errors = np.empty((2, n_objectives))

    candidates = np.ones(k, dtype=np.bool_)
    n_rivals = outdone.copy()
    # one column per objective, and the last one for the cost
    n_reached = np.zeros((k, n_objectives + 1), dtype=np.int64)
    for a in range(k):
        n_reached[a] += outdone[a]
        for b in range(a + 1, k):
            _compare(means, n, scale, squares, a, b, differences, errors)
            above, rival = _place(
                1.0, differences, errors, tolerances, costs, a, b, scale, n_reached[a]
            )
            candidates[a] &= not above
            n_rivals[a] += rival
            above, rival = _place(
                -1.0, differences, errors, tolerances, costs, b, a, scale, n_reached[b]
            )
            candidates[b] &= not above
            n_rivals[b] += rival

    n_candidates = candidates.sum()
    n_contested = (n_rivals[candidates] > 0).sum()
    # a loop compiles faster than a sum along an axis
    reached = np.zeros(n_objectives + 1, dtype=np.int64)
    for candidate in np.flatnonzero(candidates):
        reached += n_reached[candidate]
    n_others = n_candidates * (k - 1) + outdone[candidates].sum()
    return count_near_ties(
        n_candidates, n_contested, n_rivals[candidates].sum(), reached.max(), n_others
    )


@inner
def count_outdone(means, n, p, squares, costs, calls, left):
    """Return, per arm, the number of just removed rivals that it covers."""
    n_instances, tolerances, _, _, _, _ = p
    scale = sqrt((1 - n / n_instances) / (n * n))
    differences, errors = np.empty((2, means.shape[1]))

    n_reached = np.zeros(means.shape[1] + 1, dtype=np.int64)
    outdone = np.zeros(len(means), dtype=np.int64)
    for b in np.flatnonzero(left):
        for a in range(len(means)):
            if calls[b, a] & COVERED > 0:
                _compare(
                    means, n, scale, squares, min(a, b), max(a, b), differences, errors
                )
                sign = 1.0 if a < b else -1.0
                outdone[a] += _place(
                    sign, differences, errors, tolerances, costs, a, b, scale, n_reached
                )[1]

    return outdone


@inner
def call_pairs(means, n, p, squares, costs, outdone, calls):
    """Fill the certain results for all pairs of arms, from their means (k, D)."""
    n_instances, tolerances, looks, thresholds, _, _ = p
    k, n_objectives = means.shape
    scale = sqrt((1 - n / n_instances) / (n * n))
    threshold = 0.0
    if n < n_instances:
        look = min(np.searchsorted(looks, n), len(thresholds) - 1)
        ties = _count_ties(means, n, scale, tolerances, squares, costs, outdone)
        threshold = thresholds[look, ties - 1]

    least = threshold * sqrt((1 - n / n_instances) / (UNSEEN * n * n))
    wide = widen(threshold, n, n_instances)

    differences, halves = np.empty((2, n_objectives))

    # after the last look, all comparisons are decided
    asked = DOMINATED + COVERED + OPEN * (n < n_instances)
    for a in range(k):
        calls[a, a] = 0
        for b in range(a + 1, k):
            _compare(means, n, scale, squares, a, b, differences, halves)
            for d in range(n_objectives):
                halves[d] = wide * max(halves[d], least)
            start = _bound_cost(costs, a, b, scale, wide, least)
            calls[a, b] = judge(1.0, differences, halves, tolerances, start) & asked
            start = _bound_cost(costs, b, a, scale, wide, least)
            calls[b, a] = judge(-1.0, differences, halves, tolerances, start) & asked
