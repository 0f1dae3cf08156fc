"""What hangs on what the paper leaves open, on the radii, and on the questions that were asked."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import cobandit as cb
from cobandit import _validation
from cobandit.replay import Spec, grid, replay_identification, replay_online, spec
from cobandit.replay.kernels import record
from cobandit.replay.running import run_kernel
from cobandit.stats import contrasts, metrics
from cobandit.tables import EvaluationTable
from cobandit.tables.card import Cost, Objective
from companion.paper import experiments

PAPER = spec("CoHVUCB", **experiments.RADII)
RHO = max(experiments.ONLINE_RHO)

#: Name and quantity of a choice, and one value per replication by default and
#: otherwise.
Compared = tuple[str, str, ArrayLike, ArrayLike]


def change_choices(
    table: EvaluationTable,
    replications: int = 24,
    seed: int = 0,
    tuned_by: int = 100,
    **parallel: Any,
) -> pd.DataFrame:
    """Make each open choice of the paper both ways, on the same table and random numbers.

    Parameters
    ----------
    table : EvaluationTable
    replications, seed : int
    tuned_by : int
        Replications of each point of the grid when radii are tuned.
    **parallel
        As `replay_online` takes it.

    Returns
    -------
    DataFrame, one row per alternative
        ``dataset``; ``what``, the choice by its number in the list of open choices, and
        the alternative; ``quantity``; ``default`` and ``other``, means; ``times``, the
        second over the first, with the paired bootstrap interval ``low``, ``high``.
        Online rows are of CoHV-UCB with the paper's radii at its largest budget; errors
        are those at the largest budget, F1 that of CoPSI at the smallest.
    """
    rows = []

    tuned = experiments.tuning(table, tuned_by, seed, **parallel)
    alternatives = chain(
        _change_methods(table, tuned, replications, seed, parallel),
        _change_readings(table, replications, seed),
        _change_identification(table, replications, seed, parallel),
        _change_truth(table, replications, seed, parallel),
    )
    for what, quantity, default, other in alternatives:
        default = np.asarray(default, dtype=float)
        other = np.asarray(other, dtype=float)
        times, low, high = contrasts.ratio(other, default)
        rows.append(
            (table.name, what, quantity, default.mean(), other.mean(), times, low, high)
        )

    columns = [
        "dataset",
        "what",
        "quantity",
        "default",
        "other",
        "times",
        "low",
        "high",
    ]
    return pd.DataFrame(rows, columns=columns)


def _change_methods(
    table: EvaluationTable, tuned: pd.DataFrame, replications: int, seed: int, how: Any
) -> Iterator[Compared]:
    """A1, A12 and A13: another constant, other criteria of the tuning, other radii."""
    tuned = tuned[tuned["status"] == "ok"]
    at_end = tuned[tuned["rho"] == tuned["rho"].max()]

    def chosen(runs: pd.DataFrame, quantity: str) -> Spec:
        return spec("CoHVUCB", **experiments.choose_point(runs, quantity))

    ours = chosen(tuned, "efficiency_regret")
    alternatives = {
        "A1: α = 1": (PAPER, spec("CoHVUCB", **experiments.RADII, alpha=1.0)),
        "A12: tuned by standard regret": (ours, chosen(tuned, "standard_regret")),
        "A12: tuned at the largest budget": (ours, chosen(at_end, "efficiency_regret")),
        "A13: radii tuned here": (PAPER, ours),
        "A13: the theory's radii": (
            PAPER,
            spec("CoHVUCB", reward_scale=1.0, cost_scale=1.0),
        ),
    }
    methods = {
        method.options: method for pair in alternatives.values() for method in pair
    }
    runs = replay_online(table, list(methods.values()), RHO, replications, seed, **how)
    regret = dict(list(runs.groupby("options")["efficiency_regret"]))
    for what, (default, other) in alternatives.items():
        yield what, "efficiency regret", regret[default.options], regret[other.options]


def _change_readings(
    table: EvaluationTable, replications: int, seed: int
) -> Iterator[Compared]:
    """A2, A4, A9 and A10: what the smallest cost is, whether the last pull counts, what regret is against."""
    source = grid.pack_table(table)
    problem = table.problem
    (cell,) = grid.cut_grid(table, [PAPER], RHO, replications, seed, most=1)
    streams = seed, np.arange(replications)
    policy = grid.make_policy(source, cell)
    pulls = run_kernel(policy, source.feedback, *streams)[0]
    taken = record(replications, int(pulls.sum(axis=1).max()) + 1)
    run_kernel(policy, source.feedback, *streams, taken)
    # a record has it behind the last pull
    crossing = taken.arms[np.arange(replications), pulls.sum(axis=1)]

    low = table.costs.min()
    high = table.costs.max()
    budget = cell.budget / table.cost_range[1]
    policy.cost_ratio = low / high
    policy.log_term = policy.alpha * log(cb.theory.horizon(budget, low / high))
    by_lambda = run_kernel(policy, source.feedback, *streams)[0]
    rows = source.feedback.rows.copy()
    rows[:, 1] = rows[:, 0] / high  # what a policy sees of the costs
    policy = grid.make_policy(source._replace(cost_range=(low, high)), cell)
    by_both = run_kernel(policy, source.feedback._replace(rows=rows), *streams)[0]

    regret = metrics.efficiency_regret(problem, pulls)
    for what, others in (
        ("λ of mean costs", by_lambda),
        ("unit and λ of mean costs", by_both),
    ):
        yield (
            f"A2: {what}",
            "efficiency regret",
            regret,
            metrics.efficiency_regret(problem, others),
        )
    extra = np.where(crossing < 0, 0.0, problem.efficiency_gaps[crossing])
    yield "A4: the crossing pull counts", "efficiency regret", regret, regret + extra
    standard = metrics.standard_regret(problem, pulls, budget)
    yield (
        "A9: against ν*(B + 1)",
        "standard regret",
        standard,
        standard + problem.efficiency.max(),
    )
    truth = table.truth("evaluation" if table.kind == "reconstruction" else "profiling")
    other = metrics.efficiency_regret(truth, pulls)
    yield "A10: costs of the other split", "efficiency regret", regret, other


def _change_identification(
    table: EvaluationTable, replications: int, seed: int, how: Any
) -> Iterator[Compared]:
    """A5 and A6: the smallest cost of CoPSI's constant, and how PSI-SR counts rounds."""
    arms = experiments.structured_subset(table)
    most = max(experiments.IDENTIFICATION_RHO)
    single = arms.costs.min() * arms.costs.max() / table.cost_range[1]
    alternatives = {
        "A5: λ from the largest single cost": (
            "CoPSI",
            spec("CoPSI", min_cost=float(single)),
        ),
        "A6: rounds of the largest cost": ("PSISR", spec("PSISR", rounds="max")),
        "A6: rounds of the mean cost": ("PSISR", spec("PSISR", rounds="mean")),
    }
    methods = ["CoPSI", "PSISR", *(other for _, other in alternatives.values())]
    found = replay_identification(arms, methods, most, 20 * replications, seed, **how)
    wrong = dict(
        list(
            (~found["correct"].astype(bool)).groupby(
                [found["method"], found["options"]]
            )
        )
    )
    for what, (default, other) in alternatives.items():
        yield what, "wrong sets", wrong[default, ""], wrong[default, other.options]


