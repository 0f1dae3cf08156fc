"""Repeated samples of tables with known answers, to count wrong decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.advice.questions import find_questions
from cobandit.stats.pairwise import Paired
from cobandit.stats.simultaneous import Levels, find_levels
from cobandit.tables import EvaluationTable


def sample(table, n_instances, rng):
    """Draw instances with replacement from a complete table."""
    rows = table.rows
    of = rows["instance"].cat.codes.to_numpy().reshape(table.n_arms, -1)
    drawn = rng.integers(of.shape[1], size=n_instances)
    drawn_rows = rows.iloc[
        (np.arange(table.n_arms)[:, None] * of.shape[1] + drawn).ravel()
    ]
    names = [f"{number:06d}" for number in range(n_instances)]
    return again(
        drawn_rows.assign(instance=np.tile(names, table.n_arms)), table, n_instances
    )


def thinned(table, share, rng):
    """Draw a random share of each configuration's evaluations, but at least four."""
    rows = table.rows
    parts = []
    for _, group in rows.groupby("config", observed=True):
        parts.append(group.sample(max(4, round(share * len(group))), random_state=rng))
    return again(pd.concat(parts), table, rows["instance"].nunique())


def again(rows, table, n_instances):
    """Return a table of rows with the objectives and the cost unit of another table."""
    split = {"profiling": max(2, n_instances // 2), "seed": 0}
    how = {
        "unit": table.card.cost.unit,
        "objectives": list(table.objectives),
        "name": table.name,
    }
    return EvaluationTable.from_frame(
        rows.drop(columns="split"), cost="cost", **how, **split
    )


def bonferroni(compared, alpha):
    """Return Bonferroni's levels, for comparison with the step-down procedure."""
    n_arms = len(compared.costs)
    return Levels(
        alpha / (n_arms * (n_arms - 1)), alpha / (n_arms * compared.n_compared)
    )


def coverage(
    table, n_instances=None, share=None, samples=40, level=0.95, seed=0, strict=False
):
    """Sample a table repeatedly, and compare decisions with the whole table.

    Return one row per sample: the number of memberships of the front that are
    ``settled`` by the step-down procedure and by ``bonferroni``, and whether one that
    the step-down procedure settles is ``wrong``.
    """
    rng, true = np.random.default_rng(seed), Paired(table, strict=strict)
    matches = []
    for number in range(samples):
        drawn = (
            sample(table, n_instances, rng)
            if n_instances
            else thinned(table, share, rng)
        )
        compared = Paired(drawn, finite=n_instances is None, strict=strict)
        levels = find_levels(compared, 1 - level, seed + number)
        before = find_questions(compared, bonferroni(compared, 1 - level))
        sure = ~np.isin(
            np.arange(table.n_arms), find_questions(compared, levels)["arm"]
        )
        matches.append(
            {
                "settled": int(sure.sum()),
                "bonferroni": table.n_arms - len(before),
                "wrong": bool((compared.on_front != true.on_front)[sure].any()),
            }
        )
    return pd.DataFrame(matches)
