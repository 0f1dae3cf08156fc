"""Records of evaluations, and a check of the measurements that evaluators return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.live.configurations import TABLE_COLUMNS
from cobandit.live.evaluators.base import Row
from cobandit.live.plan import Plan
from cobandit.tables.measured_columns import COST, ColumnRule
from cobandit.tables.transforms import TRANSFORMS

#: Key of the reason of a failure. The record of a failed evaluation has no
#: measurements.
FAILED_KEY = "failed"

#: Column that is 1 for free evaluations. They are charged the smallest cost so far.
COST_WAS_ZERO = "cost_was_zero"

#: An evaluation: number of the configuration, and position of the instance in the
#: order.
Key = tuple[int, int]

#: Measurements of an evaluation by column, or its cost and the reason of its failure.
EvaluationRecord = dict[str, Any]

#: Rows of earlier evaluations that are not repeated, by the names of configuration and
#: instance.
Reusable = Mapping[tuple[str, str], Row]


class EarlierResults(NamedTuple):
    """Results that a run made before its plan changed."""

    #: Rows of results, by configuration and position of the instance.
    rows: Mapping[Key, Row]
    #: Cost of failures, and of evaluations that cannot be reused.
    lost: float
    #: Costs of the rows on instances after the pilot.
    non_pilot_costs: Mapping[Key, float]


def check_row(
    plan: Plan, row: Mapping[str, Any], configuration: str, instance: str
) -> None:
    """Raise an error if a row lacks a column of the plan, or has an unusable value.

    Raises
    ------
    TableError
        With the code ``reserved-column``, ``missing-column`` or ``bad-value``.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> plan = check_plan({
    ...     "name": "toy", "instances": 30, "budget": 0.5, "unit": "share",
    ...     "configurations": {"grid": {"model": ["a", "b"]}}, "cost": "tokens",
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> check_row(plan, {"correct": 1.0, "tokens": 12.0}, "a", "7")
    >>> check_row(plan, {"correct": 80.0, "tokens": 12.0}, "a", "7")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 'a' on instance '7': it returned 80.0 as 'correct': \
the objective 80.0 is outside [0, 1] -> correct the evaluator, or name another \
column or transform in the plan
    """
    place = f"{configuration!r} on instance {instance!r}"
    reserved = [
        column for column in row if column in plan.settings or column in TABLE_COLUMNS
    ]
    if reserved:
        problem = (
            f"the evaluator returned {reserved[0]!r}, which is reserved for a setting"
            " or for a column of every table"
        )
        remedy = "rename this column in the evaluator"
        raise_fault(place, problem, remedy, "reserved-column")

    rules: list[tuple[str, ColumnRule | None]] = [(plan.cost.column, COST)]
    rules += [
        (objective.column, TRANSFORMS[objective.transform].rule)
        for objective in plan.objectives
    ]
    for column, rule in rules:
        if column not in row:
            problem = (
                f"it did not return {column!r}, only {', '.join(row) or 'nothing'}"
            )
            otherwise = (
                "return it from the evaluator, or name another column in the plan"
            )
            remedy = suggest(column, row, otherwise)
            raise_fault(place, problem, remedy, "missing-column")
        if rule is not None and rule.broken(np.array([row[column]])).any():
            reason = rule.problem.format(value=float(row[column]))
            problem = f"it returned {row[column]!r} as {column!r}: {reason}"
            remedy = (
                "correct the evaluator, or name another column or transform in the plan"
            )
            raise_fault(place, problem, remedy, "bad-value")


def name_row(order: Sequence[str], place: int) -> str:
    """Return the name of the instance at a position in a repeated order.

    The names of repeated instances end with the number of the repetition.

    Examples
    --------
    >>> name_row(["a", "b"], 1), name_row(["a", "b"], 3)
    ('b', 'b (2)')
    """
    rounds, instance = divmod(place, len(order))
    return order[instance] if rounds == 0 else f"{order[instance]} ({rounds + 1})"
