"""Runs of a policy on a table, in Python or compiled, with the same pulls."""

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
    """The pulls of one run, in order."""

    arms: NDArray[np.int64]  #: shape (T,), arms of the pulls
    costs: NDArray[np.float64]  #: shape (T,), charges of the pulls


class Runs(NamedTuple):
    """Results of R replications of one method at one budget."""

    pulls: NDArray[np.int64]  #: shape (R, K), numbers of pulls
    spent: NDArray[np.float64]  #: shape (R,), spent cost
    returned: NDArray[np.bool_]  #: shape (R, K), returned sets of identification
    settled: NDArray[np.bool_]  #: shape (R,), whether a race has decided all arms


def play(
    policy: AskTell,
    table: EvaluationTable,
    *,
    seed: int = 0,
    replication: int = 0,
    charge: str = "realised",
    watch: Callable[[Any, int], None] | None = None,
) -> PlayedRun:
    """Run a policy until it stops, with feedback drawn from a table.

    Feedback is drawn from the evaluation split. A pull whose cost would exceed the
    budget ends the run and is not reported to the policy, as in the definition of T(B).
    The compiled version of the policy (its kernel) makes the same pulls, but faster.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        A new policy. Afterwards, it is in the state at the end of the run.
    table : EvaluationTable
    seed, replication : int
        Numbers that determine the random feedback.
    charge : {"realised", "declared"}
        Charge of a pull: the cost of the drawn evaluation, or the known mean cost of
        the arm. ``"declared"`` affects identification policies only.
    watch : callable, optional
        Function that is called as ``watch(policy, arm)`` before each pull within the
        budget.

    Returns
    -------
    PlayedRun

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> known = {"cost_range": table.cost_range, "expected_costs": table.costs}
    >>> policy = cb.CoHVUCB(24, 2, budget=30_000, **known)
    >>> run = play(policy, table)
    >>> int(policy.pulls.sum()) - len(run.arms), float(run.costs.sum()) <= 30_000
    (0, True)
    """
    _validation.choice(charge, "charge", ("realised", "declared"))
    seed = _validation.seed(seed)
    replication = _validation.count(replication, "replication", 0)
    if (policy.n_arms, policy.n_objectives) != (table.n_arms, table.n_objectives):
        raise CobanditError(
            f"the policy has {policy.n_arms} arms and {policy.n_objectives} objectives,"
            f" but the table has {table.n_arms} and {table.n_objectives}",
            argument="policy",
            code="wrong-shape",
        )

    costs, rewards, offsets = table.feedback
    n_instances = getattr(policy, "n_instances", None)
    if n_instances is not None and (np.diff(offsets) != n_instances).any():
        raise CobanditError(
            f"the policy expects {n_instances} instances per arm, but an arm of the"
            " table has more or fewer. Make the policy with the number of instances"
            " in the table's evaluation split.",
            argument="policy",
            code="wrong-length",
        )
    if getattr(policy, "cluster", None) is not None:
        raise CobanditError(
            "play cannot evaluate whole clusters -> make the policy without cluster, or"
            " use replay_identification",
            argument="policy",
            code="cluster-not-played",
        )

    # the second column, costs over the largest cost, is not read here
    rows = np.column_stack([costs, costs, rewards])
    feedback = FeedbackRows(rows, offsets, once=n_instances is not None)
    return _play(policy, feedback, seed, replication, charge == "realised", watch)


