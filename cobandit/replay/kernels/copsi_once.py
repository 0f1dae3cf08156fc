"""CoPSI that evaluates every instance at most once: the same run as `cobandit.CoPSIOnce`, compiled.

Pairs are kept once, i < j: the statistic of the other direction is the same with the other sign.
"""

from __future__ import annotations

from math import floor, inf, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from cobandit import policies
from cobandit._check import SLACK
from cobandit.policies.copsi_once import FIRST_LOOK, PRIOR_VARIANCE, STEP
from cobandit.policies.elimination import GAP_ATOL, GAP_RTOL
from cobandit.policies.evidence import STAKES
from cobandit.replay.kernels.fronts import ascending, empirical, find_front, sample, sort_by_mean
from cobandit.replay.kernels.registry import ONCE, register
from cobandit.replay.kernels.replications import REPLICATIONS, identify


class CoPSIOnceParameters(NamedTuple):
    """What the run reads; ``claims_limit`` is infinite where nothing has to be certain."""

    n_instances: int
    chance: float
    claims_limit: float


class Pairs(NamedTuple):
    """What the compared instances say of pairs: sums of squares of differences, and statistics.

    ``squares`` is (K, K, D), filled for i < j; ``lowest`` and ``highest`` (K, K) are the least and the
    largest of the D statistics of j over i.
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


@njit
def _planned_depth(costs, depth, n_instances, left):
    """As `cobandit.policies.copsi_once.planned_depth`."""
    round_costs = np.cumsum(ascending(costs))[:0:-1]
    low, high = depth, n_instances + 1
    while high - low > 1:
        middle = (low + high) // 2
        reached, spend = depth, 0.0
        for round_cost in round_costs:
            target = min(n_instances, floor(middle * round_costs[0] / round_cost * (1.0 + SLACK)))
            if target > reached:
                spend += round_cost * (target - reached)
                reached = target
        if spend <= left:
            low = middle
        else:
            high = middle
    return low


@njit
def _add_squares(arms, first, last, draws, squares):
    """Add the squared differences of all pairs of arms on the instances from ``first`` to ``last``."""
    rows, offsets, _, order = draws
    n_objectives = squares.shape[2]
    block = np.empty((n_objectives, len(arms), last - first))
    for d in range(n_objectives):
        for a, arm in enumerate(arms):
            for q in range(first, last):
                block[d, a, q - first] = rows[offsets[arm] + order[q], d + 2]
    for d in range(n_objectives):
        for a in range(len(arms)):
            for b in range(a + 1, len(arms)):
                total = squares[arms[a], arms[b], d]
                for q in range(last - first):
                    difference = block[d, b, q] - block[d, a, q]
                    total += difference * difference
                squares[arms[a], arms[b], d] = total


@njit
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
                    growth = (x - claimed) / (1 + claimed) if claimed > -1 else 0.0
                    worth = 0.0
                    for s in range(len(STAKES)):
                        stakes[s] *= 1 + STAKES[s] * growth
                        worth += stakes[s]
                    total += x
                    if total > left - 1 or worth >= limit:
                        above[i, j, d] = True
                sums[i, j, d] = total
                if above[i, j, d]:
                    spared[j, i] = True


@njit
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


@njit
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


@njit
def _compare(arms, n, n_instances, sums, pairs):
    """Fill the lowest and highest statistics of all pairs of arms."""
    squares, lowest, highest = pairs
    unseen = 1 - n / n_instances
    for i in arms:
        for j in arms:
            if j <= i:
                continue
            low, high = inf, -inf
            for d in range(sums.shape[1]):
                difference = sums[j, d] / n - sums[i, d] / n
                scatter = squares[i, j, d] - n * (difference * difference)
                variance = (max(scatter, 0.0) + PRIOR_VARIANCE) / n
                statistic = difference / sqrt(variance / n * unseen)
                low, high = min(low, statistic), max(high, statistic)
            lowest[i, j], highest[i, j] = low, high
            lowest[j, i], highest[j, i] = -high, -low


@njit
def _clearest(arms, pairs, dominated, gaps):
    """Position of the arm with the largest gap, the gap, and whether the arm is on the front."""
    _, lowest, highest = pairs
    for i in arms:
        dominated[i] = -inf
        for j in arms:
            if j != i:
                dominated[i] = max(dominated[i], lowest[i, j])
    largest = -inf
    for i in arms:
        gap = dominated[i]
        if gap <= 0:
            gap = inf
            for j in arms:
                if j != i:
                    needed = max(highest[i, j], 0.0) + max(dominated[j], 0.0)
                    gap = min(gap, min(-lowest[i, j], needed))
        gaps[i] = gap
        largest = max(largest, gap)
    accepted = -1
    for a, i in enumerate(arms):
        if gaps[i] >= largest - (GAP_ATOL + GAP_RTOL * largest):
            if dominated[i] > 0:
                return a, gaps[i], False
            if accepted < 0:
                accepted = a
    return accepted, gaps[arms[accepted]], True


@njit
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend."""
    n_instances, chance, claims_limit = p
    n_arms, n_objectives = seen.sums.shape
    limit, declared, _ = terms
    arms, depth, spent, complete = np.arange(n_arms), 0, 0.0, True
    shape = n_arms, n_arms, n_objectives
    pairs = Pairs(np.zeros(shape), np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms)))
    dominated, gaps = np.empty(n_arms), np.empty(n_arms)
    certainty = claims_limit < inf
    shape = shape if certainty else (0, 0, n_objectives)
    evidence = Evidence(
        np.zeros(shape),
        np.full((shape[0], shape[0], n_objectives, len(STAKES)), 1 / len(STAKES)),
        np.zeros(shape, dtype=np.bool_),
        np.eye(shape[0]) > 0,
    )

    while len(arms) > 1 and depth < n_instances and complete:
        step = max(FIRST_LOOK, depth + max(1, floor(STEP * depth)))
        target = _planned_depth(declared[arms], depth, n_instances, limit - spent)
        goal = min(step, max(1, target))
        spent, complete = sample(arms, goal, draws, terms, seen, spent)
        if not complete:
            break
        _add_squares(arms, depth, goal, draws, pairs.squares)
        if certainty:
            _add_evidence(arms, depth, goal, n_instances, claims_limit, draws, evidence)
        depth = goal
        if depth < n_instances:
            _compare(arms, depth, n_instances, seen.sums, pairs)
        while len(arms) > 1 and depth < n_instances:
            position, accepted = -1, False
            if certainty:
                position, accepted = _certain_to_leave(arms, evidence)
            if position < 0:
                target = _planned_depth(declared[arms], depth, n_instances, limit - spent)
                if target == n_instances or (certainty and depth < target):
                    break
                position, gap, accepted = _clearest(arms, pairs, dominated, gaps)
                if gap < sqrt(chance * (1 - depth / target) / (1 - target / n_instances)):
                    break
            returned[arms[position]] = accepted
            arms = np.delete(arms, position)

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
register(ONCE, policies.CoPSIOnce, identify, CoPSIOnceParameters)
