"""The protocol of evaluators, the context that opens one, and failures.

An evaluator does not know policies, journals and budgets, and never retries. It returns
or raises a `Failure` for a failed evaluation, and the run decides about a retry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cobandit.tables.checked_fields import Fields

#: Status codes that do not depend on the request: too many requests, or no service
#: behind the gateway.
UNAVAILABLE_STATUSES = frozenset({429, 502, 503, 529})

#: Settings with the address of a configuration, which replace an evaluator's options of
#: these names.
ADDRESS_SETTINGS = ("base_url", "key")

#: Status codes below 500 after which a retry may help.
RETRY_STATUSES = frozenset({408, 409, 425}) | UNAVAILABLE_STATUSES

#: Measurements of an evaluation: columns of the table, by name.
Row = dict[str, float]


class Failure(Exception):
    """An evaluation without a score.

    If a retry cannot help, the instance is at fault, and the failure is scored by the
    plan's ``failures``.  Otherwise the service may be at fault, and the evaluation is
    retried for the time of the plan's ``patience``.

    Parameters
    ----------
    message : str
        Reason of the failure, for the report.
    cost : float, optional
        Cost of the evaluation so far, in the unit of the run's cost; None if unknown.
    retry : bool
        Whether a retry may help, as after a dropped connection or a timeout.
    wait : float, optional
        Seconds to wait before a retry, if the service requested a pause.
    unavailable : bool
        Whether the failure does not depend on the evaluation, because the service was
        absent or overloaded.  The evaluation is retried, and the failure is never
        scored.

    Examples
    --------
    >>> failure = Failure("status 429: too many requests", retry=True, wait=2)
    >>> str(failure), failure.retry, failure.cost
    ('status 429: too many requests', True, None)
    """

    def __init__(
        self,
        message: str,
        *,
        cost: float | None = None,
        retry: bool = False,
        wait: float | None = None,
        unavailable: bool = False,
    ):
        super().__init__(message)
        self.cost = cost
        self.retry = retry or unavailable
        self.wait = wait
        self.unavailable = unavailable


def judge_status(status: int) -> tuple[bool, bool]:
    """Judge a status code.

    Returns whether a retry may help, and whether the code does not depend on the
    request.

    Examples
    --------
    >>> [judge_status(status) for status in (400, 408, 429, 500)]
    [(False, False), (True, False), (True, True), (True, False)]
    """
    return status in RETRY_STATUSES or status >= 500, status in UNAVAILABLE_STATUSES


class Evaluator(Protocol):
    """Evaluates configurations on instances.

    Attributes
    ----------
    block : int
        The largest number of instances of one call.
    at_once : int or None
        The largest number of calls that may overlap; None for any number.
    digests : mapping of str to str, optional
        Checksums of the instances, and of everything else that must not change between
        two starts of a run; without them changes go unnoticed.
    timeout : float, optional
        Seconds that an evaluation may take if the plan sets no limit; unlimited without
        the attribute.
    bound_cost : callable, optional
        Returns the largest possible cost of a configuration on an instance, infinity if
        unknown; used for the estimate before the first call.
    prices : str, optional
        Source and day of the prices, for the run and its card.
    reprice : callable, optional
        Given a configuration and an earlier row of measurements, returns the row with
        its cost at today's prices.
    rescore : callable, optional
        Given a configuration, an instance and a kept answer, returns the columns of its
        score; None if the prompt has changed.
    """

    @property
    def block(self) -> int: ...  # noqa: D102 (above)

    @property
    def at_once(self) -> int | None: ...  # noqa: D102

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> Sequence[Row | Failure]:
        """Evaluate one configuration on instances.

        Returns
        -------
        sequence of Row or Failure
            One per instance, in the order of ``instances``.

        Raises
        ------
        Failure
            If all instances fail for the same reason.
        CobanditError
            If every other evaluation would fail in the same way, for example because of
            a wrong key or a function that returns no numbers. This error stops the run.
        """
        ...


class EvaluatorOptions(Fields):
    """Base class of an evaluator's options; descriptions of fields are remedies."""


class Context(NamedTuple):
    """The run that opens an evaluator."""

    #: Configurations that may be evaluated.
    configurations: Sequence[Mapping[str, Any]]
    #: By id, the values of each instance in the plan's file of instances, by column.
    instances: Mapping[str, Mapping[str, Any]]
    #: Column of the cost; `Failure.cost` is in its unit.
    cost: str
    #: Folder of the plan, at which its relative paths start.
    folder: Path
    #: Folder of the run, for logs to keep.
    output: Path
    #: Columns of the objectives; an evaluator refuses those that it does not measure.
    objectives: Sequence[str] = ()
    #: Day of the prices, on which the run began; None for today.
    day: date | None = None
