"""CoPSI that evaluates every instance at most once: the same run as `cobandit.CoPSIOnce`, compiled.

Pairs are kept once, i < j: the statistic of the other direction is the same with the other sign.
"""

from __future__ import annotations

from math import floor, inf, sqrt
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit._check import SLACK
from cobandit.dominance import TIE
from cobandit.policies.copsi_once import FIRST_LOOK, PRIOR_VARIANCE, STEP
from cobandit.policies.evidence import STAKES
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiling import REPLICATIONS, identify, register
from cobandit.replay.kernels.draws import sample
from cobandit.replay.kernels.elimination import without
from cobandit.replay.kernels.fronts import empirical, find_clearest, find_front, sort_by_mean


class CoPSIOnceParameters(NamedTuple):
    """What the run reads; ``claims_limit`` is infinite where nothing has to be certain."""

    n_instances: int
    chance: float
    claims_limit: float


class Pairs(NamedTuple):
    """What the compared instances say of pairs a < b of the k active arms, by their positions.

    ``squares`` (D, K, K) are sums of squared differences, ``lowest`` and ``highest`` (K, K) the least and the
    largest of the D statistics of b over a; of each matrix the first k rows and columns are in use, so that
    the innermost loops run over neighbours in memory.
    """

    squares: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray


class Evidence(NamedTuple):
    """As `cobandit.policies.evidence.PairedEvidence`; of size zero where nothing has to be certain."""

    sums: np.ndarray
    capital: np.ndarray
    above: np.ndarray
    spared: np.ndarray


@inner
def _planned_depth(costs, depth, n_instances, left):
    """As `cobandit.policies.copsi_once.planned_depth`, of costs in ascending order.

    A phase that is too dear, or evaluates everything, decides: what the later ones cost is never negative.
    """
    round_costs = np.cumsum(costs)[:0:-1]
    low, high = depth, n_instances + 1
    while high - low > 1:
        middle = (low + high) // 2
        reached, spend = depth, 0.0
        for round_cost in round_costs:
            target = min(n_instances, floor(middle * round_costs[0] / round_cost * (1.0 + SLACK)))
            if target > reached:
                spend += round_cost * (target - reached)
                reached = target
            if spend > left or reached == n_instances:
                break
        if spend <= left:
            low = middle
        else:
            high = middle
    return low


@inner
def _add_squares(arms, first, last, draws, squares):
    """Add the squared differences of all pairs of arms on the instances from ``first`` to ``last``."""
    rows, offsets, _, order = draws
    n_objectives, k = len(squares), len(arms)
    block = np.empty((n_objectives, last - first, k))
    for q in range(first, last):
        for a, arm in enumerate(arms):
            row = offsets[arm] + order[q]
            for d in range(n_objectives):
                block[d, q - first, a] = rows[row, d + 2]
    for d in range(n_objectives):
        for a in range(k):
            total = squares[d, a, a + 1 : k]
            for q in range(last - first):
                own, others = block[d, q, a], block[d, q, a + 1 :]
                for b in range(len(total)):
                    difference = others[b] - own
                    total[b] += difference * difference


@inner
def _add_evidence(arms, first, last, n_instances, limit, draws, evidence):
    """Stake on the instances from ``first`` to ``last``, pair by pair."""
    rows, offsets, _, order = draws
    sums, capital, above, spared = evidence
    for i in arms:
        for j in arms:
            if i == j:
                continue
            for d in range(sums.shape[2]):
                stakes, total = capital[i, j, d], sums[i, j, d]
                for q in range(first, last):
                    left = n_instances - q
                    claimed = -total / left
                    x = rows[offsets[j] + order[q], d + 2] - rows[offsets[i] + order[q], d + 2]
                    growth = (x - claimed) / (1 + claimed) if claimed > TIE - 1 else 0.0
                    worth = 0.0
                    for s in range(len(STAKES)):
                        stakes[s] *= 1 + STAKES[s] * growth
                        worth += stakes[s]
                    total += x
                    if total > left - 1 + TIE * n_instances or worth >= limit:
                        above[i, j, d] = True
                sums[i, j, d] = total
                if above[i, j, d]:
                    spared[j, i] = True


@inner
def _dominated(above):
    """Who is certainly dominated, (K,)."""
    n_arms, _, n_objectives = above.shape
    dominated = np.zeros(n_arms, dtype=np.bool_)
    for i in range(n_arms):
        for j in range(n_arms):
            strictly = True
            for d in range(n_objectives):
                strictly = strictly and above[i, j, d]
            dominated[i] = dominated[i] or strictly
    return dominated


@inner
def _certain_to_leave(arms, evidence):
    """Position of an arm that is certain and no longer needed, -1 if there is none, and its side.

    The first that is dominated, otherwise the first.
    """
    dominated, spared = _dominated(evidence.above), evidence.spared
    for a, i in enumerate(arms):
        if dominated[i]:
            return a, False
    for a, i in enumerate(arms):
        free = True
        for j in range(len(dominated)):
            free = free and (spared[i, j] or dominated[j])
        for j in arms:
            free = free and (spared[j, i] or dominated[j])
        if free:
            return a, True
    return -1, False


