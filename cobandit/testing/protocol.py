"""What holds for every policy, whatever it decides: ask and tell, and the same pulls as its kernel."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit import _check
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.asktell import AskTell, Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.registry import KERNELS
from cobandit.replay.grid import pack_table
from cobandit.replay.kernels import record
from cobandit.replay.running import play, run_kernel
from cobandit.tables import EvaluationTable
from cobandit.testing.playing import (
    Event,
    Method,
    at_declared_cost,
    chosen_spec,
    fly,
    fresh,
    guarantees_aside,
    on,
    policies,
    policy_on,
    ragged_table,
    require,
    result_of,
    smallest_budget,
    table_of,
    with_failures,
)

#: As many in flight as a policy hands out.
ALL = 10**9


def snapshot(policy: AskTell) -> bytes:
    """Everything that a policy remembers, as bytes to compare; of a plan that waits, where it waits.

    Examples
    --------
    >>> policy = policy_on("CoPSI", table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7)] * 2]), budget=30)
    >>> before = snapshot(policy)
    >>> arm = policy.ask()
    >>> snapshot(policy) == before
    False
    """
    state = dict(vars(policy))
    for name, value in vars(policy).items():
        if inspect.isgenerator(value):
            local = inspect.getgeneratorlocals(value).items()
            at = value.gi_frame and value.gi_frame.f_lasti
            state[name] = at, {key: held for key, held in local if key != "self"}
    return pickle.dumps(state)


def bad_tells(arm: int, n_arms: int = 2) -> dict[str, tuple[Any, Any, Any]]:
    """What `tell` must refuse while only the first evaluation of ``arm`` is in flight: arm, reward and cost.

    There are two objectives.

    Examples
    --------
    >>> bad_tells(0)["reward above one"]
    (0, [1.2, 0.5], 1.0)
    """
    good, nan, inf = [0.5, 0.5], float("nan"), float("inf")
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
        "failure that gives back": (arm, None, -1.0),
    }


def check_policy(method: Method) -> None:
    """Run every check of the protocol, all but `check_kernel`.

    Parameters
    ----------
    method : str, class or Spec

    Raises
    ------
    AssertionError
        If a check finds a fault.

    Examples
    --------
    >>> check_policy("CoHVUCB")
    """
    checks = check_ask, check_tell, check_failures, check_order, check_budget, check_options, check_pickle
    for check in checks:
        check(method)


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([3, seed])


def _arms(events: list[Event]) -> list[int]:
    return [event.pull for event in events]


def _follow(policy: Any, events: list[Event]) -> None:
    """Do again what was done, without the asks that gave None, and count along."""
    numbers, in_flight, pulls = np.zeros((3, policy.n_arms), dtype=np.int64)
    failed: set[tuple[int, int]] = set()
    spent = 0.0
    for pull, told in events:
        if told is None:
            again = policy.ask()
            require(
                again is not None and again.key == pull.key, policy, f"asking in vain matters ({again!r})"
            )
            number = min((number for arm, number in failed if arm == pull), default=numbers[pull])
            require(pull.number == number, policy, f"number {pull.number} of arm {pull}, not {number}")
            numbers[pull] += pull.key not in failed
            failed.discard(pull.key)
            in_flight[pull] += 1
        else:
            with guarantees_aside():
                policy.tell(pull, *told)
            if told[0] is None:
                failed.add(pull.key)
            pulls[pull] += told[0] is not None
            in_flight[pull] -= 1
            spent += told[1]
        told_of: dict[str, Any] = {"in_flight": in_flight, "pulls": pulls, "spent": spent}
        wrong = [name for name, value in told_of.items() if np.any(getattr(policy, name) != value)]
        require(not wrong, policy, f"{' and '.join(wrong)} not as told")


def check_ask(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that `ask` hands out each evaluation once, and that asking in vain changes nothing.

    With one, three or any number in flight, told in any order: the numbers of an arm count from 0, and
    ``in_flight``, ``pulls`` and ``spent`` are what was handed out and told.  Once the policy is ``finished``,
    `ask` gives None for good.
    """
    for seed, (policy, table) in enumerate(policies(method, seeds)):
        for at_once in (1, 3, ALL):
            flown = fresh(policy)
            events = fly(flown, on(table), at_once, _rng(seed))
            require(flown.ask() is None and flown.finished, flown, "ask went on after it was finished")
            arms = [event.pull for event in events]
            require(all(0 <= arm < table.n_arms for arm in arms), flown, f"there is no such arm in {arms}")
            _follow(fresh(policy), events)


