"""Compiled version of `ParetoRace`."""

from math import floor, sqrt

import numpy as np

from cobandit import policies
from cobandit.policies.look_depths import FIRST_LOOK, STEP, list_looks
from cobandit.policies.tolerance_evidence import next_certified_look
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.certified_racing import (
    add_evidence,
    empty_evidence,
    read_evidence,
    release_purses,
)
from cobandit.replay.kernels.compiled_runs import compile_run, register
from cobandit.replay.kernels.pair_squares import (
    add_squares,
    empty_squares,
    read_scores,
    sum_shared,
)
from cobandit.replay.kernels.race_calls import (
    COVERED,
    DOMINATED,
    OPEN,
    UNKNOWN,
    Costs,
    Look,
    Widths,
    beats,
    call,
    call_covers,
    count_outdone,
    count_ties,
    find_widths,
)
from cobandit.replay.kernels.sampling import sample

inner(next_certified_look)


@inner
def _leave(a, bit, arms, calls, stays, covers, n_covers):
    """Remove the arm at position a if a remaining arm dominates (or covers) it.

    ``bit`` is `DOMINATED` or `COVERED`. A covered arm is not removed if it is the only
    cover of a removed arm.
    """
    above = stays & (calls[a, : len(arms)] & bit > 0)
    if not above.any():
        return

    covered = np.flatnonzero(covers[:, arms[a]])
    if bit == COVERED and (n_covers[covered] < 2).any():
        return

    stays[a] = False
    for x in covered:
        covers[x, arms[a]] = False
        if bit == DOMINATED:
            covers[x][arms[above]] = True
        n_covers[x] = covers[x].sum()

    if bit == COVERED:
        covers[arms[a]][arms[above]] = True
        n_covers[arms[a]] = above.sum()


@inner
def _may_dominate(b, a, look, widths, calls):
    """Return whether arm b may dominate arm a by more than the tolerance."""
    if calls[a, b] == UNKNOWN:
        calls[a, b] = call(a, b, look, widths)
    return calls[a, b] & OPEN > 0


@inner
def _conclude(arms, look, widths, calls, removable, covers, n_covers, returned):
    """Remove or return arms like `Standing.conclude`; return the active positions.

    ``removable`` (k,) is a mask of the arms that another arm may dominate or cover.
    ``n_covers`` (K,) is the number of covers of each arm in ``covers`` (K, K).
    """
    stays = np.ones(len(arms), dtype=np.bool_)
    for a in look.strongest[::-1]:
        if removable[a]:
            _leave(a, DOMINATED, arms, calls, stays, covers, n_covers)
    for a in np.argsort(-look.costs.means, kind="mergesort"):
        if removable[a] and stays[a]:
            _leave(a, COVERED, arms, calls, stays, covers, n_covers)

    # an arm is fine if no other arm may dominate it
    fine = stays.copy()
    for a in np.flatnonzero(stays):
        for b in look.strongest:
            if stays[b] and _may_dominate(b, a, look, widths, calls):
                fine[a] = False
                break
    # a fine arm stays active while it may dominate an arm that is not fine
    active = stays & ~fine
    contested = np.flatnonzero(active)
    for b in np.flatnonzero(fine):
        for a in contested:
            if _may_dominate(b, a, look, widths, calls):
                active[b] = True
                break

    returned[arms[stays & ~active]] = True
    return np.flatnonzero(active)


@inner
def _end(arms, means, costs, returned):
    """Mark the front of the given arms in the standard order.

    Costs (k,) are relative to the largest cost, or empty if they are not compared.
    """
    for a, i in enumerate(arms):
        dominated = False
        for b, j in enumerate(arms):
            low = np.inf
            high = -np.inf
            for d in range(means.shape[1]):
                low = min(low, means[j, d] - means[i, d])
                high = max(high, means[j, d] - means[i, d])
            if len(costs):
                low = min(low, costs[a] - costs[b])
                high = max(high, costs[a] - costs[b])
            dominated = dominated or beats(low, high)
        returned[i] = not dominated


@inner
def _read_costs(arms, first, last, draws, terms, declared):
    """Return the costs of arms on instances ``first`` to ``last``, (1, q, k)."""
    rows, offsets, _, order = draws
    costs = np.empty((1, last - first, len(arms)))
    for q in range(first, last):
        for a, arm in enumerate(arms):
            if declared:
                costs[0, q - first, a] = terms.costs[arm]
            else:
                costs[0, q - first, a] = rows[offsets[arm] + order[q], 0]
    return costs


