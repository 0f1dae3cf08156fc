"""Compiled indices of online methods, as in the policy classes."""

from math import log, pi, sqrt

from cobandit import policies
from cobandit.policies.cohv_ucb import find_largest_efficiency
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.selection import online_index
from cobandit.theory.divergence import cheapest


@online_index(policies.HVUCB)
def _hv_ucb_index(n, sums, squares, log_term, reward_scale):
    radius, hypervolume = sqrt(log_term / n), 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(1.0, sums[d] / n + reward_scale * radius)
    return hypervolume


@online_index(policies.CoHVUCB)
def _cohv_ucb_index(n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio):
    cost = max(cost_ratio / 2, sums[0] / n - cost_scale * sqrt(log_term / n))
    return _hv_ucb_index(n, sums, squares, log_term, reward_scale) / cost


@online_index(policies.AccuracyCostUCB)
def _accuracy_cost_ucb_index(
    n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio, objective
):
    radius = sqrt(log_term / n)
    reward = min(1.0, sums[1 + int(objective)] / n + reward_scale * radius)
    return reward / max(cost_ratio / 2, sums[0] / n - cost_scale * radius)


@online_index(policies.UniformAllocation)
def _uniform_allocation_index(n, sums, squares):
    return -float(n)


@inner
def _narrowed(radius, n, total, squares):
    """Return the radius of CoHV-UCB-V, given a sum and a sum of squares."""
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return min(radius, 2.0 * sqrt(variance) * radius + 6.0 * (radius * radius))


@online_index(policies.CoHVUCBV, squares=True)
def _cohv_ucb_v_index(n, sums, squares, log_term, reward_scale, cost_scale, cost_ratio):
    radius = sqrt(log_term / n)
    hypervolume = 1.0
    for d in range(1, len(sums)):
        hypervolume *= min(
            1.0, sums[d] / n + reward_scale * _narrowed(radius, n, sums[d], squares[d])
        )
    cost_radius = _narrowed(radius, n, sums[0], squares[0])
    return hypervolume / max(cost_ratio / 2, sums[0] / n - cost_scale * cost_radius)


inner(cheapest)
inner(find_largest_efficiency)


@online_index(policies.CoHVKLUCB)
def _cohv_kl_ucb_index(n, sums, squares, log_term, cost_ratio):
    span = 1 - cost_ratio
    q = min(1.0, max(0.0, (sums[0] / n - cost_ratio) / span)) if span > 0 else 0.0
    allowed = (log_term + len(sums) / 2 * log(pi * (n + 0.5))) / n
    return find_largest_efficiency(sums[1:] / n, q, allowed, cost_ratio)
