"""Uniform round-robin allocation, the baseline of the paper that ignores what it sees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.online import OnlinePolicy


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
