"""Compiled version of `ToleranceEvidence`, the evidence of a certified race."""

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
    """State of the bets of a certified race, as in `ToleranceEvidence`.

    All arrays are empty if the race is not certified. In arrays of pairs, the first
    index is i and the second is j.
    """

    #: Shape (K, K, D): sums of differences j - i.
    sums: np.ndarray
    #: Shape (K, K, D): sums of squared differences.
    squares: np.ndarray
    #: Shape (K, K, D, S): weights of the S sizes of a bet.
    weights: np.ndarray
    #: Shape (K, K, D): capital of the bets that j covers i, per objective.
    cover_capital: np.ndarray
    #: Shape (K, K): capital of the bets that j does not dominate i.
    sparing_capital: np.ndarray
    #: Shape (K, K, D): whether j is certainly not below i by the tolerance or more.
    near: np.ndarray
    #: Shape (K, K): whether j certainly does not dominate i by the tolerance or more.
    spared: np.ndarray
    #: Shape (K, K): whether j can cover i at the declared costs.
    affordable: np.ndarray
    #: Shape (K,): the part of each arm's capital that has not been bet yet.
    purse: np.ndarray
    #: Shape (1,): number of instances at the next deposit.
    next_deposit: np.ndarray


@inner
def empty_evidence(n_arms, n_objectives, affordable):
    """Return the evidence of a certified `ParetoRace` before its first instance."""
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
    """Return the sum of squared deviations of n differences plus `PRIOR_SCATTER`."""
    mean = total / max(n, 1)
    return max(squares - n * (mean * mean), 0.0) + PRIOR_SCATTER


@inner
def _bet(weights, difference, claimed, unit):
    """Update the weights of bet sizes, and return the factor by which capital grows."""
    above = 0.0
    largest = LARGEST_LOSS
    if claimed > TIE - 1:
        above = difference - claimed
        largest = LARGEST_LOSS / (1 + claimed)
    growth = 0.0
    for s in range(len(BET_SIZES)):
        weights[s] *= 1 + min(BET_SIZES[s] * unit, largest) * above
        growth += weights[s]
    for s in range(len(BET_SIZES)):
        weights[s] /= growth
    return growth


@inner
def _add_pair(i, j, x, n, p, limit, evidence):
    """Add the differences (D,) of j minus i on the instance after the first n."""
    n_instances, tolerances = p
    left = n_instances - n
    slack = TIE * n_instances
    clearest = -np.inf
    sparing_growth = 1.0
    is_spared = False
    for d in range(len(tolerances)):
        total = evidence.sums[i, j, d]
        squares = evidence.squares[i, j, d]
        claimed = (-tolerances[d] * n_instances - total) / left
        ahead = total - n * claimed
        deviation = sqrt(_find_scatter(total, squares, n) / (n + 1))
        growth = _bet(
            evidence.weights[i, j, d], x[d], claimed, n_instances / left / deviation
        )
        growth = growth if ahead > 0 else 1.0
        evidence.cover_capital[i, j, d] *= growth
        if ahead / deviation > clearest:
            clearest = ahead / deviation
            sparing_growth = growth

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
    """Bet half of each arm's unused capital on both statements about the arm.

    The statements are that the arm is covered, and that it is not dominated (see
    `ToleranceEvidence`).
    """
    if len(arms) < 2:
        return

    for i in arms:
        clearest = -np.inf
        cover = -1
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
                clearest = clear
                cover = j
        laid = evidence.purse[i] / 2
        evidence.purse[i] -= laid
        for d in range(len(tolerances)):
            evidence.cover_capital[i, cover, d] += laid
        for j in range(len(evidence.purse)):
            evidence.sparing_capital[i, j] += laid / (len(evidence.purse) - 1)


@inner
def add_evidence(arms, scores, n, p, limit, evidence):
    """Add the scores (D, q, k) of arms on the q instances after the first n."""
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
    """Fill ``calls`` with the certain comparisons of all pairs of arms, as bits."""
    for a, i in enumerate(arms):
        for b, j in enumerate(arms):
            near = evidence.near[i, j].all() and evidence.affordable[i, j]
            calls[a, b] = covered * near + open_ * (not evidence.spared[i, j])


@inner
def release_purses(arms, evidence):
    """Divide the unused capital (purses) of removed arms among the active ones."""
    has_left = np.ones(len(evidence.purse), dtype=np.bool_)
    has_left[arms] = False
    freed = 0.0
    for i in np.flatnonzero(has_left):
        freed += evidence.purse[i]
        evidence.purse[i] = 0.0
    for i in arms:
        evidence.purse[i] += freed / len(arms)
