"""Columns of a table: measured values with their rules, conditions on rows, which rows are for profiling."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit.errors import Faults, raise_fault

#: Share of the instances that are for profiling by default: the paper's 200 of 1,000.
PROFILING_SHARE = 0.2

#: Least number of instances of an arm in either split: one gives a mean, two a spread.
MIN_INSTANCES = 2


def default_profiling(n_instances: int) -> int:
    """Return the number of profiling instances where nobody says: a fifth of them, and two at least.

    Examples
    --------
    >>> default_profiling(1000), default_profiling(4)
    (200, 2)
    """
    return max(2, round(PROFILING_SHARE * n_instances))


def profiling_mask(n_instances: int, n_profiling: int, seed: int) -> np.ndarray:
    """Choose the profiling instances: the first ``n_profiling`` of a permutation of the sorted ids.

    Parameters
    ----------
    n_instances, n_profiling : int
        Number of distinct instances in the whole table, and how many of them are for
        profiling.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    array of bool, shape (n_instances,)
        By position in the sorted list of instance ids.

    Examples
    --------
    >>> int(profiling_mask(10, 4, seed=0).sum())
    4
    """
    return _places(n_instances, seed) < n_profiling


def profiling_rows(
    arm: np.ndarray, instance: np.ndarray, n_profiling: int, seed: int
) -> np.ndarray:
    """Choose the profiling rows, so that either split holds some of every arm.

    An arm's profiling rows are the first of its rows in the one random order of the
    instances: as many as are on the profiling instances, and where that leaves fewer
    than `MIN_INSTANCES` in a split, as many more or less.  An arm that has not twice as
    many is left as it is, and so are all where the table has too few instances for so
    many of profiling: a mistake in the card, which is said.

    Parameters
    ----------
    arm, instance : ndarray of int, shape (N,)
        Of each row, from 0.
    n_profiling, seed : int
        As in `profiling_mask`.

    Returns
    -------
    array of bool, shape (N,)

    Examples
    --------
    >>> arm, instance = np.repeat([0, 1], [10, 4]), np.array([*range(10), 0, 3, 4, 9])
    >>> by_instance = profiling_mask(10, 2, seed=1)[instance]
    >>> by_arm = profiling_rows(arm, instance, 2, seed=1)
    >>> np.bincount(arm, by_instance), np.bincount(arm, by_arm)
    (array([2., 1.]), array([2., 2.]))
    """
    n_instances = instance.max() + 1
    place = _places(n_instances, seed)[instance]
    chosen = place < n_profiling
    if n_profiling > n_instances - MIN_INSTANCES:
        return chosen

    n_chosen, n = np.bincount(arm, chosen), np.bincount(arm)
    wanted = np.where(
        n < 2 * MIN_INSTANCES,
        n_chosen,
        np.clip(n_chosen, MIN_INSTANCES, n - MIN_INSTANCES),
    )
    rows = np.empty(len(arm), dtype=bool)
    rows[np.lexsort((place, arm))] = np.arange(len(arm)) < np.repeat(
        np.cumsum(n) - n + wanted, n
    )
    return rows


def _places(n_instances: int, seed: int) -> np.ndarray:
    """Place of each instance in the random order."""
    return np.argsort(np.random.default_rng(seed).permutation(n_instances))


class Rule(NamedTuple):
    """Values that a column may not have: which they are, the problem with ``{value}``, the remedy, a code."""

    broken: Callable[[np.ndarray], np.ndarray]
    problem: str
    remedy: str
    code: str = ""


_AGAIN = "give the measured value, or evaluate it again"
MISSING = Rule(np.isnan, "the value is missing", _AGAIN, "missing-value")
FINITE = Rule(np.isinf, "{value} is not finite", _AGAIN, "not-finite")
COST = Rule(
    lambda x: x <= 0,
    "the cost {value} is not positive",
    "give what the evaluation cost; for one that was free, set what it counts as:"
    " smallest_cost",
    "cost-not-positive",
)

#: Costs beyond these are no costs in any unit, and their squares and ratios overflow.
SMALLEST, LARGEST = 1e-30, 1e30

RANGE = Rule(
    lambda x: (x > LARGEST) | ((x > 0) & (x < SMALLEST)),
    f"the cost {{value}} is not between {SMALLEST:g} and {LARGEST:g}",
    "give the costs in another unit, or correct the value",
    "cost-too-extreme",
)

#: What to do with a column of nested values.
NESTED = "give each of its fields a column of its own, as pandas.json_normalize does"


def read_numbers(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Read a column as float64, and mark values that are not numbers.

    Parameters
    ----------
    column : Series, length N
        Booleans count as 0 and 1. Blank text counts as missing.

    Returns
    -------
    values : array of float64, shape (N,)
        NaN where the value is missing or not a number.
    foreign : array of bool, shape (N,)
        Marks the values that are not numbers. Where a text column holds nothing but
        numerals, all of them are marked: a reader that guessed would repair silently.

    Examples
    --------
    >>> values, foreign = read_numbers(pd.Series(["1.5", "n/a", None]))
    >>> values.tolist(), foreign.tolist()
    ([1.5, nan, nan], [False, True, False])
    >>> read_numbers(pd.Series(["1.5", "2"]))[1].tolist()
    [True, True]
    """
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(
            len(column), dtype=bool
        )
    cells = column.astype(object)
    text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    # bytes that are no text can be shown, but not be a text column
    is_present = (
        cells.notna() & cells.map(lambda cell: str(cell).strip() != "")
    ).to_numpy(dtype=bool)
    values = np.array([_as_number(cell) for cell in cells], dtype=np.float64)
    foreign = is_present & np.isnan(values)
    return values, foreign if foreign.any() else text & is_present


