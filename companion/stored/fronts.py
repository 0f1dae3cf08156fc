"""What it takes to race for the front of the objectives and the cost, next to that of the objectives."""

from typing import Any

import numpy as np
import pandas as pd

from cobandit.dominance import pareto_mask
from cobandit.policies import ParetoRace
from cobandit.policies.cost_comparison import FRONTS
from cobandit.replay.grid import pack_shared
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables import load

#: Tolerances of scores, and of costs with them.
TOLERANCES = ((0.0, "0%"), (0.02, "10%"), (0.05, "20%"))
#: Orders of the instances, and what names them.
ORDERS, SEED = 300, 0


def race_both(name: str, tolerance: float, cost_tolerance: str) -> pd.DataFrame:
    """Race a table for either front, on the same three hundred orders; costs are those that are measured.

    Parameters
    ----------
    name : str
        Of the catalogue.
    tolerance : float
    cost_tolerance : str

    Returns
    -------
    DataFrame
        A row per ``front``: ``size``, its configurations, and of the races
        ``returned``, how many they returned on average, ``share`` of the cost of
        everything that they spent, ``off``, how many of the ``runs`` broke what a race
        with the tolerances promises, and ``largest``, by how much at most.
    """
    feedback = pack_shared(load(name)).feedback
    n_arms = len(feedback.offsets) - 1
    n_instances = int(feedback.offsets[1])
    means = feedback.rows[:, 2:].reshape(n_arms, n_instances, -1).mean(axis=1)

    costs = feedback.rows[:, 0].reshape(n_arms, n_instances).mean(axis=1)
    found: list[dict[str, Any]] = []
    for front in FRONTS:
        race = ParetoRace(
            costs,
            means.shape[1],
            n_instances,
            tolerance=tolerance,
            cost_tolerance=cost_tolerance,
            front=front,
        )
        run = run_kernel(race, feedback, SEED, np.arange(ORDERS), realised=True)
        compared, charged = means, None
        if race.compares_cost:
            compared, charged = np.column_stack([means, -costs / costs.max()]), costs
        off = metrics.beyond_tolerance(
            run.returned, means, tolerance, charged, cost_tolerance
        )
        found.append(
            {
                "dataset": name,
                "tolerance": tolerance,
                "cost_tolerance": cost_tolerance,
                "front": front,
                "size": int(pareto_mask(compared, "standard").sum()),
                "returned": float(run.returned.sum(axis=1).mean()),
                "share": float(run.spent.mean()) / (n_instances * float(costs.sum())),
                "runs": ORDERS,
                "off": int((off > 1e-9).sum()),
                "largest": float(off.max()),
            }
        )

    return pd.DataFrame(found)
