"""A CoPSI for a finite benchmark, on which no evaluation is made twice."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.dominance import TIE, find_clearest
from cobandit.errors import CobanditError
from cobandit.policies.identification_policy import Phase
from cobandit.policies.once_policy import Once
from cobandit.policies.paired_evidence import PairedEvidence
from cobandit.policies.removal_depths import planned_depth

#: Evaluations of each configuration at the first comparison.
FIRST_LOOK = 5
#: Relative growth of the number of evaluations from one comparison to the next.
STEP = 0.05
#: Smallest threshold of a gap while the planned removal is far off, in standard errors.
LEAST_CLEAR = 3.0
#: Number that is added to the sum of squared deviations in every estimate of a
#: variance: the largest variance of a variable in [0, 1].
PRIOR_VARIANCE = 0.25


def find_gaps(
    weakest: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return classification gaps and the Pareto set, given pairwise differences.

    `cobandit.classification_gaps` computes the same gaps from means.

    Parameters
    ----------
    weakest : ndarray, shape (k, k)
        m(i, j), the smallest difference j - i over the objectives; M(i, j) is -m(i, j).
        Each difference may have its own unit, such as its standard error. The diagonal
        is -inf.

    Returns
    -------
    gaps : ndarray, shape (k,)
        Gaps, >= 0.
    front : ndarray of bool, shape (k,)
        Members of the empirical Pareto set.

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


class _Removal(NamedTuple):
    """The removal of the configuration at a position among the active ones."""

    position: int
    accepted: bool


class CoPSIOnce(Once):
    r"""CoPSI that evaluates a configuration at most once on each of N shared instances.

    The instances are in one uniformly random order, the same for all configurations:
    the n-th evaluation of a configuration is on instance n of that order. Suppose that
    the active configurations :math:`A` are evaluated on the first n instances (the
    *depth*), and that :math:`R` is the remaining budget. Then

    .. math::

        \hat t_{ij}^{(d)} &= \frac{\hat\mu_j^{(d)} - \hat\mu_i^{(d)}}
            {\hat s_{ij}^{(d)} / \sqrt n}
            \Bigl(1 - \frac nN\Bigr)^{-1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \sum_{q \le n}
            \bigl(X_{jq} - X_{iq} - (\hat\mu_j - \hat\mu_i)\bigr)^2\Bigr), \\
        \hat z_i &= \text{the classification gap of } i \text{ with } \hat t_{ij}
            \text{ in the place of } \mu_j - \mu_i, \\
        m &= \text{the depth that } R \text{ affords before the next removal
            (planned\_depth)}, \\
        &\text{the clearest configuration, } \arg\max_{i \in A} \hat z_i,
          \text{ is removed as soon as} \quad
        \hat z_i \ge \max\bigl\{3, \sqrt{2 \log(K D)}\bigr\}
            \Bigl(\frac{1 - n/m}{1 - m/N}\Bigr)^{1/2} .

    :math:`\hat t` is the paired t-statistic with the correction for a finite
    population. Among K D such statistics, the largest is about
    :math:`\sqrt{2 \log(KD)}` by chance. The maximum in the threshold is at least three
    standard errors, because every gap is examined repeatedly.

    As n grows towards m, the threshold falls to zero. At n = m the clearest
    configuration must be removed, because the budget pays for no more evaluations of
    all active ones. If m = N, the threshold is infinite: everything can be evaluated,
    and no configuration is removed before its membership is certain. Early removals
    save evaluations, which the other configurations receive. Configurations are
    compared whenever n has grown by 5 %.

    No run spends more than B, whatever the order of removals. The returned set is exact
    if everything is evaluated. Without ``confidence``, the rule of early removals is a
    heuristic.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one evaluation of each configuration, in the user's unit.
    budget : float
        B, in the same unit. Evaluating everything costs N times the sum of ``costs``.
    n_objectives : int
        D >= 1.
    n_instances : int
        N, the number of instances on which every configuration can be evaluated. If an
        evaluation turns out to be impossible during the run, `leave_out` excludes its
        instance, which reduces N. The cost of other evaluations on this instance is
        lost.
    confidence : float, optional
        In (0, 1). If given, configurations are removed early only if their membership
        is certain: with at least this probability over the order of the instances, no
        membership in `certain` is ever wrong. The run stops when all memberships are
        certain. If the budget is too small for this, the clearest configuration is
        removed at depth m without certainty. No instance can be left out of such a
        run, because the confidence sequences assume a fixed set of instances.
    largest_costs : array_like, shape (K,), optional
        As in `IdentificationPolicy`.

    Raises
    ------
    BudgetError
        If the budget does not pay for one evaluation of each configuration.

    Examples
    --------
    Evaluating everything would cost 60. Configuration 1 costs four times as much as any
    other. After three evaluations it is clearly on the front, and is accepted. Later,
    configuration 2 is rejected, because configuration 0 dominates it.

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
        self.confidence = confidence
        if confidence is not None:
            self.confidence = _validation.positive(confidence, "confidence", 1.0)
        if self.confidence == 1.0:
            raise CobanditError(
                "confidence is 1, but only a complete evaluation is certain. Give a"
                " number below 1.",
                argument="confidence",
                code="out-of-range",
            )

        super().__init__(
            costs, budget, n_objectives, n_instances, largest_costs=largest_costs
        )

        #: Square of the threshold of a gap while the planned removal is far off.
        self.chance = max(LEAST_CLEAR**2, 2 * log(self.n_arms * self.n_objectives))

        #: Number of instances on which all active configurations are compared, n.
        self.depth = 0
        shape = self.n_arms, self.n_objectives
        self._sums = np.zeros(shape)

        # sums of squared paired differences
        self._squares = np.zeros((self.n_arms, self.n_arms, self.n_objectives))

        #: Certain comparisons so far; None without ``confidence``.
        self.evidence = None
        if self.confidence is not None:
            self.evidence = PairedEvidence(*shape, self.n_instances, self.confidence)

    def leave_out(self, pull: int) -> None:  # noqa: D102 (inherited)
        if self.evidence:
            raise CobanditError(
                "no instance can be left out of a run with a confidence, which is about"
                f" all {self.n_instances} instances. Tell a score, or start a new run"
                " without this instance.",
                argument="pull",
                code="needs-all-instances",
            )
        super().leave_out(pull)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Mask of arms with certain membership, all False without ``confidence``."""
        if self.evidence is None:
            return np.zeros(self.n_arms, dtype=np.bool_)
        return self.evidence.certain

    def recommend(self) -> NDArray[np.int64]:
        """Return the estimated Pareto set of the means over all instances.

        Returns
        -------
        ndarray of int
            Sorted numbers of the accepted configurations, and of the empirical Pareto
            set of the active configurations on the instances that they share. Empty
            until each configuration has been evaluated once.
        """
        return self._front_of_shared()

    def _schedule(self) -> Iterator[int | None]:
        # position in the order of instances, above the depth if some are left out
        reached = 0
        while len(self._active) > 1 and self.depth < self.n_kept:
            step = max(FIRST_LOOK, self.depth + max(1, int(STEP * self.depth)))
            target = max(1, self._target())
            start = reached
            reached += min(step, target) - self.depth
            yield from self._evaluate(reached)

            self._add_instances(slice(start, reached))
            if 0 < self.depth < self.n_kept:
                self._eliminate(self._smallest_t_statistics())

    def _target(self) -> int:
        """Return m, the depth at which the next removal is planned."""
        remaining = _budget.add_slack(self.budget) - self.spent
        costs = self.costs[self._active]
        return planned_depth(costs, self.depth, self.n_kept, remaining)

    def _add_instances(self, instances: slice) -> None:
        """Add the scores of active configurations on instances to the sums.

        All active configurations have been evaluated on these instances. Instances that
        are left out are skipped.
        """
        active = self._active
        pairs = np.ix_(active, active)
        is_kept = ~self.left_out[instances]
        for scores in self._rewards[instances][is_kept][:, active]:
            differences = scores - scores[:, None]
            self._sums[active] += scores
            self._squares[pairs] += differences**2
            self.depth += 1
            if self.evidence:
                self.evidence.add(active, differences)
        if self.evidence:
            self.evidence.lower_limit()

    def _smallest_t_statistics(self) -> NDArray[np.float64]:
        """Return the smallest paired t-statistic over the objectives, shape (k, k)."""
        n = self.depth
        active = self._active
        means = self._sums[active] / n
        differences = means - means[:, None]
        differences[np.abs(differences) <= TIE] = 0.0

        # without a prior variance, a few equal differences would have an error of zero
        squares = self._squares[np.ix_(active, active)]
        scatter = np.maximum(squares - n * differences**2, 0.0) + PRIOR_VARIANCE

        # standard error of a mean over n of N instances, zero at n = N
        errors = np.sqrt(scatter * ((1 - n / self.n_kept) / (n * n)))
        smallest: NDArray[np.float64] = (differences / errors).min(axis=2)
        np.fill_diagonal(smallest, -inf)
        return smallest

    def _eliminate(self, t_statistics: NDArray[np.float64]) -> None:
        """Remove configurations, one after another, until none can be removed."""
        while len(self._active) > 1:
            gaps, front = find_gaps(t_statistics)
            removal = self._next_certain() or self._next_clear(gaps, front)
            if removal is None:
                return

            active = self._active
            self._end(
                Phase(
                    phase=len(self.phases) + 1,
                    active=active,
                    target=self.depth,
                    means=self._sums[active] / self.depth,
                    gaps=gaps,
                    removed=int(active[removal.position]),
                    accepted=removal.accepted,
                )
            )
            t_statistics = np.delete(t_statistics, removal.position, axis=0)
            t_statistics = np.delete(t_statistics, removal.position, axis=1)

    def _next_certain(self) -> _Removal | None:
        """Return the removal of a configuration with certain membership, or None."""
        if self.evidence is None:
            return None
        removable = self.evidence.removable(self._active)
        if not removable.any():
            return None

        # remove dominated configurations before those that dominate them, because the
        # last remaining configuration is returned
        dominated = self.evidence.dominated[self._active]
        candidates = dominated if dominated.any() else removable
        position = int(candidates.argmax())
        return _Removal(position, accepted=not dominated[position])

    def _next_clear(
        self, gaps: NDArray[np.float64], front: NDArray[np.bool_]
    ) -> _Removal | None:
        """Return the removal of the clearest configuration; None if it is not due."""
        n = self.depth
        target = self._target()
        can_evaluate_everything = target == self.n_kept
        has_to_be_certain = self.evidence is not None and n < target
        if can_evaluate_everything or has_to_be_certain:
            return None

        position = find_clearest(gaps, front)
        threshold = sqrt(self.chance * (1 - n / target) / (1 - target / self.n_kept))
        if gaps[position] < threshold:
            return None
        return _Removal(position, accepted=bool(front[position]))
