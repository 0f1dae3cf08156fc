"""CoPSI that evaluates every instance at most once: the same run as `cobandit.CoPSIOnce`, compiled.

Pairs are kept once, i < j: the statistic of the other direction is the same with the
other sign.
"""

from math import floor, inf, sqrt
from typing import NamedTuple

import numpy as np

from cobandit import policies
from cobandit.dominance import TIE
from cobandit.policies.copsi_once import FIRST_LOOK, PRIOR_VARIANCE, STEP
from cobandit.policies.paired_evidence import STAKES, count_claims
from cobandit.policies.removal_depths import find_depth
from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.compiled_runs import compile_run, register
from cobandit.replay.kernels.elimination import without
from cobandit.replay.kernels.empirical_gaps import find_clearest, return_front
from cobandit.replay.kernels.sampling import sample


class Gaps(NamedTuple):
    """As `cobandit.policies.copsi_once.find_gaps`, of the k arms that were last compared, by places there.

    Of the D statistics of j over i, ``low[i, j]`` is the least and ``high[i, j]`` the
    largest, for i < j < k of (K, K), so that innermost loops run over neighbours in
    memory.  ``minus`` and ``above`` (K,) are Delta^- and whose margin it is, ``plus``
    and ``nearest`` (K,) Delta^+ of the front and whose term it is. They are kept while
    arms leave: only what the one that left had decided is looked for again.
    """

    low: np.ndarray
    high: np.ndarray
    minus: np.ndarray
    above: np.ndarray
    plus: np.ndarray
    nearest: np.ndarray


class Evidence(NamedTuple):
    """As `cobandit.policies.paired_evidence.PairedEvidence`; of size zero where nothing has to be certain."""

    sums: np.ndarray
    capital: np.ndarray
    above: np.ndarray
    spared: np.ndarray


inner(count_claims)
inner(find_depth)


@inner
def empty_squares(n_objectives, n_arms):
    """Return (D, K, K) that is zero for pairs a < b; the other half is never touched, and takes no memory."""
    squares = np.empty((n_objectives, n_arms, n_arms))
    for d in range(n_objectives):
        for a in range(n_arms):
            squares[d, a, a + 1 :] = 0.0
    return squares


@inner
def read_scores(arms, first, last, draws, n_objectives):
    """Scores of some arms on the instances from ``first`` to ``last``, (D, q, k)."""
    rows, offsets, _, order = draws
    scores = np.empty((n_objectives, last - first, len(arms)))
    for q in range(first, last):
        for a, arm in enumerate(arms):
            row = offsets[arm] + order[q]
            for d in range(n_objectives):
                scores[d, q - first, a] = rows[row, d + 2]
    return scores


@inner
def sum_shared(arms, draws, pulls, n_objectives):
    """Return the sums (K, D) of some arms over the instances that all of them share, and their number."""
    rows, offsets, _, order = draws
    sums, shared = np.zeros((len(pulls), n_objectives)), pulls[arms].min()
    for arm in arms:
        for q in range(shared):
            for d in range(n_objectives):
                sums[arm, d] += rows[offsets[arm] + order[q], d + 2]
    return sums, shared


@inner
def add_squares(a, places, scores, squares):
    """Add the squared differences of scores, for the pairs of the arm at place a with those behind it.

    What is known of pairs of those at ``places`` moves together, where others have
    left: row by row from the first on, so that a row is read from memory once for all
    that is done with it.
    """
    k = len(places)
    for d in range(len(squares)):
        total = squares[d, a, a + 1 : k]
        if places[k - 1] >= k:
            moved, behind = squares[d, places[a]], places[a + 1 :]
            for b in range(len(total)):
                total[b] = moved[behind[b]]
        for q in range(scores.shape[1]):
            own, others = scores[d, q, a], scores[d, q, a + 1 :]
            for b in range(len(total)):
                difference = others[b] - own
                total[b] += difference * difference


@inner
def _add_evidence(arms, first, last, n_instances, limit, draws, evidence):
    """Stake on the instances from ``first`` to ``last``, pair by pair."""
    rows, offsets, _, order = draws
    sums, capital, above, spared = evidence
    for i in arms:
        for j in arms:
            if i == j:
                continue
            for d in range(sums.shape[2]):
                stakes, total = capital[i, j, d], sums[i, j, d]
                for q in range(first, last):
                    left = n_instances - q
                    claimed = -total / left
                    x = (
                        rows[offsets[j] + order[q], d + 2]
                        - rows[offsets[i] + order[q], d + 2]
                    )
                    growth = (x - claimed) / (1 + claimed) if claimed > TIE - 1 else 0.0
                    worth = 0.0
                    for s in range(len(STAKES)):
                        stakes[s] *= 1 + STAKES[s] * growth
                        worth += stakes[s]
                    total += x
                    if total > left - 1 + TIE * n_instances or worth >= limit:
                        above[i, j, d] = True
                sums[i, j, d] = total
                if above[i, j, d]:
                    spared[j, i] = True


