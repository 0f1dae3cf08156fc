"""Compiled version of `UniformIdentification`: rounds of one pull of each arm."""

from math import floor

import numpy as np

from cobandit import policies
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiled_runs import compile_run, register
from cobandit.replay.kernels.empirical_gaps import return_front
from cobandit.replay.kernels.sampling import CERTAIN, sample, sample_affordable


@inner
def _rounds(p, terms, draws, seen, returned):
    """Run one replication, and fill ``seen`` and ``returned``.

    Returns the cost spent, and False. (Only a run of `ParetoRace` can return True.)
    """
    limit = terms.limit
    declared = terms.costs
    n_arms = len(declared)
    round_cost = 0.0
    for cost in declared:
        round_cost += cost
    arms = np.arange(n_arms)
    spent = 0.0
    n_rounds = 0
    whole = True
    most = len(draws.order) or np.iinfo(np.int64).max

    # make all rounds that surely fit into the budget at once
    if not terms.realised and len(seen.arms) == 0:
        n_rounds = min(most, max(0, floor(limit * CERTAIN / round_cost) - 1))
        sample_affordable(arms, n_rounds, draws, terms, seen, spent)
        for _ in range(n_rounds):
            # add charges in the order of pulls, so that rounding agrees with the class
            for cost in declared:
                spent += cost

    # sums of the complete rounds
    complete = seen.sums.copy()
    while whole and n_rounds < most and spent + round_cost <= limit:
        spent, whole = sample(arms, n_rounds + 1, draws, terms, seen, spent)
        if whole:
            n_rounds += 1
            complete = seen.sums.copy()

    return_front(arms, complete, np.full(n_arms, n_rounds), returned)
    return spent, False


_run_rounds = compile_run(_rounds)
register(policies.UniformIdentification, _run_rounds, lambda policy: ())
register(policies.UniformOnce, _run_rounds, lambda policy: ())
