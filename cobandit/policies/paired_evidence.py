"""Certain statements about pairs of configurations, from bets on paired evaluations."""

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Shares of the capital that are staked on each evaluation. Each starts with an equal
#: part of the capital.
STAKES = np.array([0.9, 0.75, *2.0 ** -np.arange(1, 6)])


def count_claims(n_arms: int, n_objectives: int, n_dominated: int, n_front: int) -> int:
    r"""Return the largest number of true claims that a wrong membership may reject.

    .. math:: \max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D

    A front of size p has one claim per member and other configuration, in an objective
    in which the other configuration is not above the member.  Each dominated
    configuration has D claims, about one of its dominators.

    Parameters
    ----------
    n_arms, n_objectives : int
        K and D.
    n_dominated, n_front : int
        R and F, the numbers of certainly dominated configurations and of certain
        members of the front.

    Examples
    --------
    >>> count_claims(10, 2, n_dominated=0, n_front=0)
    90
    >>> count_claims(10, 2, n_dominated=7, n_front=0)
    41
    """
    # the number is linear in p, so an end of the range has the largest
    smallest_front = max(n_front, 1)
    largest_front = max(n_arms - n_dominated, 1)
    at_smallest = smallest_front * (n_arms - 1)
    at_smallest += (n_arms - smallest_front) * n_objectives
    at_largest = largest_front * (n_arms - 1)
    at_largest += (n_arms - largest_front) * n_objectives
    return max(at_smallest, at_largest)


class PairedEvidence:
    r"""Evidence at any time that a configuration is above another one.

    Evaluations are paired, on instances in random order.  For each pair and objective,
    capital is staked against the claim that the full mean of j is not above that of i.
    With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and :math:`S_{q-1}` the sum of the
    first q - 1 of N differences, the claim says that the remaining differences average
    at most :math:`m_q`:

    .. math::

        m_q = \frac{-S_{q-1}}{N - q + 1}, \qquad
        W_n = \frac1{|\Lambda|} \sum_{\lambda \in \Lambda}
              \prod_{q=1}^n \Bigl(1 + \lambda\, \frac{x_q - m_q}{1 + m_q}\Bigr), \qquad
        \Lambda = \{.9, .75, 2^{-1}, \dots, 2^{-5}\}

    If the claim is true, each factor is positive and has mean at most one given the
    past. Then W is a supermartingale, and ever exceeds :math:`1 / \delta` with
    probability at most :math:`\delta` (Ville; the bets without replacement of
    Waudby-Smith and Ramdas, 2024).  A claim is rejected at

    .. math::

        \frac1\delta = \max_{\max\{F, 1\} \le p \le K - R}
            \frac{p\, (K - 1) + (K - p)\, D}{1 - \text{confidence}}

    with R configurations certainly dominated and F certainly on the front.  The limit
    falls as memberships become certain. With probability at least ``confidence``, all
    certain memberships are right.

    Proof: for a front of p, take for each member i and each other j the claim in an
    objective in which j is not above i, and for each dominated i the D claims that i is
    not above j, for a j on the front that dominates it.  (There is one; and since j is
    never rightly found dominated, i is compared with j until i is found dominated.)
    These p (K - 1) + (K - p) D claims are true, and while none of them is rejected, no
    membership is wrong.  With probability at least ``confidence`` none of their
    capitals ever reaches their number over 1 - ``confidence``.  Then none is rejected:
    up to a first wrong membership R and F count right ones, so that F <= p <= K - R and
    the limit is not below that number (as in Holm's step-down).

    A claim that the evaluations contradict outright, :math:`S_q > N - q` by more than a
    tie, is rejected for certain.  After N evaluations ``spared`` is exact;
    ``above`` then has every true statement, and also those of wrongly rejected claims.

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

    def __init__(
        self, n_arms: int, n_objectives: int, n_instances: int, confidence: float
    ):
        shape = n_arms, n_arms, n_objectives
        self.n_instances = n_instances
        self.delta = 1 - confidence
        #: Capital at which a claim is rejected.
        self.limit = count_claims(n_arms, n_objectives, 0, 0) / self.delta
        self.above = np.zeros(shape, dtype=np.bool_)
        self.spared = np.eye(n_arms, dtype=np.bool_)
        self._sums = np.zeros(shape)
        self._capital = np.full((*shape, len(STAKES)), 1 / len(STAKES))
        self._n_added = 0

    @property
    def dominated(self) -> NDArray[np.bool_]:
        """Configurations that are certainly dominated, as a mask of shape (K,)."""
        dominated: NDArray[np.bool_] = np.any(np.all(self.above, axis=2), axis=1)
        return dominated

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Configurations of certain membership, as a mask of shape (K,).

        These are certainly dominated, or certainly not dominated by any configuration
        that may be on the front.
        """
        dominated = self.dominated
        return dominated | (self.spared | dominated).all(axis=1)

    def lower_limit(self) -> None:
        """Lower the limit for later instances, given the certain memberships."""
        dominated = self.dominated
        on_front = self.certain & ~dominated
        n_arms, _, n_objectives = self.above.shape
        claims = count_claims(
            n_arms, n_objectives, int(dominated.sum()), int(on_front.sum())
        )
        self.limit = min(self.limit, claims / self.delta)

    def removable(self, active: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which active configurations are certain and no longer needed, (k,).

        A member of the front is needed until it is certain which configurations it
        dominates.
        """
        dominated = self.dominated
        needed = ~(self.spared | dominated[:, None])[np.ix_(active, active)].all(axis=0)
        return dominated[active] | (self.certain[active] & ~needed)

    def add(self, active: NDArray[np.int64], differences: NDArray[np.float64]) -> None:
        """Add one instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Configurations that were evaluated on it, and on all instances before it.
        differences : ndarray, shape (k, k, D)
            Score of the second less score of the first.
        """
        pairs = np.ix_(active, active)
        n_remaining = self.n_instances - self._n_added
        claimed = -self._sums[pairs] / n_remaining  # m_q

        # nothing can be staked on a claim of -1, since no outcome is below it
        can_stake = claimed > TIE - 1
        growth = (differences - claimed) / np.where(can_stake, 1 + claimed, 1.0)
        growth = np.where(can_stake, growth, 0.0)
        self._capital[pairs] *= 1 + STAKES * growth[..., None]
        self._sums[pairs] += differences
        self._n_added += 1

        # a claim is also wrong if no remaining outcomes can make it true
        is_contradicted = self._sums[pairs] > n_remaining - 1 + TIE * self.n_instances
        is_rejected = self._capital[pairs].sum(axis=-1) >= self.limit
        self.above[pairs] |= is_contradicted | is_rejected

        # i is not dominated by j if i is above j somewhere: the pair (j, i)
        self.spared[pairs] |= self.above[pairs].transpose(1, 0, 2).any(axis=2)
        if self._n_added == self.n_instances:
            self.spared[pairs] = ~is_contradicted.all(axis=2)
