"""A finite benchmark: its instances are shared, each evaluation is made once; the known methods on it."""

from collections.abc import Iterable, Iterator
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.dominance import classification_gaps, find_clearest, pareto_mask
from cobandit.policies.asktell import Pull
from cobandit.policies.baselines import PSISR, UniformIdentification
from cobandit.policies.copsi import CoPSI
from cobandit.policies.identification_policy import GapElimination, IdentificationPolicy


class Once(IdentificationPolicy):
    r"""What a method needs on a finite benchmark: rewards by instance, and no target beyond the last.

    .. math:: n_r^{\text{once}} = \min\{n_r, N\}

    The instances stand in one order that all configurations share: evaluation number n
    of a configuration, counted from 0, is on instance n of that order.  An instance
    that some configuration cannot be evaluated on is left out (`leave_out`), for all; a
    phase that was to reach it is not made longer for that.

    Mixed in before the method that sets :math:`n_r`.

    Parameters
    ----------
    costs, budget, n_objectives
        As in `IdentificationPolicy`.
    n_instances : int
        N.

    Attributes
    ----------
    left_out : ndarray of bool, shape (N,)
        Instances that are left out, by their place in the order.
    """

    def __init__(
        self,
        costs: ArrayLike,
        budget: float,
        n_objectives: int,
        n_instances: int,
        **options: Any,
    ):
        self.n_instances = _validation.count(n_instances, "n_instances", 1)
        super().__init__(costs, budget, n_objectives, **options)
        self.left_out = np.zeros(self.n_instances, dtype=np.bool_)
        self._rewards = np.zeros((self.n_instances, self.n_arms, self.n_objectives))
        self._told = np.zeros((self.n_instances, self.n_arms), dtype=np.bool_)

    @property
    def n_kept(self) -> int:
        """Instances that are not left out."""
        return self.n_instances - int(self.left_out.sum())

    def leave_out(self, pull: int) -> None:
        """Leave the instance of an evaluation out, for all configurations: it cannot be made.

        Nothing is charged.  Evaluations on that instance that are still in flight can
        be told: they are charged, and not scored.

        Parameters
        ----------
        pull : Pull or int
            In flight, or told as a failure; of a plain number the oldest evaluation in
            flight.

        Raises
        ------
        CobanditError
            If it is neither; nothing has changed then.
        """
        found = self.find(pull, self._flying + self._failed)
        number = found.number
        if found.key in self._flying:
            self._land(found)
        self._failed = [each for each in self._failed if each[1] != number]
        self.left_out[number] = True
        self._told[number] = False
        self._rewards[number] = 0.0
        self._turn = None  # it may have been on this instance
        self._update()

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Mean rewards over the evaluations that count: shape (K, D)."""
        return self._rewards.sum(axis=0) / np.maximum(self._scored, 1)[:, None]

    @property
    def _scored(self) -> NDArray[np.int64]:
        return self._told.sum(axis=0)

    def _shared(self) -> NDArray[np.bool_]:
        """Instances on which all active configurations were evaluated, shape (N,)."""
        return np.all(self._told[:, self._active], axis=1)

    def _front_of_shared(self) -> NDArray[np.int64]:
        """Those accepted, and the front of the active, compared on the same instances; first nobody."""
        shared = self._rewards[self._shared()]
        compared = self._active if len(shared) else self._active[:0]
        return self._front(compared, shared.sum(axis=0) / max(len(shared), 1))

    def _next_number(self, arm: int) -> int:
        number = super()._next_number(arm)
        while number < self.n_instances and (
            self.left_out[number] or self._told[number, arm]
        ):
            number += 1
        return number

    def _try_again(self, pull: Pull) -> None:
        if not self.left_out[pull.number]:
            super()._try_again(pull)

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        if not self.left_out[pull.number]:
            self._rewards[pull.number, pull] = reward
            self._told[pull.number, pull] = True


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
        return self._front_of_shared()

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

    With one objective the largest gap is that of the worst configuration (the best
    one's is never larger than the second's), so that this is successive rejects on
    shared instances, as SySRs are by their abstract (Lyu et al., 2026).

    Takes what `Once` takes.

    Examples
    --------
    >>> PSISROnce(costs=[1, 4, 1], budget=60, n_objectives=2, n_instances=10).targets
    array([10, 10])
    """

    label = "PSI-SR, once"

    def _targets(self, n_rounds: int) -> NDArray[np.int64]:
        return np.minimum(self.n_instances, super()._targets(n_rounds))


class EGESHOnce(Once, GapElimination):
    r"""EGE-SH (Kone et al., 2024), sequential halving by gaps, with costs in the place of pulls and a cap.

    .. math::

        \text{for } r = 1, \dots, \lceil \log_2 K \rceil: \quad
        n_r = \min\Bigl\{N, n_{r-1} + \Bigl\lfloor \frac{B}{\lceil \log_2 K \rceil\, C_r} \Bigr\rfloor\Bigr\},
        \qquad |A_{r+1}| = \lceil |A_r| / 2 \rceil

    Of each round the half with the larger empirical gaps leaves, each as accepted or
    rejected.  At equal costs the new evaluations of a round are those of EGE-SH.

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
            what = ", one evaluation of each arm times the number of rounds"
            raise self._too_small(
                "gives no evaluation in the first round", smallest, what
            )

    def _schedule(self) -> Iterator[int | None]:
        depth = 0
        while len(self._active) > 1:
            more = _budget.floor(
                self.budget / (self.n_rounds * float(self.costs[self._active].sum()))
            )
            depth = min(self.n_instances, depth + more)
            yield from self._evaluate(depth)
            means = self.mean_rewards[self._active]
            front, gaps = pareto_mask(means), classification_gaps(means)
            left = np.arange(len(gaps))
            while len(left) > len(gaps) - len(gaps) // 2:
                left = np.delete(left, find_clearest(gaps[left], front[left]))
            leaving = np.delete(self._active, left)
            self._accepted += leaving[np.delete(front, left)].tolist()
            self._active = self._active[left]
