"""Where the budget of a replay goes: the pulls of each configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cobandit.errors import BudgetError
from cobandit.policies.registry import read_methods
from cobandit.replay.grid import GridCell, Source, cut_grid, make_policy, run_grid
from cobandit.replay.parallel import Parallel
from cobandit.replay.running import run_kernel

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def _part(source: Source, cell: GridCell) -> dict[str, Any]:
    try:
        policy = make_policy(source, cell)
        pulls, *_ = run_kernel(policy, source.feedback, cell.seed, cell.replications, realised=False)
    except BudgetError:
        pulls = np.empty((0, source.problem.n_arms), dtype=np.int64)
    rows, arms = np.indices(pulls.shape)
    named = {"method": cell.spec.name, "options": cell.spec.options, "rho": cell.rho}
    at = {"replication": cell.replications[rows.ravel()], "arm": arms.ravel(), "pulls": pulls.ravel()}
    return named | at


def allocation(
    table: EvaluationTable,
    methods: Any,
    kind: str,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    """Count the pulls of each arm in the runs that the replays make.

    Same seed, same runs; identification is charged the declared costs.

    Parameters
    ----------
    table, methods, rho, replications, seed, **parallel
        As in the replays.
    kind : {"online", "identification"}
        Of the methods.

    Returns
    -------
    DataFrame
        ``method``, ``options``, ``rho``, ``replication``, ``arm`` and ``pulls``, K rows per run and none for
        a budget that is too small; ``dataset``, ``kind`` and ``unit`` of the table.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> counted = allocation(table, "UniformIdentification", "identification", rho=4, replications=2)
    >>> len(counted), counted["pulls"].unique().tolist()  # 24 arms in two runs
    (48, [4])
    """
    # one part per cell: with K rows per run, many small frames would take longer than the runs
    cells = cut_grid(table, read_methods(methods, kind), rho, replications, seed, most=1)
    return run_grid(_part, cells, table, **parallel)
