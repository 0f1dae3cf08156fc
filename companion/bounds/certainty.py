"""Fewest evaluations of a finite benchmark after which its front is certain (ours)."""

from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.dominance import TIE, pareto_mask
from cobandit.errors import CobanditError


# ----------------------------------------------------------------------------- what certainty costs at least
def least_instances(counts: ArrayLike, other: ArrayLike, delta: float) -> float:
    r"""Instances that a method touches on average if it meets them in random order.

    Two tables of N instances have :math:`c_g` and :math:`c'_g` instances of kind g, a
    kind being what all configurations score on one of them, and different fronts.  A
    method that returns the front of either with probability at least :math:`1 -
    \delta`, and cannot know which instance is of which kind, touches on the first table

    .. math::

        \mathrm E\, \tau \ge \sum_{n=0}^{N-1} (1 - \delta - \beta_n)^+

    instances on average, :math:`\beta_n` being the power of the best test of level
    :math:`\delta` of the second table against the first, from n instances drawn without
    replacement.

    To answer with the first front after at most n instances is such a test: on the
    second table that is wrong, and has probability at most :math:`\delta`; on the first
    one it has probability at least :math:`\Pr[\tau \le n] - \delta`.  So
    :math:`\Pr[\tau > n] \ge 1 - \delta - \beta_n`; add up over n. The instances touched
    are a random sample in whatever order a method asks for them, and the whole of each
    may be shown to it.  By Neyman and Pearson the best test goes by the ratio of two
    multivariate hypergeometric probabilities.  `least_evaluations` bounds methods that
    may know this very table, and so which instances decide; that is why it is far
    below.

    Parameters
    ----------
    counts, other : array_like of int, shape (G,)
        :math:`c` and :math:`c'`, each adding up to N.  For two configurations and one binary objective G = 3:
        only the first right, only the second, both or neither.
    delta : float
        In [0, 1/2).

    Returns
    -------
    float
        Time O(N M) for M, the product of the larger counts of all kinds but the last,
        plus one each.

    Examples
    --------
    Of 40 instances, 10 speak for one configuration and 4 for the other; of the other table 7 and 7.

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
            "counts and other: of one length, not negative, and with the same sum are"
            " needed"
        )
    log_factorial = gammaln(np.arange(n_instances + 1) + 1.0)

    def log_choose(
        total: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        inside = (chosen >= 0) & (chosen <= total)
        k = np.where(inside, chosen, 0)
        ways = log_factorial[total] - log_factorial[k] - log_factorial[total - k]
        return np.where(inside, ways, -inf)

    kinds = np.indices(tables.max(axis=0)[:-1] + 1).reshape(tables.shape[1] - 1, -1)
    seen = [
        sum(log_choose(np.asarray(c), x) for c, x in zip(row[:-1], kinds, strict=True))
        for row in tables
    ]
    least = 0.0
    for n in range(n_instances):
        rest = n - kinds.sum(axis=0)
        ways = log_choose(np.asarray(n_instances), np.asarray(n))
        logs = [
            part + log_choose(row[-1], rest) - ways
            for part, row in zip(seen, tables, strict=True)
        ]
        possible = logs[0] > -inf
        order = np.argsort(logs[1][possible] - logs[0][possible], kind="stable")
        first, second = (np.exp(each[possible][order]) for each in logs)
        # outcomes as long as the level holds them, and of the next one the part that it
        # still holds
        level = np.cumsum(second)
        whole = int(np.searchsorted(level, delta, side="right"))
        power = float(first[:whole].sum())
        if whole < len(level):
            power += float(
                first[whole]
                / second[whole]
                * (delta - (level[whole - 1] if whole else 0.0))
            )
        least += max(0.0, 1 - delta - power)
    return least


def least_evaluations(rewards: ArrayLike, delta: float = 0.0) -> NDArray[np.float64]:
    r"""Return the evaluations that no method can do without, of each configuration of a finite table.

    Take any method, randomised or not, whatever it looks at and whenever it stops, that
    returns the front of *every* table of values in [0, 1] with probability at least
    :math:`1 - \delta`, and let :math:`T_i` be how often it evaluates configuration i on
    this table.  Let G be g instances such that raising (or lowering) i in one objective
    on any m of them changes the front.  Then

    .. math::

        \mathrm E[T_i] \ge \mathrm E[h] \ge H(g, m), \qquad
        \binom{g - H}{m} = 2 \delta \binom gm ,

    where h counts the evaluations of i in G.  For let Q be m instances of G and A the
    event that i is evaluated on none of them.  Up to the first evaluation in Q the
    method cannot tell this table from the one changed on Q, where the same answer is
    wrong: :math:`\Pr[A] \le \delta + \delta`, wrong here or wrong there.  Averaged over
    all Q in G, :math:`\Pr[A \mid h] = \binom{g - h}m / \binom gm`, which is convex in h
    (H is read off the line between two whole numbers), and Jensen's inequality gives
    the rest.

    Of all G that hold the g instances with the most room the best is taken, and of
    raising and lowering on instances apart the sum.  With ``delta=0`` this is
    certainty: i has to be evaluated on all of G but m - 1. Configurations are bounded
    one by one, as if all others were known, so that the truth is higher.  And the
    method may know this very table, and only has to make sure: it is a bound by
    randomised certificates, or fractional block sensitivity (Aaronson, 2008; Tal,
    2013).  `least_instances` bounds methods that have to find out which instances
    decide.

    Parameters
    ----------
    rewards : array_like, shape (K, N, D)
        In [0, 1]: the whole table.
    delta : float
        In [0, 1/2).

    Returns
    -------
    ndarray, shape (K,)
        Lower bounds of the expected numbers of evaluations, each at most N.  Zero where
        no change of that configuration alone changes the front.  Time O(K^2 D + K D N
        log N).

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
    rewards = _validation.numbers(rewards, "rewards", 3)
    if (
        not rewards.size
        or rewards.min() < 0
        or rewards.max() > 1
        or not 0 <= delta < 0.5
    ):
        raise CobanditError(
            "rewards in [0, 1], one at least, and delta in [0, 1/2) are needed"
        )

    n_instances = rewards.shape[1]

    raising, lowering = smallest_changes(rewards.mean(axis=1)) * n_instances
    least = np.zeros(len(rewards))
    for i, d in np.ndindex(raising.shape):
        values = np.sort(rewards[i, :, d])
        raised = _by_size(1 - values, raising[i, d], delta)
        lowered = _by_size(values[::-1], lowering[i, d], delta)
        # the t lowest values are raised, the others lowered
        least[i] = max(least[i], (raised + lowered[::-1]).max())

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
        Of rising and of falling, each in one objective; any larger change will do.
        Infinite where none does.

    Examples
    --------
    >>> smallest_changes([[0.75], [0.5]]).squeeze()
    array([[ inf, 0.25],
           [0.25,  inf]])
    """
    means = _validation.numbers(means, "means", 2)
    n_arms, n_objectives = means.shape
    above = means[None, :, :] - means[:, None, :]  # of j over i
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
        if not front[i]:  # until it is level with the last that dominates it
            changes[0, i, d] = above[i, dominates[i], d].max()
        else:  # until it dominates one on the front, or one dominates it
            changes[0, i, d] = above[i, under & front, d].min(initial=np.inf)
            # or until it lets one go
            only = dominates[:, i] & (dominates.sum(axis=1) == 1)
            changes[1, i, d] = (-above[i, over | only, d]).min(initial=np.inf)

    return changes


def _by_size(
    room: NDArray[np.float64], change: float, delta: float
) -> NDArray[np.float64]:
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
    # sums[g] - sums[g - m]: what the m with the least room in G come to
    sums = np.concatenate([[0.0], np.cumsum(room)])
    # g - m, or -1: never
    short = np.searchsorted(sums, sums - change - TIE * n_instances) - 1
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
    g = np.asarray(g)
    m = np.asarray(m)
    # in logarithms: a share of one in (2,000 choose 1,000) is smaller than any
    # floating-point number
    allowed = np.log(2 * delta) if delta > 0 else -np.inf
    log_factorial = np.concatenate(
        [[0.0], np.cumsum(np.log(np.arange(1, g.max() + 1)))]
    )

    def missed(h: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of the m-subsets that h of g instances miss, its logarithm."""
        left = g - h
        logarithm = log_factorial[left] - log_factorial[np.maximum(left - m, 0)]
        logarithm += log_factorial[g - m] - log_factorial[g]
        return np.where(left < m, -np.inf, logarithm)

    # missed(low) > log(2 delta) >= missed(high)
    low = np.zeros_like(g)
    high = g - m + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = missed(middle) <= allowed
        low = np.where(enough, low, middle)
        high = np.where(enough, middle, high)
    before = missed(low)
    after = missed(high)
    return low + np.expm1(allowed - before) / np.expm1(after - before)
