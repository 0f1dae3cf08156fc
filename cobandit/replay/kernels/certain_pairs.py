"""Compiled version of `PairedEvidence`: anytime-valid comparisons of arms."""

from typing import NamedTuple

import numpy as np

from cobandit.dominance import TIE
from cobandit.policies.paired_evidence import STAKES
from cobandit.replay.kernels._cache import inner


class PairClaims(NamedTuple):
    """State of the bets of a run, as in `PairedEvidence`.

    All arrays are empty if the policy has no ``confidence``.
    """

    #: Shape (K, K, D): sums of differences.
    sums: np.ndarray
    #: Shape (K, K, D, S): capital of the bets of each of the S sizes.
    capital: np.ndarray
    #: Shape (K, K, D), at [i, j, d]: whether j is certainly above i.
    above: np.ndarray
    #: Shape (K, K), at [i, j]: whether j certainly does not dominate i.
    spared: np.ndarray


@inner
def empty_claims(n_arms, n_objectives):
    """Return the evidence before the first instance."""
    shape = n_arms, n_arms, n_objectives
    return PairClaims(
        np.zeros(shape),
        np.full((n_arms, n_arms, n_objectives, len(STAKES)), 1 / len(STAKES)),
        np.zeros(shape, dtype=np.bool_),
        np.eye(n_arms) > 0,
    )


@inner
def add_claims(arms, first, last, n_instances, limit, draws, evidence):
    """Bet on all pairs of arms, on the instances from ``first`` to ``last``."""
    rows, offsets, _, order = draws
    sums, capital, above, spared = evidence
    for i in arms:
        for j in arms:
            if i == j:
                continue
            for d in range(sums.shape[2]):
                stakes = capital[i, j, d]
                total = sums[i, j, d]
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
def find_certain(above, spared):
    """Return masks (K,) of certainly dominated arms and of certain front members."""
    dominated, front = np.zeros((2, len(above)), dtype=np.bool_)
    for i in range(len(above)):
        for j in range(len(above)):
            dominated[i] |= above[i, j].all()
    for i in range(len(above)):
        front[i] = not dominated[i] and (spared[i] | dominated).all()
    return dominated, front


@inner
def find_leaving(arms, dominated, front, spared):
    """Return the position of an arm that can be removed, and whether it is accepted.

    A dominated arm has priority. Next is a member of the front that certainly does not
    dominate any active arm.
    The position is -1 if no arm can be removed.
    """
    for a, i in enumerate(arms):
        if dominated[i]:
            return a, False
    for a, i in enumerate(arms):
        if front[i] and (spared[:, i] | dominated)[arms].all():
            return a, True
    return -1, False
