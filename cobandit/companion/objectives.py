"""What more objectives do: to random problems, and to a table that gets its cost as one more."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from cobandit import _check
from cobandit.companion.known_arms import feedback_source, random_arms
from cobandit.companion.regions import METHODS
from cobandit.errors import CobanditError
from cobandit.replay.grid import GridCell, Source, make_policy
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables import Card, EvaluationTable


def with_cost_objective(table: EvaluationTable, n_objectives: int) -> EvaluationTable:
    """Return the table with its first objectives, one more made of its cost where it has too few.

    Parameters
    ----------
    table : EvaluationTable
    n_objectives : int
        From 1 to one more than the table has; the last is the cost through the inverse percentile transform.

    Returns
    -------
    EvaluationTable
        Same rows, same costs, same split.

    Raises
    ------
    CobanditError
        If there are not so many.

    Examples
    --------
    >>> import cobandit as cb
    >>> with_cost_objective(cb.load("synthetic-24"), 3).objectives
    ('accuracy', 'efficiency', 'frugality')
    """
    names = [*table.objectives, "frugality"]
    if _check.count(n_objectives, "n_objectives", 1) > len(names):
        raise CobanditError(f"n_objectives is {n_objectives}: the table gives at most {len(names)}")
    objectives: list[dict[str, Any]] = [{"name": name, "column": name} for name in names]
    objectives[-1] |= {"transform": "inverse-percentile", "low": 5, "high": 95}
    frame = table.rows.drop(columns="split")
    card = table.card.model_dump(mode="json", exclude_unset=True, exclude={"sha256", "origin", "arms"})
    card |= {
        "cost": {"column": "cost", "unit": table.card.cost.unit},
        "objectives": objectives[:n_objectives],
    }
    return EvaluationTable.from_records(frame.assign(frugality=frame["cost"]), Card.model_validate(card))


def by_objectives(
    problems: int, n_arms: int, most: int, rho: float, replications: int, seed: int
) -> pd.DataFrame:
    r"""What more objectives do to random problems, the first d of the same ``most`` for each d.

    Problems in which a classification gap is zero for some d are passed over.

    Parameters
    ----------
    problems, n_arms, most : int
        Problems, K, and the largest D.
    rho : float
        Budget of every run, in evaluations of each arm.
    replications, seed : int

    Returns
    -------
    DataFrame, one row per problem and D
        ``front`` (size of the Pareto set), ``complexity`` :math:`H_{\mu,c}`, ``error`` and ``f1`` of CoPSI
        with the adaptive constant, ``loss`` of CoHV-UCB with s = 0.1: the share of :math:`\nu_{i^\star} B`.

    Examples
    --------
    >>> found = by_objectives(2, 6, 3, rho=50, replications=5, seed=0)
    >>> found["n_objectives"].tolist(), bool((found["front"].diff().dropna() >= -5).all())
    ([1, 2, 3, 1, 2, 3], True)
    """
    rows = []
    numbers = count()
    for problem in range(problems):
        sources: list[Source] = []
        while not sources or any(np.isinf(source.problem.complexity) for source in sources):
            full = random_arms(next(numbers), n_arms, 10.0, 0.0, n_objectives=most, seed=seed)
            sources = [feedback_source(full._replace(rows=full.rows[:, : d + 1])) for d in range(1, most + 1)]
        for d, source in enumerate(sources, start=1):
            budget = rho * float(source.costs.sum())
            streams = np.arange(replications)
            finder = GridCell(METHODS["identification"]["CoPSI (adaptive L*)"], rho, budget, streams, seed)
            policy = make_policy(source, finder)
            *_, returned = run_kernel(policy, source.feedback, seed, streams, realised=False)
            chooser = finder._replace(spec=METHODS["online"]["CoHV-UCB (s = 0.1)"])
            pulls, _ = run_kernel(make_policy(source, chooser), source.feedback, seed, streams)
            truth = source.problem.pareto_mask
            lost = metrics.standard_regret(source.problem, pulls, budget).mean()
            rows.append(
                {
                    "problem": problem,
                    "n_objectives": d,
                    "front": int(truth.sum()),
                    "complexity": source.problem.complexity,
                    "error": float((returned != truth).any(axis=1).mean()),
                    "f1": float(metrics.f1_score(returned, truth).mean()),
                    "loss": float(lost / (source.problem.efficiency.max() * budget)),
                }
            )
    return pd.DataFrame(rows)
