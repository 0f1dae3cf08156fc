"""The estimate of a run's cost before its first call."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from cobandit._text import amount
from cobandit.live.evaluators.base import Evaluator
from cobandit.live.plan import Plan
from cobandit.live.plan_fields import SHARE_UNIT
from cobandit.live.records import Made


@dataclass(frozen=True)
class Estimate:
    """What a run will cost, before its first call.

    Attributes
    ----------
    plan : Plan
    made : Made
        Evaluations that the run or an earlier table has.
    pilot : int
        Evaluations that the pilot makes, but for those.
    most : float
        What these cost at most; infinity where nothing says so.
    prices : str
        Where prices are from; empty if nothing is charged by them.
    """

    plan: Plan
    made: Made
    pilot: int
    most: float
    prices: str = ""

    @property
    def lines(self) -> list[str]:
        """What there is to say, a line each."""
        plan, unit = self.plan, self.plan.cost.unit
        n_all = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        said = [f"{size}: {n_all:,} evaluations in all"]
        if self.made:
            paid = sum(row[plan.cost.column] for row in self.made.values())
            there = f"of these {len(self.made):,} are there, for {amount(paid)} {unit}"
            said.append(f"{there}: they are charged, and not made again")
        if not self.pilot:
            said.append("pilot: nothing to evaluate")
        elif self.most < inf:
            each = self.most / self.pilot
            said.append(f"pilot: {self.pilot:,} evaluations, at most {amount(self.most)} {unit}")
            said.append(f"everything: at most about {amount(each * n_all)} {unit}")
        else:
            said.append(f"pilot: {self.pilot:,} evaluations, which show what everything costs")
        if self.prices:
            said.append(f"prices: {self.prices}")
        if plan.budget is not None:
            of = "of what everything costs by the pilot's means" if plan.unit == SHARE_UNIT else unit
            said.append(f"budget: {amount(plan.budget)} {of}")
            if plan.unit != SHARE_UNIT and plan.budget < self.most < inf:
                said.append("it may not hold the pilot: then the run stops, and waits for a larger one")
        return said


def estimate_run(plan: Plan, evaluator: Evaluator, made: Made) -> Estimate:
    """Add up what the pilot can cost."""
    bound = getattr(evaluator, "bound_cost", lambda configuration, instance: inf)
    caps = plan.largest_costs or [inf] * len(plan.names)
    costs = [
        min(cap, bound(configuration, instance))
        for name, configuration, cap in zip(plan.names, plan.configurations.all, caps, strict=True)
        for instance in plan.order[: plan.pilot]
        if (name, instance) not in made
    ]
    return Estimate(plan, made, len(costs), sum(costs), getattr(evaluator, "prices", ""))
