"""Base classes of Pareto identification with a fixed budget (Section 4.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.dominance import classification_gaps, find_clearest, pareto_mask
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.asktell import AskTell, Pull


@dataclass(frozen=True)
class Phase:
    """Record of one phase of an elimination, which removes one arm."""

    phase: int  #: number of the phase, from 1
    active: NDArray[np.int64]  #: shape (k,), active arms at the start of the phase
    target: int  #: number of pulls that each active arm has at the end of the phase
    means: NDArray[np.float64]  #: shape (k, D), empirical means of active arms
    gaps: NDArray[np.float64]  #: shape (k,), empirical classification gaps
    removed: int  #: arm that is removed at the end of the phase
    accepted: bool  #: whether this arm is accepted as a member of the Pareto set


class IdentificationPolicy(AskTell):
    """A policy for arms with known costs that recommends a Pareto set.

    Subclasses plan the pulls in `_schedule`, and check the budget in `_check_budget`.
    The run is *cut short* if the next planned pull does not fit into the budget. With
    CoPSI at declared costs, this never happens.

    All pulls of a phase are planned in advance. `ask` returns the evaluations of the
    phase, and then None until all their results are reported. Rewards are added in the
    order of the requests, so sums do not depend on the order of the results.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one pull of each arm, in the user's unit.
    budget : float
        B, in the same unit.
    n_objectives : int
        D >= 1.
    min_cost : float, optional
        Lower bound on the costs, in the same unit; the smallest cost by default. Only
        `CoPSI` and its variants use it.
    largest_costs : array_like, shape (K,), optional
        Largest cost of a single evaluation of each arm, in the same unit, if costs
        vary between evaluations. An evaluation is then requested only if its largest
        cost fits into the budget, so no run spends more than B. By default, ``costs``.

    Attributes
    ----------
    cost_ratio : float
        lambda, ``min_cost`` over the largest cost.
    phases : list of Phase
        Records of all ended phases; empty for policies without phases.

    Raises
    ------
    BudgetError
        If the budget is too small for the algorithm. The error names the smallest
        budget that works.
    """

    #: Kind of dominance that defines the Pareto set (see `cobandit.pareto_mask`).
    dominance = "strict"

    def __init__(
        self,
        costs: ArrayLike,
        budget: float,
        n_objectives: int,
        *,
        min_cost: float | None = None,
        largest_costs: ArrayLike | None = None,
    ):
        self.costs = _validation.costs(costs)
        super().__init__(len(self.costs), n_objectives, budget)
        smallest = float(self.costs.min())
        self.min_cost = smallest
        if min_cost is not None:
            self.min_cost = _validation.positive(min_cost, "min_cost")
        if self.min_cost > _budget.add_slack(smallest):
            raise CobanditError(
                f"min_cost is {min_cost}, but must be at most the smallest cost"
                f" {smallest:g}",
                argument="min_cost",
                code="above-smallest-cost",
            )

        self.cost_ratio = min(1.0, self.min_cost / float(self.costs.max()))
        _budget.pulls_within(self.budget, smallest)
        largest = self.costs if largest_costs is None else largest_costs
        self._largest = _validation.costs(largest, "largest_costs", self.n_arms)
        if (self._largest < self.costs * (1 - _budget.SLACK)).any():
            raise CobanditError(
                f"largest_costs must be at least the known costs {self.costs.tolist()}",
                argument="largest_costs",
                code="below-known-costs",
            )

        self.largest_costs = None if largest_costs is None else self._largest
        self.phases: list[Phase] = []
        self._active = np.arange(self.n_arms)
        self._accepted: list[int] = []
        # next arm of the plan, until `ask` returns it
        self._turn: int | None = None
        # number of rewards per arm that are in the sums, and the rewards that wait for
        # the result of an earlier request
        self._added = np.zeros(self.n_arms, dtype=np.int64)
        self._results: dict[tuple[int, int], NDArray[np.float64]] = {}

        self._plan = self._schedule()
        at_largest = 0.0 if largest_costs is None else float(self._largest.sum())
        try:
            self._check_budget()
        except BudgetError as error:
            # if the largest costs need a larger budget, report that error below
            if _budget.add_slack(error.smallest) >= at_largest:
                raise

        if not self._affords(at_largest):
            raise self._too_small(
                "does not pay for one evaluation of each arm at its largest cost",
                at_largest,
            )

    @property
    def active(self) -> NDArray[np.int64]:
        """Sorted numbers of the arms that are not removed yet, shape (k,)."""
        return self._active.copy()

    def recommend(self) -> NDArray[np.int64]:
        r"""Return :math:`\widehat{\mathcal P}_B`, the estimate of the Pareto set.

        Returns
        -------
        ndarray of int
            Sorted numbers of the accepted arms, and of the empirical Pareto set of the
            active arms. After a complete run, one arm is active. Arms without an
            evaluation are not recommended.
        """
        active = self._active[self._scored[self._active] > 0]
        return self._front(active, self.mean_rewards)

    def _front(
        self, arms: NDArray[np.int64], means: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the accepted arms and the front of the given arms, sorted."""
        front = arms[pareto_mask(means[arms])] if len(arms) > 1 else arms
        accepted = np.array(self._accepted, dtype=np.int64)
        return np.sort(np.concatenate([accepted, front]))

    def _check_budget(self) -> None:
        """Raise `BudgetError` if the budget is too small for the plan.

        By default, the budget must be enough for one evaluation of each arm.
        """
        smallest = float(self.costs.sum())
        if not self._affords(smallest):
            raise self._too_small(
                "does not pay for one evaluation of each arm", smallest
            )

    def _schedule(self) -> Iterator[int | None]:
        """Yield the arms to pull, one by one, or None while results are missing.

        The policy advances the generator when `ask` needs the next arm, and after the
        last result of a phase. Subclasses yield the pulls of a phase by `_evaluate`.
        """
        raise NotImplementedError

    def _evaluate(self, target: int) -> Iterator[int | None]:
        """Yield active arms up to ``target`` pulls each, then wait for the results."""
        yield from self._hand_out(target)
        while self._flying:
            yield None

    def _end(self, phase: Phase) -> None:
        """Record a phase, and remove its arm from the active arms."""
        self.phases.append(phase)
        if phase.accepted:
            self._accepted.append(phase.removed)
        self._active = phase.active[phase.active != phase.removed]

    def _hand_out(self, target: int) -> Iterator[int]:
        """Yield each active arm until ``target`` of its evaluations are requested."""
        for arm in self._active.tolist():
            while self._next_number(arm) < target:
                yield arm

    @property
    def _set_aside(self) -> NDArray[np.float64]:
        return self.costs if self.overdraw else super()._set_aside

    def _affords(self, cost: float) -> bool:
        """Return whether the unspent and unreserved budget is enough for a cost."""
        return self._committed + cost <= _budget.add_slack(self.budget)

    def _begin(self, pull: Pull) -> None:
        super()._begin(pull)
        self._turn = None

    def _choose(self) -> int | None:
        # failed evaluations come first; the plan advances after `ask` returned its arm
        if not self._failed and self._turn is None:
            self._turn = next(self._plan, None)
        arm = self._failed[0][0] if self._failed else self._turn
        if arm is None or not self._affords(float(self._set_aside[arm])):
            return None
        return arm

    @property
    def _scored(self) -> NDArray[np.int64]:
        """Number of evaluations behind the mean of each arm, shape (K,)."""
        return self.pulls

    @property
    def mean_rewards(self) -> NDArray[np.float64]:  # noqa: D102 (as its parent)
        sums = self._reward_sums.copy()
        for arm, number in sorted(self._results):
            sums[arm] += self._results[arm, number]
        return sums / np.maximum(self.pulls, 1)[:, None]

    def _update(self) -> None:
        if not self._flying:
            # after the last result of a phase, let the plan end the phase
            self._choose()

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        """Add rewards to the sums of an arm, in the order of its requests."""
        self._results[pull.key] = reward
        while (key := (int(pull), int(self._added[pull]))) in self._results:
            super()._score(pull, self._results.pop(key))
            self._added[pull] += 1

    def _declared_cost(self, arm: int) -> float:
        return float(self.costs[arm])

    def _guarantee_violation(self, arm: int, cost: float) -> str:
        # without largest costs, only mean costs are declared, which a single cost may
        # exceed
        if self.largest_costs is None or cost <= _budget.add_slack(self._largest[arm]):
            return ""
        return (
            f"above its largest cost {self._largest[arm]:g}: it is charged, but the"
            " guarantee is void"
        )


