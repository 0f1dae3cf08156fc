"""Random evaluation tables with known means, missing evaluations or heavy tails."""

from __future__ import annotations

import numpy as np

from cobandit.tables import EvaluationTable


def drawn(rng, means, costs, n_instances, holes=0.0, shared=0.5):
    """Draw a table of binary scores with given means, correlated between arms."""
    means, costs = np.asarray(means), np.asarray(costs)
    n_arms, n_objectives = means.shape
    difficulty = rng.random((n_objectives, n_instances))
    scores, charged = (
        np.empty((n_arms, n_instances, n_objectives)),
        np.empty((n_arms, n_instances)),
    )
    for arm in range(n_arms):
        own_draws = rng.random((n_objectives, n_instances))
        shared_draws = np.where(
            rng.random((n_objectives, n_instances)) < shared, difficulty, own_draws
        )
        scores[arm] = (shared_draws < means[arm][:, None]).T
        charged[arm] = costs[arm] * rng.uniform(0.5, 1.5, n_instances)
        scores[
            arm, (rng.random(n_instances) < holes) & (np.arange(n_instances) >= 8)
        ] = np.nan
    card_fields = {
        "name": "drawn",
        "kind": "synthetic",
        "profiling": n_instances // 2,
        "unit": "USD",
    }
    configs, instances = (
        [f"arm{k:03d}" for k in range(n_arms)],
        [f"q{s:05d}" for s in range(n_instances)],
    )
    return EvaluationTable.from_arrays(
        scores, charged, configs=configs, instances=instances, **card_fields
    )


MEANS = [[0.8, 0.3], [0.6, 0.6], [0.55, 0.55], [0.3, 0.8], [0.3, 0.5], [0.2, 0.2]]
COSTS = [1.0, 2.0, 1.0, 3.0, 1.0, 4.0]

#: Means of arms with near ties: six arms nearly dominate arm 0, and the last two arms
#: are equal. Rules without a correction for multiple comparisons err most on them.
NEAR_TIES = [[0.5, 0.5], *([0.52, 0.49], [0.49, 0.52]) * 3, [0.3, 0.3], [0.3, 0.3]]


def with_holes(n_instances, holes, seed):
    """Draw a table, and remove evaluations at random, except on ten instances."""
    rng = np.random.default_rng(seed)
    full_table = drawn(rng, MEANS, COSTS, n_instances)
    rows = full_table.rows.drop(columns="split")
    is_kept = (rng.random(len(rows)) >= holes) | rows["instance"].isin(
        [f"q{s:05d}" for s in range(10)]
    )
    return EvaluationTable.from_records(rows[is_kept], full_table.card)


def table_of(scores, costs, profiling=12, seed=0, kind="synthetic"):
    """Return a table with one objective from arrays (K, N) of scores and costs."""
    return EvaluationTable.from_arrays(
        scores,
        costs,
        configs=[f"arm{k}" for k in range(len(scores))],
        instances=[f"q{s:04d}" for s in range(scores.shape[1])],
        objectives=["accuracy"],
        unit="USD",
        profiling=profiling,
        seed=seed,
        name="mine",
        title="Mine, a reconstruction" if kind == "reconstruction" else "Mine",
        kind=kind,
    )


def heavy(rng, n=60, n_arms=4, **card):
    """Draw a table of binary scores, and of costs with a Pareto tail (index 1.25)."""
    scores = (rng.random((n_arms, n)) < 0.5).astype(float)
    return table_of(scores, rng.pareto(1.25, (n_arms, n)) + 1, **card)
