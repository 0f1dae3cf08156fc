"""Regrets, scores and their intervals; methods compared replication by replication."""

from cobandit.stats.contrasts import leaders, paired_contrasts
from cobandit.stats.metrics import (
    efficiency_regret,
    f1_score,
    mean_interval,
    moving_average,
    proportion_interval,
    standard_regret,
    summarise,
)
from cobandit.stats.paired_errors import joint_errors, mcnemar, paired_difference
from cobandit.stats.power import paired_power, replays_needed

__all__ = [
    "efficiency_regret",
    "f1_score",
    "joint_errors",
    "leaders",
    "mcnemar",
    "mean_interval",
    "moving_average",
    "paired_contrasts",
    "paired_difference",
    "paired_power",
    "proportion_interval",
    "replays_needed",
    "standard_regret",
    "summarise",
]
