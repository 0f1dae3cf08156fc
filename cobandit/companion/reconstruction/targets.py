"""Each published number that a reconstruction is fitted to, as a check of a table: ours and the tolerance.

The checks know nothing of the generator: they read the table as any other, and replay uniform allocation,
uniform identification and Accuracy-Cost-UCB on it, and no other method.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit.companion.reconstruction.generator import Parameters
from cobandit.companion.reconstruction.settings import (
    PAPER_REPLAYS,
    REGRET_TOLERANCE,
    SUBSET,
    Ends,
    Setting,
)
from cobandit.companion.reconstruction.tables import card, frame, setting
from cobandit.replay import replay_identification, replay_online, spec
from cobandit.stats.metrics import proportion_interval
from cobandit.tables.table import EvaluationTable

RHO = 32
"""Budget of the online targets."""
ACCURACY_COST = spec("AccuracyCostUCB", reward_scale=0.01, cost_scale=0.01, eta=0.05)
TIED = 10
"""'Many tied empirical means': arms whose accuracy is exactly that of another."""
NEAR_TIE, NEAR_TIES = 0.002, 3
"""'Gaps near zero': how small a classification gap is, and of how many arms."""


class Target(NamedTuple):
    """One published number: ours, and the interval in which ours meets it.

    Examples
    --------
    >>> Target("Pareto arms", 7, 7, 7, 7).met
    True
    """

    name: str
    published: float
    value: float
    low: float
    high: float

    @property
    def met(self) -> bool:
        """Whether our value lies in the tolerated interval."""
        return self.low <= self.value <= self.high


def _near(name: str, published: float, value: float, tolerance: float) -> Target:
    return Target(name, published, value, published - tolerance, published + tolerance)


def _within(name: str, published: float, value: float, share: float) -> Target:
    return _near(name, published, value, share * published)


def check_targets(
    published: Setting, table: EvaluationTable, latency: pd.Series, replications: int = 2000
) -> list[Target]:
    """Hold a table against every number that it was fitted to.

    Parameters
    ----------
    published : Setting
        The published numbers.
    table : EvaluationTable
        The reconstruction.
    latency : Series, indexed by config
        Mean latency in seconds over all instances, which a table keeps only as the efficiency made of it.
    replications : int
        Of uniform identification; online methods are replayed 100 times, as in the paper.

    Returns
    -------
    list of Target
    """
    return [*check_means(published, table, latency), *check_replays(published, table, replications)]


def check_means(published: Setting, table: EvaluationTable, latency: pd.Series) -> list[Target]:
    """`check_targets` without the targets that need replays."""
    return [*_table_1(published, table, latency), *_structure(published, table)]


def _table_1(published: Setting, table: EvaluationTable, latency: pd.Series) -> list[Target]:
    """Table 1 over all instances, to the digits printed, and the token costs of the profiling split."""
    everything = table.summary("all")
    columns: list[tuple[str, Ends, Any, float]] = [
        ("accuracy", published.accuracy, everything["accuracy"], 0.0005),
        ("latency in s", published.latency, latency, 0.0005),
        ("tokens", published.tokens, everything["cost"], 0.05),
        ("profiling tokens", published.profiling_tokens, table.costs, 0.005),
    ]
    targets = [_near("configurations", published.n_arms, table.n_arms, 0)]
    for name, ends, values, tolerance in columns:
        targets.append(_near(f"smallest mean {name}", ends.low, float(values.min()), tolerance))
        targets.append(_near(f"largest mean {name}", ends.high, float(values.max()), tolerance))
    targets.append(_near("largest single cost", published.limits[1], table.cost_range[1], 0))
    targets.append(_near("Pareto arms", published.front, int(everything["on_front"].sum()), 0))
    return targets


def _structure(published: Setting, table: EvaluationTable) -> list[Target]:
    """Which arm is best, ties, and the 14-arm subset, all on the evaluation split."""
    problem = table.problem
    same = float(problem.hypervolume.argmax() == problem.best_arm)
    _, shared = np.unique(problem.means[:, 0], return_counts=True)
    few = table.subset(SUBSET).problem
    gaps = (problem.classification_gaps < NEAR_TIE).sum()
    return [
        _near("largest hypervolume is largest per cost", float(published.same_best), same, 0),
        Target("arms with tied accuracy", nan, int(shared[shared > 1].sum()), TIED, inf),
        Target(f"arms with a gap below {NEAR_TIE}", nan, int(gaps), NEAR_TIES, inf),
        _near("subset: arms", 14, few.n_arms, 0),
        _near("subset: Pareto arms", published.subset_front, int(few.pareto_mask.sum()), 0),
        _near("subset: smallest gap", published.subset_gap, float(few.classification_gaps.min()), 0.0005),
    ]


def check_replays(published: Setting, table: EvaluationTable, replications: int) -> list[Target]:
    """Targets that need replays: regrets and errors."""
    runs = replay_online(table, ["UniformAllocation", ACCURACY_COST], RHO)
    uniform, accuracy_cost = (
        runs[runs["method"] == method] for method in ("UniformAllocation", "AccuracyCostUCB")
    )
    efficiency, standard = published.uniform_regrets
    same = REGRET_TOLERANCE["UniformAllocation"]
    targets = [
        _within("uniform: efficiency regret", efficiency, uniform["efficiency_regret"].mean(), same),
        _within("uniform: standard regret", standard, uniform["standard_regret"].mean(), same),
        _within(
            "Accuracy-Cost-UCB: efficiency regret",
            published.accuracy_cost_regret,
            accuracy_cost["efficiency_regret"].mean(),
            REGRET_TOLERANCE["AccuracyCostUCB"],
        ),
    ]
    few = table.subset(SUBSET)
    for rho, error in published.uniform_errors.items():
        runs = replay_identification(few, "UniformIdentification", rho, replications)
        interval = proportion_interval(round(error * PAPER_REPLAYS), PAPER_REPLAYS)
        ours = 1 - float(runs["correct"].mean())
        targets.append(Target(f"uniform identification: error at rho = {rho}", error, ours, *interval))
    return targets


def check_parameters(name: str, parameters: Parameters, replications: int = 2000) -> list[Target]:
    """Draw the table of some parameters and hold it to the targets.

    Parameters
    ----------
    name : {"gsm8k", "piqa"}
    parameters : Parameters
    replications : int
        As in `check_targets`.
    """
    rows = frame(name, parameters)
    latency = rows.groupby("config", observed=True)["latency_s"].mean()
    return check_targets(setting(name), EvaluationTable.from_frame(rows, card(name)), latency, replications)
