r"""Finite benchmarks, not the paper's: sampling without replacement, and Theorem 2 with :math:`1 - n/N`.

N instances stand in uniformly random order; :math:`\hat\mu_n` is the mean of a configuration, or of the
paired differences of two, over the first n of them, :math:`\mu` that over all N.  Two remarks are behind all
bounds.

* :math:`\hat\mu_N, \hat\mu_{N-1}, \dots, \hat\mu_1` is a martingale: given the set of the first n instances,
  the last of them is any of these.  By Doob's inequality a bound that comes from :math:`\mathrm E\,
  e^{s(\hat\mu_n - \mu)}` holds for the largest deviation over *all* depths from n to N, at no price.
* What was seen determines what was not: :math:`n (\hat\mu_n - \mu) = (N - n)(\mu - \hat\mu_{\text{rest}})`,
  and the rest is a sample of N - n.  A bound for it is one for :math:`\hat\mu_n`, better the less is left.
"""

from collections.abc import Sequence
from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import TIE, pareto_mask
from cobandit.errors import CobanditError


def _depth(n: int, n_instances: int) -> tuple[int, int]:
    n_instances = _check.count(n_instances, "n_instances", 1)
    if _check.count(n, "n", 1) > n_instances:
        raise CobanditError(f"n is {n}, more than the {n_instances} instances that there are")
    return n, n_instances


def serfling_factor(n: int, n_instances: int) -> float:
    r"""What not replacing leaves of the exponent's denominator, :math:`\rho_n`.

    .. math:: \rho_n = \min\Bigl\{1 - \frac{n-1}{N},\ \Bigl(1 - \frac nN\Bigr)\Bigl(1 + \frac1n\Bigr)\Bigr\}

    The first is Serfling's (1974), the second, smaller from n > N / 2 on, that of Bardenet and Maillard
    (2015): Serfling's for the N - n instances that were not seen.

    Parameters
    ----------
    n : int
        Instances seen, 1 <= n <= N.
    n_instances : int
        N.

    Returns
    -------
    float
        1 at n = 1, zero at n = N.

    Examples
    --------
    >>> [serfling_factor(n, 4) for n in (1, 2, 3, 4)]
    [1.0, 0.75, 0.3333333333333333, 0.0]
    """
    n, n_instances = _depth(n, n_instances)
    unseen = (n_instances - n) / n_instances
    return min(unseen + 1 / n_instances, unseen * (1 + 1 / n))


def hoeffding_serfling_tail(deviation: float, n: int, n_instances: int, width: float = 1.0) -> float:
    r"""Probability that the mean is ever off by so much, to one side, from depth n on.

    .. math::

        \Pr\Bigl[\max_{n \le k \le N} (\hat\mu_k - \mu) \ge \varepsilon\Bigr]
            \le \exp\Bigl(-\frac{2 n \varepsilon^2}{\rho_n\, (b - a)^2}\Bigr)

    Parameters
    ----------
    deviation : float
        epsilon > 0.
    n, n_instances : int
        1 <= n <= N.
    width : float
        b - a: 1 for a reward, 2 for a paired difference.

    Returns
    -------
    float
        Zero at n = N.

    Examples
    --------
    >>> hoeffding_serfling_tail(0.5, 4, 4), hoeffding_serfling_tail(0.5, 2, 4) == exp(-4 / 3)
    (0.0, True)
    """
    factor = serfling_factor(n, n_instances)
    deviation, width = _check.positive(deviation, "deviation"), _check.positive(width, "width")
    return exp(-2 * n * (deviation / width) ** 2 / factor) if factor else 0.0


def bernstein_serfling_tail(
    deviation: float, n: int, n_instances: int, variance: float, width: float = 1.0
) -> float:
    r"""Probability that the mean is ever off by so much, to one side, from depth n on, given the variance.

    .. math::

        \Pr\Bigl[\max_{n \le k \le N} (\hat\mu_k - \mu) \ge \varepsilon\Bigr]
            \le \min_{(m, \eta)} \exp\Bigl(-\frac{m \eta^2}{2 \sigma^2 + \tfrac23 (b - a)\, \eta}\Bigr),
        \qquad (m, \eta) \in \Bigl\{(n, \varepsilon),
            \Bigl(N - n, \frac{n \varepsilon}{N - n}\Bigr)\Bigr\}

    Bernstein's bound of the exponential moment holds without replacement, too, since a sum with replacement
    is larger in convex order (Hoeffding, 1963); the second pair is the first for the instances not seen.
    Neither has the factor 1 - n/N that the variance of a mean without replacement has: the exponent is n/N
    or 1 - n/N of what that variance would give, whichever is larger, and so half of it at n = N/2.

    Parameters
    ----------
    deviation, n, n_instances, width
        As in `hoeffding_serfling_tail`.
    variance : float
        :math:`\sigma^2` over all N instances, divided by N.

    Returns
    -------
    float
        Zero at n = N, and at variance zero.

    Examples
    --------
    Configurations that answer alike: two answers in a hundred differ.

    >>> round(hoeffding_serfling_tail(0.05, 400, 500, width=2.0), 3)
    0.083
    >>> round(bernstein_serfling_tail(0.05, 400, 500, variance=0.02, width=2.0), 6)
    2e-06
    """
    n, n_instances = _depth(n, n_instances)
    deviation, width = _check.positive(deviation, "deviation"), _check.positive(width, "width")
    variance = _check.non_negative(variance, "variance")
    rest = n_instances - n
    if not rest or not variance:
        return 0.0

    def bound(m: int, off: float) -> float:
        return exp(-m * off**2 / (2 * variance + 2 / 3 * width * off))

    return min(bound(n, deviation), bound(rest, n * deviation / rest))


