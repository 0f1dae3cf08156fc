"""Certain statements about cover within a tolerance, by bets on pairs of arms."""

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE

#: Sizes of a bet, in units of N / (N - q + 1) over the standard deviation of a paired
#: difference.
BET_SIZES = np.array([0.1, 0.2, 0.4])
#: Largest share of the capital that one instance may cost.
LARGEST_LOSS = 0.99
#: Initial sum of squared deviations of every variance: one difference of the largest
#: size.
PRIOR_SCATTER = 1.0
#: Growth of the depth between comparisons of a certified race.
STEP = 0.02
#: Instances after which capital is first deposited. It is deposited again whenever
#: their number has doubled.
FIRST_DEPOSIT = 5
#: Clarity of a cover that costs exclude.
HOPELESS = -1e300


def next_certified_look(depth: int, n_instances: int) -> int:
    """Return the depth of the next comparison of a certified race.

    Comparisons are frequent, since certain statements hold at any time.

    Examples
    --------
    >>> [next_certified_look(depth, 300) for depth in (0, 20, 200)]
    [5, 21, 204]
    """
    return min(n_instances, max(FIRST_DEPOSIT, depth + max(1, int(STEP * depth))))


class ToleranceEvidence:
    r"""Evidence at any time that a configuration is above another less a tolerance.

    It holds on any table.  For configurations i and j and an objective d, capital is
    bet against the claim :math:`\mu_j^{(d)} - \mu_i^{(d)} \le -\tau_d`, that j is at
    least the tolerance below i.  With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and
    :math:`S_{q-1}` the sum of the first q - 1 of N differences, the claim says that the
    remaining differences average at most :math:`m_q`.  The capital grows by the factor
    :math:`G_q`:

    .. math::

        m_q = \frac{-\tau N - S_{q-1}}{N - q + 1}, \qquad
        G_q = \sum_s w_s \bigl(1 + \lambda_s (x_q - m_q)\bigr), \qquad
        \lambda_s = \min\Bigl\{\frac{b_s}{\hat\sigma} \frac{N}{N - q + 1},\
            \frac{0.99}{1 + m_q}\Bigr\}

    with three sizes :math:`b_s`, the estimate :math:`\hat\sigma` from the first q - 1
    differences, and weights :math:`w_s` proportional to the gain of each size alone on
    these differences.  Nothing is bet if these differences do not contradict the claim.
    If the claim is true, :math:`E[G_q \mid \text{past}] \le 1`.

    Each configuration i has a purse, initially 1 / K of one unit.  After 5, 10, 20, 40,
    ... instances it deposits half of the purse on the configuration j that most clearly
    covers it, on all D claims of the pair (i, j), since j covers i only if all of them
    are rejected.  It deposits the same amount, in K - 1 equal parts, on *sparing* i
    from each other configuration, and each part is bet in the most promising objective.
    One amount serves for both, since i either is in the Pareto set, where only a wrong
    cover does harm, or is not in it, where only wrong sparing does.  The purse of a
    removed configuration is divided among the others.  A statement is certain when its
    capital reaches 1 / error.

    With probability at least 1 - error over the order of the instances, at all times at
    once:

    1. each certain cover of a configuration of the Pareto set is right;
    2. no configuration outside of the Pareto set is spared from one that is above it by
       the tolerance or more in every objective.

    Declared costs need no bets: each configuration is spared from configurations that
    cost too much to cover it.

    Proof: chapter 5.  It needs no union bound over pairs, objectives or looks.

    Parameters
    ----------
    n_arms, n_instances : int
        K and N.
    tolerances : ndarray, shape (D,)
    error : float
        In (0, 1).
    affordable : ndarray of bool, shape (K, K), optional
        Whether the declared cost of j lets it cover i, at [i, j].

    Attributes
    ----------
    near : ndarray of bool, shape (K, K, D)
        Whether j is certainly above i less the tolerance.  If this holds in every
        objective, j certainly covers i.
    spared : ndarray of bool, shape (K, K)
        Whether j certainly does not dominate i by the tolerance or more.
    purse : ndarray, shape (K,)
        Capital of each configuration that is not deposited.

    Notes
    -----
    Time :math:`O(k^2 D)` per instance with k active configurations, memory :math:`O(K^2
    D)`.

    Examples
    --------
    The second is always right and the first never: it soon covers the first within 0.1.

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

        #: Whether the cost of j lets it cover i.
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
        """Add one instance.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
            Configurations that were evaluated on it, and on all instances before it.
        scores : ndarray, shape (k, D)
        """
        pairs = np.ix_(active, active)
        n = self._n_added
        n_remaining = self.n_instances - n
        differences = scores - scores[:, None]
        sums = self._sums[pairs]
        claimed = (-self.tolerances * self.n_instances - sums) / n_remaining  # m_q

        # a bet needs earlier differences that exceed the claim
        excess = sums - n * claimed
        deviation = self._find_deviation(sums, self._squares[pairs], n)
        growth = self._bet(pairs, differences, claimed, deviation)
        growth = np.where(excess > 0, growth, 1.0)
        self._cover_capital[pairs] *= growth

        # i is spared from j if i is above j less the tolerance somewhere: the pair (j,
        # i), in its most promising objective
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
        """Return the certain covers and the pairs that are not spared.

        Returns
        -------
        covered : ndarray of bool, shape (k, k)
            Whether j certainly covers i within the tolerance, at [i, j].
        open_ : ndarray of bool, shape (k, k)
            Whether i is not spared from j, at [i, j].
        """
        pairs = np.ix_(active, active)
        is_near = np.all(self.near[pairs], axis=2)
        covered: NDArray[np.bool_] = is_near & self.affordable[pairs]
        np.fill_diagonal(covered, False)
        return covered, ~self.spared[pairs]

    def release(self, active: NDArray[np.int64]) -> None:
        """Divide the purses of removed configurations among the active ones."""
        has_left = np.ones(len(self.purse), dtype=np.bool_)
        has_left[active] = False

        # added up one by one, in the order of the kernel
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
        """Estimate the standard deviation of paired differences, initially 1."""
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
        # nothing can be bet against a claim of -1, since no outcome is below it
        can_bet = claimed > TIE - 1
        above = np.where(can_bet, differences - claimed, 0.0)
        largest = LARGEST_LOSS / np.where(can_bet, 1 + claimed, 1.0)
        unit = self.n_instances / (self.n_instances - self._n_added) / deviation

        # the weights of the sizes are their shares of the capital so far
        growth = np.zeros(differences.shape)
        for weight, size in zip(self._weights, BET_SIZES, strict=True):
            weight[pairs] *= 1 + np.minimum(size * unit, largest) * above
            growth += weight[pairs]
        for weight in self._weights:
            weight[pairs] /= growth
        return growth

    def _conclude(self, pairs: tuple[NDArray[np.int64], ...]) -> None:
        """Record the certain statements, by capital or by the remaining instances."""
        # no remaining differences can make a contradicted claim true
        n_remaining = self.n_instances - self._n_added
        largest_sum = -self.tolerances * self.n_instances + TIE * self.n_instances
        is_contradicted = self._sums[pairs] - n_remaining > largest_sum

        self.near[pairs] |= is_contradicted
        self.near[pairs] |= self._cover_capital[pairs] >= self.limit
        self.spared[pairs] |= is_contradicted.any(axis=2).T
        self.spared[pairs] |= self._sparing_capital[pairs] >= self.limit

    def _deposit(self, active: NDArray[np.int64]) -> None:
        """Deposit half of each purse on the clearest cover, and on sparing."""
        if len(active) < 2:
            return

        # clarity of the cover of i by j, by the objective in which it is least clear
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
