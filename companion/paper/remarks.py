"""Verdicts on remarks of the paper about its tables and runs.

Remarks that compare methods are in `companion.paper.judge`. For each remark in
``remarks.yml``, a function computes one number per table, and a rule on these numbers
decides whether the remark holds.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from cobandit.errors import BudgetError
from cobandit.policies.registry import read_methods
from cobandit.problem import Problem
from cobandit.replay import (
    play,
    replay_identification,
    replay_online,
    replay_paths,
    spec,
)
from cobandit.replay.grid import cut_grid, pack_table, play_cell
from cobandit.tables import EvaluationTable
from companion.paper import arm_pulls, experiment_cells, experiments
from companion.paper.judge import FAILS, HOLDS, UNKNOWN

REPLICATIONS = 500
SEED = 0
ONLINE_REPLICATIONS = 100
RHO = max(experiments.ONLINE_RHO)
_COHV = experiments.online_methods()[:1]
#: Largest standard error of a mean of 200 scores between 0 and 1. On the complete sets,
#: the largest budget gives every arm 200 evaluations if it is divided equally.
NEAR = 0.5 / np.sqrt(200)


#: Gaps below this value are near zero. The paper prints the smallest gap of its
#: fourteen arms for each data set, and this is the smaller of the two.
NEAR_ZERO = 0.005


class Landscape(Protocol):
    """A table, bundled or drawn, as the measures of tables use it."""

    @property
    def problem(self) -> Problem:
        """The true means and costs."""

    @property
    def costs(self) -> NDArray[np.float64]:
        """The declared costs."""


def best_of_all(table: Landscape) -> float:
    """Return the relative efficiency of the arm with the largest hypervolume.

    The result is the efficiency of this arm, divided by the largest efficiency.
    """
    problem = table.problem
    return float(
        problem.efficiency[problem.hypervolume.argmax()] / problem.efficiency.max()
    )


def cost_range(table: Landscape) -> float:
    """Return the ratio of the largest declared cost to the smallest."""
    return float(table.costs.max() / table.costs.min())


def alignment(table: Landscape) -> float:
    """Return Kendall's rank correlation of hypervolume and efficiency.

    The correlation is 1 if dividing by costs does not change the order of the arms.
    """
    from scipy import stats  # slow to import

    return float(
        stats.kendalltau(table.problem.hypervolume, table.problem.efficiency).statistic
    )


def near_boundary(table: Landscape) -> float:
    """Return the share of arms with a classification gap below `NEAR`."""
    return float(np.mean(table.problem.classification_gaps < NEAR))


def near_ties(table: Landscape) -> float:
    """Return the share of arms with a classification gap below `NEAR_ZERO`."""
    return float(np.mean(table.problem.classification_gaps < NEAR_ZERO))


#: Measures that need no runs, by name.
OF_TABLES: dict[str, Callable[[Landscape], float]] = {
    "best_of_all": best_of_all,
    "cost_range": cost_range,
    "alignment": alignment,
    "near_boundary": near_boundary,
    "near_ties": near_ties,
}


def same_estimate(table: EvaluationTable) -> float:
    """Return how often declared and realised costs lead to the same returned set.

    The result is a share of the paired replays of CoPSI and PSI-SR.
    """
    arms = experiments.structured_subset(table)
    methods = ["CoPSI", "PSISR"]
    rho = max(experiments.IDENTIFICATION_RHO)
    play = partial(replay_identification, arms, methods, rho, REPLICATIONS, SEED)
    return float((play("declared")["returned"] == play("realised")["returned"]).mean())


def rising_average(table: EvaluationTable) -> float:
    """Return the share of steps in which the moving average of the regret rises.

    The moving average covers the last 50 pulls of CoHV-UCB, and is averaged over runs.
    """
    paths = replay_paths(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    course = paths.groupby("spent")["moving_average"].mean().dropna()
    return float((np.diff(course) > 0).mean())


def pulls_of_poor_arms(table: EvaluationTable) -> float:
    """Return CoHV-UCB's pulls of arms below median efficiency, relative to all arms.

    The result is the mean number of pulls over these arms, divided by the mean over all
    arms.
    """
    counted = arm_pulls.allocation(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    pulls = counted.groupby("arm")["pulls"].sum().to_numpy()
    poor = table.problem.efficiency < np.median(table.problem.efficiency)
    return float(pulls[poor].sum() / pulls.sum() / poor.mean())


def exact_recovery(table: EvaluationTable) -> float:
    """Return the share of CoPSI's runs on all arms that return exactly the front.

    The budget is the paper's largest budget for all arms.
    """
    runs = replay_identification(
        table, "CoPSI", max(experiments.FULL_SET_RHO), ONLINE_REPLICATIONS, SEED
    )
    return float(runs["correct"].mean())


def _mean_pulls(table: EvaluationTable, method: str, rho: float) -> NDArray[np.float64]:
    """Return the mean pulls of each arm by a method under declared costs."""
    (cell,) = cut_grid(
        table,
        read_methods(method, "identification"),
        rho,
        ONLINE_REPLICATIONS,
        SEED,
        most_parts=1,
    )
    return play_cell(pack_table(table), cell, realised=False).pulls.mean(axis=0)


def pulls_near_the_front(table: EvaluationTable) -> float:
    """Return CoPSI's pulls of arms with small gaps, relative to all arms.

    The result is the mean number of pulls over the half of the arms with the smallest
    classification gaps, divided by the mean over all arms. Only the arms of the
    identification experiment are replayed.
    """
    arms = experiments.structured_subset(table)
    pulls = _mean_pulls(arms, "CoPSI", max(experiments.IDENTIFICATION_RHO))
    near = np.argsort(arms.problem.classification_gaps)[: arms.n_arms // 2]
    return float(pulls[near].mean() / pulls.mean())


def pulls_of_ambiguous(table: EvaluationTable) -> float:
    """Return CoPSI's pulls of arms with small gaps, relative to uniform allocation.

    The result is CoPSI's mean number of pulls over the half of the arms with the
    smallest classification gaps, divided by the same mean under uniform allocation. All
    arms of the table are replayed.
    """
    rho = max(experiments.FULL_SET_RHO)
    near = np.argsort(table.problem.classification_gaps)[: table.n_arms // 2]
    ours, equal = (
        _mean_pulls(table, method, rho)[near]
        for method in ("CoPSI", "UniformIdentification")
    )
    return float(ours.mean() / equal.mean())


def early_mistakes(table: EvaluationTable, runs: int = 60) -> float:
    """Return the share of CoPSI's mistakes that occur in the first half of the phases.

    The budget is the smallest of the paper's identification experiment. The result is
    NaN if no run makes a mistake.
    """
    arms = experiments.structured_subset(table)

    rho = min(experiments.IDENTIFICATION_RHO)
    truth = arms.problem.pareto_mask
    early = 0
    mistakes = 0
    for seed in range(runs):
        policy: Any = spec("CoPSI").make(
            rho,
            costs=arms.costs,
            budget=rho * float(arms.costs.sum()),
            n_objectives=arms.n_objectives,
        )
        play(policy, arms, seed=seed, charge="declared")
        is_mistake = [phase.accepted != truth[phase.removed] for phase in policy.phases]
        mistakes += sum(is_mistake)
        early += sum(is_mistake[: len(is_mistake) // 2])

    return early / mistakes if mistakes else np.nan


def _pulls_by_charge(
    table: EvaluationTable, methods: Sequence[str]
) -> tuple[pd.Series, pd.Series]:
    """Return the number of pulls of each run under declared and under realised costs.

    The budget is the largest of the paper's identification experiment.
    """
    arms = experiments.structured_subset(table)
    rho = max(experiments.IDENTIFICATION_RHO)
    replayed = partial(
        replay_identification, arms, list(methods), rho, ONLINE_REPLICATIONS, SEED
    )
    declared, realised = (
        replayed(charge)["pulls"] for charge in experiment_cells.CHARGES
    )
    return declared, realised


def targets_reached(table: EvaluationTable) -> float:
    """Return the share of runs of CoPSI and PSI-SR that reach their targets of pulls.

    A run reaches all its targets if it makes as many pulls when it is charged realised
    costs as when it is charged declared costs.
    """
    declared, realised = _pulls_by_charge(table, ["CoPSI", "PSISR"])
    return float((declared == realised).mean())


def rounds_changed(table: EvaluationTable) -> float:
    """Return how often realised costs change the number of pulls of a uniform run."""
    declared, realised = _pulls_by_charge(table, ["UniformIdentification"])
    return float((declared != realised).mean())


def crossing_runs(table: EvaluationTable) -> float:
    """Return the share of CoHV-UCB's runs that end with an unaffordable pull.

    Such a run ends although the remaining budget is at least the mean cost of the
    cheapest arm.
    """
    runs = replay_online(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    return float((runs["budget"] - runs["spent"] >= table.costs.min()).mean())


Rule = Callable[[float, float], bool]
#: For each remark, its measure and the rule on the measured values for GSM8K and PIQA.
RULES: dict[str, tuple[Callable[[EvaluationTable], float], Rule]] = {
    "same-best-on-gsm8k": (best_of_all, lambda gsm8k, piqa: gsm8k == 1 > piqa),
    "highly-competitive-on-gsm8k": (best_of_all, lambda gsm8k, piqa: gsm8k >= 0.9),
    "costs-vary-more-on-piqa": (cost_range, lambda gsm8k, piqa: gsm8k < piqa),
    "aligned-on-gsm8k": (alignment, lambda gsm8k, piqa: gsm8k > piqa),
    "denser-on-piqa": (near_boundary, lambda gsm8k, piqa: gsm8k < piqa),
    "same-estimate": (same_estimate, lambda gsm8k, piqa: min(gsm8k, piqa) > 0.5),
    "averages-not-monotone": (rising_average, lambda gsm8k, piqa: gsm8k > 0),
    "poor-arms-avoided": (
        pulls_of_poor_arms,
        lambda gsm8k, piqa: max(gsm8k, piqa) < 0.5,
    ),
    "order-hardly-changed-on-gsm8k": (alignment, lambda gsm8k, piqa: gsm8k >= 0.9),
    "ties-make-exact-recovery-rare": (
        exact_recovery,
        lambda gsm8k, piqa: max(gsm8k, piqa) <= 0.05,
    ),
    "pulls-near-the-front": (
        pulls_near_the_front,
        lambda gsm8k, piqa: min(gsm8k, piqa) > 1,
    ),
    "pulls-of-the-ambiguous": (
        pulls_of_ambiguous,
        lambda gsm8k, piqa: min(gsm8k, piqa) > 1,
    ),
    "early-mistakes": (early_mistakes, lambda gsm8k, piqa: min(gsm8k, piqa) > 0.5),
    "targets-reached": (targets_reached, lambda gsm8k, piqa: min(gsm8k, piqa) == 1),
    "rounds-by-realised-costs": (
        rounds_changed,
        lambda gsm8k, piqa: min(gsm8k, piqa) > 0,
    ),
    "budget-never-exceeded": (crossing_runs, lambda gsm8k, piqa: max(gsm8k, piqa) == 0),
}
#: Measures of online runs. They are NaN if the runs would make too many evaluations.
ONLINE = (rising_average, pulls_of_poor_arms, crossing_runs)
#: Remarks that are measured but not judged, because their values follow from the design
#: of the generator.
MEASURED: dict[str, Callable[[EvaluationTable], float]] = {"many-near-ties": near_ties}


def _measure(
    measure: Callable[[EvaluationTable], float], table: EvaluationTable
) -> float:
    """Return a measure of a table, or NaN if its runs are too long or infeasible."""
    if measure in ONLINE and not experiments.fit_extent(table).online:
        return np.nan
    try:
        return measure(table)
    except BudgetError:
        return np.nan


def measure_remarks(table: EvaluationTable) -> dict[str, float]:
    """Return the measured value of each remark on one table, by the remark's key.

    A value is NaN if its runs are too long or infeasible.

    Examples
    --------
    >>> import cobandit as cb
    >>> measure_remarks(cb.load("synthetic-24"))["same-estimate"]
    1.0
    """
    measures = MEASURED | {key: measure for key, (measure, _) in RULES.items()}
    # some remarks share a measure
    values = {measure: _measure(measure, table) for measure in {*measures.values()}}
    return {key: values[measure] for key, measure in measures.items()}


def judge_remarks(values: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return the measured values of each remark on tables, and the verdicts.

    Parameters
    ----------
    values : mapping
        Result of `measure_remarks` for each table, by the table's name. Rules compare
        the tables named ``"gsm8k"`` and ``"piqa"``. Without these two, remarks cannot
        be checked.

    Returns
    -------
    DataFrame
        One row per remark, by its key: the fields of ``remarks.yml`` such as ``says``
        and ``place``, one column of values per table, and ``verdict``.

    Examples
    --------
    >>> import cobandit as cb
    >>> judged = judge_remarks({"other": measure_remarks(cb.load("synthetic-24"))})
    >>> float(judged.loc["same-estimate", "other"])
    1.0
    >>> judged["verdict"].unique().tolist()
    ['cannot be checked']
    """
    rows = {}
    for remark in typed_remarks():
        key = remark["key"]
        if key not in RULES and key not in MEASURED:
            continue
        by_table = {name: of_table[key] for name, of_table in values.items()}
        pair = (by_table.get(name, np.nan) for name in ("gsm8k", "piqa"))
        rows[key] = {name: value for name, value in remark.items() if name != "key"}
        rows[key] |= by_table | {"verdict": judge_pair(key, *pair)}
    return pd.DataFrame.from_dict(rows, orient="index")


