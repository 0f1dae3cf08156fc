"""Sums of squared differences of pairs of arms, compiled.

Only pairs a < b are stored. The pair (b, a) has the same sums.
"""

import numpy as np

from cobandit.replay.kernels._cache import inner


@inner
def empty_squares(n_objectives, n_arms):
    """Return an array (D, K, K) of sums, zero for pairs a < b.

    The other half is never written, so the system does not allocate its memory.
    """
    squares = np.empty((n_objectives, n_arms, n_arms))
    for d in range(n_objectives):
        for a in range(n_arms):
            squares[d, a, a + 1 :] = 0.0
    return squares


@inner
def read_scores(arms, first, last, draws, n_objectives):
    """Return the scores of arms on instances ``first`` to ``last``, (D, q, k)."""
    rows, offsets, _, order = draws
    scores = np.empty((n_objectives, last - first, len(arms)))
    for q in range(first, last):
        for a, arm in enumerate(arms):
            row = offsets[arm] + order[q]
            for d in range(n_objectives):
                scores[d, q - first, a] = rows[row, d + 2]
    return scores


@inner
def sum_shared(arms, draws, pulls, n_objectives):
    """Return the score sums (K, D) over instances that all given arms share.

    The second returned value is the number of these instances.
    """
    rows, offsets, _, order = draws
    sums = np.zeros((len(pulls), n_objectives))
    shared = pulls[arms].min()
    for arm in arms:
        for q in range(shared):
            for d in range(n_objectives):
                sums[arm, d] += rows[offsets[arm] + order[q], d + 2]
    return sums, shared


@inner
def add_squares(a, places, scores, squares):
    """Add the squared differences between the arm at position a and each later arm.

    ``places`` are the positions of the arms at the last call. If arms have been removed
    since then, the sums are first moved to the new positions. Rows are moved in
    ascending order of a, so that no sum is overwritten before it is read.
    """
    k = len(places)
    for d in range(len(squares)):
        total = squares[d, a, a + 1 : k]
        if places[k - 1] >= k:
            moved = squares[d, places[a]]
            behind = places[a + 1 :]
            for b in range(len(total)):
                total[b] = moved[behind[b]]
        for q in range(scores.shape[1]):
            score = scores[d, q, a]
            others = scores[d, q, a + 1 :]
            for b in range(len(total)):
                difference = others[b] - score
                total[b] += difference * difference
