"""Indices of the paper's online policies, which share one compiled run, and of one that has its own.

A branch at every pull costs less than can be measured; a run of its own for each policy, a second to compile.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any, NamedTuple

from cobandit import policies
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.online import online_index, select_online
from cobandit.replay.kernels.registry import INDICES, ONLINE, register

PAPER = policies.CoHVUCB, policies.HVUCB, policies.AccuracyCostUCB, policies.UniformAllocation
COHV_UCB, HV_UCB, ACCURACY_COST_UCB, UNIFORM = range(len(PAPER))


class PaperParameters(NamedTuple):
    """What the indices of the paper's policies read: which of them it is, and the numbers of its formula."""

    which: int
    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float
    objective: int


def _index(n, sums, squares, p):
    """CoHV-UCB: optimistic hypervolume over optimistic cost; HV-UCB leaves out the cost, Accuracy-Cost-UCB
    all objectives but one, and uniform allocation everything but the pulls.
    """  # noqa: D205
    if p.which == UNIFORM:
        return -float(n)
    radius = sqrt(p.log_term / n)
    if p.which == ACCURACY_COST_UCB:
        reward = min(1.0, sums[1 + p.objective] / n + p.reward_scale * radius)
    else:
        reward = 1.0
        for d in range(1, len(sums)):
            reward *= min(1.0, sums[d] / n + p.reward_scale * radius)
    if p.which == HV_UCB:
        return reward
    return reward / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * radius)


def _read(which: int, policy: Any) -> PaperParameters:
    objective = policy.objective if which == ACCURACY_COST_UCB else 0
    numbers = policy.log_term, policy.reward_scale, policy.cost_scale, policy.cost_ratio
    return PaperParameters(which, *numbers, objective)


INDICES[PaperParameters] = _index
for _which, _policy in enumerate(PAPER):
    register(ONLINE, _policy, select_online, PaperParameters, partial(_read, _which))


class CoHVUCBVParameters(NamedTuple):
    """What the index of CoHV-UCB-V reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float

    reads_squares = True  # type: ignore[misc]  # of the class, not a field


@inner
def _narrowed(radius, n, total, squares):
    """Radius of a mean, given the sum and the sum of squares behind it."""
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return min(radius, 2.0 * sqrt(variance) * radius + 6.0 * (radius * radius))


@online_index(policies.CoHVUCBV, CoHVUCBVParameters)
def _cohv_ucb_v_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * _narrowed(radius, n, sums[d], squares[d]))
    cost_radius = _narrowed(radius, n, sums[0], squares[0])
    return hypervolume / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * cost_radius)
