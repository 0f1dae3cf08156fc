"""Replay of Pareto identification on a table, as tidy frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.errors import BudgetError, CobanditError
from cobandit.replay.grid import (
    GridCell,
    Source,
    columns_of,
    grid_cells,
    once_from_table,
    run_grid,
    source_from_table,
)
from cobandit.replay.methods import specs
from cobandit.replay.parallel import Parallel
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def policy_of(source: Source, cell: GridCell) -> Any:
    """Make the readable policy of a cell; `BudgetError` where the budget is too small."""
    known = {"costs": source.costs, "budget": cell.budget, "n_objectives": source.problem.n_objectives}
    if cell.spec.kind == "once":
        known["n_instances"] = int(source.feedback.offsets[1])
    return cell.spec.make(cell.rho, **known)


def _part(source: Source, cell: GridCell, realised: bool) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_identification`."""
    problem, n = source.problem, len(cell.replications)
    try:
        policy = policy_of(source, cell)
    except BudgetError:
        nothing = np.full(n, np.nan)
        return columns_of(
            cell,
            status="infeasible",
            spent=nothing,
            pulls=0,
            returned=np.fromiter([()] * n, dtype=object),
            correct=False,
            f1=nothing,
        )
    pulls, spent, returned = run_kernel(
        policy, source.feedback, cell.seed, cell.replications, realised=realised
    )
    names = np.array(problem.names, dtype=object)
    return columns_of(
        cell,
        status="ok",
        spent=spent,
        pulls=pulls.sum(axis=1),
        returned=np.fromiter((tuple(names[mask]) for mask in returned), dtype=object),
        correct=(returned == problem.pareto_mask).all(axis=1),
        f1=metrics.f1_score(returned, problem.pareto_mask),
    )


def replay_identification(
    table: EvaluationTable,
    methods: Any,
    rho: Iterable[float] | float | None = None,
    replications: int = 500,
    seed: int = 0,
    charge: str = "declared",
    *,
    share: Iterable[float] | float | None = None,
    feedback: str = "bootstrap",
    **parallel: Unpack[Parallel],
) -> pd.DataFrame:
    r"""Replay Pareto identification on a table (paper, Section 5 and Appendix A).

    The truth is the Pareto set of the evaluation split's means; methods know the profiling mean costs.

    With ``feedback="once"`` the evaluation split is a finite benchmark: its instances stand in one random
    order per replication, the same for all configurations, methods and budgets, and each configuration is
    evaluated at most once on each.  Instances that were not evaluated with every configuration are left
    out, of the truth, too.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str, class or Spec
        Names, classes or `spec` results.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`; or ``share``, exactly one of the two.
    replications : int
        Independent runs per cell, the same streams for every method and budget.
    seed : int
        Any number from 0 to 2^64 - 1.
    charge : {"declared", "realised"}
        What a pull is charged: the profiling mean cost that the method knows, as Theorem 2 assumes, or
        the cost of the instance drawn.
    share : float or list of float
        Budgets as shares of what evaluating every instance of the evaluation split costs.
    feedback : {"bootstrap", "once"}
        As in the paper, by arm-wise bootstrap; or each instance at most once, for the methods that
        are told how many there are: ``"CoPSIOnce"``, ``"UniformOnce"``, ``"PSISROnce"``, ...  A method of the
        paper stands for its version there: ``"PSISR"`` is replayed, and named in the frame, as PSISROnce.
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress`` as in `cobandit.replay.parallel.run`; no result
        depends on them.

    Returns
    -------
    DataFrame
        One row per (method, options, rho, replication): ``budget`` and ``spent`` in the table's unit,
        ``status``, ``pulls``, ``returned`` (tuple of configuration names), ``correct`` (exactly the Pareto
        set), ``f1``; ``dataset``, ``kind`` and ``unit`` of the table; ``share`` where budgets are given so
        or feedback is once.  A budget that is too small gives ``status = "infeasible"``.

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
    >>> once = cb.replay_identification(table, ["CoPSIOnce"], share=[0.5, 1], feedback="once", replications=4)
    >>> once.groupby("share")["correct"].all().loc[1.0]
    np.True_
    """
    realised = _check.choice(charge, "charge", ("declared", "realised")) == "realised"
    once = _check.choice(feedback, "feedback", ("bootstrap", "once")) == "once"
    chosen = specs(methods, "once" if once else "identification")
    source = (once_from_table if once else source_from_table)(table)
    everything = float(np.diff(source.feedback.offsets) @ source.costs / source.costs.sum())  # as rho
    if share is None and rho is not None:
        cells = grid_cells(table, chosen, rho, replications, seed)
        shares = {cell.rho: cell.rho / everything for cell in cells}
    elif rho is None and share is not None:
        values = [_check.positive(x, "share") for x in (share if isinstance(share, Iterable) else [share])]
        shares = {everything * value: value for value in values}
        cells = grid_cells(table, chosen, list(shares), replications, seed)
    else:
        raise CobanditError("budgets are given by rho or by share: exactly one of the two is needed")
    runs = run_grid(_part, cells, table, realised, source=source, **parallel)
    return runs if rho is not None and not once else runs.assign(share=runs["rho"].map(shares))
