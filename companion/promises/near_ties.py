"""Random evaluation tables in which many configurations nearly tie."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Rewards (K, N, D) and costs (K,).
Drawn = tuple[Floats, Floats]
Draw = Callable[[np.random.Generator], Drawn]


def draw_counts(
    rng: np.random.Generator, counts: ArrayLike, n_instances: int
) -> Floats:
    """Draw binary scores (K, N) with a given number of ones per configuration."""
    right = np.arange(n_instances) < np.asarray(counts)[:, None]
    return rng.permuted(right, axis=1).astype(np.float64)


def draw_speeds(rng: np.random.Generator, n_instances: int, means: Floats) -> Floats:
    """Draw scores (K, N) around given means, with noise that arms partly share."""
    noise = rng.normal(0, 0.1, (len(means), n_instances))
    return np.clip(means[:, None] + noise + rng.normal(0, 0.05, n_instances), 0, 1)


def draw_costs(rng: np.random.Generator, n_arms: int, ratio: float) -> Floats:
    """Draw costs between 1 and ``ratio`` whose logarithms are uniform."""
    return np.exp(rng.uniform(0, np.log(ratio), n_arms))


def best_ahead(
    n_arms: int, n_instances: int, ahead: float, accuracy: float = 0.5
) -> Draw:
    """Return a function that draws tables with one best configuration.

    The best configuration is also the most expensive. All others have the same mean,
    and the best mean is larger by ``ahead`` plus 1 / N.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        counts = np.full(n_arms, round(accuracy * n_instances))
        counts[0] += round(ahead * n_instances) + 1
        costs = np.ones(n_arms)
        costs[0] = 2.0
        return draw_counts(rng, counts, n_instances)[:, :, None], costs

    return draw


def ladder(n_arms: int, n_instances: int, step: float, *, slope: float = 0.03) -> Draw:
    """Return a function that draws tables with evenly increasing accuracies.

    Each configuration is more accurate than the previous configuration, by ``step``
    plus 1 / N, and its score for speed is lower by ``slope``.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        counts = round(0.15 * n_instances) + (
            round(step * n_instances) + 1
        ) * np.arange(n_arms)
        speed = 0.95 - slope * np.arange(n_arms)
        rewards = np.stack(
            [
                draw_counts(rng, counts, n_instances),
                np.repeat(speed[:, None], n_instances, axis=1),
            ],
            axis=2,
        )
        return rewards, np.linspace(1, 3, n_arms)

    return draw


def prompts(
    n_arms: int,
    n_instances: int,
    n_objectives: int = 1,
    *,
    accuracy: float = 0.5,
    alike: float = 0.0,
) -> Draw:
    """Return a function that draws tables of prompts with equal expected accuracy.

    The second objective is speed, in which prompts differ. The third objective has the
    same distribution as the accuracy. The larger ``alike`` is, the more the difficulty
    of instances varies.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        logits = np.log(accuracy / (1 - accuracy)) + alike * rng.normal(
            size=n_instances
        )
        chance = 1 / (1 + np.exp(-logits))
        columns: list[NDArray[Any]] = [rng.random((n_arms, n_instances)) < chance]
        if n_objectives > 1:
            speed = rng.permutation(np.linspace(0.2, 0.8, n_arms))
            columns.append(draw_speeds(rng, n_instances, speed))
        if n_objectives > 2:
            columns.append(rng.random((n_arms, n_instances)) < chance)
        return np.stack(columns, axis=2).astype(np.float64), draw_costs(rng, n_arms, 10)

    return draw


