"""What the paper says in words about its tables and runs, where no order of methods is claimed.

Each remark, typed in ``remarks.yml``, is measured on every table by one number, and holds or fails by a rule
on these numbers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from cobandit.companion.paper import experiments
from cobandit.companion.paper.judge import FAILS, HOLDS, UNKNOWN
from cobandit.replay import replay_identification, replay_paths
from cobandit.tables import EvaluationTable

REPLICATIONS, SEED = 500, 0
ONLINE_REPLICATIONS, RHO = 100, max(experiments.ONLINE_RHO)
_COHV = experiments.online_methods()[:1]
#: Largest standard error of a mean of 200 scores between 0 and 1: what the largest budget on the complete
#: sets resolves if each arm has an equal part of it.
NEAR = 0.5 / np.sqrt(200)


def best_of_all(table: EvaluationTable) -> float:
    """Efficiency of the arm with the largest hypervolume, as a share of the largest efficiency."""
    problem = table.problem
    return float(problem.efficiency[problem.hypervolume.argmax()] / problem.efficiency.max())


def cost_range(table: EvaluationTable) -> float:
    """Largest declared cost over the smallest."""
    return float(table.costs.max() / table.costs.min())


def alignment(table: EvaluationTable) -> float:
    """Rank correlation (Kendall) of hypervolume and efficiency: 1 where costs change no order."""
    from scipy import stats  # a second that most pages need not take

    return float(stats.kendalltau(table.problem.hypervolume, table.problem.efficiency).statistic)


def near_boundary(table: EvaluationTable) -> float:
    """Share of the arms with a classification gap below `NEAR`."""
    return float(np.mean(table.problem.classification_gaps < NEAR))


def same_estimate(table: EvaluationTable) -> float:
    """Share of paired replays of CoPSI and PSI-SR that return one set for declared and realised costs."""
    arms, methods = experiments.structured_subset(table), ["CoPSI", "PSISR"]
    rho = max(experiments.IDENTIFICATION_RHO)
    play = partial(replay_identification, arms, methods, rho, REPLICATIONS, SEED)
    return float((play("declared")["returned"] == play("realised")["returned"]).mean())


def rising_average(table: EvaluationTable) -> float:
    """Share of the steps along CoHV-UCB's runs on which the mean regret of its last 50 pulls rises."""
    paths = replay_paths(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    course = paths.groupby("spent")["moving_average"].mean().dropna()
    return float((np.diff(course) > 0).mean())


def pulls_of_poor_arms(table: EvaluationTable) -> float:
    """Pulls by CoHV-UCB of arms below the median efficiency, over those that equal parts would give them."""
    counted = experiments.allocation(table, _COHV, RHO, ONLINE_REPLICATIONS, SEED)
    pulls = counted.groupby("arm")["pulls"].sum().to_numpy()
    poor = table.problem.efficiency < np.median(table.problem.efficiency)
    return float(pulls[poor].sum() / pulls.sum() / poor.mean())


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
    "poor-arms-avoided": (pulls_of_poor_arms, lambda gsm8k, piqa: max(gsm8k, piqa) < 0.5),
}


def judge_remarks(tables: Sequence[EvaluationTable]) -> pd.DataFrame:
    """Measure each remark on the tables, and say whether it holds.

    Parameters
    ----------
    tables : sequence of EvaluationTable
        Those named ``"gsm8k"`` and ``"piqa"`` are compared; without them remarks are measured and cannot be
        checked.

    Returns
    -------
    DataFrame
        By key: ``says``, ``place``, ``about``, ``used``, one column per table, ``verdict``.

    Examples
    --------
    >>> import cobandit as cb
    >>> found = judge_remarks([cb.load("synthetic-24")])
    >>> float(found.loc["same-estimate", "synthetic-24"]), found["verdict"].unique().tolist()
    (1.0, ['cannot be checked'])
    """
    source, rows = Path(__file__).with_name("remarks.yml"), {}
    for remark in yaml.safe_load(source.read_text(encoding="utf-8")):
        key = remark.pop("key")
        measure, holds = RULES[key]
        values, verdict = {table.name: measure(table) for table in tables}, UNKNOWN
        if {"gsm8k", "piqa"} <= set(values):
            verdict = HOLDS if holds(values["gsm8k"], values["piqa"]) else FAILS
        rows[key] = remark | values | {"verdict": verdict}
    return pd.DataFrame.from_dict(rows, orient="index")
