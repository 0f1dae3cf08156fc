"""Cost and errors of `ParetoRace`, on bundled tables and on simulated tables."""

from typing import Any

import numpy as np
import pandas as pd

from cobandit.policies import CoPSIOnce, ParetoRace, UniformOnce
from cobandit.replay.grid import pack_shared
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables import EvaluationTable
from companion.stored.made_up_tables import SEED, Floats, read_rows

TOLERANCES = (0.0, 0.02, 0.05)


ORDERS = 300


NEIGHBOURS_ORDERS = 60


def race(name: str, tolerance: float) -> pd.DataFrame:
    """Run `ParetoRace` on a table 300 times, and other methods at the same cost.

    Each run has another random order of the instances. The other methods run 60 times,
    with the mean cost of the races as their budget.

    Parameters
    ----------
    name : str
        Name of a table in the catalogue, or a key of `MADE_UP`.
    tolerance : float
        Tolerance of the race.

    Returns
    -------
    DataFrame
        One row per method: ``share``, the mean cost of a run, divided by the cost of
        evaluating everything; ``runs``; ``off``, the number of runs whose front is
        wrong by more than the tolerance (`cobandit.stats.metrics.beyond_tolerance`);
        ``largest``, the largest excess over the tolerance.
    """
    feedback, costs = read_rows(name)

    rows: list[dict[str, Any]] = []
    # the race is first, because its mean cost is the budget of the other methods
    options: dict[str, Any] = {"tolerance": tolerance, "front": "objectives"}
    for policy in (ParetoRace, CoPSIOnce, UniformOnce):
        orders = ORDERS if policy is ParetoRace else NEIGHBOURS_ORDERS
        outcome, spent = play_orders(
            policy, feedback, costs, tolerance, orders, **options
        )
        row: dict[str, Any] = {
            "dataset": name,
            "tolerance": tolerance,
            "method": policy.__name__,
        }
        rows.append(row | outcome)
        if policy is ParetoRace:
            options = {"budget": max(spent, float(costs.sum()))}

    return pd.DataFrame(rows)


def play_orders(
    policy: Any,
    feedback: FeedbackRows,
    costs: Floats,
    within: float,
    orders: int,
    **options: Any,
) -> tuple[dict[str, Any], float]:
    """Run a method in several random orders of the instances of a table.

    Returns
    -------
    outcome : dict
        ``runs``, ``share``, ``off`` and ``largest``, as in `race`.
    spent : float
        Mean cost of a run.
    """
    n_arms = len(costs)
    n_instances = int(feedback.offsets[1])
    rewards = feedback.rows[:, 2:].reshape(n_arms, n_instances, -1)
    race = policy(
        costs=costs, n_objectives=rewards.shape[2], n_instances=n_instances, **options
    )
    run = run_kernel(race, feedback, SEED, np.arange(orders), realised=False)
    spent = float(run.spent.mean())

    excess = metrics.beyond_tolerance(run.returned, rewards.mean(axis=1), within)
    share = spent / (n_instances * float(costs.sum()))
    outcome = {
        "runs": orders,
        "share": share,
        "off": int((excess > 1e-9).sum()),
        "largest": excess.max(),
    }
    return outcome, spent


#: Tolerances at which usual and certified races are compared.
KINDS_TOLERANCES = (0.0, 0.02, 0.05, 0.1)


def race_kinds(name: str, tolerance: float) -> pd.DataFrame:
    """Run `ParetoRace` on a table 300 times in each of two forms: usual and certified.

    For the certified form, the bound on the error is proved for every table. Each run
    has another random order of the instances. Both forms use the same orders.

    Returns
    -------
    DataFrame
        Two rows, with ``certified`` False and True, and the other columns of `race`.
    """
    feedback, costs = read_rows(name)
    rows = []
    for certified in (False, True):
        options = {
            "tolerance": tolerance,
            "certified": certified,
            "front": "objectives",
        }
        outcome, _ = play_orders(
            ParetoRace, feedback, costs, tolerance, ORDERS, **options
        )
        rows.append(
            {"dataset": name, "tolerance": tolerance, "certified": certified, **outcome}
        )

    return pd.DataFrame(rows)


def race_table(table: EvaluationTable, orders: int) -> pd.DataFrame:
    """Run `ParetoRace` on any table, in its usual and in its certified form.

    For the certified form, the bound on the error is proved for every table. Both forms
    use the same random orders of the instances.

    Parameters
    ----------
    table : EvaluationTable
    orders : int
        Number of orders of the instances.

    Returns
    -------
    DataFrame
        One row per ``tolerance`` and per value of ``certified``, with the columns of
        `race_kinds` and ``error``. The error is the share of orders in which the front
        is wrong by more than the tolerance.

    Examples
    --------
    >>> import cobandit as cb
    >>> raced = race_table(cb.load("synthetic-24"), orders=3)
    >>> raced[["tolerance", "certified"]].drop_duplicates().shape
    (6, 2)
    """
    source = pack_shared(table)

    costs = np.array(source.costs)
    rows = []
    for tolerance in TOLERANCES:
        for certified in (False, True):
            options = {"tolerance": tolerance, "certified": certified}
            outcome, _ = play_orders(
                ParetoRace, source.feedback, costs, tolerance, orders, **options
            )
            rows.append(
                {
                    "dataset": table.name,
                    "tolerance": tolerance,
                    "certified": certified,
                    **outcome,
                }
            )

    raced = pd.DataFrame(rows)
    return raced.assign(error=raced["off"] / raced["runs"])
