"""What the paper says in words about its tables and runs, where no order of methods is claimed.

Each remark, typed in ``remarks.yml``, is measured on every table by one number, and
holds or fails by a rule on these numbers.
"""

from collections.abc import Callable, Sequence
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
from companion.paper import experiments
from companion.paper.judge import FAILS, HOLDS, UNKNOWN

REPLICATIONS = 500
SEED = 0
ONLINE_REPLICATIONS = 100
RHO = max(experiments.ONLINE_RHO)
_COHV = experiments.online_methods()[:1]
#: Largest standard error of a mean of 200 scores between 0 and 1: what the largest
#: budget on the complete sets resolves if each arm has an equal part of it.
NEAR = 0.5 / np.sqrt(200)


#: Gaps below this are near zero: it is the smaller of the two that the paper prints for
#: its fourteen arms.
NEAR_ZERO = 0.005


class Landscape(Protocol):
    """What remarks about a table are measured on: a table, or one that was drawn."""

    @property
    def problem(self) -> Problem:
        """True means and costs."""

    @property
    def costs(self) -> NDArray[np.float64]:
        """Declared costs."""


def best_of_all(table: Landscape) -> float:
    """Efficiency of the arm with the largest hypervolume, as a share of the largest efficiency."""
    problem = table.problem
    return float(
        problem.efficiency[problem.hypervolume.argmax()] / problem.efficiency.max()
    )


def cost_range(table: Landscape) -> float:
    """Largest declared cost over the smallest."""
    return float(table.costs.max() / table.costs.min())


def alignment(table: Landscape) -> float:
    """Rank correlation (Kendall) of hypervolume and efficiency: 1 where costs change no order."""
    from scipy import stats  # a second that most pages need not take

    return float(
        stats.kendalltau(table.problem.hypervolume, table.problem.efficiency).statistic
    )


def near_boundary(table: Landscape) -> float:
    """Share of the arms with a classification gap below `NEAR`."""
    return float(np.mean(table.problem.classification_gaps < NEAR))


def near_ties(table: Landscape) -> float:
    """Share of the arms with a classification gap below `NEAR_ZERO`, which ties and near ties have."""
    return float(np.mean(table.problem.classification_gaps < NEAR_ZERO))


#: What is measured on a table alone.
OF_TABLES: dict[str, Callable[[Landscape], float]] = {
    "best_of_all": best_of_all,
    "cost_range": cost_range,
    "alignment": alignment,
    "near_boundary": near_boundary,
    "near_ties": near_ties,
}


def same_estimate(table: EvaluationTable) -> float:
    """Share of paired replays of CoPSI and PSI-SR that return one set for declared and realised costs."""
    arms = experiments.structured_subset(table)
    methods = ["CoPSI", "PSISR"]
    rho = max(experiments.IDENTIFICATION_RHO)
    play = partial(replay_identification, arms, methods, rho, REPLICATIONS, SEED)
    return float((play("declared")["returned"] == play("realised")["returned"]).mean())


