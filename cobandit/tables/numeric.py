"""Measured columns as numbers, checked value by value."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit.faults import Faults


class Terms(NamedTuple):
    """What the settings that mend a fault are called by whoever gave them: a card, options, arguments.

    ``profiling`` is the number of profiling instances, ``transform`` how an objective gets a transform,
    ``free`` what to do about a cost of zero, ``column`` how another column is taken, and ``constant`` what
    else there is to do about a column that is constant.
    """

    profiling: str = "the card's split.profiling"
    transform: str = "a transform in the card"
    free: str = "one that was free needs a smallest cost, as cobandit import gives it"
    column: str = "name another column in the card"
    constant: str = ""


CARD = Terms()


class Rule(NamedTuple):
    """What values of a column may not be: which are refused, what is wrong with one, and what to do.

    ``problem`` may have the ``{value}``, ``remedy`` the `Terms`.
    """

    broken: Callable[[np.ndarray], np.ndarray]
    problem: str
    remedy: str


MISSING = Rule(np.isnan, "the value is missing", "give the measured value, or evaluate it again")
FINITE = Rule(np.isinf, "{value} is not finite", "give the measured value, or evaluate it again")
COST = Rule(
    lambda x: x <= 0,
    "the cost {value} is not positive",
    "give what the evaluation cost; {free}",
)

SMALLEST, LARGEST = 1e-30, 1e30
"""Costs beyond these are no costs in any unit, and their squares and ratios overflow."""

RANGE = Rule(
    lambda x: (x > LARGEST) | ((x > 0) & (x < SMALLEST)),
    f"the cost {{value}} is not between {SMALLEST:g} and {LARGEST:g}",
    "give the costs in another unit, or correct the value",
)

NESTED = "give each of its fields a column of its own, as pandas.json_normalize does"
"""What to do with a column of nested values."""


def as_numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Read a column as float64, and mark what is not a number but text or the like.

    Parameters
    ----------
    column : Series, length N
        Booleans count as 0 and 1. Blank text counts as missing.

    Returns
    -------
    values : array of float64, shape (N,)
        NaN where the value is missing or not a number.
    foreign : array of bool, shape (N,)
        Marks the values that are not numbers. Where a text column holds nothing but numerals, all of them
        are marked: a reader that guessed would repair silently.

    Examples
    --------
    >>> values, foreign = as_numbers(pd.Series(["1.5", "n/a", None]))
    >>> values.tolist(), foreign.tolist()
    ([1.5, nan, nan], [False, True, False])
    >>> as_numbers(pd.Series(["1.5", "2"]))[1].tolist()
    [True, True]
    """
    types = pd.api.types
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):  # booleans too
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
    cells = column.astype(object)
    text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    blank = cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).to_numpy(dtype=bool)
    known = ~cells.isna().to_numpy(dtype=bool) & ~blank
    plain = cells.where(cells.map(lambda cell: isinstance(cell, (str, bool)) or hasattr(cell, "__float__")))
    plain = plain.mask(
        cells.map(lambda cell: isinstance(cell, int) and abs(cell) > sys.float_info.max), np.inf
    )
    values = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64)
    foreign = known & np.isnan(values)
    return values, foreign if foreign.any() else text & known


def check_column(
    column: pd.Series, rules: Iterable[Rule], faults: Faults, terms: Terms = CARD
) -> np.ndarray | None:
    """Read a measured column and check that each value is there, a number, finite, and as the rules say.

    Parameters
    ----------
    column : Series, length N
    rules : iterable of Rule
        What finite values also have to satisfy.
    faults : Faults
        Takes one fault for each rule that is broken, with the first row that breaks it.
    terms : Terms
        For the remedies.

    Returns
    -------
    array of float64, shape (N,), or None if there is a fault

    Examples
    --------
    >>> faults = Faults("toy.csv")
    >>> check_column(pd.Series([1.0, 0.0], name="usd"), [COST], faults)
    >>> faults.found[0].row, faults.found[0].column
    (2, 'usd')
    """
    values, foreign = as_numbers(column)
    name, before = str(column.name), len(faults.found)
    if foreign.any():
        first = column.iloc[int(foreign.argmax())]
        remedy = NESTED if isinstance(first, dict) else "store the column as numbers"
        faults.add(f"{first!r} is text or another thing that is not a number", remedy, name, foreign)
    broken = {rule: ~foreign & rule.broken(values) for rule in (MISSING, FINITE)}
    broken |= {rule: ~foreign & np.isfinite(values) & rule.broken(values) for rule in rules}
    for rule, rows in broken.items():
        if rows.any():
            problem = rule.problem.format(value=float(values[rows.argmax()]))
            faults.add(problem, rule.remedy.format(**terms._asdict()), name, rows)
    return values if len(faults.found) == before else None
