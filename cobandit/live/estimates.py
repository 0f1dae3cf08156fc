"""The estimate of a run's cost before its first call."""

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
    """The cost of a run as far as it is known before its first call.

    Attributes
    ----------
    plan : Plan
    reusable : mapping of (str, str) to dict
        Evaluations that the run or an earlier table has, by name of the configuration
        and instance.
    pilot : int
        Number of evaluations that the pilot makes besides.
    most : float
        Their cost at most; infinity where it has no bound.
    prices : str
        Where prices are from; empty if nothing is charged by them.
    """

    plan: Plan
    reusable: Reusable
    pilot: int
    most: float
    prices: str = ""

    @property
    def lines(self) -> list[str]:
        """The estimate in words, a line each."""
        plan = self.plan
        n_all = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        lines = [f"{size}: {n_all:,} evaluations in all"]
        if self.reusable:
            paid = amount(sum(row[plan.cost.column] for row in self.reusable.values()))
            lines.append(
                f"of these {len(self.reusable):,} are there, for {paid}"
                f" {plan.cost.unit}: they are charged, and not made again"
            )

        lines += self._describe_pilot(n_all)
        if self.prices:
            lines.append(f"prices: {self.prices}")
        return [*lines, *self._describe_budget()]

    def _describe_pilot(self, n_all: int) -> list[str]:
        unit = self.plan.cost.unit
        if not self.pilot:
            return ["pilot: nothing to evaluate"]
        if self.most == inf:
            return [
                f"pilot: {self.pilot:,} evaluations, which show what everything costs"
            ]
        everything = amount(self.most / self.pilot * n_all)
        return [
            f"pilot: {self.pilot:,} evaluations, at most {amount(self.most)} {unit}",
            f"everything: at most about {everything} {unit}",
        ]

    def _describe_budget(self) -> list[str]:
        plan = self.plan
        if plan.budget is None:
            return []
        if plan.unit == SHARE_UNIT:
            return [
                f"budget: {amount(plan.budget)} of what everything costs by the pilot's"
                " means"
            ]

        lines = [f"budget: {amount(plan.budget)} {plan.cost.unit}"]
        if plan.budget < self.most < inf:
            lines.append(
                "it may not hold the pilot: then the run stops, and waits for a"
                " larger one"
            )

        return lines


def estimate_run(plan: Plan, evaluator: Evaluator, reusable: Reusable) -> Estimate:
    """Add up the largest costs of the pilot's evaluations."""
    bound = getattr(evaluator, "bound_cost", lambda configuration, instance: inf)
    largest = plan.largest_costs or [inf] * len(plan.names)
    costs = [
        min(cap, bound(configuration, instance))
        for name, configuration, cap in zip(
            plan.names, plan.configurations.all, largest, strict=True
        )
        for instance in plan.order[: plan.pilot]
        if (name, instance) not in reusable
    ]
    prices = getattr(evaluator, "prices", "")
    return Estimate(plan, reusable, pilot=len(costs), most=sum(costs), prices=prices)
