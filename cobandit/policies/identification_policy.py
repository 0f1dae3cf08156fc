"""Fixed-budget Pareto identification: what CoPSI and its baselines share (paper, Section 4.2)."""

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
    """What one phase of an elimination did: the record behind the book's pictures.

    ``active`` (k,) are the arms at its start, ``target`` the pulls each had after
    sampling, ``means`` (k, D) and ``gaps`` (k,) their empirical values; ``removed``
    left, as Pareto arm if ``accepted``.
    """

    phase: int
    active: NDArray[np.int64]
    target: int
    means: NDArray[np.float64]
    gaps: NDArray[np.float64]
    removed: int
    accepted: bool


class IdentificationPolicy(AskTell):
    """A sampling plan under known costs, and the Pareto set it recommends.

    Subclasses give the plan in `_schedule` and say in `_check_budget` what it needs.
    The run stops early, and is *cut short*, when the next planned pull does not fit
    into the budget; declared costs never let that happen to CoPSI.

    A plan knows a whole phase ahead, and `ask` hands it out; then it returns None until
    all of the phase is told.  Rewards are added up in the order in which the
    evaluations were handed out, so that the order in which they are told changes
    nothing.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one pull of each arm, in the user's unit.
    budget : float
        B, in the same unit.
    n_objectives : int
        D >= 1.
    min_cost : float, optional
        Lower bound on the costs, in the same unit; default the smallest cost.  `CoPSI`
        reads it.
    largest_costs : array_like, shape (K,), optional
        Largest cost of a single evaluation of each arm, in the same unit, where
        evaluations differ in what they cost.  An evaluation is then handed out only if
        that fits into the budget, so that no run spends more than B.  Default the known
        costs.

    Attributes
    ----------
    cost_ratio : float
        lambda, ``min_cost`` over the largest cost.
    phases : list of Phase
        What each phase did; empty where there are none.

    Raises
    ------
    BudgetError
        If the budget is too small for the algorithm; it names the smallest that works.
    """

    #: The order in which the set that it looks for is the Pareto set, as of
    #: `cobandit.pareto_mask`.
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
        self.min_cost = (
            smallest if min_cost is None else _validation.positive(min_cost, "min_cost")
        )
        if self.min_cost > _budget.add_slack(smallest):
            raise CobanditError(
                f"min_cost is {min_cost}, more than the smallest cost {smallest:g}"
            )

        self.cost_ratio = min(1.0, self.min_cost / float(self.costs.max()))
        _budget.pulls_within(self.budget, smallest)
        given = self.costs if largest_costs is None else largest_costs
        self._largest = _validation.costs(given, "largest_costs", self.n_arms)
        if (self._largest < self.costs * (1 - _budget.SLACK)).any():
            raise CobanditError(
                f"largest_costs: below the known costs {self.costs.tolist()}"
            )

        self.largest_costs = None if largest_costs is None else self._largest
        self.phases: list[Phase] = []
        self._active = np.arange(self.n_arms)
        self._accepted: list[int] = []
        self._turn: int | None = None  # the plan's next arm, until it is handed out
        self._added = np.zeros(self.n_arms, dtype=np.int64)  # rewards that are added up

        # those that wait for one before them
        self._results: dict[tuple[int, int], NDArray[np.float64]] = {}

        self._plan = self._schedule()
        at_largest = 0.0 if largest_costs is None else float(self._largest.sum())
        try:
            self._check_budget()
        except BudgetError as error:  # of two reasons the one that asks for more
            if _budget.add_slack(error.smallest) >= at_largest:
                raise

        if not self._affords(at_largest):
            raise self._too_small(
                "does not hold one evaluation of each arm at its largest cost",
                at_largest,
            )

    @property
    def active(self) -> NDArray[np.int64]:
        """Arms that are neither accepted nor removed yet, sorted: shape (k,)."""
        return self._active.copy()

    def recommend(self) -> NDArray[np.int64]:
        r"""Estimate :math:`\widehat{\mathcal P}_B` of the Pareto set.

        Returns
        -------
        ndarray of int
            Sorted arm numbers: the accepted arms, and the empirical Pareto set of the
            arms that are still active (one arm after a complete run).  An arm that was
            never evaluated is not recommended.
        """
        active = self._active[self._scored[self._active] > 0]
        return self._front(active, self.mean_rewards)

    def _front(
        self, arms: NDArray[np.int64], means: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Numbers of those accepted, and of the front of some arms."""
        front = arms[pareto_mask(means[arms])] if len(arms) > 1 else arms
        return np.sort(
            np.concatenate([np.array(self._accepted, dtype=np.int64), front])
        )

    def _check_budget(self) -> None:
        """Raise `BudgetError` if the budget is too small for the plan: by default for one evaluation each."""
        smallest = float(self.costs.sum())
        if not self._affords(smallest):
            raise self._too_small("does not hold one evaluation of each arm", smallest)

    def _schedule(self) -> Iterator[int | None]:
        """Yield arms in the order of their pulls, None while there are results to wait for.

        It runs on between one ask and the next; `_evaluate` is a whole phase.
        """
        raise NotImplementedError

    def _evaluate(self, target: int) -> Iterator[int | None]:
        """Hand out ``target`` evaluations of each active arm in all, and wait for what they give."""
        yield from self._hand_out(target)
        while self._flying:
            yield None

    def _end(self, phase: Phase) -> None:
        """Write a phase down, and accept or reject the arm that it removes."""
        self.phases.append(phase)
        if phase.accepted:
            self._accepted.append(phase.removed)
        self._active = phase.active[phase.active != phase.removed]

    def _hand_out(self, target: int) -> Iterator[int]:
        for arm in self._active.tolist():
            while self._next_number(arm) < target:
                yield arm

    @property
    def _set_aside(self) -> NDArray[np.float64]:
        return self.costs if self.overdraw else super()._set_aside

    def _affords(self, cost: float) -> bool:
        return self._committed + cost <= _budget.add_slack(self.budget)

    def _begin(self, pull: Pull) -> None:
        super()._begin(pull)
        self._turn = None

    def _choose(self) -> int | None:
        if not self._failed and self._turn is None:
            self._turn = next(self._plan, None)
        arm = self._failed[0][0] if self._failed else self._turn
        return (
            arm
            if arm is not None and self._affords(float(self._set_aside[arm]))
            else None
        )

    @property
    def _scored(self) -> NDArray[np.int64]:
        """Evaluations behind the means, shape (K,)."""
        return self.pulls

    @property
    def mean_rewards(self) -> NDArray[np.float64]:  # noqa: D102 (as its parent)
        sums = self._reward_sums.copy()
        for arm, number in sorted(self._results):
            sums[arm] += self._results[arm, number]
        return sums / np.maximum(self.pulls, 1)[:, None]

    def _settle(self) -> None:
        if not self._flying:  # the last result of a phase ends it
            self._choose()

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        """Add rewards up, in the order in which the evaluations of an arm were handed out."""
        self._results[pull.key] = reward
        while (key := (int(pull), int(self._added[pull]))) in self._results:
            super()._score(pull, self._results.pop(key))
            self._added[pull] += 1

    def _declared_cost(self, arm: int) -> float:
        return float(self.costs[arm])

    def _doubt(self, arm: int, cost: float) -> str:
        if self.largest_costs is None or cost <= _budget.add_slack(self._largest[arm]):
            # what is declared is a mean, and half of all costs may be above it
            return ""
        return (
            f"above its largest cost {self._largest[arm]:g}: it is charged, but the"
            " guarantee is void"
        )


class GapElimination(IdentificationPolicy):
    r"""Empirical gap elimination, one arm a phase (Algorithm 2); subclasses set the targets n_r.

    .. math::

        \text{for } r = 1, \dots, K - 1: \quad
        &\text{pull every } i \in A_r \text{ until } N_i = n_r, \\
        &e_r \in \arg\max_{i \in A_r} \hat\gamma_{i,r}
            \text{ (a dominated arm first, then the lowest number)}, \\
        &\text{accept } e_r \text{ if it is on the empirical front, else reject it}; \quad
            A_{r+1} = A_r \setminus \{e_r\}
    """

    def _target(self, phase: int) -> int:
        """Return the pulls that every active arm has at the end of the phase (counted from 1)."""
        raise NotImplementedError

    def _schedule(self) -> Iterator[int | None]:
        for phase in range(1, self.n_arms):
            active, target = self._active, self._target(phase)
            yield from self._evaluate(target)
            means = self.mean_rewards[active]
            front, gaps = pareto_mask(means), classification_gaps(means)
            e = find_clearest(gaps, front)
            self._end(
                Phase(
                    phase, active, target, means, gaps, int(active[e]), bool(front[e])
                )
            )
