"""Runs of configurations with their evaluations, as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Evaluation(NamedTuple):
    """An evaluation in a log.

    ``scores`` are one for each objective; ``prompt`` are the tokens of its prompt,
    which ``cost`` leaves out and `combine_runs` adds where all are to be counted, None
    where they cost nothing of their own; ``repeat`` tells evaluations of one instance
    apart, where the logs have several; ``flaws`` are what makes its answer doubtful,
    and ``cluster`` is what its instance has in common with others.
    """

    instance: str
    scores: tuple[float, ...]
    cost: float
    seconds: float | None = None
    prompt: float | None = None
    repeat: str = ""
    flaws: tuple[str, ...] = ()
    cluster: Any = None


@dataclass
class LoggedRun:
    """A log: its task, settings and evaluations.

    ``finished`` and ``when`` (seconds since 1970) say which of several runs of the same
    counts; ``left_out`` counts the evaluations that cannot be used, by reason; ``name``
    is that of the configuration, where the log gives one.
    """

    file: str
    task: str
    settings: dict[str, Any]
    evaluations: list[Evaluation] = field(default_factory=list)
    finished: bool = True
    when: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)
    name: str | None = None
