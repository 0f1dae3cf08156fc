"""The grid of an experiment: methods x budgets x replications, cut into tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.policies.registry import Spec
from cobandit.problem import Problem
from cobandit.replay.kernels import FeedbackRows, Record
from cobandit.replay.parallel import Parallel, run
from cobandit.replay.running import Runs, run_kernel

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Largest number of tasks into which the replications of one method at one budget are
#: cut. Progress is shown, and Ctrl-C works, between tasks.
PARTS = 20
#: Number of tasks that keeps many workers busy. A grid with many methods and budgets
#: has fewer tasks for each of them, because each task has an overhead.
ENOUGH = 100


class Source(NamedTuple):
    """The data of a table that a replay needs, small and picklable."""

    feedback: FeedbackRows  #: rows of the evaluation split
    problem: Problem  #: the true means and costs
    costs: NDArray[np.float64]  #: shape (K,), mean profiling costs
    cost_range: tuple[float, float]  #: smallest and largest single profiling cost
    #: shape (N,), cluster of each instance; None without clusters, or for a bootstrap
    cluster: NDArray[np.int64] | None = None


class GridCell(NamedTuple):
    """A task of an experiment: some replications of one method at one budget."""

    spec: Spec  #: method and options
    rho: float  #: budget in evaluations per configuration
    budget: float  #: budget in the unit of the costs
    replications: NDArray[np.int64]  #: numbers of these replications
    seed: int  #: seed of the experiment


def pack_table(table: EvaluationTable, true_costs: str | None = None) -> Source:
    """Return the data of a table that a replay needs.

    Parameters
    ----------
    table : EvaluationTable
    true_costs : {"evaluation", "profiling"}, optional
        As in `EvaluationTable.truth`.
    """
    _validation.table(table)
    feedback = table.feedback
    rows = np.column_stack(
        [feedback.costs, feedback.costs / table.cost_range[1], feedback.rewards]
    )
    packed = FeedbackRows(
        np.ascontiguousarray(rows), np.asarray(feedback.offsets, dtype=np.int64)
    )
    return Source(packed, table.truth(true_costs), table.costs, table.cost_range)


def pack_shared(table: EvaluationTable) -> Source:
    """Return the data for a replay that evaluates each shared instance at most once.

    Only instances that have been evaluated with every configuration are kept.

    Raises
    ------
    CobanditError
        If fewer than two instances of the evaluation split have been evaluated with
        every configuration.
    """
    source = pack_table(table)
    rows = table.rows
    is_evaluation = rows["split"] == "evaluation"
    instances = rows.loc[is_evaluation, "instance"].cat.codes.to_numpy()
    is_shared = np.bincount(instances)[instances] == table.n_arms
    n_instances = int(is_shared.sum()) // table.n_arms
    if n_instances < 2:
        raise CobanditError(
            f"{table.name}: feedback 'once' compares configurations on shared"
            f" instances, but the evaluation split has only {n_instances} on which"
            " every configuration was evaluated -> leave out configurations with few"
            " results",
            argument="table",
            code="few-shared-instances",
        )

    # sort instances by cluster, since a cluster must be contiguous
    packed = source.feedback.rows[is_shared]
    cluster = None
    if table.clusters is not None:
        cluster = table.clusters[instances[is_shared][:n_instances]]
        order = np.argsort(cluster, kind="stable")
        by_arm = packed.reshape(table.n_arms, n_instances, -1)
        packed = by_arm[:, order].reshape(packed.shape)
        cluster = cluster[order]

    problem = source.problem
    if not is_shared.all():
        means = packed[:, 2:].reshape(table.n_arms, n_instances, -1).mean(axis=1)
        problem = Problem(means, problem.costs, problem.names)
    offsets = n_instances * np.arange(table.n_arms + 1)
    feedback = FeedbackRows(packed, offsets, once=True)
    return source._replace(feedback=feedback, problem=problem, cluster=cluster)


def cut_grid(
    table: EvaluationTable,
    chosen: list[Spec],
    rho: Iterable[float] | float,
    replications: int,
    seed: int,
    most_parts: int | None = None,
) -> list[GridCell]:
    """Check methods, budgets and replications, and cut them into tasks.

    Each method at each budget is cut into at most ``most_parts`` tasks.
    """
    _validation.table(table)
    values = rho if isinstance(rho, Iterable) else [rho]
    rhos = [_validation.positive(value, "rho") for value in values]
    if not rhos or len(set(rhos)) < len(rhos):
        raise CobanditError(
            f"rho: different positive numbers are needed, got {rhos}",
            argument="rho",
            code="out-of-range",
        )

    replications = _validation.count(replications, "replications", 1)
    seed = _validation.seed(seed)
    if most_parts is None:
        most_parts = min(PARTS, ceil(ENOUGH / (len(chosen) * len(rhos))))
    parts = np.array_split(np.arange(replications), min(most_parts, replications))
    round_cost = float(table.costs.sum())  # K times the mean cost
    return [
        GridCell(method, value, value * round_cost, part, seed)
        for method in chosen
        for value in rhos
        for part in parts
    ]


def make_policy(source: Source, cell: GridCell) -> Any:
    """Return the policy of a task; raise `BudgetError` if its budget is too small."""
    problem = source.problem
    return cell.spec.make(
        cell.rho,
        n_arms=problem.n_arms,
        n_objectives=problem.n_objectives,
        n_instances=int(source.feedback.offsets[1]),
        budget=cell.budget,
        cost_range=source.cost_range,
        costs=source.costs,
        expected_costs=source.costs,
        cluster=source.cluster,
    )


def play_cell(
    source: Source, cell: GridCell, record: Record | None = None, realised: bool = True
) -> Runs:
    """Run the replications of a task with `run_kernel`.

    Raises
    ------
    BudgetError
        If the budget is too small for the method.
    """
    policy = make_policy(source, cell)
    return run_kernel(
        policy, source.feedback, cell.seed, cell.replications, record, realised=realised
    )


def make_columns(cell: GridCell, **columns: Any) -> dict[str, Any]:
    """Return the result columns of a task: arrays, or one value for all rows."""
    shared = {
        "method": cell.spec.name,
        "options": cell.spec.options,
        "rho": cell.rho,
        "budget": cell.budget,
    }
    return {**shared, "replication": cell.replications, **columns}


def _fill(part: dict[str, Any], name: str) -> NDArray[Any]:
    """Return a column of a task's results as an array; repeat a single value."""
    is_text = isinstance(part[name], str)
    values = np.asarray(part[name], dtype=object if is_text else None)
    return np.broadcast_to(values, len(part["replication"]))


def run_grid(
    part: Callable[..., dict[str, Any]],
    cells: list[GridCell],
    table: EvaluationTable,
    *fixed: Any,
    source: Source,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    """Run a function on all tasks, and return one data frame of their columns.

    Parameters
    ----------
    part : callable
        Function ``part(source, cell, *fixed)`` that returns the columns of a task.
    cells : list of GridCell
    table : EvaluationTable
        Its name, kind and unit of costs become columns of the frame.
    source : Source
    """
    tasks = [(cell, *fixed) for cell in cells]
    parts = run(part, tasks, shared=(source,), **parallel)
    if not parts:
        raise CobanditError(
            "interrupted before the first task was finished, so there are no results",
            code="interrupted",
        )

    # join columns, because making a small frame per task takes longer than most runs
    columns = {
        name: np.concatenate([_fill(part, name) for part in parts]) for name in parts[0]
    }
    return pd.DataFrame(columns).assign(
        dataset=table.name, kind=table.kind, unit=table.card.cost.unit
    )
