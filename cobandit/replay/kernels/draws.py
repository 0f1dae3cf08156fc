"""Random numbers and the pulls that they name, the same for every method and budget.

SplitMix64 (Steele, Lea and Flood, 2014), a 64-bit mix of a counter.  Every operand is cast to uint64, since
Numba turns a mix of signed and unsigned integers into floating point.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Draws(NamedTuple):
    """Where the pulls of one replication come from: rows of feedback, and the start of each arm's stream.

    ``order`` (N,) are the instances in the order in which they are evaluated once, empty for a bootstrap.
    """

    rows: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    order: np.ndarray


class Tally(NamedTuple):
    """What one replication has seen: pulls (K,), sums of rewards (K, D), and its first L pulls in order."""

    pulls: np.ndarray
    sums: np.ndarray
    arms: np.ndarray
    charges: np.ndarray


#: Rows that are named before they are added up; and up to which share of its limit a budget is not looked at
#: before every pull, which is more than rounding adds to any sum of charges.
BLOCK, CERTAIN = 128, 1.0 - 1e-9


@inner
def sample_affordable(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls that the budget allows for certain; the spend.

    A block of rows is named and then added, two objectives at a time: the first loop is vectorised, and in
    the second the sums do not wait for each other.
    """
    rows, offsets, starts, order = draws
    pulls, sums, declared = seen.pulls, seen.sums, terms.declared
    last, named = sums.shape[1] - 1, np.empty(BLOCK, dtype=np.int64)
    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal:
            m = min(BLOCK, goal - n)
            for q in range(m):
                named[q] = first + (order[n + q] if len(order) else draw(start, n + q, size))
            for d in range(0, last + 1, 2):
                e, charge = min(d + 1, last), expected if d == 0 else 0.0
                one, other = sums[arm, d], sums[arm, e]
                for q in range(m):
                    one += rows[named[q], d + 2]
                    other += rows[named[q], e + 2]
                    spent += charge
                sums[arm, d], sums[arm, e] = one, other
            n += m
        pulls[arm] = n
    return spent


@inner
def sample(chosen, goal, draws, terms, seen, spent):
    """Bring arms up to ``goal`` pulls, one after the other; the spend, and whether the budget held."""
    rows, offsets, starts, order = draws
    limit, declared, realised, _, _ = terms
    pulls, sums, arms, charges = seen
    t, needed = 0, spent
    for n in pulls:
        t += n
    for arm in chosen:
        needed += max(0, goal - pulls[arm]) * declared[arm]
    if not realised and t >= len(arms) and needed < limit * CERTAIN:
        return sample_affordable(chosen, goal, draws, terms, seen, spent), True
    for arm in chosen:
        n, start, expected = pulls[arm], starts[arm], declared[arm]
        first, size = offsets[arm], offsets[arm + 1] - offsets[arm]
        while n < goal and spent + expected <= limit:
            row = first + (order[n] if len(order) else draw(start, n, size))
            cost = rows[row, 0] if realised else expected
            if spent + cost > limit:
                break
            spent += cost
            if t < len(arms):
                arms[t] = arm
                charges[t] = cost
            t += 1
            n += 1
            for d in range(sums.shape[1]):
                sums[arm, d] += rows[row, d + 2]
        pulls[arm] = n
        if n < goal:
            return spent, False
    return spent, True
