"""Exact probabilities of errors and deviations in sampling without replacement."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _validation
from companion.proofs.checks import Floats


def orders(values: ArrayLike) -> Floats:
    """Return all distinct orders of the values of a small population, one per row.

    In a random order of the population, these rows are equally likely.

    Examples
    --------
    >>> orders([0, 1, 1]).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    return np.array(
        sorted(set(permutations(_validation.numbers(values, "values", 1).tolist())))
    )


def exact_tails(
    n_instances: int, levels: int = 2
) -> Iterator[tuple[float, float, int, Floats]]:
    """Yield exact probabilities that a running mean exceeds the population mean.

    The draws are without replacement. The event is that the running mean exceeds the
    population mean by a given deviation or more at least once from the n-th draw on.

    Parameters
    ----------
    n_instances : int
        N, small: there are up to N! orders.
    levels : int
        Number of values of a reward. Rewards in [0, 1] are multiples of
        1 / (levels - 1). All populations of such rewards are enumerated.

    Yields
    ------
    probability, deviation : float
        Every possible deviation, with its probability.
    n : int
    population : ndarray, shape (N,)

    Examples
    --------
    >>> max(tail for tail, *_ in exact_tails(3))
    0.6666666666666666
    """
    for population in combinations_with_replacement(
        np.linspace(0, 1, levels), n_instances
    ):
        values = np.array(population)
        running = (
            np.cumsum(orders(values), axis=1) / np.arange(1, n_instances + 1)
            - values.mean()
        )
        for n in range(1, n_instances + 1):
            highest = running[:, n - 1 :].max(axis=1)
            for deviation in np.unique(highest[highest > 1e-9]):
                probability = float((highest >= deviation - 1e-12).mean())
                yield probability, float(deviation), n, values


def largest_ratio(
    bound: Callable[[float, int, int, Floats], float], n_instances: int, levels: int = 2
) -> float:
    """Return the largest ratio of an exact tail probability to its bound.

    The maximum is over all cases of `exact_tails`. A ratio above 1 refutes the bound.

    Parameters
    ----------
    bound : callable
        Function of the deviation, n, N and the population that returns the bound.
    n_instances : int
        N, small.
    levels : int
        Number of values of a reward, as in `exact_tails`.

    Returns
    -------
    float

    Examples
    --------
    >>> largest_ratio(lambda deviation, n, N, values: 1.0, n_instances=3)
    0.6666666666666666
    """
    ratios = []
    for tail, deviation, n, values in exact_tails(n_instances, levels):
        allowed = bound(deviation, n, n_instances, values)
        ratios.append(tail / allowed if allowed else inf)
    return max(ratios)


def two_arms_once(
    only_better: int, only_worse: int, n_instances: int, depth: int
) -> float:
    """Return the exact error on two arms, for instances without replacement.

    Both arms are evaluated on the first ``depth`` instances of a random order. An error
    occurs if the better arm has at most as many right answers as the other arm.
    Among all instances, ``only_better`` are answered right only by the better arm, and
    ``only_worse`` only by the worse arm.

    Examples
    --------
    Only the better arm answers one of three instances right. An error occurs if this
    instance is not the first, which has probability 2/3.

    >>> round(two_arms_once(1, 0, 3, depth=1), 6)
    0.666667
    """
    wins = np.arange(
        max(0, depth + only_better - n_instances), min(only_better, depth) + 1
    )
    chances = stats.hypergeom.pmf(wins, n_instances, only_better, depth)
    tail = stats.hypergeom.sf(
        wins - 1, n_instances - only_better, only_worse, depth - wins
    )
    return float(chances @ tail)


def sequential_ratio(
    counts: Sequence[int], other_counts: Sequence[int], delta: float
) -> tuple[float, float, float]:
    """Return the expected length and the errors of a sequential test of two tables.

    The test evaluates instances in random order until one table is (1 - delta) / delta
    times as likely as the other, and returns the front of the likelier table. Both of
    its error probabilities are at most delta.

    Parameters
    ----------
    counts, other_counts : sequence of int, length 3
        Number of instances of each of three kinds, in the first and in the second
        table. `companion.bounds.least_instances` defines kinds.
    delta : float
        Bound on both error probabilities.

    Returns
    -------
    instances, first, second : float
        Expected number of evaluated instances under ``counts``, and the error
        probabilities under ``counts`` and under ``other_counts``. Time O(N a b), where
        N is the number of instances, and a and b are the counts of the first two kinds.

    Examples
    --------
    >>> [round(x, 3) for x in sequential_ratio([10, 4, 26], [7, 7, 26], delta=0.05)]
    [27.352, 0.005, 0.012]
    """
    tables = np.array([counts, other_counts])
    N = int(tables[0].sum())
    shape = tables.max(axis=0)[:2] + 1
    # probability of each state (a, b) per table, while the test has not stopped
    chances = np.zeros((2, *shape))
    chances[:, 0, 0] = 1.0

    a, b = np.indices(shape)
    average = 0.0
    errors = np.zeros(2)
    limit = (1 - delta) / delta
    for n in range(N):
        average += float(chances[0].sum())
        drawn = np.zeros_like(chances)
        drawn_counts = a, b, n - a - b
        next_chances = [
            np.maximum(tables[:, k, None, None] - x, 0) / (N - n)
            for k, x in enumerate(drawn_counts)
        ]
        drawn[:, 1:] += (chances * next_chances[0])[:, :-1]
        drawn[:, :, 1:] += (chances * next_chances[1])[:, :, :-1]
        drawn += chances * next_chances[2]
        stops = [drawn[0] >= limit * drawn[1], drawn[1] >= limit * drawn[0]]
        for wrong, (stop, table) in enumerate(zip(stops[::-1], drawn, strict=True)):
            errors[wrong] += float(table[stop & ~stops[wrong]].sum())
        chances = np.where(stops[0] | stops[1], 0.0, drawn)

    return average, float(errors[0]), float(errors[1])
