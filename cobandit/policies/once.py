"""A finite benchmark whose instances all configurations share, each pair evaluated at most once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.policies.asktell import Pull
from cobandit.policies.identification import IdentificationPolicy


class Once(IdentificationPolicy):
    r"""What a method needs on a finite benchmark: rewards by instance, and no target beyond the last.

    .. math:: n_r^{\text{once}} = \min\{n_r, N\}

    The instances stand in one order that all configurations share: evaluation number n of a configuration,
    counted from 0, is on instance n of that order.  An instance that some configuration cannot be evaluated
    on is left out (`leave_out`), for all; a phase that was to reach it is not made longer for that.

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

    def __init__(self, costs: ArrayLike, budget: float, n_objectives: int, n_instances: int, **options: Any):
        self.n_instances = _check.count(n_instances, "n_instances", 1)
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

        Nothing is charged.  Evaluations on that instance that are still in flight can be told: they are
        charged, and not scored.

        Parameters
        ----------
        pull : Pull or int
            In flight, or told as a failure; of a plain number the oldest evaluation in flight.

        Raises
        ------
        CobanditError
            If it is neither; nothing has changed then.
        """
        found = self._found(pull, self._flying + self._failed)
        number = found.number
        if found.key in self._flying:
            self._land(found)
        self._failed = [each for each in self._failed if each[1] != number]
        self._results.pop(found.key)
        self.left_out[number] = True
        self._told[number] = False
        self._rewards[number] = 0.0
        self._turn = None  # it may have been on this instance
        self._settle()

    @property
    def mean_rewards(self) -> NDArray[np.float64]:  # noqa: D102 (as its parent, without what is left out)
        return self._rewards.sum(axis=0) / np.maximum(self._scored, 1)[:, None]

    @property
    def _scored(self) -> NDArray[np.int64]:
        return self._told.sum(axis=0)

    def _shared(self) -> NDArray[np.bool_]:
        """Instances on which all active configurations were evaluated, shape (N,)."""
        return np.all(self._told[:, self._active], axis=1)

    def _next_number(self, arm: int) -> int:
        number = super()._next_number(arm)
        while number < self.n_instances and (self.left_out[number] or self._told[number, arm]):
            number += 1
        return number

    def _try_again(self, pull: Pull) -> None:
        if self.left_out[pull.number]:
            del self._results[pull.key]
        else:
            super()._try_again(pull)

    def _score(self, pull: Pull, reward: NDArray[np.float64]) -> None:
        del self._results[pull.key]
        if not self.left_out[pull.number]:
            self._rewards[pull.number, pull] = reward
            self._told[pull.number, pull] = True
