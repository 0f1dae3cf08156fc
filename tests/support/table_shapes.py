"""Random evaluation tables of many shapes, such as few arms, equal costs or ties."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import cobandit as cb
from tests.support.shapes import draw_scores

#: Cost that replaces a cost of zero, as in an import.
SMALLEST_COST = 1e-6

LONG = (
    "a configuration of eighty letters whose name goes on with all of its settings no"
)


def build(
    name,
    means,
    n,
    *,
    costs=None,
    names=None,
    holes=0.0,
    spread=True,
    unit="USD",
    smallest_cost=None,
    seed=0,
):
    """Draw a table of binary scores with means (K, D), and costs that vary by a half.

    ``holes`` is the share of missing evaluations. The first ten instances are complete.
    """
    rng = np.random.default_rng(seed)
    scores = draw_scores(rng, means, n)
    n_arms, _, n_objectives = scores.shape
    costs = np.ones(n_arms) if costs is None else np.asarray(costs, dtype=float)

    missing = rng.random((n_arms, n)) < holes
    missing[:, :10] = False
    scores[missing] = np.nan

    charged = costs[:, None] * (
        rng.uniform(0.5, 1.5, (n_arms, n)) if spread else np.ones((n_arms, n))
    )
    return cb.EvaluationTable.from_arrays(
        scores,
        charged,
        configs=names or [f"config-{arm:03d}" for arm in range(n_arms)],
        instances=[f"q{number:04d}" for number in range(n)],
        objectives=[f"score {d + 1}" if d else "accuracy" for d in range(n_objectives)],
        unit=unit,
        smallest_cost=smallest_cost,
        name=name,
    )


def draw_means(n_arms, n_objectives, seed=0):
    """Draw means (K, D) between 0.05 and 0.95."""
    return np.random.default_rng([seed, n_arms, n_objectives]).uniform(
        0.05, 0.95, (n_arms, n_objectives)
    )


def draw_costs(n_arms, ratio, seed=0):
    """Return costs (K,) with evenly spaced logarithms, in random order.

    ``ratio`` is the largest cost over the smallest.
    """
    costs = np.geomspace(1e-4, 1e-4 * ratio, n_arms)
    return np.random.default_rng([seed, n_arms]).permutation(costs)


def nothing_shared(n=120):
    """Return a table in which no instance was evaluated by all configurations."""
    means = draw_means(12, 2)
    scores = draw_scores(np.random.default_rng(5), means, n)
    for instance in range(n):
        scores[instance % len(scores), instance] = np.nan
    costs = draw_costs(12, 10)[:, None] * np.ones((1, n))
    return cb.EvaluationTable.from_arrays(
        scores,
        costs,
        objectives=["accuracy", "brevity"],
        unit="USD",
        name="nothing-shared",
    )


def all_on_the_front(n=200):
    """Return a table whose eight configurations are all on the front."""
    rise = np.linspace(0.1, 0.9, 8)
    return build(
        "all-front", np.stack([rise, 1 - rise], axis=1), n, costs=draw_costs(8, 20)
    )


def one_on_the_front(n=200):
    """Return a table with one configuration that is best and cheapest."""
    means = np.vstack([[1.0, 1.0], 0.8 * draw_means(9, 2)])
    return build("one-front", means, n, costs=[1e-4, *draw_costs(9, 50) * 2])


def exact_ties(n=120):
    """Return a table of three pairs of configurations with equal scores and costs."""
    scores = np.repeat(
        draw_scores(np.random.default_rng(7), [[0.8, 0.4], [0.5, 0.7], [0.3, 0.3]], n),
        2,
        axis=0,
    )
    return cb.EvaluationTable.from_arrays(
        scores,
        np.repeat([3.0, 1.0, 2.0], 2),
        configs=[f"twin {letter}{number}" for letter in "abc" for number in (1, 2)],
        objectives=["accuracy", "brevity"],
        unit="tokens",
        name="ties",
    )


#: Functions that return a table, by name of its shape. The last two tables are large.
SHAPES: dict[str, Callable[[], cb.EvaluationTable]] = {
    "two": lambda: build("two", [[0.45], [0.6]], 40, costs=[0.001, 0.01]),
    "dollars": lambda: build(
        "dollars", draw_means(10, 1), 800, costs=draw_costs(10, 60)
    ),
    "four-objectives": lambda: build(
        "four-objectives", draw_means(12, 4), 100, costs=draw_costs(12, 10)
    ),
    "holes": lambda: build(
        "holes", draw_means(12, 2), 300, costs=draw_costs(12, 30), holes=0.4
    ),
    "nothing-shared": nothing_shared,
    "free": lambda: build(
        "free",
        draw_means(6, 2),
        60,
        costs=[0, 0, 0.01, 0.02, 0.1, 0.5],
        smallest_cost=SMALLEST_COST,
    ),
    "all-front": all_on_the_front,
    "one-front": one_on_the_front,
    "ties": exact_ties,
    "zeros": lambda: build(
        "zeros", [[0.0], [0.0], [0.3], [1.0]], 50, costs=[1, 2, 3, 4], unit="s"
    ),
    "equal-costs": lambda: build(
        "equal-costs", draw_means(12, 2), 40, spread=False, unit="evaluations"
    ),
    "millionfold": lambda: build(
        "millionfold", draw_means(12, 2), 200, costs=draw_costs(12, 1e6)
    ),
    "long-names": lambda: build(
        "a-table-with-a-name-of-some-length-such-as-files-have",
        draw_means(5, 2),
        50,
        costs=draw_costs(5, 8),
        names=[f"{LONG} {arm}" for arm in range(5)],
    ),
    "other-scripts": lambda: build(
        "other-scripts",
        draw_means(5, 2),
        60,
        costs=draw_costs(5, 8),
        names=[
            "модель-большая",
            "模型 大",
            "نموذج كبير",
            "μοντέλο $x_1$ <b>",
            "नमूना | *a*",
        ],
    ),
    "wide": lambda: build("wide", draw_means(86, 2), 2000, costs=draw_costs(86, 300)),
    "widest": lambda: build(
        "widest", draw_means(150, 3), 120, costs=draw_costs(150, 1000), holes=0.1
    ),
}


def save_shape(shape: str, folder: Path) -> Path:
    """Write a table of one of the shapes and its card, and return the path."""
    path = Path(folder) / f"{shape}.parquet"
    cb.save(SHAPES[shape](), path)
    return path
