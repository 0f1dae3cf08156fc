"""How far a run is, for whoever watches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cobandit.live.outcome import recommended
from cobandit.live.stages import Stage
from cobandit.policies.identification import IdentificationPolicy
from cobandit.policies.online import OnlinePolicy


@dataclass(frozen=True)
class Progress:
    """A run right after something happened; look at it while you are told, for it goes on.

    Attributes
    ----------
    stage : Stage
        The part that is under way, ``stage.name`` being ``pilot`` or ``run``.
    budget : float or None
        In the unit of the cost; None while it is a share of what is not known.
    line : str
        What happened; empty where nothing did but a start.
    """

    stage: Stage
    budget: float | None
    line: str

    @property
    def spent(self) -> float:
        """What the run has cost so far."""
        return self.stage.spent

    @property
    def in_flight(self) -> int:
        """Evaluations under way, or handed out to be."""
        return int(self.stage.policy.in_flight.sum())

    @property
    def active(self) -> tuple[str, ...]:
        """Configurations that may still be evaluated."""
        policy = self.stage.policy
        arms = np.arange(policy.n_arms)
        if isinstance(policy, IdentificationPolicy):
            arms = policy.active
        elif isinstance(policy, OnlinePolicy):
            arms = np.flatnonzero(policy.eligible)
        return tuple(self.stage.names[arm] for arm in arms)

    @property
    def front(self) -> tuple[str, ...]:
        """What the method would recommend now."""
        return recommended(self.stage.policy, self.stage.names)