@inner
def _find_certain(above, spared):
    """Who is certainly dominated, (K,), and who is certainly on the front, (K,)."""
    dominated, front = np.zeros((2, len(above)), dtype=np.bool_)
    for i in range(len(above)):
        for j in range(len(above)):
            dominated[i] |= above[i, j].all()
    for i in range(len(above)):
        front[i] = not dominated[i] and (spared[i] | dominated).all()
    return dominated, front


@inner
def _find_leaving(arms, dominated, front, spared):
    """Place among the arms of one that is certain and no longer needed, -1 if there is none, and its side.

    The first that is dominated, otherwise the first.
    """
    for a, i in enumerate(arms):
        if dominated[i]:
            return a, False
    for a, i in enumerate(arms):
        if front[i] and (spared[:, i] | dominated)[arms].all():
            return a, True
    return -1, False


@inner
def _compare(arms, places, scores, n, n_instances, sums, squares, gaps):
    """Add the last scores, and fill the weakest statistics of all pairs of arms and the gaps."""
    per_scatter, k = (1 - n / n_instances) / (n * n), len(arms)

    means = np.ascontiguousarray((sums[arms] / n).T)
    gaps.minus[:k], gaps.above[:k] = -inf, 0
    for a in range(k):
        add_squares(a, places, scores, squares)
        low, high = gaps.low[a, a + 1 : k], gaps.high[a, a + 1 : k]
        for b in range(len(low)):
            low[b], high[b] = inf, -inf
        for d in range(len(squares)):
            of, others, own = squares[d, a, a + 1 : k], means[d, a + 1 :], means[d, a]
            for b in range(len(low)):
                difference = others[b] - own
                difference = difference if abs(difference) > TIE else 0.0
                scatter = of[b] - n * (difference * difference)
                scatter = (scatter if scatter > 0.0 else 0.0) + PRIOR_VARIANCE
                statistic = difference / sqrt(scatter * per_scatter)
                low[b] = statistic if statistic < low[b] else low[b]
                high[b] = statistic if statistic > high[b] else high[b]
        # of a over b the statistics are those of b over a with the other sign
        minus, above = gaps.minus[a + 1 : k], gaps.above[a + 1 : k]
        for b in range(len(high)):
            if -high[b] > minus[b]:
                minus[b], above[b] = -high[b], a
            if low[b] > gaps.minus[a]:
                gaps.minus[a], gaps.above[a] = low[b], a + 1 + b

    for a in range(k):
        _find_plus(a, k, gaps)


@inner
def _find_weakest(a, b, gaps):
    """m(a, b), the least of the statistics of b over a."""
    return gaps.low[a, b] if a < b else -gaps.high[b, a]


@inner
def _find_minus(a, k, gaps):
    """Fill Delta^- of an arm: the margin of the strongest of those above it."""
    largest, above = -inf, 0
    for b in range(k):
        # else it has left
        if b != a and gaps.minus[b] < inf and _find_weakest(a, b, gaps) > largest:
            largest, above = _find_weakest(a, b, gaps), b
    gaps.minus[a], gaps.above[a] = largest, above


@inner
def _find_term(a, b, gaps):
    """M(a, b), or M(b, a)^+ + (Delta_b^-)^+ where that is less."""
    needed = max(-_find_weakest(b, a, gaps), 0.0) + max(gaps.minus[b], 0.0)
    return min(-_find_weakest(a, b, gaps), needed)


@inner
def _find_plus(a, k, gaps):
    """Fill Delta^+ of an arm, if it is on the front."""
    if gaps.minus[a] > 0.0:
        return
    smallest, nearest = inf, 0
    for b in range(k):
        if b != a and gaps.minus[b] < inf and _find_term(a, b, gaps) < smallest:
            smallest, nearest = _find_term(a, b, gaps), b
    gaps.plus[a], gaps.nearest[a] = smallest, nearest