def _change_truth(
    table: EvaluationTable, replications: int, seed: int, how: Any
) -> Iterator[Compared]:
    """A11: the Pareto set of which instances is the truth."""
    every = table.summary("all")["on_front"].reindex(table.configs).to_numpy()
    found = experiments.play(
        "full-set", table, replications, seed, [min(experiments.FULL_SET_RHO)], **how
    ).query("method == 'CoPSI' and status == 'ok'")
    if len(found):
        returned = [np.isin(table.configs, names) for names in found["returned"]]
        yield (
            "A11: front of all instances",
            "F1",
            found["f1"],
            metrics.f1_score(returned, every),
        )


def worst_mean(values: ArrayLike, share: float = 0.05) -> NDArray[np.float64]:
    """Mean of the largest values along the last axis, the conditional value at risk of a loss.

    Examples
    --------
    >>> worst_mean([1.0, 5.0, 2.0, 4.0], share=0.5)
    np.float64(4.5)
    """
    values = np.sort(np.asarray(values, dtype=float), axis=-1)
    kept = int(np.ceil(share * values.shape[-1]))
    return values[..., -kept:].mean(axis=-1)


#: Radii of CoHV-UCB by what they are called: those of the paper, none, wider ones, and
#: with the variance.
RADII = {
    "s = 0, 12 first pulls": spec(
        "CoHVUCB", reward_scale=0.0, cost_scale=0.0, eta=0.05
    ),
    "s = 0, one first pull": spec("CoHVUCB", reward_scale=0.0, cost_scale=0.0),
    "s = .01, 12 first pulls (tuned)": PAPER,
    "s = .01, one first pull": spec("CoHVUCB", reward_scale=0.01, cost_scale=0.01),
    "s = .1": spec("CoHVUCB", reward_scale=0.1, cost_scale=0.1),
    "s = .1, by the variance": spec("CoHVUCBV", reward_scale=0.1, cost_scale=0.1),
    "s = 1 (theory)": spec("CoHVUCB"),
    "s = 1, by the variance": spec("CoHVUCBV"),
}


