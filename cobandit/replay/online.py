"""Replay of online policies on a table, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

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

#: Points of the common grid of spent budget on which `replay_online` reports paths.
GRID = 200


def policy_of(source: Source, cell: Cell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    return cell.spec.make(
        cell.rho,
        n_arms=source.problem.n_arms,
        n_objectives=source.problem.n_objectives,
        budget=cell.budget,
        cost_range=source.cost_range,
        expected_costs=source.costs,
    )


def play(
    source: Source,
    cell: Cell,
    policy: Any,
    replications: NDArray[np.int64],
    arms: NDArray[np.int64],
    costs: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Play replications of a cell by its kernel; arguments and results as of `kernels.select_online`."""
    expected = source.costs
    if policy.selection == "all":  # no arm is left out because of what it is expected to cost
        expected = np.zeros_like(expected)
        expected.setflags(write=False)
    pulls, spent = cell.spec.kernel.run(
        cell.spec.kernel.read(policy),
        _check.with_slack(cell.budget),
        expected,
        np.argsort(-expected, kind="stable"),
        policy.n_init,
        source.table,
        np.uint64(cell.seed),
        replications,
        arms,
        costs,
    )
    return pulls, spent


def pulls_of(source: Source, cell: Cell, policy: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pulls (R, K) and spend (R,) of a cell, nothing written down."""
    n = len(cell.replications)
    return play(source, cell, policy, cell.replications, np.empty((n, 0), dtype=np.int64), np.empty((n, 0)))


def online_part(source: Source, cell: Cell, trace: bool) -> tuple[pd.DataFrame, ...]:
    """Replay a cell: its rows of ``runs`` and ``paths`` of `replay_online`."""
    problem, n = source.problem, len(cell.replications)
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(n, np.nan)
        runs = frame_of(
            cell,
            status="infeasible",
            spent=nothing,
            pulls=0,
            efficiency_regret=nothing,
            standard_regret=nothing,
            best_arm_pulls=0,
        )
        return (runs, frame_of(cell, spent=nothing, efficiency_regret=nothing, moving_average=nothing))

    pulls, spent = pulls_of(source, cell, policy)
    runs = frame_of(
        cell,
        status="ok",
        spent=spent,
        pulls=pulls.sum(axis=1),
        efficiency_regret=metrics.efficiency_regret(problem, pulls),
        standard_regret=metrics.standard_regret(problem, pulls, cell.budget / source.cost_range[1]),
        best_arm_pulls=pulls[:, problem.best_arm],
    )
    if not trace:
        return (runs, pd.DataFrame())

    # A run is deterministic, so it is played again now that its length is known, and written down; one at a
    # time, since with thousands of arms each has millions of pulls.
    grid = cell.budget * np.arange(1, GRID + 1) / GRID
    paths = []
    for r, length in enumerate(pulls.sum(axis=1)):
        arms, costs = np.empty((1, length), dtype=np.int64), np.empty((1, length))
        play(source, cell, policy, cell.replications[r : r + 1], arms, costs)
        gaps = problem.efficiency_gaps[arms[0]]
        done = np.searchsorted(np.cumsum(costs[0]), grid * (1 + _check.SLACK), side="right")
        path = pd.DataFrame(
            {
                "replication": cell.replications[r],
                "spent": grid,
                "efficiency_regret": np.append(0.0, np.cumsum(gaps))[done],
                "moving_average": np.append(np.nan, metrics.moving_average(gaps))[done],
            }
        )
        paths.append(path)
    path = pd.concat(paths, ignore_index=True)
    named = frame_of(cell)[["method", "options", "rho", "replication"]]
    return (runs, named.merge(path, on="replication"))


@overload
def replay_online(
    table: EvaluationTable,
    policies: Any,
    rho: Iterable[float] | float,
    replications: int = ...,
    seed: int = ...,
    *,
    trace: Literal[False] = ...,
    workers: int = ...,
    backend: str = ...,
    scheduler: str | None = ...,
    progress: bool = ...,
) -> pd.DataFrame: ...
@overload
def replay_online(
    table: EvaluationTable,
    policies: Any,
    rho: Iterable[float] | float,
    replications: int = ...,
    seed: int = ...,
    *,
    trace: Literal[True],
    workers: int = ...,
    backend: str = ...,
    scheduler: str | None = ...,
    progress: bool = ...,
) -> tuple[pd.DataFrame, pd.DataFrame]: ...
def replay_online(
    table: EvaluationTable,
    policies: Any,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    *,
    trace: bool = False,
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: bool = False,
) -> pd.DataFrame | tuple[pd.DataFrame, pd.DataFrame]:
    r"""Replay online policies on a table (paper, Section 5 and Appendix A).

    Feedback is drawn from the evaluation split by arm-wise bootstrap on common random numbers.  The
    profiling split gives what a policy may know: the range of single costs, and the mean costs that
    decide what is affordable.  Regrets are in the unit of the largest single profiling cost.

    Parameters
    ----------
    table : EvaluationTable
    policies : list of str or Spec
        Names or `spec` results.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`.
    replications : int
        Independent runs a cell, the same streams for every policy and budget.
    seed : int
        Any number from 0 to 2^64 - 1.
    trace : bool
        Also return the regret along each run.
    workers, backend, scheduler, progress
        As in `cobandit.replay.parallel.run`; no result depends on them.

    Returns
    -------
    runs : DataFrame
        One row a (method, options, rho, replication): ``budget`` and ``spent`` in the table's unit,
        ``status`` (``"ok"``, or ``"infeasible"`` where the budget is too small), ``pulls``,
        ``efficiency_regret``, ``standard_regret`` (against :math:`\nu_{i^\star} B`), ``best_arm_pulls``.
    paths : DataFrame
        With ``trace``: for each run 200 equal steps of ``spent`` budget with ``efficiency_regret`` so far
        and ``moving_average``, the mean gap of the last 50 pulls.

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
    cells = cells_of(table, specs(policies, "online"), rho, replications, seed)
    how = {"workers": workers, "backend": backend, "scheduler": scheduler, "progress": progress}
    runs, paths = play_grid(online_part, cells, table, trace, **how)
    return (runs, paths) if trace else runs