@inner
def _play(p, terms, draws, seen, returned):
    """Run one replication, and fill ``seen`` and ``returned`` (K,).

    Returns the cost spent, and whether all arms are settled.
    """
    n_instances, tolerances, looks, thresholds, ranks, of_evidence, of_cost = p
    limit, affordable = of_evidence
    compared, share, amount = of_cost
    n_arms, n_objectives = seen.sums.shape
    certified = limit > 0.0
    compares_declared = certified or not terms.realised
    arms = np.arange(n_arms)
    spent = 0.0
    depth = 0
    # positions of the arms at the last call of `add_squares`
    places = np.arange(n_arms)
    # one block per objective, and the last one for the cost
    squares = empty_squares(n_objectives + compared, n_arms)
    cost_sums, cost_squares = np.zeros((2, n_arms))
    covers = np.zeros((n_arms, n_arms), dtype=np.bool_)
    n_covers = np.zeros(n_arms, dtype=np.int64)
    calls = np.empty((n_arms, n_arms), dtype=np.uint8)
    outdone = np.zeros(n_arms, dtype=np.int64)
    evidence = empty_evidence(n_arms if certified else 0, n_objectives, affordable)
    while len(arms) > 0:
        goal = min(n_instances, max(FIRST_LOOK, depth + max(1, floor(STEP * depth))))
        if certified:
            goal = next_certified_look(depth, n_instances)
        next_depth = depth
        needed = 0.0
        per_round = terms.costs[arms].sum()
        while next_depth < goal and needed + per_round <= terms.limit - spent:
            needed += per_round
            next_depth += 1
        complete = next_depth > depth
        if complete:
            spent, complete = sample(arms, next_depth, draws, terms, seen, spent)
        if not complete:
            break

        scores = read_scores(arms, depth, next_depth, draws, n_objectives)
        if certified:
            add_evidence(
                arms, scores, depth, (n_instances, tolerances), limit, evidence
            )
        if compared:
            charged = _read_costs(
                arms, depth, next_depth, draws, terms, compares_declared
            )
            for a, arm in enumerate(arms):
                for cost in charged[0, :, a]:
                    cost_sums[arm] += cost
                    cost_squares[arm] += cost * cost
            scores = np.concatenate((scores, charged))
        if not certified or compared:
            for a in range(len(arms)):
                add_squares(a, places, scores, squares)
        places = np.arange(len(arms))
        depth = next_depth
        if not certified and depth < min(FIRST_LOOK, n_instances):
            continue

        # loops compile faster than an assignment of a slice, or a sum along an axis
        values = np.empty((n_objectives + compared, len(arms)))
        mean_costs = cost_sums[arms] / depth if compared else terms.costs[arms]
        for a, arm in enumerate(arms):
            for d in range(n_objectives):
                values[d, a] = seen.sums[arm, d] / depth
            if compared:
                values[-1, a] = -mean_costs[a]
        scatter = np.maximum(cost_squares[arms] - depth * mean_costs**2, 0.0)
        costs = Costs(compared, mean_costs, scatter, share, amount)
        strength = np.zeros(len(arms))
        for d in range(n_objectives):
            strength += values[d]
        if compared:
            strength -= mean_costs / mean_costs.max()
        is_last = depth == n_instances
        if certified and not is_last:
            # Strengths only order the removal of dominated arms, and in a certified
            # race no arm counts as dominated.
            strength[:] = 0.0
        strongest = np.argsort(strength, kind="mergesort")[::-1]
        scale = sqrt((1 - depth / n_instances) / (depth * depth))
        look = Look(values, costs, squares, strongest, tolerances, depth, scale)
        # at the last look, half-widths are zero, and missing squares do not matter
        threshold = 0.0
        if certified and not is_last:
            read_evidence(arms, evidence, calls, COVERED, OPEN)
            widths = Widths(0.0, 0.0)
            removable = np.ones(len(arms), dtype=np.bool_)
        else:
            if not is_last:
                row = min(np.searchsorted(looks, depth), len(thresholds) - 1)
                ties = count_ties(look, outdone[arms], ranks[arms])
                threshold = thresholds[row, ties - 1]
            widths = find_widths(threshold, depth, n_instances)
            removable = call_covers(look, widths, calls)
        active = _conclude(
            arms, look, widths, calls, removable, covers, n_covers, returned
        )
        if not certified and not is_last:
            left = ~returned[arms]
            left[active] = False
            covered = count_outdone(look, calls, left)
            for a, arm in enumerate(arms):
                outdone[arm] += covered[a]
        arms = arms[active]
        places = places[active]
        if certified:
            release_purses(arms, evidence)

    if len(arms) > 0:
        sums, shared = sum_shared(arms, draws, seen.pulls, n_objectives)
        if shared > 0:
            costs_shared = np.empty(0)
            if compared:
                charged = _read_costs(arms, 0, shared, draws, terms, compares_declared)
                costs_shared = np.zeros(len(arms))
                for q in range(shared):
                    costs_shared += charged[0, q]
                costs_shared /= costs_shared.max()
            _end(arms, sums / shared, costs_shared, returned)

    return spent, len(arms) == 0


def _read(policy):
    """Return the parameters of a run.

    The capital limit of bets is 0 if the race is not certified.
    """
    evidence = 0.0, np.empty((0, 0), dtype=np.bool_)
    if policy.evidence:
        evidence = policy.evidence.limit, policy.evidence.affordable
    of_cost = policy.compares_cost, policy.cost_margin.share, policy.cost_margin.amount
    looks = list_looks(policy.n_instances)
    return (
        policy.n_instances,
        policy.tolerances,
        looks,
        policy.thresholds,
        policy.ranks,
        evidence,
        of_cost,
    )


register(policies.ParetoRace, compile_run(_play), _read)
