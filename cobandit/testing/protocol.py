"""What holds for every policy, whatever it decides: ask and tell, and the same pulls as its kernel.

Policies are played on tables made up for it: in flight, told in any order, with
failures.
"""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _budget
from cobandit.errors import BudgetError, CobanditError, GuaranteeWarning
from cobandit.policies.asktell import AskTell, Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.registry import KERNELS, Spec, spec
from cobandit.replay.grid import GridCell, make_policy, pack_table
from cobandit.replay.kernels import record
from cobandit.replay.running import play, run_kernel
from cobandit.tables import EvaluationTable
from cobandit.tables.profiling import profiling_mask


def table_of(
    arms: Sequence[Sequence[Sequence[float]]],
    *,
    costs_seen: Sequence[Sequence[float]] | None = None,
    kind: str = "synthetic",
    name: str = "made-up",
) -> EvaluationTable:
    """Make a table of given evaluation rows.

    Parameters
    ----------
    arms : sequence
        ``arms[i]`` are the evaluation rows of arm i: ``(cost, reward_1, ...,
        reward_D)`` each.
    costs_seen : sequence, optional
        Costs of the profiling rows of each arm, two or more; default: those of its
        first and last evaluation row.
    kind, name : str
        As on its card.

    Returns
    -------
    EvaluationTable

    Examples
    --------
    >>> table = table_of([[(1.0, 0.5), (3.0, 0.7)], [(2.0, 1.0), (2.0, 0.0)]])
    >>> table.costs, table.problem.means
    (array([2., 2.]), array([[0.6],
           [0.5]]))
    """
    costs_seen = costs_seen or [[rows[0][0], rows[-1][0]] for rows in arms]
    n_profiling, n_others = (max(map(len, rows)) for rows in (costs_seen, arms))

    # the instances by split: those for profiling come first
    place = np.argsort(
        ~profiling_mask(n_profiling + n_others, n_profiling, seed=0), kind="stable"
    )
    values = np.full((len(arms), len(place), len(arms[0][0])), np.nan)
    for own, rows, seen in zip(values, arms, costs_seen, strict=True):
        own[place[: len(seen)]] = 0.5
        own[place[: len(seen)], 0] = seen
        own[place[n_profiling : n_profiling + len(rows)]] = rows

    costs, rewards = values[:, :, 0], values[:, :, 1:]
    return EvaluationTable.from_arrays(
        rewards,
        costs,
        profiling=n_profiling,
        name=name,
        title=f"Made up ({kind})",
        kind=kind,
    )


def ragged_table(
    rng: np.random.Generator,
    n_arms: int,
    n_objectives: int,
    noise: float = 0.5,
) -> EvaluationTable:
    """Make a random table in which each arm has its own number of instances, mean cost and mean rewards.

    Parameters
    ----------
    rng : Generator
    n_arms, n_objectives : int
    noise : float
        Costs lie within ``1 - noise`` and ``1 + noise`` times their mean.  Rewards have
        one decimal, so that ties are frequent.

    Returns
    -------
    EvaluationTable

    Examples
    --------
    >>> table = ragged_table(np.random.default_rng(0), n_arms=3, n_objectives=2)
    >>> table.n_arms, table.n_objectives
    (3, 2)
    """
    arms, seen = [], []
    for _ in range(n_arms):
        base, mean = rng.uniform(0.1, 1.0), rng.uniform(size=n_objectives)
        n = int(rng.integers(2, 12, endpoint=True))
        costs = base * rng.uniform(1 - noise, 1 + noise, n)
        rewards = np.clip(
            np.round(mean + rng.normal(0, 0.3, (n, n_objectives)), 1), 0, 1
        )
        arms.append(np.column_stack([costs, rewards]).tolist())
        seen.append(
            (base * rng.uniform(1 - noise, 1 + noise, int(rng.integers(2, 5)))).tolist()
        )
    return table_of(arms, costs_seen=seen)


#: What a replay takes for a method.
Method = str | type[AskTell] | Spec


def _chosen(method: Method) -> Spec:
    """As `cobandit.spec`, which does not take what it returns."""
    return method if isinstance(method, Spec) else spec(method)


