"""Gap elimination: one arm leaves at the end of each phase (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cfunc, types
from numba.np.unsafe.ndarray import to_fixed_tuple

from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.elimination import GAP_ATOL, GAP_RTOL
from cobandit.replay.kernels._cache import inner, kept
from cobandit.replay.kernels.fronts import (
    empirical,
    find_front,
    front_gap,
    sample,
    sort_by_mean,
    without,
)
from cobandit.replay.kernels.registry import (
    IDENTIFICATION,
    Kernel,
    PhaseState,
    attributes,
    is_ours,
    register,
)
from cobandit.replay.kernels.replications import REPLICATIONS, identify


class Rule(NamedTuple):
    """How targets are set: a function of `PhaseState` and numbers, by its address, and the numbers."""

    target: Any
    numbers: np.ndarray


TARGET = types.int64(numba.typeof(PhaseState(1, np.empty(0), 0.0, 0, 0.0)), types.float64[::1])


@cache
def _by_address(formula: Callable[[Any, Any], Any], parameters: Any) -> Any:
    """Compile ``formula(at, p)`` as a function of numbers, the fields of p."""
    size = len(parameters._fields)

    def target(at, numbers):
        return np.int64(formula(at, parameters(*to_fixed_tuple(numbers, size))))

    with kept():
        return cfunc(TARGET, cache=is_ours(parameters), error_model="numpy")(target)


class Active(NamedTuple):
    """The k arms that are left: ``arms`` ascending, ``order`` by falling first mean, ``costs`` ascending."""

    arms: np.ndarray
    order: np.ndarray
    costs: np.ndarray


@inner
def _least(largest):
    """From which gap on an arm counts as one of those with the largest."""
    return largest - (GAP_ATOL + GAP_RTOL * largest)


@inner
def _removed(left, front, at):
    """e_r and whether it is accepted: within the tolerance of the largest gap, a dominated arm first, then
    the lowest number.
    """  # noqa: D205
    arms, order, _ = left
    minus, plus = at.minus, at.plus
    largest = 0.0
    for arm in arms:
        largest = max(largest, minus[arm])
    position = 0
    for arm in front:
        while order[position] != arm:
            position += 1
        plus[arm] = front_gap(position, order, at, _least(largest))
        largest = max(largest, plus[arm])
    least = _least(largest)
    accepted = -1
    for arm in arms:
        if minus[arm] > 0.0 and minus[arm] >= least:
            return arm, False
        if accepted < 0 and minus[arm] <= 0.0 and plus[arm] >= least:
            accepted = arm
    return accepted, True


@inner
def _eliminate(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend."""
    n_arms, n_objectives = seen.sums.shape
    at, declared = empirical(n_arms, n_objectives), terms.declared
    left = Active(np.arange(n_arms), np.arange(n_arms), terms.ascending.copy())
    spent, reached, front, moved = 0.0, 0, at.front, True

    for phase in range(1, n_arms):
        round_cost = 0.0
        for arm in left.arms:
            round_cost += declared[arm]
        goal = p.target(PhaseState(phase, left.costs, round_cost, reached, spent), p.numbers)
        if goal > reached:  # otherwise the means, and so their order, are as they were
            spent, complete = sample(left.arms, goal, draws, terms, seen, spent)
            if not complete:  # the empirical Pareto set of the active arms that were ever evaluated
                evaluated = left.arms[seen.pulls[left.arms] > 0]
                for arm in find_front(sort_by_mean(evaluated, seen.sums, seen.pulls, at.means), at):
                    returned[arm] = True
                return spent
            reached = goal
            order = sort_by_mean(left.order, seen.sums, seen.pulls, at.means)
            left, moved = Active(left.arms, order, left.costs), True

        if moved:  # else nobody is dominated by the arm that left, and the front and its margins are the same
            front = find_front(left.order, at)
        arm, accepted = _removed(left, front, at)
        moved = accepted
        returned[arm] = accepted
        costs = without(declared[arm], left.costs)
        left = Active(without(arm, left.arms), without(arm, left.order), costs)
    returned[left.arms[0]] = True
    return spent


REPLICATIONS[Rule] = _eliminate


def elimination_target(
    policy: type[AskTell], parameters: Any, registry: dict[str, Kernel] = IDENTIFICATION
) -> Callable[[Any], Any]:
    """Register ``target(at, p)`` of a gap elimination; ``at`` is its `PhaseState`, and p holds numbers."""

    def made(formula: Callable[..., Any]) -> Callable[..., Any]:
        def read(of: AskTell) -> Rule:
            p = attributes(parameters, of)
            if not all(np.isscalar(number) for number in p):
                raise CobanditError(f"{parameters.__name__}: a target reads numbers, got {p}")
            return Rule(_by_address(formula, parameters), np.array(p, dtype=np.float64))

        inner(formula)
        register(registry, policy, identify, parameters, read)
        return formula

    return made
