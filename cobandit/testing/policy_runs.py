"""Runs of policies on tables, with results in any order and with failures."""

from __future__ import annotations

import inspect
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.errors import BudgetError, GuaranteeWarning
from cobandit.policies.asktell import AskTell, Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.registry import Spec, spec
from cobandit.replay.grid import GridCell, make_policy, pack_table
from cobandit.tables import EvaluationTable
from cobandit.testing.small_tables import ragged_table

#: A method, in any form that replays accept.
Method = str | type[AskTell] | Spec
#: Function that returns reward and cost of an evaluation; None as reward is a failure.
Evaluate = Callable[[Pull], tuple[Any, float]]
#: Number of evaluations in flight that stands for no limit.
ALL = 10**9


def as_spec(method: Method) -> Spec:
    """Return the spec of a method; a spec is returned unchanged."""
    return method if isinstance(method, Spec) else spec(method)


def policy_on(method: Method, table: EvaluationTable, budget: float) -> Any:
    """Return the policy that a replay of a method on a table would use.

    Parameters
    ----------
    method : str, class or Spec
    table : EvaluationTable
    budget : float
        Budget in the table's unit.

    Returns
    -------
    OnlinePolicy or IdentificationPolicy

    Raises
    ------
    BudgetError
        If the budget is too small for the method.

    Examples
    --------
    >>> from cobandit.testing.small_tables import table_of
    >>> table = table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7)] * 2])
    >>> policy_on("CoPSI", table, budget=30)
    CoPSI(2 arms, 1 objectives, spent 0 of 30 in 0 pulls)
    """
    rho = budget / float(table.costs.sum())
    cell = GridCell(as_spec(method), rho, budget, np.arange(1), 0)
    return make_policy(pack_table(table), cell)


def smallest_budget(method: Method, table: EvaluationTable) -> float:
    """Return the smallest budget that a method accepts on a table.

    Raises
    ------
    AssertionError
        If the method accepts a budget that pays for no evaluation.

    Examples
    --------
    >>> from cobandit.testing.small_tables import table_of
    >>> table = table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7)] * 2])
    >>> smallest_budget("UniformIdentification", table)
    3.0
    """
    too_small = float(table.costs.min()) / 1e3
    return refuse_budget(method, table, too_small, "that pays for no evaluation")


def refuse_budget(
    method: Method, table: EvaluationTable, budget: float, which: str
) -> float:
    """Check that a budget is rejected, and return the smallest accepted budget."""
    try:
        policy = policy_on(method, table, budget)
    except BudgetError as error:
        return error.smallest
    raise AssertionError(f"{policy!r}: a budget {which} raised no BudgetError")


def require(holds: bool, policy: AskTell, message: str) -> None:
    """Raise AssertionError unless a condition holds, even if Python runs with -O."""
    if not holds:
        raise AssertionError(f"{policy!r}: {message}")


def guarantees_aside() -> warnings.catch_warnings[None]:
    """Return a context manager that ignores warnings about costs out of range.

    Costs drawn from a table may be outside the profiled range.
    """
    return warnings.catch_warnings(action="ignore", category=GuaranteeWarning)


def draw_policies(
    method: Method, seeds: Iterable[int]
) -> Iterator[tuple[Any, EvaluationTable, Any]]:
    """Yield policies with random tables and several budgets.

    Each policy comes with its table, and with a random generator.
    """
    for seed in seeds:
        rng = np.random.default_rng([1, seed])
        table = ragged_table(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)))
        smallest = smallest_budget(method, table)
        for factor in (1.0, 1.5, 6.0):
            yield policy_on(method, table, factor * smallest), table, rng


def remake(policy: AskTell, **options: Any) -> Any:
    """Return a new policy with the options of another one, some of them replaced."""
    return type(policy)(**policy.options | options)


