"""Lower bounds on the evaluations that identify a finite benchmark's front (ours)."""

from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.dominance import TIE, pareto_mask
from cobandit.errors import CobanditError


def least_instances(counts: ArrayLike, other: ArrayLike, delta: float) -> float:
    r"""Return a lower bound on the mean number of instances that a method needs (ours).

    The kind of an instance is the vector of the scores of all configurations on it. Two
    tables of N instances have :math:`c_g` and :math:`c'_g` instances of kind g, and
    different fronts. Consider a method that returns the right front of each table with
    probability at least :math:`1 - \delta`, and that does not know the kind of an
    instance before evaluating it. Let :math:`\tau` be the number of instances that the
    method evaluates on the first table. Then

    .. math::

        \mathrm E\, \tau \ge \sum_{n=0}^{N-1} (1 - \delta - \beta_n)^+ ,

    where :math:`\beta_n` is the largest power of a test of the second table against the
    first. The test has level :math:`\delta`, and sees n instances, drawn without
    replacement.

    *Proof.* Consider the test that rejects the second table if the method returns the
    first front after at most n instances. On the second table, this front is wrong, so
    the test rejects with probability at most :math:`\delta`. On the first table, it
    rejects with probability at least :math:`\Pr[\tau \le n] - \delta`. Therefore
    :math:`\Pr[\tau > n] \ge 1 - \delta - \beta_n`, and the bound is the sum over n. As
    the method does not know the kinds, any order in which it evaluates the instances
    gives a random sample. The proof allows the method to see all scores of an instance.
    By the Neyman-Pearson lemma, the best test uses the ratio of two multivariate
    hypergeometric probabilities.

    The bound of `least_evaluations` is far smaller, because it also holds for methods
    that know this table, and therefore know which instances decide the front.

    Parameters
    ----------
    counts, other : array_like of int, shape (G,)
        :math:`c` and :math:`c'`, each with sum N. For two configurations and one binary
        objective, there are G = 3 kinds: only the first is right; only the second is
        right; both or neither are right.
    delta : float
        Allowed probability of a wrong front, in [0, 1/2).

    Returns
    -------
    float
        The bound. Time O(N M), where M is the product of :math:`\max(c_g, c'_g) + 1`
        over all kinds g but the last.

    Examples
    --------
    Of 40 instances, 10 favour one configuration and 4 the other. In the other table, 7
    instances favour each.

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
            "counts and other must have the same length, the same positive sum, and no"
            " negative values",
            argument="counts",
            code="bad-counts",
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
        # the test rejects at the outcomes of largest ratio within the level, and with
        # some probability at the next outcome
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
    r"""Return a lower bound on the mean evaluations of each configuration (ours).

    Consider a method that returns the front of *every* table of values in [0, 1] with
    probability at least :math:`1 - \delta`. The method may be randomised, with any
    choice of evaluations and any stopping rule. Let :math:`T_i` be the method's number
    of evaluations of configuration i on the given table. Let G be a set of g instances
    with the following property: if the rewards of i in one objective are raised (or
    lowered) on any m instances of G, the front can change. Then

    .. math::

        \mathrm E[T_i] \ge \mathrm E[h] \ge H(g, m), \qquad
        \binom{g - H}{m} = 2 \delta \binom gm ,

    where h is the number of evaluations of i in G.

    *Proof.* Let Q be a set of m instances of G, and A the event that i is evaluated on
    none of them. Until the first evaluation in Q, the method cannot distinguish the
    table from the table that is changed on Q. On A, its answer is wrong on one of the
    two tables, so :math:`\Pr[A] \le \delta + \delta`. Averaged over all Q in G,
    :math:`\Pr[A \mid h] = \binom{g - h}m / \binom gm`. This is convex in h (H is
    interpolated between whole numbers), and Jensen's inequality completes the proof.

    The function returns the largest bound over all g, where G contains the g instances
    whose rewards can change most. Bounds for raising and for lowering are added if they
    use disjoint instances. With ``delta=0``, i must be evaluated on all but m - 1
    instances of G. The bound treats the rewards of all other configurations as known,
    so the true minimum may be larger. The bound even holds for a method that knows this
    table and only verifies it. Such bounds are known from randomised certificates and
    fractional block sensitivity (Aaronson, 2008; Tal, 2013). `least_instances` bounds
    methods that must find out which instances decide the front.

    Parameters
    ----------
    rewards : array_like, shape (K, N, D)
        All values of the table, in [0, 1].
    delta : float
        Allowed probability of a wrong front, in [0, 1/2).

    Returns
    -------
    ndarray, shape (K,)
        Lower bounds on the expected numbers of evaluations, each at most N. A bound is
        zero if no change of the configuration alone changes the front. Time O(K^2 D +
        K D N log N).

    Examples
    --------
    The first configuration is right on all ten instances, and the second on six. With
    five wrong answers, the first would be worse than the second, so all but four of its
    answers must be evaluated. The second would not be better than the first even if its
    four wrong answers were right.

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
            "rewards must be a non-empty array of values in [0, 1], and delta must be"
            " in [0, 1/2)",
            argument="rewards",
            code="out-of-range",
        )

    n_instances = rewards.shape[1]

    raising, lowering = smallest_changes(rewards.mean(axis=1)) * n_instances
    bounds = np.zeros(len(rewards))
    for i, d in np.ndindex(raising.shape):
        values = np.sort(rewards[i, :, d])
        raised = _by_size(1 - values, raising[i, d], delta)
        lowered = _by_size(values[::-1], lowering[i, d], delta)
        # the t lowest values are raised, and the others are lowered
        bounds[i] = max(bounds[i], (raised + lowered[::-1]).max())

    return bounds