def _as_number(cell: Any) -> float:
    try:
        return float(cell) if np.isscalar(cell) else np.nan  # type: ignore[arg-type]
    except OverflowError:  # an integer of more than 308 digits
        return np.inf
    except (TypeError, ValueError):
        return np.nan


def check_column(
    column: pd.Series,
    rules: Iterable[Rule],
    faults: Faults,
    if_missing: str = MISSING.remedy,
    if_foreign: str = "store the column as numbers",
) -> np.ndarray | None:
    """Read a measured column and check that each value is there, a number, finite, and as the rules say.

    Parameters
    ----------
    column : Series, length N
    rules : iterable of Rule
        What finite values also have to satisfy.
    faults : Faults
        Takes one fault for each rule that is broken, with the first row that breaks it.
    if_missing : str
        What to do about values that are missing.
    if_foreign : str
        What to do about values that are no numbers.

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
    values, foreign = read_numbers(column)
    name = str(column.name)
    n_before = len(faults.found)
    if foreign.any():
        first = column.iloc[int(foreign.argmax())]
        remedy = NESTED if isinstance(first, dict) else if_foreign
        problem = f"{first!r} is text or another thing that is not a number"
        faults.add(problem, remedy, name, foreign, code="not-a-number")

    missing = MISSING._replace(remedy=if_missing)
    for rule in (missing, FINITE, *rules):
        rows = (
            ~foreign
            & rule.broken(values)
            & (np.isfinite(values) | (rule in (missing, FINITE)))
        )
        if rows.any():
            problem = rule.problem.format(value=float(values[rows.argmax()]))
            faults.add(problem, rule.remedy, name, rows, code=rule.code)

    return values if len(faults.found) == n_before else None


def evaluate_condition(frame: pd.DataFrame, query: str, place: str) -> np.ndarray:
    """Evaluate a condition for each row.

    Parameters
    ----------
    frame : DataFrame, N rows
    query : str
        A pandas expression over its columns.
    place : str
        What the condition is, for messages.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    TableError
        If the query does not parse, names an unknown column, or is not a condition.

    Examples
    --------
    >>> evaluate_condition(pd.DataFrame({"shots": [0, 5]}), "shots > 0", "--where").tolist()
    [False, True]
    """
    remedy = (
        f"write a condition on {', '.join(map(str, frame.columns))}, such as"
        " temperature > 0"
    )
    try:
        # empty scopes: a query sees the columns and none of our variables
        mask = frame.eval(query, engine="python", local_dict={}, global_dict={})
    except Exception as error:
        # pandas raises SyntaxError, TypeError, ValueError, KeyError, AttributeError and
        # more for bad text
        problem = f"it cannot be evaluated: {' '.join(str(error).split())}"
        raise_fault(place, problem, remedy, "bad-condition")

    if not (isinstance(mask, pd.Series) and pd.api.types.is_bool_dtype(mask)):
        raise_fault(
            place, "it is not true or false for each row", remedy, "bad-condition"
        )

    return mask.to_numpy(dtype=bool, na_value=False)
