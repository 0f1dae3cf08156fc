"""Random results per instance, whose means are exactly the means of a state.

`companion.reconstruction.hierarchy` defines states and their means. Instance q has a
difficulty d_q that all configurations share. For configuration i, with
e, f, g independent standard normal, r^2 = shared and r'^2 = 1 - shared::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   r d_q + r' e_iq
    tokens_iq  = min(limit, scale exp(spread_tokens z_iq)),   z_iq = r d_q + r' f_iq,
                 the limit for the share ``endless`` of the largest z_iq, and a few
                 tokens (reduced by EMPTY) for the share ``empty`` of the smallest
    latency_iq = latency_i w_iq / mean_q(w_iq),
          w_iq = (base + (1 - base) tokens_iq / tokens_i) exp(noise_seconds g_iq)

Tokens are whole numbers. In each split, scale is chosen so that the tokens have the
mean that is set for this split. The mean of the profiling split deviates randomly from
the mean of all instances, with the variance that follows from the variance of the
tokens. The smallest and the largest mean of the profiling split are then set to the
printed values.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cobandit.replay.kernels._cache import compiled
from cobandit.tables.profiling import profiling_mask
from companion.reconstruction import hierarchy
from companion.reconstruction.hierarchy import (
    N_INSTANCES,
    N_PROFILING,
    Floats,
    Means,
    Setting,
)

Whole = NDArray[np.int64]

#: Indices of the instances in the order of a `Body`: the profiling split, then the
#: evaluation split.
INSTANCES = np.argsort(
    ~profiling_mask(N_INSTANCES, N_PROFILING, hierarchy.SPLIT_SEED), kind="stable"
)
#: Factor of the length of answers that end immediately.
EMPTY = 0.03
#: Length of answers that never end, before the limit applies.
ENDLESS = 1e12


class Body(NamedTuple):
    """The values of a drawn table that do not depend on accuracies.

    ``rank`` has the shape (K, 1000), with the profiling split first. ``rank[k, i]`` is
    the number of instances that are easier than instance i for configuration k.
    ``seconds`` and ``tokens`` have the same order of instances, but may have only every
    n-th instance (see `body`). `rank_and_count` describes ``passed``. ``missed`` has
    two differences in tokens: the smallest profiling mean minus the printed smallest
    mean, and the same for the largest mean. Both are taken before the drawn means are
    set to the printed means.
    """

    rank: NDArray[np.int16]
    passed: NDArray[np.int16]
    seconds: Floats
    tokens: Whole
    missed: tuple[float, float]
    verbosity: Floats


@compiled
def _shapes(
    difficulty: Floats,
    length: Floats,
    shared: float,
    spread: float,
    low: float,
    high: float,
) -> Floats:
    """Return the relative lengths of answers, (K, n), before they are scaled."""
    common = np.sqrt(shared)
    independent = np.sqrt(1 - shared)
    shape = np.empty_like(length)
    for i in range(len(shape)):
        for q in range(shape.shape[1]):
            z = common * difficulty[q] + independent * length[i, q]
            shape[i, q] = (
                ENDLESS
                if z > high
                else np.exp(spread * z) * (EMPTY if z < low else 1.0)
            )
    return shape


@compiled
def _seconds(
    tokens: Whole,
    speed: Floats,
    mean_tokens: Floats,
    mean_seconds: Floats,
    base: float,
    noise: float,
) -> Floats:
    """Return latencies in seconds, rounded to milliseconds, (K, n)."""
    n_arms, n = speed.shape
    seconds = np.empty((n_arms, n))
    for i in range(n_arms):
        total = 0.0
        for q in range(n):
            weight = (base + (1 - base) * tokens[i, q] / mean_tokens[i]) * np.exp(
                noise * speed[i, q]
            )
            seconds[i, q] = weight
            total += weight
        scale = 1000 * mean_seconds[i] * n / total
        for q in range(n):
            seconds[i, q] = max(np.rint(scale * seconds[i, q]), 1.0) / 1000

    return seconds


@compiled
def _scale_for(shape: Floats, limit: float, total: float) -> float:
    """Return the scale at which the sum of ``min(limit, scale * shape)`` is ``total``.

    The sum is concave in the scale, so Newton's method from zero never overshoots.
    """
    scale = 0.0
    for _ in range(200):
        below = 0.0
        at_limit = 0.0
        for x in shape:
            if scale * x < limit:
                below += x
            else:
                at_limit += limit
        if below == 0.0:
            break
        next_scale = (total - at_limit) / below
        if next_scale <= scale * (1 + 1e-12):
            break
        scale = next_scale

    return scale


@compiled
def _spread_of(shape: Floats, limit: Floats, totals: Floats) -> Floats:
    """Return the standard deviation of the tokens of each configuration."""
    n_arms, n = shape.shape
    deviations = np.empty(n_arms)
    for i in range(n_arms):
        scale = _scale_for(shape[i], limit[i], totals[i])
        first = 0.0
        second = 0.0
        for x in shape[i]:
            value = min(limit[i], scale * x)
            first += value
            second += value * value
        deviations[i] = np.sqrt(max(second / n - (first / n) ** 2, 0.0))
    return deviations


@compiled
def _fill(
    shape: Floats,
    limit: Floats,
    profiling: Floats,
    held_out: Floats,
    split: int,
    tokens: Whole,
) -> None:
    """Fill ``tokens`` with whole numbers near ``min(limit, scale * shape)``.

    The numbers are at least 1. In each split, their sum is the given total, up to
    rounding.
    """
    for i in range(len(shape)):
        for start, end, total in (
            (0, split, profiling[i]),
            (split, shape.shape[1], held_out[i]),
        ):
            scale = _scale_for(shape[i, start:end], limit[i], total)
            # round cumulative sums, so that rounding errors do not add up
            carried = 0.0
            done = 0
            for q in range(start, end):
                carried += min(limit[i], scale * shape[i, q])
                tokens[i, q] = min(
                    max(1, int(np.floor(carried + 0.5)) - done), int(limit[i])
                )
                done += tokens[i, q]


def _known(
    means: Means, parameters: dict[str, float], spread: Floats, ends: hierarchy.Ends
) -> tuple[Floats, tuple[float, float]]:
    """Draw the mean tokens in the profiling split, and return ``Body.missed`` as well.

    The means are drawn around ``means.tokens``. Their smallest and their largest value
    are then set to ``ends``.
    """
    size = N_PROFILING
    n_evaluation = N_INSTANCES - N_PROFILING
    common = (
        np.sqrt(parameters["shared"]) * parameters["luck"]
        + np.sqrt(1 - parameters["shared"]) * means.luck
    )
    profiling = (
        means.tokens + spread * np.sqrt(n_evaluation / N_INSTANCES / size) * common
    )

    # clip so that the mean remains below the limit in both splits
    room = means.limit - 1e-3
    profiling = np.clip(
        profiling, (N_INSTANCES * means.tokens - n_evaluation * room) / size, room
    )
    low = int(profiling.argmin())
    high = int(profiling.argmax())
    missed = (float(profiling[low]) - ends.low, float(profiling[high]) - ends.high)
    profiling = np.clip(profiling, ends.low, ends.high)
    profiling[[low, high]] = ends
    return profiling, missed


@lru_cache(maxsize=128)
def _noise(seed: int, n_arms: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Draw the noise of correctness, length and speed, and the difficulties.

    The three arrays of noise have the shape (K, 1000). The array of difficulties has
    the shape (1000,).
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    answer, length, speed = rng.standard_normal((3, n_arms, N_INSTANCES))
    return answer, length, speed, rng.standard_normal(N_INSTANCES)


@lru_cache(maxsize=128)
def _answers(
    seed: int, n_arms: int, shared: float
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    answer, _, _, difficulty = _noise(seed, n_arms)
    return rank_and_count(np.sqrt(shared) * difficulty + np.sqrt(1 - shared) * answer)


def rank_and_count(scores: Floats) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the ranks of instances by score, and numbers of correct answers.

    The ranks have the shape (K, 1000), and the numbers the shape (K, 1001). Suppose
    that the answers to the n instances with the smallest scores are correct. Entry n of
    a row is then the number of correct answers in the evaluation split.
    """
    order = scores.argsort(axis=1)
    held_out = np.pad(order >= N_PROFILING, ((0, 0), (1, 0)))
    return order.argsort(axis=1).astype(np.int16), held_out.cumsum(
        axis=1, dtype=np.int16
    )


