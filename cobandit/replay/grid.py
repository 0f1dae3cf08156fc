"""The grid of an experiment: methods, budgets and replications, cut into parts."""

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

#: Largest number of parts of a cell, a method at one budget. Progress is shown, and
#: Ctrl-C works, between parts.
PARTS = 20
#: Number of parts of the whole grid that keeps many workers busy. Cells of large grids
#: have fewer parts, because each part has an overhead.
ENOUGH = 100


class Source(NamedTuple):
    """The data of a table that workers need, small and picklable."""

    feedback: FeedbackRows  #: rows of the evaluation split
    problem: Problem  #: the true means and costs
    costs: NDArray[np.float64]  #: shape (K,), mean profiling costs
    cost_range: tuple[float, float]  #: smallest and largest single profiling cost
    #: shape (N,), cluster of each instance, if feedback is once and the table has any
    cluster: NDArray[np.int64] | None = None


class GridCell(NamedTuple):
    """A part of a cell of the grid."""

    spec: Spec  #: method and options
    rho: float  #: budget as rho
    budget: float  #: budget in the unit of the costs
    replications: NDArray[np.int64]  #: numbers of the replications of this part
    seed: int  #: seed of the experiment


def pack_table(table: EvaluationTable, true_costs: str | None = None) -> Source:
    """Return the data of a table that workers need.

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
    """Return the data of a table on the instances that all configurations share.

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
            f"{table.name}: every configuration was evaluated on only {n_instances}"
            " instances of the evaluation split, and feedback 'once' compares on shared"
            " instances -> leave out configurations with few results",
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
    """Check the grid, and cut it into parts, at most ``most_parts`` per cell."""
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
    """Return the policy of a cell; `BudgetError` if the budget is too small."""
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
    """Run the replications of a cell with `run_kernel`.

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
    """Return the columns of a part, as arrays or as one value for all rows."""
    shared = {
        "method": cell.spec.name,
        "options": cell.spec.options,
        "rho": cell.rho,
        "budget": cell.budget,
    }
    return {**shared, "replication": cell.replications, **columns}


def _fill(part: dict[str, Any], name: str) -> NDArray[Any]:
    """Return a column of a part as an array; a single value is repeated."""
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
    """Run ``part`` on all cells, and return one frame of their columns.

    Parameters
    ----------
    part : callable
        Function ``part(source, cell, *fixed)`` that returns the columns of a cell.
    cells : list of GridCell
    table : EvaluationTable
        Its name, kind and unit of costs become columns of the frame.
    source : Source
    """
    tasks = [(cell, *fixed) for cell in cells]
    parts = run(part, tasks, shared=(source,), **parallel)
    if not parts:
        raise CobanditError(
            "interrupted before the first part was finished", code="interrupted"
        )

    # join columns, because making a small frame per part takes longer than most runs
    columns = {
        name: np.concatenate([_fill(part, name) for part in parts]) for name in parts[0]
    }
    return pd.DataFrame(columns).assign(
        dataset=table.name, kind=table.kind, unit=table.card.cost.unit
    )
