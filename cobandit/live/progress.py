"""Progress of a run, and its current recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cobandit.live.stages import RunStage
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.pareto_race import ParetoRace


def recommended(policy: AskTell, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the configurations that a policy recommends now.

    An identification method recommends a Pareto set; an online method recommends the
    most efficient configuration.

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
    """Return the arguments of `cobandit.recommend` that match a policy's front.

    Methods differ in their tolerances, and in whether the cost is an objective.

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
    """The state of a run after an event (such as a result), until the next event."""

    #: Current stage; its ``name`` is ``pilot`` or ``run``.
    stage: RunStage
    #: Description of the event; empty at the start.
    line: str
    #: Whether the event is a failure.
    failed: bool = False
    #: Whether a process is working on the run.
    busy: bool = True
    #: Whether the event, such as a flawed answer, is shown on a separate line.
    notable: bool = False
    #: Name of the configuration that the event concerns; empty at the start.
    configuration: str = ""

    @property
    def settled(self) -> int | None:
        """Number of arms that `ParetoRace` has decided; None for other methods."""
        policy = self.stage.policy
        return int(policy.settled.sum()) if isinstance(policy, ParetoRace) else None

    @property
    def question(self) -> dict[str, Any]:
        """Arguments of `cobandit.recommend` that match the method's front."""
        return ask_about(self.stage.policy)

    @property
    def front(self) -> tuple[str, ...]:
        """Names of the configurations that the method would recommend now."""
        return recommended(self.stage.policy, self.stage.names)
