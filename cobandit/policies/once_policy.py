"""Policies for a finite benchmark, on which no evaluation is made twice."""

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
    r"""Mixin for policies that evaluate each of N instances at most once.

    .. math:: n_r^{\text{once}} = \min\{n_r, N\}

    The target :math:`n_r` is the number of evaluations of each active configuration at
    the end of phase r. All configurations share one order of the instances: evaluation
    n of a configuration, from 0, is on instance n of the order. If a configuration
    cannot be evaluated on an instance, `leave_out` removes this instance for all
    configurations. The current phase then has one instance fewer.

    A policy inherits from this mixin first, and then from the class that sets
    :math:`n_r`.

    Parameters
    ----------
    costs, budget, n_objectives
        As in `IdentificationPolicy`.
    n_instances : int
        N.

    Attributes
    ----------
    left_out : ndarray of bool, shape (N,)
        Mask of left-out instances, by position in the order.
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
        self._is_scored = np.zeros((self.n_instances, self.n_arms), dtype=np.bool_)

    @property
    def n_kept(self) -> int:
        """Number of instances that are not left out."""
        return self.n_instances - int(self.left_out.sum())

    def leave_out(self, pull: int) -> None:
        """Exclude, for all arms, the instance of an evaluation that cannot be made.

        This evaluation is not charged. Results of other evaluations in flight on the
        instance can still be reported; they are charged, but not scored.

        Parameters
        ----------
        pull : Pull or int
            An evaluation that is in flight or was reported as a failure. The number of
            an arm stands for its oldest evaluation in flight.

        Raises
        ------
        CobanditError
            If the evaluation is neither in flight nor failed. The policy is then
            unchanged.
        """
        evaluation = self.find(pull, self._flying + self._failed)
        instance = evaluation.number
        if evaluation.key in self._flying:
            self._land(evaluation)
        self._failed = [
            (arm, number) for arm, number in self._failed if number != instance
        ]
        self.left_out[instance] = True
        self._is_scored[instance] = False
        self._rewards[instance] = 0.0

        # the next pull of the plan may have been on this instance
        self._turn = None
        self._update()

    @property
    def mean_rewards(self) -> NDArray[np.float64]:
        """Mean rewards on instances that are not left out, shape (K, D)."""
        sums: NDArray[np.float64] = self._rewards.sum(axis=0)
        return sums / np.maximum(self._scored, 1)[:, None]

    @property
    def _scored(self) -> NDArray[np.int64]:
        scored: NDArray[np.int64] = self._is_scored.sum(axis=0)
        return scored

    def _shared(self) -> NDArray[np.bool_]:
        """Return a mask of instances with a score of every active arm, shape (N,)."""
        shared: NDArray[np.bool_] = np.all(self._is_scored[:, self._active], axis=1)
        return shared

    def _front_of_shared(self) -> NDArray[np.int64]:
        """Return the accepted arms, and the front of the active arms.

        Active arms are compared on the instances that they share. Before they share an
        instance, only accepted arms are returned.
        """
        shared = self._rewards[self._shared()]
        compared = self._active if len(shared) else self._active[:0]
        means = shared.sum(axis=0) / max(len(shared), 1)
        return self._front(compared, means)

    def _next_number(self, arm: int) -> int:
        # skip instances that are left out, or that have a score from before the run
        number = super()._next_number(arm)
        while number < self.n_instances and (
            self.left_out[number] or self._is_scored[number, arm]
        ):
            number += 1
        return number

    def _try_again(self, pull: Pull) -> None:
        if not self.left_out[pull.number]:
            super()._try_again(pull)

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        if not self.left_out[pull.number]:
            self._rewards[pull.number, pull] = reward
            self._is_scored[pull.number, pull] = True


class UniformOnce(Once, UniformIdentification):
    r"""Uniform allocation: evaluates all configurations on one random set of instances.

    .. math:: n = \min\Bigl\{N, \Bigl\lfloor \frac{B}{\sum_i c_i} \Bigr\rfloor\Bigr\}

    Its parameters are those of `Once`.

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

    def recommend(self) -> NDArray[np.int64]:  # noqa: D102 (inherited)
        return self._front_of_shared()

    def _rounds(self) -> Iterable[int]:
        return range(1, self.n_instances + 1)


