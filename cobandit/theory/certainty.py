"""What it costs at least to be certain of a front on a finite benchmark: this project's, not the paper's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import TIE, pareto_mask
from cobandit.errors import CobanditError


def least_evaluations(rewards: ArrayLike, delta: float = 0.0) -> NDArray[np.float64]:
    r"""Evaluations that no method can do without, of each configuration of a finite table.

    Take any method, randomised or not, whatever it looks at and whenever it stops, that returns the front of
    *every* table of values in [0, 1] with probability at least :math:`1 - \delta`, and let :math:`T_i` be
    how often it evaluates configuration i on this table.  Let G be g instances such that raising (or
    lowering) i in one objective on any m of them changes the front.  Then

    .. math::

        \mathrm E[T_i] \ge \mathrm E[h] \ge H(g, m), \qquad
        \binom{g - H}{m} = 2 \delta \binom gm ,

    where h counts the evaluations of i in G.  For let Q be m instances of G and A the event that i is
    evaluated on none of them.  Up to the first evaluation in Q the method cannot tell this table from the
    one changed on Q, where the same answer is wrong: :math:`\Pr[A] \le \delta + \delta`, wrong here or wrong
    there.  Averaged over all Q in G, :math:`\Pr[A \mid h] = \binom{g - h}m / \binom gm`, which is convex
    in h (H is read off the line between two whole numbers), and Jensen's inequality gives the rest.

    Of all G that hold the g instances with the most room the best is taken, and of raising and lowering on
    instances apart the sum.  With ``delta=0`` this is certainty: i has to be evaluated on all of G but m - 1.
    Configurations are bounded one by one, as if all others were known, so that the truth is higher.

    Parameters
    ----------
    rewards : array_like, shape (K, N, D)
        In [0, 1]: the whole table.
    delta : float
        In [0, 1/2).

    Returns
    -------
    ndarray, shape (K,)
        Lower bounds of the expected numbers of evaluations, each at most N.  Zero where no change of that
        configuration alone changes the front.  Time O(K^2 D + K D N log N).

    Examples
    --------
    Of two configurations one is right on all ten instances, the other on six.  The first would be worse
    with five of its answers wrong, so all but four have to be seen.  The second cannot be better whatever
    its four wrong answers were; that it could be level is not counted.

    >>> table = np.ones((2, 10, 1))
    >>> table[1, 6:] = 0
    >>> least_evaluations(table)
    array([6., 0.])
    >>> least_evaluations(table, delta=0.05).round(2)
    array([2.88, 0.  ])
    """
    rewards = _check.numbers(rewards, "rewards", 3)
    if rewards.size == 0 or rewards.min() < 0 or rewards.max() > 1:
        raise CobanditError("rewards: values in [0, 1] are needed, shape (K, N, D) with none of them zero")
    delta = _check.non_negative(delta, "delta")
    if delta >= 0.5:
        raise CobanditError(f"delta: below one half is needed, where guessing is not enough, got {delta:g}")
    n_instances = rewards.shape[1]
    raising, lowering = smallest_changes(rewards.mean(axis=1)) * n_instances
    least = np.zeros(len(rewards))
    for i, d in np.ndindex(raising.shape):
        values = np.sort(rewards[i, :, d])
        raised = _by_size(1 - values, raising[i, d], delta)
        lowered = _by_size(values[::-1], lowering[i, d], delta)
        # the t lowest values are raised, the others lowered
        most = raised + lowered[::-1]
        least[i] = np.maximum(least[i], most.max())
    return least


def smallest_changes(means: ArrayLike) -> NDArray[np.float64]:
    """How far a mean has to rise or fall, all others as they are, before the front is another one.

    Dominance is strict in every objective, as everywhere.

    Parameters
    ----------
    means : array_like, shape (K, D)

    Returns
    -------
    ndarray, shape (2, K, D)
        Of rising and of falling, each in one objective; any larger change will do.  Infinite where none does.

    Examples
    --------
    >>> smallest_changes([[0.75], [0.5]]).squeeze()
    array([[ inf, 0.25],
           [0.25,  inf]])
    """
    means = _check.numbers(means, "means", 2)
    n_arms, n_objectives = means.shape
    above = means[None, :, :] - means[:, None, :]  # of j over i
    above[np.abs(above) <= TIE] = 0.0
    front, dominates = pareto_mask(means), above.min(axis=2) > 0  # dominates[i, j]: j dominates i
    changes = np.full((2, n_arms, n_objectives), np.inf)
    for i, d in np.ndindex(n_arms, n_objectives):
        others = np.delete(above[i], d, axis=1)
        itself = np.arange(n_arms) == i
        over = np.all(others > 0, axis=1) & ~itself
        under = np.all(others < 0, axis=1) & ~itself
        if not front[i]:  # until it is level with the last that dominates it
            changes[0, i, d] = above[i, dominates[i], d].max()
        else:  # until it dominates one on the front, or one dominates it
            changes[0, i, d] = above[i, under & front, d].min(initial=np.inf)
            changes[1, i, d] = (-above[i, over, d]).min(initial=np.inf)
            only = dominates[:, i] & (dominates.sum(axis=1) == 1)  # until it lets one go
            changes[1, i, d] = min(changes[1, i, d], (-above[i, only, d]).min(initial=np.inf))
    return changes


def _by_size(room: NDArray[np.float64], change: float, delta: float) -> NDArray[np.float64]:
    """H of the t instances with the most room, t = 0, ..., N; of smaller G where these give more.

    Parameters
    ----------
    room : ndarray, shape (N,)
        By how much each value can change, the largest first.
    change : float
        Any larger sum changes the front.
    """
    n_instances = len(room)
    best = np.zeros(n_instances + 1)
    if not np.isfinite(change):
        return best
    # sums[g] - sums[g - m]: what the m with the least room in G come to
    sums = np.concatenate([[0.0], np.cumsum(room)])
    short = np.searchsorted(sums, sums - change - TIE * n_instances) - 1  # g - m, or -1: never
    g = np.flatnonzero(short >= 0)
    if len(g):
        best[g] = needed_in(g, g - short[g], delta)
    return np.maximum.accumulate(best)


def needed_in(g: ArrayLike, m: ArrayLike, delta: float) -> NDArray[np.float64]:
    r"""Smallest h with :math:`\binom{g - h}m \le 2 \delta \binom gm`, linear between whole numbers.

    Parameters
    ----------
    g, m : array_like of int, shape (n,)
        1 <= m <= g.
    delta : float
        In [0, 1/2).

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    Where any one of ten makes the difference, nine have to be seen to miss it in only one of ten cases.

    >>> needed_in([10, 10], [1, 2], delta=0.05).round(6)
    array([9. , 6.5])
    """
    g, m = np.asarray(g), np.asarray(m)
    # in logarithms: a share of one in (2,000 choose 1,000) is smaller than any floating-point number
    allowed = np.log(2 * delta) if delta > 0 else -np.inf
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, g.max() + 1)))])

    def missed(h: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the m-subsets that h of g instances miss, its logarithm."""
        left = g - h
        logarithm = log_factorial[left] - log_factorial[np.maximum(left - m, 0)]
        logarithm += log_factorial[g - m] - log_factorial[g]
        return np.where(left < m, -np.inf, logarithm)

    low, high = np.zeros_like(g), g - m + 1  # missed(low) > log(2 delta) >= missed(high)
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = missed(middle) <= allowed
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    before, after = missed(low), missed(high)
    return low + np.expm1(allowed - before) / np.expm1(after - before)
