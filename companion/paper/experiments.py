"""The paper's experiments (Section 5 and Appendix A), on any table.

Methods, budgets and replication counts are the paper's; where the paper leaves
something open the book's default is taken.  What plays takes, as ``parallel``, how the
work runs: ``workers``, ``backend``, ``scheduler``, ``progress``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from cobandit import _validation
from cobandit.errors import BudgetError, TableError
from cobandit.policies.registry import read_methods
from cobandit.replay import (
    Spec,
    replay_identification,
    replay_online,
    replay_paths,
    spec,
)
from cobandit.replay.grid import (
    GridCell,
    Source,
    cut_grid,
    make_columns,
    pack_table,
    play_cell,
    run_grid,
)
from cobandit.replay.paper_settings import (
    IDENTIFICATION_RHO,
    ONLINE_RHO,
    RADII,
    online_methods,
)
from cobandit.replay.parallel import Parallel
from cobandit.stats import summaries
from cobandit.stats.contrasts import paired_contrasts, ratio_of_counts
from cobandit.stats.paired_errors import paired_difference
from cobandit.stats.summaries import proportion_interval
from cobandit.tables import EvaluationTable

FULL_SET_RHO = (10, 20, 50, 100, 200)
IDENTIFICATION = ("CoPSI", "PSISR", "UniformIdentification")
CHARGES = ("declared", "realised")

#: Methods that the paper compares with each other, in its claims and in the numbers
#: that it derives.
PAIRS = (
    ("CoHVUCB", "HVUCB"),
    ("CoHVUCB", "AccuracyCostUCB"),
    ("CoHVUCB", "UniformAllocation"),
    ("HVUCB", "UniformAllocation"),
    ("CoPSI", "PSISR"),
    ("CoPSI", "UniformIdentification"),
    ("PSISR", "UniformIdentification"),
)

#: The 14 arms of the paper's identification experiment, on tables that have its
#: configurations.
FOURTEEN = (
    "model in ['GPT-2', 'CodeLlama-7B', 'Tulu-7B', 'Tulu-2-7B', 'Gemma-7B', 'LLaMA-7B',"
    " 'Mistral-7B'] and temperature in [0.5, 1.0] and max_tokens == 128 and prompt =="
    " 'direct'"
)
#: Chosen alike, without looking at outcomes, on the tables that we measured: of every
#: model the same two temperatures, the smaller limit, the direct prompt.
ALIKE = {
    "word-sums": "temperature in [0.5, 1.0] and max_tokens == 8 and style == 'direct'",
    "piqa-small": (
        "temperature in [0.5, 1.0] and max_tokens == 8 and prompt == 'direct'"
    ),
}


def structured_subset(table: EvaluationTable) -> EvaluationTable:
    """Return the arms of the identification experiment: the paper's 14, or on our tables those chosen alike.

    A table that has none of them is returned whole.

    Examples
    --------
    >>> import cobandit as cb
    >>> [structured_subset(cb.load(name)).n_arms for name in ("piqa", "word-sums", "synthetic-24")]
    [14, 12, 24]
    """
    try:
        return table.subset(ALIKE.get(table.name, FOURTEEN))
    except TableError:
        return table


class Experiment(NamedTuple):
    """An experiment: how it is replayed, what is reported, and whether it is about the chosen arms alone."""

    replay: Callable[..., pd.DataFrame]
    methods: Sequence[Spec | str]
    rho: tuple[float, ...]
    replications: int
    quantities: tuple[str, ...]
    chosen: bool = False


_FEW = Experiment(
    replay_identification,
    IDENTIFICATION,
    IDENTIFICATION_RHO,
    500,
    ("error",),
    chosen=True,
)
#: By name: Figures 2a-b and 3; 2c-d; 5, judged by F1; 6, charged both kinds of costs;
#: 4, along the runs.
EXPERIMENTS = {
    "online": Experiment(
        replay_online,
        online_methods(),
        ONLINE_RHO,
        100,
        ("efficiency_regret", "standard_regret"),
    ),
    "identification": _FEW,
    "full-set": Experiment(
        replay_identification, IDENTIFICATION, FULL_SET_RHO, 100, ("f1",)
    ),
    "stochastic": _FEW._replace(rho=IDENTIFICATION_RHO[-1:]),
    "trajectory": Experiment(
        replay_paths,
        online_methods(),
        ONLINE_RHO[-1:],
        100,
        ("efficiency_regret", "moving_average"),
    ),
}


#: Evaluations of one run online beyond which it is not replayed on a page, and beyond
#: which it is less often.
MOST_EVALUATIONS = 2e6
MANY_EVALUATIONS = 1e5
#: Configurations beyond which identification is replayed less often: it takes time in
#: their square.
MANY_ARMS = 60


class Extent(NamedTuple):
    """How much of the paper's experiments is replayed on a table."""

    #: Replications as a multiple of the paper's.
    scale: float = 1.0
    #: Whether methods that spend a budget online are replayed.
    online: bool = True
    #: The most evaluations that one run online can make.
    evaluations: float = 0.0

    def say_less(self, replications: int) -> str:
        """Say what is less than in the paper, with the numbers; nothing if all is as there.

        Parameters
        ----------
        replications : int
            As many as were wanted.

        Examples
        --------
        >>> Extent(0.5).say_less(100)
        'So that the page takes a minute, 50 replications stand in the place of 100.'
        """
        less = []
        if (played := max(2, round(self.scale * replications))) < replications:
            stand = f"{played} replications stand in the place of {replications}"
            less.append(f"So that the page takes a minute, {stand}.")
        if not self.online:
            less.append(
                f"The largest budget online would buy up to {self.evaluations:,.0f}"
                " evaluations of the cheapest configuration in a run, so what replays"
                " online methods is left out: compare configurations whose costs are"
                " less far apart."
            )
        return " ".join(less)


