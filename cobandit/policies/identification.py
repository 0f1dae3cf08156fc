"""Fixed-budget Pareto set identification: CoPSI and its baselines (paper, Section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.dominance import classification_gaps, pareto_mask
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.asktell import AskTell

#: Gaps this close to the largest count as equal to it (paper, Appendix A).
GAP_RTOL, GAP_ATOL = 1e-10, 1e-12


@dataclass(frozen=True)
class Phase:
    """What one phase of an elimination did: the record behind the book's pictures.

    ``active`` (k,) are the arms at its start, ``target`` the pulls each had after sampling, ``means``
    (k, D) and ``gaps`` (k,) their empirical values; ``removed`` left, as Pareto arm if ``accepted``.
    """

    phase: int
    active: NDArray[np.int64]
    target: int
    means: NDArray[np.float64]
    gaps: NDArray[np.float64]
    removed: int
    accepted: bool


class IdentificationPolicy(AskTell):
    """A sampling plan under known costs, and the Pareto set it recommends.

    Subclasses give the plan in `_schedule`.  The run stops early, and is *cut short*, when the next
    planned pull does not fit into the budget; declared costs never let that happen to CoPSI.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known cost of one pull of each arm, in the user's unit.
    budget : float
        B, in the same unit.
    n_objectives : int
        D >= 1.
    min_cost : float, optional
        The paper's lambda times the largest cost: a lower bound on the costs, default the smallest.

    Raises
    ------
    BudgetError
        If the budget is too small for the algorithm; it names the smallest that works.
    CobanditError
        If an argument is out of range.
    """

    def __init__(self, costs: ArrayLike, budget: float, n_objectives: int, *, min_cost: float | None = None):
        self.costs = _check.costs(costs)
        super().__init__(len(self.costs), n_objectives, budget)
        smallest = float(self.costs.min())
        self.min_cost = smallest if min_cost is None else _check.positive(min_cost, "min_cost")
        if self.min_cost > _check.with_slack(smallest):
            raise CobanditError(f"min_cost is {min_cost}, more than the smallest cost {smallest:g}")
        _check.pulls_within(self.budget, smallest)
        self.phases: list[Phase] = []
        self._active = np.arange(self.n_arms)
        self._accepted: list[int] = []
        self._stopped = False
        self._plan = self._schedule()

    def recommend(self) -> NDArray[np.int64]:
        r"""Estimate :math:`\widehat{\mathcal P}_B` of the Pareto set.

        Returns
        -------
        ndarray of int
            Sorted arm numbers: the accepted arms, and the empirical Pareto set of the arms that are still
            active (one arm after a complete run).  An arm that was never evaluated is not recommended.
        """
        active = self._active[self.pulls[self._active] > 0]
        return self._front(active, self.mean_rewards, self._accepted)

    @staticmethod
    def _front(arms: NDArray[np.int64], means: NDArray[np.float64], accepted: list[int]) -> NDArray[np.int64]:
        front = arms[pareto_mask(means[arms])] if len(arms) > 1 else arms
        return np.sort(np.concatenate([np.array(accepted, dtype=np.int64), front]))

    def _schedule(self) -> Iterator[int]:
        """Yield arms in the order of their pulls; runs on between one ask and the next."""
        raise NotImplementedError

    def _affords(self, cost: float) -> bool:
        return self.spent + cost <= _check.with_slack(self.budget)

    def _choose(self) -> int | None:
        if self._stopped:
            return None
        arm = next(self._plan, None)
        if arm is None or not self._affords(self._declared_cost(arm)):
            self._stopped = True
            return None
        return arm

    def _declared_cost(self, arm: int) -> float:
        return float(self.costs[arm])

    def _doubt(self, arm: int, cost: float) -> str:
        if cost <= _check.with_slack(self._declared_cost(arm)):
            return ""
        return f"above its declared cost {self.costs[arm]:g}: it is charged, but the guarantee is void"


class GapElimination(IdentificationPolicy):
    r"""Empirical gap elimination, one arm a phase (Algorithm 2); subclasses set the targets n_r.

    .. math::

        \text{for } r = 1, \dots, K - 1: \quad
        &\text{pull every } i \in A_r \text{ until } N_i = n_r, \\
        &e_r \in \arg\max_{i \in A_r} \hat\gamma_{i,r}
            \text{ (a dominated arm first, then the lowest number)}, \\
        &\text{accept } e_r \text{ if it is on the empirical front, else reject it}; \quad
            A_{r+1} = A_r \setminus \{e_r\}
    """

    def _target(self, phase: int) -> int:
        """Pulls that every active arm has at the end of the phase (counted from 1)."""
        raise NotImplementedError

    def _schedule(self) -> Iterator[int]:
        for phase in range(1, self.n_arms):
            target = self._target(phase)
            for arm in self._active:
                while self.pulls[arm] < target:
                    yield int(arm)
            self._remove(phase, target)

    def _remove(self, phase: int, target: int) -> None:
        active = self._active
        means = self.mean_rewards[active]
        front, gaps = pareto_mask(means), classification_gaps(means)
        # e_r in argmax gamma, an empirically dominated arm first, then the lowest number.
        largest = gaps >= gaps.max() - (GAP_ATOL + GAP_RTOL * gaps.max())
        candidates = largest & ~front if (largest & ~front).any() else largest
        position = int(candidates.argmax())
        removed, accepted = int(active[position]), bool(front[position])
        if accepted:
            self._accepted.append(removed)
        self.phases.append(Phase(phase, active, target, means, gaps, removed, accepted))
        self._active = np.delete(active, position)


class CoPSI(GapElimination):
    r"""CoPSI (Algorithm 2): gap elimination whose targets share the budget by the cost still active.

    .. math::

        n_r = \Bigl\lfloor \frac{B}{L_{K,\lambda}\, C_r} \Bigr\rfloor, \qquad C_r = \sum_{i \in A_r} c_i,
        \qquad L_{K,\lambda} = 1 + \sum_{\ell=2}^K \frac{1}{1 + (\ell - 1)\lambda}

    Takes what `IdentificationPolicy` takes, and ``normaliser``, what the budget is divided by.  Theorem 2
    bounds the error probability of the first, which is the paper's; the other two are this project's, and
    the bound holds for both with :math:`L^\star([K])` in place of L:

    * ``"paper"`` (default), :math:`L_{K,\lambda}`, the only one that reads ``min_cost``;
    * ``"exact"``, :math:`L^\star([K])` of `theory.exact_allocation_constant`, the smallest constant with
      which no order of elimination overspends;
    * ``"adaptive"``, the constant of the arms that are left and the budget that is left for them,

      .. math:: n_r = \Bigl\lfloor \frac{B - S_r}{L^\star(A_r)\, C_r} \Bigr\rfloor,

      :math:`S_r` being what the arms that have left were charged.  It spends all but less than one pull of
      each of the last two arms.  If charges differ from the declared costs, :math:`S_r` is all that was
      charged less the declared cost of the active arms' pulls, so that every phase plans with what is left;
      a target never falls below the one before.

    None of them ever spends more than B.  Time O(K) a phase for the targets (kernel; the class sorts).

    Examples
    --------
    Noise-free feedback; arm 2 is dominated, arm 1 costs four times as much as the others.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = CoPSI(costs=[1, 4, 1], budget=40, n_objectives=2)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([8, 2, 8]), 24.0)
    >>> [(phase.target, phase.removed, phase.accepted) for phase in finder.phases]
    [(2, 1, True), (8, 2, False)]

    With known costs the first target can be 40 / (5/3 * 6) = 4; that leaves 24 for the other two.

    >>> finder = CoPSI(costs=[1, 4, 1], budget=40, n_objectives=2, normaliser="adaptive")
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.pulls, finder.spent
    (array([12,  4, 12]), 40.0)
    """

    label = "CoPSI"

    def __init__(
        self,
        costs: ArrayLike,
        budget: float,
        n_objectives: int,
        *,
        min_cost: float | None = None,
        normaliser: str = "paper",
    ):
        super().__init__(costs, budget, n_objectives, min_cost=min_cost)
        self.normaliser = _check.choice(normaliser, "normaliser", ("paper", "exact", "adaptive"))
        #: Whether it is set anew in each phase.
        self.adaptive = self.normaliser == "adaptive"
        #: What the budget is divided by in the first phase; costs divided by the largest are the paper's.
        self.allocation_constant = (
            theory.allocation_constant(self.n_arms, self.min_cost / self.costs.max())
            if self.normaliser == "paper"
            else theory.exact_allocation_constant(self.costs)
        )
        smallest = float(self.allocation_constant * self.costs.sum())
        if self._target(1) < 1:
            raise BudgetError(
                f"budget {self.budget:g} gives no pull in the first phase: at least {smallest:g} is needed, "
                f"one pull of each arm times the allocation constant {self.allocation_constant:g}",
                smallest,
            )

    def _target(self, phase: int) -> int:
        costs = self.costs[self._active]
        round_cost = float(costs.sum())
        if not self.adaptive:
            return _check.floor(self.budget / (self.allocation_constant * round_cost))
        reached = self.phases[-1].target if self.phases else 0
        on_removed = self.spent - reached * round_cost
        constant = theory.exact_allocation_constant(costs)
        return max(reached, _check.floor((self.budget - on_removed) / (constant * round_cost)))


class PSISR(GapElimination):
    r"""PSI-SR (Kone et al., 2024): gap elimination whose targets do not look at costs.

    .. math::

        n_k = \Bigl\lceil \frac{T - K}{\overline{\log}(K)\,(K + 1 - k)} \Bigr\rceil, \qquad
        \overline{\log}(K) = \frac12 + \sum_{i=2}^K \frac1i

    Takes what `IdentificationPolicy` takes, and ``rounds``, how T follows from the budget:
    ``"worst-case"`` (default), the most rounds whose spend fits whatever the order of elimination;
    ``"max"``, B over the largest cost; ``"mean"``, B over the mean cost, cut short where B is reached.

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

    def __init__(
        self,
        costs: ArrayLike,
        budget: float,
        n_objectives: int,
        *,
        min_cost: float | None = None,
        rounds: str = "worst-case",
    ):
        super().__init__(costs, budget, n_objectives, min_cost=min_cost)
        self.rounds = _check.choice(rounds, "rounds", ("worst-case", "max", "mean"))
        fewest = self.n_arms + 1
        if self.rounds == "max":
            smallest, n_rounds = fewest * self.costs.max(), _check.floor(self.budget / self.costs.max())
        elif self.rounds == "mean":
            smallest, n_rounds = fewest * self.costs.mean(), _check.floor(self.budget / self.costs.mean())
        else:
            smallest, n_rounds = self._worst_spend(fewest), self._most_rounds()
        if n_rounds < fewest:
            raise BudgetError(
                f"budget {self.budget:g} does not hold {fewest} rounds, one more than arms: at least "
                f"{smallest:g} is needed (rounds={self.rounds!r})",
                float(smallest),
            )
        self.n_rounds = n_rounds
        self.targets = self._targets(n_rounds)

    def _targets(self, n_rounds: int) -> NDArray[np.int64]:
        """n_1, ..., n_{K-1}."""
        K = self.n_arms
        log_bar = 0.5 + sum(1 / i for i in range(2, K + 1))
        return np.array([_check.ceil((n_rounds - K) / (log_bar * (K + 1 - k))) for k in range(1, K)])

    def _worst_spend(self, n_rounds: int) -> float:
        """Largest spend over all orders of elimination: the dearest arms stay longest."""
        targets = self._targets(n_rounds)
        return float(np.sort(self.costs) @ np.append(targets, targets[-1]))

    def _most_rounds(self) -> int:
        """Largest T whose worst-case spend fits, by bisection: the spend never decreases in T."""
        low = self.n_arms  # affords nothing: all targets are zero
        high = low + 1
        while self._worst_spend(high) <= _check.with_slack(self.budget):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self._worst_spend(middle) <= _check.with_slack(self.budget):
                low = middle
            else:
                high = middle
        return low

    def _target(self, phase: int) -> int:
        return int(self.targets[phase - 1])


