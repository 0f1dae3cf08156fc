"""Replay on a table, as tidy frames: online selection, its paths, and Pareto identification."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cobandit import _budget, _validation
from cobandit.dominance import pareto_mask
from cobandit.errors import BudgetError, CobanditError
from cobandit.policies.cost_comparison import FRONTS, find_affordable
from cobandit.policies.pareto_race import ParetoRace
from cobandit.policies.registry import read_methods
from cobandit.replay import kernels
from cobandit.replay.grid import (
    GridCell,
    Source,
    cut_grid,
    make_columns,
    pack_shared,
    pack_table,
    play_cell,
    run_grid,
)
from cobandit.replay.parallel import Parallel
from cobandit.stats import metrics

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Points of the common grid of spent budget on which `replay_paths` reports.
POINTS = 200


def _infeasible(cell: GridCell, *names: str) -> dict[str, Any]:
    """Columns of a cell whose budget is too small."""
    nobody = np.fromiter([()] * len(cell.replications), dtype=object)
    held = {"pulls": 0, "best_arm_pulls": 0, "returned": nobody, "correct": False}
    return make_columns(
        cell, status="infeasible", **{name: held.get(name, np.nan) for name in names}
    )


def _online_part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_online`."""
    problem = source.problem
    try:
        pulls, spent, *_ = play_cell(source, cell)
    except BudgetError:
        regrets = "efficiency_regret", "standard_regret"
        return _infeasible(cell, "spent", "pulls", *regrets, "best_arm_pulls")

    return make_columns(
        cell,
        status="ok",
        spent=spent,
        pulls=pulls.sum(axis=1),
        efficiency_regret=metrics.efficiency_regret(problem, pulls),
        standard_regret=metrics.standard_regret(
            problem, pulls, cell.budget / source.cost_range[1]
        ),
        best_arm_pulls=pulls[:, problem.best_arm],
    )


