"""What paired evaluations without replacement make certain: bets against a finite population."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Shares of the capital that are staked on each evaluation; each starts with the same part of it.
STAKES = 2.0 ** -np.arange(1, 6)


class PairedEvidence:
    r"""Which configuration is certainly above which, at any time, from paired evaluations in random order.

    For each pair and objective, capital is staked against the claim that the full mean of j is not above
    that of i.  With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and :math:`S_{q-1}` the sum of the first q - 1
    of N differences, the claim says that the others average at most :math:`m_q`:

    .. math::

        m_q = \frac{-S_{q-1}}{N - q + 1}, \qquad
        W_n = \frac1{|\Lambda|} \sum_{\lambda \in \Lambda}
              \prod_{q=1}^n \Bigl(1 + \lambda\, \frac{x_q - m_q}{1 + m_q}\Bigr), \qquad
        \Lambda = \{2^{-1}, \dots, 2^{-5}\}

    Where the claim is true, each factor is positive and has mean at most one given the past, so that W is a
    supermartingale and exceeds :math:`1 / \delta` at any time with probability at most :math:`\delta`
    (Ville; the bets without replacement of Waudby-Smith and Ramdas, 2024).  With
    :math:`\delta = (1 - \text{confidence}) / (K (K - 1) D)`, no claim that is true is given up, with
    probability at least ``confidence``.  A claim that the evaluations seen contradict outright,
    :math:`S_q > N - q` by more than a tie, is given up for certain.  After N evaluations ``spared`` is exact;
    ``above`` then holds all that is true, and still what was given up by mistake.

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
        self.limit = n_arms * (n_arms - 1) * n_objectives / (1 - confidence)
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
