"""The protocol of evaluators, the context for opening one, and failures.

An evaluator does not deal with policies, journals, budgets or retries. For a failed
evaluation it returns or raises a `Failure`, and the run decides whether to retry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cobandit.tables.checked_fields import Fields

#: HTTP status codes with causes other than the request: too many requests, or an
#: unavailable service.
UNAVAILABLE_STATUSES = frozenset({429, 502, 503, 529})

#: Settings of a configuration that choose its endpoint. They replace the evaluator's
#: options of the same names.
ADDRESS_SETTINGS = ("base_url", "key")

#: HTTP status codes after which a retry may help, besides all codes from 500 on.
RETRY_STATUSES = frozenset({408, 409, 425}) | UNAVAILABLE_STATUSES

#: Measurements of an evaluation: columns of the table, by name.
Row = dict[str, float]


class Failure(Exception):
    """A failed evaluation, which an evaluator returns or raises.

    If a retry cannot help, the failure is attributed to the instance, and the plan's
    ``failures`` determines its score. Otherwise it is attributed to the service, and
    the evaluation is retried for up to ``patience`` seconds.

    Parameters
    ----------
    message : str
        Reason of the failure, for the report.
    cost : float, optional
        Cost of the failed evaluation, in the unit of the run's cost; None if unknown.
    retry : bool
        Whether a retry may help, for example after a dropped connection or a timeout.
    wait : float, optional
        Seconds to wait before a retry, if the service requested a pause.
    unavailable : bool
        Whether the service was unavailable or overloaded. The evaluation is then
        retried, and the failure never counts as a score.

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
    """Classify an HTTP status code.

    Returns two flags: whether a retry may help, and whether the service is unavailable
    for all requests.

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
        Largest number of instances per call.
    at_once : int or None
        Largest number of concurrent calls; None for any number.
    digests : mapping of str to str, optional
        Checksums of the instances, and of everything else that must not change when a
        run is resumed. Without checksums, changes are not detected.
    timeout : float, optional
        Time limit of an evaluation in seconds, unless the plan sets another one.
        Without this attribute there is no default limit.
    bound_cost : callable, optional
        Given a configuration and an instance, returns an upper bound on the cost of the
        evaluation, or infinity. The bound is used to estimate the cost of a run.
    prices : str, optional
        Source and day of the prices, for the report of the run.
    reprice : callable, optional
        Given a configuration and an earlier row of measurements, returns the row with
        its cost at today's prices.
    rescore : callable, optional
        Given a configuration, an instance and a stored answer, returns the columns with
        the answer's score, or None if the prompt has changed.
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
            If every evaluation would fail in the same way, for example because of a
            wrong key, or a function that does not return numbers. This error stops the
            run.
        """
        ...


class EvaluatorOptions(Fields):
    """Base class of an evaluator's options.

    The description of a field is the remedy in the message about an invalid value.
    """


class Context(NamedTuple):
    """The parts of a run that an evaluator needs."""

    #: Configurations that may be evaluated.
    configurations: Sequence[Mapping[str, Any]]
    #: Rows of the plan's file of instances: by id of the instance, then by column.
    instances: Mapping[str, Mapping[str, Any]]
    #: Column of the cost; `Failure.cost` is in its unit.
    cost: str
    #: Folder of the plan, to which its relative paths refer.
    folder: Path
    #: Folder of the run, where an evaluator may store logs.
    output: Path
    #: Columns of the objectives. An evaluator rejects columns that it does not measure.
    objectives: Sequence[str] = ()
    #: Day of the prices: the day of the run's first start, or None for today.
    day: date | None = None
