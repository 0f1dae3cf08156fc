"""Anytime-valid evidence that one arm is not worse than another by a tolerance."""

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Sizes b_s of a bet on the q-th of N instances. Their unit is N / (N - q + 1), divided
#: by the standard deviation of a paired difference.
BET_SIZES = np.array([0.1, 0.2, 0.4])
#: Largest share of the capital that one instance may cost.
LARGEST_LOSS = 0.99
#: Number that is added to the sum of squared deviations in every estimate of a
#: variance: the square of the largest deviation, 1.
PRIOR_SCATTER = 1.0
#: Relative growth of the number of instances between comparisons of a certified
#: `ParetoRace`.
STEP = 0.02
#: Number of instances at the first deposit of capital. There is another deposit
#: whenever this number has doubled.
FIRST_DEPOSIT = 5
#: Clarity of the statement that j covers i, if j costs too much to cover i. It is
#: finite, so that a configuration never covers itself (clarity -inf).
HOPELESS = -1e300


def next_certified_look(depth: int, n_instances: int) -> int:
    """Return the number of instances at which a certified race compares arms next.

    A certified race is a `cobandit.ParetoRace` with ``certified=True``. Its last
    comparison was at ``depth`` instances.

    The evidence is valid at any time, so frequent comparisons do no harm.

    Examples
    --------
    >>> [next_certified_look(depth, 300) for depth in (0, 20, 200)]
    [5, 21, 204]
    """
    return min(n_instances, max(FIRST_DEPOSIT, depth + max(1, int(STEP * depth))))