def fit_extent(*tables: EvaluationTable) -> Extent:
    """Choose how much of the paper's experiments is replayed within about a minute, whatever the tables.

    A run online makes as many evaluations as its budget pays for of the cheapest
    configuration.

    Examples
    --------
    >>> import cobandit as cb
    >>> fit_extent(cb.load("synthetic-24"))[:2]
    (1.0, True)
    """
    evaluations = max(ONLINE_RHO) * max(
        float(table.costs.sum() / table.costs.min()) for table in tables
    )
    online = evaluations <= MOST_EVALUATIONS
    for_runs = (
        3 * MANY_EVALUATIONS / max(MANY_EVALUATIONS, evaluations) if online else 1.0
    )
    for_arms = (MANY_ARMS / max(table.n_arms for table in tables)) ** 2
    return Extent(min(1.0, for_arms, for_runs), online, evaluations)


def play(
    name: str,
    table: EvaluationTable,
    replications: int | None = None,
    seed: int = 0,
    rho: Sequence[float] | None = None,
    **parallel: Any,
) -> pd.DataFrame:
    """Replay one of `EXPERIMENTS`.

    Parameters
    ----------
    name : str
    table : EvaluationTable
    replications, rho : optional
        Default: the paper's.
    seed : int

    Returns
    -------
    DataFrame
        As the replay's; in ``"stochastic"`` with a column ``costs``.

    Examples
    --------
    >>> import cobandit as cb
    >>> play("online", cb.load("synthetic-24"), replications=2)["rho"].unique().tolist()
    [2.0, 4.0, 8.0, 16.0, 32.0]
    >>> play("stochastic", cb.load("synthetic-24"), 2)["costs"].unique().tolist()
    ['declared', 'realised']
    """
    own = EXPERIMENTS[_validation.choice(name, "experiment", EXPERIMENTS)]
    arms = structured_subset(table) if own.chosen else table
    budgets = rho or own.rho
    given = {"replications": replications or own.replications, "seed": seed, **parallel}
    if name != "stochastic":
        return own.replay(arms, own.methods, budgets, **given)
    charged = {
        charge: own.replay(arms, own.methods, budgets, charge=charge, **given)
        for charge in CHARGES
    }
    return pd.concat(
        [runs.assign(costs=charge) for charge, runs in charged.items()],
        ignore_index=True,
    )


