"""Pulls of one replication: rows are drawn and added until a goal or the budget is met."""

import numpy as np

from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.streams import draw

#: Rows that are named before they are added up.
BLOCK = 128
#: Share of its limit up to which a budget is not checked before every pull: the rest is
#: more than rounding adds to any sum of charges.
CERTAIN = 1.0 - 1e-9


@inner
def sample_affordable(chosen, goal, draws, terms, seen, spent):
    """Pull arms up to ``goal`` times, all of which the budget holds; return the spend.

    A block of rows is named and then added, two objectives at a time.  The first loop
    is vectorised, and in the second the sums do not wait for each other.
    """
    rows, offsets, starts, order = draws
    pulls = seen.pulls
    sums = seen.sums
    declared = terms.costs
    last = sums.shape[1] - 1
    named = np.empty(BLOCK, dtype=np.int64)
    for arm in chosen:
        n = pulls[arm]
        start = starts[arm]
        expected = declared[arm]
        first = offsets[arm]
        size = offsets[arm + 1] - first
        while n < goal:
            m = min(BLOCK, goal - n)
            for q in range(m):
                named[q] = first + (
                    order[n + q] if len(order) else draw(start, n + q, size)
                )

            for d in range(0, last + 1, 2):
                e = min(d + 1, last)
                charge = expected if d == 0 else 0.0
                one = sums[arm, d]
                other = sums[arm, e]
                for q in range(m):
                    one += rows[named[q], d + 2]
                    other += rows[named[q], e + 2]
                    spent += charge
                sums[arm, d] = one
                sums[arm, e] = other
            n += m
        pulls[arm] = n

    return spent


@inner
def sample(chosen, goal, draws, terms, seen, spent):
    """Pull arms up to ``goal`` times, one after the other, while the budget holds.

    Returns the spend, and whether all pulls were made.
    """
    rows, offsets, starts, order = draws
    limit = terms.limit
    declared = terms.costs
    realised = terms.realised
    pulls, sums, arms, charges = seen

    t = 0
    for n in pulls:
        t += n
    needed = spent
    for arm in chosen:
        needed += max(0, goal - pulls[arm]) * declared[arm]
    if not realised and t >= len(arms) and needed < limit * CERTAIN:
        return sample_affordable(chosen, goal, draws, terms, seen, spent), True

    for arm in chosen:
        n = pulls[arm]
        start = starts[arm]
        expected = declared[arm]
        first = offsets[arm]
        size = offsets[arm + 1] - first
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
