"""The common form of logs of all formats: samples with scores and token counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cobandit.tables.usage import Doubt, Usage


class ModelUse(NamedTuple):
    """Tokens and cost of one model in a sample."""

    #: Name of the model.
    model: str
    #: Numbers of tokens; None if they were not logged.
    usage: Usage | None = None
    #: Cost in USD, if it was logged.
    usd: float | None = None
    #: Doubts about the numbers of tokens.
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One evaluation as it was logged.

    Attributes
    ----------
    instance : str
    scores : mapping of str to object
        Logged scores by name: numbers, words, true or false.
    used : tuple of ModelUse
        Tokens and cost by model; empty if nothing was logged, as for an answer from a
        cache.
    seconds : float or None
    repeat : str
        Name that distinguishes repeated evaluations of an instance.
    unusable : str or None
        Reason why the sample is left out, such as "samples that ended in an error".
    question : str or None
        The question or its checksum, to detect different questions with the same name.
    fields : mapping of str to object
        Further logged fields of the instance, for ``--where`` and ``--cluster``.
    flaws : tuple of str
        Flaws of the answer, such as `cobandit.tables.card.CUT_OFF`.
    cost : float or None
        Cost of the sample, if the format logs costs.
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
    """The log of one run of a configuration on a task.

    Attributes
    ----------
    file : str
        File of the log, for messages.
    task : str
    settings : dict
        Settings, from `log_settings.collect_settings`.
    samples : sequence of Sample
    finished : bool
    began : float
        Start of the run, in seconds since 1970.
    configuration : str or None
        Name of the configuration, if the log has one.
    counted : object
        Number of samples as stated in the log.
    means : mapping of str to float
        Means as stated in the log, by the name of the score.
    reduced : str
        How the log reduces repeats to one score, if not by their mean.
    lower : collection of str
        Names of scores whose lower values are better.
    ranges : mapping of str to (float, float)
        Lowest and highest possible score by name, if the log states them.
    no_scores : mapping of str to float
        Value that marks a missing score, by the score's name, if the log states it.
    """

    file: str
    task: str
    settings: dict[str, Any]
    samples: Sequence[Sample]
    finished: bool = True
    began: float = 0.0
    configuration: str | None = None
    counted: Any = None
    means: Mapping[str, float] = field(default_factory=dict)
    reduced: str = ""
    lower: Collection[str] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    no_scores: Mapping[str, float] = field(default_factory=dict)
