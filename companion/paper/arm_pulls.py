"""Number of pulls of each arm in each run of a replay."""

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
import pandas as pd

from cobandit.errors import BudgetError
from cobandit.policies.registry import read_methods
from cobandit.replay.grid import (
    GridCell,
    Source,
    cut_grid,
    make_columns,
    pack_table,
    play_cell,
    run_grid,
)
from cobandit.replay.parallel import Parallel
from cobandit.tables import EvaluationTable


def _count_pulls(source: Source, cell: GridCell) -> dict[str, Any]:
    try:
        pulls = play_cell(source, cell).pulls
    except BudgetError:
        pulls = np.empty((0, source.problem.n_arms), dtype=np.int64)
    rows, arms = np.indices(pulls.shape)
    counted = {
        "replication": cell.replications[rows.ravel()],
        "arm": arms.ravel(),
        "pulls": pulls.ravel(),
    }
    return make_columns(cell, **counted)


def allocation(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    """Count the pulls of each arm in each run of a replay of online selection.

    The runs are the same as in `replay_online` with the same parameters.

    Parameters
    ----------
    table, methods, rho, replications, seed, **parallel
        As in `replay_online`.

    Returns
    -------
    DataFrame
        One row per run and arm: ``method``, ``options``, ``rho``, ``replication``,
        ``arm`` and ``pulls``, and the ``dataset``, ``kind`` and ``unit`` of the table.
        A run whose budget is too small has no rows.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> pulls = allocation(table, "UniformAllocation", rho=4, replications=2)
    >>> len(pulls)  # 24 arms in two runs
    48
    """
    # one part per cell: with K rows per run, many small frames cost more than the runs
    cells = cut_grid(
        table, read_methods(methods, "online"), rho, replications, seed, most_parts=1
    )
    counted = run_grid(_count_pulls, cells, table, source=pack_table(table), **parallel)
    return counted.drop(columns="budget")
