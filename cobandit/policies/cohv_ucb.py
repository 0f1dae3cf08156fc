"""CoHV-UCB, the paper's Algorithm 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.online_policy import OnlinePolicy


class CoHVUCB(OnlinePolicy):
    r"""CoHV-UCB (Algorithm 1): optimistic hypervolume over optimistic cost.

    .. math::

        I_i = \frac{\prod_d \min\{1, \bar r_i^{(d)} + s_r \beta_i\}}
                   {\max\{\lambda/2, \bar c_i - s_c \beta_i\}},
        \qquad \beta_i = \sqrt{\frac{\alpha \log T_B}{n_i}},
        \quad T_B = \lceil B/\lambda \rceil + 1

    Takes what `OnlinePolicy` takes, and plays one of two algorithms:

    * by default that of the paper's experiments (Appendix A): feasible selection, among the arms that can
      be afforded, with scaled radii where ``reward_scale`` and ``cost_scale`` say so;
    * with ``selection="all"`` and both scales at 1, Algorithm 1 as printed, whose pulls and regret
      Theorem 1 bounds for alpha >= 2.

    Examples
    --------
    Costs are known and fixed here; the cheap arm wins although its rewards are lower.

    >>> rewards, costs = [[0.8, 0.5], [0.5, 0.5]], [1.0, 0.25]
    >>> policy = CoHVUCB(2, 2, budget=20, cost_range=(0.25, 1.0), reward_scale=0.1, cost_scale=0.1)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 76]), 20.0)

    As printed the loop goes on while no more than B is spent, here by one pull that crosses it.

    >>> policy = CoHVUCB(2, 2, 20, (0.25, 1.0), reward_scale=0.1, cost_scale=0.1, selection="all")
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 77]), 20.25)
    """

    label = "CoHV-UCB"

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return np.prod(self.optimistic_rewards, axis=1) / self.normalised_optimistic_costs
