"""The budget of a method, so that what it spends fits with the pilot into the run's budget."""

from __future__ import annotations

from types import SimpleNamespace

from cobandit import _budget
from cobandit.errors import CobanditError
from cobandit.live.plan import Plan
from cobandit.live.profile import Profile
from cobandit.live.records import EarlierResults
from cobandit.live.stages import MainStage
from cobandit.policies.asktell import AskTell


def make_affordable_policy(plan: Plan, profile: Profile, earlier: EarlierResults) -> AskTell:
    """Make a fresh policy whose spending, with that of the pilot, stays within the budget.

    A method that evaluates once charges what it uses of the pilot again, and is given a budget that has room
    for it.  What it does not use, since a configuration leaves early, is known once it has used what it does;
    that depends on the budget, so that the largest one that fits is found by rehearsing.

    Raises
    ------
    CobanditError
        If what is left is too little, or the largest cost is below the mean.
    """
    total, unit = profile.budget, plan.cost.unit
    if total is None:
        return plan.make_policy(profile.costs, profile.cost_range, None)
    paid = profile.spent + earlier.lost + sum(earlier.besides.values())
    budget = total if plan.is_once else total - paid
    try:
        if paid > _budget.add_slack(total):
            raise CobanditError("nothing is left")
        while plan.is_once:
            besides = _rehearse(plan, profile, budget, earlier)
            if budget + besides <= _budget.add_slack(total):
                break
            budget = total - besides
        return plan.make_policy(profile.costs, profile.cost_range, budget)
    except CobanditError as error:
        raise CobanditError(
            f"{plan.method.name}: {error}.  {paid:,.6g} {unit} are spent, and the budget is {total:,.6g}: "
            "change the plan's budget or method and run it again; what was evaluated is kept"
        ) from None


def _rehearse(plan: Plan, profile: Profile, budget: float, earlier: EarlierResults) -> float:
    """Play a policy as far as what there is takes it: what was spent besides what it was charged."""
    policy = plan.make_policy(profile.costs, profile.cost_range, budget)
    unwritten = SimpleNamespace(  # stands for a journal that told nothing before
        policy=policy,
        leave_out=policy.leave_out,
        tell=lambda arm, reward, cost, record: policy.tell(arm, reward, cost),
        records=list,
    )
    stage = MainStage(plan, unwritten, {}, profile, earlier)
    while (pull := policy.ask()) is not None:
        stage.settle(pull)
    return stage.spent - policy.spent
