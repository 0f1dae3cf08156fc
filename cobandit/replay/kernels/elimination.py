"""Phases that end with a look at the means: gap elimination, uniform rounds, sequential halving.

An arm that is dominated is dominated by one of the front, with a margin at least as
large, and every dominator comes earlier in the order of falling first coordinate; so
one pass over that order finds the front and the gaps of the dominated arms in O(k p D),
p being the size of the front.  The gap of an arm of the front is a least one over all
others, which is mostly found small at the first.
"""

from collections.abc import Callable
from math import ceil, floor, inf
from typing import Any, NamedTuple

import numba
import numpy as np

from cobandit import policies
from cobandit._budget import SLACK
from cobandit.dominance import GAP_ATOL, GAP_RTOL, TIE
from cobandit.policies.asktell import AskTell
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiling import (
    CERTAIN,
    PhaseState,
    compile_run,
    register,
    register_formula,
    sample,
    sample_affordable,
)


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
def empirical(n_arms, n_objectives):
    """Return room for the means and gaps of all arms."""
    means, front = np.zeros((n_arms, n_objectives)), np.empty(n_arms, dtype=np.int64)
    return Empirical(
        means,
        np.zeros(n_arms),
        np.zeros(n_arms),
        front,
        np.empty((n_objectives, n_arms)),
    )


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

    The means of the front are read again and again: they stand together, a coordinate
    after the other.
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
def return_front(arms, sums, pulls, returned):
    """Return the empirical front of those of some arms that were ever evaluated."""
    at, arms = empirical(len(pulls), sums.shape[1]), arms[pulls[arms] > 0]
    for arm in find_front(sort_by_mean(arms, sums, pulls, at.means), at):
        returned[arm] = True


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


@inner
def find_least(largest):
    """From which gap on an arm counts as one of those with the largest."""
    return largest - (GAP_ATOL + GAP_RTOL * largest)


@inner
def find_clearest(arms, minus, plus):
    """Arm with the largest gap, and whether it is on the front: a dominated one first, then the first.

    As `cobandit.dominance.find_clearest`; the gap of an arm is ``minus`` where that is
    positive, and ``plus`` on the front.
    """
    largest = 0.0
    for arm in arms:
        largest = max(largest, minus[arm] if minus[arm] > 0.0 else plus[arm])
    least, accepted = find_least(largest), -1
    for arm in arms:
        if minus[arm] > 0.0:
            if minus[arm] >= least:
                return arm, False
        elif accepted < 0 and plus[arm] >= least:
            accepted = arm
    return accepted, True


# ----------------------------------------------------------------------------- uniform identification


