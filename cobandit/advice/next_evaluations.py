"""What to evaluate next: what a race would, that knows what was seen, and whether it is worth its money."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit.advice.paired import Evaluations
from cobandit.policies.pareto_race import FIRST_LOOK, ParetoRace, arrange

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
    price : float
        What these cost, in the table's unit.
    pairs : DataFrame
        ``configuration``, ``instance``: the evaluations to make, in order; those of a budget, if there is
        one, and none if the budget can be expected to settle nothing more.
    """

    settled: int
    would_be_settled: int
    compared: bool
    evaluations: int
    price: float
    pairs: pd.DataFrame


def plan_next(
    table: EvaluationTable,
    budget: float | None = None,
    tolerance: ArrayLike = 0.0,
    error: float = 0.05,
    seed: int = 0,
    n_instances: int | None = None,
) -> NextEvaluations:
    """Plan the evaluations that are missing, as `cobandit.ParetoRace` would go on.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.  Whether an evaluation is there must not depend on what it gave.
    budget : float, optional
        What they may cost, in the table's unit.
    tolerance : float or array_like, shape (D,)
        What is not worth telling apart, in the unit of each objective.
    error : float
        In (0, 1).
    seed : int
        Of the order of the instances: those that most configurations have first, equal ones at random.
    n_instances : int, optional
        Of the benchmark, by default those that the table says it has; those beyond the table have no names.

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
    instances = table.rows["instance"].cat.categories.tolist()
    unmet = (n_instances or table.n_benchmark) - len(instances)
    instances += [f"{number} of {unmet} that the table does not have" for number in range(1, unmet + 1)]
    values, present = Evaluations(table).block(np.arange(table.n_arms))
    values = np.pad(values, [(0, 0), (0, 0), (0, unmet)])
    present = np.pad(present, [(0, 0), (0, unmet)])
    order = arrange(present.T, seed)
    rewards = np.where(present.T[order][:, :, None], values[:-1].transpose(2, 1, 0)[order], np.nan)
    costs = table.summary()["cost"].to_numpy()
    race = ParetoRace(costs, table.n_objectives, len(order), tolerance=tolerance, error=error)
    race.know(rewards)
    whole, limit = race.forecast(), inf if budget is None else budget
    settled, compared = int(race.settled.sum()), race.depth >= min(FIRST_LOOK, len(order))
    if compared:
        part, would_be_settled = race.forecast(limit), int(race.forecast_settled(limit).sum())
        worth = would_be_settled > settled
    else:
        part, would_be_settled = (~present[:, order[:FIRST_LOOK]]).sum(axis=1), settled
        worth = float(part @ costs) <= limit
    chosen = sorted(
        (place, arm)
        for arm in np.flatnonzero(part).tolist()
        for place in np.flatnonzero(~present[arm, order])[: part[arm]].tolist()
    )
    pairs = [(table.configs[arm], instances[order[place]]) for place, arm in chosen] if worth else []
    return NextEvaluations(
        settled,
        would_be_settled,
        compared,
        int(whole.sum()),
        float(whole @ costs),
        pd.DataFrame(pairs, columns=["configuration", "instance"], dtype=str),
    )