@inner
def _take_out(gone, k, places, gaps):
    """Keep the gaps of those at ``places`` when one of the k leaves: what it decided is looked for again.

    A departure takes O(k) times the few that it decided, where all gaps take O(k^2).
    """
    minus = gaps.minus
    minus[gone] = inf  # it has left
    freed = places[gaps.above[places] == gone]

    # the others were on the front, and nobody's gap knew by how much
    known = freed[minus[freed] > 0.0]
    for j in freed:
        _find_minus(j, k, gaps)
    for a in places:
        if gaps.nearest[a] == gone:
            _find_plus(a, k, gaps)

    for j in known:
        _find_plus(j, k, gaps)
        for a in places:  # less has to be overcome for others to depend on it
            if a != j and minus[a] <= 0.0 and _find_term(a, j, gaps) < gaps.plus[a]:
                gaps.plus[a], gaps.nearest[a] = _find_term(a, j, gaps), j


@inner
def _play(p, terms, draws, seen, returned):
    """One replication: fills ``seen`` and ``returned`` (K,); the spend, and False."""
    n_instances, chance, claims_limit, delta = p
    n_arms, n_objectives = seen.sums.shape
    limit, declared = terms.limit, terms.costs
    arms, costs, spent = np.arange(n_arms), declared[terms.by_cost[::-1]], 0.0
    depth, compared = 0, 0  # pairs are compared only where somebody may leave
    # of differences of pairs a < b, by places
    squares = empty_squares(n_objectives, n_arms)
    whose = np.zeros((2, n_arms), dtype=np.int64)
    low, high, terms_of = (
        np.empty((n_arms, n_arms)),
        np.empty((n_arms, n_arms)),
        np.empty((2, n_arms)),
    )
    gaps = Gaps(low, high, terms_of[0], whose[0], terms_of[1], whose[1])
    # of the arms among the k that were last compared
    places, k = np.arange(n_arms), n_arms
    certainty = claims_limit < inf
    shape = (n_arms, n_arms, n_objectives) if certainty else (0, 0, n_objectives)
    evidence = Evidence(
        np.zeros(shape),
        np.full((shape[0], shape[0], n_objectives, len(STAKES)), 1 / len(STAKES)),
        np.zeros(shape, dtype=np.bool_),
        np.eye(shape[0]) > 0,
    )

    while len(arms) > 1 and depth < n_instances:
        step = max(FIRST_LOOK, depth + max(1, floor(STEP * depth)))
        target = find_depth(np.cumsum(costs), depth, n_instances, limit - spent)
        goal = min(step, max(1, target))
        spent, complete = sample(arms, goal, draws, terms, seen, spent)
        if not complete:
            break
        if certainty:
            _add_evidence(arms, depth, goal, n_instances, claims_limit, draws, evidence)
            dominated, front = _find_certain(evidence.above, evidence.spared)
            claims = count_claims(n_arms, n_objectives, dominated.sum(), front.sum())
            claims_limit = min(claims_limit, claims / delta)
        depth = goal
        while len(arms) > 1 and depth < n_instances:
            leaves, accepted = -1, False  # who leaves, by its place among the arms
            if certainty:
                leaves, accepted = _find_leaving(
                    arms, dominated, front, evidence.spared
                )
            if leaves < 0:
                target = find_depth(np.cumsum(costs), depth, n_instances, limit - spent)
                if target == n_instances or (certainty and depth < target):
                    break
                if compared < depth:
                    scores = read_scores(arms, compared, depth, draws, n_objectives)
                    _compare(
                        arms,
                        places,
                        scores,
                        depth,
                        n_instances,
                        seen.sums,
                        squares,
                        gaps,
                    )
                    k, compared = len(arms), depth
                    places = np.arange(k)
                place, accepted = find_clearest(places, gaps.minus, gaps.plus)
                gap = gaps.plus[place] if accepted else gaps.minus[place]
                if gap < sqrt(
                    chance * (1 - depth / target) / (1 - target / n_instances)
                ):
                    break
                leaves = np.searchsorted(places, place)
            arm, place = arms[leaves], places[leaves]
            returned[arm] = accepted
            arms, places = without(arm, arms), without(place, places)
            costs = without(declared[arm], costs)
            if compared == depth:
                _take_out(place, k, places, gaps)

    sums, shared = sum_shared(arms, draws, seen.pulls, n_objectives)
    return_front(arms, sums, np.full(n_arms, shared), returned)
    return spent, False


def _read(policy):
    """Return what the run reads; the limit of claims is infinite where nothing has to be certain."""
    evidence = policy.evidence
    limit, delta = (evidence.limit, evidence.delta) if evidence else (inf, 1.0)
    return policy.n_instances, policy.chance, limit, delta


register(policies.CoPSIOnce, compile_run(_play), _read)