@cache
def typed_remarks() -> tuple[dict[str, Any], ...]:
    """Return the remarks of ``remarks.yml``, in the order of the claims."""
    source = Path(__file__).with_name("remarks.yml")
    return tuple(yaml.safe_load(source.read_text(encoding="utf-8")))


def judge_pair(key: str, gsm8k: float, piqa: float) -> str:
    """Return the verdict on a remark from its values on a table of each data set.

    Examples
    --------
    >>> judge_pair("aligned-on-gsm8k", 0.9, 0.8)
    'holds'
    >>> judge_pair("aligned-on-gsm8k", 0.9, float("nan"))
    'cannot be checked'
    """
    if key not in RULES or np.isnan([gsm8k, piqa]).any():
        return UNKNOWN
    return HOLDS if RULES[key][1](gsm8k, piqa) else FAILS


def share_of_pairs(key: str, landscapes: pd.DataFrame) -> float:
    """Return the share of pairs of drawn tables on which a remark holds.

    Parameters
    ----------
    key : str
        Key of a remark whose measure is one of `OF_TABLES`.
    landscapes : DataFrame
        One row per drawn table and measure: ``dataset``, ``key`` (name of the measure)
        and ``value``. A pair has one table of each data set.

    Examples
    --------
    >>> rows = [("gsm8k", 0.9), ("gsm8k", 0.7), ("piqa", 0.8)]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "value"])
    >>> share_of_pairs("aligned-on-gsm8k", frame.assign(key="alignment"))
    0.5
    """
    measure, holds = RULES[key]
    values = landscapes[landscapes["key"] == measure.__name__]
    first, second = (
        values.loc[values["dataset"] == name, "value"] for name in ("gsm8k", "piqa")
    )
    return float(np.mean([holds(a, b) for a, b in product(first, second)]))
