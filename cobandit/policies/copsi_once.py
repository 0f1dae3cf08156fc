"""CoPSI on a finite benchmark, where every evaluation is made once: this project's, not the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import TIE
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.elimination import GAP_ATOL, GAP_RTOL
from cobandit.policies.evidence import PairedEvidence
from cobandit.policies.identification import Phase
from cobandit.policies.once import Once

#: Paired differences are looked at every so many evaluations, and first after five.
FIRST_LOOK, STEP = 5, 0.05
#: Variance of one more evaluation, which every estimate of a variance starts from: the largest in [0, 1].
PRIOR_VARIANCE = 0.25


def planned_depth(costs: ArrayLike, depth: int, n_instances: int, left: float) -> int:
    r"""Deepest n for the next removal such that all later ones, the most expensive first, can be paid.

    .. math::

        n_r = \min\Bigl\{N, \Bigl\lfloor \frac{m\, C_1}{C_r} \Bigr\rfloor\Bigr\}, \qquad
        \max\Bigl\{m \in [n_0, N] : \sum_{r=1}^{k-1} C_r\, (n_r - n_{r-1}) \le R \Bigr\}

    with :math:`C_r` the cost of one evaluation of each configuration that is left when the r - 1 most
    expensive have gone.  The first phase costs exactly :math:`C_1 (m - n_0)` of R, whatever leaves then; a
    plan that is made again after each removal with what is left never spends more than R.  At m = N it is
    the plan that evaluates everything.

    There may be no such m: at costs 1, 4, 1 and a depth of 3 the plan takes the two cheap ones on to 9, which
    costs 12, if m is 3.  Then the depth itself is returned: nobody is evaluated any further before one
    leaves, and what is left is planned again for the others.

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
    round_costs = np.cumsum(np.sort(_check.costs(costs)))[:0:-1].tolist()  # C_1, ..., C_{k-1}

    def fits(m: int) -> bool:
        reached, spend = depth, 0.0
        for round_cost in round_costs:
            target = min(n_instances, _check.floor(m * round_costs[0] / round_cost))
            if target > reached:
                spend += round_cost * (target - reached)
                reached = target
        return spend <= left

    low, high = depth, n_instances + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def classify(differences: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Front and classification gaps, as `cobandit.classification_gaps`, of differences instead of means.

    Parameters
    ----------
    differences : ndarray, shape (k, k, D)
        How far j is above i in each objective, in units that may differ from pair to pair.

    Returns
    -------
    front : ndarray of bool, shape (k,)
    gaps : ndarray, shape (k,)
        Never negative.
    """
    dominates, beats = differences.min(axis=2), np.maximum(differences.max(axis=2), 0.0)
    apart = -dominates  # M(i, j): how far i is above j where it is strongest
    np.fill_diagonal(dominates, -np.inf)
    np.fill_diagonal(apart, np.inf)
    dominated = dominates.max(axis=1)  # Delta^-
    needed = beats + np.maximum(dominated, 0.0)  # M(j, i)^+ + (Delta_j^-)^+
    np.fill_diagonal(needed, np.inf)
    front = dominated <= 0
    return front, np.where(front, np.minimum(apart, needed).min(axis=1), dominated)


class CoPSIOnce(Once):
    r"""CoPSI on N instances that all configurations share, each evaluated at most once.

    The instances stand in one uniformly random order, the same for all: the n-th evaluation of a
    configuration is on instance n of that order.  With the active configurations :math:`A` evaluated on the
    first n instances and :math:`R` left of the budget,

    .. math::

        \hat t_{ij}^{(d)} &= \frac{\hat\mu_j^{(d)} - \hat\mu_i^{(d)}}{\hat s_{ij}^{(d)} / \sqrt n}
            \Bigl(1 - \frac nN\Bigr)^{-1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \sum_{q \le n} \bigl(X_{jq} - X_{iq} - (\hat\mu_j - \hat\mu_i)\bigr)^2\Bigr), \\
        \hat z_i &= \text{the classification gap of } i \text{ with } \hat t_{ij}
            \text{ in the place of } \mu_j - \mu_i, \\
        m &= \text{the depth that } R \text{ affords before the next removal (planned\_depth)}, \\
        &\text{the clearest, } \arg\max_{i \in A} \hat z_i, \text{ leaves as soon as} \quad
        \hat z_i \ge \sqrt{2 \log(K D)}\, \Bigl(\frac{1 - n/m}{1 - m/N}\Bigr)^{1/2} .

    :math:`\hat t` is the paired t-statistic with the correction for a finite population, and
    :math:`\sqrt{2 \log(KD)}` what the largest of K D such statistics reaches by chance.  At n = m the
    threshold is zero: what the budget affords is reached, and the clearest has to leave.  At m = N it is
    infinite: everything that is left can be evaluated, and nobody leaves before it is known exactly.  In
    between, the nearer the planned removal, the less it takes to leave early; what is saved pays for the
    others.  n grows in steps of 5 %.

    No run spends more than B, in whatever order configurations leave; where everything is evaluated, the
    answer is exact.  Without ``confidence`` early departures follow a rule of thumb.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one evaluation of each configuration, in the user's unit.
    budget : float
        B, in the same unit; evaluating everything takes N times the sum of the costs.
    n_objectives : int
        D >= 1.
    n_instances : int
        N: instances that every configuration can be evaluated on.  Instances that some configuration can
        never be evaluated on do not count: leave them out, for all.  For one of which that is seen in the
        run `leave_out` makes n and N smaller; what it cost is lost.
    confidence : float, optional
        In (0, 1).  Configurations then leave early only when their membership is certain: with at least this
        probability, over the order of the instances, no membership in `certain` is wrong, at any time.  The
        run stops when all are certain; where the budget does not reach that far, the clearest leaves at the
        planned depth, uncertain.  No instance can be left out of such a run: which one would be depends on
        who is still active, and the bets are against a fixed set.
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
    (array([0, 1]), array([7, 3, 7]), 26.0)
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
        self.confidence = None if confidence is None else _check.positive(confidence, "confidence", 1.0)
        if self.confidence == 1.0:
            raise CobanditError("confidence is 1: only evaluating everything is certain; take less than one")
        super().__init__(costs, budget, n_objectives, n_instances, largest_costs=largest_costs)
        #: Square of what the largest of K D statistics reaches by chance: 2 log(K D).
        self.chance = 2 * log(self.n_arms * self.n_objectives)
        #: Evaluations on which all active configurations are compared: n.
        self.depth = 0
        shape = self.n_arms, self.n_objectives
        self._sums = np.zeros(shape)
        self._squares = np.zeros((self.n_arms, *shape))  # of paired differences
        self._evidence = None
        if self.confidence is not None:
            self._evidence = PairedEvidence(*shape, self.n_instances, self.confidence)

    def leave_out(self, pull: int) -> None:  # noqa: D102 (as its parent)
        if self._evidence:
            raise CobanditError(
                "with a confidence no instance can be left out: what is certain is certain of all "
                f"{self.n_instances}; tell a score, or leave the instance out of a new run"
            )
        super().leave_out(pull)

    def _check_budget(self) -> None:
        smallest = float(self.costs.sum())
        if not self._affords(smallest):
            raise BudgetError(
                f"budget {self.budget:g} does not hold one evaluation of each configuration: "
                f"at least {_check.round_up(smallest)} is needed",
                smallest,
            )

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whose membership is certain at ``confidence``, shape (K,); nobody's without it."""
        return self._evidence.certain if self._evidence else np.zeros(self.n_arms, dtype=np.bool_)

    @property
    def claims_limit(self) -> float:
        """Capital from which on a claim is given up; infinite without ``confidence``."""
        return self._evidence.limit if self._evidence else inf

    def recommend(self) -> NDArray[np.int64]:
        """Estimate the Pareto set of the full means.

        Returns
        -------
        ndarray of int
            Sorted numbers: those accepted, and the empirical Pareto set of those still active, all compared
            on the same instances.  Empty before each has been evaluated once.
        """
        active = self._active
        shared = self._rewards[self._shared()]
        means = shared.sum(axis=0) / max(len(shared), 1)
        return self._front(active if len(shared) else active[:0], means, self._accepted)

    def _schedule(self) -> Iterator[int | None]:
        reached = 0  # in the order of the instances: more than the depth if some are left out
        while len(self._active) > 1 and self.depth < self.n_kept:
            step = max(FIRST_LOOK, self.depth + max(1, int(STEP * self.depth)))
            start, reached = reached, reached + min(step, max(1, self._target())) - self.depth
            yield from self._evaluate(reached)
            self._compare(slice(start, reached))
            while self._leaves():
                pass

    def _target(self) -> int:
        """Compute m."""
        left = _check.add_slack(self.budget) - self.spent
        return planned_depth(self.costs[self._active], self.depth, self.n_kept, left)

    def _compare(self, instances: slice) -> None:
        """Take in instances on which all active configurations are evaluated, but for those left out."""
        active = self._active
        for rewards in self._rewards[instances][~self.left_out[instances]][:, active]:
            differences = rewards[None, :, :] - rewards[:, None, :]
            self._sums[active] += rewards
            self._squares[np.ix_(active, active)] += differences**2
            if self._evidence:
                self._evidence.add(active, differences)
            self.depth += 1

    def _statistics(self) -> NDArray[np.float64]:
        """Paired t-statistics of the k active configurations, shape (k, k, D): how far j is above i."""
        active, n = self._active, self.depth
        means = self._sums[active] / n
        differences = means[None, :, :] - means[:, None, :]
        differences[np.abs(differences) <= TIE] = 0.0
        scatter = self._squares[np.ix_(active, active)] - n * differences**2
        scatter = np.maximum(scatter, 0.0) + PRIOR_VARIANCE
        return differences / np.sqrt(scatter * ((1 - n / self.n_kept) / (n * n)))

    def _leaves(self) -> bool:
        """Let one configuration leave, if one may, and say whether it did."""
        active, n, N = self._active, self.depth, self.n_kept
        if len(active) < 2 or n in (0, N):
            return False
        front, gaps = classify(self._statistics())
        if self._evidence and (sure := self._evidence.leaving(active)).any():
            # the dominated before those that dominate them: whoever is left last is returned
            dominated = self._evidence.dominated[active]
            return self._remove(int((dominated if dominated.any() else sure).argmax()), ~dominated, gaps)
        target = self._target()
        if target == N or (self._evidence and n < target):
            return False
        # the clearest: a dominated one first, then the lowest number
        largest = gaps >= gaps.max() - (GAP_ATOL + GAP_RTOL * gaps.max())
        candidates = largest & ~front if (largest & ~front).any() else largest
        clearest = int(candidates.argmax())
        if gaps[clearest] < sqrt(self.chance * (1 - n / target) / (1 - target / N)):
            return False
        return self._remove(clearest, front, gaps)

    def _remove(self, position: int, front: NDArray[np.bool_], gaps: NDArray[np.float64]) -> bool:
        active = self._active
        removed, accepted = int(active[position]), bool(front[position])
        if accepted:
            self._accepted.append(removed)
        means = self._sums[active] / self.depth
        self.phases.append(Phase(len(self.phases) + 1, active, self.depth, means, gaps, removed, accepted))
        self._active = np.delete(active, position)
        return True