class CoPSIPrintedOnce(Once, CoPSI):
    r"""CoPSI as printed (Algorithm 2), with targets of at most N evaluations.

    .. math::

        n_r = \min\Bigl\{N,
            \Bigl\lfloor \frac{B}{L_{K,\lambda}\, C_r} \Bigr\rfloor\Bigr\}

    Its parameters are those of `Once`.

    Examples
    --------
    >>> finder = CoPSIPrintedOnce([1, 4, 1], budget=40, n_objectives=2, n_instances=5)
    >>> finder._target(1)  # 40 / (37 / 15 * 6)
    2
    """

    label = "CoPSI as printed, once"

    def _target(self, phase: int) -> int:
        return min(self.n_instances, super()._target(phase))


class PSISROnce(Once, PSISR):
    r"""PSI-SR (Kone et al., 2024), with targets of at most N evaluations.

    .. math::

        n_k = \min\Bigl\{N, \Bigl\lceil
            \frac{T - K}{\overline{\log}(K)\,(K + 1 - k)} \Bigr\rceil\Bigr\}

    T is the largest number of rounds that fits into the budget. With one objective, the
    worst configuration has the largest gap, because the best and the second best have
    equal gaps. The method is then successive rejects on shared instances. According to
    its abstract, SySRs (Lyu et al., 2026) is the same method.

    Its parameters are those of `Once`.

    Examples
    --------
    >>> finder = PSISROnce([1, 4, 1], budget=60, n_objectives=2, n_instances=10)
    >>> finder.targets
    array([10, 10])
    """

    label = "PSI-SR, once"

    def _targets(self, n_rounds: int) -> NDArray[np.int64]:
        return np.minimum(self.n_instances, super()._targets(n_rounds))


class EGESHOnce(Once, GapElimination):
    r"""EGE-SH (Kone et al., 2024), sequential halving by gaps, adapted to costs.

    .. math::

        \text{for } r = 1, \dots, \lceil \log_2 K \rceil: \quad
        n_r = \min\Bigl\{N, n_{r-1}
            + \Bigl\lfloor \frac{B}{\lceil \log_2 K \rceil\, C_r} \Bigr\rfloor\Bigr\},
        \qquad |A_{r+1}| = \lceil |A_r| / 2 \rceil

    After each round, the half of the active configurations with the larger empirical
    gaps is removed: members of the empirical front are accepted, others are rejected.
    At equal costs, a round has as many new evaluations as in EGE-SH, unless N limits
    it.

    Its parameters are those of `Once`.

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
        """Number of rounds until one arm remains."""
        return ceil(log2(self.n_arms))

    def _check_budget(self) -> None:
        smallest = self.n_rounds * float(self.costs.sum())
        if not self._affords(smallest):
            raise self._too_small(
                "pays for no evaluation in the first round",
                smallest,
                ", the cost of one evaluation of each arm in every round",
            )

    def _schedule(self) -> Iterator[int | None]:
        depth = 0
        while len(self._active) > 1:
            round_cost = float(self.costs[self._active].sum())
            affordable = _budget.floor(self.budget / (self.n_rounds * round_cost))
            depth = min(self.n_instances, depth + affordable)
            yield from self._evaluate(depth)

            means = self.mean_rewards[self._active]
            front = pareto_mask(means)
            gaps = classification_gaps(means)

            # remove the clearest configuration, one after another, until half remain
            staying = np.arange(len(gaps))
            while len(staying) > len(gaps) - len(gaps) // 2:
                clearest = find_clearest(gaps[staying], front[staying])
                staying = np.delete(staying, clearest)
            removed = np.delete(self._active, staying)
            self._accepted += removed[np.delete(front, staying)].tolist()
            self._active = self._active[staying]
