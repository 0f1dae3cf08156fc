"""All errors and warnings of cobandit, and the faults that an error lists.

* ``CobanditError`` (a ``ValueError``): an argument is out of range or of the wrong
  shape; ``faults`` has its name and a code

  * ``BudgetError``: the budget is too small; ``smallest`` is the smallest that works
  * ``TableError``: a table, card, plan, log, run or option has faults, all of which are
    listed in ``faults``
  * ``DatasetUnavailable``: a table of the catalogue could not be fetched

* ``GuaranteeWarning`` (a ``UserWarning``): the run continues without the paper's
  guarantee

The checks in ``_validation`` raise ``CobanditError`` for arguments of functions. A
fault of a file, a data frame or an option has a place, a problem, a remedy and a code.
`raise_if_any` reports several faults together, and `raise_fault` reports one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from cobandit._text import LONGEST, ellipsize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class CobanditError(ValueError):
    """Base class of the errors that cobandit raises for bad input.

    Every public function checks its arguments before it computes or changes anything.
    If an argument is out of range or of the wrong shape, the function raises this
    error. The message names the argument, its value and the allowed values. Docstrings
    list this error only where more is to be said.

    Parameters
    ----------
    *args : object
        The message, and further arguments of a subclass.
    argument : str
        Name of the argument, option or file at fault; blank if there is none.
    code : str
        Short name of the kind of error. It does not change with the wording of
        messages.

    Attributes
    ----------
    faults : tuple of Fault
        The faults as data. If there is one fault, its problem is the message.

    Examples
    --------
    >>> issubclass(BudgetError, CobanditError) and issubclass(CobanditError, ValueError)
    True
    >>> error = CobanditError("rho is -1", argument="rho", code="out-of-range")
    >>> [(fault.file, fault.code) for fault in error.faults]
    [('rho', 'out-of-range')]
    """

    faults: tuple[Fault, ...] = ()

    def __init__(self, *args: object, argument: str = "", code: str = ""):
        super().__init__(*args)
        if code:
            self.faults = (Fault(argument, str(self), "", code=code),)


class BudgetError(CobanditError):
    """The budget is too small for the method.

    Attributes
    ----------
    smallest : float
        The smallest budget that works, in the unit of the budget.
    """

    def __init__(self, message: str, smallest: float):
        super().__init__(message, smallest, argument="budget", code="small-budget")
        self.smallest = smallest

    def __str__(self) -> str:
        return str(self.args[0])


class DatasetUnavailable(CobanditError):
    """A table that is loaded by name could not be found or downloaded.

    The message lists where it was searched.
    """


class GuaranteeWarning(UserWarning):
    """An observed cost is outside the range that a guarantee assumes.

    The run continues without the guarantee.
    """


class Place(NamedTuple):
    """Position in a file: row and column."""

    #: Path or name of the file.
    file: str
    #: Row, from 1 for the first data row; None for the whole file or column.
    row: int | None = None
    #: Name of the column; None for the whole file or row.
    column: str | None = None


@dataclass(frozen=True)
class Fault:
    """A fault of the user's input: its place, the problem and a remedy.

    Parameters
    ----------
    file : str
        File, option, argument or data frame with the fault; blank if the caller adds it
        later.
    problem : str
        The problem, with the offending value.
    remedy : str
        Advice to the user; blank if the problem includes it.
    row : int, optional
        First row with the fault; 1 is the first data row.
    column : str, optional
        Column with the fault, or field of a YAML file.
    more : int
        Number of further rows with the same fault.
    code : str
        Short name of the kind of fault, such as ``equal-scores``, which does not change
        with the wording of messages. Blank if the kind has no name.
    data : str
        Text that the message must not shorten, such as a result that could not be
        written and would otherwise be lost.

    Examples
    --------
    >>> fault = Fault("my.csv", "the cost is missing", "drop the row", row=3, more=4)
    >>> print(replace(fault, column="usd"))
    my.csv, row 3, column 'usd': the cost is missing (and 4 more rows) -> drop the row
    """

    file: str
    problem: str
    remedy: str
    row: int | None = None
    column: str | None = None
    more: int = 0
    code: str = ""
    data: str = ""

    def locate(self, place: Callable[[int, str | None], Place]) -> Fault:
        """Return the fault of a data frame with the place in its source file.

        ``place`` maps a row and a column of the data frame to a place. A fault without
        a row is returned unchanged.

        Examples
        --------
        >>> fault = Fault("the frame", "the value is missing", "drop the row", row=7)
        >>> print(fault.locate(lambda row, column: Place("b.csv", row - 5)))
        b.csv, row 2: the value is missing -> drop the row
        """
        if self.row is None:
            return self
        return replace(self, **place(self.row, self.column)._asdict())

    def __str__(self) -> str:
        """Return place, problem and remedy on one line."""
        place = ellipsize(self.file, LONGEST)
        if self.row is not None:
            place += f", row {self.row:,}"
        if self.column is not None:
            place += f", column {ellipsize(self.column, LONGEST // 4)!r}"

        problem = ellipsize(self.problem, LONGEST)
        if self.more:
            rows = "row" if self.more == 1 else "rows"
            problem += f" (and {self.more:,} more {rows})"
        message = problem
        if self.remedy:
            message += f" -> {ellipsize(self.remedy, LONGEST)}"
        if self.data:
            message += f": {self.data}"
        return f"{place}: {message}" if place else message


class TableError(CobanditError):
    """A table, its card (description), a plan, log, run or option has faults.

    The message lists every fault.

    Attributes
    ----------
    faults : tuple of Fault
        The same faults as data. A caller can add a file or a field to each of them.
    """


#: Largest number of faults that one message lists.
MAX_LISTED = 50


def raise_if_any(faults: Iterable[Fault]) -> None:
    """Raise one :class:`~cobandit.errors.TableError` with all faults, if there are any.

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
    distinct = tuple(dict.fromkeys(faults))
    if not distinct:
        return

    message = str(distinct[0])
    if len(distinct) > 1:
        headline = f"{len(distinct)} faults"
        if len(distinct) > MAX_LISTED:
            headline += f", the first {MAX_LISTED} of them"
        if any(fault.row for fault in distinct):
            headline += " (row 1 is the first data row)"
        message = "\n- ".join([headline, *map(str, distinct[:MAX_LISTED])])

    error = TableError(message)
    error.faults = distinct
    # suppress the chained traceback: the message is complete
    raise error from None


