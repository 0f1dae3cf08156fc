"""Anytime-valid comparisons of configurations, by betting on paired evaluations."""

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Shares of capital that bets stake on each evaluation. The initial capital is divided
#: equally among these shares.
STAKES = np.array([0.9, 0.75, *2.0 ** -np.arange(1, 6)])


def count_claims(n_arms: int, n_objectives: int, n_dominated: int, n_front: int) -> int:
    r"""Return the number of tests for which `PairedEvidence` corrects (Bonferroni).

    .. math:: \max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D

    This is the largest number of true claims whose rejection could make a membership
    wrong, over all possible sizes p of the front. A member of the front has one claim
    per other configuration j: in some objective, j is not above the member. A dominated
    configuration has D claims about one of its dominators.

    Parameters
    ----------
    n_arms, n_objectives : int
        K and D.
    n_dominated, n_front : int
        R, the number of certainly dominated configurations, and F, the number of
        certain members of the front.

    Examples
    --------
    >>> count_claims(10, 2, n_dominated=0, n_front=0)
    90
    >>> count_claims(10, 2, n_dominated=7, n_front=0)
    41
    """
    # the number is linear in p, so it is largest at an end of the range
    smallest_front = max(n_front, 1)
    largest_front = max(n_arms - n_dominated, 1)
    at_smallest = smallest_front * (n_arms - 1)
    at_smallest += (n_arms - smallest_front) * n_objectives
    at_largest = largest_front * (n_arms - 1)
    at_largest += (n_arms - largest_front) * n_objectives
    return max(at_smallest, at_largest)


class PairedEvidence:
    r"""Anytime-valid evidence that one configuration has larger means than another.

    Evaluations are paired, on instances in random order. For each pair (i, j) and
    objective, bets stake capital against the *claim* that the mean of j over all N
    instances is not above the mean of i. Let :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]`
    be the difference on the q-th instance, and let :math:`S_{q-1}` be the sum of the
    first q - 1 differences. Then the claim states that the mean of the remaining
    differences is at most :math:`m_q`, and W is the capital after n instances:

    .. math::

        m_q = \frac{-S_{q-1}}{N - q + 1}, \qquad
        W_n = \frac1{|\Lambda|} \sum_{\lambda \in \Lambda}
              \prod_{q=1}^n \Bigl(1 + \lambda\, \frac{x_q - m_q}{1 + m_q}\Bigr), \qquad
        \Lambda = \{.9, .75, 2^{-1}, \dots, 2^{-5}\}

    If the claim is true, each factor is positive and has a mean of at most one given
    the past. Then W is a supermartingale, and the probability that it ever exceeds
    :math:`1 / \delta` is at most :math:`\delta` by Ville's inequality. The bets are
    those of Waudby-Smith and Ramdas (2024) for sampling without replacement.

    Let R be the number of configurations that are certainly dominated, and F the number
    that are certainly on the front. A claim is rejected as soon as W reaches

    .. math::

        \frac1\delta = \max_{\max\{F, 1\} \le p \le K - R}
            \frac{p\, (K - 1) + (K - p)\, D}{1 - \text{confidence}}

    where p runs over the possible sizes of the front. This limit falls as memberships
    become certain. With probability at least ``confidence``, all certain memberships
    are right.

    *Proof.* Suppose that the front has p members. For each member i and each other
    configuration j, j is not above i in at least one objective; take the claim of (i,
    j) in this objective. For each dominated i, choose a j on the front that dominates
    i, and take the D claims that i is not above j. (Such a j exists. While no
    membership is wrong, j is not removed as dominated, so i is compared with j until i
    is certainly dominated.) These p (K - 1) + (K - p) D claims are true, and no
    membership is wrong until one of them is rejected. By a union bound, with
    probability at least ``confidence``, the capital against each of them always stays
    below their number divided by (1 - ``confidence``). It remains to show that the
    limit is never below this ratio. Until a first membership is wrong, R and F count
    right memberships, so F <= p <= K - R. The maximum in the limit therefore includes
    this p, as in Holm's step-down procedure.

    A claim that no remaining evaluations can make true is rejected without a bet. This
    is so if :math:`S_q` exceeds N - q by more than the tolerance of ties. After N
    evaluations, ``spared`` is exact, and ``above`` contains every true statement.
    ``above`` may also contain false statements, from claims that were wrongly rejected
    before.

    Parameters
    ----------
    n_arms, n_objectives, n_instances : int
        K, D and N.
    confidence : float
        In (0, 1).

    Attributes
    ----------
    above : ndarray of bool, shape (K, K, D)
        Entry [i, j, d] is True if j is certainly strictly above i in objective d.
    spared : ndarray of bool, shape (K, K)
        Entry [i, j] is True if j certainly does not dominate i.

    Examples
    --------
    Forty instances are enough if the second configuration is right on all of them, and
    the first on none.

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
        """Mask of configurations that are certainly dominated, shape (K,)."""
        dominated: NDArray[np.bool_] = np.any(np.all(self.above, axis=2), axis=1)
        return dominated

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Mask of configurations with certain membership, shape (K,).

        These configurations are certainly dominated, or certainly not dominated by any
        configuration that may be on the front.
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
        """Return a mask of active configurations that can be removed, shape (k,).

        A configuration that is certainly dominated can be removed. A certain member of
        the front can be removed once it is certain which configurations it dominates.
        """
        dominated = self.dominated
        needed = ~(self.spared | dominated[:, None])[np.ix_(active, active)].all(axis=0)
        return dominated[active] | (self.certain[active] & ~needed)

    def add(self, active: NDArray[np.int64], differences: NDArray[np.float64]) -> None:
        """Add the paired differences of active configurations on one instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Configurations that were evaluated on this instance and on all earlier ones.
        differences : ndarray, shape (k, k, D)
            Entry [i, j] is the score of ``active[j]`` minus the score of ``active[i]``.
        """
        pairs = np.ix_(active, active)
        n_remaining = self.n_instances - self._n_added
        claimed = -self._sums[pairs] / n_remaining  # m_q

        # no bet if the claimed mean is -1, the smallest difference: it could only gain
        can_stake = claimed > TIE - 1
        growth = (differences - claimed) / np.where(can_stake, 1 + claimed, 1.0)
        growth = np.where(can_stake, growth, 0.0)
        self._capital[pairs] *= 1 + STAKES * growth[..., None]
        self._sums[pairs] += differences
        self._n_added += 1

        # a claim that no remaining outcomes can make true is rejected without a bet
        is_contradicted = self._sums[pairs] > n_remaining - 1 + TIE * self.n_instances
        is_rejected = self._capital[pairs].sum(axis=-1) >= self.limit
        self.above[pairs] |= is_contradicted | is_rejected

        # j does not dominate i if i is above j in some objective, hence the transpose
        self.spared[pairs] |= self.above[pairs].transpose(1, 0, 2).any(axis=2)
        if self._n_added == self.n_instances:
            self.spared[pairs] = ~is_contradicted.all(axis=2)
