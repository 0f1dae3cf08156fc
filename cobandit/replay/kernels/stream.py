"""Random numbers: the s-th evaluation of an arm in a replication is the same for every method and budget.

SplitMix64 (Steele, Lea and Flood, 2014), a 64-bit mix of a counter.  Every operand is cast to uint64, since
Numba turns a mix of signed and unsigned integers into floating point.
"""

from __future__ import annotations

import numpy as np

from cobandit.replay.kernels._cache import compiled, inner

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@inner
def _mix(z):
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@inner
def key(seed, replication, arm):
    """Where the stream of an arm in a replication starts."""
    z = _mix(np.uint64(seed) + GOLDEN)
    z = _mix(z + np.uint64(replication) * GOLDEN)
    return _mix(z + np.uint64(arm) * GOLDEN)


@inner
def keys(seed, replication, n_arms):
    """Where the streams of all arms start, shape (K,)."""
    starts = np.empty(n_arms, dtype=np.uint64)
    for arm in range(n_arms):
        starts[arm] = key(seed, replication, arm)
    return starts


@inner
def draw(start, s, n):
    """Instance, 0 <= . < n, of the s-th evaluation: the upper half of the mix, scaled to n."""
    high = _mix(start + (np.uint64(s) + np.uint64(1)) * GOLDEN) >> S32
    return np.int64((high * np.uint64(n)) >> S32)


def shared_order(seed, replication, n):
    """Random order of n instances that all arms, methods and budgets share, where each is evaluated once."""
    start = _mix(np.array([seed], dtype=np.uint64) + GOLDEN)  # arrays: numbers warn when they overflow
    for name in np.array([[replication], [2**64 - 1]], dtype=np.uint64) * GOLDEN:  # no arm has that number
        start = _mix(start + name)
    return np.argsort(_mix(start + np.arange(1, n + 1, dtype=np.uint64) * GOLDEN), kind="stable")


@compiled
def instance(seed, replication, arm, s, n):
    """Return the number, 0 <= . < n, of the instance of the s-th evaluation (from 0) of an arm."""
    return draw(key(seed, replication, arm), s, n)
