"""Ask and tell: what holds for every policy, whatever it decides."""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import BudgetError, CobanditError, GuaranteeWarning
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.tables import EvaluationTable
from cobandit.testing.tables import Method, policy_on, ragged_table, smallest_budget, table_of


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
    """What `tell` must refuse while ``arm`` is waiting and there are two objectives: arm, reward and cost.

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
    }


def require(holds: bool, policy: AskTell, message: str) -> None:
    """Raise an AssertionError about a policy unless something holds; Python's -O leaves this one standing."""
    if not holds:
        raise AssertionError(f"{policy!r}: {message}")


@contextmanager
def guarantees_aside() -> Iterator[None]:
    """Costs drawn from a table may leave the range that was profiled; every policy warns of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        yield


def _policies(method: Method, seeds: Iterable[int]) -> Iterator[tuple[Any, EvaluationTable]]:
    """Fresh policies on small random tables, at the smallest budget and above it."""
    for seed in seeds:
        rng = np.random.default_rng([1, seed])
        table = ragged_table(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)))
        for factor in (1.0, 1.5, 6.0):
            yield policy_on(method, table, factor * smallest_budget(method, table)), table


def _feedback(policy: AskTell, table: EvaluationTable, arm: int) -> tuple[NDArray[np.float64], float]:
    """Reward and cost of the next evaluation of an arm: its instances in turn."""
    first, last = table.feedback.offsets[arm : arm + 2]
    row = first + policy.pulls[arm] % (last - first)
    return table.feedback.rewards[row], float(table.feedback.costs[row])


def _play_on(policy: AskTell, table: EvaluationTable, most: int | None = None) -> list[int]:
    """Play until the policy stops, or ``most`` pulls; the arms in their order."""
    arms: list[int] = []
    with guarantees_aside():
        while len(arms) != most and (arm := policy.ask()) is not None:
            policy.tell(arm, *_feedback(policy, table, arm))
            arms.append(arm)
    return arms


def result_of(policy: Any) -> tuple[Any, ...]:
    """What a run left: pulls, spend, and what an identification policy recommends."""
    found = policy.recommend().tolist() if isinstance(policy, IdentificationPolicy) else None
    return policy.pulls.tolist(), policy.spent, found


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
    for check in (check_ask, check_tell, check_budget, check_options, check_pickle):
        check(method)


def check_ask(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that `ask` names an arm, the same one until it is told, and None for good at the end."""
    for policy, table in _policies(method, seeds):
        with guarantees_aside():
            while (arm := policy.ask()) is not None:
                require(isinstance(arm, int) and 0 <= arm < table.n_arms, policy, f"ask gave {arm!r}")
                before = snapshot(policy)
                require(policy.ask() == arm, policy, f"ask gave another arm than {arm}, which was not told")
                require(snapshot(policy) == before, policy, "a second ask changed the policy")
                policy.tell(arm, *_feedback(policy, table, arm))
        require(policy.ask() is None, policy, "ask went on after it had returned None")


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
    arm = policy.ask()
    require(policy.waiting == arm, policy, f"asked for {arm}, but {policy.waiting} is waiting")
    for case, told in bad_tells(arm).items():
        refused(case, *told)
    policy.tell(np.int64(arm), [0.5, 0.5], 1.0)
    require(policy.spent == 1.0 and policy.pulls[arm] == policy.pulls.sum() == 1, policy, "a lost tell")
    require(policy.waiting is None, policy, f"{policy.waiting} is waiting after it was told")
    refused("told twice", arm, [0.5, 0.5], 1.0)


def check_budget(method: Method, seeds: Iterable[int] = range(5)) -> None:
    """Check the budget: fixed costs never exceed it, and of random costs only the last.

    Also that the smallest budget which a `BudgetError` names works and less does not, and that ``spent`` and
    ``pulls`` are what was told.
    """
    for policy, table in _policies(method, seeds):
        limit = _check.with_slack(policy.budget)
        for realised in (False, True):
            again = type(policy)(**policy.options)
            spent, pulls = 0.0, np.zeros(table.n_arms, dtype=np.int64)
            with guarantees_aside():
                while (arm := again.ask()) is not None:
                    require(spent <= limit, again, "asked for an evaluation after the budget was spent")
                    reward, cost = _feedback(again, table, arm)
                    cost = cost if realised else float(table.costs[arm])
                    again.tell(arm, reward, cost)
                    spent += cost
                    pulls[arm] += 1
                    require(again.spent == spent, again, f"spent is {again.spent}, told were {spent}")
            require((again.pulls == pulls).all(), again, f"pulls are {again.pulls}, told were {pulls}")
            require(realised or spent <= limit, again, f"spent {spent} with fixed costs")
            require(pulls.sum() > 0, again, "a budget that works bought nothing")
    smallest = smallest_budget(method, table)
    try:
        less = policy_on(method, table, 0.999 * smallest)
    except BudgetError:
        return
    require(False, less, f"a budget below {smallest:g}, the smallest that works, was taken")


def check_options(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a policy made of another's `options`, even after its run, does the same."""
    for policy, table in _policies(method, seeds):
        arms = _play_on(policy, table)
        again = type(policy)(**policy.options)
        require(_play_on(again, table) == arms, policy, "its options make a policy that asks for others")
        require(result_of(again) == result_of(policy), policy, "its options make a policy that finds others")


def check_pickle(method: Method, seeds: Iterable[int] = range(3)) -> None:
    """Check that a policy pickled in mid-run goes on as the original, or that pickling it is a TypeError.

    Plans that are generators cannot be pickled; a `Journal` makes such a policy again from what it was told.
    """
    for policy, table in _policies(method, seeds):
        _play_on(policy, table, 5)
        try:
            copy = pickle.loads(pickle.dumps(policy))
        except TypeError:
            continue
        require(_play_on(copy, table) == _play_on(policy, table), policy, "its pickle asks for others")
        require(result_of(copy) == result_of(policy), policy, "its pickle finds others")