@dataclass
class Faults:
    """The faults of one table, collected during its checks.

    Examples
    --------
    >>> import numpy as np
    >>> faults = Faults("my.csv")
    >>> rows = np.array([False, True, True])
    >>> faults.add("the value is missing", "drop the row", "usd", rows)
    >>> print(faults.entries[0])
    my.csv, row 2, column 'usd': the value is missing (and 1 more row) -> drop the row
    """

    #: Name of the table in messages, usually its file.
    source: str
    #: The faults so far.
    entries: list[Fault] = field(default_factory=list)

    def add(
        self,
        problem: str,
        remedy: str,
        column: str | None = None,
        rows: npt.NDArray[np.bool_] | None = None,
        *,
        code: str = "",
    ) -> None:
        """Add a fault of the table, of a column, or of the rows of a mask (N,)."""
        fault = Fault(self.source, problem, remedy, column=column, code=code)
        if rows is not None:
            first = int(rows.argmax()) + 1
            fault = replace(fault, row=first, more=int(rows.sum()) - 1)
        self.entries.append(fault)


def raise_fault(
    where: str | PathLike[str] | None,
    problem: str,
    remedy: str,
    code: str,
    data: str = "",
) -> NoReturn:
    """Raise one error with a place, a problem and a remedy.

    A validator of a field does not know the place of the field, and passes None.
    `cobandit.tables.checked_fields.check_fields` then adds the place.

    Raises
    ------
    TableError
        Always.

    Examples
    --------
    >>> raise_fault("my.eval", "the archive is damaged", "copy it again", "bad-archive")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: my.eval: the archive is damaged -> copy it again
    """
    place = "" if where is None else str(where)
    raise_if_any([Fault(place, problem, remedy, code=code, data=data)])
    # for type checkers: the line above always raises
    raise AssertionError
