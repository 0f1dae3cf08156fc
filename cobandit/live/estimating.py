"""What a run will cost, as far as it is known before its first call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from cobandit.errors import BudgetError, CobanditError
from cobandit.live import methods
from cobandit.live.evaluators import Evaluator, Row
from cobandit.live.plan import SHARE, Plan


@dataclass(frozen=True)
class Estimate:
    """What a run will cost, before its first call.

    Attributes
    ----------
    plan : Plan
    pilot : int
        Evaluations that the pilot makes; what an earlier run has is not among them.
    least, most : float or None
        What they cost in all; None where nothing says so.
    needed : float or None
        The smallest budget with which the method could begin if every evaluation cost the most that it can;
        None if the plan's is enough, or nothing says so.
    """

    plan: Plan
    pilot: int
    least: float | None
    most: float | None
    needed: float | None

    @property
    def lines(self) -> list[str]:
        """What there is to say, a line each."""
        plan, unit = self.plan, self.plan.cost.unit
        everything = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        said = [f"{size}: {everything:,} evaluations in all"]
        if not self.pilot:
            said.append("pilot: nothing to evaluate")
        elif self.most is None:
            said.append(f"pilot: {self.pilot:,} evaluations; what they cost shows when they are made")
        else:
            said.append(
                f"pilot: {self.pilot:,} evaluations, at least {self.least:,.4g} and at most {self.most:,.4g} "
                f"{unit}"
            )
            each = self.most / self.pilot
            said.append(f"everything: at most about {each * everything:,.4g} {unit}")
        if plan.budget is None:
            said.append("no budget: the run ends when all is settled")
        elif plan.unit == SHARE:
            said.append(f"budget: {plan.budget:.0%} of what everything costs by the pilot's means")
        else:
            said.append(f"budget: {plan.budget:,.6g} {unit}")
            if self.most is not None and self.most > plan.budget:
                said.append("the budget may not hold the pilot")
            elif self.needed is not None:
                said.append(f"{plan.method.name} may need more after the pilot: {self.needed:,.6g} {unit}")
        return said


def estimate_run(plan: Plan, evaluator: Evaluator, made: Mapping[tuple[str, str], Row]) -> Estimate:
    """Add up what the pilot can cost, and find out whether the budget can hold it.

    Raises
    ------
    CobanditError
        If it cannot: then nothing is evaluated.
    """
    first = plan.order[: plan.pilot] if isinstance(plan.pilot, int) else ()
    bound = getattr(evaluator, "bound_cost", None)
    n, least, most = 0, 0.0, 0.0
    largest = plan.largest_costs or [inf] * len(plan.names)
    for name, configuration, cap in zip(plan.names, plan.configurations.all, largest, strict=True):
        for instance in first:
            row = made.get((name, instance))
            if row is not None:
                known = row[plan.cost.column]
                least, most = least + known, most + known
                continue
            bounds = None if bound is None else bound(configuration, instance)
            low, high = (0.0, inf) if bounds is None else bounds
            n, least, most = n + 1, least + low, most + min(high, cap)
    if plan.budget is not None and plan.unit != SHARE and least > plan.budget:
        raise CobanditError(
            f"the pilot alone costs at least {least:,.6g} {plan.cost.unit}, and the budget is "
            f"{plan.budget:,.6g}: nothing was evaluated; take a larger budget, or a smaller pilot"
        )
    known = most < inf
    return Estimate(plan, n, least if known else None, most if known else None, _needed(plan))


def _needed(plan: Plan) -> float | None:
    """What the method would need if every evaluation cost the most that it can, where there is less."""
    largest = plan.largest_costs
    if largest is None or plan.budget is None or plan.unit == SHARE:
        return None
    try:
        methods.make(
            plan.policy,
            plan.options,
            costs=largest,
            cost_range=(min(largest), max(largest)),
            budget=plan.budget,
            n_objectives=len(plan.objectives),
            n_instances=len(plan.order),
            largest_costs=largest,
        )
    except BudgetError as error:
        return error.smallest
    return None
