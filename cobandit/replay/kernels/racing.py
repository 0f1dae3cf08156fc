"""The race: the same run as `cobandit.ParetoRace`, compiled."""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit.dominance import TIE
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.pareto_race import FIRST_LOOK, LEAST_SCATTER, STEP
from cobandit.replay.kernels._cache import compiled, inner
from cobandit.replay.kernels.compiling import Draws, Tally, keys, register, sample
from cobandit.replay.kernels.pairs import add_squares, empty_squares, read_scores

#: What is certain of a pair, as bits: the second dominates the first, covers it, may dominate it by too much.
DOMINATED, COVERED, OPEN = 1, 2, 4


class ParetoRaceParameters(NamedTuple):
    """What the run reads; ``tolerances`` (D,)."""

    n_instances: int
    tolerances: np.ndarray
    threshold: float


class Standing(NamedTuple):
    """As `cobandit.policies.pareto_race.Standing`; ``calls`` (K, K) of the active, by position, as bits."""

    stays: np.ndarray
    covers: np.ndarray
    n_covers: np.ndarray
    calls: np.ndarray


@inner
def _call(arms, n, p, sums, squares, calls):
    """Fill what is certain of all pairs of arms."""
    n_instances, tolerances, threshold = p
    k, n_objectives = len(arms), len(squares)
    scale = threshold * sqrt((1 - n / n_instances) / (n * n))
    means = np.empty((k, n_objectives))
    for a, arm in enumerate(arms):
        for d in range(n_objectives):
            means[a, d] = sums[arm, d] / n
    for a in range(k):
        calls[a, a] = 0
        for b in range(a + 1, k):
            # least and largest of b over a, and of a over b: as is, with the tolerance, and without it
            low, high = np.inf, -np.inf
            low_with, high_with, low_less, high_less = np.inf, -np.inf, np.inf, -np.inf
            back, back_high = np.inf, -np.inf
            back_with, back_high_with, back_less, back_high_less = np.inf, -np.inf, np.inf, -np.inf
            for d in range(n_objectives):
                difference, tolerance = means[b, d] - means[a, d], tolerances[d]
                scatter = squares[d, a, b] - n * (difference * difference)
                half = scale * sqrt(max(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)
                x = difference - half
                low, high = min(low, x), max(high, x)
                low_with, high_with = min(low_with, x + tolerance), max(high_with, x + tolerance)
                back_less = min(back_less, -x - tolerance)
                back_high_less = max(back_high_less, -x - tolerance)
                y = -difference - half
                back, back_high = min(back, y), max(back_high, y)
                back_with, back_high_with = min(back_with, y + tolerance), max(back_high_with, y + tolerance)
                low_less, high_less = min(low_less, -y - tolerance), max(high_less, -y - tolerance)
            calls[a, b] = (
                DOMINATED * (low >= -TIE and high > TIE)
                + COVERED * (low_with >= -TIE and high_with > TIE)
                + OPEN * (low_less >= -TIE and high_less > TIE)
            )
            calls[b, a] = (
                DOMINATED * (back >= -TIE and back_high > TIE)
                + COVERED * (back_with >= -TIE and back_high_with > TIE)
                + OPEN * (back_less >= -TIE and back_high_less > TIE)
            )


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
    found = False
    for b in range(len(arms)):
        found = found or (stays[b] and calls[a, b] & bit > 0)
    if bit == COVERED and found:
        for x in range(len(n_covers)):
            found = found and not (covers[x, arms[a]] and n_covers[x] < 2)
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
    fine = stays[:k].copy()
    for a in range(k):
        for b in range(k):
            if stays[b] and calls[a, b] & OPEN:
                fine[a] = False
                break
    active = stays[:k] & ~fine
    for a in range(k):
        if stays[a] and not fine[a]:
            for b in range(k):
                active[b] = active[b] or (stays[b] and calls[a, b] & OPEN > 0)
    for a in range(k):
        if stays[a] and not active[a]:
            returned[arms[a]] = True
    return np.flatnonzero(active)


@inner
def _end(arms, draws, n_objectives, shared, returned):
    """Return the front, in the standard order, of arms that share so many instances."""
    rows, offsets, _, order = draws
    sums = np.zeros((len(arms), n_objectives))
    for a, arm in enumerate(arms):
        for q in range(shared):
            for d in range(n_objectives):
                sums[a, d] += rows[offsets[arm] + order[q], d + 2]
    for a, arm in enumerate(arms):
        dominated = False
        for b in range(len(arms)):
            low, high = np.inf, -np.inf
            for d in range(n_objectives):
                difference = sums[b, d] / shared - sums[a, d] / shared
                low, high = min(low, difference), max(high, difference)
            dominated = dominated or (low >= -TIE and high > TIE)
        returned[arm] = not dominated


@inner
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and whether all are settled."""
    n_instances, (n_arms, n_objectives) = p.n_instances, seen.sums.shape
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
        affordable, needed, per_round = depth, 0.0, terms.declared[arms].sum()
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
        kept = _conclude(arms, strength, terms.declared[arms], standing, returned)
        arms, places = arms[kept], places[kept]
    shared = n_instances
    for arm in arms:
        shared = min(shared, seen.pulls[arm])
    if len(arms) > 0 and shared > 0:
        _end(arms, draws, n_objectives, shared, returned)
    return spent, len(arms) == 0


@compiled
def race(p, terms, feedback, seed, replications, record):
    """Play replications: pulls (R, K), spend (R,), returned sets (R, K), and who settled all (R,)."""
    n_arms, n_objectives = len(terms.declared), feedback.rows.shape[1] - 2
    pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
    returned = np.zeros((len(replications), n_arms), dtype=np.bool_)
    settled = np.zeros(len(replications), dtype=np.bool_)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        starts = keys(seed, replications[r], n_arms)
        draws = Draws(feedback.rows, feedback.offsets, starts, terms.orders[r])
        seen = Tally(pulls[r], np.zeros((n_arms, n_objectives)), record.arms[r], record.charges[r])
        spent[r], settled[r] = _play(p, terms, draws, seen, returned[r])
    return pulls, spent, returned, settled


register(policies.ParetoRace, race, ParetoRaceParameters)
