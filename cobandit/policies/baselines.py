"""The paper's baselines for online selection and for identification."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import count
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _budget, _validation
from cobandit.dominance import pareto_mask
from cobandit.errors import CobanditError
from cobandit.policies.asktell import Pull
from cobandit.policies.identification_policy import GapElimination, IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy


class HVUCB(OnlinePolicy):
    r"""HV-UCB (Section 5): the optimistic hypervolume of CoHV-UCB, without the cost.

    .. math:: I_i = \prod_d \min\{1, \bar r_i^{(d)} + s_r \beta_i\}

    Its parameters are those of `OnlinePolicy`.

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
        volume: NDArray[np.float64] = np.prod(self.optimistic_rewards, axis=1)
        return volume


class AccuracyCostUCB(OnlinePolicy):
    r"""Accuracy-Cost-UCB (Section 5): one optimistic mean reward over optimistic cost.

    .. math:: I_i = \frac{\min\{1, \bar r_i^{(a)} + s_r \beta_i\}}
                         {\max\{\lambda/2, \bar c_i - s_c \beta_i\}}

    Its parameters are those of `OnlinePolicy`, and ``objective``, the number a of the
    objective in the formula (default 0).

    Examples
    --------
    >>> policy = AccuracyCostUCB(2, 2, 4, (1.0, 1.0), reward_scale=0.0, objective=1)
    >>> for reward in ([1.0, 0.25], [0.0, 0.5], [0.0, 0.5], [0.0, 0.5]):
    ...     policy.tell(policy.ask(), reward, 1.0)
    >>> policy.pulls
    array([1, 3])
    """

    label = "Accuracy-Cost-UCB"

    def __init__(self, *arguments: Any, objective: int = 0, **options: Any):
        super().__init__(*arguments, **options)
        self.objective = _validation.count(objective, "objective", 0)
        if self.objective >= self.n_objectives:
            raise CobanditError(
                f"objective is {objective}, but the numbers of the {self.n_objectives}"
                f" objectives are 0 to {self.n_objectives - 1}",
                argument="objective",
                code="out-of-range",
            )

    def index(self) -> NDArray[np.float64]:  # noqa: D102 (the formula stands above)
        return (
            self.optimistic_rewards[:, self.objective]
            / self.normalised_optimistic_costs
        )


class UniformAllocation(OnlinePolicy):
    r"""Uniform allocation (Section 5): pull the arm with the fewest pulls.

    .. math:: I_i = -n_i

    Its parameters are those of `OnlinePolicy`, so it can replace the other online
    methods.

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


class PSISR(GapElimination):
    r"""PSI-SR (Kone et al., 2024): gap elimination with pull targets that ignore costs.

    .. math::

        n_k = \Bigl\lceil \frac{T - K}{\overline{\log}(K)\,(K + 1 - k)} \Bigr\rceil,
        \qquad
        \overline{\log}(K) = \frac12 + \sum_{i=2}^K \frac1i

    Its parameters are those of `IdentificationPolicy`, and ``rounds``, the rule that
    derives the number of rounds T from the budget B. By default, ``"worst-case"``, T is
    the largest number of rounds that costs at most B for every order of elimination.
    With ``"max"``, T is B over the largest cost. With ``"mean"``, T is B over the mean
    cost, and the run is cut short if it reaches B.

    Examples
    --------
    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = PSISR(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([7, 5, 7]), 34.0)
    """

    label = "PSI-SR"

    def __init__(self, *arguments: Any, rounds: str = "worst-case", **options: Any):
        self.rounds = _validation.choice(
            rounds, "rounds", ("worst-case", "max", "mean")
        )
        super().__init__(*arguments, **options)

    def _check_budget(self) -> None:
        fewest = self.n_arms + 1
        self.log_bar = 0.5 + sum(1 / i for i in range(2, self.n_arms + 1))
        if self.rounds == "worst-case":
            smallest = self._worst_spend(fewest)
            self.n_rounds = self._most_rounds()
        else:
            is_max = self.rounds == "max"
            per_round = float(self.costs.max() if is_max else self.costs.mean())
            smallest = fewest * per_round
            self.n_rounds = _budget.floor(self.budget / per_round)

        if self.n_rounds < fewest:
            reason = f"is less than {fewest} rounds, the number of arms plus one"
            raise self._too_small(reason, smallest, f" (rounds={self.rounds!r})")

        self.targets = self._targets(self.n_rounds)

    def _targets(self, n_rounds: int) -> NDArray[np.int64]:
        """Return the targets n_1, ..., n_{K-1}."""
        K = self.n_arms
        shares = [self.log_bar * (K + 1 - k) for k in range(1, K)]
        return np.array([_budget.ceil((n_rounds - K) / share) for share in shares])

    def _worst_spend(self, n_rounds: int) -> float:
        """Return the largest total cost over all orders of elimination."""
        # in the worst order, the most expensive arms remain longest
        targets = self._targets(n_rounds)
        return float(np.sort(self.costs) @ np.append(targets, targets[-1]))

    def _most_rounds(self) -> int:
        """Return the largest T whose worst-case cost is within the budget."""
        K = self.n_arms
        limit = _budget.add_slack(self.budget)

        # beyond this number, the first phase alone costs more than the budget
        beyond = ceil(self.log_bar * K * limit / float(self.costs.sum())) + 2
        return K + bisect_right(range(K + 1, K + beyond), limit, key=self._worst_spend)

    def _target(self, phase: int) -> int:
        return int(self.targets[phase - 1])


class UniformIdentification(IdentificationPolicy):
    r"""Identification with equal pulls of all arms: returns the empirical Pareto set.

    .. math::

        n = \Bigl\lfloor \frac{B}{\sum_i c_i} \Bigr\rfloor \text{ pulls of each arm}

    Its parameters are those of `IdentificationPolicy`. Only complete rounds count, so
    all means are over the same number of evaluations. If charges differ from the
    declared costs, the number of rounds depends on the charges.

    Examples
    --------
    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = UniformIdentification(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([6, 6, 6]), 36.0)
    """

    label = "Uniform identification"

    #: Number of complete rounds. Only their rewards are in the sums.
    _complete = 0

    def recommend(self) -> NDArray[np.int64]:
        """Return the Pareto set of the means over complete rounds."""
        if not self._complete:
            return np.array([], dtype=np.int64)
        return np.flatnonzero(pareto_mask(self._reward_sums / self._complete))

    def _schedule(self) -> Iterator[int | None]:
        for n in self._rounds():
            while not self._affords(float(self._set_aside.sum())):
                if not self._flying:
                    return
                # evaluations in flight may cost less than their reserve
                yield None
            yield from self._hand_out(n)

    def _rounds(self) -> Iterable[int]:
        return count(1)

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        """Add the rewards of a round to the sums once the round is complete."""
        self._results[pull.key] = reward
        while all((arm, self._complete) in self._results for arm in range(self.n_arms)):
            for arm in range(self.n_arms):
                self._reward_sums[arm] += self._results.pop((arm, self._complete))
            self._complete += 1