@inner
def _compare(arms, n, n_instances, sums, pairs):
    """Fill the lowest and highest statistics of all pairs of arms."""
    squares, lowest, highest = pairs
    per_scatter, k = (1 - n / n_instances) / (n * n), len(arms)
    lowest[:k, :k].fill(inf)
    highest[:k, :k].fill(-inf)
    means = np.empty(k)
    for d in range(len(squares)):
        for a, arm in enumerate(arms):
            means[a] = sums[arm, d] / n
        for a in range(k):
            of, low, high = squares[d, a, a + 1 : k], lowest[a, a + 1 : k], highest[a, a + 1 : k]
            others, own = means[a + 1 :], means[a]
            for b in range(len(of)):
                difference = others[b] - own
                difference = difference if abs(difference) > TIE else 0.0
                scatter = of[b] - n * (difference * difference)
                scatter = (scatter if scatter > 0.0 else 0.0) + PRIOR_VARIANCE
                statistic = difference / sqrt(scatter * per_scatter)
                low[b] = statistic if statistic < low[b] else low[b]
                high[b] = statistic if statistic > high[b] else high[b]


@inner
def _find_gaps(k, pairs, minus, plus):
    """Fill the gaps of k arms, by positions: ``minus`` of those dominated, else 0, and ``plus`` of the front.

    Of a over b < a the statistics are those of b over a with the other sign.
    """
    _, lowest, highest = pairs
    minus[:k] = 0.0
    for a in range(k):
        for b in range(a + 1, k):
            minus[a] = max(minus[a], lowest[a, b])
            minus[b] = max(minus[b], -highest[a, b])
    for a in range(k):
        gap = inf
        if minus[a] > 0.0:
            continue
        for b in range(k):
            if b == a:
                continue
            apart, beats = (-lowest[a, b], highest[a, b]) if a < b else (highest[b, a], -lowest[b, a])
            gap = min(gap, min(apart, max(beats, 0.0) + minus[b]))
        plus[a] = gap


@inner
def _close_gap(position, k, matrix):
    """Take the row and the column of one of k arms out of what is known of pairs."""
    for a in range(k - 1):
        source = a + (a >= position)
        for b in range(a + 1, k - 1):
            matrix[a, b] = matrix[source, b + (b >= position)]


@inner
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend."""
    n_instances, chance, claims_limit = p
    n_arms, n_objectives = seen.sums.shape
    limit, declared = terms.limit, terms.declared
    arms, costs, spent, complete = np.arange(n_arms), terms.ascending.copy(), 0.0, True
    depth, compared = 0, 0  # pairs are compared only where somebody may leave
    shape = n_arms, n_arms
    pairs = Pairs(np.zeros((n_objectives, n_arms, n_arms)), np.empty(shape), np.empty(shape))
    minus, plus = np.empty(n_arms), np.empty(n_arms)
    certainty = claims_limit < inf
    shape = (n_arms, n_arms, n_objectives) if certainty else (0, 0, n_objectives)
    evidence = Evidence(
        np.zeros(shape),
        np.full((shape[0], shape[0], n_objectives, len(STAKES)), 1 / len(STAKES)),
        np.zeros(shape, dtype=np.bool_),
        np.eye(shape[0]) > 0,
    )

    while len(arms) > 1 and depth < n_instances and complete:
        step = max(FIRST_LOOK, depth + max(1, floor(STEP * depth)))
        target = _planned_depth(costs, depth, n_instances, limit - spent)
        goal = min(step, max(1, target))
        spent, complete = sample(arms, goal, draws, terms, seen, spent)
        if not complete:
            break
        if certainty:
            _add_evidence(arms, depth, goal, n_instances, claims_limit, draws, evidence)
        depth = goal
        while len(arms) > 1 and depth < n_instances:
            position, accepted = -1, False
            if certainty:
                position, accepted = _certain_to_leave(arms, evidence)
            if position < 0:
                target = _planned_depth(costs, depth, n_instances, limit - spent)
                if target == n_instances or (certainty and depth < target):
                    break
                if compared < depth:
                    _add_squares(arms, compared, depth, draws, pairs.squares)
                    _compare(arms, depth, n_instances, seen.sums, pairs)
                    compared = depth
                _find_gaps(len(arms), pairs, minus, plus)
                position, accepted = find_clearest(np.arange(len(arms)), minus, plus)
                gap = plus[position] if accepted else minus[position]
                if gap < sqrt(chance * (1 - depth / target) / (1 - target / n_instances)):
                    break
            arm, k = arms[position], len(arms)
            returned[arm] = accepted
            for d in range(n_objectives):
                _close_gap(position, k, pairs.squares[d])
            _close_gap(position, k, pairs.lowest)
            _close_gap(position, k, pairs.highest)
            arms, costs = without(arm, arms), without(declared[arm], costs)

    shared = n_instances
    for arm in arms:
        shared = min(shared, seen.pulls[arm])
    if shared > 0:
        rows, offsets, _, order = draws
        sums, at = np.zeros((n_arms, n_objectives)), empirical(n_arms, n_objectives)
        for arm in arms:
            for q in range(shared):
                for d in range(n_objectives):
                    sums[arm, d] += rows[offsets[arm] + order[q], d + 2]
        for arm in find_front(sort_by_mean(arms, sums, np.full(n_arms, shared), at.means), at):
            returned[arm] = True
    return spent


REPLICATIONS[CoPSIOnceParameters] = _play
register(policies.CoPSIOnce, identify, CoPSIOnceParameters)
