"""Records of evaluations: their keys, and a check that a plan can use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cobandit._text import suggest
from cobandit.errors import CobanditError
from cobandit.live.configurations import TABLE_COLUMNS
from cobandit.live.evaluators.base import Row
from cobandit.live.plan import Plan
from cobandit.tables.columns import COST
from cobandit.tables.transforms import TRANSFORMS

#: Key of a record that has no measurements, and why.
FAILED = "failed"


#: Column that is 1 where an evaluation cost nothing, and is charged the smallest cost so far.
COST_WAS_ZERO = "cost_was_zero"


#: An evaluation: number of the configuration, and its number among the evaluations of that.
Key = tuple[int, int]


#: Rows by name of the configuration and instance.
Made = Mapping[tuple[str, str], Row]


class EarlierResults(NamedTuple):
    """What a run evaluated before its plan changed.

    Rows by evaluation, what its failures cost, and what was paid for evaluations that are not the pilot's.
    """

    rows: Mapping[Key, Row]
    lost: float
    besides: Mapping[Key, float]


def check_row(plan: Plan, row: Mapping[str, Any], configuration: str, instance: str) -> None:
    """Refuse what an evaluator gave if the plan's columns are not all there, or something cannot be used.

    Raises
    ------
    CobanditError
        With the configuration, the instance, the column and what to do.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> plan = check_plan({
    ...     "name": "toy", "configurations": {"grid": {"model": ["a", "b"]}}, "instances": 30,
    ...     "budget": 0.5, "unit": "share", "cost": {"column": "tokens", "unit": "tokens"},
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> check_row(plan, {"correct": 1.0, "tokens": 12.0}, "a", "7")
    >>> check_row(plan, {"correct": 80.0, "tokens": 12.0}, "a", "7")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: 'a' on instance '7' gave 80.0 as 'correct': the objective 80.0 is outside \
[0, 1]; correct the evaluator, or name another column or transform in the plan
    """
    said = f"{configuration!r} on instance {instance!r} gave"
    if taken := [column for column in row if column in plan.settings or column in TABLE_COLUMNS]:
        which = "a setting or a column of every table"
        raise CobanditError(f"{said} {taken[0]!r}, which is {which}: let the evaluator call it otherwise")
    rules = [(each.column, TRANSFORMS[each.transform].rule) for each in plan.objectives]
    for column, rule in [(plan.cost.column, COST), *rules]:
        if column not in row:
            remedy = suggest(column, row, "let the evaluator give it, or name another column in the plan")
            raise CobanditError(f"{said} no {column!r}, only {', '.join(row) or 'nothing'}: {remedy}")
        if rule is not None and rule.broken(np.array([row[column]])).any():
            problem = rule.problem.format(value=float(row[column]))
            raise CobanditError(
                f"{said} {row[column]!r} as {column!r}: {problem}; correct the evaluator, or name another "
                "column or transform in the plan"
            )


def name_row(order: Sequence[str], place: int) -> str:
    """Name an instance by its place in an order that begins again at its end.

    Examples
    --------
    >>> name_row(["a", "b"], 1), name_row(["a", "b"], 3)
    ('b', 'b (2)')
    """
    round_, instance = divmod(place, len(order))
    return order[instance] + (f" ({round_ + 1})" if round_ else "")
