"""Results of `ParetoRace` for the fronts with and without the cost as an objective."""

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

#: Pairs of a tolerance of scores and a tolerance of costs.
TOLERANCES = ((0.0, "0%"), (0.02, "10%"), (0.05, "20%"))
#: Number of orders of the instances, and their seed.
ORDERS = 300
SEED = 0


def race_both(name: str, tolerance: float, cost_tolerance: str) -> pd.DataFrame:
    """Run `ParetoRace` on a table 300 times for each of two fronts.

    One front is of the objectives alone, and the other of the objectives and the cost.
    Runs use different random orders of the instances, the same for both fronts.

    Parameters
    ----------
    name : str
        Name of the table in the catalogue. Pulls are charged realised costs.
    tolerance : float
        Tolerance of the objectives.
    cost_tolerance : str
        Tolerance of the cost, such as ``"10%"``.

    Returns
    -------
    DataFrame
        One row per ``front``: ``size``, the size of the front; ``returned``, the mean
        number of returned configurations; ``share``, the mean cost of a run, divided by
        the cost of evaluating everything; ``runs``; ``off``, the number of runs whose
        front is wrong by more than the tolerances; ``largest``, the largest excess over
        the tolerances.
    """
    feedback = pack_shared(load(name)).feedback
    n_arms = len(feedback.offsets) - 1
    n_instances = int(feedback.offsets[1])
    means = feedback.rows[:, 2:].reshape(n_arms, n_instances, -1).mean(axis=1)

    costs = feedback.rows[:, 0].reshape(n_arms, n_instances).mean(axis=1)
    rows: list[dict[str, Any]] = []
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
        compared = means
        charged = None
        if race.compares_cost:
            # the cost is an additional objective, to be minimised
            compared = np.column_stack([means, -costs / costs.max()])
            charged = costs
        excess = metrics.beyond_tolerance(
            run.returned, means, tolerance, charged, cost_tolerance
        )
        rows.append(
            {
                "dataset": name,
                "tolerance": tolerance,
                "cost_tolerance": cost_tolerance,
                "front": front,
                "size": int(pareto_mask(compared, "standard").sum()),
                "returned": float(run.returned.sum(axis=1).mean()),
                "share": float(run.spent.mean()) / (n_instances * float(costs.sum())),
                "runs": ORDERS,
                "off": int((excess > 1e-9).sum()),
                "largest": float(excess.max()),
            }
        )

    return pd.DataFrame(rows)
