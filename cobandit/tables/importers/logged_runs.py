"""Logged runs of configurations, with scores and costs as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Evaluation(NamedTuple):
    """An evaluation in a log, with its scores and cost as numbers."""

    #: Name of the instance.
    instance: str
    #: Scores, one per objective.
    scores: tuple[float, ...]
    #: Cost in the unit of the import, without the prompt.
    cost: float
    #: Duration in seconds, if it was logged.
    seconds: float | None = None
    #: Number of tokens of the prompt, which `combine_runs` adds to the cost if all
    #: tokens count; None if the cost already includes the prompt.
    prompt: float | None = None
    #: Name that distinguishes repeated evaluations of an instance.
    repeat: str = ""
    #: Flaws of the answer.
    flaws: tuple[str, ...] = ()
    #: Group of the instance.
    cluster: Any = None


@dataclass
class LoggedRun:
    """A run of a configuration on a task: settings and evaluations."""

    #: File of the log, for messages.
    file: str
    #: Name of the task.
    task: str
    #: Settings of the configuration, including the model.
    settings: dict[str, Any]
    #: The usable evaluations.
    evaluations: list[Evaluation] = field(default_factory=list)
    #: Whether the run finished.
    finished: bool = True
    #: Start of the run, in seconds since 1970.
    began: float = 0.0
    #: Numbers of unusable evaluations, by reason.
    left_out: Counter[str] = field(default_factory=Counter)
    #: Name of the configuration, if the log has one.
    name: str | None = None
