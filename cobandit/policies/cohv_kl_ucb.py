"""CoHV-KL-UCB: the largest efficiency within a divergence of what was seen; this project's, not the paper's."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.online import OnlinePolicy
from cobandit.theory.divergence import bernoulli_divergence, cheapest

#: Newton's steps are over when they are as small as this, in log eta, or after so many.
STEP, MOST_STEPS = 1e-12, 60


class CoHVKLUCB(OnlinePolicy):
    r"""CoHV-KL-UCB: one confidence region for all means of an arm in the place of an interval for each.

    .. math::

        I_i = \max \Bigl\{ \frac{\prod_d x^{(d)}}{y} :\
            n_i \Bigl( \sum_d \mathrm{kl}(\bar r_i^{(d)}, x^{(d)})
            + \mathrm{kl}\bigl(\tfrac{\bar c_i - \lambda}{1 - \lambda}, \tfrac{y - \lambda}{1 - \lambda}\bigr)
            \Bigr) \le \alpha \log T_B + \tfrac{D + 1}{2} \log\bigl(\pi (n_i + \tfrac12)\bigr) \Bigr\}

    At alpha = 1, if objectives and cost of a pull are independent, the region of the best arm contains its
    means at all times but for a probability of :math:`1 / T_B`, and the pulls of the others are
    asymptotically the fewest possible where all are coins: see `cobandit.theory.least_divergence`.

    Takes what `OnlinePolicy` takes, with alpha = 1 by default; scales have no meaning here.

    Examples
    --------
    >>> rewards, costs = [[0.8, 0.5], [0.5, 0.5]], [1.0, 0.25]
    >>> policy = CoHVKLUCB(2, 2, budget=200, cost_range=(0.25, 1.0))
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls
    array([ 43, 628])
    """

    label = "CoHV-KL-UCB"

    def __init__(self, *arguments: Any, alpha: float = 1.0, **options: Any):
        super().__init__(*arguments, alpha=alpha, **options)

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        n = np.maximum(self.begun, 1).astype(float)
        coordinates = self.n_objectives + 1
        allowed = (self.log_term + coordinates / 2 * np.log(pi * (n + 0.5))) / n
        r, c, lam = self.mean_rewards, self.normalised_mean_costs, self.cost_ratio
        c = np.clip(c, lam, 1.0)
        # the divergence falls in log eta, the more steeply the larger eta: from the right no step overshoots
        eta = (self.n_objectives + (1 - lam) / lam) / allowed
        for _ in range(MOST_STEPS):
            value, slope = self._divergence(r, c, eta)
            step = np.where(value > 0, value * np.log(np.maximum(value, 1e-300) / allowed) / slope, 0.0)
            eta = eta * np.exp(-step)
            if (np.abs(step) < STEP).all():
                break
        x = (1 + eta[:, None] * r) / (1 + eta[:, None])
        index: NDArray[np.float64] = np.prod(x, axis=1) / cheapest(c, eta, cost_ratio=lam)
        return index

    def _divergence(
        self, r: NDArray[np.float64], c: NDArray[np.float64], eta: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Divergence of each arm to the point that belongs to eta, and its slope in log eta, shape (K,)."""
        at = eta[:, None]
        x = (1 + at * r) / (1 + at)
        up = np.where(r > 0, r * np.log1p((1 - r) / (np.where(r > 0, r, 1.0) * (1 + at))), 0.0)
        value = ((1 - r) * np.log1p(1 / at) - up).sum(axis=1)
        slope = -((1 - r) / (x * (1 + at) ** 2)).sum(axis=1)
        span = 1 - self.cost_ratio
        if span > 0:
            y = cheapest(c, eta, cost_ratio=self.cost_ratio)
            q, z = (c - self.cost_ratio) / span, (y - self.cost_ratio) / span
            value = value + bernoulli_divergence(q, z)
            steepness = span * (1 - 2 * z) + eta * y - eta * (q - z) * span
            slope = slope - np.where(q > z, span * (q - z) / steepness, 0.0)
        return value, slope
