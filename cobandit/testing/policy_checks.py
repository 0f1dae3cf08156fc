"""Checks of the ask-and-tell protocol, which every policy must pass.

Policies are run on small random tables, with several evaluations in flight, results in
any order, and failures.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from cobandit import _budget
from cobandit.errors import CobanditError
from cobandit.policies.asktell import Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.tables import EvaluationTable
from cobandit.testing.policy_runs import (
    ALL,
    Event,
    Method,
    draw_policies,
    evaluate_on,
    fly,
    guarantees_aside,
    policy_on,
    refuse_budget,
    remake,
    require,
    result_of,
    smallest_budget,
    snapshot,
    with_failures,
)
from cobandit.testing.small_tables import table_of


def bad_tells(arm: int, n_arms: int = 2) -> dict[str, tuple[Any, Any, Any]]:
    """Return, by reason, arguments (arm, reward, cost) that `tell` must reject.

    One evaluation of ``arm`` is in flight, and there are two objectives.

    Examples
    --------
    >>> bad_tells(0)["reward above one"]
    (0, [1.2, 0.5], 1.0)
    """
    good = [0.5, 0.5]
    nan = float("nan")
    inf = float("inf")
    return {
        "other arm": ((arm + 1) % n_arms, good, 1.0),
        "no such arm": (n_arms, good, 1.0),
        "negative arm": (arm - n_arms, good, 1.0),
        "no arm": (None, good, 1.0),
        "another evaluation": (Pull(arm, 1), good, 1.0),
        "arm as text": (str(arm), good, 1.0),
        "reward above one": (arm, [1.2, 0.5], 1.0),
        "reward below zero": (arm, [0.5, -0.1], 1.0),
        "reward NaN": (arm, [0.5, nan], 1.0),
        "reward infinite": (arm, [inf, 0.5], 1.0),
        "reward too short": (arm, [0.5], 1.0),
        "reward too long": (arm, [0.5, 0.5, 0.5], 1.0),
        "reward a scalar": (arm, 0.5, 1.0),
        "reward nested": (arm, [good], 1.0),
        "reward text": (arm, ["high", "low"], 1.0),
        "cost zero": (arm, good, 0.0),
        "cost negative": (arm, good, -1.0),
        "cost NaN": (arm, good, nan),
        "cost infinite": (arm, good, inf),
        "cost text": (arm, good, "much"),
        "failure with a refund": (arm, None, -1.0),
    }


def check_policy(method: Method) -> None:
    """Run all checks of the ask-and-tell protocol on a method.

    `check_kernel` is separate.

    Parameters
    ----------
    method : str, class or Spec

    Raises
    ------
    AssertionError
        If a check fails.

    Examples
    --------
    >>> check_policy("CoHVUCB")
    """
    for check in (check_ask, check_tell, check_order, check_budget, check_copies):
        check(method)


def _follow(
    policy: Any,
    events: list[Event],
    otherwise: str = "ask calls that returned None matter",
) -> None:
    """Repeat the events of a run on a policy, and check requests and counts.

    Calls of `ask` that returned None are not repeated.
    """
    in_flight = np.zeros(policy.n_arms, dtype=np.int64)
    pulls = np.zeros(policy.n_arms, dtype=np.int64)
    spent = 0.0

    # possible numbers of an arm's next evaluation; the smallest one must be used
    waiting = [{0} for _ in pulls]
    for pull, result in events:
        if result is None:
            repeated = policy.ask()
            is_same = repeated is not None and repeated.key == pull.key
            require(is_same, policy, f"{otherwise} ({repeated!r})")
            number = min(waiting[pull])
            require(
                pull.number == number,
                policy,
                f"an evaluation of arm {pull} has the number {pull.number}, not"
                f" {number}",
            )
            waiting[pull] = waiting[pull] - {number} or {number + 1}
            in_flight[pull] += 1
        else:
            reward, cost = result
            with guarantees_aside():
                policy.tell(pull, reward, cost)
            if reward is None:
                waiting[pull].add(pull.number)
            else:
                pulls[pull] += 1
            in_flight[pull] -= 1
            spent += cost

        counts: dict[str, Any] = {
            "in_flight": in_flight,
            "pulls": pulls,
            "spent": spent,
        }
        wrong = [
            name
            for name, count in counts.items()
            if np.any(getattr(policy, name) != count)
        ]
        require(not wrong, policy, f"{' and '.join(wrong)} differ from the results")


def check_ask(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that `ask` requests each evaluation once, and counts requests and results.

    Runs have up to one, three or any number of evaluations in flight, and results in
    random order. The evaluations of an arm must be numbered from 0, and ``in_flight``,
    ``pulls`` and ``spent`` must agree with the requests and results. A failure must be
    charged but not scored, and the same evaluation must be requested again. A call that
    returns None must have no effect. Once the policy is ``finished``, `ask` must return
    None.
    """
    for policy, table, rng in draw_policies(method, seeds):
        evaluate = evaluate_on(table)
        failing = with_failures(evaluate, rng, billed=0.5)
        for at_once, feedback in product((1, 3, ALL), (evaluate, failing)):
            flown = remake(policy)
            events = fly(flown, feedback, at_once, rng)
            is_over = flown.ask() is None and flown.finished
            require(
                is_over,
                flown,
                "ask requested an evaluation after the policy was finished",
            )
            _follow(remake(policy), events)