def evaluate_on(table: EvaluationTable, declared: bool = False) -> Evaluate:
    """Return a function that gives reward and cost of a pull, from a table's rows.

    Successive pulls of an arm use successive rows of this arm in the evaluation split.

    Parameters
    ----------
    table : EvaluationTable
    declared : bool
        Whether the cost is the arm's mean profiling cost, instead of the row's cost.

    Examples
    --------
    >>> from cobandit.testing.small_tables import table_of
    >>> evaluate = evaluate_on(table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7), (3.0, 0.8)]]))
    >>> evaluate(Pull(1, 3))
    (array([0.8]), 3.0)
    """

    def evaluate(pull: Pull) -> tuple[NDArray[np.float64], float]:
        first, last = table.feedback.offsets[int(pull) : int(pull) + 2]
        row = first + pull.number % (last - first)
        cost = table.costs[int(pull)] if declared else table.feedback.costs[row]
        return table.feedback.rewards[row], float(cost)

    return evaluate


def with_failures(
    evaluate: Evaluate, rng: np.random.Generator, billed: float
) -> Evaluate:
    """Return a version of ``evaluate`` that fails in a third of the calls.

    A failure costs the share ``billed`` of the evaluation's cost.
    """

    def tried(pull: Pull) -> tuple[Any, float]:
        reward, cost = evaluate(pull)
        if rng.random() < 1 / 3:
            return None, billed * cost
        return reward, cost

    return tried


class Event(NamedTuple):
    """A step of a run: the request for an evaluation, or its result."""

    pull: Pull  #: the evaluation
    result: tuple[Any, float] | None  #: reward and cost; None for the request


def fly(
    policy: AskTell,
    evaluate: Evaluate,
    at_once: int = 1,
    rng: np.random.Generator | None = None,
) -> list[Event]:
    """Run a policy to its end with several evaluations in flight.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
    evaluate : callable
        Returns reward and cost of a `Pull`; None as reward is a failure.
    at_once : int
        Largest number of evaluations in flight.
    rng : Generator, optional
        Generator that chooses which result arrives next. By default, results arrive in
        the order of the requests.

    Returns
    -------
    list of Event
        Requests and results, in the order of the run.

    Raises
    ------
    AssertionError
        If the policy requests no evaluation although it is not finished.

    Examples
    --------
    >>> from cobandit import CoPSI
    >>> policy = CoPSI([1, 2], budget=30, n_objectives=1)
    >>> events = fly(policy, lambda pull: ([0.5], 1.0), at_once=9)
    >>> policy.finished, [int(event.pull) for event in events if event.result is None]
    (True, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """
    events: list[Event] = []
    flying: list[Pull] = []
    handed_out = set()  # evaluations in flight or with a result
    with guarantees_aside():
        while not policy.finished:
            while len(flying) < at_once and (pull := policy.ask()) is not None:
                require(
                    isinstance(pull, Pull),
                    policy,
                    f"ask returned {pull!r}, which is not a Pull",
                )
                require(
                    pull.key not in handed_out,
                    policy,
                    f"evaluation {pull.key} was requested twice",
                )
                handed_out.add(pull.key)
                flying.append(pull)
                events.append(Event(pull, None))
            require(
                bool(flying),
                policy,
                "the policy is not finished, but ask returned None with nothing in"
                " flight",
            )
            pull = flying.pop(int(rng.integers(len(flying))) if rng else 0)
            result = evaluate(pull)
            policy.tell(pull, *result)
            if result[0] is None:
                handed_out.remove(pull.key)
            events.append(Event(pull, result))

    return events


def result_of(policy: Any) -> tuple[Any, ...]:
    """Return pulls, total cost and recommendation (None for an online policy)."""
    recommended = None
    if isinstance(policy, IdentificationPolicy):
        recommended = policy.recommend().tolist()
    return policy.pulls.tolist(), policy.spent, recommended


def snapshot(policy: AskTell) -> bytes:
    """Return the state of a policy as bytes, including random generators.

    Examples
    --------
    >>> from cobandit import CoPSI
    >>> policy = CoPSI([1, 2], budget=30, n_objectives=1)
    >>> before = snapshot(policy)
    >>> arm = policy.ask()
    >>> snapshot(policy) == before
    False
    """
    state = dict(vars(policy))
    for name, value in vars(policy).items():
        if inspect.isgenerator(value):
            variables = dict(inspect.getgeneratorlocals(value))
            variables.pop("self", None)
            position = value.gi_frame and value.gi_frame.f_lasti
            state[name] = position, variables
    return pickle.dumps(state)