def check_tell(method: Method) -> None:
    """Check that `tell` refuses what is not valid, changes nothing then, and counts what is valid."""
    table = table_of([[(1.0, 0.5, 0.5), (1.5, 0.5, 0.5)], [(0.5, 0.25, 0.75), (1.0, 0.25, 0.75)]])
    policy = policy_on(method, table, 3 * smallest_budget(method, table))

    def refused(case: str, *told: Any) -> None:
        before = snapshot(policy)
        try:
            policy.tell(*told)
        except CobanditError:
            require(snapshot(policy) == before, policy, f"a refused tell changed the policy ({case})")
        else:
            require(False, policy, f"tell{told} was not refused ({case})")

    refused("before any ask", 0, [0.5, 0.5], 1.0)
    arm = int(policy.ask())
    for case, told in bad_tells(arm).items():
        refused(case, *told)
    policy.tell(np.int64(arm), [0.5, 0.5], 1.0)
    require(policy.spent == 1.0 and policy.pulls[arm] == policy.pulls.sum() == 1, policy, "a lost tell")
    refused("told twice", arm, [0.5, 0.5], 1.0)


def check_failures(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a failure is charged and not scored, and that the same evaluation is handed out again.

    The run goes on to its end, and an evaluation keeps its number until it is scored.
    """
    for seed, (policy, table) in enumerate(policies(method, seeds)):
        for at_once in (1, 3, ALL):
            rng, flown = _rng(seed), fresh(policy)
            events = fly(flown, with_failures(on(table), rng, billed=0.5), at_once, rng)
            _follow(fresh(policy), events)


def check_order(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a plan comes to the same end with any number in flight, told in any order.

    Pulls, phases and recommendation are those of one at a time, bit for bit, also if evaluations fail and
    cost nothing.  Of index methods nothing of the kind is asked.
    """
    for seed, (policy, table) in enumerate(policies(method, seeds)):
        if not isinstance(policy, IdentificationPolicy):
            return
        fly(alone := fresh(policy), at_declared_cost(table))
        for at_once in (1, 3, ALL):
            rng, flown = _rng(seed), fresh(policy)
            fly(flown, with_failures(at_declared_cost(table), rng, billed=0.0), at_once, rng)
            for name in ("pulls", "phases", "recommend"):
                ends = [getattr(each, name) for each in (flown, alone)]
                ends = [end() if callable(end) else end for end in ends]
                same = pickle.dumps(ends[0]) == pickle.dumps(ends[1])
                require(same, flown, f"{name} with {at_once} at once {ends[0]}, one at a time {ends[1]}")


def check_budget(method: Method, seeds: Iterable[int] = range(5)) -> None:
    """Check the budget: fixed costs never exceed it, and of random costs only the last.

    With several in flight, of an index policy only the last that was handed out crosses it, and a plan that
    knows the ``largest_costs`` never does.  Also that the smallest budget which a `BudgetError` names works
    and less does not.
    """
    for seed, (policy, table) in enumerate(policies(method, seeds)):
        limit = _check.add_slack(policy.budget)
        fixed, alone = fresh(policy), fresh(policy)
        fly(fixed, at_declared_cost(table))
        require(fixed.spent <= limit, fixed, f"spent {fixed.spent} with fixed costs")
        last = fly(alone, on(table))[-1]
        before = alone.spent - last.told[1] if last.told else 0.0
        require(before <= limit, alone, f"spent {before} before the last evaluation")
        require(fixed.pulls.any() and alone.pulls.any(), fixed, "a budget that works bought nothing")
        _check_budget_in_flight(policy, table, _rng(seed))
    smallest = smallest_budget(method, table)
    try:
        less = policy_on(method, table, 0.999 * smallest)
    except BudgetError:
        return
    require(False, less, f"a budget below {smallest:g}, the smallest that works, was taken")


def _check_budget_in_flight(policy: Any, table: EvaluationTable, rng: np.random.Generator) -> None:
    plan = isinstance(policy, IdentificationPolicy)
    largest = 2 * table.costs if plan else np.full(table.n_arms, table.cost_range[1])

    def evaluate(pull: Pull) -> tuple[Any, float]:
        return on(table)(pull)[0], float(largest[pull] * rng.uniform(0.1, 1.0))

    if (plan and "largest_costs" not in policy.options) or (plan and policy.budget < largest.sum()):
        return
    for at_once in (3, ALL):
        flown = fresh(policy, largest_costs=largest)
        events = fly(flown, with_failures(evaluate, rng, billed=1.0), at_once, rng)
        handed_out = [event.pull.key for event in events if event.told is None]
        charged = {event.pull.key: event.told[1] for event in events if event.told}
        spent = flown.spent - (0.0 if plan else charged[handed_out[-1]])
        require(spent <= _check.add_slack(policy.budget), flown, f"spent {spent}, {at_once} in flight")


def check_options(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a policy made of another's `options`, even after its run, does the same."""
    for policy, table in policies(method, seeds):
        events = fly(policy, on(table))
        again = fresh(policy)
        same = _arms(fly(again, on(table))) == _arms(events)
        require(same, policy, "its options make a policy that asks for others")
        require(result_of(again) == result_of(policy), policy, "its options make a policy that finds others")


def check_pickle(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a policy pickled in mid-run goes on as the original, or that pickling it is a TypeError.

    Plans that are generators cannot be pickled; a `Journal` makes such a policy again from what it was told.
    """
    for policy, table in policies(method, seeds):
        fly(policy, on(table), most=5)
        try:
            copy = pickle.loads(pickle.dumps(policy))
        except TypeError:
            continue
        same = _arms(fly(copy, on(table))) == _arms(fly(policy, on(table)))
        require(same, policy, "its pickle asks for others")
        require(result_of(copy) == result_of(policy), policy, "its pickle finds others")


def _play_kernel(
    policy: Any, table: EvaluationTable, realised: bool, seed: int, replication: int
) -> tuple[list[int], list[float], tuple[Any, ...]]:
    """Arms and charges in their order, and the result as of the policy, of one run of the kernel."""
    feedback, replications = pack_table(table).feedback, np.array([replication])
    without = run_kernel(policy, feedback, seed, replications, realised=realised)
    taken = record(1, int(without.pulls.sum()))
    run = run_kernel(policy, feedback, seed, replications, taken, realised=realised)
    same = all(np.array_equal(a, b) for a, b in zip(without, run, strict=True))
    require(same, policy, "the kernel ends otherwise when it takes its pulls down")
    found = np.flatnonzero(run.returned[0]).tolist() if isinstance(policy, IdentificationPolicy) else None
    result = run.pulls[0].tolist(), float(run.spent[0]), found
    return taken.arms[0].tolist(), taken.charges[0].tolist(), result


def check_kernel_on(
    method: Method,
    table: EvaluationTable,
    budget: float,
    charge: str = "realised",
    seed: int = 5,
    replication: int = 0,
) -> int:
    """Check kernel and class against each other in one run: every pull, and the result to the last bit.

    Parameters
    ----------
    method : str, class or Spec
    table : EvaluationTable
    budget : float
        In the table's unit.
    charge : {"realised", "declared"}
        What a pull is charged; ``"declared"`` is for identification.
    seed, replication : int
        They name the stream.

    Returns
    -------
    int
        Pulls of the run.

    Raises
    ------
    AssertionError
        If they differ.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> check_kernel_on("CoPSI", ragged_table(np.random.default_rng(0), 3, 2), budget=30)
    21
    """
    chosen = chosen_spec(method)
    if chosen.policy not in KERNELS:
        raise CobanditError(f"{chosen.name} has no kernel to check")
    policy = policy_on(chosen, table, budget)
    compiled, charges, result = _play_kernel(policy, table, charge == "realised", seed, replication)
    with guarantees_aside():
        run = play(policy, table, seed=seed, replication=replication, charge=charge)
    arms = run.arms.tolist()
    where = f"{chosen.options or 'no options'}, charge {charge}, seed {seed}, replication {replication}"
    differ = next((t for t, (a, b) in enumerate(zip(arms, compiled, strict=False)) if a != b), None)
    require(differ is None, policy, f"kernel and class part at pull {differ} ({where})")
    require(result == result_of(policy), policy, f"the kernel ends with {result}, {where}")
    require(charges == run.costs.tolist(), policy, f"kernel and class are charged differently ({where})")
    return len(arms)


def check_kernel(method: Method, seeds: Iterable[int] = range(10)) -> None:
    """Check a kernel against its class on random tables, budgets and options.

    Drawn are those options of every online policy (alpha, scales, initialisation, selection) that the spec
    leaves open; options of a method's own are given with `cobandit.spec`.

    Parameters
    ----------
    method : str, class or Spec
    seeds : iterable of int
        One table each, with three budgets.

    Raises
    ------
    AssertionError
        If they differ in a pull, the spend or the result.
    CobanditError
        If the method has no kernel.

    Examples
    --------
    >>> check_kernel("CoHVUCB", seeds=range(2))
    """
    chosen = chosen_spec(method)
    for seed in seeds:
        rng = np.random.default_rng([2, seed])
        table = ragged_table(rng, int(rng.integers(2, 31)), int(rng.integers(1, 5)))
        for factor in rng.choice([1, 1.01, 1.5, 3, 10, 40], 3):
            drawn = {
                "alpha": 10 ** rng.uniform(-4, 0.5),  # small radii show the variance, large ones the clipping
                "reward_scale": rng.choice([0, 0.01, 0.3, 1.0]),
                "cost_scale": rng.choice([0, 0.01, 1.0]),
                "n_init": int(rng.integers(1, 5)),
                "selection": str(rng.choice(["feasible", "all"])),
            }
            taken = inspect.signature(chosen.policy).parameters
            given = {name: value for name, value in drawn.items() if name in taken} | chosen.given
            if "eta" in given:
                del given["n_init"]
            twin = replace(chosen, given=given)
            budget = factor * smallest_budget(twin, table)
            for charge in ("realised",) if twin.kind == "online" else ("declared", "realised"):
                pulls = check_kernel_on(twin, table, budget, charge, replication=seed)
                if not pulls and charge == "declared":
                    raise AssertionError(f"{twin}: a budget that works bought nothing")