def policy_on(method: Method, table: EvaluationTable, budget: float) -> Any:
    """Make the policy that a replay of this method on this table plays.

    Parameters
    ----------
    method : str, class or Spec
    table : EvaluationTable
    budget : float
        In the table's unit.

    Returns
    -------
    OnlinePolicy or IdentificationPolicy

    Raises
    ------
    BudgetError
        If the budget is too small for the method.

    Examples
    --------
    >>> policy_on("CoPSI", table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7)] * 2]), budget=30)
    CoPSI(2 arms, 1 objectives, spent 0 of 30 in 0 pulls)
    """
    cell = GridCell(
        _chosen(method), budget / float(table.costs.sum()), budget, np.arange(1), 0
    )
    return make_policy(pack_table(table), cell)


def smallest_budget(method: Method, table: EvaluationTable) -> float:
    """Smallest budget that works for a method on a table, as its own `BudgetError` names it.

    Raises
    ------
    AssertionError
        If the method takes a budget that pays for no evaluation.

    Examples
    --------
    >>> smallest_budget("UniformIdentification", table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7)] * 2]))
    3.0
    """
    return _smallest_beyond(
        method, table, float(table.costs.min()) / 1e3, "that pays for no evaluation"
    )


def _smallest_beyond(
    method: Method, table: EvaluationTable, budget: float, which: str
) -> float:
    """Smallest budget that works, as the `BudgetError` names it by which a smaller one has to be refused."""
    try:
        policy = policy_on(method, table, budget)
    except BudgetError as error:
        return error.smallest
    raise AssertionError(
        f"{policy!r}: a budget {which} was not refused by a BudgetError"
    )


#: Gives reward and cost of an evaluation; a reward that is None is a failure.
Feedback = Callable[[Pull], tuple[Any, float]]


def _require(holds: bool, policy: AskTell, message: str) -> None:
    """Raise an AssertionError about a policy unless something holds; Python's -O leaves this one standing."""
    if not holds:
        raise AssertionError(f"{policy!r}: {message}")


def guarantees_aside() -> warnings.catch_warnings[None]:
    """Costs drawn from a table may leave the range that was profiled; every policy warns of it."""
    return warnings.catch_warnings(action="ignore", category=GuaranteeWarning)


def _policies(
    method: Method, seeds: Iterable[int]
) -> Iterator[tuple[Any, EvaluationTable, Any]]:
    """Fresh policies at the smallest budget and above it, each with its small random table and generator."""
    for seed in seeds:
        rng = np.random.default_rng([1, seed])
        table = ragged_table(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)))
        for factor in (1.0, 1.5, 6.0):
            yield (
                policy_on(method, table, factor * smallest_budget(method, table)),
                table,
                rng,
            )


def _fresh(policy: AskTell, **options: Any) -> Any:
    """Make a policy of the same options, but for those given."""
    return type(policy)(**policy.options | options)


def on(table: EvaluationTable, declared: bool = False) -> Feedback:
    """Feedback from a table: each arm has its instances in turn, charged what they cost or was profiled.

    Examples
    --------
    >>> on(table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7), (3.0, 0.8)]]))(Pull(1, 3))
    (array([0.8]), 3.0)
    """

    def evaluate(pull: Pull) -> tuple[NDArray[np.float64], float]:
        first, last = table.feedback.offsets[int(pull) : int(pull) + 2]
        row = first + pull.number % (last - first)
        cost = table.costs[int(pull)] if declared else table.feedback.costs[row]
        return table.feedback.rewards[row], float(cost)

    return evaluate


def with_failures(
    evaluate: Feedback, rng: np.random.Generator, billed: float
) -> Feedback:
    """Let a third of the evaluations fail, at a part of their cost."""

    def tried(pull: Pull) -> tuple[Any, float]:
        reward, cost = evaluate(pull)
        return (None, billed * cost) if rng.random() < 1 / 3 else (reward, cost)

    return tried


class Event(NamedTuple):
    """A step of a run: ``told`` is None where an evaluation was handed out, else its reward and cost."""

    pull: Pull
    told: tuple[Any, float] | None


