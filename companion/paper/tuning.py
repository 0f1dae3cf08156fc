"""The paper's tuning of CoHV-UCB on the profiling split: scales of radii, and eta."""

from itertools import product
from typing import Any

import pandas as pd

from cobandit.replay import (
    replay_online,
    spec,
)
from cobandit.replay.paper_settings import (
    ONLINE_RHO,
    RADII,
)
from cobandit.stats import summaries
from cobandit.tables import EvaluationTable
from companion.paper.experiment_cells import exact_cells

#: The paper's grid of values for the scales of radii and for eta.
TUNING_GRID = [
    dict(zip(RADII, point, strict=True))
    for point in product((0.003, 0.01, 0.03, 0.1), (0.001, 0.003, 0.01), (0.05, 0.1))
]


def tuning(
    table: EvaluationTable, replications: int = 100, seed: int = 0, **parallel: Any
) -> pd.DataFrame:
    """Replay CoHV-UCB at every point of the paper's grid, on the profiling split.

    The profiling split has the instances that are set aside for costs and scales.

    Returns
    -------
    DataFrame
        The columns of the replay, and ``reward_scale``, ``cost_scale`` and ``eta``.

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
    """Return the grid point with the smallest mean of a quantity.

    ``runs`` is the result of `tuning`.
    """
    chosen: Any = runs.groupby(list(RADII))[quantity].mean().idxmin()
    return dict(zip(RADII, chosen, strict=True))


def tuning_cells(table: EvaluationTable, replications: int = 100) -> pd.DataFrame:
    """Return the best grid point on a table, and its gain over the paper's choice.

    The best point has the smallest efficiency regret, averaged over budgets. The paper
    chose `RADII`.

    Returns
    -------
    DataFrame
        The columns of `companion.paper.experiments.facts`. The quantities are the
        coordinates of the point, and ``"gap"``, the regret at `RADII` minus the regret
        at the point, paired by replication.

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
    frame = exact_cells({("tuning", name): value for name, value in chosen.items()})
    low, high = summaries.mean_interval(gaps.to_numpy())
    frame.loc[len(frame)] = ["tuning", "gap", gaps.mean(), low, high]
    return frame.assign(dataset=table.name)
