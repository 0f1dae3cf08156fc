"""The race: the same run as `cobandit.ParetoRace`, compiled."""

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import LEAST_SCATTER, compare_costs
from cobandit.policies.look_depths import FIRST_LOOK, STEP, list_looks
from cobandit.policies.look_thresholds import widen
from cobandit.policies.near_ties import NEAR, REACH, count_near_ties
from cobandit.policies.pareto_race import UNSEEN
from cobandit.policies.tolerance_evidence import next_certified_look
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.certified_racing import (
    add_evidence,
    empty_evidence,
    read_evidence,
    release_purses,
)
from cobandit.replay.kernels.compiling import compile_run, register, sample
from cobandit.replay.kernels.pairs import (
    add_squares,
    empty_squares,
    read_scores,
    sum_shared,
)

inner(compare_costs)
inner(next_certified_look)
inner(count_near_ties)
inner(widen)

#: What is certain of a pair, as bits: the second dominates the first, covers it, may
#: dominate it by too much.
DOMINATED, COVERED, OPEN = 1, 2, 4


class Costs(NamedTuple):
    """What all active arms cost on n instances, by position, and whether that is compared.

    ``means`` and ``scatter`` (k,), the latter sums of squared deviations; ``squares``
    (K, K) those of the differences of pairs a < b; ``share`` and ``amount`` are the
    tolerance.
    """

    compared: bool
    means: np.ndarray
    scatter: np.ndarray
    squares: np.ndarray
    n: int
    share: float
    amount: float


@inner
def _compare_costs(costs, a, b, scale):
    """Compare the cost of the arm at b with that of the arm at a, as `compare_costs`."""
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
def _judge(sign, differences, halves, tolerances, start):
    """Return what is certain of a pair, given how far the second is above the first (sign 1) or below.

    ``start`` is the same of their cost, of `_bound_cost`.
    """
    low, low_with, low_less, high, high_with, high_less = start
    for d in range(len(differences)):
        least, most = (
            sign * differences[d] - halves[d],
            sign * differences[d] + halves[d],
        )
        low, high = min(low, least), max(high, least)
        low_with, high_with = (
            min(low_with, least + tolerances[d]),
            max(high_with, least + tolerances[d]),
        )
        low_less, high_less = (
            min(low_less, most - tolerances[d]),
            max(high_less, most - tolerances[d]),
        )

    return (
        DOMINATED * (low >= -TIE and high > TIE)
        + COVERED * (low_with >= -TIE and high_with > TIE)
        + OPEN * (low_less >= -TIE and high_less > TIE)
    )


#: What `_judge` starts from where no cost is compared: least and largest of nothing.
NO_COST = (np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf)


@inner
def _bound_cost(costs, a, b, scale, wide, least):
    """Bound how far the arm at b is above that at a in cost: least, least with the tolerance, and most."""
    if not costs.compared:
        return NO_COST
    margin = _compare_costs(costs, a, b, scale)
    floor_ = least * margin.varies
    above = margin.cheaper - wide * max(margin.cheaper_error, floor_)
    half = wide * max(margin.within_error, floor_)
    within, beyond = margin.within - half, margin.within + half
    return above, within, beyond, above, within, beyond


@inner
def _compare(means, n, scale, squares, a, b, differences, errors):
    """Fill how far the second of a pair is above the first, and the standard errors of that."""
    for d in range(len(differences)):
        difference = means[b, d] - means[a, d]
        scatter = squares[d, a, b] - n * (difference * difference)
        differences[d] = difference
        errors[d] = scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)


@inner
def _place(sign, differences, errors, tolerances, costs, a, b, scale, n_reached):
    """Whether the arm at b is far above that at a, and whether it is a rival of it.

    Each quantity in which it is in reach is counted, the cost last.
    """
    above, near, short = True, True, False
    for d in range(len(differences)):
        difference, level = sign * differences[d], NEAR * errors[d]
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
    """Count the near ties that are allowed for: m."""
    k, n_objectives = means.shape
    differences, errors = np.empty((2, n_objectives))

    candidates, n_rivals = np.ones(k, dtype=np.bool_), outdone.copy()
    n_reached = np.zeros((k, n_objectives + 1), dtype=np.int64)  # and of the cost, last
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

    n_candidates, n_contested = candidates.sum(), (n_rivals[candidates] > 0).sum()
    most_reached = n_reached[candidates].sum(axis=0).max()
    n_others = n_candidates * (k - 1) + outdone[candidates].sum()
    return count_near_ties(
        n_candidates, n_contested, n_rivals[candidates].sum(), most_reached, n_others
    )


