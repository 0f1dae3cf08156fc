"""Runs of a readable class on a table, on the stream that the kernels draw from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import CobanditError, GuaranteeWarning
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.replay.kernels import FeedbackRows, Record, instance, shared_order

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Filters of warnings belong to the whole process, so that threads set them one after the other.
_FILTERING = Lock()


class PlayedRun(NamedTuple):
    """The pulls of one run in their order: ``arms`` and what each was charged, shape (T,) each."""

    arms: NDArray[np.int64]
    costs: NDArray[np.float64]


def play(
    policy: AskTell,
    table: EvaluationTable,
    *,
    seed: int = 0,
    replication: int = 0,
    charge: str = "realised",
    watch: Callable[[Any, int], None] | None = None,
) -> PlayedRun:
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
    charge : {"realised", "declared"}
        What a pull is charged; ``"declared"`` (the policy's known costs) is for identification.
    watch : callable, optional
        Called as ``watch(policy, arm)`` before each pull that counts is asked for.

    Returns
    -------
    PlayedRun

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> policy = cb.CoHVUCB(24, 2, budget=30_000, cost_range=table.cost_range, expected_costs=table.costs)
    >>> run = play(policy, table)
    >>> int(policy.pulls.sum()) - len(run.arms), float(run.costs.sum()) <= 30_000
    (0, True)
    """
    realised = _check.choice(charge, "charge", ("realised", "declared")) == "realised"
    seed, replication = _check.seed(seed), _check.count(replication, "replication", 0)
    if (policy.n_arms, policy.n_objectives) != (table.n_arms, table.n_objectives):
        raise CobanditError(
            f"the policy has {policy.n_arms} arms and {policy.n_objectives} objectives, the table "
            f"{table.n_arms} and {table.n_objectives}"
        )
    feedback = table.feedback
    rows = np.column_stack([feedback.costs, feedback.rewards])
    n_instances = getattr(policy, "n_instances", None)
    if n_instances is not None and (np.diff(feedback.offsets) != n_instances).any():
        raise CobanditError(
            f"the policy evaluates {n_instances} instances once; they have to be those of the table"
        )
    return _play(policy, rows, feedback.offsets, n_instances is not None, seed, replication, realised, watch)


def _play(
    policy: AskTell,
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    once: bool,
    seed: int,
    replication: int,
    realised: bool,
    watch: Callable[[Any, int], None] | None = None,
) -> PlayedRun:
    """Play a policy as `play` does, on rows (N, 1 + D) of cost and rewards, arm after arm."""
    limit, sizes, stream = _check.add_slack(policy.budget), np.diff(offsets), np.uint64(seed)
    known = policy.costs if isinstance(policy, IdentificationPolicy) and not realised else None
    order = shared_order(stream, replication, sizes[0]) if once else None
    arms, costs = [], []

    def draw(arm: int, n: int) -> tuple[NDArray[np.float64], float]:
        drawn = instance(stream, replication, arm, n, sizes[arm]) if order is None else order[n]
        row = rows[offsets[arm] + drawn]
        return row[1:], row[0] if known is None else known[arm]

    policy.overdraw = True  # what crosses the budget is dropped here
    while True:
        arm = None if watch is None else policy.upcoming
        if watch and arm is not None and policy.spent + draw(arm, policy.pulls[arm])[1] <= limit:
            watch(policy, arm)
        if (pull := policy.ask()) is None:
            break
        reward, cost = draw(int(pull), pull.number)
        if policy.spent + cost > limit:
            break
        policy.tell(pull, reward, cost)
        arms.append(int(pull))
        costs.append(cost)
    return PlayedRun(np.array(arms, dtype=np.int64), np.array(costs))


def run_class(
    policy: AskTell,
    feedback: FeedbackRows,
    seed: int,
    replications: NDArray[np.int64],
    record: Record,
    realised: bool,
) -> tuple[NDArray[Any], ...]:
    """Play replications with new policies of the same options; returns what a kernel's run returns.

    As kernels do, it charges costs beyond those declared without a warning.
    """
    rows = np.delete(feedback.rows, 1, axis=1)  # without the cost over the largest
    pulls, spent = np.zeros((len(replications), policy.n_arms), dtype=np.int64), np.empty(len(replications))
    returned = np.zeros(pulls.shape, dtype=np.bool_)
    with _FILTERING, warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        for r, replication in enumerate(replications):
            new: Any = type(policy)(**policy.options)
            run = _play(new, rows, feedback.offsets, feedback.once, seed, replication, realised)
            pulls[r], spent[r] = new.pulls, new.spent
            taken = min(len(run.arms), record.arms.shape[1])
            record.arms[r, :taken], record.charges[r, :taken] = run.arms[:taken], run.costs[:taken]
            if isinstance(policy, IdentificationPolicy):
                returned[r, new.recommend()] = True
    return (pulls, spent, returned) if isinstance(policy, IdentificationPolicy) else (pulls, spent)
