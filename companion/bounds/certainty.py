"""Fewest evaluations of a finite benchmark after which its front is certain (ours)."""

from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.dominance import TIE, pareto_mask
from cobandit.errors import CobanditError


def least_instances(counts: ArrayLike, other: ArrayLike, delta: float) -> float:
    r"""Return the mean number of instances that any method needs (ours).

    Instances are in random order.

    Two tables of N instances have :math:`c_g` and :math:`c'_g` instances of kind g, and
    different fronts; a kind is a vector of the scores of all configurations. Consider a
    method that returns the front of either table with probability at least :math:`1 -
    \delta` and cannot know the kind of an instance. On the first table, it touches

    .. math::

        \mathrm E\, \tau \ge \sum_{n=0}^{N-1} (1 - \delta - \beta_n)^+

    instances on average, where :math:`\beta_n` is the power of the best test of level
    :math:`\delta` of the second table against the first, from n instances drawn without
    replacement.

    To answer with the first front after at most n instances is such a test: on the
    second table it is wrong, and has probability at most :math:`\delta`; on the first
    table it has probability at least :math:`\Pr[\tau \le n] - \delta`. So
    :math:`\Pr[\tau > n] \ge 1 - \delta - \beta_n`; sum over n. The touched instances
    are a random sample in any order in which a method requests them, and all scores of
    an instance may be shown to it. By Neyman and Pearson, the best test uses the ratio
    of two multivariate hypergeometric probabilities. `least_evaluations` is far
    smaller, because it bounds methods that may know this very table, and so which
    instances decide.

    Parameters
    ----------
    counts, other : array_like of int, shape (G,)
        :math:`c` and :math:`c'`, each with sum N. For two configurations and one binary
        objective G = 3: only the first right, only the second, both or neither.
    delta : float
        In [0, 1/2).

    Returns
    -------
    float
        Time O(N M) for M, the product of the larger counts of all kinds but the last,
        plus one each.

    Examples
    --------
    Of 40 instances, 10 favour one configuration and 4 the other; 7 and 7 in the other
    table.

    >>> round(least_instances([10, 4, 26], [7, 7, 26], delta=0.05), 1)
    17.9
    """
    from scipy.special import gammaln

    tables = np.array([counts, other], dtype=np.int64)
    n_instances = int(tables[0].sum())
    if (
        tables.ndim != 2
        or tables.min() < 0
        or tables[1].sum() != n_instances
        or n_instances < 1
    ):
        raise CobanditError(
            "counts and other must have one length, the same sum and no negative values"
        )
    log_factorial = gammaln(np.arange(n_instances + 1) + 1.0)

    def log_choose(
        total: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        is_possible = (chosen >= 0) & (chosen <= total)
        k = np.where(is_possible, chosen, 0)
        ways = log_factorial[total] - log_factorial[k] - log_factorial[total - k]
        return np.where(is_possible, ways, -inf)

    kinds = np.indices(tables.max(axis=0)[:-1] + 1).reshape(tables.shape[1] - 1, -1)
    log_ways = [
        sum(log_choose(np.asarray(c), x) for c, x in zip(row[:-1], kinds, strict=True))
        for row in tables
    ]
    bound = 0.0
    for n in range(n_instances):
        n_last_kind = n - kinds.sum(axis=0)
        ways = log_choose(np.asarray(n_instances), np.asarray(n))
        logs = [
            other_kinds + log_choose(row[-1], n_last_kind) - ways
            for other_kinds, row in zip(log_ways, tables, strict=True)
        ]
        possible = logs[0] > -inf
        order = np.argsort(logs[1][possible] - logs[0][possible], kind="stable")
        first, second = (np.exp(log[possible][order]) for log in logs)
        # the most favourable outcomes within the level, and a part of the next outcome
        level = np.cumsum(second)
        n_whole = int(np.searchsorted(level, delta, side="right"))
        power = float(first[:n_whole].sum())
        if n_whole < len(level):
            power += float(
                first[n_whole]
                / second[n_whole]
                * (delta - (level[n_whole - 1] if n_whole else 0.0))
            )
        bound += max(0.0, 1 - delta - power)
    return bound


def least_evaluations(rewards: ArrayLike, delta: float = 0.0) -> NDArray[np.float64]:
    r"""Return the mean evaluations per configuration that any method needs (ours).

    The table is finite. Take any method, randomised or not, with any choice of
    evaluations and any stopping rule, that returns the front of *every* table of values
    in [0, 1] with probability at least :math:`1 - \delta`, and let :math:`T_i` be the
    number of its evaluations of configuration i on this table. Let G be g instances
    such that raising (or lowering) i in one objective on any m of them changes the
    front. Then

    .. math::

        \mathrm E[T_i] \ge \mathrm E[h] \ge H(g, m), \qquad
        \binom{g - H}{m} = 2 \delta \binom gm ,

    where h counts the evaluations of i in G. To see this, let Q be m instances of G and
    A the event that i is evaluated on none of them. Up to the first evaluation in Q,
    the method cannot distinguish this table from the one changed on Q, where the same
    answer is wrong: :math:`\Pr[A] \le \delta + \delta`, wrong on one of the two.
    Averaged over all Q in G, :math:`\Pr[A \mid h] = \binom{g - h}m / \binom gm`, which
    is convex in h (H is interpolated between whole numbers), and Jensen's inequality
    completes the proof.

    The bound is the best over all G of the g instances with the most room, and the sum
    of raising and lowering on disjoint instances. With ``delta=0`` this is certainty: i
    has to be evaluated on all of G but m - 1. Configurations are bounded one by one, as
    if all others were known, so that the truth is higher. The method may know this very
    table and only has to verify it: this is a bound by randomised certificates, or
    fractional block sensitivity (Aaronson, 2008; Tal, 2013). `least_instances` bounds
    methods that have to find out which instances decide.

    Parameters
    ----------
    rewards : array_like, shape (K, N, D)
        The whole table, in [0, 1].
    delta : float
        In [0, 1/2).

    Returns
    -------
    ndarray, shape (K,)
        Lower bounds on the expected numbers of evaluations, each at most N. Zero if no
        change of that configuration alone changes the front. Time O(K^2 D + K D N log
        N).

    Examples
    --------
    One configuration is right on all ten instances, the other on six. The first would
    be worse with five of its answers wrong, so that all but four have to be evaluated.
    The second cannot be better, whatever its four wrong answers are; equality does not
    count.

    >>> table = np.ones((2, 10, 1))
    >>> table[1, 6:] = 0
    >>> least_evaluations(table)
    array([6., 0.])
    >>> least_evaluations(table, delta=0.05).round(2)
    array([2.88, 0.  ])
    """
    rewards = _validation.numbers(rewards, "rewards", 3)
    if (
        not rewards.size
        or rewards.min() < 0
        or rewards.max() > 1
        or not 0 <= delta < 0.5
    ):
        raise CobanditError(
            "give at least one reward, rewards in [0, 1], and delta in [0, 1/2)"
        )

    n_instances = rewards.shape[1]

    raising, lowering = smallest_changes(rewards.mean(axis=1)) * n_instances
    bounds = np.zeros(len(rewards))
    for i, d in np.ndindex(raising.shape):
        values = np.sort(rewards[i, :, d])
        raised = _by_size(1 - values, raising[i, d], delta)
        lowered = _by_size(values[::-1], lowering[i, d], delta)
        # the t lowest values are raised, the others lowered
        bounds[i] = max(bounds[i], (raised + lowered[::-1]).max())

    return bounds


def smallest_changes(means: ArrayLike) -> NDArray[np.float64]:
    """Return the smallest change of a single mean that changes the Pareto front.

    Dominance is strict in every objective, as everywhere.

    Parameters
    ----------
    means : array_like, shape (K, D)

    Returns
    -------
    ndarray, shape (2, K, D)
        Infimum of increases and of decreases in one objective that change the front;
        infinite if none does.

    Examples
    --------
    >>> smallest_changes([[0.75], [0.5]]).squeeze()
    array([[ inf, 0.25],
           [0.25,  inf]])
    """
    means = _validation.numbers(means, "means", 2)
    n_arms, n_objectives = means.shape
    above = means[None, :, :] - means[:, None, :]  # advantage of j over i
    above[np.abs(above) <= TIE] = 0.0

    # dominates[i, j]: j dominates i
    front = pareto_mask(means)
    dominates = above.min(axis=2) > 0
    changes = np.full((2, n_arms, n_objectives), np.inf)
    for i, d in np.ndindex(n_arms, n_objectives):
        others = np.delete(above[i], d, axis=1)
        itself = np.arange(n_arms) == i
        over = np.all(others > 0, axis=1) & ~itself
        under = np.all(others < 0, axis=1) & ~itself
        if not front[i]:
            # until it equals the last of its dominators
            changes[0, i, d] = above[i, dominates[i], d].max()
        else:
            # until it dominates an arm on the front
            changes[0, i, d] = above[i, under & front, d].min(initial=np.inf)
            # until an arm dominates it, or an arm that only it dominates is free
            only = dominates[:, i] & (dominates.sum(axis=1) == 1)
            changes[1, i, d] = (-above[i, over | only, d]).min(initial=np.inf)

    return changes


def _by_size(
    room: NDArray[np.float64], change: float, delta: float
) -> NDArray[np.float64]:
    """Return the largest H over subsets of size up to t, for t = 0, ..., N.

    The subsets have the most room.

    Parameters
    ----------
    room : ndarray, shape (N,)
        Possible change of each value, the largest first.
    change : float
        Sums of changes above this number change the front.
    """
    n_instances = len(room)
    best = np.zeros(n_instances + 1)
    # sums[g] - sums[g - m]: room of the m instances of G with the least room
    sums = np.concatenate([[0.0], np.cumsum(room)])
    # g - m, or -1 if no m is enough
    short = np.searchsorted(sums, sums - change - TIE * n_instances) - 1
    g = np.flatnonzero(short >= 0)
    if len(g):
        best[g] = needed_in(g, g - short[g], delta)
    return np.maximum.accumulate(best)


def needed_in(g: ArrayLike, m: ArrayLike, delta: float) -> NDArray[np.float64]:
    r"""Return the smallest h with :math:`\binom{g - h}m \le 2 \delta \binom gm`.

    It is linear between whole numbers.

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
    If any one of ten instances decides, nine have to be evaluated to miss it in only
    one of ten cases.

    >>> needed_in([10, 10], [1, 2], delta=0.05).round(6)
    array([9. , 6.5])
    """
    g = np.asarray(g)
    m = np.asarray(m)
    # in logarithms, since binomial coefficients such as (2,000 choose 1,000) overflow
    allowed = np.log(2 * delta) if delta > 0 else -np.inf
    log_factorial = np.concatenate(
        [[0.0], np.cumsum(np.log(np.arange(1, g.max() + 1)))]
    )

    def missed(h: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithm of the share of m-subsets that h of g instances miss."""
        unseen = g - h
        logarithm = log_factorial[unseen] - log_factorial[np.maximum(unseen - m, 0)]
        logarithm += log_factorial[g - m] - log_factorial[g]
        return np.where(unseen < m, -np.inf, logarithm)

    # missed(low) > log(2 delta) >= missed(high)
    low = np.zeros_like(g)
    high = g - m + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_enough = missed(middle) <= allowed
        low = np.where(is_enough, low, middle)
        high = np.where(is_enough, middle, high)
    log_low = missed(low)
    log_high = missed(high)
    return low + np.expm1(allowed - log_low) / np.expm1(log_high - log_low)
