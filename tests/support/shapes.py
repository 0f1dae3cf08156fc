"""Random evaluation tables that resemble typical benchmarks, such as leaderboards."""

from __future__ import annotations

import numpy as np

import cobandit as cb


def make_table(
    scores, costs, names, objectives=("accuracy",), keep=None, name="made-up"
):
    """Return a table of scores (K, N, D), with random costs around mean costs (K,).

    Costs vary by a half. ``keep`` is the mask of the evaluated pairs.
    """
    n_arms, n, _ = scores.shape
    rng = np.random.default_rng(1)
    keep = np.ones((n_arms, n), dtype=bool) if keep is None else keep
    return cb.EvaluationTable.from_arrays(
        np.where(keep[..., None], scores, np.nan),
        np.asarray(costs)[:, None] * rng.uniform(0.5, 1.5, (n_arms, n)),
        configs=names,
        instances=[f"q{s:04d}" for s in range(n)],
        objectives=objectives,
        unit="USD",
        name=name,
    )


def draw_scores(rng, means, n):
    """Draw binary scores (K, N, D) with given means.

    Half of the scores depend on a difficulty of the instance that arms share.
    """
    means = np.asarray(means, dtype=float)
    hard = rng.random((n, means.shape[1]))
    own_draws = rng.random((len(means), n, means.shape[1]))
    shared_draws = np.where(rng.random(own_draws.shape) < 0.5, hard, own_draws)
    return (shared_draws < means[:, None, :]).astype(float)


def make_leaderboard(n=805, seed=0, seen=1.0):
    """Return a table of 58 models with means of 2 to 71 %.

    Costs differ by up to a factor of a thousand.
    """
    rng = np.random.default_rng(seed)
    means = np.linspace(0.02, 0.71, 58)
    costs = 10 ** (-4 + 3 * np.clip(means / 0.71 + rng.normal(0, 0.25, 58), 0, 1))
    keep = rng.random((58, n)) < seen
    keep[:, :8] = True
    return make_table(
        draw_scores(rng, means[:, None], n),
        costs,
        [f"model-{m:02d}" for m in range(58)],
        keep=keep,
    )


def make_two_models(n=200):
    """Return a table of a small and a large model.

    The large model is right more often, and costs ten times as much.
    """
    rng = np.random.default_rng(2)
    scores = draw_scores(rng, [[0.35, 0.8], [0.92, 0.4]], n)
    return make_table(scores, [0.001, 0.01], ["small", "large"], ("accuracy", "speed"))


def make_short_list(n=100):
    """Return a table of models of three sizes with two prompts.

    Each configuration is better than all cheaper configurations.
    """
    rng = np.random.default_rng(3)
    means = [[0.4], [0.48], [0.56], [0.64], [0.72], [0.8]]
    names = [
        f"{size}, {prompt}"
        for size in ("small", "medium", "large")
        for prompt in ("direct", "reasoning")
    ]
    return make_table(draw_scores(rng, means, n), [1, 2, 3, 6, 9, 20], names)


def make_jokers(n=150):
    """Return a table with two configurations that are always right.

    One of the two costs five times as much as the other.
    """
    rng = np.random.default_rng(4)
    scores = draw_scores(rng, [[0.5], [0.6], [0.7], [0.8], [0.75], [0.65]], n)
    scores = np.concatenate([np.ones((2, n, 1)), scores])
    return make_table(
        scores, [1, 5, 0.5, 0.8, 1.5, 2, 3, 1.2], ["joker", "costly joker", *"abcdef"]
    )


def make_agents(n=616, seen=0.5):
    """Return a table of two agents, each of which is evaluated on half of the tasks.

    Their means differ by three percentage points.
    """
    rng = np.random.default_rng(5)
    keep = rng.random((2, n)) < seen
    keep[:, :10] = True
    return make_table(
        draw_scores(rng, [[0.45], [0.48]], n),
        [0.3, 0.5],
        ["agent-a", "agent-b"],
        keep=keep,
    )
