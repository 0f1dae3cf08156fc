"""The budget of a method: the part of a run's budget that the pilot leaves."""

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

    A method that evaluates once is charged again for the pilot's results that it uses,
    so that its budget may exceed the remaining budget. How many of these results it
    uses depends on its budget, because configurations may be removed early. The largest
    possible budget is therefore found by replays.

    Raises
    ------
    TableError
        If the remaining budget is too small, or a largest cost is below its mean.
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
    """Find the largest budget of the method within the budget of the run."""
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
    """Replay stored results; return their cost less the spend of the policy."""
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