class UniformIdentification(IdentificationPolicy):
    r"""Uniform allocation, then the empirical Pareto set.

    .. math:: n = \Bigl\lfloor \frac{B}{\sum_i c_i} \Bigr\rfloor \text{ pulls of each arm}

    Takes what `IdentificationPolicy` takes.  Only complete rounds count, so that every arm is judged by
    the same number of evaluations; with realised costs their number follows from what was charged.

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

    def __init__(self, costs: ArrayLike, budget: float, n_objectives: int, *, min_cost: float | None = None):
        super().__init__(costs, budget, n_objectives, min_cost=min_cost)
        smallest = float(self.costs.sum())
        if not self._affords(smallest):
            raise BudgetError(
                f"budget {self.budget:g} does not hold one pull of each arm: at least {smallest:g} is needed",
                smallest,
            )
        self._round_means: NDArray[np.float64] | None = None

    def recommend(self) -> NDArray[np.int64]:  # noqa: D102 (as its parent, over complete rounds)
        if self._round_means is None:
            return np.array([], dtype=np.int64)
        return np.flatnonzero(pareto_mask(self._round_means))

    def _schedule(self) -> Iterator[int]:
        while self._affords(float(self.costs.sum())):
            yield from range(self.n_arms)

    def _record(self, arm: int, reward: NDArray[np.float64], cost: float) -> None:
        super()._record(arm, reward, cost)
        if (self.pulls == self.pulls[0]).all():
            self._round_means = self.mean_rewards
