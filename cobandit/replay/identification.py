"""Replay of Pareto identification on a table, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import BudgetError
from cobandit.replay.grid import Cell, Source, cells_of, frame_of, play_grid
from cobandit.replay.methods import specs
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def policy_of(source: Source, cell: Cell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    n_objectives = source.problem.n_objectives
    return cell.spec.make(cell.rho, costs=source.costs, budget=cell.budget, n_objectives=n_objectives)


def play(
    source: Source, cell: Cell, policy: Any, realised: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Pulls (R, K), spend (R,) and returned sets (R, K) of a cell, by its kernel."""
    pulls, spent, returned = cell.spec.kernel.run(
        cell.spec.kernel.read(policy),
        _check.with_slack(cell.budget),
        source.costs,
        realised,
        source.table,
        np.uint64(cell.seed),
        cell.replications,
        np.empty((len(cell.replications), 0), dtype=np.int64),
    )
    return pulls, spent, returned


def identification_part(source: Source, cell: Cell, realised: bool) -> tuple[pd.DataFrame]:
    """Replay a cell: its rows of the frame of `replay_identification`."""
    problem, n = source.problem, len(cell.replications)
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(n, np.nan)
        return (
            frame_of(
                cell,
                status="infeasible",
                spent=nothing,
                pulls=0,
                returned=[()] * n,
                correct=False,
                f1=nothing,
            ),
        )
    pulls, spent, returned = play(source, cell, policy, realised)
    names = np.array(problem.names, dtype=object)
    return (
        frame_of(
            cell,
            status="ok",
            spent=spent,
            pulls=pulls.sum(axis=1),
            returned=[tuple(names[mask]) for mask in returned],
            correct=(returned == problem.pareto_mask).all(axis=1),
            f1=metrics.f1_score(returned, problem.pareto_mask),
        ),
    )


def replay_identification(
    table: EvaluationTable,
    algorithms: Any,
    rho: Iterable[float] | float,
    replications: int = 500,
    seed: int = 0,
    costs: str = "declared",
    *,
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    r"""Replay Pareto identification on a table (paper, Section 5 and Appendix A).

    The truth is the Pareto set of the evaluation split's means; algorithms know the profiling mean costs.

    Parameters
    ----------
    table : EvaluationTable
    algorithms : list of str or Spec
        Names or `spec` results.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`.
    replications : int
        Independent runs a cell, the same streams for every algorithm and budget.
    seed : int
        Any number from 0 to 2^64 - 1.
    costs : {"declared", "realised"}
        What a pull is charged: the profiling mean cost that the algorithm knows, as Theorem 2 assumes, or
        the cost of the instance drawn.
    workers, backend, scheduler, progress
        As in `cobandit.replay.parallel.run`; no result depends on them.

    Returns
    -------
    DataFrame
        One row a (method, options, rho, replication): ``budget`` and ``spent`` in the table's unit,
        ``status``, ``pulls``, ``returned`` (tuple of configuration names), ``correct`` (exactly the Pareto
        set), ``f1``.  A budget that is too small gives ``status = "infeasible"``.

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
    _check.choice(costs, "costs", ("declared", "realised"))
    cells = cells_of(table, specs(algorithms, "identification"), rho, replications, seed)
    how = {"workers": workers, "backend": backend, "scheduler": scheduler, "progress": progress}
    (runs,) = play_grid(identification_part, cells, table, costs == "realised", **how)
    runs.attrs["costs"] = costs
    return runs
