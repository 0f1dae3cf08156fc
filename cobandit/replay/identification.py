"""Replay of Pareto identification on a table, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.errors import BudgetError
from cobandit.replay.grid import GridCell, Source, frame_of, grid_cells, run_grid
from cobandit.replay.methods import specs
from cobandit.replay.parallel import Parallel
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def policy_of(source: Source, cell: GridCell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    n_objectives = source.problem.n_objectives
    return cell.spec.make(cell.rho, costs=source.costs, budget=cell.budget, n_objectives=n_objectives)


def _part(source: Source, cell: GridCell, realised: bool) -> pd.DataFrame:
    """Replay a cell: its rows of the frame of `replay_identification`."""
    problem, n = source.problem, len(cell.replications)
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(n, np.nan)
        return frame_of(
            cell,
            status="infeasible",
            spent=nothing,
            pulls=0,
            returned=[()] * n,
            correct=False,
            f1=nothing,
        )
    pulls, spent, returned = run_kernel(
        policy, source.feedback, cell.seed, cell.replications, realised=realised
    )
    names = np.array(problem.names, dtype=object)
    return frame_of(
        cell,
        status="ok",
        spent=spent,
        pulls=pulls.sum(axis=1),
        returned=[tuple(names[mask]) for mask in returned],
        correct=(returned == problem.pareto_mask).all(axis=1),
        f1=metrics.f1_score(returned, problem.pareto_mask),
    )


def replay_identification(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float,
    replications: int = 500,
    seed: int = 0,
    charge: str = "declared",
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    r"""Replay Pareto identification on a table (paper, Section 5 and Appendix A).

    The truth is the Pareto set of the evaluation split's means; methods know the profiling mean costs.

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
    charge : {"declared", "realised"}
        What a pull is charged: the profiling mean cost that the method knows, as Theorem 2 assumes, or
        the cost of the instance drawn.
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress`` as in `cobandit.replay.parallel.run`; no result
        depends on them.

    Returns
    -------
    DataFrame
        One row per (method, options, rho, replication): ``budget`` and ``spent`` in the table's unit,
        ``status``, ``pulls``, ``returned`` (tuple of configuration names), ``correct`` (exactly the Pareto
        set), ``f1``; ``dataset``, ``kind`` and ``unit`` of the table.  A budget that is too small gives
        ``status = "infeasible"``.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> runs = cb.replay_identification(table, ["CoPSI"], rho=[1, 50], replications=4)
    >>> runs.groupby("rho")["status"].first().to_dict()
    {1.0: 'infeasible', 50.0: 'ok'}
    """
    realised = _check.choice(charge, "charge", ("declared", "realised")) == "realised"
    cells = grid_cells(table, specs(methods, "identification"), rho, replications, seed)
    return run_grid(_part, cells, table, realised, **parallel)
