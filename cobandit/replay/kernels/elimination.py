"""Gap elimination: one arm leaves at the end of each phase (Algorithm 2); and the targets of its phases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, floor
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cfunc, types
from numba.np.unsafe.ndarray import to_fixed_tuple

from cobandit import policies
from cobandit._check import SLACK
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import is_ours
from cobandit.replay.kernels._cache import inner, kept
from cobandit.replay.kernels.compiling import REPLICATIONS, PhaseState, identify, read_attributes, register
from cobandit.replay.kernels.draws import sample
from cobandit.replay.kernels.fronts import (
    empirical,
    find_clearest,
    find_front,
    find_least,
    front_gap,
    sort_by_mean,
)


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
def without(value, values):
    """Take a value out, keeping the order of the others."""
    position = 0
    while values[position] != value:
        position += 1
    for later in range(position, len(values) - 1):
        values[later] = values[later + 1]
    return values[:-1]


@inner
def _find_removed(left, front, at):
    """e_r, and whether it is accepted.

    The gap of an arm of the front is looked for only as far as it may still be the largest.
    """
    largest = 0.0
    for arm in left.arms:
        largest = max(largest, at.minus[arm])
    position = 0
    for arm in front:
        while left.order[position] != arm:
            position += 1
        at.plus[arm] = front_gap(position, left.order, at, find_least(largest))
        largest = max(largest, at.plus[arm])
    return find_clearest(left.arms, at.minus, at.plus)


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
        arm, accepted = _find_removed(left, front, at)
        moved = accepted
        returned[arm] = accepted
        costs = without(declared[arm], left.costs)
        left = Active(without(arm, left.arms), without(arm, left.order), costs)
    returned[left.arms[0]] = True
    return spent


REPLICATIONS[Rule] = _eliminate


def elimination_target(policy: type[AskTell], parameters: Any) -> Callable[[Any], Any]:
    """Register ``target(at, p)`` of a gap elimination; ``at`` is its `PhaseState`, and p holds numbers."""

    def made(formula: Callable[..., Any]) -> Callable[..., Any]:
        def read(of: AskTell) -> Rule:
            p = read_attributes(parameters, of)
            if not all(np.isscalar(number) for number in p):
                raise CobanditError(f"{parameters.__name__}: a target reads numbers, got {p}")
            return Rule(_by_address(formula, parameters), np.array(p, dtype=np.float64))

        inner(formula)
        register(policy, identify, parameters, read)
        return formula

    return made


# ----------------------------------------------------------------------------- targets


class CoPSIParameters(NamedTuple):
    """What the target of CoPSI reads."""

    budget: float
    allocation_constant: float


class CoPSIExactParameters(NamedTuple):
    """What the target of CoPSI with the exact constant reads: the same formula, another constant."""

    budget: float
    allocation_constant: float


@elimination_target(policies.CoPSIExact, CoPSIExactParameters)
@elimination_target(policies.CoPSI, CoPSIParameters)
def _copsi_target(at, p):
    return floor(p.budget / (p.allocation_constant * at.round_cost) * (1.0 + SLACK))


class CoPSIPrintedOnceParameters(NamedTuple):
    """What the target of CoPSI as printed reads on a finite benchmark."""

    budget: float
    allocation_constant: float
    n_instances: int


@elimination_target(policies.CoPSIPrintedOnce, CoPSIPrintedOnceParameters)
def _copsi_once_target(at, p):
    target = floor(p.budget / (p.allocation_constant * at.round_cost) * (1.0 + SLACK))
    return min(p.n_instances, target)


class CoPSIAdaptiveParameters(NamedTuple):
    """What the target of CoPSI with the adaptive constant reads."""

    budget: float


@elimination_target(policies.CoPSIAdaptive, CoPSIAdaptiveParameters)
def _copsi_adaptive_target(at, p):
    budget = p.budget - (at.spent - at.reached * at.round_cost)  # less what the arms that left were charged
    constant = 1.0  # L* of those that are left, from the cheapest upwards
    left = at.costs[0] + at.costs[1]
    for cost in at.costs[2:]:
        left += cost
        constant += cost / left
    return floor(budget / (constant * at.round_cost) * (1.0 + SLACK))


class PSISRParameters(NamedTuple):
    """What the target of PSI-SR reads."""

    n_arms: int
    n_rounds: int
    log_bar: float


@elimination_target(policies.PSISR, PSISRParameters)
def _psi_sr_target(at, p):
    return ceil((p.n_rounds - p.n_arms) / (p.log_bar * (p.n_arms + 1 - at.phase)) * (1.0 - SLACK))


class PSISROnceParameters(NamedTuple):
    """What the target of PSI-SR reads on a finite benchmark."""

    n_arms: int
    n_rounds: int
    log_bar: float
    n_instances: int


@elimination_target(policies.PSISROnce, PSISROnceParameters)
def _psi_sr_once_target(at, p):
    return min(p.n_instances, _psi_sr_target(at, p))