def body_of_shapes(
    setting: Setting, means: Means, parameters: dict[str, float], shape: Floats
) -> tuple[Whole, tuple[float, float]]:
    """Scale relative lengths of answers to tokens that have the means of a state.

    Returns
    -------
    tokens : ndarray of int, shape (K, n)
        Tokens of n instances, the profiling split first.
    missed : (float, float)
        As in `Body`.
    """
    n = shape.shape[1]
    limit = means.limit.astype(np.float64)
    split = n * N_PROFILING // N_INSTANCES
    total = np.rint(n * means.tokens)
    profiling_means, missed = _known(
        means, parameters, _spread_of(shape, limit, total), setting.profiling_tokens
    )
    profiling = np.rint(split * profiling_means)
    tokens = np.empty(shape.shape, dtype=np.int64)
    _fill(shape, limit, profiling, total - profiling, split, tokens)
    return tokens, missed


def body(setting: Setting, state: hierarchy.State, every: int = 1) -> Body | None:
    """Return the values of a drawn table that do not depend on accuracies.

    Parameters
    ----------
    setting : Setting
    state : State
    every : int
        Tokens and latencies are computed only for every ``every``-th instance.

    Returns
    -------
    Body or None
        None if `means` returns None. With a result ``body``, answers are correct where
        ``body.rank < correct_counts(...)[:, None]``.
    """
    means = hierarchy.means(setting, state)
    if means is None:
        return None

    parameters = hierarchy.named(hierarchy.PARAMETERS, state.parameters)
    noise = _noise(state.instances, setting.n_arms)[1:]
    length, speed, difficulty = (
        np.ascontiguousarray(values[..., ::every]) for values in noise
    )
    ends = ndtri(parameters["empty"]), -ndtri(parameters["endless"])
    shape = _shapes(
        difficulty, length, parameters["shared"], parameters["spread_tokens"], *ends
    )
    tokens, missed = body_of_shapes(setting, means, parameters, shape)
    seconds = _seconds(
        tokens,
        speed,
        means.tokens,
        means.seconds,
        parameters["base_latency"],
        parameters["noise_seconds"],
    )
    answers = _answers(state.instances, setting.n_arms, parameters["shared"])
    return Body(*answers, seconds, tokens, missed, means.verbosity)
