"""Compiled pulls of one replication: rows are drawn and added to the sums."""

import numpy as np

from cobandit.replay.kernels._cache import inner
from cobandit.replay.kernels.streams import draw

#: Number of rows that are drawn before they are added.
BLOCK = 128
#: If the spent cost stays below this share of the limit, the budget is not checked
#: before every pull. The remaining share exceeds all rounding errors of sums.
CERTAIN = 1.0 - 1e-9


@inner
def sample_affordable(chosen, goal, draws, terms, seen, spent):
    """Pull arms up to ``goal`` times without checking the budget; return the cost.

    One loop draws a block of rows, so the compiler can vectorise it. A second loop adds
    the rows for two objectives at a time, so the two sums can be computed in parallel.
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
                # if the number of objectives is odd, the last one is summed twice,
                # with the same result
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
    """Pull arms up to ``goal`` times, one after another, until the budget ends.

    Returns the cost spent, and whether all pulls were made.
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
