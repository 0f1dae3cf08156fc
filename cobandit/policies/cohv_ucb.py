"""CoHV-UCB (Algorithm 1), and two variants with tighter confidence regions."""

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

    Its parameters are those of `OnlinePolicy`. They select one of two algorithms:

    * By default, the policy is the algorithm of the paper's experiments (Appendix A),
      which selects among affordable arms. ``reward_scale`` and ``cost_scale`` are
      factors of its radii.
    * With ``selection="all"`` and both scales at 1, the policy is Algorithm 1 as
      printed. For alpha >= 2, Theorem 1 bounds the pulls of each suboptimal arm, and
      the regret.

    Examples
    --------
    Costs are fixed here. The cheap arm wins, although its rewards are lower.

    >>> rewards = [[0.8, 0.5], [0.5, 0.5]]
    >>> costs = [1.0, 0.25]
    >>> radii = {"reward_scale": 0.1, "cost_scale": 0.1}
    >>> policy = CoHVUCB(2, 2, budget=20, cost_range=(0.25, 1.0), **radii)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 76]), 20.0)

    The printed loop continues while at most B is spent, so its last pull may
    exceed B.

    >>> policy = CoHVUCB(2, 2, 20, (0.25, 1.0), selection="all", **radii)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 77]), 20.25)
    """

    label = "CoHV-UCB"

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        volume: NDArray[np.float64] = np.prod(self.optimistic_rewards, axis=1)
        return volume / self.normalised_optimistic_costs


class CoHVUCBV(CoHVUCB):
    r"""CoHV-UCB-V: `CoHVUCB` with radii that are narrower for small variances (UCB-V).

    With the empirical variance :math:`\hat\sigma^2` of each objective and of the cost,
    the radius

    .. math:: \beta = \min\{\beta_i,\; 2 \hat\sigma \beta_i + 6 \beta_i^2\}

    replaces :math:`\beta_i`. This radius is from the empirical Bernstein inequality of
    Audibert, Munos and Szepesvári (2009), at the paper's confidence. It never exceeds
    :math:`\beta_i`, so Theorem 1 holds as for `CoHVUCB`. Only the probability that a
    mean is outside of its radius (Step 1 of the proof) has a factor of 5 instead of 2.

    Its parameters are those of `OnlinePolicy`.

    Examples
    --------
    Feedback is constant here. The variance is 0, and the radius 6 alpha log(T_B) / n.

    >>> policy = CoHVUCBV(2, 1, budget=5000, cost_range=(0.5, 1.0), alpha=0.01)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, [0.5], 0.5)
    >>> radii = policy.reward_radius[:, 0]
    >>> bool(np.allclose(radii, 6 * policy.log_term / policy.pulls))
    True
    """

    label = "CoHV-UCB-V"

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._reward_squares = np.zeros((self.n_arms, self.n_objectives))
        self._normalised_cost_squares = np.zeros(self.n_arms)

    @property
    def reward_radius(self) -> NDArray[np.float64]:
        """Radii of the mean rewards by the formula of the class, shape (K, D)."""
        return self._narrowed(self.mean_rewards, self._reward_squares)

    @property
    def normalised_cost_radius(self) -> NDArray[np.float64]:  # noqa: D102
        means = self.normalised_mean_costs[:, None]
        squares = self._normalised_cost_squares[:, None]
        return self._narrowed(means, squares)[:, 0]

    def _narrowed(
        self, means: NDArray[np.float64], squares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the radii of means, from the means and the sums of squares."""
        radius = self.radius[:, None]
        mean_squares = squares / np.maximum(self.pulls, 1)[:, None]
        variance = np.maximum(0.0, mean_squares - means**2)
        return np.minimum(radius, 2 * np.sqrt(variance) * radius + 6 * radius**2)

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(pull, reward, cost)
        self._reward_squares[pull] += reward**2
        normalised = cost / self.cost_range[1]
        self._normalised_cost_squares[pull] += normalised * normalised


#: Newton's method stops after a step below this size. The next step would be about the
#: square of this size.
STEP = 1e-7
#: Largest number of Newton's steps.
MOST_STEPS = 100
#: The first guess of eta is the value for a small divergence, if that value exceeds
#: this constant.
START = 3.0
#: Smallest log eta. There, the optimal mean rewards and the optimal mean cost are at
#: the ends of their ranges.
LEAST_LOG_ETA = -690.0


