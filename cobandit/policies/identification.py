"""Fixed-budget Pareto identification: what CoPSI and its baselines share (paper, Section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import pareto_mask
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell


@dataclass(frozen=True)
class Phase:
    """What one phase of an elimination did: the record behind the book's pictures.

    ``active`` (k,) are the arms at its start, ``target`` the pulls each had after sampling, ``means``
    (k, D) and ``gaps`` (k,) their empirical values; ``removed`` left, as Pareto arm if ``accepted``.
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

    Subclasses give the plan in `_schedule` and say in `_check_budget` what it needs.  The run stops early,
    and is *cut short*, when the next planned pull does not fit into the budget; declared costs never let
    that happen to CoPSI.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known cost of one pull of each arm, in the user's unit.
    budget : float
        B, in the same unit.
    n_objectives : int
        D >= 1.
    min_cost : float, optional
        Lower bound on the costs, in the same unit; default the smallest cost.  `CoPSI` reads it.

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

    def __init__(self, costs: ArrayLike, budget: float, n_objectives: int, *, min_cost: float | None = None):
        self.costs = _check.costs(costs)
        super().__init__(len(self.costs), n_objectives, budget)
        smallest = float(self.costs.min())
        self.min_cost = smallest if min_cost is None else _check.positive(min_cost, "min_cost")
        if self.min_cost > _check.with_slack(smallest):
            raise CobanditError(f"min_cost is {min_cost}, more than the smallest cost {smallest:g}")
        self.cost_ratio = min(1.0, self.min_cost / float(self.costs.max()))
        _check.pulls_within(self.budget, smallest)
        self.phases: list[Phase] = []
        self._active = np.arange(self.n_arms)
        self._accepted: list[int] = []
        self._stopped = False
        self._plan = self._schedule()
        self._check_budget()

    def recommend(self) -> NDArray[np.int64]:
        r"""Estimate :math:`\widehat{\mathcal P}_B` of the Pareto set.

        Returns
        -------
        ndarray of int
            Sorted arm numbers: the accepted arms, and the empirical Pareto set of the arms that are still
            active (one arm after a complete run).  An arm that was never evaluated is not recommended.
        """
        active = self._active[self.pulls[self._active] > 0]
        return self._front(active, self.mean_rewards, self._accepted)

    @staticmethod
    def _front(arms: NDArray[np.int64], means: NDArray[np.float64], accepted: list[int]) -> NDArray[np.int64]:
        front = arms[pareto_mask(means[arms])] if len(arms) > 1 else arms
        return np.sort(np.concatenate([np.array(accepted, dtype=np.int64), front]))

    def _check_budget(self) -> None:
        """Raise `BudgetError` if the budget is too small for the plan."""

    def _schedule(self) -> Iterator[int]:
        """Yield arms in the order of their pulls; runs on between one ask and the next."""
        raise NotImplementedError

    def _affords(self, cost: float) -> bool:
        return self.spent + cost <= _check.with_slack(self.budget)

    def _choose(self) -> int | None:
        if self._stopped:
            return None
        arm = next(self._plan, None)
        if arm is None or not self._affords(self._declared_cost(arm)):
            self._stopped = True
            return None
        return arm

    def _declared_cost(self, arm: int) -> float:
        return float(self.costs[arm])

    def _doubt(self, arm: int, cost: float) -> str:
        if cost <= _check.with_slack(self._declared_cost(arm)):
            return ""
        return f"above its declared cost {self.costs[arm]:g}: it is charged, but the guarantee is void"
