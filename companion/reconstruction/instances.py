"""Instances that realise the means of a hierarchy exactly.

Instance q has a difficulty d_q that all configurations share.  For configuration i,
with e, f, g independent standard normal, r^2 = shared and r'^2 = 1 - shared::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   r d_q + r' e_iq
    tokens_iq  = min(limit, scale exp(spread_tokens z_iq)),        z_iq = r d_q + r' f_iq,
                 the limit where z_iq is among the share ``endless`` of the largest, and a few
                 tokens (EMPTY of what it would be) among the share ``empty`` of the smallest
    latency_iq = latency_i w_iq / mean_q(w_iq),
          w_iq = (base + (1 - base) tokens_iq / tokens_i) exp(noise_seconds g_iq)

Tokens are whole numbers whose scale, once in each split, gives its mean.  What the mean
of the profiling split owes to luck has the variance that the spread of the tokens gives
it; at the ends it is brought to the smallest and the largest profiling mean that the
paper prints.
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

#: Numbers of the instances in the order of a `Body`: first the profiling split, then
#: the evaluation split.
INSTANCES = np.argsort(
    ~profiling_mask(N_INSTANCES, N_PROFILING, hierarchy.SPLIT_SEED), kind="stable"
)
#: Relative lengths of answers that end at once, and of those that never end.
EMPTY = 0.03
ENDLESS = 1e12


class Body(NamedTuple):
    """All of a table but what is correct, as arrays of shape (K, 1000), the profiling split first.

    ``rank`` says how many instances are easier for a configuration; ``missed`` by how
    many tokens luck alone misses the smallest and the largest profiling mean.
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
    """Lengths of answers before they are scaled, (K, 1000)."""
    common = np.sqrt(shared)
    own = np.sqrt(1 - shared)
    shape = np.empty_like(length)
    for i in range(len(shape)):
        for q in range(shape.shape[1]):
            z = common * difficulty[q] + own * length[i, q]
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
    """Latencies in whole milliseconds, (K, 1000)."""
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
    """Scale at which ``min(limit, scale shape)`` adds up to the total: Newton's method from below."""
    scale = 0.0
    for _ in range(200):
        below = 0.0
        held = 0.0
        for x in shape:
            if scale * x < limit:
                below += x
            else:
                held += limit
        if below == 0.0:
            break
        new = (total - held) / below
        if new <= scale * (1 + 1e-12):
            break
        scale = new

    return scale


@compiled
def _spread_of(shape: Floats, limit: Floats, totals: Floats) -> Floats:
    """Return the standard deviation of the tokens of each configuration, before its split."""
    n_arms, n = shape.shape
    found = np.empty(n_arms)
    for i in range(n_arms):
        scale = _scale_for(shape[i], limit[i], totals[i])
        first = 0.0
        second = 0.0
        for x in shape[i]:
            value = min(limit[i], scale * x)
            first += value
            second += value * value
        found[i] = np.sqrt(max(second / n - (first / n) ** 2, 0.0))
    return found


@compiled
def _fill(
    shape: Floats,
    limit: Floats,
    known: Floats,
    held_out: Floats,
    split: int,
    out: Whole,
) -> None:
    """Whole numbers next to ``min(limit, scale shape)``, at least 1, that add up to the totals of splits."""
    for i in range(len(shape)):
        for start, end, total in (
            (0, split, known[i]),
            (split, shape.shape[1], held_out[i]),
        ):
            scale = _scale_for(shape[i, start:end], limit[i], total)
            carried = 0.0
            done = 0
            for q in range(start, end):
                carried += min(limit[i], scale * shape[i, q])
                out[i, q] = min(
                    max(1, int(np.floor(carried + 0.5)) - done), int(limit[i])
                )
                done += out[i, q]


def _known(
    given: Means, p: dict[str, float], spread: Floats, ends: hierarchy.Ends
) -> tuple[Floats, tuple[float, float]]:
    """Means of the tokens in the profiling split, and by how much luck alone misses its two ends."""
    size = N_PROFILING
    rest = N_INSTANCES - N_PROFILING
    common = np.sqrt(p["shared"]) * p["luck"] + np.sqrt(1 - p["shared"]) * given.luck
    known = given.tokens + spread * np.sqrt(rest / N_INSTANCES / size) * common
    # no more than the limit in either split
    room = given.limit - 1e-3
    known = np.clip(known, (N_INSTANCES * given.tokens - rest * room) / size, room)
    low = int(known.argmin())
    high = int(known.argmax())
    missed = (float(known[low]) - ends.low, float(known[high]) - ends.high)
    known = np.clip(known, ends.low, ends.high)
    known[[low, high]] = ends
    return known, missed


@lru_cache(maxsize=128)
def _noise(seed: int, n_arms: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Own parts of correctness, length and speed (K, 1000), and the difficulties (1000,)."""
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
    """How many instances have a smaller score, (K, 1000), and how many are passed.

    Those are the correct instances of the evaluation split where so many of all are
    correct, (K, 1001).
    """
    order = scores.argsort(axis=1)
    held_out = np.pad(order >= N_PROFILING, ((0, 0), (1, 0)))
    return order.argsort(axis=1).astype(np.int16), held_out.cumsum(
        axis=1, dtype=np.int16
    )


def body_of_shapes(
    setting: Setting, given: Means, p: dict[str, float], shape: Floats
) -> tuple[Whole, tuple[float, float]]:
    """Scale lengths of answers to tokens of the right means, in the profiling split, too.

    Returns
    -------
    ndarray of int, shape (K, n)
        Of n instances, the profiling split first.
    (float, float)
        As ``Body.missed``.
    """
    n = shape.shape[1]
    limit = given.limit.astype(np.float64)
    split = n * N_PROFILING // N_INSTANCES
    total = np.rint(n * given.tokens)
    of_split, missed = _known(
        given, p, _spread_of(shape, limit, total), setting.profiling_tokens
    )
    known = np.rint(split * of_split)
    tokens = np.empty(shape.shape, dtype=np.int64)
    _fill(shape, limit, known, total - known, split, tokens)
    return tokens, missed


def body(setting: Setting, state: hierarchy.State, every: int = 1) -> Body | None:
    """Draw what does not depend on accuracies.

    Parameters
    ----------
    setting : Setting
    state : State
    every : int
        Tokens and latencies of every so-many-th instance alone, for a look at what a
        table is like.

    Returns
    -------
    Body or None
        None where `means` has nothing.  What is correct: ``body.rank <
        correct_counts(...)[:, None]``.
    """
    given = hierarchy.means(setting, state)
    if given is None:
        return None

    p = hierarchy.named(hierarchy.PARAMETERS, state.parameters)
    noise = _noise(state.instances, setting.n_arms)[1:]
    length, speed, difficulty = (
        np.ascontiguousarray(each[..., ::every]) for each in noise
    )
    ends = ndtri(p["empty"]), -ndtri(p["endless"])
    shape = _shapes(difficulty, length, p["shared"], p["spread_tokens"], *ends)
    tokens, missed = body_of_shapes(setting, given, p, shape)
    seconds = _seconds(
        tokens,
        speed,
        given.tokens,
        given.seconds,
        p["base_latency"],
        p["noise_seconds"],
    )
    answers = _answers(state.instances, setting.n_arms, p["shared"])
    return Body(*answers, seconds, tokens, missed, given.verbosity)
