"""Uniform identification, the baseline of the paper that gives every arm the same number of pulls."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError
from cobandit.policies.identification import IdentificationPolicy


class UniformIdentification(IdentificationPolicy):
    r"""Uniform allocation, then the empirical Pareto set.

    .. math:: n = \Bigl\lfloor \frac{B}{\sum_i c_i} \Bigr\rfloor \text{ pulls of each arm}

    Takes what `IdentificationPolicy` takes.  Only complete rounds count, so that every arm is judged by
    the same number of evaluations; with realised costs their number follows from what was charged.

    Examples
    --------
    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = UniformIdentification(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([6, 6, 6]), 36.0)
    """

    label = "Uniform identification"

    #: Means after the latest complete round.
    _round_means: NDArray[np.float64] | None = None

    def _check_budget(self) -> None:
        smallest = float(self.costs.sum())
        if not self._affords(smallest):
            raise BudgetError(
                f"budget {self.budget:g} does not hold one pull of each arm: at least {smallest:g} is needed",
                smallest,
            )

    def recommend(self) -> NDArray[np.int64]:  # noqa: D102 (as its parent, over complete rounds)
        if self._round_means is None:
            return np.array([], dtype=np.int64)
        return np.flatnonzero(pareto_mask(self._round_means))

    def _schedule(self) -> Iterator[int]:
        while self._affords(float(self.costs.sum())):
            yield from range(self.n_arms)

    def _record(self, arm: int, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(arm, reward, cost)
        if (self.pulls == self.pulls[0]).all():
            self._round_means = self.mean_rewards