class CoHVKLUCB(OnlinePolicy):
    r"""CoHV-KL-UCB: largest efficiency in a joint Kullback-Leibler region of all means.

    .. math::

        I_i = \max \Bigl\{ \frac{\prod_d x^{(d)}}{y} :\
            n_i \Bigl( \sum_d \mathrm{kl}(\bar r_i^{(d)}, x^{(d)})
            + \mathrm{kl}\bigl(\tfrac{\bar c_i - \lambda}{1 - \lambda},
            \tfrac{y - \lambda}{1 - \lambda}\bigr) \Bigr)
            \le \alpha \log T_B
            + \tfrac{D + 1}{2} \log\bigl(\pi (n_i + \tfrac12)\bigr) \Bigr\}

    Suppose that alpha = 1, and that the objectives and the cost of a pull are
    independent. Then the region of the best arm contains the arm's means at all times,
    except with probability :math:`1 / T_B`. If all feedback is binary, no consistent
    method pulls the other arms less often asymptotically
    (`cobandit.theory.least_divergence`).

    Its parameters are those of `OnlinePolicy`, with alpha = 1 by default.
    ``reward_scale`` and ``cost_scale`` have no effect.

    Examples
    --------
    >>> rewards = [[0.8, 0.5], [0.5, 0.5]]
    >>> costs = [1.0, 0.25]
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
        correction = (self.n_objectives + 1) / 2 * np.log(pi * (n + 0.5))
        allowed = (self.log_term + correction) / n

        # costs as shares of their range [lambda, 1], which is one point if lambda is 1
        lam = self.cost_ratio
        shares = np.zeros(self.n_arms)
        if lam < 1:
            costs = self.normalised_mean_costs
            shares = np.clip((costs - lam) / (1 - lam), 0.0, 1.0)

        # tuples, because the cache needs hashable arguments
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
    r"""Return the largest efficiency among means close to the empirical means.

    Means are close if their divergence from the empirical means is at most ``allowed``.

    For a multiplier eta > 0, the optimal mean reward is :math:`x = (1 + \eta r) / (1 +
    \eta)`, and `cheapest` gives the optimal cost. The divergence of these optimal means
    falls as eta grows. Newton's method finds the eta at which the divergence equals
    ``allowed``. The kernel compiles this function.

    Parameters
    ----------
    rewards : sequence of float
        Mean rewards.
    q : float
        Mean cost as a share of its range [lambda, 1].
    allowed : float
        Largest divergence.
    lam : float
        lambda, the smallest cost over the largest.
    """
    span = 1 - lam
    spread = 0.0
    for r in rewards:
        spread += (1 - r) / r if r > 0 else -inf
    spread += q * (1 - q) * (span / (lam + span * q)) ** 2

    # first guess of eta: for a small divergence, it is nearly spread / (2 eta^2)
    eta = (len(rewards) + span / lam) / allowed
    if spread > 0:
        close = sqrt(spread / (2 * allowed))
        if close > START:
            eta = close

    log_eta = log(eta)
    low = LEAST_LOG_ETA
    high = inf
    for _ in range(MOST_STEPS):
        # divergence of the rewards, and its derivative by log(eta)
        eta = exp(log_eta)
        divergence = 0.0
        slope = 0.0
        for r in rewards:
            divergence += (1 - r) * log1p(1 / eta)
            if r > 0:
                divergence -= r * log1p((1 - r) / (r * (1 + eta)))
            slope -= (1 - r) / ((1 + eta * r) * (1 + eta))

        # divergence of the cost, and its derivative
        z = cheapest(q, eta, lam)
        if q > z:
            divergence += q * log(q / z)
            if q < 1:
                divergence += (1 - q) * log((1 - q) / (1 - z))
            denominator = span * (1 - 2 * z) + eta * (lam + span * z)
            denominator = denominator - eta * (q - z) * span
            slope -= span * (q - z) / denominator

        if divergence > allowed:
            low = log_eta
        else:
            high = log_eta

        # Newton's step for log(divergence / allowed) as a function of log(eta)
        candidate = low
        if divergence > 0 and slope < 0:
            candidate = log_eta - divergence * log(divergence / allowed) / slope

        # bisect if the step leaves the bracket, which happens at the kink for q = 1
        if not low < candidate < high:
            candidate = (low + high) / 2 if high < inf else log_eta + 1

        step = candidate - log_eta
        log_eta = candidate
        if abs(step) < STEP:
            break

    eta = exp(log_eta)
    efficiency = 1.0
    for r in rewards:
        efficiency *= (1 + eta * r) / (1 + eta)
    return efficiency / (lam + span * cheapest(q, eta, lam))


# cached, because a pull changes the index of one arm only
_largest_efficiency = lru_cache(maxsize=4096)(find_largest_efficiency)