class ToleranceEvidence:
    r"""Anytime-valid evidence that an arm is not worse than another by a tolerance.

    Configuration j *covers* i if j is worse than i by less than the tolerance in each
    objective. The evidence is valid for any table. For each pair and objective d,
    capital is bet against the *claim* :math:`\mu_j^{(d)} - \mu_i^{(d)} \le -\tau_d`: j
    is worse than i by at least the tolerance. Let :math:`x_q = X_{jq} - X_{iq} \in [-1,
    1]` be the difference on the q-th of N instances, and let :math:`S_{q-1}` be the sum
    of the first q - 1 differences. Then the claim states that the mean of the remaining
    differences is at most :math:`m_q`. The q-th instance multiplies the capital by
    :math:`G_q`:

    .. math::

        m_q = \frac{-\tau N - S_{q-1}}{N - q + 1}, \qquad
        G_q = \sum_s w_s \bigl(1 + \lambda_s (x_q - m_q)\bigr), \qquad
        \lambda_s = \min\Bigl\{\frac{b_s}{\hat\sigma} \frac{N}{N - q + 1},\
            \frac{0.99}{1 + m_q}\Bigr\}

    There are three bet sizes :math:`b_s`. The estimate :math:`\hat\sigma` and the
    weights :math:`w_s` use the first q - 1 differences. The weight of size s is
    proportional to the capital that bets of this size alone would have reached. Nothing
    is bet if these differences do not contradict the claim. If the claim is true,
    :math:`E[G_q \mid \text{past}] \le 1`.

    Each configuration i has a *purse* of capital, initially 1 / K. After 5, 10, 20, 40,
    ... instances, half of the purse is deposited, that is, bet from then on. The
    deposit is used for two statements:

    - *j covers i*, where j is the configuration that most clearly covers i. The amount
      is deposited on each of the D claims of the pair (i, j), because j covers i only
      if all of them are rejected.
    - *i is spared from j*: j does not dominate i by the tolerance or more. The amount
      is divided equally among the K - 1 other configurations j, and each part is bet in
      the most promising objective.

    The same amount can be used twice, because only one of the two statements can do
    harm if it is wrong: the first if i is in the Pareto set, the second if it is not.
    The purse of a removed configuration is divided among the others. A statement is
    certain as soon as its capital reaches 1 / error.

    With probability at least 1 - error over the order of the instances, the following
    holds at all times:

    1. If a configuration of the Pareto set counts as certainly covered, it is covered.
    2. No configuration outside the Pareto set is spared from one that is above it by
       the tolerance or more in every objective.

    Declared costs need no bets: each configuration is spared from configurations that
    cost too much to cover it. The proof is in chapter 5. It needs no union bound over
    pairs, objectives or comparisons.

    Parameters
    ----------
    n_arms, n_instances : int
        K and N.
    tolerances : ndarray, shape (D,)
    error : float
        In (0, 1).
    affordable : ndarray of bool, shape (K, K), optional
        Entry [i, j] is True if j can cover i at the declared costs.

    Attributes
    ----------
    near : ndarray of bool, shape (K, K, D)
        Entry [i, j, d] is True if j is certainly not below i by the tolerance or more
        in objective d. If this holds in every objective, j certainly covers i.
    spared : ndarray of bool, shape (K, K)
        Entry [i, j] is True if j certainly does not dominate i by the tolerance or
        more.
    purse : ndarray, shape (K,)
        Capital that each configuration has not yet deposited.

    Notes
    -----
    Time :math:`O(k^2 D)` per instance with k active configurations, memory :math:`O(K^2
    D)`.

    Examples
    --------
    The second configuration is always right, and the first never. The second soon
    covers the first within 0.1.

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

        #: Capital at which a statement is certain.
        self.limit = 1 / error
        self.near = np.zeros(shape, dtype=np.bool_)
        self.spared = np.eye(n_arms, dtype=np.bool_)

        #: Entry [i, j] is True if j can cover i at the declared costs.
        self.affordable = np.ones((n_arms, n_arms), dtype=np.bool_)
        if affordable is not None:
            self.affordable = affordable
            self.spared |= ~affordable

        self.purse = np.full(n_arms, 1 / n_arms)
        self._n_added = 0
        self._next_deposit = FIRST_DEPOSIT
        self._sums = np.zeros(shape)
        self._squares = np.zeros(shape)
        self._weights = np.full((len(BET_SIZES), *shape), 1 / len(BET_SIZES))
        self._cover_capital = np.zeros(shape)
        self._sparing_capital = np.zeros((n_arms, n_arms))

    def add(self, active: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Add the scores of active configurations on one instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Configurations that were evaluated on this instance and on all earlier ones.
        scores : ndarray, shape (k, D)
        """
        pairs = np.ix_(active, active)
        n = self._n_added
        n_remaining = self.n_instances - n
        differences = scores - scores[:, None]
        sums = self._sums[pairs]
        claimed = (-self.tolerances * self.n_instances - sums) / n_remaining  # m_q

        # bet only if the earlier differences contradict the claim
        excess = sums - n * claimed
        deviation = self._find_deviation(sums, self._squares[pairs], n)
        growth = self._bet(pairs, differences, claimed, deviation)
        growth = np.where(excess > 0, growth, 1.0)
        self._cover_capital[pairs] *= growth

        # i is spared from j if i is not below j by the tolerance in some objective: use
        # the claim of the pair (j, i) in its most promising objective
        promising = np.argmax(excess / deviation, axis=2)[..., None]
        best_growth = np.take_along_axis(growth, promising, axis=2)[..., 0]
        self._sparing_capital[pairs] *= best_growth.T

        self._sums[pairs] += differences
        self._squares[pairs] += differences * differences
        self._n_added += 1
        self._conclude(pairs)
        if self._n_added == self._next_deposit:
            self._next_deposit *= 2
            self._deposit(active)

    def read(
        self, active: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks of pairs: j certainly covers i, and j may still dominate i.

        Returns
        -------
        covered : ndarray of bool, shape (k, k)
            Entry [i, j] is True if j certainly covers i within the tolerance.
        open_ : ndarray of bool, shape (k, k)
            Entry [i, j] is True if j may dominate i by the tolerance or more, that is,
            if i is not spared from j.
        """
        pairs = np.ix_(active, active)
        is_near = np.all(self.near[pairs], axis=2)
        covered: NDArray[np.bool_] = is_near & self.affordable[pairs]
        np.fill_diagonal(covered, False)
        return covered, ~self.spared[pairs]

    def release(self, active: NDArray[np.int64]) -> None:
        """Divide the unused capital (purses) of removed arms among the active ones."""
        has_left = np.ones(len(self.purse), dtype=np.bool_)
        has_left[active] = False

        # add one by one, as the kernel does, so that rounding errors agree
        freed = 0.0
        for purse in self.purse[has_left].tolist():
            freed += purse
        self.purse[has_left] = 0.0
        if len(active):
            self.purse[active] += freed / len(active)

    @staticmethod
    def _find_deviation(
        sums: NDArray[np.float64], squares: NDArray[np.float64], n: int
    ) -> NDArray[np.float64]:
        """Return estimated standard deviations of paired differences, initially 1."""
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
        """Return the factors G_q by which capital on pairs grows, shape (k, k, D)."""
        # no bet if the claimed mean is -1, the smallest difference: it could only gain
        can_bet = claimed > TIE - 1
        above = np.where(can_bet, differences - claimed, 0.0)
        largest = LARGEST_LOSS / np.where(can_bet, 1 + claimed, 1.0)
        unit = self.n_instances / (self.n_instances - self._n_added) / deviation

        # the weight of a size is its share of the capital so far
        growth = np.zeros(differences.shape)
        for weight, size in zip(self._weights, BET_SIZES, strict=True):
            weight[pairs] *= 1 + np.minimum(size * unit, largest) * above
            growth += weight[pairs]
        for weight in self._weights:
            weight[pairs] /= growth
        return growth

    def _conclude(self, pairs: tuple[NDArray[np.int64], ...]) -> None:
        """Record the statements that are now certain."""
        # a claim that no remaining differences can make true is contradicted
        n_remaining = self.n_instances - self._n_added
        largest_sum = -self.tolerances * self.n_instances + TIE * self.n_instances
        is_contradicted = self._sums[pairs] - n_remaining > largest_sum

        self.near[pairs] |= is_contradicted
        self.near[pairs] |= self._cover_capital[pairs] >= self.limit
        self.spared[pairs] |= is_contradicted.any(axis=2).T
        self.spared[pairs] |= self._sparing_capital[pairs] >= self.limit

    def _deposit(self, active: NDArray[np.int64]) -> None:
        """Bet half of each arm's unused capital on both statements about the arm."""
        if len(active) < 2:
            return

        # clarity of the cover of i by j, in the objective in which it is least clear
        n = self._n_added
        pairs = np.ix_(active, active)
        mean = self._sums[pairs] / n
        scatter = np.maximum(self._squares[pairs] - n * (mean * mean), 0.0)
        scatter += PRIOR_SCATTER
        clarity = ((mean + self.tolerances) / np.sqrt(scatter)).min(axis=2)
        clarity[~self.affordable[pairs]] = HOPELESS
        np.fill_diagonal(clarity, -np.inf)

        deposit = self.purse[active] / 2
        self.purse[active] -= deposit
        clearest = active[clarity.argmax(axis=1)]
        self._cover_capital[active, clearest] += deposit[:, None]
        self._sparing_capital[active] += (deposit / (len(self.purse) - 1))[:, None]