def _paths_part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_paths`, and its budget."""
    try:
        pulls = play_cell(source, cell).pulls
    except BudgetError:
        return make_columns(
            cell, spent=np.nan, efficiency_regret=np.nan, moving_average=np.nan
        )

    # A run is deterministic, so it is played again once its length is known, and taken
    # down; one at a time, since with thousands of arms each has millions of pulls.
    steps = cell.budget * np.arange(1, POINTS + 1) / POINTS
    regrets, averages = np.empty((2, len(pulls), POINTS))
    for r, (number, length) in enumerate(
        zip(cell.replications, pulls.sum(axis=1), strict=True)
    ):
        taken = kernels.record(1, length)
        play_cell(source, cell._replace(replications=np.array([number])), taken)
        gaps = source.problem.efficiency_gaps[taken.arms[0]]
        done = np.searchsorted(
            np.cumsum(taken.charges[0]), steps * (1 + _budget.SLACK), side="right"
        )
        regrets[r] = np.append(0.0, np.cumsum(gaps))[done]
        averages[r] = np.append(np.nan, metrics.moving_average(gaps))[done]

    return make_columns(
        cell,
        replication=np.repeat(cell.replications, POINTS),
        spent=np.tile(steps, len(pulls)),
        efficiency_regret=regrets.ravel(),
        moving_average=averages.ravel(),
    )


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

    Feedback is drawn from the evaluation split by arm-wise bootstrap on common random
    numbers, and this split is the truth that regrets are against.  The profiling split
    gives what a policy may know: the range of single costs, and the mean costs that
    decide what is affordable.  Regrets are in the unit of the largest single profiling
    cost.

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
        The split whose mean costs divide the true hypervolume, as in
        `EvaluationTable.truth`: by default that of evaluation, and for a reconstruction
        of the paper's tables that of profiling (A10).
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress`` as in
        `cobandit.replay.parallel.run`; no result depends on them.

    Returns
    -------
    DataFrame
        One row per (method, options, rho, replication): ``budget`` and ``spent`` in the
        table's unit, ``status`` (``"ok"``, or ``"infeasible"`` where the budget is too
        small), ``pulls``, ``efficiency_regret``, ``standard_regret`` (against
        :math:`\nu_{i^\star} B`), ``best_arm_pulls``; ``dataset``, ``kind`` and ``unit``
        of the table.

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
    cells = cut_grid(table, read_methods(methods, "online"), rho, replications, seed)
    return run_grid(
        _online_part, cells, table, source=pack_table(table, true_costs), **parallel
    )


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
        For each run 200 equal steps of ``spent`` budget with ``efficiency_regret`` so
        far and ``moving_average``, the mean gap of the last 50 pulls (NaN before the
        first); ``dataset``, ``kind`` and ``unit`` of the table.  A budget that is too
        small gives one row of NaN per replication.

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
    cells = cut_grid(table, read_methods(methods, "online"), rho, replications, seed)
    paths = run_grid(
        _paths_part, cells, table, source=pack_table(table, true_costs), **parallel
    )
    return paths.drop(columns="budget")


def _identification_part(
    source: Source, cell: GridCell, realised: bool
) -> dict[str, Any]:
    """Replay a cell: its columns of the frame of `replay_identification`."""
    problem = source.problem

    method: Any = cell.spec.policy
    off = (metrics.cover, metrics.excess) if source.feedback.once else ()
    try:
        runs = play_cell(source, cell, realised=realised)
    except BudgetError:
        found = "returned", "correct", "f1", *(each.__name__ for each in off)
        return _infeasible(cell, "spent", "pulls", *found)

    status: Any = "ok"
    if issubclass(method, ParetoRace):
        status = np.where(runs.settled, "settled", "out of budget").astype(object)
    names = np.array(problem.names, dtype=object)
    compared, affordable = problem.means, None
    if (
        issubclass(method, ParetoRace)
        and cell.spec.given.get("front", FRONTS[0]) == FRONTS[0]
    ):
        costs = source.costs
        if realised:
            costs = np.add.reduceat(
                source.feedback.rows[:, 0], source.feedback.offsets[:-1]
            )
        compared = np.column_stack([problem.means, -costs / costs.max()])
        affordable = find_affordable(costs, cell.spec.given.get("cost_tolerance", 0.0))

    truth = pareto_mask(compared, method.dominance)
    return make_columns(
        cell,
        status=status,
        spent=runs.spent,
        pulls=runs.pulls.sum(axis=1),
        returned=np.fromiter(
            (tuple(names[mask]) for mask in runs.returned), dtype=object
        ),
        correct=(runs.returned == truth).all(axis=1),
        f1=metrics.f1_score(runs.returned, truth),
        **{
            each.__name__: each(runs.returned, problem.means, affordable)
            for each in off
        },
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

    The truth is the Pareto set of the evaluation split's means; methods know the
    profiling mean costs.  Of a `cobandit.ParetoRace` it is that of the means and the
    costs that are charged, unless the race has ``front="objectives"``.

    With ``feedback="once"`` the evaluation split is a finite benchmark: its instances
    stand in one random order per replication, the same for all configurations, methods
    and budgets, and each configuration is evaluated at most once on each.  Instances
    that were not evaluated with every configuration are left out, of the truth, too.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str, class or Spec
        Names, classes or `spec` results.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`; or ``share``, exactly one of the two,
        neither where all methods stop by themselves (``"ParetoRace"``): their budget is
        then infinite.
    replications : int
        Independent runs per cell, the same streams for every method and budget.
    seed : int
        Any number from 0 to 2^64 - 1.
    charge : {"declared", "realised"}
        What a pull is charged: the profiling mean cost that the method knows, as
        Theorem 2 assumes, or the cost of the instance drawn.
    share : float or list of float
        Budgets as shares of what evaluating every instance of the evaluation split
        costs.
    feedback : {"bootstrap", "once"}
        As in the paper, by arm-wise bootstrap; or each instance at most once, for the
        methods that are told how many there are: ``"CoPSIOnce"``, ``"UniformOnce"``,
        ``"PSISROnce"``, ...  A method of the paper stands for its version there:
        ``"PSISR"`` is replayed, and named in the frame, as PSISROnce.
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress`` as in
        `cobandit.replay.parallel.run`; no result depends on them.

    Returns
    -------
    DataFrame
        One row per (method, options, rho, replication): ``budget`` and ``spent`` in the
        table's unit, ``status``, ``pulls``, ``returned`` (tuple of configuration
        names), ``correct`` (exactly the Pareto set), ``f1``; ``dataset``, ``kind`` and
        ``unit`` of the table; ``share`` where budgets are given so or feedback is once:
        the budget's, or without a budget that of what was spent.  With feedback once
        also ``cover``, how far the worst configuration is from being covered by a
        returned one, and ``excess``, by how much the worst returned one is dominated.
        A budget that is too small gives ``status = "infeasible"``; a race ends as
        ``"settled"`` or ``"out of budget"``, and is right if it is off by no more than
        its tolerance, which ``cover`` and ``excess`` say, not ``correct``.

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
    >>> race = cb.spec("ParetoRace", tolerance=0.05)
    >>> runs = cb.replay_identification(table, race, feedback="once", replications=4)
    >>> runs["status"].unique().tolist(), runs["share"].max() < 0.5
    (['settled'], np.True_)
    """
    realised = (
        _validation.choice(charge, "charge", ("declared", "realised")) == "realised"
    )
    once = _validation.choice(feedback, "feedback", ("bootstrap", "once")) == "once"
    chosen = read_methods(methods, "once" if once else "identification")
    source = (pack_shared if once else pack_table)(table)

    # as rho
    everything = float(
        np.diff(source.feedback.offsets) @ source.costs / source.costs.sum()
    )
    free = rho is share is None and all(
        issubclass(each.policy, ParetoRace) for each in chosen
    )
    if (rho is None) == (share is None) and not free:
        raise CobanditError(
            "budgets are given by rho or by share: exactly one of the two is needed"
        )

    shares: dict[float, float] = {}
    if share is not None:
        values = [
            _validation.positive(x, "share")
            for x in (share if isinstance(share, Iterable) else [share])
        ]
        shares = {everything * value: value for value in values}

    cells = cut_grid(
        table,
        chosen,
        1 if free else list(shares) if rho is None else rho,
        replications,
        seed,
    )
    if free:
        cells = [cell._replace(rho=inf, budget=inf) for cell in cells]
    runs = run_grid(
        _identification_part, cells, table, realised, source=source, **parallel
    )
    if rho is not None and not once:
        return runs
    if free:
        return runs.assign(
            share=runs["spent"] / (everything * float(source.costs.sum()))
        )

    return runs.assign(
        share=runs["rho"].map(shares) if shares else runs["rho"] / everything
    )
