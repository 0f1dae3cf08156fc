r"""Finite benchmarks, not the paper's: sampling without replacement, and Theorem 2 with :math:`1 - n/N`.

N instances stand in uniformly random order; :math:`\hat\mu_n` is the mean of a
configuration, or of the paired differences of two, over the first n of them,
:math:`\mu` that over all N.  Two remarks are behind all bounds.

* :math:`\hat\mu_N, \hat\mu_{N-1}, \dots, \hat\mu_1` is a martingale: given the set of
  the first n instances, the last of them is any of these.  By Doob's inequality a bound
  that comes from :math:`\mathrm E\, e^{s(\hat\mu_n - \mu)}` holds for the largest
  deviation over *all* depths from n to N, at no price.
* What was seen determines what was not: :math:`n (\hat\mu_n - \mu) = (N - n)(\mu -
  \hat\mu_{\text{rest}})`, and the rest is a sample of N - n.  A bound for it is one for
  :math:`\hat\mu_n`, better the less is left.
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
            f"n is {n}, more than the {n_instances} instances that there are"
        )
    return n, n_instances


def serfling_factor(n: int, n_instances: int) -> float:
    r"""Return what not replacing leaves of the exponent's denominator, :math:`\rho_n`.

    .. math:: \rho_n = \min\Bigl\{1 - \frac{n-1}{N},\ \Bigl(1 - \frac nN\Bigr)\Bigl(1 + \frac1n\Bigr)\Bigr\}

    The first is Serfling's (1974), the second, smaller from n > N / 2 on, that of
    Bardenet and Maillard (2015): Serfling's for the N - n instances that were not seen.

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


def hoeffding_serfling_tail(
    deviation: float, n: int, n_instances: int, width: float = 1.0
) -> float:
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
    deviation = _validation.positive(deviation, "deviation")
    width = _validation.positive(width, "width")
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

    Bernstein's bound of the exponential moment holds without replacement, too, since a
    sum with replacement is larger in convex order (Hoeffding, 1963); the second pair is
    the first for the instances not seen. Neither has the factor 1 - n/N that the
    variance of a mean without replacement has: the exponent is n/N or 1 - n/N of what
    that variance would give, whichever is larger, and so half of it at n = N/2.

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
    deviation = _validation.positive(deviation, "deviation")
    width = _validation.positive(width, "width")
    variance = _validation.non_negative(variance, "variance")
    rest = n_instances - n
    if not rest or not variance:
        return 0.0

    def bound(m: int, off: float) -> float:
        return exp(-m * off**2 / (2 * variance + 2 / 3 * width * off))

    return min(bound(n, deviation), bound(rest, n * deviation / rest))


def _phases(depths: Sequence[int], gaps: ArrayLike) -> np.ndarray:
    """Check depths n_K, ..., n_2 and gaps; the gaps that the phases need, gamma_(K), ..., gamma_(2)."""
    ordered = np.sort(_validation.numbers(gaps, "gaps", 1))[::-1]
    if len(ordered) < 2 or ordered[-1] < 0 or len(depths) != len(ordered) - 1:
        raise CobanditError(
            "gaps: two or more, none negative, are needed, and a depth for each removal"
        )
    return ordered[:-1]


def _zero_gap_bound(n: int, n_instances: int) -> float:
    """Bound on the error at a gap of zero: a tie is resolved only once every instance is evaluated."""
    return 0.0 if n == n_instances else inf


def once_error_bound(
    depths: Sequence[int],
    gaps: ArrayLike,
    *,
    n_objectives: int,
    n_instances: int,
    delta: float = 0.0,
) -> float:
    r"""Theorem 2 on a finite benchmark: a gap elimination whose k active arms were compared at n_k or deeper.

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            \delta + 2 K D \sum_{k=2}^K \exp\Bigl(-\frac{n_k\, \gamma_{(k)}^2}{32\, \rho_{n_k}}\Bigr)

    A removal among k arms goes wrong only if one of the K D means is off by
    :math:`\gamma_{(k)} / 8` (Lemma 2).  The depth of the removal may depend on what was
    seen, since the tail holds for all depths from n_k on.  Phases at n_k = N add
    nothing.  Removals are by the plain gap, one at a time, as in `CoPSIPrintedOnce` and
    `PSISROnce`.  Paired differences, of width 2 and allowed :math:`\gamma_{(k)} / 4`,
    have the same exponent: what pairing buys needs the variance, as in
    `paired_error_bound`.

    Besides, arms may leave early whose membership is certain, all at confidence
    :math:`1 - \delta`, if those that are certainly dominated go first and one on the
    front stays while it is not known of an active arm whether it dominates that: with
    these two rules the fixed dominator of a dominated active arm is active at every
    removal by the gap, which is all that Lemma 2 asks of who is active.

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
    r"""Error of the same elimination by the variances of paired differences.

    .. math::

        \Pr[\widehat{\mathcal P} \ne \mathcal P^\star] \le
            2 \sum_{k=2}^K \sum_{i < j} \sum_{d=1}^D
            \tau\Bigl(\frac{\gamma_{(k)}}4, n_k, \sigma_{ijd}^2\Bigr)

    with :math:`\tau` of `bernstein_serfling_tail` at width 2.  Configurations that
    answer alike have small variances; if their answers were independent, the variance
    would be the sum of both.

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
    variances = _validation.numbers(variances, "variances", 3)
    if variances.shape[:2] != (len(needed) + 1,) * 2:
        raise CobanditError(
            f"variances: shape (K, K, D) for {len(needed) + 1} arms, got"
            f" {variances.shape}"
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
