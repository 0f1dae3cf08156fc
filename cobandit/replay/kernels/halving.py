"""EGE-SH on a finite benchmark: half of the arms leave at the end of each round."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit._check import SLACK
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.fronts import empirical, find_front, front_gap, sample, sort_by_mean
from cobandit.replay.kernels.registry import ONCE, register
from cobandit.replay.kernels.replications import REPLICATIONS, identify


class EGESHOnceParameters(NamedTuple):
    """What sequential halving reads."""

    budget: float
    n_rounds: int
    n_instances: int


@inner
def _halve(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend."""
    n_arms, n_objectives = seen.sums.shape
    declared, at = terms.declared, empirical(n_arms, n_objectives)
    arms, spent, depth = np.arange(n_arms), 0.0, 0
    while len(arms) > 1:
        depth += floor(p.budget / (p.n_rounds * declared[arms].sum()) * (1.0 + SLACK))
        depth = min(p.n_instances, depth)
        spent, complete = sample(arms, depth, draws, terms, seen, spent)
        if not complete:
            arms = arms[seen.pulls[arms] > 0]
        order = sort_by_mean(arms, seen.sums, seen.pulls, at.means)
        front = find_front(order, at)
        if not complete:
            returned[front] = True
            return spent
        gaps, on_front = at.minus[arms], np.zeros(n_arms, dtype=np.bool_)
        on_front[front] = True
        for position, arm in enumerate(order):
            if on_front[arm]:
                at.plus[arm] = front_gap(position, order, at)
        for a, arm in enumerate(arms):
            if on_front[arm]:
                gaps[a] = at.plus[arm]
        leaving = np.zeros(len(arms), dtype=np.bool_)
        for _ in range(len(arms) // 2):  # the largest gap, a dominated arm first, then the lowest number
            best = -1
            for a, arm in enumerate(arms):
                if not leaving[a] and (
                    best < 0
                    or gaps[a] > gaps[best]
                    or (gaps[a] == gaps[best] and on_front[arms[best]] and not on_front[arm])
                ):
                    best = a
            leaving[best] = True
            returned[arms[best]] = on_front[arms[best]]
        arms = arms[~leaving]
    returned[arms] = True
    return spent


REPLICATIONS[EGESHOnceParameters] = _halve
register(ONCE, policies.EGESHOnce, identify, EGESHOnceParameters)