#: Grid from which the paper selected its radii, by replays within the profiling split.
TUNING_GRID = [
    dict(zip(RADII, point, strict=True))
    for point in product((0.003, 0.01, 0.03, 0.1), (0.001, 0.003, 0.01), (0.05, 0.1))
]


def tuning(
    table: EvaluationTable, replications: int = 100, seed: int = 0, **parallel: Any
) -> pd.DataFrame:
    """Replay CoHV-UCB at every point of the paper's grid, within the profiling split.

    Returns
    -------
    DataFrame
        As the replay's, with columns ``reward_scale``, ``cost_scale`` and ``eta``.

    Examples
    --------
    >>> import cobandit as cb
    >>> len(tuning(cb.load("synthetic-24"), replications=1))
    120
    """
    methods = [spec("CoHVUCB", **point) for point in TUNING_GRID]
    runs = replay_online(
        table.take_profiling(), methods, ONLINE_RHO, replications, seed, **parallel
    )
    points = pd.DataFrame(TUNING_GRID, index=[method.options for method in methods])
    return runs.join(points, on="options")


def choose_point(
    runs: pd.DataFrame, quantity: str = "efficiency_regret"
) -> dict[str, float]:
    """Point of the grid with the least mean of a quantity, of runs as `tuning` returns them."""
    chosen: Any = runs.groupby(list(RADII))[quantity].mean().idxmin()
    return dict(zip(RADII, chosen, strict=True))


def tuning_cells(table: EvaluationTable, replications: int = 100) -> pd.DataFrame:
    """Run `tuning`: the point of least efficiency regret, averaged over the budgets, and how far `RADII` are.

    Returns
    -------
    DataFrame
        In the form of `facts`: the chosen point, and as ``"gap"`` by how much the
        average for `RADII` lies above that of the point in the same replications.

    Examples
    --------
    >>> import cobandit as cb
    >>> tuning_cells(cb.load("synthetic-24"), replications=2)["quantity"].tolist()
    ['reward_scale', 'cost_scale', 'eta', 'gap']
    """
    runs = tuning(table, replications)
    chosen = choose_point(runs)
    regret = runs.groupby([*RADII, "replication"])["efficiency_regret"].mean()
    gaps = regret.loc[tuple(RADII.values())] - regret.loc[tuple(chosen.values())]
    found = _exact({("tuning", name): value for name, value in chosen.items()})
    low, high = summaries.mean_interval(gaps.to_numpy())
    found.loc[len(found)] = ["tuning", "gap", gaps.mean(), low, high]
    return found.assign(dataset=table.name)


def _exact(known: Mapping[tuple[str, str], float]) -> pd.DataFrame:
    """Cells of values that no run made, by experiment and quantity."""
    frame = pd.DataFrame([*known], columns=["experiment", "quantity"])
    values = [float(value) for value in known.values()]
    return frame.assign(mean=values, low=values, high=values)


def cells(runs: pd.DataFrame, experiment: str, quantity: str) -> pd.DataFrame:
    """Summarise one quantity of an experiment, but for those along the runs.

    Parameters
    ----------
    runs : DataFrame
        Each method with one set of options.
    experiment : str
    quantity : str
        A column, or ``"error"`` for the share of runs that return another set than the
        Pareto set.

    Returns
    -------
    DataFrame
        ``experiment``, ``quantity``, ``method``, ``rho``, ``costs`` (None online),
        ``runs``, ``mean``, ``low``, ``high``: one row per cell, as
        `cobandit.stats.summarise`, and then, with ``against`` and ``measure``, the rows
        of `cobandit.stats.paired_contrasts` for `PAIRS` and, in ``"stochastic"``, for
        realised against declared costs.

    Examples
    --------
    >>> import cobandit as cb
    >>> runs = play("online", cb.load("synthetic-24"), replications=5, rho=[8])
    >>> found = cells(runs, "online", "efficiency_regret")
    >>> len(found), found["against"].notna().sum()  # 4 methods; 4 pairs, difference and ratio
    (12, np.int64(8))
    """
    if quantity == "error":
        runs = runs.assign(error=~runs["correct"].astype(bool))
    about = {"experiment": experiment, "quantity": quantity}
    if "costs" not in runs:
        costs = None if experiment == "online" else "declared"
        return _compare(runs, quantity, ("rho",)).assign(**about, costs=costs)
    charges = paired_contrasts(
        runs, quantity, [CHARGES[::-1]], ("rho", "method"), "costs"
    )
    return pd.concat(
        [_compare(runs, quantity, ("rho", "costs")), charges], ignore_index=True
    ).assign(**about)


