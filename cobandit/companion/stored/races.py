"""How often a race is off and what it costs: on every table, and on made-up ones that it was not tuned on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.policies import CoPSIOnce, ParetoRace, UniformOnce
from cobandit.replay.grid import pack_shared
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from cobandit.tables import load

TOLERANCES = (0.0, 0.02, 0.05)
ORDERS, NEIGHBOURS_ORDERS = 1_000, 200
SEED = 0


def answers(rng: np.random.Generator, n_instances: int, ability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Right or wrong, of abilities (K,) on instances that are as hard for all: (K, N)."""
    chance = 1 / (1 + np.exp(rng.normal(size=n_instances) - ability[:, None]))
    return (rng.random(chance.shape) < chance).astype(float)


def speeds(rng: np.random.Generator, n_instances: int, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores that vary around means (K,) and from instance to instance: (K, N)."""
    noise = rng.normal(0, 0.1, (len(means), n_instances)) + rng.normal(0, 0.05, n_instances)
    return np.clip(means[:, None] + noise, 0, 1)


def short_list(n_instances: int) -> Callable[[np.random.Generator], Any]:
    """Three sizes and two prompts, all on the front: the larger, the better and the slower."""

    def drawn(rng: np.random.Generator) -> Any:
        size, prompt = np.repeat(np.arange(3), 2), np.tile([0, 1], 3)
        right = answers(rng, n_instances, -0.6 + 0.7 * size + 0.25 * prompt)
        fast = speeds(rng, n_instances, 0.8 - 0.2 * size - 0.07 * prompt)
        return np.stack([right, fast], axis=2), 4.0**size * (1 + 0.3 * prompt)

    return drawn


def two_agents(rng: np.random.Generator) -> Any:
    """Two, with one objective, three hundredths apart or so."""
    return answers(rng, 616, np.array([0.0, 0.15]))[:, :, None], np.array([1.0, 2.0])


def tied(rng: np.random.Generator) -> Any:
    """Scores in tenths; of eight rows one is the copy of another, and two are permutations of others."""
    scores = rng.integers(0, 11, (8, 200, 2)) / 10
    scores[1] = scores[0]
    for copy, of in ((3, 2), (5, 4)):
        scores[copy] = scores[of][rng.permutation(200)]
    return scores, np.linspace(1, 3, 8)


def jokers(rng: np.random.Generator) -> Any:
    """Two that are nearly perfect among thirty whose costs are up to a hundredfold apart."""
    right, fast = answers(rng, 250, rng.normal(-0.5, 0.8, 30)), speeds(rng, 250, rng.uniform(0.2, 0.8, 30))
    for joker in (3, 11):
        right[joker], fast[joker] = rng.random(250) < 0.985, speeds(rng, 250, np.array([0.93]))[0]
    return np.stack([right, fast], axis=2), np.exp(rng.uniform(0, np.log(100), 30))


def rarely_apart(rng: np.random.Generator) -> Any:
    """Five that are right but on a few instances of their own, none to three in twenty."""
    wrong = rng.random((5, 150)) < 0.15 * np.arange(5)[:, None] / 4
    return 1.0 - wrong[:, :, None], np.linspace(2, 1, 5)


def scattered(n_arms: int, n_instances: int, n_objectives: int) -> Callable[[np.random.Generator], Any]:
    """Means all over, the first objective right or wrong, the others continuous."""

    def drawn(rng: np.random.Generator) -> Any:
        means = rng.uniform(0.2, 0.8, (n_objectives, n_arms))
        right = rng.random((n_arms, n_instances)) < means[0][:, None]
        rest = [speeds(rng, n_instances, mean) for mean in means[1:]]
        return np.stack([right, *rest], axis=2), np.exp(rng.uniform(0, 3, n_arms))

    return drawn


#: Made-up tables by name; each is drawn anew for the seed, and none is one that the threshold was chosen on.
MADE_UP: dict[str, Callable[[np.random.Generator], Any]] = {
    "short list, N = 100": short_list(100),
    "short list, N = 300": short_list(300),
    "two agents": two_agents,
    "ties in tenths": tied,
    "near-perfect jokers": jokers,
    "rarely apart": rarely_apart,
    "K = 20, D = 1": scattered(20, 300, 1),
    "K = 20, D = 3": scattered(20, 300, 3),
    "K = 8, N = 30": scattered(8, 30, 2),
    "K = 12, N = 2,000": scattered(12, 2000, 2),
}


def read_rows(name: str) -> tuple[FeedbackRows, NDArray[np.float64]]:
    """Feedback rows of a table of the catalogue, or of a made-up one, and its costs."""
    if name not in MADE_UP:
        source = pack_shared(load(name))
        return source.feedback, np.array(source.costs)
    rewards, costs = MADE_UP[name](np.random.default_rng([SEED, 31, list(MADE_UP).index(name)]))
    n_arms, n_instances, n_objectives = rewards.shape
    cost = np.repeat(costs, n_instances)[:, None]
    rows = np.hstack([cost, cost / costs.max(), rewards.reshape(-1, n_objectives)])
    return FeedbackRows(rows, n_instances * np.arange(n_arms + 1), once=True), costs


def race(name: str, tolerance: float) -> pd.DataFrame:
    """Race a table a thousand times, and run its neighbours at what the races spent on average.

    Parameters
    ----------
    name : str
        Of the catalogue, or a key of `MADE_UP`.
    tolerance : float

    Returns
    -------
    DataFrame
        One row per method: ``share`` of the cost of everything that it spent, ``off``, how many of the
        ``runs`` were off by more than the tolerance, and the ``largest`` that any was off.
    """
    feedback, costs = read_rows(name)
    n_arms, n_instances = len(costs), int(feedback.offsets[1])
    rewards = feedback.rows[:, 2:].reshape(n_arms, n_instances, -1)
    means, everything = rewards.mean(axis=1), n_instances * float(costs.sum())
    given: dict[str, Any] = {"costs": costs, "n_objectives": rewards.shape[2], "n_instances": n_instances}
    found: list[dict[str, Any]] = []
    options: dict[str, Any] = {"tolerance": tolerance}
    neighbours = [(policy, NEIGHBOURS_ORDERS) for policy in (CoPSIOnce, UniformOnce)]
    for policy, orders in [(ParetoRace, ORDERS), *neighbours]:
        run = run_kernel(policy(**given, **options), feedback, SEED, np.arange(orders), realised=False)
        spent, returned = run[1:3]
        by = np.maximum(metrics.cover(returned, means), metrics.excess(returned, means))
        found.append(
            {
                "dataset": name,
                "tolerance": tolerance,
                "method": policy.__name__,
                "runs": orders,
                "share": spent.mean() / everything,
                "off": int((by > tolerance + 1e-9).sum()),
                "largest": by.max(),
            }
        )
        if policy is ParetoRace:
            options = {"budget": max(float(spent.mean()), float(costs.sum()))}
    return pd.DataFrame(found)
