"""Replay of online policies on a table, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.errors import BudgetError
from cobandit.replay import kernels
from cobandit.replay.grid import GridCell, Source, columns_of, grid_cells, run_grid, source_from_table
from cobandit.replay.methods import specs
from cobandit.replay.parallel import Parallel
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Points of the common grid of spent budget on which `replay_paths` reports.
POINTS = 200


def policy_of(source: Source, cell: GridCell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    return cell.spec.make(
        cell.rho,
        n_arms=source.problem.n_arms,
        n_objectives=source.problem.n_objectives,
        budget=cell.budget,
        cost_range=source.cost_range,
        expected_costs=source.costs,
    )


def _part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_online`."""
    problem = source.problem
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(len(cell.replications), np.nan)
        return columns_of(
            cell,
            status="infeasible",
            spent=nothing,
            pulls=0,
            efficiency_regret=nothing,
            standard_regret=nothing,
            best_arm_pulls=0,
        )
    pulls, spent = run_kernel(policy, source.feedback, cell.seed, cell.replications)
    return columns_of(
        cell,
        status="ok",
        spent=spent,
        pulls=pulls.sum(axis=1),
        efficiency_regret=metrics.efficiency_regret(problem, pulls),
        standard_regret=metrics.standard_regret(problem, pulls, cell.budget / source.cost_range[1]),
        best_arm_pulls=pulls[:, problem.best_arm],
    )


def _paths_part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_paths`."""
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(len(cell.replications), np.nan)
        unknown = columns_of(cell, spent=nothing, efficiency_regret=nothing, moving_average=nothing)
        del unknown["budget"]
        return unknown
    # A run is deterministic, so it is played again once its length is known, and taken down; one at a time,
    # since with thousands of arms each has millions of pulls.
    pulls, _ = run_kernel(policy, source.feedback, cell.seed, cell.replications)
    steps = cell.budget * np.arange(1, POINTS + 1) / POINTS
    regrets, averages = np.empty((2, len(pulls), POINTS))
    for r, (number, length) in enumerate(zip(cell.replications, pulls.sum(axis=1), strict=True)):
        taken = kernels.record(1, length)
        run_kernel(policy, source.feedback, cell.seed, np.array([number]), taken)
        gaps = source.problem.efficiency_gaps[taken.arms[0]]
        done = np.searchsorted(np.cumsum(taken.charges[0]), steps * (1 + _check.SLACK), side="right")
        regrets[r] = np.append(0.0, np.cumsum(gaps))[done]
        averages[r] = np.append(np.nan, metrics.moving_average(gaps))[done]
    return {
        "method": cell.spec.name,
        "options": cell.spec.options,
        "rho": cell.rho,
        "replication": np.repeat(cell.replications, POINTS),
        "spent": np.tile(steps, len(pulls)),
        "efficiency_regret": regrets.ravel(),
        "moving_average": averages.ravel(),
    }


def replay_online(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    *,
    true_costs: str | None = None,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    r"""Replay online policies on a table (paper, Section 5 and Appendix A).

    Feedback is drawn from the evaluation split by arm-wise bootstrap on common random numbers, and this split
    is the truth that regrets are against.  The profiling split gives what a policy may know: the range of
    single costs, and the mean costs that decide what is affordable.  Regrets are in the unit of the largest
    single profiling cost.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str, class or Spec
        Names, classes or `spec` results.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`.
    replications : int
        Independent runs per cell, the same streams for every method and budget.
    seed : int
        Any number from 0 to 2^64 - 1.
    true_costs : {"evaluation", "profiling"}, optional
        The split whose mean costs divide the true hypervolume, as in `EvaluationTable.truth`: by default that
        of evaluation, and for a reconstruction of the paper's tables that of profiling (A10).
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress`` as in `cobandit.replay.parallel.run`; no result
        depends on them.

    Returns
    -------
    DataFrame
        One row per (method, options, rho, replication): ``budget`` and ``spent`` in the table's unit,
        ``status`` (``"ok"``, or ``"infeasible"`` where the budget is too small), ``pulls``,
        ``efficiency_regret``, ``standard_regret`` (against :math:`\nu_{i^\star} B`), ``best_arm_pulls``;
        ``dataset``, ``kind`` and ``unit`` of the table.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> runs = cb.replay_online(table, ["CoHVUCB", "UniformAllocation"], rho=[4, 8], replications=3)
    >>> runs.groupby("method").size().to_dict()
    {'CoHVUCB': 6, 'UniformAllocation': 6}
    """
    cells = grid_cells(table, specs(methods, "online"), rho, replications, seed)
    return run_grid(_part, cells, table, source=source_from_table(table, true_costs), **parallel)


def replay_paths(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    *,
    true_costs: str | None = None,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    r"""Follow the regret along the runs that `replay_online` makes.

    Parameters
    ----------
    table, methods, rho, replications, seed, true_costs, **parallel
        As in `replay_online`.

    Returns
    -------
    DataFrame
        For each run 200 equal steps of ``spent`` budget with ``efficiency_regret`` so far and
        ``moving_average``, the mean gap of the last 50 pulls (NaN before the first);
        ``dataset``, ``kind`` and ``unit`` of the table.  A budget that is too small gives one row of NaN per
        replication.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> paths = cb.replay_paths(cb.load("synthetic-24"), "CoHVUCB", rho=4, replications=3)
    >>> paths.groupby("replication").size().tolist()
    [200, 200, 200]
    """
    cells = grid_cells(table, specs(methods, "online"), rho, replications, seed)
    return run_grid(_paths_part, cells, table, source=source_from_table(table, true_costs), **parallel)
