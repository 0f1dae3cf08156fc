"""CoPSI, the paper's Algorithm 2."""

from __future__ import annotations

from cobandit import _check, theory
from cobandit.errors import BudgetError
from cobandit.policies.elimination import GapElimination


class CoPSI(GapElimination):
    r"""CoPSI (Algorithm 2): gap elimination whose targets share the budget by the cost still active.

    .. math::

        n_r = \Bigl\lfloor \frac{B}{L_{K,\lambda}\, C_r} \Bigr\rfloor, \qquad C_r = \sum_{i \in A_r} c_i,
        \qquad L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}

    Takes what `IdentificationPolicy` takes; lambda is ``min_cost`` over the largest cost.  It never spends
    more than B, and Theorem 2 bounds the probability that it errs.  Time O(K) a phase for the targets.

    Examples
    --------
    Noise-free feedback; arm 2 is dominated, arm 1 costs four times as much as the others.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = CoPSI(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([8, 2, 8]), 24.0)
    >>> [(phase.target, phase.removed, phase.accepted) for phase in finder.phases]
    [(2, 1, True), (8, 2, False)]
    """

    label = "CoPSI"

    @property
    def allocation_constant(self) -> float:
        r"""What the budget is divided by in the first phase: the paper's :math:`L_{K,\lambda}`."""
        return theory.allocation_constant(self.n_arms, self.cost_ratio)

    def _check_budget(self) -> None:
        smallest = float(self.allocation_constant * self.costs.sum())
        if self._target(1) < 1:
            raise BudgetError(
                f"budget {self.budget:g} gives no pull in the first phase: at least "
                f"{_check.round_up(smallest)} is needed, one pull of each arm times the allocation constant "
                f"{self.allocation_constant:g}",
                smallest,
            )

    def _target(self, phase: int) -> int:
        round_cost = float(self.costs[self._active].sum())
        return _check.floor(self.budget / (self.allocation_constant * round_cost))
