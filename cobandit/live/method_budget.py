"""The budget of a run's method: the budget of the run minus all other costs."""

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
    """Make a fresh policy, whose budget keeps the whole run within the plan's budget.

    A method that evaluates each instance at most once uses results of the pilot, and is
    charged for them again. The policy's budget may therefore exceed the rest of the
    plan's budget by the cost of these results. Which results a method uses depends on
    its budget, because the method may remove configurations early. The largest possible
    budget is found by replays of the pilot's results.

    Raises
    ------
    TableError
        If the remaining budget is too small, or if the plan's ``largest_cost`` of a
        configuration is below the configuration's mean cost in the pilot.
    """
    total = profile.budget
    if total is None:
        return plan.make_policy(profile.costs, profile.cost_range, None)

    spent = profile.spent + earlier.lost + sum(earlier.non_pilot_costs.values())
    problem = "the whole budget is already spent"
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
    """Return the method's largest budget that keeps the run within ``total``."""
    budget = total
    while True:
        uncharged = _replay_known(plan, profile, budget, earlier)
        if budget + uncharged <= _budget.add_slack(total):
            return budget
        # with a smaller budget, the method may use fewer results of the pilot
        budget = total - uncharged


def _replay_known(
    plan: Plan, profile: Profile, budget: float, earlier: EarlierResults
) -> float:
    """Replay the known results; return the cost that the policy is not charged."""
    policy = plan.make_policy(profile.costs, profile.cost_range, budget)
    # a stand-in for a journal without results
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
