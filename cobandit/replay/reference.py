"""One run of a readable policy on a table, on the stream that the kernels draw from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.replay.kernels import instance

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


class Run(NamedTuple):
    """The pulls of one run in their order: ``arms`` and what each was charged, shape (T,) each."""

    arms: NDArray[np.int64]
    costs: NDArray[np.float64]


def play(
    policy: AskTell,
    table: EvaluationTable,
    *,
    seed: int = 0,
    replication: int = 0,
    costs: str = "realised",
    watch: Callable[[Any, int], None] | None = None,
) -> Run:
    """Play a policy until it stops, with feedback drawn from the evaluation split of a table.

    The pull whose cost would cross the budget is not told to the policy, as T(B) is defined.  This is the
    slow and readable twin of the kernels: same stream, same pulls.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        A fresh policy; it is left in its final state, to be looked at.
    table : EvaluationTable
    seed, replication : int
        They name the stream.
    costs : {"realised", "declared"}
        What is charged; ``"declared"`` (the policy's known costs) is for identification.
    watch : callable, optional
        Called as ``watch(policy, arm)`` before each pull that counts.

    Returns
    -------
    Run

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> policy = cb.CoHVUCB(24, 2, budget=30_000, cost_range=table.cost_range, expected_costs=table.costs)
    >>> run = play(policy, table)
    >>> int(policy.pulls.sum()) - len(run.arms), float(run.costs.sum()) <= 30_000
    (0, True)
    """
    _check.choice(costs, "costs", ("realised", "declared"))
    seed, replication = _check.seed(seed), _check.count(replication, "replication", 0)
    if (policy.n_arms, policy.n_objectives) != (table.n_arms, table.n_objectives):
        raise CobanditError(
            f"the policy has {policy.n_arms} arms and {policy.n_objectives} objectives, the table "
            f"{table.n_arms} and {table.n_objectives}"
        )
    feedback = table.feedback
    rows = np.column_stack([feedback.costs, feedback.rewards])
    return run_on(policy, rows, feedback.offsets, seed, replication, costs == "declared", watch)


def run_on(
    policy: AskTell,
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    seed: int,
    replication: int,
    declared: bool,
    watch: Callable[[Any, int], None] | None = None,
) -> Run:
    """Play a policy as `play` does, on rows (N, 1 + D) of cost and rewards, arm after arm."""
    limit, sizes, stream = _check.with_slack(policy.budget), np.diff(offsets), np.uint64(seed)
    arms, charges = [], []
    while (arm := policy.ask()) is not None:
        row = rows[offsets[arm] + instance(stream, replication, arm, policy.pulls[arm], sizes[arm])]
        cost = policy.costs[arm] if declared and isinstance(policy, IdentificationPolicy) else row[0]
        if policy.spent + cost > limit:
            break
        if watch is not None:
            watch(policy, arm)
        policy.tell(arm, row[1:], cost)
        arms.append(arm)
        charges.append(cost)
    return Run(np.array(arms, dtype=np.int64), np.array(charges))
