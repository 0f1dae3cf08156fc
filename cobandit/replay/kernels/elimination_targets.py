"""Compiled sampling targets of gap eliminations, as in the policy classes."""

from math import ceil, floor, inf

from cobandit import policies
from cobandit._budget import SLACK
from cobandit.replay.kernels.elimination import elimination_target


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
    # the budget less the amount spent on removed arms
    left = budget - (at.spent - at.reached * at.round_cost)
    # L* of the active arms, summed from the cheapest upwards
    constant = 1.0
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
