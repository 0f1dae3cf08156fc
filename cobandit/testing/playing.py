"""Runs of a policy in a test: evaluations in flight, told in any order, failures."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.errors import GuaranteeWarning
from cobandit.policies.asktell import AskTell, Pull
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.tables import EvaluationTable
from cobandit.testing.tables import Method, policy_on, ragged_table, smallest_budget

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
