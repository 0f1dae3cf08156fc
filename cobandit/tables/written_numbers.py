"""Reading numbers in text that have a unit, a currency or thousands separators."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

_MARKS = ",."
_NUMBER = re.compile(
    r"(?P<before>[$€£¥]?)\s*(?P<number>[+-]?\d[\d,.]*)\s*(?P<after>%|[$€£¥]|[^\W\d_]{1,6})?"
)


class WrittenNumbers(NamedTuple):
    """The numbers in a column of text, and their unit."""

    #: The numbers.
    numbers: pd.Series
    #: Text around each number, such as a unit, the same in the whole column; may be
    #: empty.
    unit: str


def read_written(column: pd.Series, decimal: str) -> WrittenNumbers | None:
    """Return the numbers in a column of text with a unit or thousands separators.

    Parameters
    ----------
    column : Series, length N
    decimal : {".", ","}
        Decimal mark.

    Returns
    -------
    WrittenNumbers or None
        None unless every non-blank value is such a number, and all units are equal.

    Examples
    --------
    >>> read_written(pd.Series(["$1,200.50", "$3", None]), ".").numbers.tolist()
    [1200.5, 3.0, nan]
    >>> read_written(pd.Series(["1ms", "2s"]), ".") is None
    True
    """
    text = column.dropna()
    if text.empty or not text.map(lambda cell: isinstance(cell, str)).all():
        return None
    text = text.str.strip()
    text = text[text != ""]
    matches = [_NUMBER.fullmatch(cell) for cell in text]
    units = {match and (match["before"], match["after"]) for match in matches}
    if len(units) != 1 or None in units:
        return None

    thousands = "," if decimal == "." else "."
    # thousands separators precede groups of three digits, and occur only before the
    # decimal mark
    grouped = re.compile(rf"[+-]?(\d+|\d{{1,3}}(\{thousands}\d{{3}})+)(\{decimal}\d*)?")
    spelled = [match["number"] for match in matches if match]
    if not all(grouped.fullmatch(number) for number in spelled):
        return None
    unit = "".join(part or "" for part in units.pop() or ())
    if not unit and not any(thousands in number for number in spelled):
        return None  # plain numerals stored as text need no repair here
    numbers = [
        float(number.replace(thousands, "").replace(decimal, ".")) for number in spelled
    ]
    return WrittenNumbers(pd.Series(numbers, text.index).reindex(column.index), unit)


def recognise_decimal(cells: Iterable[str], with_commas: bool) -> str:
    """Return the decimal mark of the numbers in some cells of text.

    Parameters
    ----------
    cells : iterable of str
    with_commas : bool
        Whether an ambiguous mark, as in ``1,234``, is a decimal comma.

    Examples
    --------
    >>> recognise_decimal(["0,5", "n/a"], True), recognise_decimal(["1.234,50 €"], True)
    (',', ',')
    >>> recognise_decimal(["1,234", "17"], False)
    '.'
    >>> recognise_decimal(["$1,234.50"], True)
    '.'
    """
    matches = map(_NUMBER.fullmatch, map(str.strip, cells))
    marks = Counter(_find_decimal(match["number"]) for match in matches if match)
    if marks[","] or marks["."]:
        return "," if marks[","] and not marks["."] else "."
    return "," if with_commas and marks["either ,"] and not marks["either ."] else "."


def _find_decimal(number: str) -> str:
    """Return the decimal mark of a number as text, or '' if it has none.

    If the only mark may also be a thousands separator, the result is ``either`` and the
    mark.
    """
    last_mark = max(_MARKS, key=number.rfind)
    first_mark = "." if last_mark == "," else ","
    if last_mark not in number:
        return ""
    if first_mark in number:
        return last_mark
    if number.count(last_mark) > 1:
        return first_mark
    may_separate = re.fullmatch(r"[+-]?[1-9]\d{0,2}[,.]\d{3}", number)
    return f"either {last_mark}" if may_separate else last_mark
