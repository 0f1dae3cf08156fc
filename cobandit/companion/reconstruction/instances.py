"""Instances that realise the means of a hierarchy exactly.

Instance q has a difficulty d_q that all configurations share.  For configuration i, with e, f, g independent
standard normal, r^2 = shared and r'^2 = 1 - shared::

    correct_iq = 1 for the 1000 accuracy_i instances of smallest   r d_q + r' e_iq
    tokens_iq  = min(limit, scale exp(spread_tokens z_iq)),        z_iq = r d_q + r' f_iq,
                 the limit where z_iq is among the share ``endless`` of the largest, and a few
                 tokens (EMPTY of what it would be) among the share ``empty`` of the smallest
    latency_iq = latency_i w_iq / mean_q(w_iq),
          w_iq = (base + (1 - base) tokens_iq / tokens_i) exp(noise_seconds g_iq)

Tokens are whole numbers whose scale, once in each split, gives its mean.  What the mean of the profiling
split owes to luck has the variance that the spread of the tokens gives it; at the ends it is brought to the
smallest and the largest profiling mean that the paper prints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtri

from cobandit.companion.reconstruction.hierarchy import Means, State, means, named
from cobandit.companion.reconstruction.settings import N_INSTANCES, N_PROFILING, SPLIT_SEED, Ends, Setting
from cobandit.tables.columns import profiling_mask

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MASK = profiling_mask(N_INSTANCES, N_PROFILING, SPLIT_SEED)
INSTANCES = np.concatenate([np.flatnonzero(_MASK), np.flatnonzero(~_MASK)])
"""Numbers of the instances in the order of a `Body`: first the profiling split, then the evaluation split."""
EMPTY, ENDLESS = 0.03, 1e12
"""Relative lengths of answers that end at once, and of those that never end."""


class Body(NamedTuple):
    """All of a table but what is correct, as arrays of shape (K, 1000), the profiling split first.

    ``rank`` says how many instances are easier for a configuration; ``missed`` by how many tokens luck alone
    misses the smallest and the largest profiling mean.
    """

    rank: NDArray[np.int16]
    seconds: Floats
    tokens: Whole
    missed: tuple[float, float]
    verbosity: Floats


@njit(cache=True)
def _scale_for(shape: Floats, limit: float, total: float) -> float:
    """Scale at which ``min(limit, scale shape)`` adds up to the total: Newton's method from below."""
    scale = 0.0
    for _ in range(200):
        below, held = 0.0, 0.0
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


@njit(cache=True)
def _cut_off(shape: Floats, limit: float, total: float, out: Whole) -> None:
    """Whole numbers next to ``min(limit, scale shape)``, at least 1, that add up to the total."""
    scale, carried, done = _scale_for(shape, limit, total), 0.0, 0
    for q in range(len(shape)):
        carried += min(limit, scale * shape[q])
        value = max(1, int(np.floor(carried + 0.5)) - done)
        value = min(value, int(limit))
        out[q] = value
        done += value


@njit(cache=True)
def _spread_of(shape: Floats, limit: Floats, totals: Floats) -> Floats:
    """Standard deviation of the tokens of each configuration, before its split."""
    n_arms, n = shape.shape
    found = np.empty(n_arms)
    for i in range(n_arms):
        scale = _scale_for(shape[i], limit[i], totals[i])
        first, second = 0.0, 0.0
        for x in shape[i]:
            value = min(limit[i], scale * x)
            first += value
            second += value * value
        found[i] = np.sqrt(max(second / n - (first / n) ** 2, 0.0))
    return found


@njit(cache=True)
def _fill(shape: Floats, limit: Floats, known: Floats, held_out: Floats, split: int, out: Whole) -> None:
    for i in range(len(shape)):
        _cut_off(shape[i, :split], limit[i], known[i], out[i, :split])
        _cut_off(shape[i, split:], limit[i], held_out[i], out[i, split:])


def _known(
    given: Means, p: dict[str, float], spread: Floats, ends: Ends
) -> tuple[Whole, tuple[float, float]]:
    """Sums of the tokens in the profiling split, and by how much luck alone misses its two ends."""
    size, rest = N_PROFILING, N_INSTANCES - N_PROFILING
    common = np.sqrt(p["shared"]) * p["luck"] + np.sqrt(1 - p["shared"]) * given.luck
    known = given.tokens + spread * np.sqrt(rest / N_INSTANCES / size) * common
    # no more than the limit in either split
    room = given.limit - 1e-3
    known = np.clip(known, (N_INSTANCES * given.tokens - rest * room) / size, room)
    low, high = int(known.argmin()), int(known.argmax())
    missed = (float(known[low]) - ends.low, float(known[high]) - ends.high)
    known = np.clip(known, ends.low, ends.high)
    known[[low, high]] = ends
    return np.rint(size * known).astype(np.int64), missed


@lru_cache(maxsize=128)
def _noise(seed: int, n_arms: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Own parts of correctness, length and speed (K, 1000), and the difficulties (1000,)."""
    rng = np.random.Generator(np.random.SFC64(seed))
    answer, length, speed = rng.standard_normal((3, n_arms, N_INSTANCES))
    return answer, length, speed, rng.standard_normal(N_INSTANCES)


@lru_cache(maxsize=128)
def _rank(seed: int, n_arms: int, shared: float) -> NDArray[np.int16]:
    answer, _, _, difficulty = _noise(seed, n_arms)
    order = (np.sqrt(shared) * difficulty + np.sqrt(1 - shared) * answer).argsort(axis=1)
    rank = np.empty(order.shape, dtype=np.int16)
    np.put_along_axis(rank, order, np.arange(N_INSTANCES, dtype=np.int16)[None], axis=1)
    return rank


def body(setting: Setting, state: State) -> Body | None:
    """Draw what does not depend on accuracies.

    Parameters
    ----------
    setting : Setting
    state : State

    Returns
    -------
    Body or None
        None where `means` has nothing.  What is correct: ``body.rank < correct_counts(...)[:, None]``.
    """
    given = means(setting, state)
    if given is None:
        return None
    p, (_, length, speed, difficulty) = named(state), _noise(state.instances, setting.n_arms)
    z = np.sqrt(p["shared"]) * difficulty + np.sqrt(1 - p["shared"]) * length
    shape = np.exp(p["spread_tokens"] * z)
    shape[z < ndtri(p["empty"])] *= EMPTY
    shape[z > -ndtri(p["endless"])] = ENDLESS
    total, limit = np.rint(N_INSTANCES * given.tokens), given.limit.astype(np.float64)
    known, missed = _known(given, p, _spread_of(shape, limit, total), setting.profiling_tokens)
    tokens = np.empty(shape.shape, dtype=np.int64)
    _fill(shape, limit, known.astype(np.float64), total - known, N_PROFILING, tokens)

    weight = p["base_latency"] + (1 - p["base_latency"]) * tokens / given.tokens[:, None]
    weight *= np.exp(p["noise_seconds"] * speed)
    seconds = weight * (given.seconds / weight.mean(axis=1))[:, None]
    rank = _rank(state.instances, setting.n_arms, p["shared"])
    return Body(rank, np.maximum(np.rint(1000 * seconds), 1) / 1000, tokens, missed, given.verbosity)
