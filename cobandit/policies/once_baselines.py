"""Known methods on a finite benchmark: every evaluation is made once, in one order that all share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.dominance import classification_gaps, pareto_mask
from cobandit.errors import BudgetError
from cobandit.policies.copsi import CoPSI
from cobandit.policies.elimination import GapElimination
from cobandit.policies.once import Once
from cobandit.policies.psi_sr import PSISR
from cobandit.policies.uniform_identification import UniformIdentification


class UniformOnce(Once, UniformIdentification):
    r"""A random subset of the instances on which every configuration is evaluated: what people do.

    .. math:: n = \min\Bigl\{N, \Bigl\lfloor \frac{B}{\sum_i c_i} \Bigr\rfloor\Bigr\}

    Takes what `Once` takes.

    Examples
    --------
    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = UniformOnce(costs=[1, 4, 1], budget=40, n_objectives=2, n_instances=5)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls
    (array([0, 1]), array([5, 5, 5]))
    """

    label = "Random subset"

    def recommend(self) -> NDArray[np.int64]:  # noqa: D102 (as its parent)
        shared = self._rewards[self._shared()]
        front = pareto_mask(shared.mean(axis=0)) if len(shared) else np.zeros(self.n_arms, dtype=np.bool_)
        return np.flatnonzero(front)

    def _rounds(self) -> Iterable[int]:
        return range(1, self.n_instances + 1)


class CoPSIPrintedOnce(Once, CoPSI):
    r"""CoPSI as printed (Algorithm 2), its targets cut at N.

    .. math:: n_r = \min\Bigl\{N, \Bigl\lfloor \frac{B}{L_{K,\lambda}\, C_r} \Bigr\rfloor\Bigr\}

    Takes what `Once` takes.

    Examples
    --------
    >>> finder = CoPSIPrintedOnce(costs=[1, 4, 1], budget=40, n_objectives=2, n_instances=5)
    >>> finder._target(1)  # 40 / (37 / 15 * 6)
    2
    """

    label = "CoPSI as printed, once"

    def _target(self, phase: int) -> int:
        return min(self.n_instances, super()._target(phase))


class PSISROnce(Once, PSISR):
    r"""PSI-SR (Kone et al., 2024) with targets cut at N, and as many rounds as then fit.

    .. math:: n_k = \min\Bigl\{N, \Bigl\lceil \frac{T - K}{\overline{\log}(K)\,(K + 1 - k)} \Bigr\rceil\Bigr\}

    With one objective the largest gap is that of the worst configuration (the best one's is never larger
    than the second's), so that this is successive rejects on shared instances, as SySRs are by their
    abstract (Lyu et al., 2026).

    Takes what `Once` takes.

    Examples
    --------
    >>> PSISROnce(costs=[1, 4, 1], budget=60, n_objectives=2, n_instances=10).targets
    array([10, 10])
    """

    label = "PSI-SR, once"

    def _targets(self, n_rounds: int) -> NDArray[np.int64]:
        return np.minimum(self.n_instances, super()._targets(n_rounds))

    def _most_rounds(self) -> int:
        """Largest T whose worst-case spend fits; beyond K + N K logbar(K) all targets are N."""
        low, high = self.n_arms, self.n_arms + ceil(self.n_instances * self.n_arms * self.log_bar) + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._worst_spend(middle) <= _check.add_slack(self.budget)
            low, high = (middle, high) if fits else (low, middle)
        return low


class EGESHOnce(Once, GapElimination):
    r"""EGE-SH (Kone et al., 2024), sequential halving by gaps, with costs in the place of pulls and a cap.

    .. math::

        \text{for } r = 1, \dots, \lceil \log_2 K \rceil: \quad
        n_r = \min\Bigl\{N, n_{r-1} + \Bigl\lfloor \frac{B}{\lceil \log_2 K \rceil\, C_r} \Bigr\rfloor\Bigr\},
        \qquad |A_{r+1}| = \lceil |A_r| / 2 \rceil

    Of each round the half with the larger empirical gaps leaves, each as accepted or rejected.  At equal
    costs the new evaluations of a round are those of EGE-SH.

    Takes what `Once` takes.

    Examples
    --------
    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> finder = EGESHOnce(costs=[1, 4, 1], budget=40, n_objectives=2, n_instances=10)
    >>> while (arm := finder.ask()) is not None:
    ...     finder.tell(arm, rewards[arm])
    >>> finder.recommend(), finder.pulls, finder.spent
    (array([0, 1]), array([10,  3, 10]), 32.0)
    """

    label = "EGE-SH, once"

    @property
    def n_rounds(self) -> int:
        """Rounds until one arm is left."""
        return ceil(log2(self.n_arms))

    def _check_budget(self) -> None:
        smallest = self.n_rounds * float(self.costs.sum())
        if not self._affords(smallest):
            raise BudgetError(
                f"budget {self.budget:g} gives no evaluation in the first round: "
                f"at least {_check.round_up(smallest)} is needed, "
                "one evaluation of each arm times the number of rounds",
                smallest,
            )

    def _schedule(self) -> Iterator[int | None]:
        depth = 0
        while len(self._active) > 1:
            more = _check.floor(self.budget / (self.n_rounds * float(self.costs[self._active].sum())))
            depth = min(self.n_instances, depth + more)
            yield from self._evaluate(depth)
            means = self.mean_rewards[self._active]
            front, gaps = pareto_mask(means), classification_gaps(means)
            # largest gap first, on ties dominated ones, then the lowest numbers
            leaving = np.lexsort((front, -gaps))[: len(gaps) // 2]
            self._accepted += self._active[leaving[front[leaving]]].tolist()
            self._active = np.delete(self._active, leaving)
