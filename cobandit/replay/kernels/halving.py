"""Compiled version of `EGESHOnce`, sequential halving by gaps."""

from math import floor

import numpy as np

from cobandit import policies
from cobandit._budget import SLACK
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiled_runs import compile_run, register
from cobandit.replay.kernels.empirical_gaps import (
    empirical,
    find_clearest,
    find_front,
    front_gap,
    return_front,
    sort_by_mean,
)
from cobandit.replay.kernels.sampling import sample


@inner
def _halve(p, terms, draws, seen, returned):
    """Run one replication, and fill ``seen`` and ``returned``.

    Returns the cost spent, and False. (Only a run of `ParetoRace` can return True.)
    """
    budget, n_rounds, n_instances = p
    n_arms, n_objectives = seen.sums.shape

    declared = terms.costs
    at = empirical(n_arms, n_objectives)
    arms = np.arange(n_arms)
    spent = 0.0
    depth = 0
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
