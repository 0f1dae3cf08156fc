"""Faults found in a table or a card, gathered for one error, and numbers, names and tables as text."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from cobandit.errors import CobanditError

if TYPE_CHECKING:
    import pandas as pd

#: Faults that one error lists, at most.
MOST = 50


#: Letters of each part of a message, at most: a name may be as long as its file.
LONGEST = 400


def ellipsize(text: str, most: int) -> str:
    """Shorten a text to its beginning and its end.

    Examples
    --------
    >>> ellipsize("a name that goes on and on is taken", 24)
    'a name that... is taken'
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[: most - 3 - half]}...{text[-half:]}"


def amount(value: float) -> str:
    """Write an amount to four digits, or whole.

    Examples
    --------
    >>> amount(26_880.4), amount(1.45504), amount(0.0000698123), amount(4.5e20)
    ('26,880', '1.455', '0.00006981', '4.5e+20')
    """
    if 1e-6 <= abs(value) < 1e-4:
        return np.format_float_positional(value, 4, fractional=False, trim="-")
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


#: Rows of a table, at most; of a longer one the first and the last are shown.
MOST_ROWS = 12


def as_html(headline: str, frame: pd.DataFrame, notes: Iterable[str] = ()) -> str:
    """Write HTML that a notebook shows in the place of a `repr`.

    Parameters
    ----------
    headline : str
    frame : DataFrame
        Numbers are written with four digits, and names are text whatever they hold.
    notes : iterable of str
        Lines below the table.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> shown = as_html("Two <arms>", pd.DataFrame({"cost": [1.23456, 2.0]}, index=["a", "b"]))
    >>> "1.235" in shown, "&lt;arms&gt;" in shown
    (True, True)
    """
    table = frame.to_html(
        border=0, max_rows=MOST_ROWS, show_dimensions=False, float_format="{:.4g}".format, na_rep="–"
    )
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<div>{escape(headline)}</div>{table}{below}"


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
        The file (or the name of the frame) that holds the fault; blank where whoever asked knows.
    problem, remedy : str
        What is wrong, with the offending value; what the user can do.
    row : int, optional
        The first row concerned; 1 is the first data row.
    column : str, optional
        The column concerned, or the field of a card.
    more : int
        How many further rows have the same fault.

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

    def at(self, place: Callable[[int, str | None], Place]) -> Fault:
        """Say it of the files that a frame was read from, given where each row and column comes from.

        Examples
        --------
        >>> fault = Fault("the frame", "the value is missing", "drop the row", row=7)
        >>> print(fault.at(lambda row, column: Place("b.csv", row - 5)))
        b.csv, row 2: the value is missing -> drop the row
        """
        return self if self.row is None else replace(self, **place(self.row, self.column)._asdict())

    def __str__(self) -> str:
        """Place, problem and remedy on one line."""
        place = ellipsize(self.file, LONGEST)
        if self.row is not None:
            place += f", row {self.row:,}"
        if self.column is not None:
            place += f", column {ellipsize(self.column, LONGEST // 4)!r}"
        more = f" (and {self.more:,} more row{'s' * (self.more > 1)})" if self.more else ""
        problem = f"{ellipsize(self.problem, LONGEST)}{more} -> {ellipsize(self.remedy, LONGEST)}"
        return f"{place}: {problem}" if place else problem


class TableError(CobanditError):
    """An evaluation table or its card is not as the schema asks; the message lists every fault found.

    ``faults`` are the same as data, so that who knows more can say more: which file a row came from, which
    field of a plan a value is in.
    """

    faults: tuple[Fault, ...] = ()


def refuse(faults: Iterable[Fault]) -> None:
    """Raise one :class:`~cobandit.faults.TableError` that lists the faults; do nothing without any.

    Raises
    ------
    TableError
        If there is at least one fault.

    Examples
    --------
    >>> refuse([])
    >>> refuse([Fault("my.csv", "the file is empty", "export it again")])
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: my.csv: the file is empty -> export it again
    """
    found = list(dict.fromkeys(faults))
    if not found:
        return
    counting = " (row 1 is the first data row)" if any(fault.row for fault in found) else ""
    first = f", the first {MOST} of them" if len(found) > MOST else ""
    listed = [f"{len(found)} faults{first}{counting}", *(f"- {fault}" for fault in found[:MOST])]
    error = TableError(str(found[0]) if len(found) == 1 else "\n".join(listed))
    error.faults = tuple(found)
    raise error from None  # what it says is all: not whence it came


@dataclass
class Faults:
    """The faults of one table, gathered while it is checked.

    Examples
    --------
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
    ) -> None:
        """Add a fault of the table, of a column, or of the rows that a mask of shape (N,) marks."""
        row, more = (None, 0) if rows is None else (int(rows.argmax()) + 1, int(rows.sum()) - 1)
        self.found.append(Fault(self.source, problem, remedy, row, column, more))


def stop(where: str | Path | None, problem: str, remedy: str) -> NoReturn:
    """Raise one error that says where, what, and what to do: `refuse` with one fault.

    A validator of a field does not know where it is, and says None: `check_fields` adds it.

    Raises
    ------
    TableError
        Always.

    Examples
    --------
    >>> stop("my.eval", "the archive is damaged", "copy it again")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: my.eval: the archive is damaged -> copy it again
    """
    refuse([Fault("" if where is None else str(where), problem, remedy)])
    raise AssertionError  # what comes before never returns


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that a wrong one was meant to be, whatever its capitals; None if none is close.

    Examples
    --------
    >>> find_nearest("Instnace", ["config", "instance"]), find_nearest("zzz", ["config", "instance"])
    ('instance', None)
    """
    # the beginnings: what names of any length take is otherwise quadratic in it
    by_lower = {str(k)[:LONGEST].lower(): str(k) for k in known}
    close = difflib.get_close_matches(str(name)[:LONGEST].lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[close[0]] if close else None


def suggest(name: str, known: Iterable[str], rest: str | None = None) -> str:
    """Say what to do about an unknown name: the nearest known one, and all of them unless ``rest`` says it.

    Examples
    --------
    >>> suggest("instnace", ["config", "instance"])
    "did you mean 'instance'? there are config, instance"
    >>> suggest("zzz", ["config", "instance"], "add the column")
    'add the column'
    """
    known = [str(each) for each in known]
    near = find_nearest(name, known)
    hint = f"did you mean {near!r}? " if near else ""
    there = f"there are {', '.join(known)}" if len(known) > 1 else f"there is {', '.join(known) or 'none'}"
    return hint + (there if rest is None else rest)
