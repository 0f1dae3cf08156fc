"""Compiled comparisons of `ParetoRace`: certain dominance and covering of arms.

Most pairs of arms are never compared. Rivals are counted for candidates only, and an
arm is no candidate if one of the strongest arms exceeds it. Means alone show that most
arms neither dominate nor cover another one. Whether an arm may be dominated is known
after a few comparisons with the strongest arms.
"""

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
#: A call that is not computed yet. The second arm neither dominates nor covers the
#: first, but it may dominate it.
UNKNOWN = 8

#: Number of strong arms that are compared first with an arm that may be exceeded.
STRONGEST = 16


class Costs(NamedTuple):
    """Costs of the k active arms on n instances; the index is an arm's position."""

    #: Whether costs are compared.
    compared: bool
    #: Shape (k,): mean costs.
    means: np.ndarray
    #: Shape (k,): sums of squared deviations.
    scatter: np.ndarray
    #: Tolerance of costs, as a share of the cost of the arm to be covered.
    share: float
    #: Tolerance of costs, as an amount.
    amount: float


class Look(NamedTuple):
    """A comparison of the k active arms; the index of an arm is its position."""

    #: Shape (D, k): mean scores.
    means: np.ndarray
    costs: Costs
    #: Shape (C, K, K): sums of squared differences of the pairs a < b, per objective,
    #: and then of the cost.
    squares: np.ndarray
    #: Shape (k,): arms, strongest first. A search for an arm that is better than
    #: another one soon ends in this order.
    strongest: np.ndarray
    #: Shape (D,): tolerances of the objectives.
    tolerances: np.ndarray
    #: Number of instances so far.
    n: int
    #: Standard error of a mean, divided by the root of the sum of squared deviations.
    scale: float


class Widths(NamedTuple):
    """Widths of the confidence intervals of a look."""

    #: Half-width in standard errors.
    wide: float
    #: Smallest standard error, which allows for rare differences that were not seen.
    least: float


@inner
def _compare_costs(a, b, look):
    """Return `compare_costs` for the arms at positions a and b."""
    costs = look.costs
    difference = costs.means[b] - costs.means[a]
    squares = look.squares[-1, min(a, b), max(a, b)]
    return compare_costs(
        costs.means[a],
        costs.means[b],
        costs.scatter[a],
        costs.scatter[b],
        squares - look.n * (difference * difference),
        look.n,
        look.scale,
        costs.share,
        costs.amount,
    )


@inner
def _find_error(a, b, d, look):
    """Return the standard error of a difference of means in objective d."""
    difference = look.means[d, b] - look.means[d, a]
    squares = look.squares[d, min(a, b), max(a, b)]
    scatter = squares - look.n * (difference * difference)
    return look.scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


@inner
def _exceeds(b, a, look):
    """Return whether arm b is two standard errors above arm a in every quantity."""
    for d in range(len(look.means)):
        difference = look.means[d, b] - look.means[d, a]
        if difference <= 0.0 or difference < NEAR * _find_error(a, b, d, look):
            return False
    if look.costs.compared:
        margin = _compare_costs(a, b, look)
        return margin.cheaper >= NEAR * margin.cheaper_error
    return True


@inner
def _is_candidate(a, look):
    """Return whether no other arm clearly exceeds arm a."""
    # one of the strongest arms exceeds most arms
    for b in look.strongest[:STRONGEST]:
        if _exceeds(b, a, look):
            return False

    if len(look.strongest) <= STRONGEST:
        return True

    # few other arms are above a candidate in every objective
    is_above = np.ones(len(look.strongest), dtype=np.bool_)
    for means in look.means:
        mean = means[a]
        for b in range(len(means)):
            is_above[b] &= means[b] > mean
    exceeded = False
    for b in range(len(is_above)):
        exceeded = exceeded or (is_above[b] and _exceeds(b, a, look))
    return not exceeded


@inner
def _add_rivals(a, others, asked, look, n_rivals, n_reached):
    """Compare arm a with others, and count the rivals of the arms in a mask.

    `cobandit.policies.near_ties.Others` defines rivals and reach. ``n_reached`` is
    increased by the number of arms in reach per quantity; the last one is the cost.
    """
    for b in others:
        for i, j in ((a, b), (b, a)):
            if not asked[i]:
                continue

            # whether j is a rival of i
            near = True
            short = False
            for d in range(len(look.means)):
                error = _find_error(i, j, d, look)
                distance = look.means[d, j] - look.means[d, i] + look.tolerances[d]
                near = near and distance >= -NEAR * error
                short = short or distance < NEAR * error
                n_reached[d] += abs(distance) < REACH * error
            if look.costs.compared:
                margin = _compare_costs(i, j, look)
                level = NEAR * margin.within_error
                near = near and margin.within >= -level
                short = short or margin.within < level
                n_reached[-1] += abs(margin.within) < REACH * margin.within_error
            n_rivals[i] += near and short


