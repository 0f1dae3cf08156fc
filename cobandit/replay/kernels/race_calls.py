"""Compiled comparisons of `ParetoRace`: certain dominance and covering of arms.

Most pairs of arms are never compared. Rivals are counted for sampled candidates only.
An arm is compared with the arms that are at least as good in every mean, to find
whether it is a candidate. Means alone show that most arms neither dominate nor cover
another one. Whether an arm may be dominated is known after a few comparisons with the
strongest arms.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import LEAST_SCATTER, compare_costs
from cobandit.policies.look_thresholds import widen
from cobandit.policies.near_ties import NEAR, REACH, count_near_ties, sample_candidates
from cobandit.policies.pareto_race import UNSEEN
from cobandit.replay.kernels._cache import inner

inner(compare_costs)
inner(count_near_ties)
inner(sample_candidates)
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

    #: Shape (C, k): mean scores, and then negated mean costs if they are compared.
    values: np.ndarray
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
    difference = look.values[d, b] - look.values[d, a]
    squares = look.squares[d, min(a, b), max(a, b)]
    scatter = squares - look.n * (difference * difference)
    return look.scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


@inner
def _is_above(b, a, values):
    """Return whether arm b is at least as good as arm a in every quantity."""
    is_above = True
    for c in range(len(values)):
        is_above = is_above and values[c, b] >= values[c, a]
    return is_above


@inner
def _exceeds(b, a, look):
    """Return whether arm b is two standard errors above arm a in every quantity."""
    for d in range(len(look.tolerances)):
        difference = look.values[d, b] - look.values[d, a]
        if difference <= 0.0 or difference < NEAR * _find_error(a, b, d, look):
            return False
    if look.costs.compared:
        margin = _compare_costs(a, b, look)
        return margin.cheaper >= NEAR * margin.cheaper_error
    return True


@inner
def _find_candidates(look):
    """Return a mask of the arms that no other arm clearly exceeds.

    An arm that exceeds another one is stronger, so it is earlier in ``strongest``.
    """
    candidates = np.ones(len(look.strongest), dtype=np.bool_)
    values = np.empty_like(look.values)
    for rank, a in enumerate(look.strongest):
        for c in range(len(values)):
            values[c, rank] = look.values[c, a]
        for earlier in range(rank):
            # most arms are not above the arm in every quantity, even without a margin
            if _is_above(earlier, rank, values) and _exceeds(
                look.strongest[earlier], a, look
            ):
                candidates[a] = False
                break
    return candidates


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
            for d in range(len(look.tolerances)):
                error = _find_error(i, j, d, look)
                distance = look.values[d, j] - look.values[d, i] + look.tolerances[d]
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
def count_ties(look, outdone, ranks):
    """Return m, the number of near ties for which the threshold is corrected.

    Only sampled candidates are compared with all other arms.
    """
    k = len(look.strongest)
    candidates = _find_candidates(look)
    sampled = sample_candidates(candidates, ranks)

    n_rivals = outdone.copy()
    # one entry per objective, and the last one for the cost
    n_reached = np.full(len(look.tolerances) + 1, outdone[sampled].sum())
    for a in range(k):
        others = np.arange(a + 1, k)
        if not sampled[a]:
            others = others[sampled[a + 1 :]]
        _add_rivals(a, others, sampled, look, n_rivals, n_reached)

    n_sampled = sampled.sum()
    return count_near_ties(
        candidates.sum(),
        n_sampled,
        (n_rivals[sampled] > 0).sum(),
        n_rivals[sampled].sum(),
        n_reached.max(),
        n_sampled * (k - 1) + outdone[sampled].sum(),
    )


@inner
def count_outdone(look, calls, left):
    """Return, per arm, the number of just removed rivals that it covers."""
    k = len(look.strongest)
    n_reached = np.zeros(len(look.tolerances) + 1, dtype=np.int64)
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
        difference = look.values[d, b] - look.values[d, a]
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
def _find_front(values):
    """Return the positions of arms that no other arm is above, shape (f,).

    Every arm is on this front, or an arm of the front is above it. Of equal arms, one
    is on the front.
    """
    totals = np.zeros(values.shape[1])
    for c in range(len(values)):
        totals += values[c]
    front = np.empty(len(totals), dtype=np.int64)
    size = 0
    for a in np.argsort(-totals, kind="mergesort"):
        is_below = False
        for f in front[:size]:
            if _is_above(f, a, values):
                is_below = True
                break
        if not is_below:
            front[size] = a
            size += 1
    return front[:size]


@inner
def _may_cover(b, a, values, lead):
    """Return whether arm b leads arm a by enough in every quantity.

    A lead (C,) may be negative.
    """
    for c in range(len(values)):
        if values[c, b] - values[c, a] - lead[c] < -TIE:
            return False
    return True


@inner
def call_covers(look, widths, calls):
    """Fill the calls of arms that may dominate or cover another arm.

    The other calls are unknown. Returns a mask of the arms that can be removed.
    """
    n_objectives = len(look.tolerances)
    costs = look.costs
    k = len(look.strongest)
    # costs are compared in units of the larger cost
    rounding = 2 * TIE * costs.means.max()

    # the smallest half-width excludes most pairs of arms without their squares
    lead = np.empty(len(look.values))
    for d in range(n_objectives):
        lead[d] = widths.wide * widths.least - look.tolerances[d]
    front = _find_front(look.values)
    removable = np.zeros(k, dtype=np.bool_)
    for a in range(k):
        calls[a, :k] = UNKNOWN
        calls[a, a] = 0
        if costs.compared:
            lead[-1] = -costs.share * costs.means[a] - costs.amount - rounding
        # an arm that no arm of the front can cover cannot be covered
        is_possible = False
        for f in front:
            if f == a or _may_cover(f, a, look.values, lead):
                is_possible = True
                break
        if not is_possible:
            continue

        for b in range(k):
            if b != a and _may_cover(b, a, look.values, lead):
                calls[a, b] = call(a, b, look, widths)
                removable[a] |= calls[a, b] & (DOMINATED + COVERED) > 0
    return removable
