"""Every error and warning, and the faults that an error lists: each says what, where and what to do.

* ``CobanditError`` (a ``ValueError``): an argument is out of range or of the wrong
  shape

  * ``BudgetError``: the budget is too small; ``smallest`` is one that works
  * ``TableError``: a table, card, plan, log or option is not as it has to be;
    ``faults`` lists all faults
  * ``DatasetUnavailable``: a table of the catalogue could not be fetched

* ``GuaranteeWarning`` (a ``UserWarning``): the run goes on without the paper's
  guarantee

Functions on arrays raise ``CobanditError`` by the checks in ``_validation``.  What a
user has written into a file, a data frame or an option is refused by `raise_if_any`,
all faults at once, or `raise_fault`, one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from cobandit._text import LONGEST, ellipsize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CobanditError(ValueError):
    """Base of every error that cobandit raises for bad input.

    Every public function checks its arguments before it computes or changes anything.
    What is out of range or of the wrong shape raises this error, which names the
    argument, what it got and what is allowed; docstrings list errors only where there
    is more to say.

    Examples
    --------
    >>> issubclass(BudgetError, CobanditError) and issubclass(CobanditError, ValueError)
    True
    """


class BudgetError(CobanditError):
    """The budget is too small for the method; ``smallest`` is the least one that works, in its unit."""

    def __init__(self, message: str, smallest: float):
        super().__init__(message, smallest)
        self.smallest = smallest

    def __str__(self) -> str:
        return str(self.args[0])


class DatasetUnavailable(CobanditError):
    """A table of the catalogue could not be found or fetched; the message says what was tried."""


class GuaranteeWarning(UserWarning):
    """Feedback left the range that the paper's guarantee assumes; the run goes on without it."""


class Place(NamedTuple):
    """Where something stands in a file: row (1 is the first data row) and column, if either is meant."""

    file: str
    row: int | None = None
    column: str | None = None


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, where it is, and what to do about it.

    Parameters
    ----------
    file : str
        The file (or the name of the frame) that holds the fault; blank where whoever
        asked knows.
    problem, remedy : str
        What is wrong, with the offending value; what the user can do.
    row : int, optional
        The first row concerned; 1 is the first data row.
    column : str, optional
        The column concerned, or the field of a card.
    more : int
        How many further rows have the same fault.
    code : str
        A short name of the kind of fault, such as ``equal-scores``, which stays if its
        words change; blank for kinds that have none.

    Examples
    --------
    >>> print(Fault("my.csv", "the cost -2.0 is not positive", "drop the row", row=3, column="usd", more=4))
    my.csv, row 3, column 'usd': the cost -2.0 is not positive (and 4 more rows) -> drop the row
    """

    file: str
    problem: str
    remedy: str
    row: int | None = None
    column: str | None = None
    more: int = 0
    code: str = ""

    def at(self, place: Callable[[int, str | None], Place]) -> Fault:
        """Say it of the files that a frame was read from, given where each row and column comes from.

        Examples
        --------
        >>> fault = Fault("the frame", "the value is missing", "drop the row", row=7)
        >>> print(fault.at(lambda row, column: Place("b.csv", row - 5)))
        b.csv, row 2: the value is missing -> drop the row
        """
        return (
            self
            if self.row is None
            else replace(self, **place(self.row, self.column)._asdict())
        )

    def __str__(self) -> str:
        """Place, problem and remedy on one line."""
        place = ellipsize(self.file, LONGEST)
        if self.row is not None:
            place += f", row {self.row:,}"
        if self.column is not None:
            place += f", column {ellipsize(self.column, LONGEST // 4)!r}"
        more = (
            f" (and {self.more:,} more row{'s' * (self.more > 1)})" if self.more else ""
        )
        problem = (
            f"{ellipsize(self.problem, LONGEST)}{more} ->"
            f" {ellipsize(self.remedy, LONGEST)}"
        )
        return f"{place}: {problem}" if place else problem


class TableError(CobanditError):
    """An evaluation table or its card is not as the schema asks; the message lists every fault found.

    ``faults`` are the same as data, so that who knows more can say more: which file a
    row came from, which field of a plan a value is in.
    """

    faults: tuple[Fault, ...] = ()


#: Faults that one error lists, at most.
MOST = 50


def raise_if_any(faults: Iterable[Fault]) -> None:
    """Raise one :class:`~cobandit.errors.TableError` that lists the faults; do nothing without any.

    Raises
    ------
    TableError
        If there is at least one fault.

    Examples
    --------
    >>> raise_if_any([])
    >>> raise_if_any([Fault("my.csv", "the file is empty", "export it again")])
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: my.csv: the file is empty -> export it again
    """
    found = list(dict.fromkeys(faults))
    if not found:
        return

    counting = (
        " (row 1 is the first data row)" if any(fault.row for fault in found) else ""
    )
    first = f", the first {MOST} of them" if len(found) > MOST else ""
    listed = [
        f"{len(found)} faults{first}{counting}",
        *(f"- {fault}" for fault in found[:MOST]),
    ]
    error = TableError(str(found[0]) if len(found) == 1 else "\n".join(listed))
    error.faults = tuple(found)
    raise error from None  # what it says is all: not whence it came


@dataclass
class Faults:
    """The faults of one table, gathered while it is checked.

    Examples
    --------
    >>> import numpy as np
    >>> faults = Faults("my.csv")
    >>> faults.add("the value is missing", "drop the row", "usd", np.array([False, True, True]))
    >>> print(faults.found[0])
    my.csv, row 2, column 'usd': the value is missing (and 1 more row) -> drop the row
    """

    source: str
    found: list[Fault] = field(default_factory=list)

    def add(
        self,
        problem: str,
        remedy: str,
        column: str | None = None,
        rows: npt.NDArray[np.bool_] | None = None,
        *,
        code: str = "",
    ) -> None:
        """Add a fault of the table, of a column, or of the rows that a mask of shape (N,) marks."""
        row, more = (
            (None, 0) if rows is None else (int(rows.argmax()) + 1, int(rows.sum()) - 1)
        )
        self.found.append(Fault(self.source, problem, remedy, row, column, more, code))


def raise_fault(
    where: str | Path | None, problem: str, remedy: str, code: str = ""
) -> NoReturn:
    """Raise one error that says where, what, and what to do: `raise_if_any` with one fault.

    A validator of a field does not know where it is, and says None: `check_fields` adds
    it.

    Raises
    ------
    TableError
        Always.

    Examples
    --------
    >>> raise_fault("my.eval", "the archive is damaged", "copy it again")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: my.eval: the archive is damaged -> copy it again
    """
    raise_if_any(
        [Fault("" if where is None else str(where), problem, remedy, code=code)]
    )
    raise AssertionError  # what comes before never returns
