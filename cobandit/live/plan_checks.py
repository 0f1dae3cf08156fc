"""Checks that the fields of a plan are consistent with each other."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from cobandit._text import suggest
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.configurations import TABLE_COLUMNS
from cobandit.live.plan_fields import RACE, SHARE_UNIT

if TYPE_CHECKING:
    from cobandit.live.plan import Plan

#: Stand-in for a missing largest cost in checks. It is larger than any ``min_cost``
#: among the options of a method.
SOME_COST = 1e9

#: Stand-in for a missing budget in checks, as a multiple of the cost of evaluating
#: every configuration once.
SOME_ROUNDS = 1e6


def check_together(plan: Plan) -> None:
    """Check that the fields of a plan are consistent with each other.

    Raises
    ------
    TableError
        With one fault, whose code identifies the check.
    """
    check_unique_columns(plan)
    check_end(plan)
    check_cluster(plan)
    check_budget_unit(plan)
    check_pilot_size(plan)
    check_repeats(plan)
    check_certified(plan)
    check_largest_cost(plan)
    check_options(plan)


def check_unique_columns(plan: Plan) -> None:
    """Raise an error if the plan's table would have two columns of the same name."""
    cluster = plan.instances.cluster
    columns = [
        *plan.settings,
        *TABLE_COLUMNS,
        *plan.measured,
        *([] if cluster is None else [cluster]),
    ]
    twice = [name for name, number in Counter(columns).items() if number > 1]
    if twice:
        kinds = (
            f"settings, measured columns, the cluster, and {', '.join(TABLE_COLUMNS)}"
        )
        problem = (
            f"two columns of the table have the name {twice[0]!r} (its columns are"
            f" {kinds})"
        )
        raise_fault(None, problem, "rename one of these columns", "equal-columns")


def check_end(plan: Plan) -> None:
    """Raise an error if nothing in the plan would ever end the run."""
    method = plan.method.name
    stops_by_itself = plan.stop is not None and method == RACE
    if stops_by_itself or (plan.budget is not None and plan.stop is None):
        return
    remedy = (
        f"give a budget with its unit; for {RACE} alternatively stop: {{tolerance:"
        " 0.02, error: 0.05}"
    )
    raise_fault(None, f"{method} would never end with this plan", remedy, "no-end")


def check_cluster(plan: Plan) -> None:
    """Raise an error if clusters are given to a method that does not use them."""
    method = plan.method.name
    if plan.instances.cluster is not None and method != RACE:
        problem = f"{method} cannot use clusters of instances"
        remedy = f"leave out cluster, or use {RACE}"
        raise_fault(None, problem, remedy, "cluster-method")


def check_budget_unit(plan: Plan) -> None:
    """Raise an error if the budget has another unit than the cost, or is too large."""
    if plan.budget is None:
        return
    if plan.unit not in (SHARE_UNIT, plan.cost.unit):
        problem = f"the budget's unit {plan.unit!r} differs from the unit of the cost"
        remedy = f"write {SHARE_UNIT}, or {plan.cost.unit}"
        raise_fault(None, problem, remedy, "budget-unit")
    if plan.unit == SHARE_UNIT and plan.budget > 1:
        problem = (
            f"a share of {plan.budget:g} is above the cost of evaluating everything"
        )
        remedy = f"give a share up to 1, or an amount with unit: {plan.cost.unit}"
        raise_fault(None, problem, remedy, "budget-share")


def check_pilot_size(plan: Plan) -> None:
    """Raise an error if the pilot exceeds the plan's instances or its budget."""
    n_instances = len(plan.order)
    share = plan.budget if plan.budget is not None and plan.unit == SHARE_UNIT else 1.0
    room = n_instances * min(1.0, share)
    if plan.pilot > room:
        problem = (
            f"the pilot has {plan.pilot} instances, but the plan has {n_instances}, and"
            f" its budget is enough for {room:.3g}"
        )
        remedy = "make the pilot smaller, or the budget larger"
        raise_fault(None, problem, remedy, "pilot-size")


def check_repeats(plan: Plan) -> None:
    """Raise an error if the method cannot reuse or leave out results as planned."""
    method = plan.method.name
    leaves_out = plan.failures == "leave-out"
    if (leaves_out or plan.reuse is not None) and not plan.is_once:
        problem = (
            f"{method} may evaluate an instance repeatedly, so evaluations cannot be"
            " reused or left out"
        )
        remedy = (
            "reuse no table and write failures: zero, or use a method that evaluates"
            " each instance at most once, such as CoPSIOnce"
        )
        raise_fault(None, problem, remedy, "repeated-instances")

    if leaves_out and plan.method.options.get("confidence") is not None:
        problem = f"{method} with a confidence cannot leave out instances"
        remedy = "write failures: zero, or leave out the option confidence"
        raise_fault(None, problem, remedy, "confidence-leave-out")


def check_certified(plan: Plan) -> None:
    """Raise an error if the proof for certified runs does not apply to the plan."""
    options = plan.strategy.given
    if not options.get("certified"):
        return

    if options.get("front") != "objectives":
        problem = (
            "a certified race that compares costs needs declared costs, but a pilot"
            " only measures them"
        )
        remedy = "write stop: {front: objectives, ...}, or leave out certified"
        raise_fault(None, problem, remedy, "certified-costs")

    if plan.failures == "leave-out":
        problem = "a certified race cannot leave out instances"
        remedy = "write failures: zero, or leave out certified"
        raise_fault(None, problem, remedy, "certified-leave-out")

    if plan.ordered:
        problem = "a certified race needs the instances in a random order"
        raise_fault(
            None,
            problem,
            "leave out 'ordered', or leave out 'certified'",
            "certified-order",
        )


def check_largest_cost(plan: Plan) -> None:
    """Check that the largest costs are positive numbers, one per configuration."""
    try:
        are_positive = all(0 < cost < inf for cost in plan.largest_costs or [])
    except (KeyError, TypeError, ValueError):
        are_positive = False

    if not are_positive:
        problem = (
            f"largest_cost is {plan.largest_cost!r}, which does not give each"
            " configuration a positive number"
        )
        otherwise = "give a number, or the name of a setting whose values are numbers"
        remedy = suggest(str(plan.largest_cost), plan.settings, otherwise)
        raise_fault(None, problem, remedy, "largest-cost")


def check_options(plan: Plan) -> None:
    """Raise an error if no policy of the method can be made with the options."""
    costs = plan.largest_costs or [SOME_COST] * len(plan.names)
    cost_range = (min(costs), max(costs))
    try:
        plan.make_policy(costs, cost_range, budget=SOME_ROUNDS * sum(costs))
    except CobanditError as error:
        problem = f"{plan.method.name}: {error}"
        raise_fault(None, problem, "correct the method's options", "method-options")
