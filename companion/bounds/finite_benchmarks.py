r"""Tail bounds for sampling without replacement, and error bounds from them (ours).

N instances are in uniformly random order. :math:`\hat\mu_n` is the mean over the first
n instances, and :math:`\mu` is the mean over all N. Both are means of a configuration's
rewards, or of the paired differences of two configurations. All bounds use two facts.

* :math:`\hat\mu_N, \hat\mu_{N-1}, \dots, \hat\mu_1` is a martingale: given
  the set of the first n instances, each of them is the n-th with equal probability. By
  Doob's inequality, a bound from :math:`\mathrm E\, e^{s(\hat\mu_n - \mu)}` holds for
  the largest deviation over *all* depths from n to N, without loss.
* The mean of the first n instances determines the mean of the other N - n:
  :math:`n (\hat\mu_n - \mu) = (N - n)(\mu - \hat\mu_{\text{rest}})`. The other
  N - n instances are a random sample as well. A bound for their mean is therefore a
  bound for :math:`\hat\mu_n`, which is sharper if N - n is small.
"""

from collections.abc import Sequence
from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.errors import CobanditError


def _depth(n: int, n_instances: int) -> tuple[int, int]:
    n_instances = _validation.count(n_instances, "n_instances", 1)
    if _validation.count(n, "n", 1) > n_instances:
        raise CobanditError(
            f"n is {n}; it must be at most n_instances, which is {n_instances}",
            argument="n",
            code="out-of-range",
        )
    return n, n_instances


def serfling_factor(n: int, n_instances: int) -> float:
    r"""Return the factor by which sampling without replacement sharpens a tail bound.

    The factor multiplies the denominator of the bound's exponent.

    .. math::

        \rho_n = \min\Bigl\{1 - \frac{n-1}{N},\
            \Bigl(1 - \frac nN\Bigr)\Bigl(1 + \frac1n\Bigr)\Bigr\}

    The first term is Serfling's (1974). The second term is by Bardenet and Maillard
    (2015), who apply Serfling's argument to the other N - n instances. The second term
    is the smaller one for n > N / 2.

    Parameters
    ----------
    n : int
        Number of evaluated instances, 1 <= n <= N.
    n_instances : int
        N.

    Returns
    -------
    float
        The factor, 1 at n = 1 and zero at n = N.

    Examples
    --------
    >>> [serfling_factor(n, 4) for n in (1, 2, 3, 4)]
    [1.0, 0.75, 0.3333333333333333, 0.0]
    """
    n, n_instances = _depth(n, n_instances)
    unseen = (n_instances - n) / n_instances
    return min(unseen + 1 / n_instances, unseen * (1 + 1 / n))


def hoeffding_serfling_tail(
    deviation: float, n: int, n_instances: int, width: float = 1.0
) -> float:
    r"""Return a bound on the probability that a running mean deviates after n draws.

    The draws are without replacement, and the deviation is on one side:

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
        The bound, zero at n = N.

    Examples
    --------
    >>> hoeffding_serfling_tail(0.5, 4, 4)
    0.0
    >>> hoeffding_serfling_tail(0.5, 2, 4) == exp(-4 / 3)
    True
    """
    factor = serfling_factor(n, n_instances)
    deviation = _validation.positive(deviation, "deviation")
    width = _validation.positive(width, "width")
    return exp(-2 * n * (deviation / width) ** 2 / factor) if factor else 0.0


def bernstein_serfling_tail(
    deviation: float, n: int, n_instances: int, variance: float, width: float = 1.0
) -> float:
    r"""Return a bound like `hoeffding_serfling_tail` that uses the variance.

    .. math::

        \Pr\Bigl[\max_{n \le k \le N} (\hat\mu_k - \mu) \ge \varepsilon\Bigr]
            \le \min_{(m, \eta)} \exp\Bigl(-\frac{m \eta^2}
                {2 \sigma^2 + \tfrac23 (b - a)\, \eta}\Bigr),
        \qquad (m, \eta) \in \Bigl\{(n, \varepsilon),
            \Bigl(N - n, \frac{n \varepsilon}{N - n}\Bigr)\Bigr\}

    Bernstein's bound on the exponential moment also holds without replacement, because
    a sum with replacement is larger in convex order (Hoeffding, 1963). The second pair
    applies the bound to the other N - n instances. The variance of a mean without
    replacement has a factor 1 - n/N, which this bound lacks. The exponent of this bound
    is therefore max(n/N, 1 - n/N) times the exponent with this factor. The worst case
    is n = N/2, where the exponent is half as large.

    Parameters
    ----------
    deviation, n, n_instances, width
        As in `hoeffding_serfling_tail`.
    variance : float
        :math:`\sigma^2`, the variance over all N instances (with the divisor N).

    Returns
    -------
    float
        The bound, zero at n = N and at a variance of zero.

    Examples
    --------
    The answers of two similar configurations differ in two of a hundred cases.

    >>> round(hoeffding_serfling_tail(0.05, 400, 500, width=2.0), 3)
    0.083
    >>> round(bernstein_serfling_tail(0.05, 400, 500, variance=0.02, width=2.0), 6)
    2e-06
    """
    n, n_instances = _depth(n, n_instances)
    deviation = _validation.positive(deviation, "deviation")
    width = _validation.positive(width, "width")
    variance = _validation.non_negative(variance, "variance")
    n_others = n_instances - n
    if not n_others or not variance:
        return 0.0

    def bound(m: int, deviation_of_mean: float) -> float:
        return exp(
            -m
            * deviation_of_mean**2
            / (2 * variance + 2 / 3 * width * deviation_of_mean)
        )

    return min(bound(n, deviation), bound(n_others, n * deviation / n_others))


