"""Compiled version of `CoPSIOnce`."""

from math import floor, inf, sqrt

import numpy as np

from cobandit import policies
from cobandit.policies.copsi_once import FIRST_LOOK, STEP
from cobandit.policies.paired_evidence import count_claims
from cobandit.policies.removal_depths import find_depth
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.certain_pairs import (
    add_claims,
    empty_claims,
    find_certain,
    find_leaving,
)
from cobandit.replay.kernels.compiled_runs import compile_run, register
from cobandit.replay.kernels.elimination import without
from cobandit.replay.kernels.empirical_gaps import return_front
from cobandit.replay.kernels.pair_squares import read_scores, sum_shared
from cobandit.replay.kernels.paired_gaps import (
    Look,
    compare_pairs,
    empty_gaps,
    find_largest_gap,
    remove_gap,
)
from cobandit.replay.kernels.sampling import sample

inner(count_claims)
inner(find_depth)


@inner
def _play(p, terms, draws, seen, returned):
    """Run one replication, and fill ``seen`` and ``returned``.

    Returns the cost spent, and False. (Only a run of `ParetoRace` can return True.)
    """
    n_instances, chance, claims_limit, delta = p
    n_arms, n_objectives = seen.sums.shape
    limit = terms.limit
    declared = terms.costs
    certainty = claims_limit < inf
    arms = np.arange(n_arms)
    costs = declared[terms.by_cost[::-1]]
    spent = 0.0
    depth = 0
    # the last comparison of pairs, which are compared only if an arm may leave
    look = Look(0, 0.0)
    gaps = empty_gaps(n_objectives, n_arms)
    # positions of the arms among the arms of the last comparison
    places = np.arange(n_arms)
    evidence = empty_claims(n_arms if certainty else 0, n_objectives)

    while len(arms) > 1 and depth < n_instances:
        step = max(FIRST_LOOK, depth + max(1, floor(STEP * depth)))
        target = find_depth(np.cumsum(costs), depth, n_instances, limit - spent)
        goal = min(step, max(1, target))
        spent, complete = sample(arms, goal, draws, terms, seen, spent)
        if not complete:
            break
        if certainty:
            add_claims(arms, depth, goal, n_instances, claims_limit, draws, evidence)
            dominated, front = find_certain(evidence.above, evidence.spared)
            claims = count_claims(n_arms, n_objectives, dominated.sum(), front.sum())
            claims_limit = min(claims_limit, claims / delta)
        depth = goal
        while len(arms) > 1 and depth < n_instances:
            # position of the removed arm among the active arms
            leaves = -1
            accepted = False
            if certainty:
                leaves, accepted = find_leaving(arms, dominated, front, evidence.spared)
            if leaves < 0:
                target = find_depth(np.cumsum(costs), depth, n_instances, limit - spent)
                if target == n_instances or (certainty and depth < target):
                    break
                if look.n < depth:
                    scores = read_scores(arms, look.n, depth, draws, n_objectives)
                    look = compare_pairs(
                        arms, places, scores, depth, n_instances, seen.sums, gaps
                    )
                    places = np.arange(len(arms))
                place, accepted = find_largest_gap(places, look, gaps)
                gap = gaps.plus[place] if accepted else gaps.minus[place]
                unseen = (1 - depth / target) / (1 - target / n_instances)
                if gap < sqrt(chance * unseen):
                    break
                leaves = np.searchsorted(places, place)
            arm = arms[leaves]
            place = places[leaves]
            returned[arm] = accepted
            arms = without(arm, arms)
            places = without(place, places)
            costs = without(declared[arm], costs)
            if look.n == depth:
                remove_gap(place, places, look, gaps)

    sums, shared = sum_shared(arms, draws, seen.pulls, n_objectives)
    return_front(arms, sums, np.full(n_arms, shared), returned)
    return spent, False


def _read(policy):
    """Return the parameters of a run.

    Without ``confidence``, the limit of the capital of bets is infinite.
    """
    evidence = policy.evidence
    limit = evidence.limit if evidence else inf
    delta = evidence.delta if evidence else 1.0
    return policy.n_instances, policy.chance, limit, delta


register(policies.CoPSIOnce, compile_run(_play), _read)
