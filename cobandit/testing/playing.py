"""Tables made up for a test, and runs of policies on them: in flight, told in any order, with failures."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.errors import BudgetError, GuaranteeWarning
from cobandit.policies.asktell import AskTell, Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.registry import Spec, spec
from cobandit.tables import EvaluationTable
from cobandit.tables.columns import profiling_mask


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
        ``arms[i]`` are the evaluation rows of arm i: ``(cost, reward_1, ..., reward_D)`` each.
    costs_seen : sequence, optional
        Costs of the profiling rows of each arm, two or more; default: those of its first and last
        evaluation row.
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
    if costs_seen is None:
        costs_seen = [[rows[0][0], rows[-1][0]] for rows in arms]
    n_profiling = max(map(len, costs_seen))
    n_instances = n_profiling + max(map(len, arms))
    profiling = profiling_mask(n_instances, n_profiling, seed=0)
    known, rest = np.flatnonzero(profiling), np.flatnonzero(~profiling)
    rewards = np.full((len(arms), n_instances, len(arms[0][0]) - 1), np.nan)
    costs = np.full((len(arms), n_instances), np.nan)
    for i, (rows, seen) in enumerate(zip(arms, costs_seen, strict=True)):
        costs[i, known[: len(seen)]], rewards[i, known[: len(seen)]] = seen, 0.5
        costs[i, rest[: len(rows)]] = [row[0] for row in rows]
        rewards[i, rest[: len(rows)]] = [row[1:] for row in rows]
    return EvaluationTable.from_arrays(
        rewards,
        costs,
        configs=[f"arm{i:03d}" for i in range(len(arms))],
        instances=[f"q{q:05d}" for q in range(n_instances)],
        profiling=n_profiling,
        name=name,
        title=f"Made up ({kind})",
        kind=kind,
    )


def ragged_table(
    rng: np.random.Generator,
    n_arms: int,
    n_objectives: int,
    sizes: tuple[int, int] = (2, 12),
    noise: float = 0.5,
) -> EvaluationTable:
    """Make a random table in which each arm has its own number of instances, mean cost and mean rewards.

    Parameters
    ----------
    rng : Generator
    n_arms, n_objectives : int
    sizes : (int, int)
        Fewest and most evaluation instances of an arm.
    noise : float
        Costs lie within ``1 - noise`` and ``1 + noise`` times their mean.  Rewards have one decimal, so
        that ties are frequent.

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
        n = int(rng.integers(*sizes, endpoint=True))
        costs = base * rng.uniform(1 - noise, 1 + noise, n)
        rewards = np.clip(np.round(mean + rng.normal(0, 0.3, (n, n_objectives)), 1), 0, 1)
        arms.append(np.column_stack([costs, rewards]).tolist())
        seen.append((base * rng.uniform(1 - noise, 1 + noise, int(rng.integers(2, 5)))).tolist())
    return table_of(arms, costs_seen=seen)


#: What a replay takes for a method.
Method = str | type[AskTell] | Spec


def chosen_spec(method: Method) -> Spec:
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
    chosen = chosen_spec(method)
    given: dict[str, Any] = {"budget": budget, "n_objectives": table.n_objectives}
    if chosen.kind == "online":
        given |= {"n_arms": table.n_arms, "cost_range": table.cost_range, "expected_costs": table.costs}
    else:
        given |= {"costs": table.costs}
    if chosen.kind == "once":
        given |= {"n_instances": int(np.diff(table.feedback.offsets).min())}
    return chosen.make(budget / float(table.costs.sum()), **given)


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
    try:
        policy = policy_on(method, table, float(table.costs.min()) / 1e3)
    except BudgetError as error:
        return error.smallest
    raise AssertionError(f"{policy!r}: a budget that pays for no evaluation was not refused by a BudgetError")


#: Gives reward and cost of an evaluation; a reward that is None is a failure.
Feedback = Callable[[Pull], tuple[Any, float]]


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


def policies(method: Method, seeds: Iterable[int]) -> Iterator[tuple[Any, EvaluationTable]]:
    """Fresh policies on small random tables, at the smallest budget and above it."""
    for seed in seeds:
        rng = np.random.default_rng([1, seed])
        table = ragged_table(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)))
        for factor in (1.0, 1.5, 6.0):
            yield policy_on(method, table, factor * smallest_budget(method, table)), table


def fresh(policy: AskTell, **options: Any) -> Any:
    """Make a policy of the same options, but for those given that it takes."""
    taken = inspect.signature(type(policy)).parameters
    return type(policy)(**policy.options | {name: options[name] for name in options if name in taken})


def on(table: EvaluationTable) -> Feedback:
    """Feedback from a table: each arm has its instances in turn.

    Examples
    --------
    >>> from cobandit.testing import table_of
    >>> on(table_of([[(1.0, 0.5)] * 2, [(2.0, 0.7), (3.0, 0.8)]]))(Pull(1, 3))
    (array([0.8]), 3.0)
    """

    def evaluate(pull: Pull) -> tuple[NDArray[np.float64], float]:
        first, last = table.feedback.offsets[int(pull) : int(pull) + 2]
        row = first + pull.number % (last - first)
        return table.feedback.rewards[row], float(table.feedback.costs[row])

    return evaluate


def at_declared_cost(table: EvaluationTable) -> Feedback:
    """Feedback from a table, charged the mean costs that were profiled."""
    return lambda pull: (on(table)(pull)[0], float(table.costs[int(pull)]))


def with_failures(evaluate: Feedback, rng: np.random.Generator, billed: float) -> Feedback:
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
    most: int | None = None,
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
    most : int, optional
        Stop after so many results.

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
    told = 0
    with guarantees_aside():
        while told != most and not policy.finished:
            while len(flying) < at_once and (pull := policy.ask()) is not None:
                require(isinstance(pull, Pull), policy, f"ask gave {pull!r}, which is no Pull")
                require(pull.key not in handed_out, policy, f"evaluation {pull.key} is handed out twice")
                handed_out.add(pull.key)
                flying.append(pull)
                events.append(Event(pull, None))
            require(bool(flying), policy, "it is not finished, but ask gave None with nothing in flight")
            pull = flying.pop(int(rng.integers(len(flying))) if rng else 0)
            result = evaluate(pull)
            policy.tell(pull, *result)
            if result[0] is None:
                handed_out.remove(pull.key)
            events.append(Event(pull, result))
            told += 1
    return events


def result_of(policy: Any) -> tuple[Any, ...]:
    """What a run left: pulls, spend, and what an identification policy recommends."""
    found = policy.recommend().tolist() if isinstance(policy, IdentificationPolicy) else None
    return policy.pulls.tolist(), policy.spent, found
