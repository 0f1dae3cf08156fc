"""Evaluation tables made up at random: known means, shared instances, holes, heavy tails."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.tables import Card, EvaluationTable


def drawn(rng, means, costs, n_instances, holes=0.0, shared=0.5):
    """Table of true or false scores with these true means; what is met is shared by half between arms."""
    means, costs = np.asarray(means), np.asarray(costs)
    n_arms, n_objectives = means.shape
    difficulty = rng.random((n_objectives, n_instances))
    names = [f"objective{d}" for d in range(n_objectives)]
    parts = []
    for arm in range(n_arms):
        own = rng.random((n_objectives, n_instances))
        met = np.where(rng.random((n_objectives, n_instances)) < shared, difficulty, own)
        scores = (met < means[arm][:, None]).astype(float)
        charged = costs[arm] * rng.uniform(0.5, 1.5, n_instances)
        there = np.flatnonzero((rng.random(n_instances) >= holes) | (np.arange(n_instances) < 8))
        named = {"config": f"arm{arm:03d}", "instance": [f"q{s:05d}" for s in there], "cost": charged[there]}
        parts.append(pd.DataFrame(named | dict(zip(names, scores[:, there], strict=True))))
    card = Card.model_validate(
        {
            "name": "drawn",
            "title": "Drawn",
            "source": "tests",
            "license": "CC0-1.0",
            "kind": "synthetic",
            "records": "none.parquet",
            "cost": {"column": "cost", "unit": "USD"},
            "objectives": [{"name": name, "column": name} for name in names],
            "split": {"profiling": n_instances // 2, "seed": 0},
        }
    )
    return EvaluationTable.from_records(pd.concat(parts, ignore_index=True), card)


MEANS = [[0.8, 0.3], [0.6, 0.6], [0.55, 0.55], [0.3, 0.8], [0.3, 0.5], [0.2, 0.2]]
COSTS = [1.0, 2.0, 1.0, 3.0, 1.0, 4.0]

#: Arms one step from the front, where a rule that takes the best of several comparisons at their face
#: value errs most: each of six does not quite dominate arm 0, and arm 7 is one of two alike.
NEAR_TIES = [[0.5, 0.5], *([0.52, 0.49], [0.49, 0.52]) * 3, [0.3, 0.3], [0.3, 0.3]]


def with_holes(n_instances, holes, seed):
    """A table of which pairs were taken away; ten instances stay whole."""
    rng = np.random.default_rng(seed)
    whole = drawn(rng, MEANS, COSTS, n_instances)
    rows = whole.rows.drop(columns="split")
    kept = (rng.random(len(rows)) >= holes) | rows["instance"].isin([f"q{s:05d}" for s in range(10)])
    return EvaluationTable.from_records(rows[kept], whole.card)


def table_of(scores, costs, profiling=12, seed=0, kind="synthetic"):
    """Table of K configurations and I instances from arrays (K, I)."""
    n_arms, n = scores.shape
    frame = pd.DataFrame(
        {
            "config": np.repeat([f"arm{k}" for k in range(n_arms)], n),
            "instance": np.tile([f"q{s:04d}" for s in range(n)], n_arms),
            "usd": costs.ravel(),
            "ok": scores.ravel(),
        }
    )
    card = Card.model_validate(
        {
            "name": "mine",
            "title": "Mine, a reconstruction" if kind == "reconstruction" else "Mine",
            "source": "tests",
            "license": "CC0-1.0",
            "kind": kind,
            "records": "mine.csv",
            "cost": {"column": "usd", "unit": "USD"},
            "objectives": [{"name": "accuracy", "column": "ok"}],
            "split": {"profiling": profiling, "seed": seed},
        }
    )
    return EvaluationTable.from_records(frame, card)


def heavy(rng, n=60, n_arms=4, **card):
    """Scores of about a half, costs with a tail like Pareto's of exponent 1.25."""
    scores = (rng.random((n_arms, n)) < 0.5).astype(float)
    return table_of(scores, rng.pareto(1.25, (n_arms, n)) + 1, **card)