@inner
def _rounds(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and False."""
    limit, declared = terms.limit, terms.costs
    n_arms, round_cost = len(declared), 0.0
    for cost in declared:
        round_cost += cost
    arms = np.arange(n_arms)
    spent, n_rounds, whole = 0.0, 0, True
    most = len(draws.order) or np.iinfo(np.int64).max

    # rounds that the budget allows for certain, at once
    if not terms.realised and len(seen.arms) == 0:
        n_rounds = min(most, max(0, floor(limit * CERTAIN / round_cost) - 1))
        sample_affordable(arms, n_rounds, draws, terms, seen, spent)
        for _ in range(n_rounds):
            # in the order of the pulls, of which the last digits depend
            for cost in declared:
                spent += cost

    complete = seen.sums.copy()  # sums of the complete rounds
    while whole and n_rounds < most and spent + round_cost <= limit:
        spent, whole = sample(arms, n_rounds + 1, draws, terms, seen, spent)
        if whole:
            n_rounds += 1
            complete = seen.sums.copy()

    return_front(arms, complete, np.full(n_arms, n_rounds), returned)
    return spent, False


_run_rounds = compile_run(_rounds)
register(policies.UniformIdentification, _run_rounds, lambda policy: ())
register(policies.UniformOnce, _run_rounds, lambda policy: ())


# ----------------------------------------------------------------------------- sequential halving


@inner
def _halve(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and False."""
    budget, n_rounds, n_instances = p
    n_arms, n_objectives = seen.sums.shape

    declared, at = terms.costs, empirical(n_arms, n_objectives)
    arms, spent, depth = np.arange(n_arms), 0.0, 0
    while len(arms) > 1:
        depth += floor(budget / (n_rounds * declared[arms].sum()) * (1.0 + SLACK))
        depth = min(n_instances, depth)
        spent, complete = sample(arms, depth, draws, terms, seen, spent)
        if not complete:
            return_front(arms, seen.sums, seen.pulls, returned)
            return spent, False
        order = sort_by_mean(arms, seen.sums, seen.pulls, at.means)
        find_front(order, at)
        stay = arms
        for position, arm in enumerate(order):
            if at.minus[arm] == 0.0:
                at.plus[arm] = front_gap(position, order, at)
        for _ in range(len(arms) // 2):
            arm, accepted = find_clearest(stay, at.minus, at.plus)
            returned[arm] = accepted
            stay = stay[stay != arm]
        arms = stay

    returned[arms] = True
    return spent, False


register(
    policies.EGESHOnce,
    compile_run(_halve),
    lambda policy: (policy.budget, policy.n_rounds, policy.n_instances),
)


# ----------------------------------------------------------------------------- gap elimination


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
def _find_removed(arms, order, front, at):
    """e_r, and whether it is accepted.

    The gap of an arm of the front is looked for only as far as it may still be the
    largest.
    """
    largest = 0.0
    for arm in arms:
        largest = max(largest, at.minus[arm])
    position = 0
    for arm in front:
        while order[position] != arm:
            position += 1
        at.plus[arm] = front_gap(position, order, at, find_least(largest))
        largest = max(largest, at.plus[arm])
    return find_clearest(arms, at.minus, at.plus)


@inner
def _eliminate(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and False."""
    n_arms, n_objectives = seen.sums.shape
    at, declared = empirical(n_arms, n_objectives), terms.costs
    # of those that are left: ascending, by falling first mean, and their costs,
    # ascending
    arms, order, costs = (
        np.arange(n_arms),
        np.arange(n_arms),
        declared[terms.by_cost[::-1]],
    )
    spent, reached, front, moved = 0.0, 0, at.front, True

    for phase in range(1, n_arms):
        round_cost = 0.0
        for arm in arms:
            round_cost += declared[arm]
        goal = int(
            p.call(PhaseState(phase, costs, round_cost, reached, spent), p.numbers)
        )
        if goal > reached:  # otherwise the means, and so their order, are as they were
            spent, complete = sample(arms, goal, draws, terms, seen, spent)
            if not complete:  # the empirical Pareto set of the active arms
                return_front(arms, seen.sums, seen.pulls, returned)
                return spent, False
            reached = goal
            order, moved = sort_by_mean(order, seen.sums, seen.pulls, at.means), True

        # else nobody is dominated by the arm that left, and the front and its margins
        # are the same
        if moved:
            front = find_front(order, at)
        arm, accepted = _find_removed(arms, order, front, at)
        moved = accepted
        returned[arm] = accepted
        costs = without(declared[arm], costs)
        arms, order = without(arm, arms), without(arm, order)
    returned[arms[0]] = True
    return spent, False


_run_elimination = compile_run(_eliminate)
STATE = numba.typeof(PhaseState(1, np.empty(0), 0.0, 0, 0.0))


def _take(formula, size):
    def target(at, numbers):
        return formula(at, *numbers[:size])

    return target


def elimination_target(policy: type[AskTell]) -> Callable[[Any], Any]:
    """Register ``target(at, ...)`` of a gap elimination: its `PhaseState`, and attributes of the class."""
    return register_formula(policy, _run_elimination, _take, (STATE,))


# ----------------------------------------------------------------------------- targets


@elimination_target(policies.CoPSIPrintedOnce)
@elimination_target(policies.CoPSIExact)
@elimination_target(policies.CoPSI)
def _copsi_target(at, budget, allocation_constant, n_instances=inf):
    return min(
        n_instances,
        floor(budget / (allocation_constant * at.round_cost) * (1.0 + SLACK)),
    )


@elimination_target(policies.CoPSIAdaptive)
def _copsi_adaptive_target(at, budget):
    # less what the arms that left were charged
    left = budget - (at.spent - at.reached * at.round_cost)
    constant = 1.0  # L* of those that are left, from the cheapest upwards
    cost = at.costs[0] + at.costs[1]
    for dearer in at.costs[2:]:
        cost += dearer
        constant += dearer / cost
    return floor(left / (constant * at.round_cost) * (1.0 + SLACK))


@elimination_target(policies.PSISROnce)
@elimination_target(policies.PSISR)
def _psi_sr_target(at, n_arms, n_rounds, log_bar, n_instances=inf):
    target = ceil(
        (n_rounds - n_arms) / (log_bar * (n_arms + 1 - at.phase)) * (1.0 - SLACK)
    )
    return min(n_instances, target)