class GapElimination(IdentificationPolicy):
    r"""Empirical gap elimination, one arm per phase (Algorithm 2).

    Subclasses set the targets :math:`n_r`:

    .. math::

        \text{for } r = 1, \dots, K - 1: \quad
        &\text{pull every } i \in A_r \text{ until } N_i = n_r, \\
        &e_r \in \arg\max_{i \in A_r} \hat\gamma_{i,r}
            \text{ (ties: a dominated arm first, then the lowest number)}, \\
        &\text{accept } e_r \text{ if it is on the empirical front, else reject it};
            \quad A_{r+1} = A_r \setminus \{e_r\}
    """

    def _target(self, phase: int) -> int:
        """Return the number of pulls that each active arm has at the end of a phase.

        Phases are counted from 1.
        """
        raise NotImplementedError

    def _schedule(self) -> Iterator[int | None]:
        for phase in range(1, self.n_arms):
            active = self._active
            target = self._target(phase)
            yield from self._evaluate(target)

            means = self.mean_rewards[active]
            front = pareto_mask(means)
            gaps = classification_gaps(means)
            position = find_clearest(gaps, front)
            self._end(
                Phase(
                    phase=phase,
                    active=active,
                    target=target,
                    means=means,
                    gaps=gaps,
                    removed=int(active[position]),
                    accepted=bool(front[position]),
                )
            )
