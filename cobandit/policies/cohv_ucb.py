"""CoHV-UCB, the paper's Algorithm 1; and with tighter confidence, by variances and by divergences (ours)."""

from functools import lru_cache
from math import exp, inf, log, log1p, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.asktell import Pull
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.theory.divergence import cheapest


class CoHVUCB(OnlinePolicy):
    r"""CoHV-UCB (Algorithm 1): optimistic hypervolume over optimistic cost.

    .. math::

        I_i = \frac{\prod_d \min\{1, \bar r_i^{(d)} + s_r \beta_i\}}
                   {\max\{\lambda/2, \bar c_i - s_c \beta_i\}},
        \qquad \beta_i = \sqrt{\frac{\alpha \log T_B}{n_i}},
        \quad T_B = \lceil B/\lambda \rceil + 1

    Takes what `OnlinePolicy` takes, and plays one of two algorithms:

    * by default that of the paper's experiments (Appendix A): feasible selection, among
      the arms that can be afforded, with scaled radii where ``reward_scale`` and
      ``cost_scale`` say so;
    * with ``selection="all"`` and both scales at 1, Algorithm 1 as printed, whose pulls
      and regret Theorem 1 bounds for alpha >= 2.

    Examples
    --------
    Costs are known and fixed here; the cheap arm wins although its rewards are lower.

    >>> rewards, costs = [[0.8, 0.5], [0.5, 0.5]], [1.0, 0.25]
    >>> policy = CoHVUCB(2, 2, budget=20, cost_range=(0.25, 1.0), reward_scale=0.1, cost_scale=0.1)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 76]), 20.0)

    As printed the loop goes on while no more than B is spent, here by one pull that
    crosses it.

    >>> policy = CoHVUCB(2, 2, 20, (0.25, 1.0), reward_scale=0.1, cost_scale=0.1, selection="all")
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 77]), 20.25)
    """

    label = "CoHV-UCB"

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return (
            np.prod(self.optimistic_rewards, axis=1) / self.normalised_optimistic_costs
        )


class CoHVUCBV(CoHVUCB):
    r"""CoHV-UCB-V: `CoHVUCB` with the radius of UCB-V, narrower where an arm's feedback varies little.

    With the empirical variance :math:`\hat\sigma^2` of each objective and of the cost
    in the place of :math:`\beta_i` stands

    .. math:: \beta = \min\{\beta_i,\; 2 \hat\sigma \beta_i + 6 \beta_i^2\},

    the empirical Bernstein inequality of Audibert, Munos and Szepesvári (2009) at the
    paper's confidence. It never exceeds :math:`\beta_i`, so Theorem 1 holds as it
    stands where it holds for `CoHVUCB`, with 5 instead of 2 in the probability of
    leaving the event of its Step 1.

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
    def reward_radius(self) -> NDArray[np.float64]:
        """Radii of the mean rewards, by the formula above: shape (K, D)."""
        return self._narrowed(self.mean_rewards, self._reward_squares)

    @property
    def normalised_cost_radius(self) -> NDArray[np.float64]:  # noqa: D102
        means, squares = self.normalised_mean_costs, self._normalised_cost_squares
        return self._narrowed(means[:, None], squares[:, None])[:, 0]

    def _narrowed(
        self, means: NDArray[np.float64], squares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Radii of columns of means, shape (K, any), given the sums of squares behind them."""
        radius = self.radius[:, None]
        variance = np.maximum(
            0.0, squares / np.maximum(self.pulls, 1)[:, None] - means**2
        )
        return np.minimum(radius, 2 * np.sqrt(variance) * radius + 6 * radius**2)

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(pull, reward, cost)
        self._reward_squares[pull] += reward**2
        normalised = cost / self.cost_range[1]
        self._normalised_cost_squares[pull] += normalised * normalised


#: Newton's steps are over when one is as small as this (the next is its square), or
#: after so many.
STEP, MOST_STEPS = 1e-7, 100
#: From this eta on its first guess is that of small divergences.
START = 3.0
#: No log eta is smaller: by then x and y are at their ends.
LEAST = -690.0


