"""Accuracy-Cost-UCB, the baseline of the paper that looks at one objective."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.policies.online import OnlinePolicy


class AccuracyCostUCB(OnlinePolicy):
    r"""Accuracy-Cost-UCB (Section 5): one objective's optimistic mean over optimistic cost.

    .. math:: I_i = \frac{\min\{1, \bar r_i^{(a)} + s_r \beta_i\}}{\max\{\lambda/2, \bar c_i - s_c \beta_i\}}

    Takes what `OnlinePolicy` takes, and ``objective``, the number a of the objective (default 0).

    Examples
    --------
    >>> policy = AccuracyCostUCB(2, 2, budget=4, cost_range=(1.0, 1.0), reward_scale=0.0, objective=1)
    >>> for reward in ([1.0, 0.25], [0.0, 0.5], [0.0, 0.5], [0.0, 0.5]):
    ...     policy.tell(policy.ask(), reward, 1.0)
    >>> policy.pulls
    array([1, 3])
    """

    label = "Accuracy-Cost-UCB"

    def __init__(self, *arguments: Any, objective: int = 0, **options: Any):
        super().__init__(*arguments, **options)
        self.objective = _check.count(objective, "objective", 0)
        if self.objective >= self.n_objectives:
            raise CobanditError(
                f"objective is {objective}, but there are {self.n_objectives} (counted from 0)"
            )

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return self.optimistic_rewards[:, self.objective] / self.normalised_optimistic_costs