def smallest_changes(means: ArrayLike) -> NDArray[np.float64]:
    """Return, for each mean, its smallest increase and decrease that change the front.

    An arm is dominated if another arm is strictly better in every objective.

    Parameters
    ----------
    means : array_like, shape (K, D)

    Returns
    -------
    ndarray, shape (2, K, D)
        Infimum of the increases of each mean that change the front, followed by the
        infimum of its decreases. An entry is infinite if no such change exists.

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
            # raise the mean until arm i equals the last of its dominators
            changes[0, i, d] = above[i, dominates[i], d].max()
        else:
            # raise the mean until arm i dominates an arm on the front
            changes[0, i, d] = above[i, under & front, d].min(initial=np.inf)
            # lower the mean until another arm dominates i, or until i no longer
            # dominates an arm whose only dominator is i
            only = dominates[:, i] & (dominates.sum(axis=1) == 1)
            changes[1, i, d] = (-above[i, over | only, d]).min(initial=np.inf)

    return changes


def _by_size(
    room: NDArray[np.float64], change: float, delta: float
) -> NDArray[np.float64]:
    """Return the largest bound H(g, m) over all g <= t, for each t = 0, ..., N.

    The set G consists of the g instances with the most room.

    Parameters
    ----------
    room : ndarray, shape (N,)
        Possible change of each value, largest first.
    change : float
        Smallest total change of the values that changes the front.
    """
    n_instances = len(room)
    best = np.zeros(n_instances + 1)
    # sums[g] - sums[g - m] is the room of the m instances of G with the least room
    sums = np.concatenate([[0.0], np.cumsum(room)])
    # g - m for the smallest sufficient m, or -1 if no m is sufficient
    short = np.searchsorted(sums, sums - change - TIE * n_instances) - 1
    g = np.flatnonzero(short >= 0)
    if len(g):
        best[g] = needed_in(g, g - short[g], delta)
    return np.maximum.accumulate(best)


def needed_in(g: ArrayLike, m: ArrayLike, delta: float) -> NDArray[np.float64]:
    r"""Return the smallest h with :math:`\binom{g - h}m \le 2 \delta \binom gm`.

    The left-hand side is interpolated linearly between whole numbers h.

    Parameters
    ----------
    g, m : array_like of int, shape (n,)
        Number of instances, and number of deciding instances, with 1 <= m <= g.
    delta : float
        Allowed probability of a wrong front, in [0, 1/2).

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    If any one of ten instances may decide the front, a method must evaluate nine to
    miss the deciding instance with probability 1/10.

    >>> needed_in([10, 10], [1, 2], delta=0.05).round(6)
    array([9. , 6.5])
    """
    g = np.asarray(g)
    m = np.asarray(m)
    # in logarithms, because binomial coefficients overflow
    allowed = np.log(2 * delta) if delta > 0 else -np.inf
    log_factorial = np.concatenate(
        [[0.0], np.cumsum(np.log(np.arange(1, g.max() + 1)))]
    )

    def missed(h: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log share of sets of m instances that h evaluations miss."""
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
