"""Uniform identification, the baseline of the paper that gives every arm the same number of pulls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError
from cobandit.policies.asktell import Pull
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
                f"budget {self.budget:g} does not hold one pull of each arm: at least "
                f"{_check.round_up(smallest)} is needed",
                smallest,
            )

    def recommend(self) -> NDArray[np.int64]:  # noqa: D102 (as its parent, over complete rounds)
        if self._round_means is None:
            return np.array([], dtype=np.int64)
        return np.flatnonzero(pareto_mask(self._round_means))

    def _schedule(self) -> Iterator[int | None]:
        for n in self._rounds():
            while not self._affords(float(self._set_aside.sum())):
                if not self._flying:
                    return
                yield None  # what is in flight may cost less than what is set aside for it
            yield from self._hand_out(n)

    def _rounds(self) -> Iterable[int]:
        return count(1)

    def _take(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        super()._take(pull, reward)
        if pull == self.n_arms - 1:
            self._round_means = self._reward_sums / (pull.number + 1)
