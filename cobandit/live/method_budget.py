"""The budget of a method, which the cost of the pilot leaves of the run's budget."""

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
    """Make a fresh policy that stays, together with the pilot, within the budget.

    A method that evaluates once is charged again for each result of the pilot that it
    uses, so that its budget may be larger than the remaining budget. The part of the
    pilot that it never uses, because a configuration leaves early, depends on its
    budget. The largest possible budget is therefore found by replays.

    Raises
    ------
    TableError
        If too little is left, or the largest cost is below the mean.
    """
    total = profile.budget
    if total is None:
        return plan.make_policy(profile.costs, profile.cost_range, None)

    spent = profile.spent + earlier.lost + sum(earlier.non_pilot_costs.values())
    problem = "nothing is left"
    if spent <= _budget.add_slack(total):
        try:
            budget = total - spent
            if plan.is_once:
                budget = _find_budget(plan, profile, total, earlier)
            return plan.make_policy(profile.costs, profile.cost_range, budget)
        except CobanditError as error:
            problem = str(error)

    unit = plan.cost.unit
    problem += f". {spent:,.6g} {unit} are spent, and the budget is {total:,.6g}"
    remedy = "change the plan's budget or method and run it again; results are kept"
    raise_fault(plan.method.name, problem, remedy, "method-budget")


def _find_budget(
    plan: Plan, profile: Profile, total: float, earlier: EarlierResults
) -> float:
    """Find the largest budget of a method that the budget of the run allows."""
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
    """Replay stored results, and return the cost that the policy is not charged."""
    policy = plan.make_policy(profile.costs, profile.cost_range, budget)
    # stands in for a journal without results
    stand_in = SimpleNamespace(
        policy=policy,
        leave_out=policy.leave_out,
        tell=lambda arm, reward, cost, record: policy.tell(arm, reward, cost),
        records=list,
    )
    stage = MainStage(plan, stand_in, {}, profile, earlier)
    while (pull := policy.ask()) is not None:
        stage.report_known(pull)
    return stage.spent - policy.spent
