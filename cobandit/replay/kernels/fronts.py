"""Empirical Pareto sets and gaps, from running sums.

An arm that is dominated is dominated by one of the front, with a margin at least as large, and every
dominator comes earlier in the order of falling first coordinate; so one pass over that order finds the
front and the gaps of the dominated arms in O(k p D), p being the size of the front.  The gap of an arm of the
front is a least one over all others, which is mostly found small at the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.stream import draw


class Draws(NamedTuple):
    """Where the pulls of one replication come from: rows of feedback, and the start of each arm's stream.

    ``order`` (N,) are the instances in the order in which they are evaluated once, empty for a bootstrap.
    """

    rows: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class Tally(NamedTuple):
    """What one replication has seen: pulls (K,), sums of rewards (K, D), and its first L pulls in order."""

    pulls: np.ndarray
    sums: np.ndarray
    arms: np.ndarray
    charges: np.ndarray


class Empirical(NamedTuple):
    """Means (K, D) and gaps: ``minus`` (K,) is Delta^- of a dominated arm and 0 on the front, ``plus`` (K,)
    Delta^+ of an arm of the front; ``front`` (K,) holds the arms of the front, as many as there are, and
    ``of_front`` (D, K) their means.
    """  # noqa: D205

    means: np.ndarray
    minus: np.ndarray
    plus: np.ndarray
    front: np.ndarray
    of_front: np.ndarray


@inner
def without(value, values):
    """Take a value out, keeping the order of the others."""
    position = 0
    while values[position] != value:
        position += 1
    for later in range(position, len(values) - 1):
        values[later] = values[later + 1]
    return values[:-1]


@inner
def empirical(n_arms, n_objectives):
    """Return room for the means and gaps of all arms."""
    means, front = np.zeros((n_arms, n_objectives)), np.empty(n_arms, dtype=np.int64)
    return Empirical(means, np.zeros(n_arms), np.zeros(n_arms), front, np.empty((n_objectives, n_arms)))


#: Rows that are named before they are added up; and up to which share of its limit a budget is not looked at
#: before every pull, which is more than rounding adds to any sum of charges.
BLOCK, CERTAIN = 128, 1.0 - 1e-9


@inner
def sample_affordable(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls that the budget allows for certain; the spend.

    A block of rows is named and then added, two objectives at a time: the first loop is vectorised, and in
    the second the sums do not wait for each other.
    """
    rows, offsets, starts, order = draws
    pulls, sums, declared = seen.pulls, seen.sums, terms.declared
    last, named = sums.shape[1] - 1, np.empty(BLOCK, dtype=np.int64)
    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal:
            m = min(BLOCK, goal - n)
            for q in range(m):
                named[q] = first + (order[n + q] if len(order) else draw(start, n + q, size))
            for d in range(0, last + 1, 2):
                e, charge = min(d + 1, last), expected if d == 0 else 0.0
                one, other = sums[arm, d], sums[arm, e]
                for q in range(m):
                    one += rows[named[q], d + 2]
                    other += rows[named[q], e + 2]
                    spent += charge
                sums[arm, d], sums[arm, e] = one, other
            n += m
        pulls[arm] = n
    return spent


@inner
def sample(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls, one after the other; the spend, and whether the budget held."""
    rows, offsets, starts, order = draws
    limit, declared, realised, _, _ = terms
    pulls, sums, arms, charges = seen
    t, needed = 0, spent
    for n in pulls:
        t += n
    for arm in chosen:
        needed += max(0, goal - pulls[arm]) * declared[arm]
    if not realised and t >= len(arms) and needed < limit * CERTAIN:
        return sample_affordable(chosen, goal, draws, terms, seen, spent), True
    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal and spent + expected <= limit:
            row = first + (order[n] if len(order) else draw(start, n, size))
            cost = rows[row, 0] if realised else expected
            if spent + cost > limit:
                break
            spent += cost
            if t < len(arms):
                arms[t] = arm
                charges[t] = cost
            t += 1
            n += 1
            for d in range(sums.shape[1]):
                sums[arm, d] += rows[row, d + 2]
        pulls[arm] = n
        if n < goal:
            return spent, False
    return spent, True


@inner
def sort_by_mean(arms, sums, pulls, means):
    """Fill the means of some arms; these arms in the order of falling first coordinate.

    By insertion: arms that come in the order of the phase before are nearly in order.
    """
    order = arms.copy()
    for last, arm in enumerate(arms):
        for d in range(means.shape[1]):
            means[arm, d] = sums[arm, d] / pulls[arm]
        first, position = means[arm, 0], last
        while position > 0 and means[order[position - 1], 0] < first:
            order[position] = order[position - 1]
            position -= 1
        order[position] = arm
    return order


@inner
def find_front(order, at):
    """Fill the front of some arms and ``minus``; return the front, in the same order.

    The means of the front are read again and again: they stand together, a coordinate after the other.
    """
    means, minus, _, front, of_front = at
    last, p = means.shape[1] - 1, 0
    for arm in order:
        strongest, first_mean, last_mean = 0.0, means[arm, 0], means[arm, last]
        for f in range(p):
            margin = min(of_front[0, f] - first_mean, of_front[last, f] - last_mean)
            for d in range(1, last):
                margin = min(margin, of_front[d, f] - means[arm, d])
            strongest = max(strongest, margin)
        minus[arm] = strongest if strongest > TIE else 0.0
        if strongest <= TIE:
            front[p] = arm
            for d in range(last + 1):
                of_front[d, p] = means[arm, d]
            p += 1
    return front[:p]


@inner
def front_gap(position, order, at, enough=0.0):
    """Delta^+ of the arm of the front that stands there in the order, given ``minus`` of every arm.

    The nearest in the order come first: below ``enough`` it is left at any value below.
    """
    means, minus = at.means, at.minus
    i, last, smallest = order[position], means.shape[1] - 1, np.inf
    first_mean, last_mean = means[i, 0], means[i, last]
    for step in range(1, len(order)):
        for neighbour in (position - step, position + step):
            if neighbour < 0 or neighbour >= len(order):
                continue
            j = order[neighbour]
            ahead, behind = first_mean - means[j, 0], last_mean - means[j, last]
            beats, beaten = max(ahead, behind), max(0.0, max(-ahead, -behind))
            for d in range(1, last):
                beats = max(beats, means[i, d] - means[j, d])
                beaten = max(beaten, means[j, d] - means[i, d])
            smallest = min(smallest, min(beats, beaten + minus[j]))
        if smallest < enough:
            break
    return max(0.0, smallest)
