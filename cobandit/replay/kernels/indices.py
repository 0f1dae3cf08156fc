"""Indices of the online policies."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from cobandit import policies
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.online import online_index


class CoHVUCBParameters(NamedTuple):
    """What the index of CoHV-UCB reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float


@online_index(policies.CoHVUCB, CoHVUCBParameters)
def _cohv_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * radius)
    return hypervolume / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * radius)


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


class HVUCBParameters(NamedTuple):
    """What the index of HV-UCB reads."""

    log_term: float
    reward_scale: float


@online_index(policies.HVUCB, HVUCBParameters)
def _hv_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + p.reward_scale * radius)
    return hypervolume


class AccuracyCostUCBParameters(NamedTuple):
    """What the index of Accuracy-Cost-UCB reads."""

    log_term: float
    reward_scale: float
    cost_scale: float
    cost_ratio: float
    objective: int


@online_index(policies.AccuracyCostUCB, AccuracyCostUCBParameters)
def _accuracy_cost_ucb_index(n, sums, squares, p):
    radius = sqrt(p.log_term / n)
    reward = min(1.0, sums[1 + p.objective] / n + p.reward_scale * radius)
    return reward / max(p.cost_ratio / 2, sums[0] / n - p.cost_scale * radius)


class UniformAllocationParameters(NamedTuple):
    """Uniform allocation reads nothing."""


@online_index(policies.UniformAllocation, UniformAllocationParameters)
def _uniform_index(n, sums, squares, p):
    return -float(n)
