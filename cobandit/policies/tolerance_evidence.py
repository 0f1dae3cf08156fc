"""Certain statements about cover within a tolerance: capital that arms lay on the pairs that they need."""

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Sizes of a bet in units of one over the standard deviation of a paired difference,
#: times N / (N - q + 1).
BET_SIZES = np.array([0.1, 0.2, 0.4])
#: Largest part of the capital that one instance may take away.
LARGEST_LOSS = 0.99
#: Sum of squared deviations that every variance starts from: one difference of the
#: largest size.
PRIOR_SCATTER = 1.0
#: A certified race compares when capital was first laid, and then each time after so
#: much more.
STEP = 0.02
#: Instances after which capital is first laid, and then each time that there are twice
#: as many.
FIRST_DEPOSIT = 5
#: Clarity of a cover that is known to be none.
HOPELESS = -1e300


def next_certified_look(depth: int, n_instances: int) -> int:
    """Depth at which a certified race compares next: often, since what is certain is so at any time.

    Examples
    --------
    >>> next_certified_look(0, 300), next_certified_look(20, 300), next_certified_look(200, 300)
    (5, 21, 204)
    """
    return min(n_instances, max(FIRST_DEPOSIT, depth + max(1, int(STEP * depth))))


class ToleranceEvidence:
    r"""Evidence that one configuration is above another less the tolerance, at any time, on any table.

    For configurations i and j and an objective d, capital is bet against the claim
    :math:`\mu_j^{(d)} - \mu_i^{(d)} \le -\tau_d`, that j is at least the tolerance
    below i.  With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and :math:`S_{q-1}` the sum
    of the first q - 1 of N, the claim says that the others average at most :math:`m_q`;
    the capital grows by the factor :math:`G_q`:

    .. math::

        m_q = \frac{-\tau N - S_{q-1}}{N - q + 1}, \qquad
        G_q = \sum_s w_s \bigl(1 + \lambda_s (x_q - m_q)\bigr), \qquad
        \lambda_s = \min\Bigl\{\frac{b_s}{\hat\sigma} \frac{N}{N - q + 1},\ \frac{0.99}{1 + m_q}\Bigr\}

    with three sizes :math:`b_s`, the estimate :math:`\hat\sigma` from the q - 1
    differences seen, and weights :math:`w_s` in proportion to what each size alone
    would have gained on them.  Nothing is bet where the differences seen do not speak
    against the claim.  Where the claim is true, :math:`E[G_q \mid \text{past}] \le 1`.

    Each configuration i has a purse, first 1 / K of one unit.  After 5, 10, 20, 40, ...
    instances it lays half of the purse on the configuration j that is then the clearest
    to cover it: on all D claims of the pair (i, j), since i is covered by j only if all
    of them are given up; and the same amount, in K - 1 equal parts, on *sparing* i from
    each other configuration, where each part is bet in the most promising objective.
    It may do both with one amount, since i is either in the Pareto set, where only a
    wrong cover does harm, or it is not, where only wrong sparing does.  The purse of a
    configuration that leaves is divided among those that stay.  What is bet on is
    certain when its capital reaches 1 / error.

    With probability at least 1 - error over the order of the instances, at all times at
    once:

    1. each certain cover of a configuration of the Pareto set is right;
    2. no configuration outside of the Pareto set is spared from one that is above it by
       the tolerance or more in every objective.

    On declared costs nothing has to be bet: from a configuration that costs too much to
    cover it, each is spared.

    Proof: chapter 5.  No union over pairs, objectives or looks is needed.

    Parameters
    ----------
    n_arms, n_instances : int
        K and N.
    tolerances : ndarray, shape (D,)
    error : float
        In (0, 1).
    affordable : ndarray of bool, shape (K, K), optional
        Whether j may cover i, as [i, j], by costs that are declared.

    Attributes
    ----------
    near : ndarray of bool, shape (K, K, D)
        Whether j is certainly above i less the tolerance.  j certainly covers i if it
        is so in every objective.
    spared : ndarray of bool, shape (K, K)
        Whether j certainly does not dominate i by the tolerance or more.
    purse : ndarray, shape (K,)
        Capital of each configuration that is not laid on anything.

    Notes
    -----
    Time :math:`O(k^2 D)` per instance with k active configurations, memory :math:`O(K^2 D)`.

    Examples
    --------
    The second is right wherever the first is not: it soon covers the first within 0.1.

    >>> evidence = ToleranceEvidence(2, 400, tolerances=np.array([0.1]), error=0.05)
    >>> for _ in range(40):
    ...     evidence.add(np.arange(2), np.array([[0.0], [1.0]]))
    >>> covered, open_ = evidence.read(np.arange(2))
    >>> covered.tolist(), open_.tolist()
    ([[False, True], [False, False]], [[False, True], [False, False]])
    """

    def __init__(
        self,
        n_arms: int,
        n_instances: int,
        tolerances: NDArray[np.float64],
        error: float,
        affordable: NDArray[np.bool_] | None = None,
    ):
        shape = n_arms, n_arms, len(tolerances)
        self.n_instances = n_instances
        self.tolerances = tolerances

        #: Capital from which on something is certain.
        self.limit = 1 / error
        self.near = np.zeros(shape, dtype=np.bool_)
        self.spared = np.eye(n_arms, dtype=np.bool_)

        #: Whether j may cover i, by its cost.
        self.affordable = np.ones((n_arms, n_arms), dtype=np.bool_)
        if affordable is not None:
            self.affordable = affordable
            self.spared |= ~affordable

        self.purse = np.full(n_arms, 1 / n_arms)
        self._seen = 0
        self._next_deposit = FIRST_DEPOSIT
        self._sums = np.zeros(shape)
        self._squares = np.zeros(shape)
        self._weights = np.full((len(BET_SIZES), *shape), 1 / len(BET_SIZES))
        self._cover_capital = np.zeros(shape)
        self._sparing_capital = np.zeros((n_arms, n_arms))

    def add(self, active: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Add one more instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Configurations that were evaluated on it, and on all before it.
        scores : ndarray, shape (k, D)
        """
        pairs = np.ix_(active, active)
        n, left = self._seen, self.n_instances - self._seen
        differences = scores - scores[:, None]
        sums, squares = self._sums[pairs], self._squares[pairs]
        claimed = (-self.tolerances * self.n_instances - sums) / left  # m_q
        ahead = sums - n * claimed  # of what is claimed

        deviation = self._find_deviation(sums, squares, n)
        growth = np.where(
            ahead > 0, self._bet(pairs, differences, claimed, deviation), 1.0
        )
        self._cover_capital[pairs] *= growth

        # i is spared from j if i is above j less the tolerance somewhere: the pair (j,
        # i)
        promising = np.argmax(ahead / deviation, axis=2)[..., None]
        self._sparing_capital[pairs] *= np.take_along_axis(growth, promising, axis=2)[
            ..., 0
        ].T

        self._sums[pairs] += differences
        self._squares[pairs] += differences * differences
        self._seen += 1
        self._conclude(pairs)
        if self._seen == self._next_deposit:
            self._next_deposit *= 2
            self._deposit(active)

    def read(
        self, active: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the certain covers and the pairs that are not spared, shape (k, k) each.

        ``covered[i, j]``: j certainly covers i within the tolerance.
        ``open_[i, j]``: i is not spared from j.
        """
        pairs = np.ix_(active, active)
        covered: NDArray[np.bool_] = (
            np.all(self.near[pairs], axis=2) & self.affordable[pairs]
        )
        np.fill_diagonal(covered, False)
        return covered, ~self.spared[pairs]

    def release(self, active: NDArray[np.int64]) -> None:
        """Divide the purses of configurations that have left among those that are active."""
        has_left = np.ones(len(self.purse), dtype=np.bool_)
        has_left[active] = False
        freed = 0.0
        # one by one, as the kernel adds them up
        for purse in self.purse[has_left].tolist():
            freed += purse
        self.purse[has_left] = 0.0
        if len(active):
            self.purse[active] += freed / len(active)

    @staticmethod
    def _find_deviation(
        sums: NDArray[np.float64], squares: NDArray[np.float64], n: int
    ) -> NDArray[np.float64]:
        """Estimate the standard deviation of paired differences, which is 1 before any is seen."""
        mean = sums / max(n, 1)
        scatter = np.maximum(squares - n * (mean * mean), 0.0) + PRIOR_SCATTER
        deviation: NDArray[np.float64] = np.sqrt(scatter / (n + 1))
        return deviation

    def _bet(
        self,
        pairs: tuple[NDArray[np.int64], ...],
        differences: NDArray[np.float64],
        claimed: NDArray[np.float64],
        deviation: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the factors by which capital on pairs grows, shape (k, k, D)."""
        can_bet = claimed > TIE - 1  # otherwise no outcome is below what is claimed
        above = np.where(can_bet, differences - claimed, 0.0)
        largest = LARGEST_LOSS / np.where(can_bet, 1 + claimed, 1.0)
        unit = self.n_instances / (self.n_instances - self._seen) / deviation
        growth = np.zeros(differences.shape)
        for weight, size in zip(self._weights, BET_SIZES, strict=True):
            weight[pairs] *= 1 + np.minimum(size * unit, largest) * above
            growth += weight[pairs]
        for weight in self._weights:
            weight[pairs] /= growth
        return growth

    def _conclude(self, pairs: tuple[NDArray[np.int64], ...]) -> None:
        """Note what is certain by now: by capital, or since whatever is left cannot change it."""
        left, slack = self.n_instances - self._seen, TIE * self.n_instances
        contradicted = (
            self._sums[pairs] - left > -self.tolerances * self.n_instances + slack
        )
        self.near[pairs] |= contradicted | (self._cover_capital[pairs] >= self.limit)
        self.spared[pairs] |= contradicted.any(axis=2).T | (
            self._sparing_capital[pairs] >= self.limit
        )

    def _deposit(self, active: NDArray[np.int64]) -> None:
        """Lay half of each purse on the configuration that is the clearest to cover its owner."""
        if len(active) < 2:
            return

        pairs = np.ix_(active, active)
        mean = self._sums[pairs] / self._seen
        scatter = (
            np.maximum(self._squares[pairs] - self._seen * (mean * mean), 0.0)
            + PRIOR_SCATTER
        )
        clear = ((mean + self.tolerances) / np.sqrt(scatter)).min(axis=2)
        clear[~self.affordable[pairs]] = HOPELESS
        np.fill_diagonal(clear, -np.inf)
        laid = self.purse[active] / 2
        self.purse[active] -= laid
        self._cover_capital[active, active[clear.argmax(axis=1)]] += laid[:, None]
        self._sparing_capital[active] += (laid / (len(self.purse) - 1))[:, None]
