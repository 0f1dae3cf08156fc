"""The policy of a run, made of what its pilot found, with what the pilot left of the budget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cobandit import _check
from cobandit.errors import BudgetError, CobanditError
from cobandit.live import methods
from cobandit.live.pilot import Profile
from cobandit.live.plan import SHARE, Plan
from cobandit.live.stages import MainStage
from cobandit.policies.asktell import Pull


def budget_of(plan: Plan, profile: Profile) -> float:
    """Give the budget of the whole run, pilot included, in the unit of the cost.

    A share is one of what evaluating everything costs, by the means of the pilot.
    """
    if plan.unit != SHARE:
        return plan.budget
    return plan.budget * len(plan.instances) * sum(profile.costs)


def policy_of(plan: Plan, profile: Profile) -> methods.Policy:
    """Make a fresh policy whose spending, with that of the pilot, stays within the budget.

    A method that evaluates once charges what it uses of the pilot again, and is given a budget that has room
    for it.  What it does not use, since a configuration leaves early, is known once it has used what it does;
    that depends on the budget, so that the largest one that fits is found by rehearsing.

    Raises
    ------
    CobanditError
        If what is left is too little, or the largest cost is below the mean.
    """
    total = budget_of(plan, profile)
    largest = plan.largest_costs
    for arm, most in enumerate(largest or []):
        if profile.costs[arm] > _check.with_slack(most):
            raise CobanditError(
                f"largest_cost of {plan.names[arm]!r} is {most:g}, and its evaluations cost "
                f"{profile.costs[arm]:g} in the mean: declare what one can cost, or leave largest_cost out, "
                "and start in another folder"
            )

    def make(budget: float) -> methods.Policy:
        return methods.make(
            plan.policy,
            plan.method.options,
            costs=profile.costs,
            cost_range=profile.cost_range,
            budget=budget,
            n_objectives=len(plan.objectives),
            n_instances=len(plan.instances),
            largest_costs=largest,
        )

    budget = total if plan.is_once else total - profile.spent
    try:
        while plan.is_once:
            besides = _rehearse(plan, profile, make(budget))
            if budget + besides <= _check.with_slack(total):
                break
            budget = total - besides
        return make(budget)
    except (BudgetError, CobanditError) as error:
        unit = plan.cost.unit
        raise CobanditError(
            f"{plan.method.name}: {error}.  The pilot cost {profile.spent:g} of {total:g} {unit}; it stays.  "
            "Change the plan's budget or method and run it again"
        ) from None


def _rehearse(plan: Plan, profile: Profile, policy: methods.Policy) -> float:
    """Play a policy as far as the pilot's records take it: what was spent besides what it was charged."""
    stage = MainStage(plan, _Rehearsal(policy), profile)
    while (pull := stage.journal.ask()) is not None:
        stage.settle(pull)
    return stage.spent - policy.spent


class _Rehearsal:
    """A journal that is not written."""

    def __init__(self, policy: Any):
        self.policy = policy

    def ask(self) -> Pull | None:
        pull: Pull | None = self.policy.ask()
        return pull

    def tell(
        self, arm: int, reward: Any, cost: float | None = None, record: dict[str, Any] | None = None
    ) -> None:
        self.policy.tell(arm, reward, cost)

    def leave_out(self, pull: int) -> None:
        self.policy.leave_out(pull)

    def records(self) -> Iterable[tuple[Pull, Any, float | None, dict[str, Any] | None]]:
        return ()
