"""CoPSI that spends its whole budget: this project's, not the paper's."""

from __future__ import annotations

from cobandit import _check, theory
from cobandit.policies.copsi_exact import CoPSIExact


class CoPSIAdaptive(CoPSIExact):
    r"""CoPSI whose constant is, in each phase, that of the arms and the budget that are left.

    .. math:: n_r = \Bigl\lfloor \frac{B - S_r}{L^\star(A_r)\, C_r} \Bigr\rfloor,

    :math:`S_r` being what the arms that have left were charged and :math:`L^\star` the constant of
    `CoPSIExact`.  It spends all but less than one pull of each of the last two arms, and never more than B;
    the bound of Theorem 2 holds with :math:`L^\star([K])` in the place of :math:`L_{K,\lambda}`.

    If charges differ from the declared costs, :math:`S_r` is all that was charged less the declared cost of
    the active arms' pulls, so that every phase plans with what is left; a target never falls below the one
    before.  Time O(K log K) a phase for the targets (kernel: O(K)).

    Takes what `CoPSI` takes; ``min_cost`` does not matter.

    Examples
    --------
    The first target is that of `CoPSIExact`, 50 / (5/3 * 6) = 5.  Arm 1 leaves with a charge of 20; the
    other 30 pay for 15 pulls of each of the two that are left, of which they have had 5.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = CoPSIAdaptive(costs=[1, 4, 1], budget=50, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.pulls, finder.spent
    (array([15,  5, 15]), 50.0)
    """

    label = "CoPSI (adaptive L*)"

    def _target(self, phase: int) -> int:
        costs = self.costs[self._active]
        round_cost = float(costs.sum())
        reached = self.phases[-1].target if self.phases else 0
        on_removed = self.spent - reached * round_cost
        constant = theory.exact_allocation_constant(costs)
        return max(reached, _check.floor((self.budget - on_removed) / (constant * round_cost)))
