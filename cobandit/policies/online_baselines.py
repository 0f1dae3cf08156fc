"""The paper's three baselines of online selection: without costs, with one objective, without an index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.policies.online_policy import OnlinePolicy


class HVUCB(OnlinePolicy):
    r"""HV-UCB (Section 5): CoHV-UCB without its denominator, so blind to cost.

    .. math:: I_i = \prod_d \min\{1, \bar r_i^{(d)} + s_r \beta_i\}

    Takes what `OnlinePolicy` takes.

    Examples
    --------
    >>> policy = HVUCB(2, 1, budget=4, cost_range=(1.0, 1.0), reward_scale=0.0)
    >>> for reward in (0.25, 0.5, 0.5, 0.5):
    ...     policy.tell(policy.ask(), [reward], 1.0)
    >>> policy.pulls
    array([1, 3])
    """

    label = "HV-UCB"

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return np.prod(self.optimistic_rewards, axis=1)


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


class UniformAllocation(OnlinePolicy):
    r"""Uniform round-robin allocation (Section 5): the eligible arm of the fewest pulls, told or in flight.

    .. math:: I_i = -n_i

    Takes what `OnlinePolicy` takes, so that it can stand in for the others.

    Examples
    --------
    >>> policy = UniformAllocation(3, 1, budget=5, cost_range=(1.0, 1.0))
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, [0.5], 1.0)
    >>> policy.pulls
    array([2, 2, 1])
    """

    label = "Uniform allocation"

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return -self.begun.astype(np.float64)
