"""HV-UCB, the baseline of the paper that ignores costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.online import OnlinePolicy


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
