"""CoHV-UCB with a radius that knows the variance, as UCB-V has it: this project's, not the paper's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.asktell import Pull
from cobandit.policies.cohv_ucb import CoHVUCB


class CoHVUCBV(CoHVUCB):
    r"""CoHV-UCB-V: `CoHVUCB` with the radius of UCB-V, narrower where an arm's feedback varies little.

    With the empirical variance :math:`\hat\sigma^2` of each objective and of the cost in the place of
    :math:`\beta_i` stands

    .. math:: \beta = \min\{\beta_i,\; 2 \hat\sigma \beta_i + 6 \beta_i^2\},

    the empirical Bernstein inequality of Audibert, Munos and Szepesvári (2009) at the paper's confidence.
    It never exceeds :math:`\beta_i`, so Theorem 1 holds as it stands where it holds for `CoHVUCB`, with 5
    instead of 2 in the probability of leaving the event of its Step 1.

    Takes what `OnlinePolicy` takes.

    Examples
    --------
    Feedback does not vary here, so that 6 alpha log(T_B) / n is all that is left of the radius.

    >>> policy = CoHVUCBV(2, 1, budget=5000, cost_range=(0.5, 1.0), alpha=0.01)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, [0.5], 0.5)
    >>> bool(np.allclose(policy.reward_radius[:, 0], 6 * policy.log_term / policy.pulls))
    True
    """

    label = "CoHV-UCB-V"

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._reward_squares = np.zeros((self.n_arms, self.n_objectives))
        self._normalised_cost_squares = np.zeros(self.n_arms)

    @property
    def reward_radius(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return self._narrowed(self.mean_rewards, self._reward_squares)

    @property
    def normalised_cost_radius(self) -> NDArray[np.float64]:  # noqa: D102
        return self._narrowed(self.normalised_mean_costs[:, None], self._normalised_cost_squares[:, None])[
            :, 0
        ]

    def _narrowed(self, means: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Radii of columns of means, shape (K, any), given the sums of squares behind them."""
        radius = self.radius[:, None]
        variance = np.maximum(0.0, squares / np.maximum(self.pulls, 1)[:, None] - means**2)
        return np.minimum(radius, 2 * np.sqrt(variance) * radius + 6 * radius**2)

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(pull, reward, cost)
        self._reward_squares[pull] += reward**2
        normalised = cost / self.cost_range[1]
        self._normalised_cost_squares[pull] += normalised * normalised
