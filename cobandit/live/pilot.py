"""The pilot: a few instances of every configuration, for what evaluations cost and how they score."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.faults import TableError, suggest
from cobandit.live.configurations import RESERVED
from cobandit.live.plan import Plan
from cobandit.policies.asktell import AskTell
from cobandit.tables.columns import COST
from cobandit.tables.transforms import TRANSFORMS

FAILED = "failed"
"""Key of a record that has no measurements, and why."""


class Pilot(AskTell):
    """Every configuration on the first instances of the order, configuration by configuration in turn.

    Its one objective is whether an evaluation gave a score.  It sets aside what an evaluation may cost: the
    largest cost, or if that is not known the largest so far.  Its budget is set once it is made, so that it
    can go on with a larger one.

    Parameters
    ----------
    n_arms : int
        K.
    n_instances : int
        How many of the instances.
    largest_costs : sequence of float, optional
        Largest cost of a single evaluation of each configuration, where known.

    Examples
    --------
    >>> pilot = Pilot(2, 2)
    >>> [pilot.ask() for _ in range(5)]
    [0, 1, 0, 1, None]
    >>> pilot.finished
    False
    """

    def __init__(self, n_arms: int, n_instances: int, *, largest_costs: Sequence[float] | None = None):
        super().__init__(n_arms, 1, sys.float_info.max)
        self.n_instances = _check.count(n_instances, "n_instances", 1)
        self.largest_costs = largest_costs
        # where nothing is known, nothing to speak of: the ratio to it of what is told makes up for it
        self._largest = np.full(n_arms, 1e-12) if largest_costs is None else np.array(largest_costs)

    @property
    def finished(self) -> bool:
        """Whether every evaluation was told."""
        return bool((self.pulls == self.n_instances).all())

    @property
    def stuck(self) -> bool:
        """Whether nothing is in flight and the budget does not hold what comes next; a larger one may."""
        return not self.finished and super().finished

    def _choose(self) -> int | None:
        turns = self._numbers.copy()
        for arm, _ in self._failed:
            turns[arm] = -1
        arm = int(turns.argmin())
        room = self._committed + self._set_aside[arm] <= _check.add_slack(self.budget)
        return arm if turns[arm] < self.n_instances and room else None

    def _doubt(self, arm: int, cost: float) -> str:
        return ""


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
    n_instances : int
        Instances of the pilot.
    spent : float
        What the pilot cost, with what was tried in vain.
    results : dict of (int, int) to dict
        The record of each evaluation, by number of the configuration and place in the order.
    """

    costs: list[float]
    cost_range: tuple[float, float]
    limits: dict[str, tuple[float, float]]
    n_instances: int
    spent: float
    results: Mapping[tuple[int, int], dict[str, Any]]


def profile_of(plan: Plan, pilot: Pilot, results: Mapping[tuple[int, int], dict[str, Any]]) -> Profile:
    """Take costs and limits from the records of a pilot, as a card's profiling split is taken.

    Raises
    ------
    CobanditError
        If a configuration gave no score at all where failures are left out, if none did, if a record lacks a
        column that the plan now names, or if no scale can be made.
    """
    scored = {key: record for key, record in results.items() if FAILED not in record}
    for (arm, number), record in scored.items():
        check_row(plan, record, plan.names[arm], plan.order[number])  # the plan may have changed since
    hopeless = [arm for arm in range(pilot.n_arms) if arm not in {of for of, _ in scored}]
    if hopeless and (not scored or plan.failures == "leave-out"):
        raise CobanditError(
            f"{plan.names[hopeless[0]]!r} failed on every instance of the pilot "
            f"({results[hopeless[0], 0][FAILED]}), so that nothing would be left: mend it, or leave it out, "
            "and start in another folder; or take failures: zero if others were answered"
        )
    costs = np.array(
        [
            [results[arm, number][plan.cost.column] for number in range(pilot.n_instances)]
            for arm in range(pilot.n_arms)
        ]
    )
    limits = {}
    for objective in plan.objectives:
        transform = TRANSFORMS[objective.transform]
        values = np.array([record[objective.column] for record in scored.values()])
        limits[objective.name] = fitted = objective.limits or transform.fit(
            values, objective.low, objective.high
        )
        try:
            transform.apply(values, *fitted)
        except TableError as error:
            raise CobanditError(
                f"objective {objective.name!r}: {error} in the pilot of {len(scored)} evaluations: give the "
                "objective's limits, or leave it out, and run the plan again; or take a larger pilot, in "
                "another folder"
            ) from None
    cost_range = float(costs.min()), float(costs.max())
    return Profile(costs.mean(axis=1).tolist(), cost_range, limits, pilot.n_instances, pilot.spent, results)


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
    if taken := [column for column in row if column in plan.settings or column in RESERVED]:
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
