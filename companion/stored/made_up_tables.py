"""Simulated tables for tests of `ParetoRace`.

They were not used to choose its threshold.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.replay.grid import pack_shared
from cobandit.replay.kernels import FeedbackRows
from cobandit.tables import load
from companion.proofs.known_arms import share_instances

Floats = NDArray[np.float64]
SEED = 0


def answers(rng: np.random.Generator, n_instances: int, abilities: Floats) -> Floats:
    """Draw binary scores (K, N), in which a hard instance is hard for all arms."""
    chance = 1 / (1 + np.exp(rng.normal(size=n_instances) - abilities[:, None]))
    return (rng.random(chance.shape) < chance).astype(float)


def speeds(rng: np.random.Generator, n_instances: int, means: Floats) -> Floats:
    """Draw scores (K, N) around given means, with noise that arms partly share."""
    noise = rng.normal(0, 0.1, (len(means), n_instances)) + rng.normal(
        0, 0.05, n_instances
    )
    return np.clip(means[:, None] + noise, 0, 1)


def short_list(rng: np.random.Generator, n_instances: int) -> Any:
    """Draw a table of models of three sizes with two prompts.

    Larger models are better and slower.
    """
    size = np.repeat(np.arange(3), 2)
    prompt = np.tile([0, 1], 3)
    right = answers(rng, n_instances, -0.6 + 0.7 * size + 0.25 * prompt)
    fast = speeds(rng, n_instances, 0.8 - 0.2 * size - 0.07 * prompt)
    return np.stack([right, fast], axis=2), 4.0**size * (1 + 0.3 * prompt)


def two_agents(rng: np.random.Generator) -> Any:
    """Draw a table of two arms with one objective, whose means differ by about .03."""
    return answers(rng, 616, np.array([0.0, 0.15]))[:, :, None], np.array([1.0, 2.0])


def tied(rng: np.random.Generator) -> Any:
    """Draw a table of eight arms with several ties, whose scores are multiples of .1.

    One arm is a copy of another arm. Each of two further arms has the scores of another
    arm, in a random order of the instances.
    """
    scores = rng.integers(0, 11, (8, 200, 2)) / 10
    scores[1] = scores[0]
    for copy, original in ((3, 2), (5, 4)):
        scores[copy] = scores[original][rng.permutation(200)]
    return scores, np.linspace(1, 3, 8)


def jokers(rng: np.random.Generator) -> Any:
    """Draw a table of thirty arms with very different costs; two are nearly perfect."""
    right = answers(rng, 250, rng.normal(-0.5, 0.8, 30))
    fast = speeds(rng, 250, rng.uniform(0.2, 0.8, 30))
    for joker in (3, 11):
        right[joker] = rng.random(250) < 0.985
        fast[joker] = speeds(rng, 250, np.array([0.93]))[0]
    return np.stack([right, fast], axis=2), np.exp(rng.uniform(0, np.log(100), 30))


def rarely_apart(rng: np.random.Generator) -> Any:
    """Draw a table of five arms that are wrong on 0 % to 15 % of the instances."""
    is_wrong = rng.random((5, 150)) < 0.15 * np.arange(5)[:, None] / 4
    return 1.0 - is_wrong[:, :, None], np.linspace(2, 1, 5)


def scattered(
    rng: np.random.Generator, n_arms: int, n_instances: int, n_objectives: int
) -> Any:
    """Draw a table with means from .2 to .8, in which the first objective is binary."""
    means = rng.uniform(0.2, 0.8, (n_objectives, n_arms))
    right = rng.random((n_arms, n_instances)) < means[0][:, None]
    scores = [speeds(rng, n_instances, mean) for mean in means[1:]]
    return np.stack([right, *scores], axis=2), np.exp(rng.uniform(0, 3, n_arms))


#: Simulated tables by name: the function that draws the table, and sizes to pass to the
#: function. None of the tables was used to choose the threshold of the race.
MADE_UP: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "short list, N = 100": (short_list, (100,)),
    "short list, N = 300": (short_list, (300,)),
    "two agents": (two_agents, ()),
    "ties in tenths": (tied, ()),
    "near-perfect jokers": (jokers, ()),
    "rarely apart": (rarely_apart, ()),
    "K = 20, D = 1": (scattered, (20, 300, 1)),
    "K = 20, D = 3": (scattered, (20, 300, 3)),
    "K = 8, N = 30": (scattered, (8, 30, 2)),
    "K = 12, N = 2,000": (scattered, (12, 2000, 2)),
}


def read_rows(name: str) -> tuple[FeedbackRows, Floats]:
    """Return the feedback rows and the mean costs of a table.

    The name is a key of `MADE_UP`, or a name in the catalogue.
    """
    if name not in MADE_UP:
        source = pack_shared(load(name))
        return source.feedback, np.array(source.costs)
    draw, sizes = MADE_UP[name]
    rewards, costs = draw(
        np.random.default_rng([SEED, 31, list(MADE_UP).index(name)]), *sizes
    )
    return share_instances(rewards, costs[:, None]), costs
