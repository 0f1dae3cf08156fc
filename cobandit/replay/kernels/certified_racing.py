"""Evidence of a certified race: the same as `ToleranceEvidence`, compiled."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.tolerance_evidence import (
    BET_SIZES,
    FIRST_DEPOSIT,
    HOPELESS,
    LARGEST_LOSS,
    PRIOR_SCATTER,
)
from cobandit.replay.kernels._cache import inner


class Evidence(NamedTuple):
    """As the attributes of the class, of size zero where the race is not certified.

    Of (K, K, D) each ``sums``, ``squares``, ``cover_capital`` and ``near``, and
    ``weights`` of one array per size of a bet; ``sparing_capital``, ``spared`` and
    ``affordable`` (K, K), ``purse`` (K,), and in ``next_deposit`` (1,) the number of
    instances after which capital is laid next.
    """

    sums: np.ndarray
    squares: np.ndarray
    weights: np.ndarray
    cover_capital: np.ndarray
    sparing_capital: np.ndarray
    near: np.ndarray
    spared: np.ndarray
    affordable: np.ndarray
    purse: np.ndarray
    next_deposit: np.ndarray


@inner
def empty_evidence(n_arms, n_objectives, affordable):
    """Return the evidence of a race before its first instance; who may cover whom by its cost is (K, K)."""
    shape = n_arms, n_arms, n_objectives
    return Evidence(
        np.zeros(shape),
        np.zeros(shape),
        np.full((n_arms, n_arms, n_objectives, len(BET_SIZES)), 1 / len(BET_SIZES)),
        np.zeros(shape),
        np.zeros((n_arms, n_arms)),
        np.zeros(shape, dtype=np.bool_),
        (np.eye(n_arms) > 0) | ~affordable,
        affordable,
        np.full(n_arms, 1 / max(n_arms, 1)),
        np.full(1, FIRST_DEPOSIT),
    )


@inner
def _find_scatter(total, squares, n):
    """Sum of squared deviations of n differences, from the prior's on."""
    mean = total / max(n, 1)
    return max(squares - n * (mean * mean), 0.0) + PRIOR_SCATTER


@inner
def _bet(weights, difference, claimed, unit):
    """Factor by which capital grows; moves the weights of the sizes."""
    above, largest = 0.0, LARGEST_LOSS
    if claimed > TIE - 1:
        above, largest = difference - claimed, LARGEST_LOSS / (1 + claimed)
    growth = 0.0
    for s in range(len(BET_SIZES)):
        weights[s] *= 1 + min(BET_SIZES[s] * unit, largest) * above
        growth += weights[s]
    for s in range(len(BET_SIZES)):
        weights[s] /= growth
    return growth


@inner
def _add_pair(i, j, x, n, p, limit, evidence):
    """Add how far j is above i on one more instance, (D,), n having been seen before."""
    n_instances, tolerances = p
    left, slack = n_instances - n, TIE * n_instances
    clearest, sparing_growth, is_spared = -np.inf, 1.0, False
    for d in range(len(tolerances)):
        total, squares = evidence.sums[i, j, d], evidence.squares[i, j, d]
        claimed = (-tolerances[d] * n_instances - total) / left
        ahead = total - n * claimed
        deviation = sqrt(_find_scatter(total, squares, n) / (n + 1))
        growth = _bet(
            evidence.weights[i, j, d], x[d], claimed, n_instances / left / deviation
        )
        growth = growth if ahead > 0 else 1.0
        evidence.cover_capital[i, j, d] *= growth
        if ahead / deviation > clearest:
            clearest, sparing_growth = ahead / deviation, growth

        evidence.sums[i, j, d] = total + x[d]
        evidence.squares[i, j, d] = squares + x[d] * x[d]
        contradicted = (
            evidence.sums[i, j, d] - (left - 1) > -tolerances[d] * n_instances + slack
        )
        if contradicted or evidence.cover_capital[i, j, d] >= limit:
            evidence.near[i, j, d] = True
        is_spared = is_spared or contradicted
    evidence.sparing_capital[j, i] *= sparing_growth
    if is_spared or evidence.sparing_capital[j, i] >= limit:
        evidence.spared[j, i] = True


@inner
def _deposit(arms, n, tolerances, evidence):
    """Lay half of each purse on the arm that is the clearest to cover its owner."""
    if len(arms) < 2:
        return

    for i in arms:
        clearest, cover = -np.inf, -1
        for j in arms:
            if j == i:
                continue
            clear = np.inf
            for d in range(len(tolerances)):
                total = evidence.sums[i, j, d]
                scatter = _find_scatter(total, evidence.squares[i, j, d], n)
                clear = min(clear, (total / n + tolerances[d]) / sqrt(scatter))
            if not evidence.affordable[i, j]:
                clear = HOPELESS
            if clear > clearest:
                clearest, cover = clear, j
        laid = evidence.purse[i] / 2
        evidence.purse[i] -= laid
        for d in range(len(tolerances)):
            evidence.cover_capital[i, cover, d] += laid
        for j in range(len(evidence.purse)):
            evidence.sparing_capital[i, j] += laid / (len(evidence.purse) - 1)


@inner
def add_evidence(arms, scores, n, p, limit, evidence):
    """Add the scores (D, q, k) of some arms on the instances after the first n."""
    x = np.empty(len(scores))
    for q in range(scores.shape[1]):
        for a, i in enumerate(arms):
            for b, j in enumerate(arms):
                if a != b:
                    for d in range(len(scores)):
                        x[d] = scores[d, q, b] - scores[d, q, a]
                    _add_pair(i, j, x, n + q, p, limit, evidence)
        if n + q + 1 == evidence.next_deposit[0]:
            evidence.next_deposit[0] *= 2
            _deposit(arms, n + q + 1, p[1], evidence)


@inner
def read_evidence(arms, evidence, calls, covered, open_):
    """Fill what is certain of all pairs of arms, by position, with the bits of what is so."""
    for a, i in enumerate(arms):
        for b, j in enumerate(arms):
            near = evidence.near[i, j].all() and evidence.affordable[i, j]
            calls[a, b] = covered * near + open_ * (not evidence.spared[i, j])


@inner
def release_purses(arms, evidence):
    """Divide the purses of arms that have left among those that are active."""
    has_left = np.ones(len(evidence.purse), dtype=np.bool_)
    has_left[arms] = False
    freed = 0.0
    for i in np.flatnonzero(has_left):
        freed += evidence.purse[i]
        evidence.purse[i] = 0.0
    for i in arms:
        evidence.purse[i] += freed / len(arms)