def fly(
    policy: AskTell,
    evaluate: Feedback,
    at_once: int = 1,
    rng: np.random.Generator | None = None,
) -> list[Event]:
    """Play a policy to its end with several evaluations in flight, told in random order.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
    evaluate : callable
        Gives reward and cost of a `Pull`; a reward that is None is a failure.
    at_once : int
        Most evaluations in flight.
    rng : Generator, optional
        Which result comes next; without it the oldest.

    Returns
    -------
    list of Event
        In their order.

    Raises
    ------
    AssertionError
        If the policy neither goes on nor says that it is finished.

    Examples
    --------
    >>> from cobandit import CoPSI
    >>> policy = CoPSI([1, 2], budget=30, n_objectives=1)
    >>> events = fly(policy, lambda pull: ([0.5], 1.0), at_once=9)
    >>> policy.finished, [int(event.pull) for event in events if event.told is None]
    (True, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """
    events: list[Event] = []

    flying: list[Pull] = []
    handed_out = set()  # and not failed since
    with guarantees_aside():
        while not policy.finished:
            while len(flying) < at_once and (pull := policy.ask()) is not None:
                _require(
                    isinstance(pull, Pull),
                    policy,
                    f"ask gave {pull!r}, which is no Pull",
                )
                _require(
                    pull.key not in handed_out,
                    policy,
                    f"evaluation {pull.key} is handed out twice",
                )
                handed_out.add(pull.key)
                flying.append(pull)
                events.append(Event(pull, None))
            _require(
                bool(flying),
                policy,
                "it is not finished, but ask gave None with nothing in flight",
            )
            pull = flying.pop(int(rng.integers(len(flying))) if rng else 0)
            result = evaluate(pull)
            policy.tell(pull, *result)
            if result[0] is None:
                handed_out.remove(pull.key)
            events.append(Event(pull, result))

    return events


def _result_of(policy: Any) -> tuple[Any, ...]:
    """Return what a run left: pulls, spend, and what an identification policy recommends."""
    found = (
        policy.recommend().tolist()
        if isinstance(policy, IdentificationPolicy)
        else None
    )
    return policy.pulls.tolist(), policy.spent, found


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
    """Return the arm, reward and cost that `tell` must refuse while only one evaluation is in flight.

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
    for check in (check_ask, check_tell, check_order, check_budget, check_copies):
        check(method)


def _follow(
    policy: Any, events: list[Event], otherwise: str = "asking in vain matters"
) -> None:
    """Do again what was done, without the asks that gave None, and count along."""
    in_flight, pulls = np.zeros((2, policy.n_arms), dtype=np.int64)

    waiting = [{0} for _ in pulls]  # numbers of each arm, of which the least comes next
    spent = 0.0
    for pull, told in events:
        if told is None:
            again = policy.ask()
            same = again is not None and again.key == pull.key
            _require(same, policy, f"{otherwise} ({again!r})")
            number = min(waiting[pull])
            _require(
                pull.number == number,
                policy,
                f"number {pull.number} of arm {pull}, not {number}",
            )
            waiting[pull] = waiting[pull] - {number} or {number + 1}
            in_flight[pull] += 1
        else:
            with guarantees_aside():
                policy.tell(pull, *told)
            if told[0] is None:
                waiting[pull].add(pull.number)
            pulls[pull] += told[0] is not None
            in_flight[pull] -= 1
            spent += told[1]
        told_of: dict[str, Any] = {
            "in_flight": in_flight,
            "pulls": pulls,
            "spent": spent,
        }
        wrong = [
            name
            for name, value in told_of.items()
            if np.any(getattr(policy, name) != value)
        ]
        _require(not wrong, policy, f"{' and '.join(wrong)} not as told")


def check_ask(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that `ask` hands out each evaluation once, and that asking in vain changes nothing.

    With one, three or any number in flight, told in any order: the numbers of an arm
    count from 0, and ``in_flight``, ``pulls`` and ``spent`` are what was handed out and
    told.  A failure is charged and not scored, and the same evaluation is handed out
    again.  Once the policy is ``finished``, `ask` gives None for good.
    """
    for policy, table, rng in _policies(method, seeds):
        for at_once, evaluate in product(
            (1, 3, ALL), (on(table), with_failures(on(table), rng, billed=0.5))
        ):
            flown = _fresh(policy)
            events = fly(flown, evaluate, at_once, rng)
            _require(
                flown.ask() is None and flown.finished,
                flown,
                "ask went on after it was finished",
            )
            _follow(_fresh(policy), events)


