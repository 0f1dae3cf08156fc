"""Sensitivity of results to choices left open, to radii, and to the instances.

The paper leaves some choices open. The book numbers them A1, A2, ...
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import cobandit as cb
from cobandit import _validation
from cobandit.replay import (
    Spec,
    grid,
    paper_settings,
    replay_identification,
    replay_online,
    spec,
)
from cobandit.replay.kernels import record
from cobandit.replay.running import run_kernel
from cobandit.stats import contrasts, metrics
from cobandit.tables import EvaluationTable
from cobandit.tables.card import Cost, Objective
from companion.paper import experiments, tuning

PAPER = spec("CoHVUCB", **paper_settings.RADII)
RHO = max(experiments.ONLINE_RHO)

#: Name of an alternative, name of the compared quantity, values of the quantity with
#: the default, and values with the alternative. Values are by replication.
Compared = tuple[str, str, ArrayLike, ArrayLike]


def change_choices(
    table: EvaluationTable,
    replications: int = 24,
    seed: int = 0,
    tuned_by: int = 100,
    **parallel: Any,
) -> pd.DataFrame:
    """Compare defaults with alternatives, for the choices that the paper leaves open.

    The default and its alternatives are replayed with the same random numbers.

    Parameters
    ----------
    table : EvaluationTable
    replications, seed : int
    tuned_by : int
        Number of replications per point of the grid on which radii are tuned.
    **parallel
        Options of `replay_online`.

    Returns
    -------
    DataFrame, one row per alternative
        ``dataset``; ``what``, the number of the open choice and the alternative;
        ``quantity``; ``default`` and ``other``, the means of the quantity with the
        default and with the alternative; ``times``, the ratio of ``other`` to
        ``default``; ``low`` and ``high``, its paired bootstrap interval. Rows on online
        selection use CoHV-UCB at the largest budget. Errors are measured at the largest
        budget, and the F1 of CoPSI at the smallest budget.
    """
    rows = []

    tuned = tuning.tuning(table, tuned_by, seed, **parallel)
    alternatives = chain(
        _change_methods(table, tuned, replications, seed, parallel),
        _change_readings(table, replications, seed),
        _change_identification(table, replications, seed, parallel),
        _change_truth(table, replications, seed, parallel),
    )
    for choice, quantity, default, alternative in alternatives:
        default = np.asarray(default, dtype=float)
        alternative = np.asarray(alternative, dtype=float)
        times, low, high = contrasts.ratio(alternative, default)
        rows.append(
            (
                table.name,
                choice,
                quantity,
                default.mean(),
                alternative.mean(),
                times,
                low,
                high,
            )
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
    """Yield results for A1 (alpha), A12 (criterion of the tuning) and A13 (radii)."""
    tuned = tuned[tuned["status"] == "ok"]
    largest_budget = tuned[tuned["rho"] == tuned["rho"].max()]

    def chosen(runs: pd.DataFrame, quantity: str) -> Spec:
        return spec("CoHVUCB", **tuning.choose_point(runs, quantity))

    tuned_here = chosen(tuned, "efficiency_regret")
    alternatives = {
        "A1: α = 1": (PAPER, spec("CoHVUCB", **paper_settings.RADII, alpha=1.0)),
        "A12: tuned by standard regret": (tuned_here, chosen(tuned, "standard_regret")),
        "A12: tuned at the largest budget": (
            tuned_here,
            chosen(largest_budget, "efficiency_regret"),
        ),
        "A13: radii tuned here": (PAPER, tuned_here),
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
    for choice, (default, alternative) in alternatives.items():
        yield (
            choice,
            "efficiency regret",
            regret[default.options],
            regret[alternative.options],
        )


def _change_readings(
    table: EvaluationTable, replications: int, seed: int
) -> Iterator[Compared]:
    """Yield results for the choices A2, A4, A9 and A10.

    These choices are about lambda, the last pull, and the reference of the regret.
    """
    source = grid.pack_table(table)
    problem = table.problem
    (cell,) = grid.cut_grid(table, [PAPER], RHO, replications, seed, most_parts=1)
    streams = seed, np.arange(replications)
    policy = grid.make_policy(source, cell)
    pulls = run_kernel(policy, source.feedback, *streams)[0]
    recorded = record(replications, int(pulls.sum(axis=1).max()) + 1)
    run_kernel(policy, source.feedback, *streams, recorded)
    # the recorded arm after the last pull is the arm of the unaffordable pull
    crossing = recorded.arms[np.arange(replications), pulls.sum(axis=1)]

    low = table.costs.min()
    high = table.costs.max()
    budget = cell.budget / table.cost_range[1]
    policy.cost_ratio = low / high
    policy.log_term = policy.alpha * log(cb.theory.horizon(budget, low / high))
    by_lambda = run_kernel(policy, source.feedback, *streams)[0]
    rows = source.feedback.rows.copy()
    rows[:, 1] = rows[:, 0] / high  # the costs as the policy observes them
    policy = grid.make_policy(source._replace(cost_range=(low, high)), cell)
    by_both = run_kernel(policy, source.feedback._replace(rows=rows), *streams)[0]

    regret = metrics.efficiency_regret(problem, pulls)
    for choice, other_pulls in (
        ("λ of mean costs", by_lambda),
        ("unit and λ of mean costs", by_both),
    ):
        yield (
            f"A2: {choice}",
            "efficiency regret",
            regret,
            metrics.efficiency_regret(problem, other_pulls),
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
    other_regret = metrics.efficiency_regret(truth, pulls)
    yield "A10: costs of the other split", "efficiency regret", regret, other_regret


def _change_identification(
    table: EvaluationTable, replications: int, seed: int, how: Any
) -> Iterator[Compared]:
    """Yield results of A5 (lambda in CoPSI's constant) and A6 (PSI-SR's rounds)."""
    arms = experiments.structured_subset(table)
    rho = max(experiments.IDENTIFICATION_RHO)
    single = arms.costs.min() * arms.costs.max() / table.cost_range[1]
    alternatives = {
        "A5: λ from the largest single cost": (
            "CoPSI",
            spec("CoPSI", min_cost=float(single)),
        ),
        "A6: rounds of the largest cost": ("PSISR", spec("PSISR", rounds="max")),
        "A6: rounds of the mean cost": ("PSISR", spec("PSISR", rounds="mean")),
    }
    methods = [
        "CoPSI",
        "PSISR",
        *(alternative for _, alternative in alternatives.values()),
    ]
    runs = replay_identification(arms, methods, rho, 20 * replications, seed, **how)

    is_wrong = ~runs["correct"].astype(bool)
    wrong = dict(list(is_wrong.groupby([runs["method"], runs["options"]])))
    for choice, (default, alternative) in alternatives.items():
        yield (
            choice,
            "wrong sets",
            wrong[default, ""],
            wrong[default, alternative.options],
        )


def _change_truth(
    table: EvaluationTable, replications: int, seed: int, how: Any
) -> Iterator[Compared]:
    """Yield results for A11, the instances that define the true Pareto set."""
    front_of_all = table.summary("all")["on_front"].reindex(table.configs).to_numpy()
    runs = experiments.play(
        "full-set", table, replications, seed, [min(experiments.FULL_SET_RHO)], **how
    ).query("method == 'CoPSI' and status == 'ok'")
    if len(runs):
        returned = [np.isin(table.configs, names) for names in runs["returned"]]
        yield (
            "A11: front of all instances",
            "F1",
            runs["f1"],
            metrics.f1_score(returned, front_of_all),
        )


def worst_mean(values: ArrayLike, share: float = 0.05) -> NDArray[np.float64]:
    """Return the mean of the largest 5 % of the values along the last axis.

    ``share`` sets another share. For losses, this mean is the conditional value at
    risk.

    Examples
    --------
    >>> worst_mean([1.0, 5.0, 2.0, 4.0], share=0.5)
    np.float64(4.5)
    """
    values = np.sort(np.asarray(values, dtype=float), axis=-1)
    n_worst = int(np.ceil(share * values.shape[-1]))
    return values[..., -n_worst:].mean(axis=-1)


#: Variants of CoHV-UCB by the name of their radii: no radii, the paper's radii, wider
#: radii, and radii from the empirical variance.
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
    """Replay CoHV-UCB with each radius of `RADII`, and summarise its losses.

    Returns
    -------
    DataFrame, one row per radius
        ``dataset``; ``radius``; ``mean``, the mean loss, as a share of the best
        possible reward; ``worst``, the mean loss of the worst 5 % of the runs. Columns
        with the suffixes ``_low`` and ``_high`` are the bootstrap 95 % intervals of
        ``mean`` and of ``worst``.
    """
    runs = replay_online(
        table, list(RADII.values()), rho, replications, seed, **parallel
    )
    best_reward = table.problem.efficiency.max() * runs["budget"] / table.cost_range[1]
    runs = runs.assign(loss=runs["standard_regret"] / best_reward)
    losses = runs.groupby(["method", "options"])["loss"]

    drawn = np.random.default_rng(seed).integers(
        replications, size=(1000, replications)
    )
    rows = []
    for name, method in RADII.items():
        run_losses = losses.get_group((method.name, method.options)).to_numpy(
            dtype=float
        )
        row: dict[str, Any] = {"dataset": table.name, "radius": name}
        for key, statistic in {
            "mean": lambda x: x.mean(axis=-1),
            "worst": worst_mean,
        }.items():
            row[key] = float(statistic(run_losses))
            row[f"{key}_low"], row[f"{key}_high"] = np.quantile(
                statistic(run_losses[drawn]), [0.025, 0.975]
            )
        rows.append(row)

    return pd.DataFrame(rows)


def redraw_table(table: EvaluationTable, seed: int = 0) -> EvaluationTable:
    """Return a bootstrap resample of a table: instances drawn with replacement.

    Each split is resampled separately. Replays on one table measure a method on the
    instances of this table. Replays on many resampled tables show how much results
    depend on the choice of instances (Efron, Annals of Statistics 7, 1979). Scores keep
    the scale of the original table.

    Parameters
    ----------
    table : EvaluationTable
        Table in which all configurations were evaluated on the same instances.
    seed : int

    Returns
    -------
    EvaluationTable
        A table with the same name, configurations, instance names and splits.

    Examples
    --------
    >>> import cobandit as cb
    >>> table = cb.load("synthetic-24")
    >>> another = redraw_table(table, seed=1)
    >>> another.rows["split"].equals(table.rows["split"])
    True
    >>> bool((another.means == table.means).all())
    False
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
    """Compare the paper's methods with others on bootstrap resamples of tables.

    The instances of a table are drawn again, with replacement.

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary` for the tables.
    tables : sequence of EvaluationTable
        Tables in which a configuration lacks instances are left out.
    redraws : int
        Number of resampled tables, with five replays each.
    seed : int
    **parallel
        Options of `replay_online`.

    Returns
    -------
    DataFrame, one row per table and comparison at the largest budget
        ``dataset``; ``quantity``, ``"standard_regret"`` or ``"f1"``; ``method`` and
        ``against``, the two methods; ``mean``, the ratio of their means on the table;
        ``low`` and ``high``, the interval of the ratio over replications; ``least`` and
        ``most``, the range of the ratio over resampled tables.
    """
    parts = []
    for table in tables:
        if (table.n_instances < table.rows["instance"].nunique()).any():
            continue
        comparisons = cells[
            (cells["dataset"] == table.name) & (cells["measure"] == "ratio")
        ]
        comparisons = comparisons[
            comparisons["experiment"].isin(["online", "full-set"])
            & (comparisons["costs"] != "realised")
        ]
        comparisons = comparisons[
            (comparisons["quantity"] == "f1")
            | (comparisons["quantity"] == "standard_regret")
        ]
        comparisons = comparisons[
            comparisons["rho"]
            == comparisons.groupby("quantity")["rho"].transform("max")
        ]
        comparisons = comparisons[comparisons["method"].isin(["CoHVUCB", "CoPSI"])]

        ratios = []
        for number in range(redraws):
            redrawn = redraw_table(table, number)
            online = experiments.play("online", redrawn, 5, seed, [RHO], **parallel)
            full_set = experiments.play(
                "full-set",
                redrawn,
                5,
                seed,
                [max(experiments.FULL_SET_RHO)],
                **parallel,
            )
            means = {
                "standard_regret": online.groupby("method")["standard_regret"].mean(),
                "f1": full_set.groupby("method")["f1"].mean(),
            }
            pairs = comparisons[["quantity", "method", "against"]].itertuples(
                index=False
            )
            ratios.append(
                [
                    means[quantity][one] / means[quantity][two]
                    for quantity, one, two in pairs
                ]
            )
        parts.append(
            comparisons.assign(
                least=np.min(ratios, axis=0), most=np.max(ratios, axis=0)
            )
        )

    columns = [
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
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]
