"""Summaries of the paper's experiments: means, intervals, and paired comparisons.

A cell is one quantity at one budget, for one method or for a comparison of two methods.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cobandit.stats import summaries
from cobandit.stats.contrasts import paired_contrasts

#: Costs that a pull can be charged: the arm's mean cost, or the evaluation's own cost.
CHARGES = ("declared", "realised")
#: Quantities that the experiment "trajectory" records along its runs.
TRAJECTORY_QUANTITIES = ("efficiency_regret", "moving_average")


#: Pairs of methods that the paper compares, in its claims and in its derived numbers.
PAIRS = (
    ("CoHVUCB", "HVUCB"),
    ("CoHVUCB", "AccuracyCostUCB"),
    ("CoHVUCB", "UniformAllocation"),
    ("HVUCB", "UniformAllocation"),
    ("CoPSI", "PSISR"),
    ("CoPSI", "UniformIdentification"),
    ("PSISR", "UniformIdentification"),
)


def exact_cells(by_cell: Mapping[tuple[str, str], float]) -> pd.DataFrame:
    """Return rows of a summary for exact values, with intervals of length zero.

    The keys of the mapping are pairs of experiment and quantity.
    """
    frame = pd.DataFrame([*by_cell], columns=["experiment", "quantity"])
    values = [float(value) for value in by_cell.values()]
    return frame.assign(mean=values, low=values, high=values)


def cells(runs: pd.DataFrame, experiment: str, quantity: str) -> pd.DataFrame:
    """Summarise one quantity of an experiment over its replications.

    Parameters
    ----------
    runs : DataFrame
        Runs with one set of options per method.
    experiment : str
    quantity : str
        A column, or ``"error"`` for the share of runs that do not return the Pareto
        set.

    Returns
    -------
    DataFrame
        The rows of `cobandit.stats.summarise`, one per method and budget:
        ``experiment``, ``quantity``, ``method``, ``rho``, ``costs`` (None for online
        methods), ``runs``, ``mean``, ``low``, ``high``. Then the rows of
        `cobandit.stats.paired_contrasts` for `PAIRS`, with ``against``, the other
        method, and ``measure``. The ``"stochastic"`` experiment also has comparisons of
        realised with declared costs.

    Examples
    --------
    >>> import cobandit as cb
    >>> from companion.paper.experiments import play
    >>> runs = play("online", cb.load("synthetic-24"), replications=5, rho=[8])
    >>> frame = cells(runs, "online", "efficiency_regret")
    >>> int(frame["against"].isna().sum())  # 4 methods
    4
    >>> int(frame["against"].notna().sum())  # 4 pairs, difference and ratio
    8
    """
    if quantity == "error":
        runs = runs.assign(error=~runs["correct"].astype(bool))
    coordinates = {"experiment": experiment, "quantity": quantity}
    if "costs" not in runs:
        costs = None if experiment == "online" else "declared"
        return _compare(runs, quantity, ("rho",)).assign(**coordinates, costs=costs)
    charges = paired_contrasts(
        runs, quantity, [CHARGES[::-1]], ("rho", "method"), "costs"
    )
    return pd.concat(
        [_compare(runs, quantity, ("rho", "costs")), charges], ignore_index=True
    ).assign(**coordinates)


def _compare(runs: pd.DataFrame, quantity: str, keys: tuple[str, ...]) -> pd.DataFrame:
    means = summaries.summarise(runs, quantity, ("method", "options", *keys))
    return pd.concat(
        [means, paired_contrasts(runs, quantity, PAIRS, keys)], ignore_index=True
    )


def trajectory_cells(paths: pd.DataFrame, points: int = 20) -> pd.DataFrame:
    """Summarise the experiment "trajectory" at points along the runs and at their end.

    Parameters
    ----------
    paths : DataFrame
        Result of `companion.paper.experiments.play` for ``"trajectory"``.
    points : int
        Number of points, evenly chosen among the recorded values of the spent budget.

    Returns
    -------
    DataFrame
        The columns of `cells`, and ``spent``, which is NaN at the end of the run.

    Examples
    --------
    >>> import cobandit as cb
    >>> from companion.paper.experiments import play
    >>> paths = play("trajectory", cb.load("synthetic-24"), replications=2)
    >>> frame = trajectory_cells(paths, points=4)  # 2 quantities, 4 points and the end
    >>> int(frame["against"].isna().sum())  # 4 methods
    40
    >>> int(frame["against"].notna().sum())  # 4 pairs, two measures
    80
    """
    grid = np.sort(paths["spent"].unique())
    parts = []
    along = grid[np.linspace(0, len(grid) - 1, points).round().astype(int)]
    for quantity in TRAJECTORY_QUANTITIES:
        # a run has no moving average before its first pull
        has_average = paths[quantity].notna()
        counted = paths.assign(status=np.where(has_average, "ok", "infeasible"))
        for values, columns in ((grid[-1:], {"spent": np.nan}), (along, {})):
            part = _compare(
                counted[counted["spent"].isin(values)], quantity, ("rho", "spent")
            )
            parts.append(part.assign(quantity=quantity, **columns))

    return pd.concat(parts, ignore_index=True).assign(
        experiment="trajectory", costs=None
    )
