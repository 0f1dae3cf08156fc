"""Evaluation tables made up for a test."""

import itertools

import numpy as np
import pandas as pd

from cobandit.tables import Card, EvaluationTable
from cobandit.tables.keys import profiling_mask


def table_of(arms, *, costs_seen=None, kind="synthetic", name="made-up"):
    """Table whose arm i has the evaluation rows ``arms[i]``: (cost, reward_1, ..., reward_D) each.

    ``costs_seen`` are the costs of its profiling rows, two or more an arm; by default those of its first
    and last evaluation row.
    """
    if costs_seen is None:
        costs_seen = [[rows[0][0], rows[-1][0]] for rows in arms]
    n_profiling = max(map(len, costs_seen))
    n_instances = n_profiling + max(map(len, arms))
    profiling = profiling_mask(n_instances, n_profiling, seed=0)
    ids = np.array([f"q{q:05d}" for q in range(n_instances)])
    card = Card.model_validate(
        {
            "name": name,
            "title": f"Made up ({kind})",
            "source": "tests",
            "license": "CC0-1.0",
            "kind": kind,
            "records": "none.parquet",
            "cost": {"column": "cost", "unit": "units"},
            "objectives": [
                {"name": f"objective{d}", "column": f"objective{d}"} for d in range(len(arms[0][0]) - 1)
            ],
            "split": {"profiling": n_profiling, "seed": 0},
        }
    )
    records = []
    for i, (rows, seen) in enumerate(zip(arms, costs_seen, strict=True)):
        blank = [0.5] * (len(rows[0]) - 1)
        profiled = zip(ids[profiling], ([cost, *blank] for cost in seen), strict=False)
        evaluated = zip(ids[~profiling], rows, strict=False)
        records += [[f"arm{i:03d}", q, *row] for q, row in itertools.chain(profiled, evaluated)]
    columns = ["config", "instance", "cost", *(objective.column for objective in card.objectives)]
    return EvaluationTable.from_frame(pd.DataFrame(records, columns=columns), card, source="a test")


def ragged_table(rng, n_arms, n_objectives, sizes=(2, 12), noise=0.5):
    """Random table: each arm has its own number of instances, mean cost and mean rewards (to one decimal)."""
    arms, seen = [], []
    for _ in range(n_arms):
        base, mean = rng.uniform(0.1, 1.0), rng.uniform(size=n_objectives)
        n = int(rng.integers(*sizes, endpoint=True))
        costs = base * rng.uniform(1 - noise, 1 + noise, n)
        rewards = np.clip(np.round(mean + rng.normal(0, 0.3, (n, n_objectives)), 1), 0, 1)
        arms.append(np.column_stack([costs, rewards]).tolist())
        seen.append((base * rng.uniform(1 - noise, 1 + noise, int(rng.integers(2, 5)))).tolist())
    return table_of(arms, costs_seen=seen)
