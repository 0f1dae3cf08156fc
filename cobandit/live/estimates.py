"""Upper bounds on the cost of a run, before its first evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from cobandit._text import amount
from cobandit.live.evaluators.base import Evaluator
from cobandit.live.plan import Plan
from cobandit.live.plan_fields import SHARE_UNIT
from cobandit.live.records import Reusable


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a run, before its first evaluation."""

    #: The plan.
    plan: Plan
    #: Evaluations that are reused, by the names of configuration and instance.
    reusable: Reusable
    #: Number of evaluations that the pilot still has to make.
    pilot: int
    #: Upper bound on the cost of the pilot's evaluations; infinity if no bound is
    #: known.
    largest_cost: float
    #: Source and day of the prices; blank if none are used.
    prices: str = ""

    @property
    def lines(self) -> list[str]:
        """The estimate in words: number of evaluations, pilot, prices and budget."""
        plan = self.plan
        n_all = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        lines = [f"{size}: {n_all:,} evaluations in all"]
        if self.reusable:
            paid = amount(sum(row[plan.cost.column] for row in self.reusable.values()))
            lines.append(
                f"{len(self.reusable):,} of these are known, for {paid}"
                f" {plan.cost.unit}; they are charged but not repeated"
            )

        lines += self._describe_pilot(n_all)
        if self.prices:
            lines.append(f"prices: {self.prices}")
        return [*lines, *self._describe_budget()]

    def _describe_pilot(self, n_all: int) -> list[str]:
        unit = self.plan.cost.unit
        if not self.pilot:
            return ["pilot: nothing to evaluate"]
        if self.largest_cost == inf:
            return [
                f"pilot: {self.pilot:,} evaluations, from which the cost of all"
                " evaluations is estimated"
            ]
        pilot = amount(self.largest_cost)
        everything = amount(self.largest_cost / self.pilot * n_all)
        return [
            f"pilot: {self.pilot:,} evaluations, at most {pilot} {unit}",
            f"all evaluations: at most about {everything} {unit}",
        ]

    def _describe_budget(self) -> list[str]:
        plan = self.plan
        if plan.budget is None:
            return []
        if plan.unit == SHARE_UNIT:
            return [
                f"budget: {amount(plan.budget)} of the cost of all evaluations,"
                " estimated from the pilot"
            ]

        lines = [f"budget: {amount(plan.budget)} {plan.cost.unit}"]
        if plan.budget < self.largest_cost < inf:
            lines.append(
                "the budget may be too small for the pilot; the run then stops, and"
                " can be resumed with a larger budget"
            )

        return lines


def estimate_run(plan: Plan, evaluator: Evaluator, reusable: Reusable) -> Estimate:
    """Estimate the cost of a run by upper bounds on the pilot's evaluations."""
    bound = getattr(evaluator, "bound_cost", lambda configuration, instance: inf)
    caps = plan.largest_costs or [inf] * len(plan.names)
    arms = zip(plan.names, plan.configurations.all, caps, strict=True)
    costs = [
        min(cap, bound(configuration, instance))
        for name, configuration, cap in arms
        for instance in plan.order[: plan.pilot]
        if (name, instance) not in reusable
    ]
    return Estimate(
        plan=plan,
        reusable=reusable,
        pilot=len(costs),
        largest_cost=sum(costs),
        prices=getattr(evaluator, "prices", ""),
    )
