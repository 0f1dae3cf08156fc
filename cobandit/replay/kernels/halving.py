"""EGE-SH on a finite benchmark: half of the arms leave at the end of each round."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np
from numba import njit

from cobandit import policies
from cobandit._check import SLACK
from cobandit.replay.kernels._cache import compiled
from cobandit.replay.kernels.fronts import (
    Tally,
    draws_of,
    empirical,
    find_front,
    front_gap,
    sample,
    sort_by_mean,
)
from cobandit.replay.kernels.registry import ONCE, register


class EGESHOnceParameters(NamedTuple):
    """What sequential halving reads."""

    budget: float
    n_rounds: int
    n_instances: int


@njit
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
        for a, arm in enumerate(arms):
            if on_front[arm]:
                gaps[a] = front_gap(arm, order, at)
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


@compiled
def halve(p, terms, feedback, seed, replications, record):
    """Play replications of sequential halving: pulls (R, K), spend (R,) and returned sets (R, K)."""
    n_arms, n_objectives = len(terms.declared), feedback.rows.shape[1] - 2
    pulls = np.zeros((len(replications), n_arms), dtype=np.int64)
    returned = np.zeros((len(replications), n_arms), dtype=np.bool_)
    spent = np.empty(len(replications))
    for r in range(len(replications)):
        draws = draws_of(feedback, seed, replications[r])
        seen = Tally(pulls[r], np.zeros((n_arms, n_objectives)), record.arms[r], record.charges[r])
        spent[r] = _halve(p, terms, draws, seen, returned[r])
    return pulls, spent, returned


register(ONCE, policies.EGESHOnce, halve, EGESHOnceParameters)
