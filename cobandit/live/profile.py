"""Costs, limits and budget of a run, computed from its pilot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cobandit.errors import TableError, raise_fault
from cobandit.live.plan_fields import SHARE_UNIT
from cobandit.live.records import FAILED_KEY, EvaluationRecord, Key, check_row
from cobandit.tables.card import Objective
from cobandit.tables.transforms import TRANSFORMS

if TYPE_CHECKING:
    from cobandit.live.stages import RunStage


class Profile(NamedTuple):
    """Costs, limits and budget of a run, computed from the records of its pilot."""

    #: Mean cost of an evaluation of each configuration, length K.
    costs: list[float]
    #: Smallest and largest cost of a single evaluation in the pilot.
    cost_range: tuple[float, float]
    #: By objective: the value of its column that scores 1, and the value that scores 0.
    limits: dict[str, tuple[float, float]]
    #: Cost of the pilot, including failures.
    spent: float
    #: Budget of the run including the pilot, in the unit of the cost; None without a
    #: budget. A share is multiplied by the cost of evaluating everything, which is
    #: estimated from the pilot's mean costs.
    budget: float | None
    #: Records of the evaluations, by configuration and position of the instance.
    results: Mapping[Key, dict[str, Any]]


def profile_of(pilot: RunStage) -> Profile:
    """Compute costs and limits from a pilot, as from the profiling split of a table.

    Raises
    ------
    TableError
        If no evaluation has succeeded; if all evaluations of a configuration have
        failed and the plan leaves out failures; if a record lacks a column of the
        current plan; or if the values of an objective determine no scale.
    """
    plan = pilot.plan
    results = pilot.results
    scored = {
        key: record for key, record in results.items() if FAILED_KEY not in record
    }
    for key, record in scored.items():
        # the plan may have changed since these evaluations
        check_row(plan, record, *pilot.name_record(key))
    _check_answers(pilot, scored)

    column = plan.cost.column
    costs = np.array([results[key][column] for key in sorted(results)]).reshape(
        len(plan.names), -1
    )
    means = costs.mean(axis=1).tolist()
    budget = plan.budget
    if budget is not None and plan.unit == SHARE_UNIT:
        budget = budget * len(plan.order) * sum(means)
    return Profile(
        costs=means,
        cost_range=(float(costs.min()), float(costs.max())),
        limits={
            objective.name: _find_limits(objective, scored)
            for objective in plan.objectives
        },
        spent=pilot.spent,
        budget=budget,
        results=results,
    )


def _check_answers(pilot: RunStage, scored: Mapping[Key, EvaluationRecord]) -> None:
    """Raise if all evaluations failed, or all of one arm if failures are left out."""
    plan = pilot.plan
    answered = {arm for arm, _ in scored}
    silent = [arm for arm in range(len(plan.names)) if arm not in answered]
    if silent and (not scored or plan.failures == "leave-out"):
        name = plan.names[silent[0]]
        reason = pilot.results[silent[0], 0][FAILED_KEY]
        problem = (
            f"this configuration failed on every instance of the pilot ({reason}), so"
            " that configurations cannot be compared"
        )
        remedy = (
            "correct or remove the configuration, and start in another folder; or"
            " use failures: zero if other configurations answered"
        )
        raise_fault(repr(name), problem, remedy, "no-answers")


def _find_limits(
    objective: Objective, scored: Mapping[Key, EvaluationRecord]
) -> tuple[float, float]:
    """Return the value of an objective that scores 1, and the value that scores 0."""
    transform = TRANSFORMS[objective.transform]
    values = np.array([record[objective.column] for record in scored.values()])
    limits = objective.limits or transform.fit(values, objective.low, objective.high)
    try:
        transform.apply(values, *limits)
    except TableError as error:
        problem = f"{error.faults[0].problem} in the pilot"
        remedy = (
            "give the objective's limits, leave the objective out, or use a larger"
            " pilot in another folder"
        )
        raise_fault(f"objective {objective.name!r}", problem, remedy, "no-scale")
    return limits
