"""What the fields of a plan have to be together, a check each."""

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

#: A largest cost for checks where none is given: above any smallest cost.
SOME_COST = 1e9

#: A budget for checks, in costs of one evaluation of each configuration.
SOME_ROUNDS = 1e6


def check_together(plan: Plan) -> None:
    """Check the fields of a plan against each other.

    Raises
    ------
    TableError
        With one fault, whose code names what was checked.
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
    """Refuse a table with two columns of one name."""
    cluster = plan.instances.cluster
    columns = [
        *plan.settings,
        *TABLE_COLUMNS,
        *plan.measured,
        *([] if cluster is None else [cluster]),
    ]
    twice = [name for name, number in Counter(columns).items() if number > 1]
    if twice:
        others = (
            "settings, what is measured, a cluster, and always"
            f" {', '.join(TABLE_COLUMNS)}"
        )
        problem = f"two columns of the table are {twice[0]!r} ({others})"
        raise_fault(None, problem, "rename one of them", "equal-columns")


def check_end(plan: Plan) -> None:
    """Refuse a run that could go on for ever."""
    method = plan.method.name
    stops_by_itself = plan.stop is not None and method == RACE
    if stops_by_itself or (plan.budget is not None and plan.stop is None):
        return
    remedy = (
        f"give a budget with its unit; {RACE} alone may have stop: {{tolerance: 0.02,"
        " error: 0.05}"
    )
    raise_fault(None, f"{method} cannot end as the plan says", remedy, "no-end")


def check_cluster(plan: Plan) -> None:
    """Refuse clusters for a method that does not count them."""
    method = plan.method.name
    if plan.instances.cluster is not None and method != RACE:
        problem = f"{method} does not count clusters"
        raise_fault(
            None, problem, f"leave out cluster, or take {RACE}", "cluster-method"
        )


def check_budget_unit(plan: Plan) -> None:
    """Refuse a budget in another unit than the cost's, or above the cost of everything."""
    if plan.budget is None:
        return
    if plan.unit not in (SHARE_UNIT, plan.cost.unit):
        problem = f"the budget's unit {plan.unit!r} is not that of the cost"
        raise_fault(
            None, problem, f"write {SHARE_UNIT}, or {plan.cost.unit}", "budget-unit"
        )
    if plan.unit == SHARE_UNIT and plan.budget > 1:
        problem = (
            f"a budget of {plan.budget:g} is more than evaluating everything costs"
        )
        remedy = f"give a share up to 1, or an amount with unit: {plan.cost.unit}"
        raise_fault(None, problem, remedy, "budget-share")


def check_pilot_size(plan: Plan) -> None:
    """Refuse a pilot that takes more instances than there are, or than the budget has room for."""
    n_instances = len(plan.order)
    share = plan.budget if plan.budget is not None and plan.unit == SHARE_UNIT else 1.0
    room = n_instances * min(1.0, share)
    if plan.pilot > room:
        problem = (
            f"the pilot takes {plan.pilot} instances, and the plan has {n_instances},"
            f" its budget {room:.3g}"
        )
        raise_fault(
            None, problem, "make the pilot smaller, or the budget larger", "pilot-size"
        )


def check_repeats(plan: Plan) -> None:
    """Refuse to reuse or leave out evaluations where the method cannot do without."""
    method = plan.method.name
    leaves_out = plan.failures == "leave-out"
    if (leaves_out or plan.reuse is not None) and not plan.is_once:
        problem = (
            f"{method} may evaluate an instance again, so none can be reused or"
            " left out"
        )
        remedy = (
            "start without a table and with failures: zero, or evaluate once, as"
            " CoPSIOnce does"
        )
        raise_fault(None, problem, remedy, "repeated-instances")

    if leaves_out and plan.method.options.get("confidence") is not None:
        problem = f"{method} with a confidence can leave no instance out"
        raise_fault(
            None,
            problem,
            "take failures: zero, or no confidence",
            "confidence-leave-out",
        )


def check_certified(plan: Plan) -> None:
    """Refuse a certified race under conditions for which its error is not proved."""
    options = plan.strategy.given
    if not options.get("certified"):
        return

    if options.get("front") != "objectives":
        problem = (
            "a certified race compares declared costs, and a pilot does not declare"
            " them"
        )
        remedy = "write stop: {front: objectives, ...}, or leave out certified"
        raise_fault(None, problem, remedy, "certified-costs")

    if plan.failures == "leave-out":
        problem = "a certified race can leave no instance out"
        remedy = "take failures: zero, or a race that is not certified"
        raise_fault(None, problem, remedy, "certified-leave-out")

    if plan.ordered:
        problem = "a certified race needs the instances in a random order"
        raise_fault(None, problem, "leave out ordered, or certified", "certified-order")


def check_largest_cost(plan: Plan) -> None:
    """Refuse a largest cost that is not a positive number for each configuration."""
    try:
        are_positive = all(0 < cost < inf for cost in plan.largest_costs or [])
    except (KeyError, TypeError, ValueError):
        are_positive = False

    if not are_positive:
        problem = (
            f"largest_cost is {plan.largest_cost!r}, not a positive number for each"
            " configuration"
        )
        remedy = suggest(
            str(plan.largest_cost),
            plan.settings,
            "give a number, or a setting that is one",
        )
        raise_fault(None, problem, remedy, "largest-cost")


def check_options(plan: Plan) -> None:
    """Refuse options of the method that its class refuses, by making one."""
    costs = plan.largest_costs or [SOME_COST] * len(plan.names)
    try:
        plan.make_policy(
            costs, (min(costs), max(costs)), budget=SOME_ROUNDS * sum(costs)
        )
    except CobanditError as error:
        raise_fault(
            None,
            f"{plan.method.name}: {error}",
            "correct its options",
            "method-options",
        )
