"""Replays: simulated runs of policies on a table, as tidy data frames."""

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

#: Number of equal steps of the budget at which `replay_paths` reports regrets.
POINTS = 200


def _infeasible(cell: GridCell, *names: str) -> dict[str, Any]:
    """Return the columns of runs whose budget is too small for the method."""
    nothing = np.fromiter([()] * len(cell.replications), dtype=object)
    defaults = {"pulls": 0, "best_arm_pulls": 0, "returned": nothing, "correct": False}
    columns = {name: defaults.get(name, np.nan) for name in names}
    return make_columns(cell, status="infeasible", **columns)


def _online_part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay one method at one budget; return its columns for `replay_online`."""
    problem = source.problem
    try:
        runs = play_cell(source, cell)
    except BudgetError:
        regrets = "efficiency_regret", "standard_regret"
        return _infeasible(cell, "spent", "pulls", *regrets, "best_arm_pulls")

    normalised_budget = cell.budget / source.cost_range[1]
    return make_columns(
        cell,
        status="ok",
        spent=runs.spent,
        pulls=runs.pulls.sum(axis=1),
        efficiency_regret=metrics.efficiency_regret(problem, runs.pulls),
        standard_regret=metrics.standard_regret(problem, runs.pulls, normalised_budget),
        best_arm_pulls=runs.pulls[:, problem.best_arm],
    )


def _paths_part(source: Source, cell: GridCell) -> dict[str, Any]:
    """Replay one method at one budget; return its columns for `replay_paths`."""
    try:
        pulls = play_cell(source, cell).pulls
    except BudgetError:
        return make_columns(
            cell, spent=np.nan, efficiency_regret=np.nan, moving_average=np.nan
        )

    # The size of a record is the length of the run, which is known only afterwards.
    # Runs are deterministic, so each is repeated with a record of this size. They are
    # recorded one at a time, because a run with thousands of arms has millions of
    # pulls.
    steps = cell.budget * np.arange(1, POINTS + 1) / POINTS
    regrets = np.empty((len(pulls), POINTS))
    averages = np.empty((len(pulls), POINTS))
    lengths = pulls.sum(axis=1)
    for r, (number, length) in enumerate(zip(cell.replications, lengths, strict=True)):
        recorded = kernels.record(1, length)
        play_cell(source, cell._replace(replications=np.array([number])), recorded)

        # number of pulls that each step of the budget pays for
        spent = np.cumsum(recorded.charges[0])
        n_pulls = np.searchsorted(spent, steps * (1 + _budget.SLACK), side="right")
        gaps = source.problem.efficiency_gaps[recorded.arms[0]]
        regrets[r] = np.append(0.0, np.cumsum(gaps))[n_pulls]
        averages[r] = np.append(np.nan, metrics.moving_average(gaps))[n_pulls]

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
    r"""Simulate online policies on a table (paper, Section 5 and Appendix A).

    The feedback of a pull is a row of the arm in the evaluation split, drawn with
    replacement (arm-wise bootstrap). Regrets are computed from the means of this split.
    Policies know two things from the profiling split: the range of single costs, and
    the mean costs. The mean costs decide whether an arm is affordable. Regrets are in
    the unit of the largest single cost of the profiling split.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str, class or Spec
        Names of methods, classes, or results of `spec`.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`.
    replications : int
        Number of independent runs per method and budget. All methods and budgets use
        the same random streams.
    seed : int
        Any number from 0 to 2^64 - 1.
    true_costs : {"evaluation", "profiling"}, optional
        Split whose mean costs are the true costs, as in `EvaluationTable.truth`. The
        default is evaluation. For a reconstruction of the paper's tables, it is
        profiling (open choice A10 of the book).
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress``, as in
        `cobandit.replay.parallel.run`. Results do not depend on them.

    Returns
    -------
    DataFrame
        One row per run, with columns ``method``, ``options``, ``rho`` and
        ``replication``; ``budget`` and ``spent`` in the unit of the table; ``status``,
        which is ``"ok"``, or ``"infeasible"`` if the budget is too small; ``pulls``;
        ``efficiency_regret``; ``standard_regret``, against :math:`\nu_{i^\star} B`;
        ``best_arm_pulls``; and ``dataset``, ``kind`` and ``unit`` of the table.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> methods = ["CoHVUCB", "UniformAllocation"]
    >>> runs = cb.replay_online(table, methods, rho=[4, 8], replications=3)
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
    """Simulate runs like `replay_online`, and return their regrets step by step.

    Parameters
    ----------
    table, methods, rho, replications, seed, true_costs, **parallel
        As in `replay_online`.

    Returns
    -------
    DataFrame
        200 rows per run, at equal steps of the budget, with columns ``method``,
        ``options``, ``rho`` and ``replication``; ``spent``, the cost so far;
        ``efficiency_regret``, the regret so far; ``moving_average``, the mean
        efficiency gap of the last 50 pulls (NaN before the first pull); and
        ``dataset``, ``kind`` and ``unit`` of the table. If the budget is too small,
        there is one row of NaN per replication.

    Raises
    ------
    CobanditError
        If a method, an option or a number is not valid.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> paths = cb.replay_paths(table, "CoHVUCB", rho=4, replications=3)
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
    """Replay one method at one budget; return columns for `replay_identification`."""
    problem = source.problem
    method: Any = cell.spec.policy
    is_race = issubclass(method, ParetoRace)
    distances = (metrics.cover, metrics.excess) if source.feedback.once else ()
    try:
        runs = play_cell(source, cell, realised=realised)
    except BudgetError:
        results = "returned", "correct", "f1", *(score.__name__ for score in distances)
        return _infeasible(cell, "spent", "pulls", *results)

    status: Any = "ok"
    if is_race:
        status = np.where(runs.settled, "settled", "out of budget").astype(object)

    # the true front is of objectives and costs if a race compares costs
    compared = problem.means
    affordable = None
    if is_race and cell.spec.given.get("front", FRONTS[0]) == FRONTS[0]:
        costs = source.costs
        if realised:
            starts = source.feedback.offsets[:-1]
            costs = np.add.reduceat(source.feedback.rows[:, 0], starts)
        compared = np.column_stack([problem.means, -costs / costs.max()])
        affordable = find_affordable(costs, cell.spec.given.get("cost_tolerance", 0.0))
    truth = pareto_mask(compared, method.dominance)

    names = np.array(problem.names, dtype=object)
    returned = (tuple(names[mask]) for mask in runs.returned)
    return make_columns(
        cell,
        status=status,
        spent=runs.spent,
        pulls=runs.pulls.sum(axis=1),
        returned=np.fromiter(returned, dtype=object),
        correct=(runs.returned == truth).all(axis=1),
        f1=metrics.f1_score(runs.returned, truth),
        **{
            score.__name__: score(runs.returned, problem.means, affordable)
            for score in distances
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
    r"""Simulate Pareto identification on a table (paper, Section 5 and Appendix A).

    The returned set is compared with the Pareto set of the evaluation split's means.
    For a `cobandit.ParetoRace`, it is compared with the front of these means and the
    charged costs, unless the race has ``front="objectives"``. Methods know the mean
    costs of the profiling split.

    With ``feedback="once"``, the evaluation split is a finite benchmark. Each
    replication has one random order of its instances, which all configurations, methods
    and budgets share. A configuration is evaluated at most once on each instance.
    Instances that were not evaluated with every configuration are left out, also from
    the true means.

    Parameters
    ----------
    table : EvaluationTable
    methods : list of str, class or Spec
        Names of methods, classes, or results of `spec`.
    rho : float or list of float
        Budgets as :math:`\rho = B / (K \bar c)`. Give either ``rho`` or ``share``. Give
        neither if all methods are a ``"ParetoRace"``, which stops by itself; the budget
        is then infinite.
    replications : int
        Number of independent runs per method and budget. All methods and budgets use
        the same random streams.
    seed : int
        Any number from 0 to 2^64 - 1.
    charge : {"declared", "realised"}
        Charge of a pull. ``"declared"``: the mean profiling cost, which the method
        knows, as Theorem 2 assumes. ``"realised"``: the cost of the drawn evaluation.
    share : float or list of float
        Budgets as shares of the cost of evaluating every configuration on every
        instance of the evaluation split.
    feedback : {"bootstrap", "once"}
        ``"bootstrap"``: each evaluation is drawn with replacement, as in the paper.
        ``"once"``: each instance is evaluated at most once. This is for methods that
        know the number of instances, such as ``"CoPSIOnce"`` and ``"UniformOnce"``. A
        method of the paper is then replaced by its version for finite benchmarks, such
        as ``"PSISR"`` by PSISROnce.
    **parallel
        ``workers``, ``backend``, ``scheduler``, ``progress``, as in
        `cobandit.replay.parallel.run`. Results do not depend on them.

    Returns
    -------
    DataFrame
        One row per run, with columns ``method``, ``options``, ``rho`` and
        ``replication``; ``budget`` and ``spent`` in the unit of the table; ``status``;
        ``pulls``; ``returned``, a tuple of configuration names; ``correct``, whether
        these are exactly the Pareto set; ``f1``, their F1 score; and ``dataset``,
        ``kind`` and ``unit`` of the table.

        If budgets are shares, or if ``feedback="once"``, the column ``share`` is the
        budget as a share of the cost of evaluating everything. Without a budget, it is
        the spent cost as a share of the cost of evaluating everything. If
        ``feedback="once"``, there are two further columns. ``cover`` is the smallest
        tolerance within which every configuration is covered by a returned one (see
        `cobandit.stats.metrics.cover`). ``excess`` is the largest margin by which a
        configuration dominates a returned one.

        The status is ``"ok"``, or ``"infeasible"`` if the budget is too small. The
        status of a `cobandit.ParetoRace` is ``"settled"`` or ``"out of budget"``. Use
        ``cover`` and ``excess``, not ``correct``, to judge a `cobandit.ParetoRace` with
        a tolerance.

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
    >>> once = cb.replay_identification(
    ...     table, ["CoPSIOnce"], share=[0.5, 1], feedback="once", replications=4
    ... )
    >>> once.groupby("share")["correct"].all().loc[1.0]
    np.True_
    >>> race = cb.spec("ParetoRace", tolerance=0.05)
    >>> runs = cb.replay_identification(table, race, feedback="once", replications=4)
    >>> runs["status"].unique().tolist(), runs["share"].max() < 0.5
    (['settled'], np.True_)
    """
    _validation.choice(charge, "charge", ("declared", "realised"))
    _validation.choice(feedback, "feedback", ("bootstrap", "once"))
    once = feedback == "once"
    chosen = read_methods(methods, "once" if once else "identification")
    source = pack_shared(table) if once else pack_table(table)

    stop_by_themselves = all(issubclass(method.policy, ParetoRace) for method in chosen)
    has_no_budget = rho is None and share is None and stop_by_themselves
    if rho is not None and share is not None:
        raise CobanditError(
            "rho and share both set the budgets: give only one of them",
            argument="rho",
            code="rho-or-share",
        )
    if rho is None and share is None and not has_no_budget:
        raise CobanditError(
            "no budget is given: give rho or share",
            argument="rho",
            code="rho-or-share",
        )

    # budgets as rho; without a budget, 1 is used first and replaced by infinity below
    everything = _rho_of_everything(source)
    shares = _read_shares(share, everything)
    rhos: Any = list(shares) if rho is None else rho
    if has_no_budget:
        rhos = 1
    cells = cut_grid(table, chosen, rhos, replications, seed)
    if has_no_budget:
        cells = [cell._replace(rho=inf, budget=inf) for cell in cells]

    runs = run_grid(
        _identification_part,
        cells,
        table,
        charge == "realised",
        source=source,
        **parallel,
    )
    if has_no_budget:
        everything_costs = everything * float(source.costs.sum())
        return runs.assign(share=runs["spent"] / everything_costs)
    if shares:
        return runs.assign(share=runs["rho"].map(shares))
    if once:
        return runs.assign(share=runs["rho"] / everything)
    return runs


def _rho_of_everything(source: Source) -> float:
    """Return the cost of evaluating everything, in evaluations per arm (rho)."""
    n_instances = np.diff(source.feedback.offsets)
    return float(n_instances @ source.costs / source.costs.sum())


def _read_shares(
    share: Iterable[float] | float | None, everything: float
) -> dict[float, float]:
    """Return given shares by the equal budgets (rho); empty without shares."""
    if share is None:
        return {}
    shares = share if isinstance(share, Iterable) else [share]
    values = [_validation.positive(value, "share") for value in shares]
    return {everything * value: value for value in values}
