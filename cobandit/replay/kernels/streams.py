"""Random numbers that choose the instances, the same for every method and budget.

The generator is SplitMix64 (Steele, Lea and Flood, 2014), a 64-bit mix of a counter.
All operands are cast to uint64, because Numba converts operations on signed and
unsigned integers to floating point.
"""

import numpy as np

from cobandit.replay.kernels._cache import compiled, inner

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S30 = np.uint64(30)
S27 = np.uint64(27)
S31 = np.uint64(31)
S32 = np.uint64(32)
#: Number that replaces the number of an arm in a stream that all arms share. No arm has
#: this number.
NOBODY = np.uint64(2**64 - 1)


@inner
def _mix(z):
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@inner
def key(seed, replication, arm):
    """Return the initial state of an arm's random stream in a replication."""
    z = _mix(np.uint64(seed) + GOLDEN)
    z = _mix(z + np.uint64(replication) * GOLDEN)
    return _mix(z + np.uint64(arm) * GOLDEN)


@inner
def keys(seed, replication, n_arms):
    """Return the initial states of the random streams of all arms, shape (K,)."""
    starts = np.empty(n_arms, dtype=np.uint64)
    for arm in range(n_arms):
        starts[arm] = key(seed, replication, arm)
    return starts


@inner
def draw(start, s, n):
    """Return the instance, from 0 to n - 1, of the s-th evaluation of a stream."""
    # the upper 32 bits of the mix, scaled to n without a division
    high = _mix(start + (np.uint64(s) + np.uint64(1)) * GOLDEN) >> S32
    return np.int64((high * np.uint64(n)) >> S32)


@compiled
def shared_order(seed, replication, n):
    """Return a random order of n instances, the same for all arms and methods."""
    start = key(seed, replication, NOBODY)
    names = np.empty(n, dtype=np.uint64)
    for s in range(n):
        names[s] = _mix(start + (np.uint64(s) + np.uint64(1)) * GOLDEN)

    # the mix is one-to-one, so no two numbers are equal
    return np.argsort(names)


@compiled
def instance(seed, replication, arm, s, n):
    """Return the instance, from 0 to n - 1, of evaluation s >= 0 of an arm."""
    return draw(key(seed, replication, arm), s, n)