def _compare(runs: pd.DataFrame, quantity: str, by: tuple[str, ...]) -> pd.DataFrame:
    means = summaries.summarise(runs, quantity, ("method", "options", *by))
    return pd.concat(
        [means, paired_contrasts(runs, quantity, PAIRS, by)], ignore_index=True
    )


def trajectory_cells(paths: pd.DataFrame, points: int = 20) -> pd.DataFrame:
    """Summarise ``"trajectory"``: both quantities at the end and at some points along the runs.

    Parameters
    ----------
    paths : DataFrame
        From `play`.
    points : int
        How many of the grid's values of the consumed budget are taken, evenly.

    Returns
    -------
    DataFrame
        As `cells`, and ``spent`` (NaN for the end of the run).

    Examples
    --------
    >>> import cobandit as cb
    >>> paths = play("trajectory", cb.load("synthetic-24"), replications=2)
    >>> found = trajectory_cells(paths, points=4)  # 2 quantities, 4 points and the end
    >>> found["against"].isna().sum(), found["against"].notna().sum()  # 4 methods; 4 pairs, two measures
    (np.int64(40), np.int64(80))
    """
    grid = np.sort(paths["spent"].unique())
    found = []
    along = grid[np.linspace(0, len(grid) - 1, points).round().astype(int)]
    for quantity in EXPERIMENTS["trajectory"].quantities:
        # a run whose first pull costs more has no average yet
        begun = paths[quantity].notna()
        counted = paths.assign(status=np.where(begun, "ok", "infeasible"))
        for some, place in ((grid[-1:], {"spent": np.nan}), (along, {})):
            part = _compare(
                counted[counted["spent"].isin(some)], quantity, ("rho", "spent")
            )
            found.append(part.assign(quantity=quantity, **place))

    return pd.concat(found, ignore_index=True).assign(
        experiment="trajectory", costs=None
    )


def facts(table: EvaluationTable) -> pd.DataFrame:
    """Return what the paper prints about a table itself: Table 1, profiling costs, the 14-arm subset.

    Returns
    -------
    DataFrame
        ``dataset``, ``experiment``, ``quantity`` and the value as ``mean``, ``low`` and
        ``high``: exact.

    Examples
    --------
    >>> import cobandit as cb
    >>> known = facts(cb.load("synthetic-24")).set_index("quantity")["mean"]
    >>> known["arms"], round(known["accuracy_max"], 3)
    (np.float64(24.0), np.float64(0.845))
    """
    every = table.summary()
    arms = structured_subset(table)
    known: dict[tuple[str, str], float] = {
        ("table1", "arms"): table.n_arms,
        ("table1", "pareto_arms"): every["on_front"].sum(),
        ("profiling", "cost_min"): table.costs.min(),
        ("profiling", "cost_max"): table.costs.max(),
        ("identification", "pareto_arms"): arms.problem.pareto_mask.sum(),
        ("identification", "gap_min"): arms.problem.classification_gaps.min(),
    }

    columns = {"accuracy": every.get("accuracy"), "tokens": every["cost"]}
    columns["latency"] = table.raw_means.get("latency_s")
    for name, values in columns.items():
        if values is not None:
            known["table1", f"{name}_min"], known["table1", f"{name}_max"] = (
                values.min(),
                values.max(),
            )

    return _exact(known).assign(dataset=table.name)


