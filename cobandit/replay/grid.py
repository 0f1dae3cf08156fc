"""The grid of an experiment: methods x budgets x replications, cut into parts that workers play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

#: Each cell (method, budget) is played in at most so many parts, between which progress
#: shows and Ctrl-C works; in fewer where the cells alone make work for many workers, as
#: each part has its overhead.
PARTS, ENOUGH = 20, 100


class Source(NamedTuple):
    """What the workers need of a table, small and picklable.

    ``cluster`` (N,) is that of each instance, if each is evaluated once and they have
    any.
    """

    feedback: FeedbackRows
    problem: Problem
    costs: NDArray[np.float64]
    cost_range: tuple[float, float]
    cluster: NDArray[np.int64] | None = None


class GridCell(NamedTuple):
    """One part of one cell of the grid."""

    spec: Spec
    rho: float
    budget: float
    replications: NDArray[np.int64]
    seed: int


def pack_table(table: EvaluationTable, true_costs: str | None = None) -> Source:
    """Pack what workers need of a table; ``true_costs`` as in its ``truth``."""
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
    """Pack what workers need where every instance is evaluated once: those that all configurations have.

    Raises
    ------
    CobanditError
        If fewer than two instances of the evaluation split have been evaluated with
        every configuration.
    """
    source, rows = pack_table(table), table.rows
    held = rows.loc[rows["split"] == "evaluation", "instance"].cat.codes.to_numpy()
    shared = np.bincount(held)[held] == table.n_arms
    n_instances = int(shared.sum()) // table.n_arms
    if n_instances < 2:
        raise CobanditError(
            f"{table.name}: {n_instances} instances of the evaluation split have been"
            " evaluated with every configuration; evaluating once compares on shared"
            " instances -> leave out configurations"
        )

    packed = source.feedback.rows[shared]
    cluster = None
    if table.clusters is not None:  # those of one cluster are put together
        cluster = table.clusters[held[shared][:n_instances]]
        together = np.argsort(cluster, kind="stable")
        arms = packed.reshape(table.n_arms, n_instances, -1)
        packed = arms[:, together].reshape(packed.shape)
        cluster = cluster[together]

    means = packed[:, 2:].reshape(table.n_arms, n_instances, -1).mean(axis=1)
    problem = (
        source.problem
        if shared.all()
        else Problem(means, source.problem.costs, source.problem.names)
    )
    offsets = n_instances * np.arange(table.n_arms + 1)
    feedback = FeedbackRows(packed, offsets, once=True)
    return source._replace(feedback=feedback, problem=problem, cluster=cluster)


def cut_grid(
    table: EvaluationTable,
    chosen: list[Spec],
    rho: Iterable[float] | float,
    replications: int,
    seed: int,
    most: int | None = None,
) -> list[GridCell]:
    """Check the grid and cut it into parts; each method and budget in at most ``most``, if given."""
    _validation.table(table)
    rhos = [
        _validation.positive(r, "rho")
        for r in (rho if isinstance(rho, Iterable) else [rho])
    ]
    if not rhos or len(set(rhos)) < len(rhos):
        raise CobanditError(f"rho: different positive numbers are needed, got {rhos}")

    replications, seed = (
        _validation.count(replications, "replications", 1),
        _validation.seed(seed),
    )
    if most is None:
        most = min(PARTS, -(-ENOUGH // (len(chosen) * len(rhos))))
    parts = np.array_split(np.arange(replications), min(most, replications))
    per_round = float(table.costs.sum())  # K times the mean cost
    return [
        GridCell(s, r, r * per_round, part, seed)
        for s in chosen
        for r in rhos
        for part in parts
    ]


def make_policy(source: Source, cell: GridCell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    costs, problem = source.costs, source.problem
    return cell.spec.make(
        cell.rho,
        n_arms=problem.n_arms,
        n_objectives=problem.n_objectives,
        n_instances=int(source.feedback.offsets[1]),
        budget=cell.budget,
        cost_range=source.cost_range,
        costs=costs,
        expected_costs=costs,
        cluster=source.cluster,
    )


def play_cell(
    source: Source, cell: GridCell, record: Record | None = None, realised: bool = True
) -> Runs:
    """Play the replications of a cell, as `run_kernel` does; `BudgetError` where the budget is too small."""
    policy = make_policy(source, cell)
    return run_kernel(
        policy, source.feedback, cell.seed, cell.replications, record, realised=realised
    )


def make_columns(cell: GridCell, **columns: Any) -> dict[str, Any]:
    """Columns of a part, one row per replication: arrays, or one value for all rows."""
    shared = {
        "method": cell.spec.name,
        "options": cell.spec.options,
        "rho": cell.rho,
        "budget": cell.budget,
    }
    return {**shared, "replication": cell.replications, **columns}


def _fill(part: dict[str, Any], name: str) -> NDArray[Any]:
    """Return a column of a part, one value repeated if it has no more."""
    values = np.asarray(
        part[name], dtype=object if isinstance(part[name], str) else None
    )
    return np.broadcast_to(values, len(part["replication"]))


def run_grid(
    part: Callable[..., dict[str, Any]],
    cells: list[GridCell],
    table: EvaluationTable,
    *fixed: Any,
    source: Source,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    """Play every part with ``part(source, cell, *fixed)``; the joined frame names the table."""
    tasks = [(cell, *fixed) for cell in cells]
    parts = run(part, tasks, shared=(source,), **parallel)
    if not parts:
        raise CobanditError("interrupted before the first part was finished")
    # column by column: a small frame for each part would take longer than most runs
    columns = {
        name: np.concatenate([_fill(part, name) for part in parts]) for name in parts[0]
    }
    return pd.DataFrame(columns).assign(
        dataset=table.name, kind=table.kind, unit=table.card.cost.unit
    )
