"""The budget of a method, so that what it spends fits with the pilot into the run's budget."""

from __future__ import annotations

from types import SimpleNamespace

from cobandit import _budget
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.plan import Plan
from cobandit.live.profile import Profile
from cobandit.live.records import EarlierResults
from cobandit.live.stages import MainStage
from cobandit.policies.asktell import AskTell


def make_affordable_policy(
    plan: Plan, profile: Profile, earlier: EarlierResults
) -> AskTell:
    """Make a fresh policy whose spending, with that of the pilot, stays within the budget.

    A method that evaluates once is charged again for each result of the pilot that it
    uses, so its budget may be larger than what is left. The part of the pilot that it
    never uses, since a configuration leaves early, depends on its budget, so the
    largest budget that fits is found by replaying.

    Raises
    ------
    TableError
        If too little is left, or the largest cost is below the mean.
    """
    total = profile.budget
    if total is None:
        return plan.make_policy(profile.costs, profile.cost_range, None)

    spent = profile.spent + earlier.lost + sum(earlier.non_pilot_costs.values())
    try:
        if spent > _budget.add_slack(total):
            raise CobanditError("nothing is left")
        budget = (
            _find_budget(plan, profile, total, earlier)
            if plan.is_once
            else total - spent
        )
        return plan.make_policy(profile.costs, profile.cost_range, budget)
    except CobanditError as error:
        unit = plan.cost.unit
        problem = (
            f"{error}. {spent:,.6g} {unit} are spent, and the budget is {total:,.6g}"
        )
        remedy = (
            "change the plan's budget or method and run it again; what was evaluated is"
            " kept"
        )
        raise_fault(plan.method.name, problem, remedy, "method-budget")


def _find_budget(
    plan: Plan, profile: Profile, total: float, earlier: EarlierResults
) -> float:
    """Find the largest budget of a method that fits into that of the run."""
    budget = total
    while True:
        uncharged = _replay_known(plan, profile, budget, earlier)
        if budget + uncharged <= _budget.add_slack(total):
            return budget
        # a smaller budget may use less of the pilot, so that more is uncharged
        budget = total - uncharged


def _replay_known(
    plan: Plan, profile: Profile, budget: float, earlier: EarlierResults
) -> float:
    """Replay stored results through a policy, and return the spending that it was not charged for."""
    policy = plan.make_policy(profile.costs, profile.cost_range, budget)
    stand_in = SimpleNamespace(  # for a journal without results
        policy=policy,
        leave_out=policy.leave_out,
        tell=lambda arm, reward, cost, record: policy.tell(arm, reward, cost),
        records=list,
    )
    stage = MainStage(plan, stand_in, {}, profile, earlier)
    while (pull := policy.ask()) is not None:
        stage.report_known(pull)
    return stage.spent - policy.spent
