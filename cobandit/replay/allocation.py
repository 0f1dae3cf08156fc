"""Where the budget of a replay goes: the pulls of each configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobandit.errors import BudgetError
from cobandit.replay import identification, online
from cobandit.replay.grid import Cell, Source, cells_of, play_grid
from cobandit.replay.kernels import ONLINE
from cobandit.replay.methods import Spec, specs

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def _allocation_part(source: Source, cell: Cell) -> tuple[pd.DataFrame]:
    try:
        if cell.spec.name in ONLINE:
            pulls, _ = online.pulls_of(source, cell, online.policy_of(source, cell))
        else:
            pulls, *_ = identification.play(source, cell, identification.policy_of(source, cell), False)
    except BudgetError:
        pulls = np.empty((0, source.problem.n_arms), dtype=np.int64)
    rows, arms = np.indices(pulls.shape)
    return (
        pd.DataFrame(
            {
                "method": cell.spec.name,
                "options": cell.spec.options,
                "rho": cell.rho,
                "replication": cell.replications[rows.ravel()],
                "arm": arms.ravel(),
                "pulls": pulls.ravel(),
            }
        ),
    )


def replay_allocation(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float,
    replications: int = 100,
    seed: int = 0,
    *,
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    r"""Count the pulls of each arm in the runs that `replay_online` or `replay_identification` make.

    Same seed, same runs; identification is charged the declared costs.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str or Spec
        Names or `spec` results, either all for online selection or all for identification.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`.
    replications : int
    seed : int
    workers, backend, scheduler, progress
        As in `cobandit.replay.parallel.run`; no result depends on them.

    Returns
    -------
    DataFrame
        ``method``, ``options``, ``rho``, ``replication``, ``arm`` and ``pulls``: K rows a run, none for a
        budget that is too small.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> counted = replay_allocation(cb.load("synthetic-24"), "UniformIdentification", rho=4, replications=2)
    >>> len(counted), counted["pulls"].unique().tolist()  # 24 arms in two runs
    (48, [4])
    """
    listed = [methods] if isinstance(methods, (str, Spec)) else list(methods)
    kind = (
        "online" if any(getattr(method, "name", method) in ONLINE for method in listed) else "identification"
    )
    # one part a cell: with K rows a run, many small frames would take longer than the runs
    cells = cells_of(table, specs(listed, kind), rho, replications, seed, most=1)
    how = {"workers": workers, "backend": backend, "scheduler": scheduler, "progress": progress}
    (counted,) = play_grid(_allocation_part, cells, table, **how)
    return counted