def rising_average(table: EvaluationTable) -> float:
    """Share of the steps along CoHV-UCB's runs on which the mean regret of its last 50 pulls rises."""
    paths = replay_paths(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    course = paths.groupby("spent")["moving_average"].mean().dropna()
    return float((np.diff(course) > 0).mean())


def pulls_of_poor_arms(table: EvaluationTable) -> float:
    """Return CoHV-UCB's pulls of arms below the median efficiency, over those of equal parts."""
    counted = experiments.allocation(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    pulls = counted.groupby("arm")["pulls"].sum().to_numpy()
    poor = table.problem.efficiency < np.median(table.problem.efficiency)
    return float(pulls[poor].sum() / pulls.sum() / poor.mean())


def exact_recovery(table: EvaluationTable) -> float:
    """Share of CoPSI's runs on all arms, at the largest budget, that return exactly the front."""
    runs = replay_identification(
        table, "CoPSI", max(experiments.FULL_SET_RHO), ONLINE_REPLICATIONS, SEED
    )
    return float(runs["correct"].mean())


def _mean_pulls(table: EvaluationTable, method: str, rho: float) -> NDArray[np.float64]:
    """Mean pulls of each arm (K,) by a method of identification, at declared costs."""
    (cell,) = cut_grid(
        table,
        read_methods(method, "identification"),
        rho,
        ONLINE_REPLICATIONS,
        SEED,
        most=1,
    )
    return play_cell(pack_table(table), cell, realised=False).pulls.mean(axis=0)


def pulls_near_the_front(table: EvaluationTable) -> float:
    """Return CoPSI's pulls of the half of the chosen arms with the smallest gaps, over equal parts."""
    arms = experiments.structured_subset(table)
    pulls = _mean_pulls(arms, "CoPSI", max(experiments.IDENTIFICATION_RHO))
    near = np.argsort(arms.problem.classification_gaps)[: arms.n_arms // 2]
    return float(pulls[near].mean() / pulls.mean())


def pulls_of_ambiguous(table: EvaluationTable) -> float:
    """Return CoPSI's pulls of the half of all arms with the smallest gaps, over uniform allocation."""
    rho = max(experiments.FULL_SET_RHO)
    near = np.argsort(table.problem.classification_gaps)[: table.n_arms // 2]
    ours, equal = (
        _mean_pulls(table, method, rho)[near]
        for method in ("CoPSI", "UniformIdentification")
    )
    return float(ours.mean() / equal.mean())


def early_mistakes(table: EvaluationTable, runs: int = 60) -> float:
    """Share of CoPSI's mistakes, at the smallest budget, that are made in the first half of the phases."""
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
        wrong = [phase.accepted != truth[phase.removed] for phase in policy.phases]
        mistakes += sum(wrong)
        early += sum(wrong[: len(wrong) // 2])

    return early / mistakes if mistakes else np.nan


def _pulls_by_charge(
    table: EvaluationTable, methods: Sequence[str]
) -> tuple[pd.Series, pd.Series]:
    """Return the pulls of each run at the largest budget, charged declared and realised costs."""
    arms = experiments.structured_subset(table)
    rho = max(experiments.IDENTIFICATION_RHO)
    replayed = partial(
        replay_identification, arms, list(methods), rho, ONLINE_REPLICATIONS, SEED
    )
    declared, realised = (replayed(charge)["pulls"] for charge in experiments.CHARGES)
    return declared, realised


def targets_reached(table: EvaluationTable) -> float:
    """Share of the elimination runs that make all of their pulls when charged realised costs."""
    declared, realised = _pulls_by_charge(table, ["CoPSI", "PSISR"])
    return float((declared == realised).mean())


def rounds_changed(table: EvaluationTable) -> float:
    """Share of the runs of uniform allocation with another number of pulls when charged realised costs."""
    declared, realised = _pulls_by_charge(table, ["UniformIdentification"])
    return float((declared != realised).mean())


def crossing_runs(table: EvaluationTable) -> float:
    """Share of CoHV-UCB's runs that end with a pull whose cost exceeds the remaining budget.

    Such a run has more left than the cheapest arm costs on average, since it could have
    gone on.
    """
    runs = replay_online(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    return float((runs["budget"] - runs["spent"] >= table.costs.min()).mean())


Rule = Callable[[float, float], bool]
#: What measures each remark, and the rule on GSM8K's number and PIQA's.
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
#: Measures of runs online, which a table has not if these would make too many
#: evaluations.
ONLINE = (rising_average, pulls_of_poor_arms, crossing_runs)
#: Remarks that are measured and not judged: what a table has of it is how its generator
#: was made.
MEASURED: dict[str, Callable[[EvaluationTable], float]] = {"many-near-ties": near_ties}


def judge_remarks(tables: Sequence[EvaluationTable]) -> pd.DataFrame:
    """Measure each remark on the tables, and say whether it holds.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        Those named ``"gsm8k"`` and ``"piqa"`` are compared; without them remarks are
        measured and cannot be checked.

    Returns
    -------
    DataFrame
        By key: ``says``, ``place``, ``about``, ``used``, one column per table,
        ``verdict``.

    Examples
    --------
    >>> import cobandit as cb
    >>> found = judge_remarks([cb.load("synthetic-24")])
    >>> float(found.loc["same-estimate", "synthetic-24"]), found["verdict"].unique().tolist()
    (1.0, ['cannot be checked'])
    """
    rows = {}
    for remark in typed_remarks():
        key = remark["key"]
        if key not in RULES and key not in MEASURED:
            continue
        measure = MEASURED[key] if key in MEASURED else RULES[key][0]
        values = {table.name: _measure(measure, table) for table in tables}
        verdict = judge_pair(
            key, values.get("gsm8k", np.nan), values.get("piqa", np.nan)
        )
        rows[key] = {name: value for name, value in remark.items() if name != "key"}
        rows[key] |= values | {"verdict": verdict}
    return pd.DataFrame.from_dict(rows, orient="index")


def _measure(
    measure: Callable[[EvaluationTable], float], table: EvaluationTable
) -> float:
    """Measure a remark on a table; nan where its runs would be too long or cannot begin."""
    if measure in ONLINE and not experiments.fit_extent(table).online:
        return np.nan
    try:
        return measure(table)
    except BudgetError:
        return np.nan


@cache
def typed_remarks() -> tuple[dict[str, Any], ...]:
    """Return the remarks of ``remarks.yml``, in the order of the claims."""
    source = Path(__file__).with_name("remarks.yml")
    return tuple(yaml.safe_load(source.read_text(encoding="utf-8")))


def judge_pair(key: str, gsm8k: float, piqa: float) -> str:
    """Judge a remark by what was measured on a table for each data set.

    Examples
    --------
    >>> judge_pair("aligned-on-gsm8k", 0.9, 0.8), judge_pair("aligned-on-gsm8k", 0.9, float("nan"))
    ('holds', 'cannot be checked')
    """
    if key not in RULES or np.isnan([gsm8k, piqa]).any():
        return UNKNOWN
    return HOLDS if RULES[key][1](gsm8k, piqa) else FAILS


def share_of_pairs(key: str, landscapes: pd.DataFrame) -> float:
    """Share of the pairs of drawn tables, one per data set, on which a remark about tables holds.

    Parameters
    ----------
    key : str
        Of a remark whose measure is one of `OF_TABLES`.
    landscapes : DataFrame
        ``dataset``, ``key`` of the measure and ``value``, a row per table and measure.

    Examples
    --------
    >>> rows = [("gsm8k", 0.9), ("gsm8k", 0.7), ("piqa", 0.8)]
    >>> found = pd.DataFrame(rows, columns=["dataset", "value"]).assign(key="alignment")
    >>> share_of_pairs("aligned-on-gsm8k", found)
    0.5
    """
    measure, holds = RULES[key]
    own = landscapes[landscapes["key"] == measure.__name__]
    first, second = (
        own.loc[own["dataset"] == name, "value"] for name in ("gsm8k", "piqa")
    )
    return float(np.mean([holds(a, b) for a, b in product(first, second)]))
