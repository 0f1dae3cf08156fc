"""Costs, limits and budget of a run, as its pilot found them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cobandit.errors import CobanditError, TableError
from cobandit.live.plan_fields import SHARE_UNIT
from cobandit.live.records import FAILED, Key, check_row
from cobandit.tables.transforms import TRANSFORMS

if TYPE_CHECKING:
    from cobandit.live.stages import Stage


class Profile(NamedTuple):
    """What a pilot says.

    Attributes
    ----------
    costs : list of float, length K
        Mean cost of one evaluation of each configuration.
    cost_range : (float, float)
        Smallest and largest cost of one evaluation.
    limits : dict of str to (float, float)
        For each objective, the values of its column that score 1 and 0.
    spent : float
        What the pilot cost, with what was tried in vain.
    budget : float or None
        That of the whole run, pilot included, in the unit of the cost; None for none.  A share is one of what
        evaluating everything costs, by the means of the pilot.
    results : dict of (int, int) to dict
        The record of each evaluation, by number of the configuration and place in the order.
    """

    costs: list[float]
    cost_range: tuple[float, float]
    limits: dict[str, tuple[float, float]]
    spent: float
    budget: float | None
    results: Mapping[Key, dict[str, Any]]


def profile_of(pilot: Stage) -> Profile:
    """Take costs and limits from the records of a pilot, as a card's profiling split is taken.

    Raises
    ------
    CobanditError
        If a configuration gave no score at all where failures are left out, if none did, if a record lacks a
        column that the plan now names, or if no scale can be made.
    """
    plan, results = pilot.plan, pilot.results
    scored = {key: record for key, record in results.items() if FAILED not in record}
    for key, record in scored.items():
        check_row(plan, record, *pilot.which(key))  # the plan may have changed since
    hopeless = [arm for arm in range(len(plan.names)) if arm not in {of for of, _ in scored}]
    if hopeless and (not scored or plan.failures == "leave-out"):
        raise CobanditError(
            f"{plan.names[hopeless[0]]!r} failed on every instance of the pilot "
            f"({results[hopeless[0], 0][FAILED]}), so that nothing would be left: mend it, or leave it out, "
            "and start in another folder; or take failures: zero if others were answered"
        )
    costs = np.array([results[key][plan.cost.column] for key in sorted(results)]).reshape(len(plan.names), -1)
    limits = {}
    for objective in plan.objectives:
        transform = TRANSFORMS[objective.transform]
        values = np.array([record[objective.column] for record in scored.values()])
        fitted = objective.limits or transform.fit(values, objective.low, objective.high)
        limits[objective.name] = fitted
        try:
            transform.apply(values, *fitted)
        except TableError as error:
            remedy = "give its limits, or leave it out, or take a larger pilot in another folder"
            raise CobanditError(f"objective {objective.name!r}: {error} in the pilot: {remedy}") from None
    means, cost_range = costs.mean(axis=1).tolist(), (float(costs.min()), float(costs.max()))
    budget = plan.budget
    if budget is not None and plan.unit == SHARE_UNIT:
        budget = budget * len(plan.order) * sum(means)
    return Profile(means, cost_range, limits, pilot.spent, budget, results)