def _phases(depths: Sequence[int], gaps: ArrayLike) -> np.ndarray:
    """Check depths n_K, ..., n_2 and gaps; the gaps that the phases need, gamma_(K), ..., gamma_(2)."""
    ordered = np.sort(_check.numbers(gaps, "gaps", 1))[::-1]
    if len(ordered) < 2 or ordered[-1] < 0 or len(depths) != len(ordered) - 1:
        raise CobanditError("gaps: two or more, none negative, are needed, and a depth for each removal")
    return ordered[:-1]


def once_error_bound(
    depths: Sequence[int], gaps: ArrayLike, *, n_objectives: int, n_instances: int, delta: float = 0.0
) -> float:
    r"""Theorem 2 on a finite benchmark: a gap elimination whose k active arms were compared at n_k or deeper.

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            \delta + 2 K D \sum_{k=2}^K \exp\Bigl(-\frac{n_k\, \gamma_{(k)}^2}{32\, \rho_{n_k}}\Bigr)

    A removal among k arms goes wrong only if one of the K D means is off by :math:`\gamma_{(k)} / 8`
    (Lemma 2).  The depth of the removal may depend on what was seen, since the tail holds for all depths
    from n_k on.  Phases at n_k = N add nothing.  Removals are by the plain gap, one at a time, as in
    `CoPSIPrintedOnce` and `PSISROnce`.  Paired differences, of width 2 and allowed :math:`\gamma_{(k)} / 4`,
    have the same exponent: what pairing buys needs the variance, as in `paired_error_bound`.

    Besides, arms may leave early whose membership is certain, all at confidence :math:`1 - \delta`, if those
    that are certainly dominated go first and one on the front stays while it is not known of an active arm
    whether it dominates that: with these two rules the fixed dominator of a dominated active arm is active at
    every removal by the gap, which is all that Lemma 2 asks of who is active.

    Parameters
    ----------
    depths : sequence of int, length K - 1
        :math:`n_K, n_{K-1}, \dots, n_2`, in the order of the removals.
    gaps : array_like, shape (K,)
        Classification gaps of the full means.
    n_objectives, n_instances : int
        D and N.
    delta : float
        In [0, 1): what may go wrong with the arms that leave early; zero if none does.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    >>> once_error_bound([500, 500], [0.1, 0.1, 0.2], n_objectives=2, n_instances=500, delta=0.05)
    0.05
    """
    n_arms = len(_phases(depths, gaps)) + 1
    terms = [
        hoeffding_serfling_tail(gap / 8, n, n_instances) if gap else _at_no_gap(n, n_instances)
        for n, gap in zip(depths, _phases(depths, gaps), strict=True)
    ]
    early = _check.non_negative(delta, "delta")
    return early + 2 * n_arms * _check.count(n_objectives, "n_objectives", 1) * sum(terms)


def paired_error_bound(
    depths: Sequence[int], gaps: ArrayLike, variances: ArrayLike, *, n_instances: int
) -> float:
    r"""Error of the same elimination by the variances of paired differences.

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            2 \sum_{k=2}^K \sum_{i < j} \sum_{d=1}^D
            \tau\Bigl(\frac{\gamma_{(k)}}4, n_k, \sigma_{ijd}^2\Bigr)

    with :math:`\tau` of `bernstein_serfling_tail` at width 2.  Configurations that answer alike have small
    variances; if their answers were independent, the variance would be the sum of both.

    Parameters
    ----------
    depths, gaps, n_instances
        As in `once_error_bound`.
    variances : array_like, shape (K, K, D)
        :math:`\sigma_{ijd}^2` of the paired differences over all N instances.

    Returns
    -------
    float
        It may exceed one, and then says nothing.

    Examples
    --------
    >>> alike = np.full((2, 2, 1), 0.02)
    >>> round(paired_error_bound([400], [0.2, 0.2], alike, n_instances=500), 6)
    4e-06
    """
    needed = _phases(depths, gaps)
    variances = _check.numbers(variances, "variances", 3)
    if variances.shape[:2] != (len(needed) + 1,) * 2:
        raise CobanditError(f"variances: shape (K, K, D) for {len(needed) + 1} arms, got {variances.shape}")
    pairs = variances[np.triu_indices(len(variances), 1)].ravel().tolist()
    return 2 * sum(
        bernstein_serfling_tail(gap / 4, n, n_instances, variance, 2.0) if gap else _at_no_gap(n, n_instances)
        for n, gap in zip(depths, needed, strict=True)
        for variance in pairs
    )