class CoHVKLUCB(OnlinePolicy):
    r"""CoHV-KL-UCB: one confidence region for all means of an arm in the place of an interval for each.

    .. math::

        I_i = \max \Bigl\{ \frac{\prod_d x^{(d)}}{y} :\
            n_i \Bigl( \sum_d \mathrm{kl}(\bar r_i^{(d)}, x^{(d)})
            + \mathrm{kl}\bigl(\tfrac{\bar c_i - \lambda}{1 - \lambda}, \tfrac{y - \lambda}{1 - \lambda}\bigr)
            \Bigr) \le \alpha \log T_B + \tfrac{D + 1}{2} \log\bigl(\pi (n_i + \tfrac12)\bigr) \Bigr\}

    At alpha = 1, if objectives and cost of a pull are independent, the region of the
    best arm contains its means at all times but for a probability of :math:`1 / T_B`,
    and the pulls of the others are asymptotically the fewest possible where all are
    coins: see `cobandit.theory.least_divergence`.

    Takes what `OnlinePolicy` takes, with alpha = 1 by default; scales have no meaning
    here.

    Examples
    --------
    >>> rewards, costs = [[0.8, 0.5], [0.5, 0.5]], [1.0, 0.25]
    >>> policy = CoHVKLUCB(2, 2, budget=200, cost_range=(0.25, 1.0))
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls
    array([ 10, 760])
    """

    label = "CoHV-KL-UCB"

    def __init__(self, *arguments: Any, alpha: float = 1.0, **options: Any):
        super().__init__(*arguments, alpha=alpha, **options)

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        n = np.maximum(self.begun, 1)
        allowed = (
            self.log_term + (self.n_objectives + 1) / 2 * np.log(pi * (n + 0.5))
        ) / n
        lam, costs = self.cost_ratio, self.normalised_mean_costs
        shares = (
            np.clip((costs - lam) / (1 - lam), 0.0, 1.0)
            if lam < 1
            else np.zeros(self.n_arms)
        )
        arms = zip(
            map(tuple, self.mean_rewards.tolist()),
            shares.tolist(),
            allowed.tolist(),
            strict=True,
        )
        return np.array([_largest_efficiency(*arm, lam) for arm in arms])


def find_largest_efficiency(
    rewards: Any, q: float, allowed: float, lam: float
) -> float:
    """Largest efficiency at the divergence ``allowed``, by Newton's method for eta, in logarithms.

    Where a step would leave the bracket, it is halved: at q = 1 the divergence has a
    kink.  The kernel runs this, too, compiled.
    """
    span, spread = 1 - lam, 0.0
    eta = (len(rewards) + span / lam) / allowed
    for r in rewards:
        spread += (1 - r) / r if r > 0 else -inf
    spread += q * (1 - q) * (span / (lam + span * q)) ** 2

    # after many pulls the divergence is nearly in proportion to 1 / eta^2
    if spread > 0:
        close = sqrt(spread / (2 * allowed))
        eta = close if close > START else eta

    at, low, high = log(eta), LEAST, inf
    for _ in range(MOST_STEPS):
        eta = exp(at)
        z = cheapest(q, eta, lam)
        value = slope = 0.0
        for r in rewards:
            value += (1 - r) * log1p(1 / eta)
            if r > 0:
                value -= r * log1p((1 - r) / (r * (1 + eta)))
            slope -= (1 - r) / ((1 + eta * r) * (1 + eta))
        if q > z:
            value += q * log(q / z)
            if q < 1:
                value += (1 - q) * log((1 - q) / (1 - z))
            slope -= (
                span
                * (q - z)
                / (span * (1 - 2 * z) + eta * (lam + span * z) - eta * (q - z) * span)
            )
        low, high = (at, high) if value > allowed else (low, at)
        after = (
            at - value * log(value / allowed) / slope
            if value > 0 and slope < 0
            else low
        )
        if not low < after < high:
            after = (low + high) / 2 if high < inf else at + 1
        step, at = after - at, after
        if abs(step) < STEP:
            break

    eta, efficiency = exp(at), 1.0
    for r in rewards:
        efficiency *= (1 + eta * r) / (1 + eta)
    return efficiency / (lam + span * cheapest(q, eta, lam))


# a pull changes one arm
_largest_efficiency = lru_cache(maxsize=4096)(find_largest_efficiency)
