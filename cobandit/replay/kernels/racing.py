"""The race: the same run as `cobandit.ParetoRace`, compiled."""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.pareto_race import FIRST_LOOK, LEAST_SCATTER, STEP
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiling import compile_run, register, sample
from cobandit.replay.kernels.pairs import add_squares, empty_squares, read_scores, sum_shared

#: What is certain of a pair, as bits: the second dominates the first, covers it, may dominate it by too much.
DOMINATED, COVERED, OPEN = 1, 2, 4


class Standing(NamedTuple):
    """As `cobandit.policies.pareto_race.Standing`; ``calls`` (K, K) of the active, by position, as bits."""

    stays: np.ndarray
    covers: np.ndarray
    n_covers: np.ndarray
    calls: np.ndarray


@inner
def _judge(sign, differences, halves, tolerances):
    """What is certain of a pair, given how far the second is above the first if the sign is 1, or below."""
    low, high, low_with, high_with = np.inf, -np.inf, np.inf, -np.inf
    low_less, high_less = np.inf, -np.inf
    for d in range(len(differences)):
        least, most = sign * differences[d] - halves[d], sign * differences[d] + halves[d]
        low, high = min(low, least), max(high, least)
        low_with, high_with = min(low_with, least + tolerances[d]), max(high_with, least + tolerances[d])
        low_less, high_less = min(low_less, most - tolerances[d]), max(high_less, most - tolerances[d])
    return (
        DOMINATED * (low >= -TIE and high > TIE)
        + COVERED * (low_with >= -TIE and high_with > TIE)
        + OPEN * (low_less >= -TIE and high_less > TIE)
    )


@inner
def _call(arms, n, p, sums, squares, calls):
    """Fill what is certain of all pairs of arms."""
    n_instances, tolerances, threshold = p
    k, n_objectives = len(arms), len(squares)
    scale = threshold * sqrt((1 - n / n_instances) / (n * n))
    means = np.empty((k, n_objectives))
    differences, halves = np.empty((2, n_objectives))
    for a, arm in enumerate(arms):
        for d in range(n_objectives):
            means[a, d] = sums[arm, d] / n
    for a in range(k):
        calls[a, a] = 0
        for b in range(a + 1, k):
            for d in range(n_objectives):
                difference = means[b, d] - means[a, d]
                scatter = squares[d, a, b] - n * (difference * difference)
                differences[d] = difference
                halves[d] = scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)
            calls[a, b] = _judge(1.0, differences, halves, tolerances)
            calls[b, a] = _judge(-1.0, differences, halves, tolerances)


@inner
def _leave(a, bit, arms, standing):
    """Let the arm at a position leave: those that stay and of which the bit says so cover in its place."""
    stays, covers, n_covers, calls = standing
    stays[a] = False
    for x in range(len(n_covers)):
        if not covers[x, arms[a]]:
            continue
        covers[x, arms[a]] = False
        n_covers[x] -= 1
        if bit == DOMINATED:
            for b, arm in enumerate(arms):
                if stays[b] and calls[a, b] & bit and not covers[x, arm]:
                    covers[x, arm] = True
                    n_covers[x] += 1
    if bit == COVERED:
        for b, arm in enumerate(arms):
            if stays[b] and calls[a, b] & bit:
                covers[arms[a], arm] = True
                n_covers[arms[a]] += 1


@inner
def _may_leave(a, bit, arms, standing):
    """Whether one that stays is above, and of whom the arm covers, each has another cover."""
    stays, covers, n_covers, calls = standing
    k = len(arms)
    found = (stays[:k] & (calls[a, :k] & bit > 0)).any()
    if bit == COVERED:
        found = found and not (covers[:, arms[a]] & (n_covers < 2)).any()
    return found


@inner
def _conclude(arms, strength, costs, standing, returned):
    """Let leave who may, and return who is fine; who of the arms is still active, by position."""
    k, stays, calls = len(arms), standing.stays, standing.calls
    stays[:k] = True
    for a in np.argsort(strength, kind="mergesort"):
        if _may_leave(a, DOMINATED, arms, standing):
            _leave(a, DOMINATED, arms, standing)
    for a in np.argsort(-costs, kind="mergesort"):
        if stays[a] and _may_leave(a, COVERED, arms, standing):
            _leave(a, COVERED, arms, standing)
    stay, fine = stays[:k], np.zeros(k, dtype=np.bool_)
    for a in range(k):
        fine[a] = not (stay & (calls[a, :k] & OPEN > 0)).any()
    active = stay & ~fine
    for a in np.flatnonzero(stay & ~fine):
        active |= stay & (calls[a, :k] & OPEN > 0)
    returned[arms[stay & ~active]] = True
    return np.flatnonzero(active)


@inner
def _end(arms, means, returned):
    """Return the front of some arms, in the standard order."""
    none = np.zeros(means.shape[1])
    for i in arms:
        dominated = False
        for j in arms:
            dominated = dominated or _judge(1.0, means[j] - means[i], none, none) & DOMINATED > 0
        returned[i] = not dominated


@inner
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and whether all are settled."""
    n_instances, _, _ = p
    n_arms, n_objectives = seen.sums.shape
    arms, spent, depth = np.arange(n_arms), 0.0, 0
    places = np.arange(n_arms)  # of the arms among those whose squares were last added
    squares = empty_squares(n_objectives, n_arms)
    standing = Standing(
        np.ones(n_arms, dtype=np.bool_),
        np.zeros((n_arms, n_arms), dtype=np.bool_),
        np.zeros(n_arms, dtype=np.int64),
        np.zeros((n_arms, n_arms), dtype=np.uint8),
    )
    while len(arms) > 0:
        goal = min(n_instances, max(FIRST_LOOK, depth + max(1, floor(STEP * depth))))
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
        for a in range(len(arms)):
            add_squares(a, places, scores, squares)
        places, depth = np.arange(len(arms)), affordable
        if depth < min(FIRST_LOOK, n_instances):
            continue
        _call(arms, depth, p, seen.sums, squares, standing.calls)
        strength = np.zeros(len(arms))
        for a, arm in enumerate(arms):
            for d in range(n_objectives):
                strength[a] += seen.sums[arm, d] / depth
        kept = _conclude(arms, strength, terms.costs[arms], standing, returned)
        arms, places = arms[kept], places[kept]
    if len(arms) > 0:
        sums, shared = sum_shared(arms, draws, seen.pulls, n_objectives)
        if shared > 0:
            _end(arms, sums / shared, returned)
    return spent, len(arms) == 0


register(
    policies.ParetoRace,
    compile_run(_play),
    lambda policy: (policy.n_instances, policy.tolerances, policy.threshold),
)
