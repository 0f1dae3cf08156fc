"""CoPSI with the exact allocation constant of known costs: this project's, not the paper's."""

from __future__ import annotations

from cobandit import theory
from cobandit.policies.copsi import CoPSI


class CoPSIExact(CoPSI):
    r"""CoPSI with the smallest constant that no order of elimination overspends.

    .. math::

        n_r = \Bigl\lfloor \frac{B}{L^\star(c)\, C_r} \Bigr\rfloor, \qquad
        L^\star(c) = 1 + \sum_{r=1}^{K-2} \frac{c^{[r]}}{c^{[r]} + \dots + c^{[K]}}

    with costs sorted downwards (`theory.exact_allocation_constant`).  The bound of Theorem 2 holds with
    :math:`L^\star` in the place of :math:`L_{K,\lambda}`.

    Takes what `CoPSI` takes; ``min_cost`` does not matter.

    Examples
    --------
    The constant is 5/3 where that of the paper is 37/15.

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
        r"""What the budget is divided by in the first phase: :math:`L^\star` of all arms."""
        return theory.exact_allocation_constant(self.costs)
