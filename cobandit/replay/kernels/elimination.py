"""Compiled version of `GapElimination`, which removes an arm in each phase."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from cobandit.policies.asktell import AskTell
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiled_runs import compile_run
from cobandit.replay.kernels.empirical_gaps import (
    empirical,
    find_clearest,
    find_front,
    find_least,
    front_gap,
    return_front,
    sort_by_mean,
)
from cobandit.replay.kernels.formulas import register_formula
from cobandit.replay.kernels.sampling import sample


class PhaseState(NamedTuple):
    """State of a gap elimination at the beginning of a phase."""

    #: Number of the phase, from 1.
    phase: int
    #: Shape (k,): declared costs of the active arms, ascending.
    costs: np.ndarray
    #: Sum of the costs of the active arms.
    round_cost: float
    #: Number of pulls of each active arm.
    reached: int
    #: Cost spent so far.
    spent: float


@inner
def without(value, values):
    """Return an array without one of its values; the array is changed in place."""
    position = 0
    while values[position] != value:
        position += 1
    for later in range(position, len(values) - 1):
        values[later] = values[later + 1]
    return values[:-1]


@inner
def _find_removed(arms, order, front, at):
    """Return the arm that a phase removes, and whether it is accepted.

    The search for the classification gap of an arm ends as soon as this gap cannot be
    the largest.
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
    """Run one replication, and fill ``seen`` and ``returned``.

    Returns the cost spent, and False. (Only a run of `ParetoRace` can return True.)
    """
    n_arms, n_objectives = seen.sums.shape
    at = empirical(n_arms, n_objectives)
    declared = terms.costs
    # active arms in three orders: by number, by first mean (falling), by cost
    arms = np.arange(n_arms)
    order = np.arange(n_arms)
    costs = declared[terms.by_cost[::-1]]
    front = at.front
    has_changed = True
    spent = 0.0
    reached = 0

    for phase in range(1, n_arms):
        round_cost = 0.0
        for arm in arms:
            round_cost += declared[arm]
        state = PhaseState(phase, costs, round_cost, reached, spent)
        goal = int(p.call(state, p.numbers))

        # without new pulls, means and their order have not changed
        if goal > reached:
            spent, complete = sample(arms, goal, draws, terms, seen, spent)
            if not complete:
                return_front(arms, seen.sums, seen.pulls, returned)
                return spent, False
            reached = goal
            order = sort_by_mean(order, seen.sums, seen.pulls, at.means)
            has_changed = True

        # a removed dominated arm was not on the front, which therefore stays the same,
        # and so do the margins of arms below it
        if has_changed:
            front = find_front(order, at)
        arm, accepted = _find_removed(arms, order, front, at)
        has_changed = accepted
        returned[arm] = accepted
        costs = without(declared[arm], costs)
        arms = without(arm, arms)
        order = without(arm, order)

    returned[arms[0]] = True
    return spent, False


_run_elimination = compile_run(_eliminate)
STATE = numba.typeof(PhaseState(1, np.empty(0), 0.0, 0, 0.0))


def _pass_numbers(formula, n_numbers):
    def target(at, numbers):
        return formula(at, *numbers[:n_numbers])

    return target


def elimination_target(policy: type[AskTell]) -> Callable[[Any], Any]:
    """Return a decorator that registers ``target(at, ...)`` for a gap elimination.

    ``at`` is the `PhaseState`. Further arguments have the names of attributes of the
    policy, and get the values of these attributes.
    """
    return register_formula(policy, _run_elimination, _pass_numbers, (STATE,), 1)