def _phases(depths: Sequence[int], gaps: ArrayLike) -> np.ndarray:
    """Return classification gaps from the largest to the second smallest, checked.

    Raises `CobanditError` if a gap is negative or the lengths do not match.
    """
    ordered = np.sort(_validation.numbers(gaps, "gaps", 1))[::-1]
    if len(ordered) < 2 or ordered[-1] < 0 or len(depths) != len(ordered) - 1:
        raise CobanditError(
            "gaps must be at least two numbers, none negative, and depths must have one"
            " entry fewer",
            argument="gaps",
            code="bad-gaps",
        )
    return ordered[:-1]


def _zero_gap_bound(n: int, n_instances: int) -> float:
    """Return the error bound at a classification gap of zero: infinite unless n = N.

    Only evaluating every instance can resolve a tie.
    """
    return 0.0 if n == n_instances else inf


def once_error_bound(
    depths: Sequence[int],
    gaps: ArrayLike,
    *,
    n_objectives: int,
    n_instances: int,
    delta: float = 0.0,
) -> float:
    r"""Return an error bound for gap elimination on a finite benchmark (ours).

    Gap elimination removes, one after another, the active arm with the largest
    empirical classification gap. While k arms are active, each has been evaluated on
    the first n_k instances or more. The bound is the counterpart of Theorem 2:

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            \delta + 2 K D \sum_{k=2}^K
            \exp\Bigl(-\frac{n_k\, \gamma_{(k)}^2}{32\, \rho_{n_k}}\Bigr)

    A removal among k arms is wrong only if one of the K D means is off by
    :math:`\gamma_{(k)} / 8` (Lemma 2). The depth of the removal may depend on the
    results, because the tail bound holds for all depths from n_k on. Phases at n_k = N
    add nothing. As in `CoPSIPrintedOnce` and `PSISROnce`, gaps are not divided by
    standard errors. Paired differences have width 2 and an allowed error of
    :math:`\gamma_{(k)} / 4`, which gives the same exponent. The advantage of pairing is
    in the variance (see `paired_error_bound`).

    In addition, arms whose classification is certain may be removed early, with a joint
    error probability of :math:`\delta`, under two rules. Certainly dominated arms are
    removed first. An arm on the front stays active while it is uncertain whether it
    dominates an active arm. Whenever an arm is removed by its gap, every dominated
    active arm then has an active dominator. Lemma 2 requires nothing else of the active
    arms.

    Parameters
    ----------
    depths : sequence of int, length K - 1
        Numbers of evaluated instances :math:`n_K, n_{K-1}, \dots, n_2`, in the order of
        the removals.
    gaps : array_like, shape (K,)
        Classification gaps of the means over all instances.
    n_objectives, n_instances : int
        D and N.
    delta : float
        Probability of an error in early removals, in [0, 1); zero without early
        removals.

    Returns
    -------
    float
        The bound, which is vacuous above one.

    Examples
    --------
    >>> size = {"n_objectives": 2, "n_instances": 500}
    >>> once_error_bound([500, 500], [0.1, 0.1, 0.2], **size, delta=0.05)
    0.05
    """
    n_arms = len(_phases(depths, gaps)) + 1
    terms = [
        (
            hoeffding_serfling_tail(gap / 8, n, n_instances)
            if gap
            else _zero_gap_bound(n, n_instances)
        )
        for n, gap in zip(depths, _phases(depths, gaps), strict=True)
    ]
    early = _validation.non_negative(delta, "delta")
    return early + 2 * n_arms * _validation.count(
        n_objectives, "n_objectives", 1
    ) * sum(terms)


def paired_error_bound(
    depths: Sequence[int], gaps: ArrayLike, variances: ArrayLike, *, n_instances: int
) -> float:
    r"""Return a bound like `once_error_bound` from variances of differences (ours).

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            2 \sum_{k=2}^K \sum_{i < j} \sum_{d=1}^D
            \tau\Bigl(\frac{\gamma_{(k)}}4, n_k, \sigma_{ijd}^2\Bigr)

    Here :math:`\tau` is the bound of `bernstein_serfling_tail` at width 2. Differences
    of similar configurations on the same instance have small variances. If two
    configurations are independent, the variance of their difference is the sum of their
    variances.

    Parameters
    ----------
    depths, gaps, n_instances
        As in `once_error_bound`.
    variances : array_like, shape (K, K, D)
        :math:`\sigma_{ijd}^2`, the variances of paired differences over all N
        instances.

    Returns
    -------
    float
        The bound, which is vacuous above one.

    Examples
    --------
    >>> alike = np.full((2, 2, 1), 0.02)
    >>> round(paired_error_bound([400], [0.2, 0.2], alike, n_instances=500), 6)
    4e-06
    """
    needed = _phases(depths, gaps)
    variances = _validation.numbers(variances, "variances", 3)
    if variances.shape[:2] != (len(needed) + 1,) * 2:
        raise CobanditError(
            f"variances has shape {variances.shape}; it must have shape (K, K, D) with"
            f" K = {len(needed) + 1}",
            argument="variances",
            code="wrong-shape",
        )

    pairs = variances[np.triu_indices(len(variances), 1)].ravel().tolist()
    return 2 * sum(
        (
            bernstein_serfling_tail(gap / 4, n, n_instances, variance, 2.0)
            if gap
            else _zero_gap_bound(n, n_instances)
        )
        for n, gap in zip(depths, needed, strict=True)
        for variance in pairs
    )