@inner
def _count_outdone(means, n, p, squares, costs, calls, left):
    """Count, of each arm by position, the rivals that it certainly covers and that have just left."""
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
def _call(means, n, p, squares, costs, outdone, calls):
    """Fill what is certain of all pairs of arms, by position, as bits; given are their means (k, D)."""
    n_instances, tolerances, looks, thresholds, _, _ = p
    k, n_objectives = means.shape
    scale, threshold = sqrt((1 - n / n_instances) / (n * n)), 0.0
    if n < n_instances:
        look = min(np.searchsorted(looks, n), len(thresholds) - 1)
        threshold = thresholds[
            look, _count_ties(means, n, scale, tolerances, squares, costs, outdone) - 1
        ]

    least = threshold * sqrt((1 - n / n_instances) / (UNSEEN * n * n))
    wide = widen(threshold, n, n_instances)

    differences, halves = np.empty((2, n_objectives))

    # afterwards nothing is left to wait for
    asked = DOMINATED + COVERED + OPEN * (n < n_instances)
    for a in range(k):
        calls[a, a] = 0
        for b in range(a + 1, k):
            _compare(means, n, scale, squares, a, b, differences, halves)
            for d in range(n_objectives):
                halves[d] = wide * max(halves[d], least)
            start = _bound_cost(costs, a, b, scale, wide, least)
            calls[a, b] = _judge(1.0, differences, halves, tolerances, start) & asked
            start = _bound_cost(costs, b, a, scale, wide, least)
            calls[b, a] = _judge(-1.0, differences, halves, tolerances, start) & asked


@inner
def _leave(a, bit, arms, calls, stays, covers, n_covers):
    """Let the arm at a position leave, if of one that stays the bit says so: those cover in its place.

    One that is only covered stays where it is the last cover of another.
    """
    above = stays & (calls[a, : len(arms)] & bit > 0)
    if not above.any():
        return

    covered = np.flatnonzero(covers[:, arms[a]])
    if bit == COVERED and (n_covers[covered] < 2).any():
        return

    stays[a] = False
    for x in covered:
        covers[x, arms[a]] = False
        if bit == DOMINATED:
            covers[x][arms[above]] = True
        n_covers[x] = covers[x].sum()

    if bit == COVERED:
        covers[arms[a]][arms[above]] = True
        n_covers[arms[a]] = above.sum()


@inner
def _conclude(arms, strength, costs, calls, covers, n_covers, returned):
    """Let leave who may, and return who is fine; who of the arms is still active, by position.

    ``covers`` (K, K) are those of `cobandit.policies.race_standing.Standing`,
    ``n_covers`` (K,) how many.
    """
    stays, active = (
        np.ones(len(arms), dtype=np.bool_),
        np.zeros(len(arms), dtype=np.bool_),
    )
    for a in np.argsort(strength, kind="mergesort"):
        _leave(a, DOMINATED, arms, calls, stays, covers, n_covers)
    for a in np.argsort(-costs, kind="mergesort"):
        if stays[a]:
            _leave(a, COVERED, arms, calls, stays, covers, n_covers)

    for a in np.flatnonzero(stays):
        above = stays & (calls[a, : len(arms)] & OPEN > 0)
        active[a] |= above.any()
        active |= above

    returned[arms[stays & ~active]] = True
    return np.flatnonzero(active)


@inner
def _end(arms, means, costs, returned):
    """Return the front of some arms, in the standard order; costs (k,) are over the largest."""
    none = np.zeros(means.shape[1])
    for a, i in enumerate(arms):
        dominated = False
        for b, j in enumerate(arms):
            start = NO_COST
            if len(costs):
                cheaper = costs[a] - costs[b]
                start = cheaper, cheaper, cheaper, cheaper, cheaper, cheaper
            dominated = (
                dominated
                or _judge(1.0, means[j] - means[i], none, none, start) & DOMINATED > 0
            )
        returned[i] = not dominated


@inner
def _read_costs(arms, first, last, draws, terms, declared):
    """Return what some arms cost on the instances from ``first`` to ``last``, (1, q, k)."""
    rows, offsets, _, order = draws
    costs = np.empty((1, last - first, len(arms)))
    for q in range(first, last):
        for a, arm in enumerate(arms):
            if declared:
                costs[0, q - first, a] = terms.costs[arm]
            else:
                costs[0, q - first, a] = rows[offsets[arm] + order[q], 0]
    return costs