def _play(
    policy: AskTell,
    feedback: FeedbackRows,
    seed: int,
    replication: int,
    realised: bool,
    watch: Callable[[Any, int], None] | None = None,
    order: NDArray[np.int64] | None = None,
) -> PlayedRun:
    """Run a policy as in `play`, optionally in a given order of the instances."""
    rows, offsets, once = feedback
    limit = _budget.add_slack(policy.budget)
    sizes = np.diff(offsets)
    stream = np.uint64(seed)
    declared = None
    if isinstance(policy, IdentificationPolicy) and not realised:
        declared = policy.costs
    if once and order is None:
        order = shared_order(stream, replication, sizes[0])

    def draw(arm: int, n: int) -> tuple[NDArray[np.float64], float]:
        if order is not None:
            row = rows[offsets[arm] + order[n]]
        else:
            drawn = instance(stream, replication, arm, n, sizes[arm])
            row = rows[offsets[arm] + drawn]
        return row[2:], row[0] if declared is None else declared[arm]

    # let the policy request a pull that exceeds the budget, which ends the run below
    policy.overdraw = True
    arms = []
    costs = []
    while True:
        if watch is not None:
            arm = policy.upcoming
            if arm is not None:
                _, cost = draw(arm, policy.pulls[arm])
                if policy.spent + cost <= limit:
                    watch(policy, arm)

        pull = policy.ask()
        if pull is None:
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
    """Run replications in Python, each with a new policy of the same options.

    As in a compiled run, costs outside the declared range are charged without a
    warning.
    """
    n_runs = len(replications)
    runs = Runs(
        pulls=np.zeros((n_runs, policy.n_arms), np.int64),
        spent=np.empty(n_runs),
        returned=np.zeros((n_runs, policy.n_arms), bool),
        settled=np.zeros(n_runs, bool),
    )
    for r, replication in enumerate(replications):
        options = policy.options

        # a random policy gets another seed in each replication
        if "seed" in options:
            seeds = [options["seed"], int(seed), int(replication)]
            state = np.random.SeedSequence(seeds).generate_state(1, np.uint64)
            options["seed"] = int(state[0])

        order = None
        cluster = options.get("cluster")
        if cluster is not None:
            order = order_clusters(cluster, seed, replication)
            options["cluster"] = [cluster[place] for place in order]

        new: Any = type(policy)(**options)
        new.warned = True
        run = _play(new, feedback, seed, replication, realised, order=order)

        runs.pulls[r] = new.pulls
        runs.spent[r] = new.spent
        n_recorded = min(len(run.arms), record.arms.shape[1])
        record.arms[r, :n_recorded] = run.arms[:n_recorded]
        record.charges[r, :n_recorded] = run.costs[:n_recorded]
        if isinstance(policy, IdentificationPolicy):
            runs.returned[r, new.recommend()] = True
        if isinstance(policy, ParetoRace):
            runs.settled[r] = new.status == "settled"

    return runs


def order_clusters(
    cluster: Sequence[Any], seed: int, replication: int
) -> NDArray[np.int64]:
    """Return the random order of instances in a replication; clusters stay together.

    Parameters
    ----------
    cluster : sequence, length N
        Cluster of each instance. Instances of a cluster are adjacent.
    seed, replication : int

    Returns
    -------
    ndarray of int, shape (N,)
        Positions of the instances, in the order of evaluation.

    Examples
    --------
    >>> order_clusters(["a", "a", "b", "b", "b", "c"], 0, 0)
    array([2, 3, 4, 5, 0, 1])
    """
    starts = find_starts(cluster, len(cluster))
    members = np.split(np.arange(len(cluster)), starts[1:-1])
    order = shared_order(np.uint64(seed), replication, len(members))
    return np.concatenate([members[place] for place in order])


def read_terms(policy: Any, realised: bool) -> Terms:
    """Return the budget and the costs with which a policy's kernel runs."""
    if isinstance(policy, IdentificationPolicy):
        costs = np.array(policy.costs)
        n_init = 1
    else:
        # with selection="all", expected costs of zero make every arm affordable
        costs = policy.expected_costs * float(policy.selection != "all")
        n_init = policy.n_init
    by_cost = np.argsort(-costs, kind="stable")
    return Terms(_budget.add_slack(policy.budget), costs, by_cost, realised, n_init)


def fix_types(feedback: FeedbackRows) -> FeedbackRows:
    """Return feedback with read-only arrays.

    Arrays may be writable, read-only or memory-mapped. Numba would compile the kernel
    for each of these types, which takes half a minute.
    """
    rows = np.broadcast_to(feedback.rows, feedback.rows.shape)
    offsets = np.broadcast_to(feedback.offsets, feedback.offsets.shape)
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
    """Run replications of a policy, compiled if the policy has a kernel.

    Parameters
    ----------
    policy : CoHVUCB, CoPSI, ...
        Policy that is run, but not changed. An online policy needs ``expected_costs``.
    feedback : FeedbackRows
    seed : int
    replications : ndarray of int, shape (R,)
        Numbers of the replications, which determine the random feedback.
    record : Record, optional
        Record that is filled with the first pulls of each replication.
    realised : bool
        Whether identification is charged the cost of the drawn evaluation, not the
        declared cost.

    Returns
    -------
    Runs
    """
    if hasattr(policy, "n_instances") and not feedback.once:
        raise CobanditError(
            f"{type(policy).__name__} evaluates each instance at most once: give"
            " FeedbackRows with once=True",
            argument="feedback",
            code="evaluates-once",
        )

    record = kernels.record(len(replications)) if record is None else record
    kernel = KERNELS.get(type(policy))
    if kernel is None or getattr(policy, "cluster", None) is not None:
        return run_class(policy, feedback, seed, replications, record, realised)

    results = kernel.run(
        kernel.read(policy),
        read_terms(policy, realised),
        fix_types(feedback),
        np.uint64(seed),
        replications,
        record,
    )
    return Runs(*results)
