"""The pilot of a run, which evaluates every configuration on the first instances."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from cobandit import _budget, _validation
from cobandit.policies.asktell import AskTell


class Pilot(AskTell):
    """A policy that evaluates every configuration on the first instances, in turn.

    The reward of an evaluation is 1 if the evaluation has a score, and 0 if it failed.
    For an evaluation in flight, the pilot reserves the largest possible cost if this is
    known, and otherwise the largest cost so far. To continue a pilot, increase its
    attribute ``budget``.

    Parameters
    ----------
    n_arms : int
        K, the number of configurations.
    n_instances : int
        Number of instances of the pilot.
    largest_costs : sequence of float, optional
        Largest cost of a single evaluation, per configuration, if known.

    Examples
    --------
    >>> pilot = Pilot(2, 2)
    >>> [pilot.ask() for _ in range(5)]
    [0, 1, 0, 1, None]
    >>> pilot.finished
    False
    """

    def __init__(
        self,
        n_arms: int,
        n_instances: int,
        *,
        largest_costs: Sequence[float] | None = None,
    ):
        super().__init__(n_arms, 1, sys.float_info.max)
        self.n_instances = _validation.count(n_instances, "n_instances", 1)
        self.largest_costs = largest_costs
        # start with a tiny value if unknown, which the first cost replaces
        self._largest = (
            np.full(n_arms, 1e-12) if largest_costs is None else np.array(largest_costs)
        )

    @property
    def finished(self) -> bool:
        """Whether every evaluation of the pilot has a result."""
        return bool((self.pulls == self.n_instances).all())

    def _choose(self) -> int | None:
        turns = self._numbers.copy()
        for arm, _ in self._failed:
            turns[arm] = -1
        arm = int(turns.argmin())
        has_turn = turns[arm] < self.n_instances
        fits = self._committed + self._set_aside[arm] <= _budget.add_slack(self.budget)
        return arm if has_turn and fits else None

    def _guarantee_violation(self, arm: int, cost: float) -> str:
        return ""