def check_tell(method: Method) -> None:
    """Check that `tell` counts valid results, and rejects others without any change."""
    table = table_of(
        [[(1.0, 0.5, 0.5), (1.5, 0.5, 0.5)], [(0.5, 0.25, 0.75), (1.0, 0.25, 0.75)]]
    )
    policy = policy_on(method, table, 3 * smallest_budget(method, table))

    def require_refusal(case: str, *arguments: Any) -> None:
        before = snapshot(policy)
        try:
            policy.tell(*arguments)
        except CobanditError:
            is_same = snapshot(policy) == before
            require(is_same, policy, f"a rejected tell changed the policy ({case})")
        else:
            require(False, policy, f"tell{arguments} was not rejected ({case})")

    require_refusal("before any ask", 0, [0.5, 0.5], 1.0)

    arm = int(policy.ask())
    for case, arguments in bad_tells(arm).items():
        require_refusal(case, *arguments)

    policy.tell(np.int64(arm), [0.5, 0.5], 1.0)
    is_counted = policy.spent == 1.0 and policy.pulls[arm] == policy.pulls.sum() == 1
    require(is_counted, policy, "tell did not count a valid result")
    require_refusal("told twice", arm, [0.5, 0.5], 1.0)


def check_order(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that concurrency does not change the result of an identification policy.

    Pulls, phases and recommendation must be the same as in a run with one evaluation at
    a time, whatever the order of results, and also if evaluations fail without cost.
    Online policies are not checked.
    """

    def end_of(plan: Any) -> list[bytes]:
        return [
            pickle.dumps(end) for end in (plan.pulls, plan.phases, plan.recommend())
        ]

    for policy, table, rng in draw_policies(method, seeds):
        if not isinstance(policy, IdentificationPolicy):
            return

        evaluate = evaluate_on(table, declared=True)
        alone = remake(policy)
        fly(alone, evaluate)
        for at_once in (1, 3, ALL):
            flown = remake(policy)
            fly(flown, with_failures(evaluate, rng, billed=0.0), at_once, rng)
            is_same = end_of(flown) == end_of(alone)
            require(
                is_same,
                flown,
                f"the result differs with {at_once} evaluations in flight",
            )


def check_budget(method: Method, seeds: Iterable[int] = range(5)) -> None:
    """Check that a policy stays within its budget, except for its last evaluation.

    With fixed costs, the budget must never be exceeded. With random costs, only the
    last evaluation may exceed the budget. With several evaluations in flight, only the
    last request of an online policy may exceed the budget, and an identification policy
    with ``largest_costs`` must never exceed it. The smallest budget in a `BudgetError`
    must be accepted, and a smaller budget must not.
    """
    for policy, table, rng in draw_policies(method, seeds):
        limit = _budget.add_slack(policy.budget)
        fixed = remake(policy)
        fly(fixed, evaluate_on(table, declared=True))
        require(fixed.spent <= limit, fixed, f"spent {fixed.spent} with fixed costs")

        alone = remake(policy)
        last = fly(alone, evaluate_on(table))[-1]
        before = alone.spent - last.result[1] if last.result else 0.0
        require(before <= limit, alone, f"spent {before} before the last evaluation")

        has_pulls = fixed.pulls.any() and alone.pulls.any()
        require(has_pulls, fixed, "the budget was accepted but paid for no evaluation")
        _check_budget_in_flight(policy, table, rng)

    smallest = smallest_budget(method, table)
    which = f"below {smallest:g}, the smallest accepted one,"
    refuse_budget(method, table, 0.999 * smallest, which)


def _check_budget_in_flight(
    policy: Any, table: EvaluationTable, rng: np.random.Generator
) -> None:
    """Check the budget with several evaluations in flight, at random costs."""
    is_plan = isinstance(policy, IdentificationPolicy)
    largest = 2 * table.costs if is_plan else np.full(table.n_arms, table.cost_range[1])
    takes_largest = "largest_costs" in policy.options
    if is_plan and not (takes_largest and policy.budget >= largest.sum()):
        return

    def evaluate(pull: Pull) -> tuple[Any, float]:
        reward, _ = evaluate_on(table)(pull)
        return reward, float(largest[pull] * rng.uniform(0.1, 1.0))

    for at_once in (3, ALL):
        flown = remake(policy, **{"largest_costs": largest} if is_plan else {})
        events = fly(flown, with_failures(evaluate, rng, billed=1.0), at_once, rng)

        # the last request of an index policy may exceed the budget
        spent = flown.spent
        if not is_plan:
            handed_out = [event.pull.key for event in events if event.result is None]
            charged = {
                event.pull.key: event.result[1] for event in events if event.result
            }
            spent -= charged[handed_out[-1]]
        is_within = spent <= _budget.add_slack(policy.budget)
        require(is_within, flown, f"spent {spent}, {at_once} in flight")


def check_copies(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that copies of a policy, made from its options or a pickle, are equivalent.

    Options are read after a run, and the pickle is made during a run. Policies that use
    generators cannot be pickled, so their pickles are not checked. A `Journal` restores
    such policies.
    """

    def require_same(copy: Any, original: Any, events: list[Event], kind: str) -> None:
        pulls = [event.pull for event in events]
        is_same = [event.pull for event in fly(copy, evaluate)] == pulls
        require(is_same, original, f"{kind} requests other evaluations")
        is_same = result_of(copy) == result_of(original)
        require(is_same, original, f"{kind} has another result")

    for policy, table, _ in draw_policies(method, seeds):
        evaluate = evaluate_on(table)
        half = remake(policy)
        events = fly(policy, evaluate)
        require_same(remake(policy), policy, events, "a policy of the same options")

        # ten events: five requests with their results
        _follow(
            half, events[:10], "a policy of the same options requests other evaluations"
        )
        try:
            copy = pickle.loads(pickle.dumps(half))
        except TypeError:
            continue
        require_same(copy, half, fly(half, evaluate), "a copy by pickle")
