"""The data frames of a recommendation: all configurations, and the front."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit.dominance import TIE
from cobandit.policies.cost_comparison import read_cost_tolerance
from cobandit.policies.race_standing import Calls, Standing
from cobandit.problem import hypervolume
from cobandit.stats.evaluations import Bools, Floats
from cobandit.stats.intervals import mean_intervals, step_interval
from cobandit.stats.pairwise import Paired

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Percentiles of a measured column that are shown with the score computed from it.
PERCENTILES = (50, 95)


class RedrawnTables(NamedTuple):
    """Bootstrap replicates of the means of a table, from `redraw_means`."""

    means: Floats  #: shape (R, K, D)
    costs: Floats  #: shape (R, K)


def measured_columns(table: EvaluationTable) -> dict[str, str]:
    """Return, by objective, the measured column from which the objective is computed.

    Examples
    --------
    >>> import cobandit as cb
    >>> measured_columns(cb.load("word-sums"))
    {'efficiency': 'seconds'}
    """
    return {
        objective.name: objective.column
        for objective in table.card.objectives
        if objective.transform != "none"
    }


def tabulate_arms(
    compared: Paired,
    on_front: Bools,
    settled: Bools,
    level: float,
    redrawn: RedrawnTables,
) -> pd.DataFrame:
    """Return the frame of all configurations, `Recommendation.arms`.

    Parameters
    ----------
    compared : Paired
    on_front, settled : ndarray of bool, shape (K,)
    level : float
        Level of the intervals.
    redrawn : RedrawnTables

    Returns
    -------
    DataFrame, K rows
    """
    table = compared.table
    summary = table.summary()
    low, high = mean_intervals(compared, level)
    columns: dict[str, Any] = {}
    for d, name in enumerate(table.objectives):
        columns[name] = summary[name]
        columns[f"{name}_low"] = low[:, d]
        columns[f"{name}_high"] = high[:, d]
    columns |= _percentiles(table)

    fronts = [
        compared.front_of(mean, cost) for mean, cost in zip(*redrawn, strict=True)
    ]
    ratio = hypervolume(compared.means) / compared.costs
    columns |= {
        "cost": summary["cost"],
        "hypervolume_per_cost": np.where(table.has_made_up_cost, np.nan, ratio),
        "on_front": on_front,
        "front_share": np.mean(fronts, axis=0),
        "efficient_share": _efficient_share(table, redrawn),
        "front_settled": settled,
        "instances": summary["instances"],
        "missing": compared.missing,
        "has_made_up_cost": table.has_made_up_cost,
    }
    return pd.DataFrame(columns, index=summary.index).sort_values("cost", kind="stable")


def _percentiles(table: EvaluationTable) -> dict[str, pd.Series[float]]:
    """Return median and 95th percentile of each measured column by configuration."""
    columns = {}
    by_config = table.evaluations.groupby("config", observed=True)
    for name, column in measured_columns(table).items():
        for percentile in PERCENTILES:
            columns[f"{name}_p{percentile}"] = by_config[column].quantile(
                percentile / 100
            )
    return columns


def _efficient_share(table: EvaluationTable, redrawn: RedrawnTables) -> Floats | float:
    """Return the share of bootstrap replicates in which each arm is most efficient.

    The share is NaN if 1 % or more of the cost of an arm comes from free evaluations.
    """
    if table.has_made_up_cost.any():
        return np.nan
    best = np.argmax(redrawn.means.prod(axis=2) / redrawn.costs, axis=1)
    shares: Floats = np.bincount(best, minlength=table.n_arms) / len(best)
    return shares


def thin_out(
    compared: Paired,
    arms: Sequence[int],
    tolerance: Floats,
    cost_tolerance: float | str,
) -> list[int]:
    """Remove front members to which another member is equal within the tolerance.

    Parameters
    ----------
    compared : Paired
    arms : sequence of int
        Numbers of the members, cheapest first.
    tolerance : ndarray, shape () or (D,)
    cost_tolerance : float or str

    Returns
    -------
    list of int
        The remaining members, cheapest first.
    """
    share, amount = read_cost_tolerance(cost_tolerance)
    if len(arms) < 2 or not (np.any(tolerance) or share or amount):
        return [*arms]

    covered = np.zeros((len(arms), len(arms)), dtype=bool)
    for a, arm in enumerate(arms):
        cost = float(compared.costs[arm])
        most = (1 + share) * cost + amount + TIE * cost
        for b, other in enumerate(arms):
            gains, times = compared.step(arm, other)
            covered[a, b] = (
                a != b
                and times * cost <= most
                and bool(np.all(gains + tolerance >= -TIE))
            )

    costs = compared.costs[[*arms]]
    standing = Standing(costs)
    none = np.zeros_like(covered)
    standing.conclude(Calls(none, covered, none), -costs)
    return [arm for arm, stays in zip(arms, standing.returned, strict=True) if stays]


def tabulate_steps(
    compared: Paired, arms: pd.DataFrame, members: Sequence[int], level: float
) -> pd.DataFrame:
    """Return the front, with each member's gain over the next cheaper member.

    Parameters
    ----------
    compared : Paired
    arms : DataFrame
        As `tabulate_arms` returns it.
    members : sequence of int
        Numbers of the members of the front, cheapest first.
    level : float
        Level of the intervals of the gains.

    Returns
    -------
    DataFrame
        As `cobandit.advice.Recommendation.front`.
    """
    table = compared.table
    names = [table.configs[arm] for arm in members]
    has_made_up_cost = table.has_made_up_cost

    # the cheapest member has no cheaper neighbour
    unknown = np.full(table.n_objectives, np.nan)
    times = [np.nan]
    gains, lows, highs = [unknown], [unknown], [unknown]
    for lower, upper in pairwise(members):
        gain, factor = compared.step(lower, upper)
        low, high = step_interval(compared, lower, upper, level)
        gains.append(gain)
        lows.append(low)
        highs.append(high)
        # a ratio with a made-up cost is meaningless
        is_made_up = has_made_up_cost[lower] or has_made_up_cost[upper]
        times.append(np.nan if is_made_up else factor)

    front = arms.loc[names, ["instances", "cost", *table.objectives]].assign(
        times=times
    )
    for d, name in enumerate(table.objectives):
        front[f"more_{name}"] = [gain[d] for gain in gains]
        front[f"more_{name}_low"] = [low[d] for low in lows]
        front[f"more_{name}_high"] = [high[d] for high in highs]
    return front