def widen_radii(
    table: EvaluationTable,
    rho: float = 256,
    replications: int = 120,
    seed: int = 0,
    **parallel: Any,
) -> pd.DataFrame:
    """Replay CoHV-UCB with other radii: what is lost on average, and in the worst twentieth of the runs.

    Returns
    -------
    DataFrame, one row per radius
        ``dataset``, ``radius``, ``mean`` and ``worst`` share of the best possible
        reward that is lost, each with a bootstrap 95 % interval in ``_low`` and
        ``_high``.
    """
    runs = replay_online(
        table, list(RADII.values()), rho, replications, seed, **parallel
    )
    most = table.problem.efficiency.max() * runs["budget"] / table.cost_range[1]
    runs = runs.assign(loss=runs["standard_regret"] / most)
    losses = runs.groupby(["method", "options"])["loss"]

    drawn = np.random.default_rng(seed).integers(
        replications, size=(1000, replications)
    )
    rows = []
    for name, method in RADII.items():
        lost = losses.get_group((method.name, method.options)).to_numpy(dtype=float)
        row: dict[str, Any] = {"dataset": table.name, "radius": name}
        for key, statistic in {
            "mean": lambda x: x.mean(axis=-1),
            "worst": worst_mean,
        }.items():
            row[key] = float(statistic(lost))
            row[f"{key}_low"], row[f"{key}_high"] = np.quantile(
                statistic(lost[drawn]), [0.025, 0.975]
            )
        rows.append(row)

    return pd.DataFrame(rows)


def redrawn(table: EvaluationTable, seed: int = 0) -> EvaluationTable:
    """Draw the instances of each split with replacement, the same ones for every configuration.

    Replays on one table say what a method does on its instances; replays on many such
    tables say how far that hangs on which instances they were (the bootstrap of Efron,
    Annals of Statistics 7, 1979).  Scores stay as the table's own profiling split
    scaled them.

    Parameters
    ----------
    table : EvaluationTable
        Whose configurations were all evaluated on the same instances.
    seed : int

    Returns
    -------
    EvaluationTable
        Of the same name, configurations, instance names and split.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> another = redrawn(table, seed=1)
    >>> another.rows["split"].equals(table.rows["split"]), (another.means == table.means).all()
    (True, np.False_)
    """
    rng = np.random.default_rng(_validation.seed(seed))
    rows = table.rows.astype({"instance": str})
    parts = []
    for _, part in rows.groupby("split", observed=True):
        names = np.sort(part["instance"].unique())
        drawn = pd.DataFrame(
            {"drawn": rng.choice(names, len(names)), "instead_of": names}
        )
        parts.append(drawn.merge(part, left_on="drawn", right_on="instance"))

    frame = pd.concat(parts).drop(columns=["drawn", "instance", "split"])
    frame = frame.rename(columns={"instead_of": "instance"}).join(
        table.arms, on="config"
    )
    card = table.card.model_copy(
        update={
            "cost": Cost(column="cost", unit=table.card.cost.unit),
            "objectives": [
                Objective(name=name, column=name) for name in table.objectives
            ],
        }
    )
    return type(table).from_records(frame, card, "the redrawn table")


def draw_again(
    cells: pd.DataFrame,
    tables: Sequence[EvaluationTable],
    redraws: int = 20,
    seed: int = 0,
    **parallel: Any,
) -> pd.DataFrame:
    """Draw the questions of each table again, and say whether the comparisons of the paper's methods stay.

    Parameters
    ----------
    cells : DataFrame
        From `companion.paper.experiments.summary`, of the tables.
    tables : sequence of EvaluationTable
        Those whose configurations were not all asked every question are left out.
    redraws : int
        Tables that are drawn, with five replays each.
    seed : int
    **parallel
        As `replay_online` takes it.

    Returns
    -------
    DataFrame, one row per table and comparison at the largest budget
        ``dataset``, ``quantity`` (``"standard_regret"`` or ``"f1"``), ``method``,
        ``against``; ``mean``, the ratio of means on the table, with its interval
        ``low``, ``high`` over replications; ``least`` and ``most`` over the redrawn
        tables.
    """
    parts = []
    for table in tables:
        if (table.n_instances < table.rows["instance"].nunique()).any():
            continue
        own = cells[(cells["dataset"] == table.name) & (cells["measure"] == "ratio")]
        own = own[
            own["experiment"].isin(["online", "full-set"])
            & (own["costs"] != "realised")
        ]
        own = own[(own["quantity"] == "f1") | (own["quantity"] == "standard_regret")]
        own = own[own["rho"] == own.groupby("quantity")["rho"].transform("max")]
        own = own[own["method"].isin(["CoHVUCB", "CoPSI"])]
        ratios = []
        for number in range(redraws):
            other = redrawn(table, number)
            online = experiments.play("online", other, 5, seed, [RHO], **parallel)
            whole = experiments.play(
                "full-set", other, 5, seed, [max(experiments.FULL_SET_RHO)], **parallel
            )
            means = {
                "standard_regret": online.groupby("method")["standard_regret"].mean(),
                "f1": whole.groupby("method")["f1"].mean(),
            }
            pairs = own[["quantity", "method", "against"]].itertuples(index=False)
            ratios.append(
                [
                    means[quantity][one] / means[quantity][two]
                    for quantity, one, two in pairs
                ]
            )
        parts.append(
            own.assign(least=np.min(ratios, axis=0), most=np.max(ratios, axis=0))
        )

    kept = [
        "dataset",
        "quantity",
        "method",
        "against",
        "mean",
        "low",
        "high",
        "least",
        "most",
    ]
    return (
        pd.concat(parts, ignore_index=True)[kept]
        if parts
        else pd.DataFrame(columns=kept)
    )
