"""From what an evaluation measured to the reward and the cost that a policy is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cobandit.errors import CobanditError
from cobandit.faults import nearest
from cobandit.live.configurations import RESERVED
from cobandit.live.plan import Plan
from cobandit.tables.numeric import COST, Rule
from cobandit.tables.transforms import TRANSFORMS


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
    rules: dict[str, list[Rule]] = {plan.cost.column: [COST]}
    for objective in plan.objectives:
        rule = TRANSFORMS[objective.transform].rule
        rules.setdefault(objective.column, []).extend([rule] if rule else [])
    said = f"{configuration!r} on instance {instance!r} gave"
    for column in row:
        if column in plan.settings or column in RESERVED:
            whose = "a setting" if column in plan.settings else "a column of every table"
            raise CobanditError(
                f"{said} {column!r}, which is {whose}: let the evaluator leave it out, or call it otherwise"
            )
    for column, each in rules.items():
        if column not in row:
            hint = nearest(column, row)
            raise CobanditError(
                f"{said} no {column!r}, only {', '.join(row) or 'nothing'}: {hint}let the evaluator give it, "
                "or name another column in the plan"
            )
        value = row[column]
        if column == plan.cost.column and value == 0:
            raise CobanditError(
                f"{said} 0 as {column!r}, and a method needs costs above zero: take as the cost what is "
                "used although it is free, such as cost: {column: tokens, unit: tokens} (here there are "
                f"{', '.join(row)}; a run that has results keeps its cost, so take another folder then)"
            )
        for rule in each:
            if rule.broken(np.array([value])).any():
                problem = rule.problem.format(value=float(value))
                raise CobanditError(
                    f"{said} {value!r} as {column!r}: {problem}; correct the evaluator, or name another "
                    "column or transform in the plan"
                )


def rewards(plan: Plan, limits: Mapping[str, tuple[float, float]], row: Mapping[str, Any]) -> list[float]:
    """Score a checked row: each objective in [0, 1], by the limits of its transform.

    Parameters
    ----------
    limits : mapping of str to (float, float)
        For each objective, the values of its column that score 1 and 0.

    Returns
    -------
    list of float, length D
    """
    scored = [
        TRANSFORMS[objective.transform].apply(np.array([row[objective.column]]), *limits[objective.name])
        for objective in plan.objectives
    ]
    return [float(values[0]) for values in scored]


def worst(plan: Plan, limits: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Give the columns that score zero, for an evaluation that failed."""
    return {objective.column: limits[objective.name][1] for objective in plan.objectives}
