"""Compiled empirical fronts and classification gaps of a run.

The arm that dominates another one by the largest margin is on the front. In the order
of falling first coordinate, every dominator comes before the arms that it dominates.
One pass in this order therefore finds the front and the gaps of dominated arms in O(k p
D), for k arms and a front of size p. The gap of an arm of the front is a minimum over
all other arms, which a neighbour in this order usually attains.
"""

from typing import NamedTuple

import numpy as np

from cobandit.dominance import GAP_ATOL, GAP_RTOL, TIE
from cobandit.replay.kernels._cache import inner


class Empirical(NamedTuple):
    """Means and classification gaps of all arms, and the front of the active arms."""

    #: Shape (K, D): empirical means.
    means: np.ndarray
    #: Shape (K,): Delta^- of a dominated arm, and 0 on the front.
    minus: np.ndarray
    #: Shape (K,): Delta^+ of an arm of the front.
    plus: np.ndarray
    #: Shape (K,): the p arms of the front, in the first p entries.
    front: np.ndarray
    #: Shape (D, K): the means of the front, in the first p columns.
    of_front: np.ndarray


@inner
def empirical(n_arms, n_objectives):
    """Return empty arrays for the means and gaps of all arms."""
    return Empirical(
        np.zeros((n_arms, n_objectives)),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.empty(n_arms, dtype=np.int64),
        np.empty((n_objectives, n_arms)),
    )


@inner
def sort_by_mean(arms, sums, pulls, means):
    """Fill the means of the given arms, and sort the arms by falling first mean.

    Insertion sort is fast, because the order of the previous phase is nearly right.
    """
    order = arms.copy()
    for last, arm in enumerate(arms):
        for d in range(means.shape[1]):
            means[arm, d] = sums[arm, d] / pulls[arm]
        first = means[arm, 0]
        position = last
        while position > 0 and means[order[position - 1], 0] < first:
            order[position] = order[position - 1]
            position -= 1
        order[position] = arm
    return order


@inner
def find_front(order, at):
    """Fill ``minus`` and the front of the given arms, and return the front.

    The front is in the order of the arms. Its means are stored contiguously, coordinate
    by coordinate, because they are read many times.
    """
    means, minus, _, front, of_front = at
    # the first and the last coordinate are handled outside the inner loop, which is
    # then empty for two objectives
    last = means.shape[1] - 1
    p = 0
    for arm in order:
        strongest = 0.0
        first_mean = means[arm, 0]
        last_mean = means[arm, last]
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
def return_front(arms, sums, pulls, returned):
    """Mark the empirical front of the given arms, except arms without evaluation."""
    at = empirical(len(pulls), sums.shape[1])
    evaluated = arms[pulls[arms] > 0]
    order = sort_by_mean(evaluated, sums, pulls, at.means)
    for arm in find_front(order, at):
        returned[arm] = True


@inner
def front_gap(position, order, at, enough=0.0):
    """Return Delta^+ of the arm at a position of ``order``, which is on the front.

    All ``minus`` must be filled. Neighbours in the order are visited first. The search
    ends as soon as the gap is below ``enough``.
    """
    means = at.means
    minus = at.minus

    i = order[position]
    last = means.shape[1] - 1
    smallest = np.inf
    first_mean = means[i, 0]
    last_mean = means[i, last]
    for step in range(1, len(order)):
        for neighbour in (position - step, position + step):
            if neighbour < 0 or neighbour >= len(order):
                continue
            j = order[neighbour]
            ahead = first_mean - means[j, 0]
            behind = last_mean - means[j, last]
            beats = max(ahead, behind)
            beaten = max(0.0, max(-ahead, -behind))
            for d in range(1, last):
                beats = max(beats, means[i, d] - means[j, d])
                beaten = max(beaten, means[j, d] - means[i, d])
            smallest = min(smallest, min(beats, beaten + minus[j]))
        if smallest < enough:
            break

    return max(0.0, smallest)


@inner
def find_least(largest):
    """Return the smallest gap that equals the largest gap up to rounding."""
    return largest - (GAP_ATOL + GAP_RTOL * largest)


@inner
def find_clearest(arms, minus, plus):
    """Return the arm with the largest gap, and whether it is on the front.

    Among ties, dominated arms have priority, then the first arm. As in
    `cobandit.dominance.find_clearest`, the gap of a dominated arm is ``minus``, which
    is positive, and the gap of an arm of the front is ``plus``.
    """
    largest = 0.0
    for arm in arms:
        largest = max(largest, minus[arm] if minus[arm] > 0.0 else plus[arm])
    least = find_least(largest)
    accepted = -1
    for arm in arms:
        if minus[arm] > 0.0:
            if minus[arm] >= least:
                return arm, False
        elif accepted < 0 and plus[arm] >= least:
            accepted = arm
    return accepted, True
