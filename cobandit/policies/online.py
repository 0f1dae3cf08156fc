"""Budgeted online selection: CoHV-UCB and its baselines, as the paper writes them (Section 4.1)."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.asktell import AskTell


class OnlinePolicy(AskTell):
    """An index policy under a budget: every arm ``n_init`` times in turn, then the largest index.

    Subclasses give the `index`.  Only arms whose expected cost fits into what is left of the budget are
    eligible; ties go to the lowest arm number.

    Parameters
    ----------
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    budget : float
        B, in the user's unit of cost.
    cost_range : (float, float)
        Smallest and largest cost of a single evaluation.  Costs are divided by the largest inside, so
        lambda = low / high.
    alpha : float
        Exploration constant; Theorem 1 asks for alpha >= 2.
    reward_scale, cost_scale : float
        Factors s_r and s_c of the radii (paper, Appendix A); 1 is the theory's.
    n_init : int
        Pulls of each arm before the index decides; beyond the first, while affordable.
    expected_costs : array_like, shape (K,), optional
        What an evaluation of each arm is expected to cost, in the user's unit, to tell what is
        affordable.  Default: its running mean, or ``high`` before the first pull.

    Raises
    ------
    BudgetError
        If the budget does not hold one expected pull of each arm; it names the smallest that does.
    CobanditError
        If an argument is out of range.
    """

    def __init__(
        self,
        n_arms: int,
        n_objectives: int,
        budget: float,
        cost_range: tuple[float, float],
        *,
        alpha: float = 2.0,
        reward_scale: float = 1.0,
        cost_scale: float = 1.0,
        n_init: int = 1,
        expected_costs: ArrayLike | None = None,
    ):
        super().__init__(n_arms, n_objectives, budget)
        low, high = _check.numbers(cost_range, "cost_range", 1) if np.size(cost_range) == 2 else (0.0, 0.0)
        if not 0 < low <= high:
            raise CobanditError(f"cost_range is {cost_range}: expected (low, high) with 0 < low <= high")
        self.cost_range = (float(low), float(high))
        self.min_cost = float(low / high)
        self.alpha = _check.positive(alpha, "alpha")
        self.reward_scale = _check.non_negative(reward_scale, "reward_scale")
        self.cost_scale = _check.non_negative(cost_scale, "cost_scale")
        self.n_init = _check.count(n_init, "n_init", 1)
        if self.n_init * self.n_arms > _check.MOST_PULLS:
            raise CobanditError(f"n_init is {n_init}: that is more than 2^62 pulls of initialisation")
        #: alpha log T_B, all that the radii need besides the number of pulls.
        self.log_term = self.alpha * log(theory.horizon(self.budget / high, self.min_cost))
        self._cost_sums = np.zeros(self.n_arms)  # of costs divided by the largest

        self._declared = None
        if expected_costs is not None:
            self._declared = _check.costs(expected_costs, "expected_costs", n_arms=self.n_arms)
            if self._declared.max() > _check.with_slack(high) or low > _check.with_slack(
                self._declared.min()
            ):
                raise CobanditError(f"expected_costs: means outside cost_range {self.cost_range}")
        smallest = float(self.expected_costs.sum())
        if smallest > _check.with_slack(self.budget):
            raise BudgetError(
                f"budget {self.budget:g} does not hold one pull of each of the {self.n_arms} arms: "
                f"at least {smallest:g} is needed",
                smallest,
            )

    def index(self) -> NDArray[np.float64]:
        """Index of each arm, shape (K,), from what was observed so far.  Time O(K D)."""
        raise NotImplementedError

    @property
    def options(self) -> dict[str, Any]:  # noqa: D102 (as its parent; expected_costs changes with the run)
        return super().options | {"expected_costs": self._declared}

    @property
    def expected_costs(self) -> NDArray[np.float64]:
        """What one evaluation of each arm is expected to cost now, shape (K,), unit of the budget."""
        if self._declared is not None:
            return self._declared
        high = self.cost_range[1]
        return np.where(self.pulls > 0, self.mean_costs * high, high)

    @property
    def affordable(self) -> NDArray[np.bool_]:
        """Arms whose expected cost fits into what is left, shape (K,)."""
        return self.spent + self.expected_costs <= _check.with_slack(self.budget)

    @property
    def mean_costs(self) -> NDArray[np.float64]:
        """Empirical mean cost of each arm divided by the largest cost, shape (K,)."""
        return self._cost_sums / np.maximum(self.pulls, 1)

    @property
    def radius(self) -> NDArray[np.float64]:
        r"""Confidence radius :math:`\beta_i = \sqrt{\alpha \log T_B / n_i}`, shape (K,)."""
        return np.sqrt(self.log_term / np.maximum(self.pulls, 1))

    @property
    def reward_radius(self) -> NDArray[np.float64]:
        """Radius of each mean reward, shape (K, D) or (K, 1): that of the arm."""
        return self.radius[:, None]

    @property
    def cost_radius(self) -> NDArray[np.float64]:
        """Radius of each mean cost, shape (K,): that of the arm."""
        return self.radius

    @property
    def optimistic_rewards(self) -> NDArray[np.float64]:
        r""":math:`U_i^{(d)} = \min\{1, \bar r_i^{(d)} + s_r \beta_i\}`, shape (K, D)."""
        return np.minimum(1.0, self.mean_rewards + self.reward_scale * self.reward_radius)

    @property
    def optimistic_costs(self) -> NDArray[np.float64]:
        r""":math:`\underline c_i = \max\{\lambda/2, \bar c_i - s_c \beta_i\}`, shape (K,)."""
        return np.maximum(self.min_cost / 2, self.mean_costs - self.cost_scale * self.cost_radius)

    def _choose(self) -> int | None:
        affordable = self.affordable
        if not affordable.any():
            return None
        waiting = affordable & (self.pulls < self.n_init)
        if waiting.any():  # round-robin: fewest pulls first, then the lowest number
            return int(np.where(waiting, self.pulls, self.n_init).argmin())
        return int(np.where(affordable, self.index(), -np.inf).argmax())

    def _doubt(self, arm: int, cost: float) -> str:
        low, high = self.cost_range
        if low <= _check.with_slack(cost) and cost <= _check.with_slack(high):
            return ""
        return f"outside the range [{low:g}, {high:g}]: it is charged, but the regret guarantee is void"

    def _record(self, arm: int, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(arm, reward, cost)
        self._cost_sums[arm] += cost / self.cost_range[1]


class CoHVUCB(OnlinePolicy):
    r"""CoHV-UCB (Algorithm 1): optimistic hypervolume over optimistic cost.

    .. math::

        I_i = \frac{\prod_d \min\{1, \bar r_i^{(d)} + s_r \beta_i\}}
                   {\max\{\lambda/2, \bar c_i - s_c \beta_i\}},
        \qquad \beta_i = \sqrt{\frac{\alpha \log T_B}{n_i}},
        \quad T_B = \lceil B/\lambda \rceil + 1

    Takes what `OnlinePolicy` takes, and ``bound``, the inequality behind the radius.  With the scales at 1
    and alpha >= 2, Theorem 1 bounds its regret.

    * ``"hoeffding"`` (default), the paper's :math:`\beta_i` for every objective and the cost;
    * ``"bernstein"``, this project's, narrower where an arm's feedback varies little: with the empirical
      variance :math:`\hat\sigma^2` of each objective and of the cost,

      .. math:: \beta = \min\{\beta_i,\; 2 \hat\sigma \beta_i + 6 \beta_i^2\},

      the inequality of Audibert, Munos and Szepesvári (2009) at the paper's confidence.  It never exceeds
      :math:`\beta_i`, so Theorem 1 holds as it stands, with 5 instead of 2 in the probability of leaving
      the event of its Step 1.

    Examples
    --------
    Costs are known and fixed here; the cheap arm wins although its rewards are lower.

    >>> rewards, costs = [[0.8, 0.5], [0.5, 0.5]], [1.0, 0.25]
    >>> policy = CoHVUCB(2, 2, budget=20, cost_range=(0.25, 1.0), reward_scale=0.1, cost_scale=0.1)
    >>> while (arm := policy.ask()) is not None:
    ...     policy.tell(arm, rewards[arm], costs[arm])
    >>> policy.pulls, policy.spent
    (array([ 1, 76]), 20.0)
    """

    label = "CoHV-UCB"

    def __init__(
        self,
        n_arms: int,
        n_objectives: int,
        budget: float,
        cost_range: tuple[float, float],
        *,
        bound: str = "hoeffding",
        alpha: float = 2.0,
        reward_scale: float = 1.0,
        cost_scale: float = 1.0,
        n_init: int = 1,
        expected_costs: ArrayLike | None = None,
    ):
        super().__init__(
            n_arms,
            n_objectives,
            budget,
            cost_range,
            alpha=alpha,
            reward_scale=reward_scale,
            cost_scale=cost_scale,
            n_init=n_init,
            expected_costs=expected_costs,
        )
        self.bound = _check.choice(bound, "bound", ("hoeffding", "bernstein"))
        #: Whether radii shrink with the empirical variance.
        self.variance_aware = self.bound == "bernstein"
        self._reward_squares = np.zeros((self.n_arms, self.n_objectives))
        self._cost_squares = np.zeros(self.n_arms)

    @property
    def reward_radius(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return self._narrowed(self.mean_rewards, self._reward_squares)

    @property
    def cost_radius(self) -> NDArray[np.float64]:  # noqa: D102
        return self._narrowed(self.mean_costs[:, None], self._cost_squares[:, None])[:, 0]

    def _narrowed(self, means: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Radii of columns of means, shape (K, any), given the sums of squares behind them."""
        radius = np.broadcast_to(self.radius[:, None], means.shape)
        if not self.variance_aware:
            return radius
        variance = np.maximum(0.0, squares / np.maximum(self.pulls, 1)[:, None] - means**2)
        return np.minimum(radius, 2 * np.sqrt(variance) * radius + 6 * radius**2)

    def index(self) -> NDArray[np.float64]:  # noqa: D102
        return np.prod(self.optimistic_rewards, axis=1) / self.optimistic_costs

    def _record(self, arm: int, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(arm, reward, cost)
        self._reward_squares[arm] += reward**2
        share = cost / self.cost_range[1]
        self._cost_squares[arm] += share * share


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

    def index(self) -> NDArray[np.float64]:  # noqa: D102
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

    def __init__(
        self,
        n_arms: int,
        n_objectives: int,
        budget: float,
        cost_range: tuple[float, float],
        *,
        objective: int = 0,
        alpha: float = 2.0,
        reward_scale: float = 1.0,
        cost_scale: float = 1.0,
        n_init: int = 1,
        expected_costs: ArrayLike | None = None,
    ):
        super().__init__(
            n_arms,
            n_objectives,
            budget,
            cost_range,
            alpha=alpha,
            reward_scale=reward_scale,
            cost_scale=cost_scale,
            n_init=n_init,
            expected_costs=expected_costs,
        )
        self.objective = _check.count(objective, "objective", 0)
        if self.objective >= self.n_objectives:
            raise CobanditError(
                f"objective is {objective}, but there are {self.n_objectives} (counted from 0)"
            )

    def index(self) -> NDArray[np.float64]:  # noqa: D102
        return self.optimistic_rewards[:, self.objective] / self.optimistic_costs


class UniformAllocation(OnlinePolicy):
    r"""Uniform round-robin allocation (Section 5): the affordable arm with the fewest pulls.

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

    def index(self) -> NDArray[np.float64]:  # noqa: D102
        return -self.pulls.astype(np.float64)
