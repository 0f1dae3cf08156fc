r"""Limits of means of bounded scores that hold for any number of instances, and whatever the scores.

Student's limits err near the ends of the range: after 40 of 40 right answers the sample
has no variance. Here one instance more, with the worst score that there is, takes part
with a random weight (Gaffke 2005). With independent standard exponential :math:`E_0,
\dots, E_n` and scores in [a, b],

.. math:: p(m) = P\Bigl( \sum_{s=1}^n E_s (x_s - m) + E_0 (a - m) \le 0 \Bigm| x \Bigr)

is a p-value of "the mean is at most m": independent scores of mean at most m give
:math:`p(m) \le \alpha` with probability at most :math:`\alpha`, for every n (Vlassis
and Thomas 2026).  For scores that are all a or b it is Clopper and Pearson's, and as n
grows its limits become as short as Student's.

On a benchmark of N instances, of which n were drawn without replacement, scores that
are all a or b have the hypergeometric distribution.  For others, capital is bet against
the claim (Waudby-Smith and Ramdas 2024). Limits come from an urn with the n scores and
the worst one: the N - n others are drawn from it, and each is put back with another of
its kind (Polya's urn, Lo 1988).  For scores that are all a or b that is the
hypergeometric distribution again, and as N grows the shares of the draws become
Gaffke's weights.

References
----------
N. Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
variable, Mathematical Methods of Statistics 14, 451-467.

A. Y. Lo (1988), A Bayesian bootstrap for a finite population, Annals of Statistics 16,
1684-1695.

N. Vlassis, P. S. Thomas (2026), An exact distribution-free test for means of
nonnegative random variables, arXiv:2607.08415.

J. Ming, A. Ramdas, Y. Shen, R. Wang, I. Waudby-Smith (2026), Gaffke's confidence
interval for the mean of bounded data is inadmissible but asymptotically efficient,
arXiv:2607.18661.

I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by
betting, Journal of the Royal Statistical Society B 86, 1-27.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log

import numpy as np
import scipy  # which loads its parts when they are first asked for
from numpy.typing import ArrayLike, NDArray

from cobandit.dominance import TIE

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Steps of Newton's method, or halvings, at most; mostly five are enough.
STEPS = 100
#: Limits are found to so much of the range, and are its end where they are as close as
#: that.
PRECISION = 1e-7
#: A saddle point so close to zero that a ratio is replaced by its limit.
NEAR = 1e-3
#: So few missing scores are drawn from the urn, so many times, instead of approximated.
FEW, DRAWS = 100, 4000


def doubt_exceeds(
    values: ArrayLike,
    counts: ArrayLike,
    threshold: ArrayLike,
    low: float = 0.0,
    high: float = 1.0,
) -> Floats:
    r"""Return the p-values of "the mean is below a threshold", from independent scores.

    Parameters
    ----------
    values : array_like, shape (k, m) or (m,)
        Scores in [low, high], of k samples.
    counts : array_like, shape (k, m)
        How often each was drawn; zero where a sample does not have it.
    threshold : array_like, shape (k,) or ()
    low, high : float
        Ends of the range.

    Returns
    -------
    ndarray, shape (k,)
        Small where a mean is surely at least its threshold.  Exact for scores that are
        all ``low`` or ``high``.  For others a saddle-point approximation
        (Barndorff-Nielsen's), which is up to a few percent too large where very few
        scores are above the threshold, and exact to a thousandth elsewhere.

    Notes
    -----
    Time O(k m) for about five steps of Newton's method.

    Examples
    --------
    Forty right answers of forty do not show 95 %; sixty do, at a level of .05.

    >>> doubt_exceeds([1.0], [[40], [60]], 0.95).round(3)
    array([0.129, 0.046])
    >>> doubt_exceeds([0.0, 0.5, 1.0], [[0, 1, 59]], 0.95).round(3)
    array([0.09])
    """
    values, counts, threshold = _shape(values, counts, threshold)
    at_ends = _at_ends(values, counts, low, high)
    doubt = np.empty(len(counts))
    if at_ends.any():
        hits = (counts * (values > low)).sum(axis=1)[at_ends]
        misses = counts.sum(axis=1)[at_ends] - hits
        share = np.clip((threshold[at_ends] - low) / (high - low), 0.0, 1.0)
        doubt[at_ends] = _beta(hits, misses + 1, share)

    if not at_ends.all():
        others = ~at_ends
        doubt[others] = _lower_tail(
            values[others], counts[others], threshold[others], low
        )

    return np.where(threshold <= low, 0.0, doubt)


def doubt_exceeds_finite(
    scores: ArrayLike,
    present: ArrayLike,
    threshold: ArrayLike,
    n_instances: int,
    level: float,
    low: float = 0.0,
    high: float = 1.0,
) -> Floats:
    r"""Return the p-values of "the mean of all N instances is below a threshold", from some of them.

    Parameters
    ----------
    scores : array_like, shape (k, I)
        In [low, high], in random order: the first is as likely to be any of the N as
        the last.
    present : array_like of bool, shape (k, I)
        Which of them each sample has.
    threshold : array_like, shape (k,) or ()
    n_instances : int
        N >= I.
    level : float
        The level at which the p-values will be used; bets are sized for it, and are
        valid at every other.
    low, high : float
        Ends of the range.

    Returns
    -------
    ndarray, shape (k,)
        0 or 1 where all N are there.

    Examples
    --------
    >>> scores = np.ones((1, 40))
    >>> for total in (40, 60, 900):
    ...     print(doubt_exceeds_finite(scores, scores > 0, 0.95, total, level=0.05).round(3))
    [0.]
    [0.01]
    [0.117]
    """
    scores = np.asarray(scores, dtype=float)
    present = np.asarray(present, dtype=bool)
    scores, counts, threshold = _shape(scores, present, threshold)

    # as scores in [0, 1], against the largest mean of N such scores that is below the
    # threshold
    scores = (scores - low) / (high - low)
    threshold = (threshold - low) / (high - low)
    at_ends = _at_ends(scores, counts, 0.0, 1.0)
    seen = counts.sum(axis=1)
    sums = (scores * counts).sum(axis=1)
    doubt = np.empty(len(scores))
    if at_ends.any():
        most = np.ceil(n_instances * threshold * (1 - TIE))[at_ends] - 1
        most = np.clip(most, -1, n_instances)
        hits = np.rint(sums[at_ends])
        tail = scipy.stats.hypergeom.sf(
            hits - 1, n_instances, np.maximum(most, 0), seen[at_ends]
        )
        doubt[at_ends] = np.where(most < 0, 0.0, tail)

    if not at_ends.all():
        others = ~at_ends
        doubt[others] = _bet(
            scores[others], present[others], threshold[others], n_instances, level
        )

    exact = seen == n_instances
    met = sums >= n_instances * (threshold - TIE)
    return np.where(exact, np.where(met, 0.0, 1.0), doubt)


def mean_limits(
    values: ArrayLike,
    counts: ArrayLike,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[Floats, Floats]:
    r"""Return the interval of each mean, from independent scores.

    The score of the one instance more is the lowest or the highest, each with
    probability one half, and the ends are quantiles of the weighted mean.  For scores
    that are all ``low`` or ``high`` it is the mid-p interval, which covers .92 to .99
    at a level of .95 where Wilson's covers .84 to .98.

    Parameters
    ----------
    values, counts, low, high
        As in `doubt_exceeds`.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (k,)
        On either side of the mean, and hardly ever at the same distance; NaN where a
        sample is empty.

    Examples
    --------
    Fifty-six right answers of fifty-six, and fifty of fifty-six:

    >>> low, high = mean_limits([0.0, 1.0], [[0, 56], [6, 50]])
    >>> low.round(3), high.round(3)
    (array([0.948, 0.79 ]), array([1.   , 0.955]))
    """
    values, counts, _ = _shape(values, counts, low)
    ends = np.full((2, len(counts)), np.nan)
    some = counts.sum(axis=1) > 0
    for end, tail in zip(ends, ((1 - level) / 2, (1 + level) / 2), strict=True):
        end[some] = _find_mid_quantile(values[some], counts[some], tail, low, high)
    return ends[0], ends[1]


def finite_mean_limits(
    values: ArrayLike,
    counts: ArrayLike,
    n_instances: ArrayLike,
    level: float = 0.95,
    low: float = 0.0,
    high: float = 1.0,
) -> tuple[Floats, Floats]:
    r"""Return the interval of each mean of all N scores, from some that were drawn without replacement.

    Parameters
    ----------
    values, counts, low, high
        As in `doubt_exceeds`.
    n_instances : array_like of int, shape (k,) or ()
        N, at least the number of scores of each sample.
    level : float
        In (0, 1).

    Returns
    -------
    low, high : ndarray, shape (k,)
        Both are the mean where all N scores are there, and NaN where a sample is empty.
        Exact limits for scores that are all ``low`` or ``high``, each of which the mean
        is beyond with probability at most (1 - level) / 2.  For others, of means of
        draws from the urn.  Where more than a hundred scores are missing, gamma
        variables of the same mean and variance take the place of their shares, and
        limits are half a score further out, since shares come in steps.

    Examples
    --------
    Fifty-six right answers of fifty-six, of a benchmark of 56, 60 and 600:

    >>> low, high = finite_mean_limits([0.0, 1.0], [[0, 56]] * 3, [56, 60, 600])
    >>> low.round(3), high
    (array([1.   , 0.983, 0.94 ]), array([1., 1., 1.]))
    """
    values, counts, _ = _shape(values, counts, low)
    total = np.broadcast_to(np.asarray(n_instances, dtype=float), len(counts))
    seen = counts.sum(axis=1)
    missing = total - seen
    ends = np.full((2, len(counts)), np.nan)
    exact = (missing == 0) & (seen > 0)
    ends[:, exact] = ((values * counts).sum(axis=1) / np.maximum(seen, 1))[exact]
    at_ends = _at_ends(values, counts, low, high) & (seen > 0) & ~exact
    tail = (1 - level) / 2
    others = (seen > 0) & ~exact & ~at_ends
    few = others & (missing <= FEW)
    many = others & (missing > FEW)

    # the upper end is a lower one, turned around
    for sign, end in zip((1.0, -1.0), ends, strict=True):
        of, least = (values, low) if sign > 0 else (-values, -high)
        sums = (of * counts).sum(axis=1)
        rest = np.full(len(counts), np.nan)  # the least sum of the missing scores
        if at_ends.any():
            hits = (counts * (of > least)).sum(axis=1)[at_ends]
            more = _fewest_hits(hits, seen[at_ends], total[at_ends], tail) - hits
            rest[at_ends] = missing[at_ends] * least + (high - low) * more
        for row in np.flatnonzero(few):
            rest[row] = _draw_least(
                of[row], counts[row], int(missing[row]), tail, least
            )
        if many.any():
            mean = _find_least(
                of[many], counts[many], missing[many], tail, least, least + high - low
            )
            rest[many] = np.maximum(
                missing[many] * mean - (high - low) / 2, missing[many] * least
            )
        end[~exact] = sign * ((sums + rest) / total)[~exact]

    return ends[0], ends[1]


def _fewest_hits(hits: Floats, seen: Floats, total: Floats, tail: float) -> Floats:
    """Find the fewest hits among all with which as many as were seen have a chance of more than the tail."""
    left = hits - 1
    right = hits + total - seen
    while (right - left > 1).any():
        middle = np.floor((left + right) / 2)
        enough = (
            scipy.stats.hypergeom.sf(hits - 1, total, np.maximum(middle, 0), seen)
            > tail
        )
        enough &= middle >= hits
        right = np.where(enough, middle, right)
        left = np.where(enough, left, middle)
    return right


def _draw_least(
    values: Floats, counts: Floats, missing: int, tail: float, low: float
) -> float:
    """Draw the missing scores from the urn, and return the quantile of their sum."""
    urn = np.append(np.repeat(values, counts.astype(np.int64)), low)
    sums = urn[_draw_balls(len(urn), missing)].sum(axis=1)
    return float(np.quantile(sums, tail, method="inverted_cdf"))


@lru_cache(maxsize=4)  # most samples of a table are of one size
def _draw_balls(n_balls: int, n_draws: int) -> NDArray[np.int64]:
    """Draw from an urn again and again, each ball being put back with another of its kind: their numbers."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, n_balls, (DRAWS, n_draws))
    for number in range(1, n_draws):
        again = rng.random(DRAWS) < number / (n_balls + number)
        earlier = drawn[np.arange(DRAWS), rng.integers(0, number, DRAWS)]
        drawn[again, number] = earlier[again]
    return drawn


def _find_least(
    values: Floats,
    counts: Floats,
    missing: Floats,
    tail: float,
    low: float,
    high: float,
) -> Floats:
    r"""Find the quantile of the mean of the missing scores, drawn from the urn.

    The share of one of the :math:`A = n + 1` balls among m draws has the mean 1 / A,
    and a variance that is :math:`(A + m) / m` times that of Gaffke's weight: that of a
    gamma variable of less than one degree.
    """
    balls = counts.sum(axis=1) + 1
    shape = (missing * (balls + 1) / (balls + missing) - 1) / balls
    weighed = counts * shape[:, None]

    def chance(mean: Floats) -> Floats:
        return _lower_tail(values, weighed, mean, low, shape)

    return _find_quantile(chance, values, counts, tail, low, high)


def _find_mid_quantile(
    values: Floats, counts: Floats, tail: float, low: float, high: float
) -> Floats:
    """Find the quantile where the one score more is the lowest or the highest, with equal chances."""

    def chance(mean: Floats) -> Floats:
        below = doubt_exceeds(values, counts, mean, low, high)
        # turned around, the chance to be above is that of a mean of the scores turned
        # around
        above = doubt_exceeds(low + high - values, counts, low + high - mean, low, high)
        return np.asarray((below + 1 - above) / 2)

    return _find_quantile(chance, values, counts, tail, low, high)


def _find_quantile(
    chance: Callable[[Floats], Floats],
    values: Floats,
    counts: Floats,
    tail: float,
    low: float,
    high: float,
) -> Floats:
    """Find where the chance that the weighted mean is below has this value, by secants within brackets."""
    goal = scipy.special.ndtri(tail)
    n = counts.sum(axis=1)
    mean = (values * counts).sum(axis=1) / n
    left, right = np.full(len(n), low), np.full(len(n), high)

    def distance(mean: Floats) -> Floats:
        """How far the chance is from the goal, as a normal quantile, in which it is about linear."""
        return np.asarray(
            scipy.special.ndtri(np.clip(chance(mean), 1e-300, 1 - 1e-16)) - goal
        )

    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / n
    spread = np.sqrt(variance / n) + (high - low) / (n + 1) / 2
    old = np.clip(mean, low + spread / 8, high - spread / 8)
    new = np.clip(mean + goal * spread, low + spread / 16, high - spread / 16)
    off_old = distance(old)
    for _ in range(STEPS):
        off = distance(new)
        left = np.where(off < 0, new, left)
        right = np.where(off > 0, new, right)
        with np.errstate(divide="ignore", invalid="ignore"):
            following = new - off * (new - old) / (off - off_old)
        outside = ~((following > left) & (following < right))
        following = np.where(outside, (left + right) / 2, following)
        following = np.where(off == 0, new, following)
        old, off_old, new = new, off, following
        if (np.abs(new - old) <= PRECISION * (high - low)).all():
            break
    new = np.where(new - low <= 2 * PRECISION * (high - low), low, new)
    return np.where(high - new <= 2 * PRECISION * (high - low), high, new)


def _shape(
    values: ArrayLike, counts: ArrayLike, threshold: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    counts = np.asarray(counts, dtype=float)
    values = np.broadcast_to(np.asarray(values, dtype=float), counts.shape)
    return (
        values,
        counts,
        np.broadcast_to(np.asarray(threshold, dtype=float), len(counts)),
    )


def _at_ends(values: Floats, counts: Floats, low: float, high: float) -> Bools:
    """Which samples have no scores but the lowest and the highest, shape (k,)."""
    ends: Bools = ((values == low) | (values == high) | (counts == 0)).all(axis=1)
    return ends


def _beta(a: Floats, b: Floats, share: Floats) -> Floats:
    """Chance that a beta variable is at most ``share``: one where a is zero."""
    chance: Floats = np.where(
        a > 0, scipy.special.betainc(np.maximum(a, 1), b, share), 1.0
    )
    return chance


def _lower_tail(
    values: Floats, counts: Floats, threshold: Floats, low: float, more: ArrayLike = 1.0
) -> Floats:
    r"""Chance that the sum of exponentially weighted distances from the threshold is at most zero.

    The lowest score counts ``more``: once, or as its weight has another shape than an
    exponential one.  With :math:`K(t) = -\sum_s c_s \log(1 - t a_s)` the cumulant
    generating function of the sum, and :math:`K'(\hat t) = 0`, it is about
    :math:`\Phi(w + \log(u / w) / w)`, where :math:`w = \mathrm{sgn}(\hat t) \sqrt{-2
    K(\hat t)}` and :math:`u = \hat t \sqrt{K''(\hat t)}`.
    """
    apart = np.column_stack([values - threshold[:, None], low - threshold])
    counts = np.column_stack([counts, np.broadcast_to(more, len(counts))])
    apart = np.where(counts > 0, apart, 0.0)
    smallest, largest = apart.min(axis=1), apart.max(axis=1)
    # nothing is below the threshold, or nothing above it
    chance = np.where(smallest >= 0, 0.0, 1.0)
    both = (smallest < 0) & (largest > 0)
    if not both.all():
        if both.any():
            some = counts[both]
            chance[both] = _lower_tail(
                values[both], some[:, :-1], threshold[both], low, some[:, -1]
            )
        return chance

    t = _find_saddle(apart, counts, 1 / smallest, 1 / largest)
    reciprocal = 1 / (1 - t[:, None] * apart)
    ratio = apart * reciprocal
    weighted = counts * ratio * ratio
    second = weighted.sum(axis=1)
    third = 2 * np.einsum("ij,ij->i", weighted, ratio)
    cumulants = np.einsum("ij,ij->i", counts, np.log(reciprocal))
    w = np.sign(t) * np.sqrt(np.maximum(-2 * cumulants, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = np.log(t * np.sqrt(second) / w) / w
    correction = np.where(np.abs(w) < NEAR, third / (6 * second**1.5), correction)
    return np.asarray(scipy.special.ndtr(w + correction))


def _find_saddle(apart: Floats, counts: Floats, left: Floats, right: Floats) -> Floats:
    """Find the root of K' between its poles, by Newton's method, halving where that would leave a bracket."""
    first = np.einsum("ij,ij->i", counts, apart)
    second = np.einsum("ij,ij,ij->i", counts, apart, apart)

    t = np.clip(-first / second, 0.9 * left, 0.9 * right)
    precision = 1e-9 * np.minimum(right, -left)
    for _ in range(STEPS):
        ratio = apart / (1 - t[:, None] * apart)
        weighted = counts * ratio
        slope = weighted.sum(axis=1)
        left = np.where(slope < 0, t, left)
        right = np.where(slope > 0, t, right)
        following = t - slope / np.einsum("ij,ij->i", weighted, ratio)
        outside = (following < left) | (following > right)
        following = np.where(outside, (left + right) / 2, following)
        step = np.abs(following - t)
        t = following
        if (step <= precision).all():
            break

    return t


def _bet(
    scores: Floats, present: Bools, threshold: Floats, n_instances: int, level: float
) -> Floats:
    r"""Bet on scores in [0, 1], one after the other, against a mean of all N of at most the threshold.

    The q-th bet is against the mean that the claim leaves for the scores that are still
    to come, and as large as what came before makes it best for n scores and the level,
    at most .9 of the capital:

    .. math::

        m_q = \frac{N m - S_{q-1}}{N - q + 1}, \qquad
        W_q = W_{q-1} \bigl(1 + \lambda_q (x_q - m_q)\bigr), \qquad
        \lambda_q = \min\Bigl\{ \frac{.9}{m_q},
            \sqrt{\frac{2 \log (1 / \alpha)}{n\, \hat\sigma^2_{q-1}}} \Bigr\}

    The capital has mean at most one while the claim is true, so one over the largest is
    a p-value (Ville).
    """
    n = present.sum(axis=1)
    order = np.cumsum(present, axis=1)
    sums = np.cumsum(np.where(present, scores, 0.0), axis=1)
    before = sums - np.where(present, scores, 0.0)
    drawn: NDArray[np.int64] = order - present
    left = np.maximum(n_instances - drawn, 1)
    claimed = (n_instances * threshold[:, None] - before) / left

    # as if half of an instance more had scored one, and half zero
    squares = np.where(present, (scores - (0.5 + sums) / (order + 1)) ** 2, 0.0)
    variance = (0.25 + np.cumsum(squares, axis=1) - squares) / (drawn + 1)
    stake = np.sqrt(2 * log(1 / level) / (np.maximum(n, 1)[:, None] * variance))
    stake = np.minimum(stake, 0.9 / np.maximum(claimed, TIE))
    growth = np.where(
        present & (claimed > 0), np.log1p(stake * (scores - claimed)), 0.0
    )
    capital = np.exp(
        np.minimum(np.cumsum(growth, axis=1).max(axis=1, initial=0.0), 700.0)
    )

    # what is left cannot be negative: a claim that says so is wrong
    contradicted = (sums > n_instances * (threshold[:, None] + TIE)).any(axis=1)
    return np.where(contradicted, 0.0, 1 / capital)