def check_tell(method: Method) -> None:
    """Check that `tell` refuses what is not valid, changes nothing then, and counts what is valid."""
    table = table_of(
        [[(1.0, 0.5, 0.5), (1.5, 0.5, 0.5)], [(0.5, 0.25, 0.75), (1.0, 0.25, 0.75)]]
    )
    policy = policy_on(method, table, 3 * smallest_budget(method, table))

    def refused(case: str, *told: Any) -> None:
        before = snapshot(policy)
        try:
            policy.tell(*told)
        except CobanditError:
            _require(
                snapshot(policy) == before,
                policy,
                f"a refused tell changed the policy ({case})",
            )
        else:
            _require(False, policy, f"tell{told} was not refused ({case})")

    refused("before any ask", 0, [0.5, 0.5], 1.0)
    arm = int(policy.ask())
    for case, told in bad_tells(arm).items():
        refused(case, *told)
    policy.tell(np.int64(arm), [0.5, 0.5], 1.0)
    _require(
        policy.spent == 1.0 and policy.pulls[arm] == policy.pulls.sum() == 1,
        policy,
        "a lost tell",
    )
    refused("told twice", arm, [0.5, 0.5], 1.0)


def check_order(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a plan comes to the same end with any number in flight, told in any order.

    Pulls, phases and recommendation are those of one at a time, bit for bit, also if
    evaluations fail and cost nothing.  Of index methods nothing of the kind is asked.
    """

    def end_of(plan: Any) -> list[bytes]:
        return [
            pickle.dumps(end) for end in (plan.pulls, plan.phases, plan.recommend())
        ]

    for policy, table, rng in _policies(method, seeds):
        if not isinstance(policy, IdentificationPolicy):
            return
        evaluate = on(table, declared=True)
        fly(alone := _fresh(policy), evaluate)
        for at_once in (1, 3, ALL):
            fly(
                flown := _fresh(policy),
                with_failures(evaluate, rng, billed=0.0),
                at_once,
                rng,
            )
            _require(
                end_of(flown) == end_of(alone),
                flown,
                f"it ends otherwise with {at_once} at once",
            )


def check_budget(method: Method, seeds: Iterable[int] = range(5)) -> None:
    """Check the budget: fixed costs never exceed it, and of random costs only the last.

    With several in flight, of an index policy only the last that was handed out crosses
    it, and a plan that knows the ``largest_costs`` never does.  Also that the smallest
    budget which a `BudgetError` names works and less does not.
    """
    for policy, table, rng in _policies(method, seeds):
        limit = _budget.add_slack(policy.budget)
        fixed, alone = _fresh(policy), _fresh(policy)
        fly(fixed, on(table, declared=True))
        _require(fixed.spent <= limit, fixed, f"spent {fixed.spent} with fixed costs")
        last = fly(alone, on(table))[-1]
        before = alone.spent - last.told[1] if last.told else 0.0
        _require(before <= limit, alone, f"spent {before} before the last evaluation")
        _require(
            fixed.pulls.any() and alone.pulls.any(),
            fixed,
            "a budget that works bought nothing",
        )
        _check_budget_in_flight(policy, table, rng)

    smallest = smallest_budget(method, table)
    _smallest_beyond(
        method, table, 0.999 * smallest, f"below {smallest:g}, the smallest that works,"
    )


def _check_budget_in_flight(
    policy: Any, table: EvaluationTable, rng: np.random.Generator
) -> None:
    plan = isinstance(policy, IdentificationPolicy)
    largest = 2 * table.costs if plan else np.full(table.n_arms, table.cost_range[1])
    if plan and (
        "largest_costs" not in policy.options or policy.budget < largest.sum()
    ):
        return

    def evaluate(pull: Pull) -> tuple[Any, float]:
        return on(table)(pull)[0], float(largest[pull] * rng.uniform(0.1, 1.0))

    for at_once in (3, ALL):
        flown = _fresh(policy, **{"largest_costs": largest} if plan else {})
        events = fly(flown, with_failures(evaluate, rng, billed=1.0), at_once, rng)
        handed_out = [event.pull.key for event in events if event.told is None]
        charged = {event.pull.key: event.told[1] for event in events if event.told}
        spent = flown.spent - (0.0 if plan else charged[handed_out[-1]])
        _require(
            spent <= _budget.add_slack(policy.budget),
            flown,
            f"spent {spent}, {at_once} in flight",
        )


def check_copies(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a policy made of another's `options` after its run, or pickled in mid-run, does the same.

    Plans that are generators cannot be pickled; a `Journal` makes such a policy again
    from what it was told.
    """

    def does_the_same(copy: Any, original: Any, events: list[Event], how: str) -> None:
        same = [event.pull for event in fly(copy, evaluate)] == [
            event.pull for event in events
        ]
        _require(same, original, f"{how} asks for others")
        _require(
            _result_of(copy) == _result_of(original), original, f"{how} finds others"
        )

    for policy, table, _ in _policies(method, seeds):
        evaluate, half = on(table), _fresh(policy)
        events = fly(policy, evaluate)
        does_the_same(_fresh(policy), policy, events, "a policy of its options")
        # five are handed out and told
        _follow(half, events[:10], "another of its options asks for others")
        try:
            copy = pickle.loads(pickle.dumps(half))
        except TypeError:
            continue
        does_the_same(copy, half, fly(half, evaluate), "its pickle")


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
    chosen = _chosen(method)
    if chosen.policy not in KERNELS:
        raise CobanditError(f"{chosen.name} has no kernel to check")

    policy = policy_on(chosen, table, budget)
    feedback, replications = pack_table(table).feedback, np.array([replication])
    realised = charge == "realised"
    without = run_kernel(policy, feedback, seed, replications, realised=realised)
    taken = record(1, int(without.pulls.sum()))
    kernel = run_kernel(policy, feedback, seed, replications, taken, realised=realised)
    with guarantees_aside():
        run = play(policy, table, seed=seed, replication=replication, charge=charge)
    where = (
        f"{chosen.options or 'no options'}, charge {charge}, seed {seed}, replication"
        f" {replication}"
    )
    same = all(np.array_equal(a, b) for a, b in zip(without, kernel, strict=True))
    _require(
        same,
        policy,
        f"the kernel ends otherwise when it takes its pulls down ({where})",
    )
    arms, compiled = run.arms.tolist(), taken.arms[0].tolist()
    differ = next(
        (t for t, (a, b) in enumerate(zip(arms, compiled, strict=False)) if a != b),
        None,
    )
    _require(
        differ is None, policy, f"kernel and class part at pull {differ} ({where})"
    )
    found = (
        np.flatnonzero(kernel.returned[0]).tolist() if chosen.kind != "online" else None
    )
    result = kernel.pulls[0].tolist(), float(kernel.spent[0]), found
    _require(
        result == _result_of(policy), policy, f"the kernel ends with {result}, {where}"
    )
    charged = taken.charges[0].tolist() == run.costs.tolist()
    _require(charged, policy, f"kernel and class are charged differently ({where})")
    return len(arms)


def check_kernel(method: Method, seeds: Iterable[int] = range(10)) -> None:
    """Check a kernel against its class on random tables, budgets and options.

    Drawn are those options of every online policy (alpha, scales, initialisation,
    selection) that the spec leaves open; options of a method's own are given with
    `cobandit.spec`.

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
    chosen = _chosen(method)
    for seed in seeds:
        rng = np.random.default_rng([2, seed])
        table = ragged_table(rng, int(rng.integers(2, 31)), int(rng.integers(1, 5)))
        for factor in rng.choice([1, 1.01, 1.5, 3, 10, 40], 3):
            drawn = {
                # small radii show the variance, large ones the clipping
                "alpha": 10 ** rng.uniform(-4, 0.5),
                "reward_scale": rng.choice([0, 0.01, 0.3, 1.0]),
                "cost_scale": rng.choice([0, 0.01, 1.0]),
                "n_init": int(rng.integers(1, 5)),
                "selection": str(rng.choice(["feasible", "all"])),
            }
            taken = inspect.signature(chosen.policy).parameters
            given = {
                name: value for name, value in drawn.items() if name in taken
            } | chosen.given
            if "eta" in given:
                del given["n_init"]
            twin = replace(chosen, given=given)
            budget = factor * smallest_budget(twin, table)
            for charge in (
                ("realised",) if twin.kind == "online" else ("declared", "realised")
            ):
                check_kernel_on(twin, table, budget, charge, replication=seed)
