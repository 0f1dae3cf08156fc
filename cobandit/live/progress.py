"""Progress of a run, and the recommendation so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cobandit.live.stages import Stage
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.pareto_race import ParetoRace


def recommended(policy: AskTell, names: Sequence[str]) -> tuple[str, ...]:
    """Name what a policy recommends: the Pareto set that it found, or its most efficient configuration.

    Examples
    --------
    >>> from cobandit import UniformIdentification
    >>> policy = UniformIdentification([1, 1], budget=2, n_objectives=1)
    >>> for reward in ([0.25], [0.75]):
    ...     policy.tell(policy.ask(), reward)
    >>> recommended(policy, ["a", "b"])
    ('b',)
    """
    if isinstance(policy, IdentificationPolicy):
        return tuple(names[arm] for arm in policy.recommend())
    best = policy.recommend() if isinstance(policy, OnlinePolicy) else None
    return () if best is None else (names[best.arm],)


def ask_about(policy: AskTell) -> dict[str, Any]:
    """Return what `cobandit.recommend` has to be asked for the front that a method looks for.

    Examples
    --------
    >>> from cobandit import ParetoRace, UniformIdentification
    >>> ask_about(UniformIdentification([1, 1], budget=2, n_objectives=1))
    {'about': 'benchmark', 'ignores_cost': True}
    >>> ask_about(ParetoRace([1, 1], n_objectives=1, n_instances=10))["cost_tolerance"]
    0.0
    """
    if not isinstance(policy, ParetoRace):
        return {"about": "benchmark", "ignores_cost": True}
    return {
        "about": "benchmark",
        "tolerance": policy.tolerance,
        "cost_tolerance": policy.cost_tolerance,
        "ignores_cost": not policy.compares_cost,
    }


@dataclass(frozen=True)
class Progress:
    """A run right after something happened; look at it while you are told, for it goes on.

    Attributes
    ----------
    stage : Stage
        The part that is under way, ``stage.name`` being ``pilot`` or ``run``.
    line : str
        What happened; empty where nothing did but a start.
    failed : bool
        Whether that is a failure.
    notable : bool
        Whether it is worth a line of its own, although it is none.
    busy : bool
        Whether a process is at work on the run.
    configuration : str
        Name of the configuration that it happened to; empty where nothing did but a start.
    """

    stage: Stage
    line: str
    failed: bool = False
    busy: bool = True
    notable: bool = False
    configuration: str = ""

    @property
    def settled(self) -> int | None:
        """How many configurations a race has settled; None for another method."""
        policy = self.stage.policy
        return int(policy.settled.sum()) if isinstance(policy, ParetoRace) else None

    @property
    def question(self) -> dict[str, Any]:
        """What `cobandit.recommend` has to be asked for the front that the method looks for."""
        return ask_about(self.stage.policy)

    @property
    def front(self) -> tuple[str, ...]:
        """What the method would recommend now."""
        return recommended(self.stage.policy, self.stage.names)