def _at_no_gap(n: int, n_instances: int) -> float:
    """A gap of zero is never told before everything is seen."""
    return 0.0 if n == n_instances else inf


# ----------------------------------------------------------------------------- what certainty costs at least
def least_instances(counts: ArrayLike, other: ArrayLike, delta: float) -> float:
    r"""Instances that a method touches on average if it meets them in random order.

    Two tables of N instances have :math:`c_g` and :math:`c'_g` instances of kind g, a kind being what all
    configurations score on one of them, and different fronts.  A method that returns the front of either
    with probability at least :math:`1 - \delta`, and cannot know which instance is of which kind, touches
    on the first table

    .. math::

        \mathrm E\, \tau \ge \sum_{n=0}^{N-1} (1 - \delta - \beta_n)^+

    instances on average, :math:`\beta_n` being the power of the best test of level :math:`\delta` of the
    second table against the first, from n instances drawn without replacement.

    To answer with the first front after at most n instances is such a test: on the second table that is
    wrong, and has probability at most :math:`\delta`; on the first one it has probability at least
    :math:`\Pr[\tau \le n] - \delta`.  So :math:`\Pr[\tau > n] \ge 1 - \delta - \beta_n`; add up over n.
    The instances touched are a random sample in whatever order a method asks for them, and the whole of each
    may be shown to it.  By Neyman and Pearson the best test goes by the ratio of two multivariate
    hypergeometric probabilities.  `least_evaluations` bounds methods that may know this very table, and so
    which instances decide; that is why it is far below.

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
        Time O(N M) for M, the product of the larger counts of all kinds but the last, plus one each.

    Examples
    --------
    Of 40 instances, 10 speak for one configuration and 4 for the other; of the other table 7 and 7.

    >>> round(least_instances([10, 4, 26], [7, 7, 26], delta=0.05), 1)
    17.9
    """
    from scipy.special import gammaln

    tables = np.array([counts, other], dtype=np.int64)
    n_instances = int(tables[0].sum())
    if tables.ndim != 2 or tables.min() < 0 or tables[1].sum() != n_instances or n_instances < 1:
        raise CobanditError("counts and other: of one length, not negative, and with the same sum are needed")
    log_factorial = gammaln(np.arange(n_instances + 1) + 1.0)

    def log_choose(total: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        inside = (chosen >= 0) & (chosen <= total)
        k = np.where(inside, chosen, 0)
        ways = log_factorial[total] - log_factorial[k] - log_factorial[total - k]
        return np.where(inside, ways, -inf)

    kinds = np.indices(tables.max(axis=0)[:-1] + 1).reshape(tables.shape[1] - 1, -1)
    seen = [sum(log_choose(np.asarray(c), x) for c, x in zip(row[:-1], kinds, strict=True)) for row in tables]
    least = 0.0
    for n in range(n_instances):
        rest, ways = n - kinds.sum(axis=0), log_choose(np.asarray(n_instances), np.asarray(n))
        logs = [part + log_choose(row[-1], rest) - ways for part, row in zip(seen, tables, strict=True)]
        possible = logs[0] > -inf
        order = np.argsort(logs[1][possible] - logs[0][possible], kind="stable")
        first, second = (np.exp(each[possible][order]) for each in logs)
        # outcomes as long as the level holds them, and of the next one the part that it still holds
        level = np.cumsum(second)
        whole = int(np.searchsorted(level, delta, side="right"))
        power = float(first[:whole].sum())
        if whole < len(level):
            power += float(first[whole] / second[whole] * (delta - (level[whole - 1] if whole else 0.0)))
        least += max(0.0, 1 - delta - power)
    return least


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
    Configurations are bounded one by one, as if all others were known, so that the truth is higher.  And the
    method may know this very table, and only has to make sure: it is a bound by randomised certificates, or
    fractional block sensitivity (Aaronson, 2008; Tal, 2013).  `least_instances` bounds methods that have to
    find out which instances decide.

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
    if not rewards.size or rewards.min() < 0 or rewards.max() > 1 or not 0 <= delta < 0.5:
        raise CobanditError("rewards in [0, 1], one at least, and delta in [0, 1/2) are needed")
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
            only = dominates[:, i] & (dominates.sum(axis=1) == 1)  # or until it lets one go
            changes[1, i, d] = (-above[i, over | only, d]).min(initial=np.inf)
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
