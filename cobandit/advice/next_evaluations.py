"""The evaluations that a race would make next on a table, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _budget
from cobandit.policies.cost_comparison import FRONTS
from cobandit.policies.pareto_race import FIRST_LOOK, ParetoRace, arrange
from cobandit.stats.evaluations import Bools, Ints

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


@dataclass(frozen=True)
class NextEvaluations:
    """What a race has settled, and what it would go on with.

    Attributes
    ----------
    settled : int
        Configurations that are settled now: known to be kept, or not needed.
    would_be_settled : int
        How many would be after the evaluations named, if means and variances stay as they are.
    compared : bool
        Whether all configurations share instances enough to be compared; if not, ``pairs`` are what the first
        comparison takes, and ``evaluations`` is everything that is missing.
    evaluations : int
        About how many it takes to settle all.
    price, step : float
        What these cost, in the table's unit; and those until one more can be expected to be settled.
    pairs : DataFrame
        ``configuration``, ``instance``: the evaluations to make, in order; those of a budget, if there is
        one, and none if the budget can be expected to settle nothing more.
    """

    settled: int
    would_be_settled: int
    compared: bool
    evaluations: int
    price: float
    step: float
    pairs: pd.DataFrame


def plan_next(
    table: EvaluationTable,
    budget: float | None = None,
    tolerance: ArrayLike = 0.0,
    error: float = 0.05,
    seed: int = 0,
    at_random: bool = True,
    certified: bool = False,
    *,
    front: str = FRONTS[0],
    cost_tolerance: float | str = 0.0,
) -> NextEvaluations:
    """Plan the evaluations that are missing, as `cobandit.ParetoRace` would go on.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.
    budget : float, optional
        What they may cost, in the table's unit.
    tolerance : float or array_like, shape (D,)
        What is not worth telling apart, in the unit of each objective.
    error : float
        In (0, 1).
    seed : int
        Of the order of the instances: those that most configurations have first, equal ones at random.
    at_random : bool
        Whether an evaluation is there whatever the instance; if not, nothing is settled by those that are,
        and the instances come in random order.
    certified : bool
        Whether only what a certified race would call certain is settled.
    front, cost_tolerance
        As of `cobandit.ParetoRace`.

    Returns
    -------
    NextEvaluations

    Examples
    --------
    >>> import cobandit as cb
    >>> plan = plan_next(cb.load("synthetic-24"))
    >>> plan.settled, plan.evaluations, len(plan.pairs)  # everything is evaluated
    (24, 0, 0)
    """
    rows, costs = table.rows, table.summary()["cost"].to_numpy()
    instances = rows["instance"].cat.categories.tolist()
    unmet = table.n_benchmark - len(instances)
    instances += [f"{number} of {unmet} that the table does not have" for number in range(1, unmet + 1)]
    scores = np.full((len(instances), table.n_arms, table.n_objectives), np.nan)
    scores[rows["instance"].cat.codes, rows["config"].cat.codes] = rows[list(table.objectives)]
    paid = np.full(scores.shape[:2], np.nan)
    paid[rows["instance"].cat.codes, rows["config"].cat.codes] = rows["cost"]
    unit = _number_units(table, len(instances))
    members = np.split(np.argsort(unit, kind="stable"), np.cumsum(np.bincount(unit))[:-1])
    missing = np.isnan(scores[:, :, 0])
    complete = np.array([~missing[each].any(axis=0) for each in members])
    # with nothing to go by, all units stand in random order
    units = arrange(complete if at_random else np.zeros(complete.shape), seed)
    order = np.concatenate([members[each] for each in units])
    missing = missing[order]
    race = ParetoRace(
        costs,
        table.n_objectives,
        len(order),
        tolerance=np.minimum(np.asarray(tolerance, dtype=float), 1.0),
        error=error,
        certified=certified,
        front=front,
        cost_tolerance=cost_tolerance,
        cluster=None if table.clusters is None else unit[order],
    )
    race.know(scores[order], paid[order])

    def count_first(n_units: int) -> Ints:
        """Count the evaluations that so many units, the first ones, lack of each configuration."""
        lacking: Ints = missing[: sum(len(members[each]) for each in units[:n_units])].sum(axis=0)
        return lacking

    looks = [(part, float(part @ costs), int(who.sum())) for part, who in race.foresee()]
    settled, (whole, price, _) = looks[0][2], looks[-1]
    limit = inf if budget is None else _budget.add_slack(budget)
    compared = race.depth >= min(FIRST_LOOK, len(units))
    if not at_random:
        settled = would_be_settled = 0
        is_open: Bools = np.any(~complete[units], axis=1)
        whole, part = missing.sum(axis=0), count_first(_reach(is_open))
        price, step = float(whole @ costs), float(part @ costs)
        compared, worth = False, step <= limit
    elif compared:
        step = next((cost for _, cost, n in looks if n > settled), 0.0)
        *_, (part, _, would_be_settled) = (each for each in looks if each[1] <= limit)
        worth = would_be_settled > settled
    else:
        part, would_be_settled = count_first(FIRST_LOOK), settled
        step = float(part @ costs)
        worth = step <= limit
    places, arms = np.nonzero(missing & (missing.cumsum(axis=0) <= part))
    pairs = [(table.configs[arm], instances[order[place]]) for place, arm in zip(places, arms, strict=True)]
    named = pd.DataFrame(pairs if worth else [], columns=["configuration", "instance"], dtype=str)
    evaluations = int(whole.sum())
    return NextEvaluations(settled, would_be_settled, compared, evaluations, price, step, named)


def _number_units(table: EvaluationTable, n_instances: int) -> Ints:
    """Number the clusters of a benchmark, or its instances; those not met stand for themselves."""
    clusters = table.clusters
    if clusters is None:
        return np.arange(n_instances)
    _, unit = np.unique(clusters, return_inverse=True)
    return np.concatenate([unit, unit.max() + 1 + np.arange(n_instances - len(unit))])


def _reach(is_open: Bools) -> int:
    """How many units to go through, so that as many of them are open as a first comparison takes."""
    needed = min(FIRST_LOOK, int(is_open.sum()))
    return int(np.searchsorted(np.cumsum(is_open), needed)) + 1
