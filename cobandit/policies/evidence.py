"""What paired evaluations without replacement make certain: bets against a finite population."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Shares of the capital that are staked on each evaluation; each starts with the same part of it.
STAKES = np.array([0.9, 0.75, *2.0 ** -np.arange(1, 6)])


def count_claims(n_arms: int, n_objectives: int, n_dominated: int, n_front: int) -> int:
    r"""Count the true claims, at most, that a wrong membership needs to be given up.

    .. math:: \max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D

    With a front of p, one claim for each of its p members and each other configuration, in an objective in
    which that is not above it; and D for each of the others and one that dominates it.

    Parameters
    ----------
    n_arms, n_objectives : int
        K and D.
    n_dominated, n_front : int
        R and F, whose memberships are known: dominated, and on the front.

    Examples
    --------
    >>> count_claims(10, 2, n_dominated=0, n_front=0), count_claims(10, 2, n_dominated=7, n_front=0)
    (90, 41)
    """
    most, least = max(n_arms - n_dominated, 1), max(n_front, 1)
    return max(p * (n_arms - 1) + (n_arms - p) * n_objectives for p in (least, most))


class PairedEvidence:
    r"""Which configuration is certainly above which, at any time, from paired evaluations in random order.

    For each pair and objective, capital is staked against the claim that the full mean of j is not above
    that of i.  With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and :math:`S_{q-1}` the sum of the first q - 1
    of N differences, the claim says that the others average at most :math:`m_q`:

    .. math::

        m_q = \frac{-S_{q-1}}{N - q + 1}, \qquad
        W_n = \frac1{|\Lambda|} \sum_{\lambda \in \Lambda}
              \prod_{q=1}^n \Bigl(1 + \lambda\, \frac{x_q - m_q}{1 + m_q}\Bigr), \qquad
        \Lambda = \{.9, .75, 2^{-1}, \dots, 2^{-5}\}

    Where the claim is true, each factor is positive and has mean at most one given the past, so that W is a
    supermartingale and exceeds :math:`1 / \delta` at any time with probability at most :math:`\delta`
    (Ville; the bets without replacement of Waudby-Smith and Ramdas, 2024).  A claim is given up at

    .. math:: \frac1\delta = \frac{\max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D}
                                  {1 - \text{confidence}}

    with R configurations certainly dominated and F certainly on the front, so that the limit falls as
    memberships become certain, and all are right with probability at least ``confidence``.  Proof: for a
    front of p, take for each member i and each other j the claim in an objective in which j is not above i,
    and for each i that is dominated, by j say, the D claims that i is not above j.  These
    p (K - 1) + (K - p) D claims are true, and while none of them is given up, no membership is wrong.  With
    probability at least ``confidence`` none of their capitals ever reaches their number over
    1 - ``confidence``.  Then none is given up: up to a first wrong membership R and F count right ones, so
    that F <= p <= K - R and the limit is not below that (as in Holm's step-down).

    A claim that the evaluations seen contradict outright, :math:`S_q > N - q` by more than a tie, is given
    up for certain.  After N evaluations ``spared`` is exact; ``above`` then holds all that is true, and still
    what was given up by mistake.

    Parameters
    ----------
    n_arms, n_objectives, n_instances : int
        K, D and N.
    confidence : float
        In (0, 1).

    Attributes
    ----------
    above : ndarray of bool, shape (K, K, D)
        Whether j is certainly above i in objective d, strictly.
    spared : ndarray of bool, shape (K, K)
        Whether i is certainly not dominated by j.

    Examples
    --------
    Forty instances are enough when one is right and the other wrong on all of them.

    >>> evidence = PairedEvidence(2, 1, n_instances=400, confidence=0.95)
    >>> for _ in range(40):
    ...     evidence.add(np.arange(2), np.array([[[0.0], [1.0]], [[-1.0], [0.0]]]))
    >>> evidence.dominated, evidence.certain
    (array([ True, False]), array([ True,  True]))
    """

    def __init__(self, n_arms: int, n_objectives: int, n_instances: int, confidence: float):
        shape = n_arms, n_arms, n_objectives
        self.n_instances = n_instances
        self.delta = 1 - confidence
        #: Capital from which on a claim is given up.
        self.limit = count_claims(n_arms, n_objectives, 0, 0) / self.delta
        self.above = np.zeros(shape, dtype=np.bool_)
        self.spared = np.eye(n_arms, dtype=np.bool_)
        self._sums = np.zeros(shape)
        self._capital = np.full((*shape, len(STAKES)), 1 / len(STAKES))
        self._seen = 0

    @property
    def capital(self) -> NDArray[np.float64]:
        """W of each claim that j is not above i, shape (K, K, D)."""
        return self._capital.sum(axis=-1)

    @property
    def dominated(self) -> NDArray[np.bool_]:
        """Who is certainly dominated, shape (K,)."""
        dominated: NDArray[np.bool_] = np.any(np.all(self.above, axis=2), axis=1)
        return dominated

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whose membership is certain, shape (K,): dominated, or spared by all that are not dominated."""
        dominated = self.dominated
        return dominated | (self.spared | dominated).all(axis=1)

    def lower_limit(self) -> None:
        """Lower the limit as far as the memberships that are certain by now allow, for what comes."""
        dominated, certain = self.dominated, self.certain
        n_arms, _, n_objectives = self.above.shape
        claims = count_claims(n_arms, n_objectives, int(dominated.sum()), int((certain & ~dominated).sum()))
        self.limit = min(self.limit, claims / self.delta)

    def leaving(self, active: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the active are certain and no longer needed, shape (k,).

        One on the front is needed until it is certain, too, which of the others it dominates.
        """
        dominated = self.dominated
        needed = ~(self.spared | dominated[:, None])[np.ix_(active, active)].all(axis=0)
        return dominated[active] | (self.certain[active] & ~needed)

    def add(self, active: NDArray[np.int64], differences: NDArray[np.float64]) -> None:
        """Take in one more instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Who was evaluated on it, on all before it, too.
        differences : ndarray, shape (k, k, D)
            How far the second is above the first.
        """
        pairs = np.ix_(active, active)
        left = self.n_instances - self._seen
        claimed = -self._sums[pairs] / left  # m_q
        open_ = claimed > TIE - 1  # otherwise nothing can be staked: no outcome is below what is claimed
        growth = (differences - claimed) / np.where(open_, 1 + claimed, 1.0)
        self._capital[pairs] *= 1 + STAKES * np.where(open_, growth, 0.0)[..., None]
        self._sums[pairs] += differences
        self._seen += 1

        contradicted = self._sums[pairs] > left - 1 + TIE * self.n_instances
        self.above[pairs] |= contradicted | (self._capital[pairs].sum(axis=-1) >= self.limit)
        self.spared[pairs] |= self.above[pairs].transpose(1, 0, 2).any(axis=2)
        if self._seen == self.n_instances:
            self.spared[pairs] = ~contradicted.all(axis=2)
