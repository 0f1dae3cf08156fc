"""Base class of policies for online selection with a budget (Section 4.1)."""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation, theory
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell, Pull
from cobandit.problem import hypervolume


@dataclass(frozen=True, eq=False)
class BestArm:
    """The arm that an online policy recommends, with its empirical means."""

    arm: int  #: number of the arm
    pulls: int  #: number of its pulls
    mean_rewards: NDArray[np.float64]  #: empirical mean rewards, shape (D,)
    mean_cost: float  #: empirical mean cost, in the unit of the budget
    efficiency: float  #: hypervolume of the mean rewards over the mean cost


class OnlinePolicy(AskTell):
    r"""A policy that pulls the arm with the largest index, within a budget.

    First, each arm is pulled ``n_init`` times. Subclasses define the `index`. Ties go
    to the lowest arm number. Costs and budget are in the user's unit. Costs in the
    paper's formulas are divided by the largest cost; names of such costs begin with
    ``normalised``.

    Radii count evaluations in flight (requested, but without a result), and means do
    not:

    .. math:: n_i = \text{evaluations of arm } i \text{ with a result or in flight}

    This count spreads concurrent evaluations over the arms. The index decides as soon
    as each arm has ``n_init`` results. The largest cost is reserved for each evaluation
    in flight, so only the last requested evaluation may exceed the budget.
    `theory.alpha_in_flight` states how evaluations in flight change Theorem 1.

    Parameters
    ----------
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    budget : float
        B, in the user's unit of cost.
    cost_range : (float, float)
        Smallest and largest cost of a single evaluation, in the same unit. Their ratio
        is lambda.
    alpha : float
        Exploration constant. Theorem 1 requires alpha >= 2.
    reward_scale, cost_scale : float
        Factors s_r and s_c of the radii (paper, Appendix A). In the theory they are 1.
    n_init : int
        Number of pulls of each arm before the index decides. Arms that are not
        `eligible` are skipped.
    expected_costs : array_like, shape (K,), optional
        Expected cost of an evaluation of each arm, in the user's unit. It decides
        whether the arm is affordable. By default, it is the running mean, or the
        largest cost before the first pull.
    selection : {"feasible", "all"}
        Arms among which the index decides. ``"feasible"``, as in the paper's
        experiments (Appendix A): the arms whose expected cost fits into the remaining
        budget. ``"all"``, as in the printed Algorithm 1: every arm while at most the
        budget is spent, so the last pull may exceed the budget.

    Attributes
    ----------
    cost_ratio : float
        lambda, the smallest over the largest cost.
    log_term : float
        :math:`\alpha \log T_B`, the numerator of the squared radii.

    Raises
    ------
    BudgetError
        If the budget is not enough for one pull of each arm at its expected cost. The
        error names the smallest budget that is enough.
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
        selection: str = "feasible",
    ):
        super().__init__(n_arms, n_objectives, budget)
        pair = _validation.numbers(cost_range, "cost_range", None)
        low, high = pair if pair.shape == (2,) else (0.0, 0.0)
        if not 0 < low <= high:
            raise CobanditError(
                f"cost_range is {cost_range}: expected (low, high) with"
                " 0 < low <= high",
                argument="cost_range",
                code="out-of-range",
            )
        self.cost_range = (float(low), float(high))
        self.cost_ratio = float(low / high)
        self.alpha = _validation.positive(alpha, "alpha")
        self.reward_scale = _validation.non_negative(reward_scale, "reward_scale")
        self.cost_scale = _validation.non_negative(cost_scale, "cost_scale")
        self.n_init = _validation.count(n_init, "n_init", 1)
        if self.n_init * self.n_arms > _budget.MOST_PULLS:
            raise CobanditError(
                f"n_init is {n_init}, which takes more than 2^62 pulls: give a smaller"
                " number",
                argument="n_init",
                code="too-large",
            )
        self.selection = _validation.choice(selection, "selection", ("feasible", "all"))
        self.log_term = self.alpha * log(
            theory.horizon(self.budget / high, self.cost_ratio)
        )
        self._normalised_cost_sums = np.zeros(self.n_arms)
        self._largest = np.full(self.n_arms, self.cost_range[1])

        self._declared = None
        if expected_costs is not None:
            self._declared = _validation.costs(
                expected_costs, "expected_costs", n_arms=self.n_arms
            )
            is_too_high = self._declared.max() > _budget.add_slack(high)
            is_too_low = low > _budget.add_slack(self._declared.min())
            if is_too_high or is_too_low:
                raise CobanditError(
                    f"expected_costs must be within cost_range {self.cost_range}",
                    argument="expected_costs",
                    code="out-of-range",
                )
        smallest = float(self.expected_costs.sum())
        if smallest > _budget.add_slack(self.budget):
            raise self._too_small(
                f"does not pay for one pull of each of the {self.n_arms} arms", smallest
            )

    def index(self) -> NDArray[np.float64]:
        """Return the index of each arm, shape (K,), in time O(K D)."""
        raise NotImplementedError

    def recommend(self) -> BestArm | None:
        r"""Return the arm with the largest empirical efficiency.

        .. math:: \prod_d \bar r_i^{(d)} / \bar c_i

        Returns
        -------
        BestArm or None
            Ties go to the lowest arm number. Arms without a pull are not recommended,
            so the result is None before the first pull.

        Examples
        --------
        >>> from cobandit import UniformAllocation
        >>> policy = UniformAllocation(2, 2, budget=8, cost_range=(1.0, 4.0))
        >>> for reward, cost in (([0.75, 0.5], 4.0), ([0.5, 0.5], 2.0)):
        ...     policy.tell(policy.ask(), reward, cost)
        >>> best = policy.recommend()
        >>> best.arm, best.mean_cost, best.efficiency
        (1, 2.0, 0.125)
        """
        pulled = np.flatnonzero(self.pulls)
        if not len(pulled):
            return None

        means = self.mean_rewards[pulled]
        costs = self.mean_costs[pulled]
        efficiency = hypervolume(means) / costs
        best = int(efficiency.argmax())
        arm = int(pulled[best])
        return BestArm(
            arm=arm,
            pulls=int(self.pulls[arm]),
            mean_rewards=means[best],
            mean_cost=float(costs[best]),
            efficiency=float(efficiency[best]),
        )

    @property
    def options(self) -> dict[str, Any]:
        """Arguments with which the constructor of this policy was called.

        ``expected_costs`` is None if the policy uses running mean costs instead.
        """
        return super().options | {"expected_costs": self._declared}

    @property
    def expected_costs(self) -> NDArray[np.float64]:
        """Current expected cost of one evaluation of each arm, shape (K,)."""
        if self._declared is not None:
            return self._declared
        return np.where(self.pulls > 0, self.mean_costs, self.cost_range[1])

    @property
    def affordable(self) -> NDArray[np.bool_]:
        """Mask of arms whose expected cost fits into the remaining budget, (K,)."""
        return self._committed + self.expected_costs <= _budget.add_slack(self.budget)

    @property
    def eligible(self) -> NDArray[np.bool_]:
        """Mask, by ``selection``, of arms among which the index decides, (K,)."""
        if self.selection == "all":
            is_within = self._committed <= _budget.add_slack(self.budget)
            return np.full(self.n_arms, is_within)
        return self.affordable

    @property
    def mean_costs(self) -> NDArray[np.float64]:
        """Empirical mean cost of each arm, shape (K,); zero without a pull."""
        return self.normalised_mean_costs * self.cost_range[1]

    @property
    def normalised_mean_costs(self) -> NDArray[np.float64]:
        r"""Mean costs :math:`\bar c_i` over the largest cost, shape (K,)."""
        return self._normalised_cost_sums / np.maximum(self.pulls, 1)

    @property
    def radius(self) -> NDArray[np.float64]:
        r"""Radius :math:`\beta_i = \sqrt{\alpha \log T_B / n_i}`, shape (K,)."""
        return np.sqrt(self.log_term / np.maximum(self.begun, 1))

    @property
    def reward_radius(self) -> NDArray[np.float64]:
        """Radius of each mean reward, shape (K, D) or (K, 1)."""
        return self.radius[:, None]

    @property
    def normalised_cost_radius(self) -> NDArray[np.float64]:
        """Radius of each of the `normalised_mean_costs`, shape (K,)."""
        return self.radius

    @property
    def optimistic_rewards(self) -> NDArray[np.float64]:
        r"""Rewards :math:`\min\{1, \bar r_i^{(d)} + s_r \beta_i\}`, shape (K, D)."""
        return np.minimum(
            1.0, self.mean_rewards + self.reward_scale * self.reward_radius
        )

    @property
    def normalised_optimistic_costs(self) -> NDArray[np.float64]:
        r"""Costs :math:`\max\{\lambda/2, \bar c_i - s_c \beta_i\}`, shape (K,)."""
        lowered = (
            self.normalised_mean_costs - self.cost_scale * self.normalised_cost_radius
        )
        return np.maximum(self.cost_ratio / 2, lowered)

    def _choose(self) -> int | None:
        eligible = self.eligible
        if not eligible.any():
            return None
        initial = eligible & (self.begun < self.n_init)
        if initial.any():
            # round-robin: fewest pulls first, then the lowest number
            return int(np.where(initial, self.begun, self.n_init).argmin())

        # the index needs the results of all initial pulls, so wait for these
        if self.in_flight[self.pulls < self.n_init].any():
            return None
        return int(np.where(eligible, self.index(), -np.inf).argmax())

    def _guarantee_violation(self, arm: int, cost: float) -> str:
        low, high = self.cost_range
        if low <= _budget.add_slack(cost) and cost <= _budget.add_slack(high):
            return ""
        return (
            f"outside the range [{low:g}, {high:g}]: it is charged, but the regret"
            " guarantee is void"
        )

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(pull, reward, cost)
        self._normalised_cost_sums[pull] += cost / self.cost_range[1]
