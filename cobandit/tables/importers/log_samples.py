"""Logs of any format: their samples, and the usage of models for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cobandit.tables.usage import Doubt, Usage


class ModelUse(NamedTuple):
    """Usage of one model for a sample.

    Attributes
    ----------
    model : str
    usage : Usage or None
        Its tokens, None if they were not logged.
    usd : float or None
        What it cost, where that was logged.
    doubts : tuple of Doubt
        About the tokens.
    """

    model: str
    usage: Usage | None = None
    usd: float | None = None
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One evaluation as it was logged.

    Attributes
    ----------
    instance : str
    scores : mapping of str to object
        Every score by its name, as it was logged: numbers, words, true or false.
    used : tuple of ModelUse
        Empty where nothing was logged, as for an answer from a cache.
    seconds : float or None
    repeat : str
        Tells evaluations of one instance apart.
    unusable : str or None
        Why it counts for nothing, such as "samples that ended in an error".
    question : str or None
        What was asked, or a checksum of it: tells questions apart that have the same
        name.
    fields : mapping of str to object
        What else the log says of the instance, for ``--where`` and ``--cluster``.
    flaws : tuple of str
        What makes the answer doubtful, such as `cobandit.tables.card.CUT_OFF`.
    cost : float or None
        What it cost, where the format has a cost of its own.
    """

    instance: str
    scores: Mapping[str, Any]
    used: tuple[ModelUse, ...] = ()
    seconds: float | None = None
    repeat: str = ""
    unusable: str | None = None
    question: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    flaws: tuple[str, ...] = ()
    cost: float | None = None


@dataclass(frozen=True)
class Log:
    """One run of a configuration on a task.

    Attributes
    ----------
    file : str
        Where it is from, for messages.
    task : str
    settings : dict
        From `log_settings.collect_settings`.
    samples : sequence of Sample
    finished : bool
    when : float
        Seconds since 1970 at which it began.
    configuration : str or None
        The name of the configuration, where the log gives one.
    counted : object
        How many samples the run says that it has.
    means : mapping of str to float
        The mean that the run itself says, by the name of the score.
    reduced : str
        How the run made one score of repeats, where that is not their mean.
    lower : collection of str
        Scores of which a lower one is better.
    ranges : mapping of str to (float, float)
        Worst and best of scores, where the log says so.
    no_scores : mapping of str to float
        Values that mean no score, where the log says so.
    """

    file: str
    task: str
    settings: dict[str, Any]
    samples: Sequence[Sample]
    finished: bool = True
    when: float = 0.0
    configuration: str | None = None
    counted: Any = None
    means: Mapping[str, float] = field(default_factory=dict)
    reduced: str = ""
    lower: Collection[str] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    no_scores: Mapping[str, float] = field(default_factory=dict)
