"""Reading columns of numbers, and checking rules that every value must satisfy."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit.errors import Faults


class ColumnRule(NamedTuple):
    """A rule that every value of a column must satisfy."""

    #: Function that marks the values that break the rule.
    broken: Callable[[np.ndarray], np.ndarray]
    #: Description of the problem; ``{value}`` stands for the value.
    problem: str
    #: Remedy for the user.
    remedy: str
    #: Code of the fault.
    code: str


_AGAIN = "give the measured value, or make the evaluation again"
MISSING = ColumnRule(np.isnan, "the value is missing", _AGAIN, "missing-value")


FINITE = ColumnRule(np.isinf, "{value} is not finite", _AGAIN, "not-finite")

COST = ColumnRule(
    lambda x: x <= 0,
    "the cost {value} is not positive",
    "give the cost of the evaluation; if it was free, set smallest_cost to replace"
    " zero",
    "cost-not-positive",
)


#: Costs outside these limits are mistakes in any unit, and their squares and ratios
#: could overflow.
SMALLEST_COST = 1e-30
LARGEST_COST = 1e30


RANGE = ColumnRule(
    lambda x: (x > LARGEST_COST) | ((x > 0) & (x < SMALLEST_COST)),
    f"the cost {{value}} is not between {SMALLEST_COST:g} and {LARGEST_COST:g}",
    "give the costs in another unit, or correct the value",
    "cost-too-extreme",
)

#: Remedy for a column of nested values.
NESTED = "make a column for each field of the values, as pandas.json_normalize does"


def read_numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Read a column as float64, and mark values that are not numbers.

    Parameters
    ----------
    column : Series, length N
        Booleans count as 0 and 1. Blank text counts as missing.

    Returns
    -------
    values : array of float64, shape (N,)
        NaN for values that are missing or not a number.
    foreign : array of bool, shape (N,)
        Marks the values that are not numbers. In a column of text that has only
        numerals, all values are marked, because users should know that these are text.

    Examples
    --------
    >>> values, foreign = read_numbers(pd.Series(["1.5", "n/a", None]))
    >>> values.tolist(), foreign.tolist()
    ([1.5, nan, nan], [False, True, False])
    >>> read_numbers(pd.Series(["1.5", "2"]))[1].tolist()
    [True, True]
    """
    if column.dtype.kind in "biuf":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return values, np.zeros(len(column), dtype=bool)

    # as objects, because a text column cannot contain arbitrary bytes
    cells = column.astype(object)
    is_text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    is_blank = cells.map(lambda cell: str(cell).strip() == "")
    is_present = (cells.notna() & ~is_blank).to_numpy(dtype=bool)

    values = np.array([_as_number(cell) for cell in cells], dtype=np.float64)
    foreign = is_present & np.isnan(values)
    return values, foreign if foreign.any() else is_text & is_present


def _as_number(cell: Any) -> float:
    try:
        return float(cell) if np.isscalar(cell) else np.nan  # type: ignore[arg-type]
    except OverflowError:  # an integer of more than 308 digits
        return np.inf
    except (TypeError, ValueError):
        return np.nan


def check_column(
    column: pd.Series,
    rules: Iterable[ColumnRule],
    faults: Faults,
    if_missing: str = MISSING.remedy,
    if_foreign: str = "store the column as numbers",
) -> np.ndarray | None:
    """Return a column as numbers; add a fault unless all are finite and keep the rules.

    Parameters
    ----------
    column : Series, length N
    rules : iterable of ColumnRule
        Rules for the finite values.
    faults : Faults
        Receives one fault per broken rule, with the first row that breaks it.
    if_missing : str
        Remedy for values that are missing.
    if_foreign : str
        Remedy for values that are not numbers.

    Returns
    -------
    array of float64, shape (N,), or None if there is a fault

    Examples
    --------
    >>> faults = Faults("toy.csv")
    >>> check_column(pd.Series([1.0, 0.0], name="usd"), [COST], faults)
    >>> faults.entries[0].row, faults.entries[0].column
    (2, 'usd')
    """
    values, foreign = read_numbers(column)
    name = str(column.name)
    n_before = len(faults.entries)
    if foreign.any():
        first = column.iloc[int(foreign.argmax())]
        remedy = NESTED if isinstance(first, dict) else if_foreign
        kind = "text, not a number" if isinstance(first, str) else "not a number"
        faults.add(f"{first!r} is {kind}", remedy, name, foreign, code="not-a-number")

    missing = MISSING._replace(remedy=if_missing)
    for rule in (missing, FINITE, *rules):
        rows = ~foreign & rule.broken(values)
        if rule not in (missing, FINITE):
            rows &= np.isfinite(values)
        if rows.any():
            problem = rule.problem.format(value=float(values[rows.argmax()]))
            faults.add(problem, rule.remedy, name, rows, code=rule.code)

    return values if len(faults.entries) == n_before else None
