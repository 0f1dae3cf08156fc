"""The protocol of evaluators, what opens one is given, and how an evaluation fails.

An evaluator knows nothing of policies, journals and budgets, and retries nothing: it
returns or raises what went wrong with one evaluation as a `Failure`, and the run
decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cobandit.tables.checked_fields import Fields

#: Status codes that say nothing of a request: too many requests, or no service behind
#: the gateway.
UNAVAILABLE_STATUSES = frozenset({429, 502, 503, 529})


#: Settings that are the address of a configuration, in the place of an evaluator's
#: options of these names.
ADDRESS_SETTINGS = ("base_url", "key")


#: Status codes below 500 after which trying again may help.
RETRY_STATUSES = frozenset({408, 409, 425}) | UNAVAILABLE_STATUSES


#: What one evaluation gave: columns of the table, by name.
Row = dict[str, float]


class Failure(Exception):
    """An evaluation that gave no score.

    One that trying again cannot help is its question's and is scored as a plan's
    ``failures`` says.  For any other the service may be at fault: it is tried again for
    as long as the plan's ``patience``.

    Parameters
    ----------
    message : str
        What went wrong, for the report.
    cost : float, optional
        What it cost so far, in the unit of the run's cost column; None if that is not
        known.
    retry : bool
        Whether trying again may help, as after a dropped connection or a time-out.
    wait : float, optional
        Seconds that the service wants to be left alone first.
    unavailable : bool
        Whether it says nothing of the evaluation, since nobody was there or too much
        was asked at once.  It is tried again, and never scored.

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
    """Judge a status code: whether trying again may help, and whether it says nothing of the request.

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
        A checksum of what is asked in each instance, and of whatever else must not
        change between two starts of a run; without the attribute nobody notices.
    timeout : float, optional
        Seconds that one evaluation may take if the plan does not say it; any without
        the attribute.
    bound_cost : callable, optional
        What an evaluation of a configuration on an instance costs at most, infinity
        where that is not known; only told before the first call.
    prices : str, optional
        Where prices are from, and of which day; the run and its card say so.
    reprice : callable, optional
        Given a configuration and a row that was measured before, the row with its cost
        by today's prices.
    rescore : callable, optional
        Given a configuration, an instance and an answer that was kept, the columns of
        its score; None if something else was asked then.
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
            One for each instance, in their order.

        Raises
        ------
        Failure
            If it is the same for all of them.
        CobanditError
            If every other evaluation would end like this one (a wrong key, a function
            that returns no numbers), so that the run had better stop.
        """
        ...


class EvaluatorOptions(Fields):
    """Base of the options of an evaluator; a field's description says what to write there."""


class Context(NamedTuple):
    """The run that opens an evaluator.

    Parameters
    ----------
    configurations : sequence of mapping
        All that may be evaluated.
    instances : mapping of str to mapping
        All ids, with the values of each in the file of the plan's instances, by column.
    cost : str
        The column that is the cost; `Failure.cost` is in its unit.
    folder : Path
        Where the plan is: its relative paths start there.
    output : Path
        The run's own folder, for logs that are worth keeping.
    objectives : sequence of str
        The columns of the objectives; refuse one that the evaluator cannot give.
    day : date, optional
        Day of the prices: the day on which the run began; None for today.
    """

    configurations: Sequence[Mapping[str, Any]]
    instances: Mapping[str, Mapping[str, Any]]
    cost: str
    folder: Path
    output: Path
    objectives: Sequence[str] = ()
    day: date | None = None