def summary(
    table: EvaluationTable,
    scale: float = 1.0,
    seed: int = 0,
    *,
    online: bool = True,
    **parallel: Any,
) -> pd.DataFrame:
    """Run every experiment on a table; each quantity's mean and 95 % interval, one row per cell.

    Parameters
    ----------
    table : EvaluationTable
    scale : float
        Replications as a multiple of the paper's.
    seed : int
    online : bool
        Whether methods that spend a budget online are replayed, too.
    **parallel
        How the work is spread.

    Returns
    -------
    DataFrame
        As `cells` and `trajectory_cells` of every experiment, and ``dataset``: the
        coordinates by which `companion.paper` names the paper's numbers.

    Examples
    --------
    >>> import cobandit as cb
    >>> found = summary(cb.load("synthetic-24"), scale=0.02)
    >>> sorted(found["experiment"].unique())
    ['full-set', 'identification', 'online', 'stochastic', 'trajectory']
    """
    parts = []
    for name, own in EXPERIMENTS.items():
        if own.replay is not replay_identification and not online:
            continue
        runs = play(
            name, table, max(2, round(scale * own.replications)), seed, **parallel
        )
        if name == "trajectory":
            parts.append(trajectory_cells(runs))
        else:
            parts += [cells(runs, name, quantity) for quantity in own.quantities]
    return pd.concat(parts, ignore_index=True).assign(dataset=table.name)


# -------------------------------------------------- errors at many more replays
def with_audit_errors(cells: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Put the errors of an audit in the place of those that fewer replays gave.

    Parameters
    ----------
    cells : DataFrame
        As `summary` returns it.
    counts : DataFrame
        As `cobandit.stats.paired_errors.joint_errors` returns them, and ``dataset``: of
        CoPSI and each other method.  Blocks are added up; variants of a method, and
        datasets of which ``cells`` has nothing, are left out.

    Returns
    -------
    DataFrame
        The cells by which claims in words are judged: ``runs`` says how many replays
        stand behind each. Errors have Wilson's interval, differences of CoPSI to
        another method Tango's, and ratios the bootstrap's.

    Examples
    --------
    >>> from companion.stored import results
    >>> cells = with_audit_errors(results.read_result("replication"), results.read_result("audit"))
    >>> int(cells.loc[cells["experiment"] == "identification", "runs"].min())
    10000
    """
    fewer = (cells["experiment"] == "identification") & (cells["quantity"] == "error")
    plain = counts[
        (counts["options"] == "") & counts["dataset"].isin(cells.loc[fewer, "dataset"])
    ]

    numbers = plain.groupby(["dataset", "rho", "method"], sort=False)[
        ["n", "first", "second", "both"]
    ].sum()
    rows: list[tuple[Any, ...]] = []
    for (
        dataset,
        rho,
        method,
        n,
        first,
        second,
        both,
    ) in numbers.reset_index().to_numpy():
        place = dataset, rho, n
        for name, errors in (("CoPSI", first), (method, second)):
            rows.append(
                (*place, name, None, None, errors / n, *proportion_interval(errors, n))
            )
        difference = paired_difference(first - both, second - both, n)
        rows.append((*place, "CoPSI", method, "difference", *difference))
        rows.append(
            (*place, "CoPSI", method, "ratio", *ratio_of_counts(first, second, both, n))
        )

    columns = [
        "dataset",
        "rho",
        "runs",
        "method",
        "against",
        "measure",
        "mean",
        "low",
        "high",
    ]
    found = pd.DataFrame(rows, columns=columns).drop_duplicates(columns[:6])
    found = found.assign(
        experiment="identification", quantity="error", costs="declared"
    )
    return pd.concat(
        [cells[~(fewer & cells["dataset"].isin(found["dataset"]))], found],
        ignore_index=True,
    )


# ---------------------------------------------------------- where a budget goes
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
    """Count the pulls of each arm in the runs that `replay_online` makes of the same seed.

    Parameters
    ----------
    table, methods, rho, replications, seed, **parallel
        As in the replays.

    Returns
    -------
    DataFrame
        ``method``, ``options``, ``rho``, ``replication``, ``arm`` and ``pulls``, K rows
        per run and none for a budget that is too small; ``dataset``, ``kind`` and
        ``unit`` of the table.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> len(allocation(table, "UniformAllocation", rho=4, replications=2))  # 24 arms in two runs
    48
    """
    # one part per cell: with K rows per run, many small frames would take longer than
    # the runs
    cells = cut_grid(
        table, read_methods(methods, "online"), rho, replications, seed, most=1
    )
    counted = run_grid(_count_pulls, cells, table, source=pack_table(table), **parallel)
    return counted.drop(columns="budget")