def nearly_perfect(n_arms: int, n_instances: int, n_objectives: int = 1) -> Draw:
    """Return a function that draws tables with about 2 % wrong answers.

    Costs differ by up to a factor of a hundred.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        wrong = rng.exponential(0.02, n_arms)
        columns: list[NDArray[Any]] = [
            rng.random((n_arms, n_instances)) >= wrong[:, None]
        ]
        if n_objectives > 1:
            columns.append(draw_speeds(rng, n_instances, rng.uniform(0.2, 0.8, n_arms)))
        return np.stack(columns, axis=2).astype(np.float64), draw_costs(
            rng, n_arms, 100
        )

    return draw


def copies(
    n_arms: int, n_instances: int, n_objectives: int = 1, *, flipped: float = 0.03
) -> Draw:
    """Return a function that draws tables of nearly identical configurations.

    All configurations give the same answers, except that each answer is flipped with
    probability ``flipped``.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        right = rng.random(n_instances) < 0.6
        columns: list[NDArray[Any]] = [
            right ^ (rng.random((n_arms, n_instances)) < flipped)
        ]
        if n_objectives > 1:
            columns.append(draw_speeds(rng, n_instances, np.linspace(0.3, 0.7, n_arms)))
        return np.stack(columns, axis=2).astype(np.float64), draw_costs(
            rng, n_arms, 100
        )

    return draw


def pairs_of_copies(n_arms: int, n_instances: int, step: float) -> Draw:
    """Return a function that draws tables in which each model occurs twice.

    Slower models are more accurate. The two copies of a model have the same expected
    accuracy and nearly the same speed.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        models = np.arange(n_arms // 2)
        accuracy = np.tile(0.3 + step * models, 2)[:, None]
        speed = np.concatenate([0.9 - 1.3 * step * models, 0.89 - 1.3 * step * models])
        size = len(speed), n_instances

        hardness = np.where(
            rng.random(size) < 0.6, rng.random(n_instances), rng.random(size)
        )
        fast = np.clip(
            speed[:, None]
            + rng.normal(0, 0.05, size)
            + rng.normal(0, 0.05, n_instances),
            0,
            1,
        )
        rewards = np.stack([hardness < accuracy, fast], axis=2).astype(np.float64)
        return rewards, draw_costs(rng, len(speed), 100)

    return draw


def leader_and_losers(
    n_arms: int, n_followers: int, n_instances: int, ahead: float
) -> Draw:
    """Return a function that draws tables with a leader, followers and losers.

    The leader is the best and the most expensive configuration. The mean of each
    follower is below the mean of the leader by ``ahead`` plus .006. The means of the
    losers are lower still, by random amounts.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        counts = np.full(n_arms, n_instances // 2)
        counts[0] += round((ahead + 0.006) * n_instances)
        losers = slice(n_followers + 1, None)
        behind = rng.uniform(0.02, 0.4, n_arms)[losers]
        counts[losers] -= np.round(behind * n_instances).astype(np.int64)
        costs = draw_costs(rng, n_arms, 20)
        costs[0] = 25.0
        return draw_counts(rng, counts, n_instances)[:, :, None], costs

    return draw


def close_means(
    n_arms: int, n_instances: int, n_objectives: int = 1, *, spread: float = 0.03
) -> Draw:
    """Return a function that draws binary rewards with expected means near .6."""

    def draw(rng: np.random.Generator) -> Drawn:
        means = np.clip(rng.normal(0.6, spread, (n_arms, 1, n_objectives)), 0.02, 0.98)
        right = rng.random((n_arms, n_instances, n_objectives)) < means
        return right.astype(np.float64), draw_costs(rng, n_arms, 100)

    return draw


def skewed(n_arms: int, n_instances: int, n_objectives: int = 2) -> Draw:
    """Return a function that draws exponential scores, clipped at one.

    Before clipping, expected means are near .2.
    """

    def draw(rng: np.random.Generator) -> Drawn:
        means = rng.normal(0.2, 0.02, (n_arms, 1, n_objectives))
        scores = rng.exponential(size=(n_arms, n_instances, n_objectives)) * means
        return np.clip(scores, 0, 1), np.linspace(1, 5, n_arms)

    return draw


def covered_by_the_last(rng: np.random.Generator) -> Drawn:
    """Draw a table of three configurations, for `ParetoRace` with a tolerance of .02.

    The second configuration is better than the first by more than .02 in both
    objectives. The third is as good as the second up to the tolerance: it is better in
    the first objective, and worse by .01 in the second.
    """
    n_instances = 2000
    counts = np.array([[600, 1000], [650, 1044], [700, 1024]])
    rewards = np.stack(
        [draw_counts(rng, column, n_instances) for column in counts.T], axis=2
    )
    return rewards, np.array([1.0, 3.0, 2.0])
