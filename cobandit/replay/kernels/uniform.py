"""Uniform identification: complete rounds, then their empirical Pareto set."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.fronts import (
    CERTAIN,
    empirical,
    find_front,
    sample,
    sample_affordable,
    sort_by_mean,
)
from cobandit.replay.kernels.registry import IDENTIFICATION, ONCE, register
from cobandit.replay.kernels.replications import REPLICATIONS, identify


@inner
def _rounds(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend."""
    n_arms, n_objectives = seen.sums.shape
    limit, declared, realised, _, _ = terms
    arms, round_cost = np.arange(n_arms), 0.0
    for arm in arms:
        round_cost += declared[arm]
    spent, n_rounds, whole = 0.0, 0, True
    most = len(draws.order) or np.iinfo(np.int64).max
    if not realised and len(seen.arms) == 0:  # rounds that the budget allows for certain, at once
        n_rounds = min(most, max(0, floor(limit * CERTAIN / round_cost) - 1))
        sample_affordable(arms, n_rounds, draws, terms, seen, spent)
        for _ in range(n_rounds):
            for arm in arms:  # in the order of the pulls, of which the last digits depend
                spent += declared[arm]
    complete = seen.sums.copy()  # sums of the complete rounds
    while whole and n_rounds < most and spent + round_cost <= limit:
        spent, whole = sample(arms, n_rounds + 1, draws, terms, seen, spent)
        if whole:
            n_rounds += 1
            for arm in arms:  # assigning the whole array would take seconds more to compile
                for d in range(n_objectives):
                    complete[arm, d] = seen.sums[arm, d]
    if n_rounds > 0:
        at, rounds = empirical(n_arms, n_objectives), np.full(n_arms, n_rounds)
        for arm in find_front(sort_by_mean(arms, complete, rounds, at.means), at):
            returned[arm] = True
    return spent


class UniformParameters(NamedTuple):
    """Uniform identification reads nothing, on a finite benchmark neither."""


REPLICATIONS[UniformParameters] = _rounds
register(IDENTIFICATION, policies.UniformIdentification, identify, UniformParameters)
register(ONCE, policies.UniformOnce, identify, UniformParameters)