@inner
def count_ties(look, outdone):
    """Return m, the number of near ties for which the threshold is corrected.

    Only candidates are compared with all other arms.
    """
    n_objectives, k = look.means.shape
    candidates = np.empty(k, dtype=np.bool_)
    for a in range(k):
        candidates[a] = _is_candidate(a, look)

    n_rivals = outdone.copy()
    # one entry per objective, and the last one for the cost
    n_reached = np.full(n_objectives + 1, outdone[candidates].sum())
    for a in range(k):
        others = np.arange(a + 1, k)
        if not candidates[a]:
            others = others[candidates[a + 1 :]]
        _add_rivals(a, others, candidates, look, n_rivals, n_reached)

    n_candidates = candidates.sum()
    return count_near_ties(
        n_candidates,
        (n_rivals[candidates] > 0).sum(),
        n_rivals[candidates].sum(),
        n_reached.max(),
        n_candidates * (k - 1) + outdone[candidates].sum(),
    )


@inner
def count_outdone(look, calls, left):
    """Return, per arm, the number of just removed rivals that it covers."""
    n_objectives, k = look.means.shape
    n_reached = np.zeros(n_objectives + 1, dtype=np.int64)
    outdone = np.zeros(k, dtype=np.int64)
    for b in np.flatnonzero(left):
        covers = calls[b, :k] & COVERED > 0
        _add_rivals(b, np.flatnonzero(covers), covers, look, outdone, n_reached)
    return outdone


@inner
def find_widths(threshold, n, n_instances):
    """Return the widths of confidence intervals at a threshold."""
    unseen = 1 - n / n_instances
    return Widths(
        widen(threshold, n, n_instances), threshold * sqrt(unseen / (UNSEEN * n * n))
    )


@inner
def beats(low, high):
    """Return whether values from ``low`` to ``high`` are dominating differences."""
    return low >= -TIE and high > TIE


@inner
def call(a, b, look, widths):
    """Return the certain results for arm b against arm a."""
    # smallest and largest bound of a difference: its lower end, the same with the
    # tolerance added, and its upper end with the tolerance subtracted
    low = low_with = low_less = np.inf
    high = high_with = high_less = -np.inf
    for d in range(len(look.tolerances)):
        difference = look.means[d, b] - look.means[d, a]
        half = widths.wide * max(_find_error(a, b, d, look), widths.least)
        low = min(low, difference - half)
        high = max(high, difference - half)
        low_with = min(low_with, difference - half + look.tolerances[d])
        high_with = max(high_with, difference - half + look.tolerances[d])
        low_less = min(low_less, difference + half - look.tolerances[d])
        high_less = max(high_less, difference + half - look.tolerances[d])

    if look.costs.compared:
        margin = _compare_costs(a, b, look)
        least = widths.least * margin.varies
        half = widths.wide * max(margin.cheaper_error, least)
        low = min(low, margin.cheaper - half)
        high = max(high, margin.cheaper - half)
        half = widths.wide * max(margin.within_error, least)
        low_with = min(low_with, margin.within - half)
        high_with = max(high_with, margin.within - half)
        # a dominator may cost more by the tolerance
        low_less = min(low_less, margin.within + half)
        high_less = max(high_less, margin.within + half)

    # after the last look, all comparisons are decided
    is_open = look.scale > 0.0 and beats(low_less, high_less)
    return (
        DOMINATED * beats(low, high)
        + COVERED * beats(low_with, high_with)
        + OPEN * is_open
    )


@inner
def _find_possible_covers(a, look, widths):
    """Return a mask of the arms that are high enough in every objective to cover a.

    The smallest half-width excludes most arms without their squares.
    """
    half = widths.wide * widths.least
    possible = np.ones(len(look.strongest), dtype=np.bool_)
    for d, means in enumerate(look.means):
        mean = means[a]
        tolerance = look.tolerances[d]
        for b in range(len(means)):
            possible[b] &= means[b] - mean - half + tolerance >= -TIE
    possible[a] = False
    return possible


@inner
def call_covers(look, widths, calls):
    """Fill the calls of arms that may dominate or cover another arm.

    The other calls are unknown. Returns a mask of the arms that can be removed.
    """
    k = len(look.strongest)
    removable = np.zeros(k, dtype=np.bool_)
    for a in range(k):
        calls[a, :k] = UNKNOWN
        calls[a, a] = 0
        possible = _find_possible_covers(a, look, widths)
        for b in range(k):
            if possible[b]:
                calls[a, b] = call(a, b, look, widths)
                removable[a] |= calls[a, b] & (DOMINATED + COVERED) > 0
    return removable
