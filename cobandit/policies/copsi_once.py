"""CoPSI on a finite benchmark, where every evaluation is made once: this project's, not the paper's."""

from collections.abc import Iterator
from math import floor, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit._budget import SLACK
from cobandit.dominance import TIE, find_clearest
from cobandit.errors import CobanditError
from cobandit.policies.identification_policy import Phase
from cobandit.policies.once_policy import Once

#: Shares of the capital that are staked on each evaluation; each starts with the same
#: part of it.
STAKES = np.array([0.9, 0.75, *2.0 ** -np.arange(1, 6)])


def count_claims(n_arms: int, n_objectives: int, n_dominated: int, n_front: int) -> int:
    r"""Count the true claims, at most, that a wrong membership needs to be given up.

    .. math:: \max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D

    With a front of p, one claim for each of its p members and each other configuration,
    in an objective in which that is not above it; and D for each of the others and one
    that dominates it.

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
    ends = [p * (n_arms - 1) + (n_arms - p) * n_objectives for p in (least, most)]
    return max(ends[0], ends[1])


class PairedEvidence:
    r"""Which configuration is certainly above which, at any time, from paired evaluations in random order.

    For each pair and objective, capital is staked against the claim that the full mean
    of j is not above that of i.  With :math:`x_q = X_{jq} - X_{iq} \in [-1, 1]` and
    :math:`S_{q-1}` the sum of the first q - 1 of N differences, the claim says that the
    others average at most :math:`m_q`:

    .. math::

        m_q = \frac{-S_{q-1}}{N - q + 1}, \qquad
        W_n = \frac1{|\Lambda|} \sum_{\lambda \in \Lambda}
              \prod_{q=1}^n \Bigl(1 + \lambda\, \frac{x_q - m_q}{1 + m_q}\Bigr), \qquad
        \Lambda = \{.9, .75, 2^{-1}, \dots, 2^{-5}\}

    Where the claim is true, each factor is positive and has mean at most one given the
    past, so that W is a supermartingale and exceeds :math:`1 / \delta` at any time with
    probability at most :math:`\delta` (Ville; the bets without replacement of
    Waudby-Smith and Ramdas, 2024).  A claim is given up at

    .. math:: \frac1\delta = \frac{\max_{\max\{F, 1\} \le p \le K - R} p\, (K - 1) + (K - p)\, D}
                                  {1 - \text{confidence}}

    with R configurations certainly dominated and F certainly on the front, so that the
    limit falls as memberships become certain, and all are right with probability at
    least ``confidence``.  Proof: for a front of p, take for each member i and each
    other j the claim in an objective in which j is not above i, and for each i that is
    dominated the D claims that i is not above j, for a j on the front that dominates
    it.  (There is one; and since j is never rightly called dominated, i is compared
    with j until i is dominated, too.)  These p (K - 1) + (K - p) D claims are true, and
    while none of them is given up, no membership is wrong.  With probability at least
    ``confidence`` none of their capitals ever reaches their number over 1 -
    ``confidence``.  Then none is given up: up to a first wrong membership R and F count
    right ones, so that F <= p <= K - R and the limit is not below that (as in Holm's
    step-down).

    A claim that the evaluations seen contradict outright, :math:`S_q > N - q` by more
    than a tie, is given up for certain.  After N evaluations ``spared`` is exact;
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

    def __init__(
        self, n_arms: int, n_objectives: int, n_instances: int, confidence: float
    ):
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
        claims = count_claims(
            n_arms,
            n_objectives,
            int(dominated.sum()),
            int((certain & ~dominated).sum()),
        )
        self.limit = min(self.limit, claims / self.delta)

    def leaving(self, active: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the active are certain and no longer needed, shape (k,).

        One on the front is needed until it is certain, too, which of the others it
        dominates.
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
        # otherwise nothing can be staked: no outcome is below what is claimed
        open_ = claimed > TIE - 1
        growth = (differences - claimed) / np.where(open_, 1 + claimed, 1.0)
        self._capital[pairs] *= 1 + STAKES * np.where(open_, growth, 0.0)[..., None]
        self._sums[pairs] += differences
        self._seen += 1

        contradicted = self._sums[pairs] > left - 1 + TIE * self.n_instances
        self.above[pairs] |= contradicted | (
            self._capital[pairs].sum(axis=-1) >= self.limit
        )
        self.spared[pairs] |= self.above[pairs].transpose(1, 0, 2).any(axis=2)
        if self._seen == self.n_instances:
            self.spared[pairs] = ~contradicted.all(axis=2)


#: Paired differences are looked at every so many evaluations, and first after five.
FIRST_LOOK, STEP = 5, 0.05
#: Standard errors that a gap has to reach, at the least, for an early departure.
LEAST_CLEAR = 3.0
#: Variance of one more evaluation, which every estimate of a variance starts from: the
#: largest in [0, 1].
PRIOR_VARIANCE = 0.25


def planned_depth(costs: ArrayLike, depth: int, n_instances: int, left: float) -> int:
    r"""Deepest n for the next removal such that all later ones, the most expensive first, can be paid.

    .. math::

        n_r = \min\Bigl\{N, \Bigl\lfloor \frac{m\, C_1}{C_r} \Bigr\rfloor\Bigr\}, \qquad
        \max\Bigl\{m \in [n_0, N] : \sum_{r=1}^{k-1} C_r\, (n_r - n_{r-1}) \le R \Bigr\}

    with :math:`C_r` the cost of one evaluation of each configuration that is left when
    the r - 1 most expensive have gone.  The first phase costs exactly :math:`C_1 (m -
    n_0)` of R, whatever leaves then; a plan that is made again after each removal with
    what is left never spends more than R.  At m = N it is the plan that evaluates
    everything.

    There may be no such m: at costs 1, 4, 1 and a depth of 3 the plan takes the two
    cheap ones on to 9, which costs 12, if m is 3.  Then the depth itself is returned:
    nobody is evaluated any further before one leaves, and what is left is planned again
    for the others.

    Parameters
    ----------
    costs : array_like, shape (k,)
        Of the k >= 2 active configurations.
    depth, n_instances : int
        :math:`n_0 \le N`: evaluations that each of them has, and how many there are.
    left : float
        R, what is left of the budget, in the unit of the costs.

    Returns
    -------
    int
        m, or :math:`n_0` if there is none.  Time O(k log(k N)).

    Examples
    --------
    Ten units hold one round of all three (6), and two more of those that are cheap (4).

    >>> planned_depth([1, 4, 1], depth=0, n_instances=10, left=10)
    1
    >>> planned_depth([1, 4, 1], depth=0, n_instances=10, left=60)  # everything
    10
    """
    return find_depth(
        np.cumsum(np.sort(_validation.costs(costs))), depth, n_instances, left
    )


def find_depth(
    sums: NDArray[np.float64], depth: int, n_instances: int, left: float
) -> int:
    """As `planned_depth`, of sums of the cheapest, second cheapest, ...; the kernel runs this, too, compiled.

    A phase that is too dear, or evaluates everything, decides: what the later ones cost
    is never negative.
    """
    low, high = depth, n_instances + 1
    while high - low > 1:
        middle = (low + high) // 2
        reached, spend = depth, 0.0
        for round_cost in sums[:0:-1]:  # C_1, ..., C_{k-1}
            target = min(
                n_instances, floor(middle * sums[-1] / round_cost * (1.0 + SLACK))
            )
            if target > reached:
                spend += round_cost * (target - reached)
                reached = target
            if spend > left or reached == n_instances:
                break
        low, high = (middle, high) if spend <= left else (low, middle)

    return low


def find_gaps(
    weakest: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Compute classification gaps, as `cobandit.classification_gaps`, of differences instead of means.

    Parameters
    ----------
    weakest : ndarray, shape (k, k)
        m(i, j), how far j is above i where it is weakest, in units that may differ from
        pair to pair; M(i, j) is -m(i, j), and how far j is above i where it is
        strongest is -m(j, i).  On the diagonal -inf.

    Returns
    -------
    gaps : ndarray, shape (k,)
        Never negative.
    front : ndarray of bool, shape (k,)

    Examples
    --------
    >>> find_gaps(np.array([[-inf, 0.5], [-1.0, -inf]]))
    (array([0.5, 0.5]), array([False,  True]))
    """
    minus = weakest.max(axis=1)
    needed = np.maximum(-weakest.T, 0.0) + np.maximum(minus, 0.0)
    plus = np.minimum(-weakest, needed).min(axis=1)
    front = minus <= 0
    return np.where(front, plus, minus), front


class CoPSIOnce(Once):
    r"""CoPSI on N instances that all configurations share, each evaluated at most once.

    The instances stand in one uniformly random order, the same for all: the n-th
    evaluation of a configuration is on instance n of that order.  With the active
    configurations :math:`A` evaluated on the first n instances and :math:`R` left of
    the budget,

    .. math::

        \hat t_{ij}^{(d)} &= \frac{\hat\mu_j^{(d)} - \hat\mu_i^{(d)}}{\hat s_{ij}^{(d)} / \sqrt n}
            \Bigl(1 - \frac nN\Bigr)^{-1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \sum_{q \le n} \bigl(X_{jq} - X_{iq} - (\hat\mu_j - \hat\mu_i)\bigr)^2\Bigr), \\
        \hat z_i &= \text{the classification gap of } i \text{ with } \hat t_{ij}
            \text{ in the place of } \mu_j - \mu_i, \\
        m &= \text{the depth that } R \text{ affords before the next removal (planned\_depth)}, \\
        &\text{the clearest, } \arg\max_{i \in A} \hat z_i, \text{ leaves as soon as} \quad
        \hat z_i \ge \max\bigl\{3, \sqrt{2 \log(K D)}\bigr\} \Bigl(\frac{1 - n/m}{1 - m/N}\Bigr)^{1/2} .

    :math:`\hat t` is the paired t-statistic with the correction for a finite population, and
    :math:`\sqrt{2 \log(KD)}` what the largest of K D such statistics reaches by chance; on short lists, where
    that is little, it takes three standard errors, since all are looked at again and again.  At n = m the
    threshold is zero: what the budget affords is reached, and the clearest has to leave.  At m = N it is
    infinite: everything that is left can be evaluated, and nobody leaves before it is known exactly.  In
    between, the nearer the planned removal, the less it takes to leave early; what is saved pays for the
    others.  n grows in steps of 5 %.

    No run spends more than B, in whatever order configurations leave; where everything
    is evaluated, the answer is exact.  Without ``confidence`` early departures follow a
    rule of thumb.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one evaluation of each configuration, in the user's unit.
    budget : float
        B, in the same unit; evaluating everything takes N times the sum of the costs.
    n_objectives : int
        D >= 1.
    n_instances : int
        N: instances that every configuration can be evaluated on.  Instances that some
        configuration can never be evaluated on do not count: leave them out, for all.
        For one of which that is seen in the run `leave_out` makes n and N smaller; what
        it cost is lost.
    confidence : float, optional
        In (0, 1).  Configurations then leave early only when their membership is
        certain: with at least this probability, over the order of the instances, no
        membership in `certain` is wrong, at any time.  The run stops when all are
        certain; where the budget does not reach that far, the clearest leaves at the
        planned depth, uncertain.  No instance can be left out of such a run: which one
        would be depends on who is still active, and the bets are against a fixed set.
    largest_costs : array_like, shape (K,), optional
        As in `IdentificationPolicy`.

    Raises
    ------
    BudgetError
        If the budget does not hold one evaluation of each configuration.

    Examples
    --------
    Evaluating everything would cost 60.  Configuration 1 costs four times as much as the others and leaves
    after three evaluations, clearly on the front; 2 is then found to be dominated by 0.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = CoPSIOnce(costs=[1, 4, 1], budget=30, n_objectives=2, n_instances=10)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([8, 3, 8]), 28.0)
    """

    label = "CoPSI once"

    def __init__(
        self,
        costs: ArrayLike,
        budget: float,
        n_objectives: int,
        n_instances: int,
        *,
        confidence: float | None = None,
        largest_costs: ArrayLike | None = None,
    ):
        self.confidence = (
            None
            if confidence is None
            else _validation.positive(confidence, "confidence", 1.0)
        )
        if self.confidence == 1.0:
            raise CobanditError(
                "confidence is 1: only evaluating everything is certain; take less"
                " than one"
            )

        super().__init__(
            costs, budget, n_objectives, n_instances, largest_costs=largest_costs
        )

        #: Square of what a gap has to reach: what the largest of K D statistics does by
        #: chance, and 3.
        self.chance = max(LEAST_CLEAR**2, 2 * log(self.n_arms * self.n_objectives))

        #: Evaluations on which all active configurations are compared: n.
        self.depth = 0
        shape = self.n_arms, self.n_objectives
        self._sums = np.zeros(shape)

        #: Of paired differences, of those that are active.
        self._squares = np.zeros((self.n_arms, self.n_arms, self.n_objectives))

        #: What is certain so far; None without ``confidence``.
        self.evidence = None
        if self.confidence is not None:
            self.evidence = PairedEvidence(*shape, self.n_instances, self.confidence)

    def leave_out(self, pull: int) -> None:  # noqa: D102 (as its parent)
        if self.evidence:
            raise CobanditError(
                "with a confidence no instance can be left out: what is certain is"
                f" certain of all {self.n_instances}; tell a score, or leave the"
                " instance out of a new run"
            )
        super().leave_out(pull)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whose membership is certain at ``confidence``, shape (K,); nobody's without it."""
        return (
            self.evidence.certain
            if self.evidence
            else np.zeros(self.n_arms, dtype=np.bool_)
        )

    def recommend(self) -> NDArray[np.int64]:
        """Estimate the Pareto set of the full means.

        Returns
        -------
        ndarray of int
            Sorted numbers: those accepted, and the empirical Pareto set of those still
            active, all compared on the same instances.  Empty before each has been
            evaluated once.
        """
        return self._front_of_shared()

    def _schedule(self) -> Iterator[int | None]:
        # in the order of the instances: more than the depth if some are left out
        reached = 0
        while len(self._active) > 1 and self.depth < self.n_kept:
            step = max(FIRST_LOOK, self.depth + max(1, int(STEP * self.depth)))
            start, reached = (
                reached,
                reached + min(step, max(1, self._target())) - self.depth,
            )
            yield from self._evaluate(reached)
            self._compare(slice(start, reached))
            if 0 < self.depth < self.n_kept:
                self._let_leave(self._find_weakest())

    def _target(self) -> int:
        """Compute m."""
        left = _budget.add_slack(self.budget) - self.spent
        return planned_depth(self.costs[self._active], self.depth, self.n_kept, left)

    def _compare(self, instances: slice) -> None:
        """Take in instances on which all active configurations are evaluated, but for those left out."""
        active, pairs = self._active, np.ix_(self._active, self._active)
        for scores in self._rewards[instances][~self.left_out[instances]][:, active]:
            differences = scores - scores[:, None]
            self._sums[active] += scores
            self._squares[pairs] += differences**2
            self.depth += 1
            if self.evidence:
                self.evidence.add(active, differences)
        if self.evidence:
            self.evidence.lower_limit()

    def _find_weakest(self) -> NDArray[np.float64]:
        """Compute the smallest of the D paired t-statistics of j over i, shape (k, k)."""
        n, active = self.depth, self._active
        means = self._sums[active] / n
        differences = means - means[:, None]
        differences[np.abs(differences) <= TIE] = 0.0
        squares = self._squares[np.ix_(active, active)]
        scatter = np.maximum(squares - n * differences**2, 0.0) + PRIOR_VARIANCE
        errors = np.sqrt(scatter * ((1 - n / self.n_kept) / (n * n)))
        weakest: NDArray[np.float64] = (differences / errors).min(axis=2)
        np.fill_diagonal(weakest, -inf)
        return weakest

    def _let_leave(self, weakest: NDArray[np.float64]) -> None:
        """Let configurations leave, one after the other, for as long as one may."""
        n, N = self.depth, self.n_kept
        while len(active := self._active) > 1:
            gaps, front = find_gaps(weakest)
            if self.evidence and (sure := self.evidence.leaving(active)).any():
                # the dominated before those that dominate them: whoever is left last is
                # returned
                dominated = self.evidence.dominated[active]
                leaving, front = (
                    int((dominated if dominated.any() else sure).argmax()),
                    ~dominated,
                )
            else:
                target, leaving = self._target(), find_clearest(gaps, front)
                if target == N or (self.evidence and n < target):
                    return
                if gaps[leaving] < sqrt(
                    self.chance * (1 - n / target) / (1 - target / N)
                ):
                    return
            means, removed, accepted = (
                self._sums[active] / n,
                int(active[leaving]),
                bool(front[leaving]),
            )
            self._end(
                Phase(len(self.phases) + 1, active, n, means, gaps, removed, accepted)
            )
            weakest = np.delete(np.delete(weakest, leaving, axis=0), leaving, axis=1)
