"""CoPSI (Algorithm 2), and two variants with smaller allocation constants."""

from cobandit import _budget, theory
from cobandit.policies.identification_policy import GapElimination


class CoPSI(GapElimination):
    r"""CoPSI (Algorithm 2): gap elimination with targets from the cost of active arms.

    .. math::

        n_r = \Bigl\lfloor \frac{B}{L_{K,\lambda}\, C_r} \Bigr\rfloor, \qquad
        C_r = \sum_{i \in A_r} c_i, \qquad
        L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}

    Here :math:`A_r` are the active arms of phase r, and the target :math:`n_r` is the
    number of pulls of each of them at the end of the phase. Parameters are those of
    `IdentificationPolicy`; lambda is ``min_cost`` over the largest cost. CoPSI never
    spends more than B, and Theorem 2 bounds the probability that it returns a wrong
    set. Computing a target takes time O(K).

    Examples
    --------
    Feedback has no noise. Arm 2 is dominated, and arm 1 costs four times as much as any
    other arm.

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
        r"""The divisor of the budget in the targets, :math:`L_{K,\lambda}`."""
        return theory.allocation_constant(self.n_arms, self.cost_ratio)

    def _check_budget(self) -> None:
        if self._target(1) < 1:
            raise self._too_small(
                "pays for no pull in the first phase",
                float(self.allocation_constant * self.costs.sum()),
                ", one pull of each arm times the allocation constant"
                f" {self.allocation_constant:g}",
            )

    def _target(self, phase: int) -> int:
        round_cost = float(self.costs[self._active].sum())
        return _budget.floor(self.budget / (self.allocation_constant * round_cost))


class CoPSIExact(CoPSI):
    r"""CoPSI with the smallest constant at which no order of elimination overspends.

    .. math::

        n_r = \Bigl\lfloor \frac{B}{L^\star(c)\, C_r} \Bigr\rfloor, \qquad
        L^\star(c) = 1 + \sum_{r=1}^{K-2} \frac{c^{[r]}}{c^{[r]} + \dots + c^{[K]}}

    with costs in descending order (`theory.exact_allocation_constant`). The bound of
    Theorem 2 holds with :math:`L^\star` instead of :math:`L_{K,\lambda}`.

    Its parameters are those of `CoPSI`. ``min_cost`` has no effect.

    Examples
    --------
    The constant is 5/3. The paper's constant is 37/15.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = CoPSIExact(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([12,  4, 12]), 40.0)
    """

    label = "CoPSI (exact L*)"

    @property
    def allocation_constant(self) -> float:
        r"""The divisor of the budget in phase 1, :math:`L^\star` of all arms."""
        return theory.exact_allocation_constant(self.costs)


class CoPSIAdaptive(CoPSIExact):
    r"""CoPSI with the exact constant of the remaining arms, recomputed in each phase.

    .. math:: n_r = \Bigl\lfloor \frac{B - S_r}{L^\star(A_r)\, C_r} \Bigr\rfloor

    Here :math:`S_r` is the amount spent on removed arms, and :math:`L^\star` the
    constant of `CoPSIExact`. The policy never spends more than B. At the end, the
    unspent budget is less than the cost of one pull of each of the last two arms. The
    bound of Theorem 2 holds with :math:`L^\star([K])` instead of :math:`L_{K,\lambda}`.

    If charges differ from declared costs, :math:`S_r` is the total charge minus the
    declared cost of all pulls of active arms. Every phase then plans with the remaining
    budget. Targets never decrease. Computing a target takes time O(K log K), or O(K) in
    the kernel.

    Its parameters are those of `CoPSI`. ``min_cost`` has no effect.

    Examples
    --------
    The first target is the same as in `CoPSIExact`, 50 / (5/3 * 6) = 5. Arm 1 is
    removed after 5 pulls, which cost 20. The remaining budget of 30 pays for 15 pulls
    of each of the other two arms, including the 5 pulls that are already made.

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
        affordable = (self.budget - on_removed) / (constant * round_cost)
        return max(reached, _budget.floor(affordable))