@inner
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and whether all are settled."""
    n_instances, tolerances, _, _, (limit, affordable), (compared, share, amount) = p
    n_arms, n_objectives = seen.sums.shape
    certified = limit > 0.0
    declared = certified or not terms.realised  # as costs are compared
    arms, spent, depth = np.arange(n_arms), 0.0, 0
    places = np.arange(n_arms)  # of the arms among those whose squares were last added
    squares = empty_squares(n_objectives + compared, n_arms)  # of the cost last
    cost_sums, cost_squares = np.zeros((2, n_arms))
    covers, n_covers = (
        np.zeros((n_arms, n_arms), dtype=np.bool_),
        np.zeros(n_arms, dtype=np.int64),
    )
    calls = np.empty((n_arms, n_arms), dtype=np.uint8)

    outdone = np.zeros(n_arms, dtype=np.int64)
    evidence = empty_evidence(n_arms if certified else 0, n_objectives, affordable)
    while len(arms) > 0:
        goal = min(n_instances, max(FIRST_LOOK, depth + max(1, floor(STEP * depth))))
        if certified:
            goal = next_certified_look(depth, n_instances)
        affordable, needed, per_round = depth, 0.0, terms.costs[arms].sum()
        while affordable < goal and needed + per_round <= terms.limit - spent:
            needed += per_round
            affordable += 1
        complete = affordable > depth
        if complete:
            spent, complete = sample(arms, affordable, draws, terms, seen, spent)
        if not complete:
            break
        scores = read_scores(arms, depth, affordable, draws, n_objectives)
        if certified:
            add_evidence(
                arms, scores, depth, (n_instances, tolerances), limit, evidence
            )
        if compared:
            charged = _read_costs(arms, depth, affordable, draws, terms, declared)
            for a, arm in enumerate(arms):
                for cost in charged[0, :, a]:
                    cost_sums[arm] += cost
                    cost_squares[arm] += cost * cost
            scores = np.concatenate((scores, charged))
        if not certified or compared:
            for a in range(len(arms)):
                add_squares(a, places, scores, squares)
        places, depth = np.arange(len(arms)), affordable
        if not certified and depth < min(FIRST_LOOK, n_instances):
            continue
        means = seen.sums[arms] / depth
        mean_costs = cost_sums[arms] / depth if compared else terms.costs[arms]
        strength = means.sum(axis=1)
        if certified and depth < n_instances:
            read_evidence(arms, evidence, calls, COVERED, OPEN)
            strength[:] = 0.0  # nothing is called dominated
        else:  # at the end half-widths are zero, whatever the squares
            scatter = np.maximum(cost_squares[arms] - depth * mean_costs**2, 0.0)
            costs = Costs(
                compared, mean_costs, scatter, squares[-1], depth, share, amount
            )
            _call(means, depth, p, squares, costs, outdone[arms], calls)
            if compared:
                strength -= mean_costs / mean_costs.max()
        kept = _conclude(arms, strength, mean_costs, calls, covers, n_covers, returned)
        if not certified and depth < n_instances:
            left = ~returned[arms]
            left[kept] = False
            outdone[arms] += _count_outdone(
                means, depth, p, squares, costs, calls, left
            )
        arms, places = arms[kept], places[kept]
        if certified:
            release_purses(arms, evidence)

    if len(arms) > 0:
        sums, shared = sum_shared(arms, draws, seen.pulls, n_objectives)
        if shared > 0:
            costs_shared = np.empty(0)
            if compared:
                costs_shared = _read_costs(arms, 0, shared, draws, terms, declared)[
                    0
                ].sum(axis=0)
                costs_shared /= costs_shared.max()
            _end(arms, sums / shared, costs_shared, returned)

    return spent, len(arms) == 0


def _read(policy):
    """Return what the run reads; the limit is that of capital, and zero where nothing has to be certain."""
    evidence = 0.0, np.empty((0, 0), dtype=np.bool_)
    if policy.evidence:
        evidence = policy.evidence.limit, policy.evidence.affordable
    of_cost = policy.compares_cost, policy.cost_margin.share, policy.cost_margin.amount
    looks = list_looks(policy.n_instances)
    return (
        policy.n_instances,
        policy.tolerances,
        looks,
        policy.thresholds,
        evidence,
        of_cost,
    )


register(
    policies.ParetoRace,
    compile_run(_play),
    _read,
)
