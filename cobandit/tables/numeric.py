"""Measured columns as numbers, and the rules that hold row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cobandit.faults import Fault
from cobandit.tables.card import Card


@dataclass(frozen=True)
class Rule:
    """What every value of a column has to satisfy; ``name`` is the key under which pandera reports it."""

    name: str
    test: Any
    problem: str
    remedy: str


FINITE = Rule("finite", np.isfinite, "{value} is not finite", "give the measured value or drop the row")
COST = Rule(
    "positive cost",
    lambda x: (x > 0) | np.isinf(x),
    "the cost {value} is not positive",
    "give what the evaluation cost, or drop the row; an evaluation that is free needs no budget",
)
LATENCY = Rule(
    "positive latency",
    lambda x: (x > 0) | np.isinf(x),
    "the latency {value} is not positive, so it has no inverse",
    "give the measured latency or drop the row",
)
UNIT = Rule(
    "unit interval",
    lambda x: x.between(0, 1) | np.isinf(x),
    "the objective {value} is outside [0, 1]",
    "rescale the column, or give the objective a transform in the card",
)
MISSING = Rule("not_nullable", None, "the value is missing", "give the measured value or drop the row")


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
    kind = column.dtype
    if pd.api.types.is_bool_dtype(kind) or (
        pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)
    ):
        return column.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(len(column), dtype=bool)
    cells = column.astype(object)
    text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(dtype=bool)
    blank = cells.map(lambda cell: isinstance(cell, str) and not cell.strip()).to_numpy(dtype=bool)
    known = ~cells.isna().to_numpy(dtype=bool) & ~blank
    plain = cells.where(cells.map(lambda cell: isinstance(cell, (str, bool)) or hasattr(cell, "__float__")))
    values = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64)
    foreign = known & np.isnan(values)
    return values, foreign if foreign.any() else text & known


def check_numbers(frame: pd.DataFrame, card: Card, source: str) -> tuple[dict[str, np.ndarray], list[Fault]]:
    """Read the measured columns that are present and check each value by itself.

    Parameters
    ----------
    frame : DataFrame with a default index, N rows
    card : Card
    source : str
        What to call the frame in messages.

    Returns
    -------
    numbers : dict of str to array of float64, shape (N,)
        The columns that have no fault.
    faults : list of Fault

    Examples
    --------
    >>> card = Card(
    ...     name="toy", title="Toy", source="-", license="-", kind="synthetic", records="toy.csv",
    ...     cost={"column": "usd", "unit": "USD"}, objectives=[{"name": "accuracy", "column": "ok"}],
    ...     split={"profiling": 2},
    ... )
    >>> frame = pd.DataFrame({"usd": [1.0, 0.0], "ok": [True, False]})
    >>> numbers, faults = check_numbers(frame, card, "toy.csv")
    >>> sorted(numbers), faults[0].row, faults[0].column
    (['ok'], 2, 'usd')
    """
    # pandera takes most of a second to import: only what validates pays for it
    import pandera.pandas as pa

    rules: dict[str, list[Rule]] = {card.cost.column: [COST]}
    for objective in card.objectives:
        rule = {"none": [UNIT], "inverse-percentile": [LATENCY]}.get(objective.transform, [])
        rules.setdefault(objective.column, []).extend(rule)
    rules = {column: [FINITE, *rule] for column, rule in rules.items() if column in frame}

    faults = []
    numbers = {}
    foreign = {}
    for column in rules:
        numbers[column], foreign[column] = as_numbers(frame[column])
        if foreign[column].any():
            faults.append(_foreign(frame[column], foreign[column], source))
    schema = pa.DataFrameSchema(
        {
            column: pa.Column(
                float, [pa.Check(rule.test, name=rule.name) for rule in column_rules], nullable=False
            )
            for column, column_rules in rules.items()
        }
    )
    try:
        schema.validate(pd.DataFrame(numbers), lazy=True)
    except pa.errors.SchemaErrors as error:
        # a value that is no number reads as missing here and has been reported above
        cases = error.failure_cases
        cases = cases[[not foreign[c][int(i)] for c, i in zip(cases["column"], cases["index"], strict=True)]]
        by_name = {rule.name: rule for column_rules in rules.values() for rule in column_rules} | {
            MISSING.name: MISSING
        }
        for (column, check), group in cases.groupby(["column", "check"], sort=False):
            first = group.loc[group["index"].astype(int).idxmin()]
            broken, row = by_name[check], int(first["index"])
            problem = broken.problem.format(value=float(numbers[column][row]))
            faults.append(Fault(source, problem, broken.remedy, row + 1, column, len(group) - 1))
    faulty = {fault.column for fault in faults}
    return {column: values for column, values in numbers.items() if column not in faulty}, faults


def _foreign(column: pd.Series, foreign: np.ndarray, source: str) -> Fault:
    row = int(np.argmax(foreign))
    return Fault(
        source,
        f"{column.iloc[row]!r} is text or another thing that is not a number",
        "store the column as numbers, and leave out rows without a value",
        row + 1,
        str(column.name),
        int(foreign.sum()) - 1,
    )
