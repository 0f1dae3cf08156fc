"""Runs of a policy: of the readable class, on the stream that the kernels draw from, and of its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _budget, _validation
from cobandit.errors import CobanditError
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.policies.race_order import find_starts
from cobandit.policies.registry import KERNELS
from cobandit.replay import kernels
from cobandit.replay.kernels import FeedbackRows, Record, Terms, instance, shared_order

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


class PlayedRun(NamedTuple):
    """The pulls of one run in their order: ``arms`` and what each was charged, shape (T,) each."""

    arms: NDArray[np.int64]
    costs: NDArray[np.float64]


class Runs(NamedTuple):
    """What R replications came to.

    ``pulls`` (R, K) and ``spent`` (R,); of identification also the sets ``returned``
    (R, K), and whether a race ``settled`` all (R,).
    """

    pulls: NDArray[np.int64]
    spent: NDArray[np.float64]
    returned: NDArray[np.bool_]
    settled: NDArray[np.bool_]


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

    The pull whose cost would cross the budget is not told to the policy, as T(B) is
    defined.  This is the slow and readable twin of the kernels: same stream, same
    pulls.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        A fresh policy; it is left in its final state, to be looked at.
    table : EvaluationTable
    seed, replication : int
        They name the stream.
    charge : {"realised", "declared"}
        What a pull is charged; ``"declared"`` (the policy's known costs) is for
        identification.
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
    realised = (
        _validation.choice(charge, "charge", ("realised", "declared")) == "realised"
    )
    seed, replication = (
        _validation.seed(seed),
        _validation.count(replication, "replication", 0),
    )
    if (policy.n_arms, policy.n_objectives) != (table.n_arms, table.n_objectives):
        raise CobanditError(
            f"the policy has {policy.n_arms} arms and {policy.n_objectives} objectives,"
            f" the table {table.n_arms} and {table.n_objectives}"
        )

    costs, rewards, offsets = table.feedback
    n_instances = getattr(policy, "n_instances", None)
    if n_instances is not None and (np.diff(offsets) != n_instances).any():
        raise CobanditError(
            f"the policy evaluates {n_instances} instances once; they have to be those"
            " of the table"
        )
    if getattr(policy, "cluster", None) is not None:
        raise CobanditError(
            "play draws instances one by one -> leave out cluster, or take"
            " replay_identification"
        )

    feedback = FeedbackRows(
        np.column_stack([costs, costs, rewards]), offsets, n_instances is not None
    )
    return _play(policy, feedback, seed, replication, realised, watch)


def _play(
    policy: AskTell,
    feedback: FeedbackRows,
    seed: int,
    replication: int,
    realised: bool,
    watch: Callable[[Any, int], None] | None = None,
    order: NDArray[np.int64] | None = None,
) -> PlayedRun:
    """Play a policy as `play` does, in another order of the instances if one is given.

    The cost over the largest is not read.
    """
    rows, offsets, once = feedback
    limit, sizes, stream = (
        _budget.add_slack(policy.budget),
        np.diff(offsets),
        np.uint64(seed),
    )
    known = (
        policy.costs
        if isinstance(policy, IdentificationPolicy) and not realised
        else None
    )
    if once and order is None:
        order = shared_order(stream, replication, sizes[0])
    arms, costs = [], []

    def draw(arm: int, n: int) -> tuple[NDArray[np.float64], float]:
        drawn = (
            instance(stream, replication, arm, n, sizes[arm])
            if order is None
            else order[n]
        )
        row = rows[offsets[arm] + drawn]
        return row[2:], row[0] if known is None else known[arm]

    policy.overdraw = True  # what crosses the budget is dropped here
    while True:
        arm = None if watch is None else policy.upcoming
        if (
            watch
            and arm is not None
            and policy.spent + draw(arm, policy.pulls[arm])[1] <= limit
        ):
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
) -> Runs:
    """Play replications with new policies of the same options.

    As kernels do, it charges costs beyond those declared without a warning.
    """
    shape = len(replications), policy.n_arms
    runs = Runs(
        np.zeros(shape, np.int64),
        np.empty(shape[0]),
        np.zeros(shape, bool),
        np.zeros(shape[0], bool),
    )
    for r, replication in enumerate(replications):
        options = policy.options
        # a policy with randomness of its own has another in each replication
        if "seed" in options:
            named = np.random.SeedSequence(
                [options["seed"], int(seed), int(replication)]
            )
            options["seed"] = int(named.generate_state(1, np.uint64)[0])
        order = None
        if (cluster := options.get("cluster")) is not None:
            order = order_clusters(cluster, seed, replication)
            options["cluster"] = [cluster[place] for place in order]
        new: Any = type(policy)(**options)
        new.warned = True
        run = _play(new, feedback, seed, replication, realised, order=order)
        runs.pulls[r], runs.spent[r] = new.pulls, new.spent
        taken = min(len(run.arms), record.arms.shape[1])
        record.arms[r, :taken], record.charges[r, :taken] = (
            run.arms[:taken],
            run.costs[:taken],
        )
        if isinstance(policy, IdentificationPolicy):
            runs.returned[r, new.recommend()] = True
        if isinstance(policy, ParetoRace):
            runs.settled[r] = new.status == "settled"

    return runs


def order_clusters(
    cluster: Sequence[Any], seed: int, replication: int
) -> NDArray[np.int64]:
    """Put whole clusters into the random order of a replication.

    Parameters
    ----------
    cluster : sequence, length N
        Of each instance, those of one cluster together.
    seed, replication : int

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> order_clusters(["a", "a", "b", "b", "b", "c"], 0, 0)
    array([2, 3, 4, 5, 0, 1])
    """
    starts = find_starts(cluster, len(cluster))
    members = np.split(np.arange(len(cluster)), starts[1:-1])
    return np.concatenate(
        [
            members[place]
            for place in shared_order(np.uint64(seed), replication, len(members))
        ]
    )


def read_terms(policy: Any, realised: bool) -> Terms:
    """Read off a policy on which terms its kernel plays."""
    if isinstance(policy, IdentificationPolicy):
        costs, n_init = np.array(policy.costs), 1
    else:  # among all arms none is left out because of what it is expected to cost
        costs = policy.expected_costs * float(policy.selection != "all")
        n_init = policy.n_init
    by_cost = np.argsort(-costs, kind="stable")
    return Terms(_budget.add_slack(policy.budget), costs, by_cost, realised, n_init)


def fix_types(feedback: FeedbackRows) -> FeedbackRows:
    """Make arrays of one type, whether they were made here, sent, or mapped: read only.

    Numba would compile again, for half a minute, for each other type.
    """
    rows, offsets = (
        np.broadcast_to(each, each.shape) for each in (feedback.rows, feedback.offsets)
    )
    return FeedbackRows(rows, offsets, feedback.once)


def run_kernel(
    policy: AskTell,
    feedback: FeedbackRows,
    seed: int,
    replications: NDArray[np.int64],
    record: Record | None = None,
    *,
    realised: bool = True,
) -> Runs:
    """Play replications of a policy on rows of feedback.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        It is only read.  An online policy has to know its ``expected_costs``.
    feedback : FeedbackRows
    seed : int
    replications : ndarray of int, shape (R,)
        They name the streams.
    record : Record, optional
        Takes down the first pulls of each replication.
    realised : bool
        Whether identification is charged the cost of the instance drawn, rather than
        the declared cost.

    Returns
    -------
    Runs
    """
    if hasattr(policy, "n_instances") and not feedback.once:
        raise CobanditError(
            f"{type(policy).__name__} evaluates instances once: give it feedback 'once'"
        )

    record = kernels.record(len(replications)) if record is None else record
    kernel = KERNELS.get(type(policy))
    if kernel is None or getattr(policy, "cluster", None) is not None:
        return run_class(policy, feedback, seed, replications, record, realised)

    terms, rows = read_terms(policy, realised), fix_types(feedback)
    return Runs(
        *kernel.run(
            kernel.read(policy), terms, rows, np.uint64(seed), replications, record
        )
    )
