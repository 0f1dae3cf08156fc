r"""How large a t-statistic has to be, where many are compared at once: step-down max-t, paired on instances.

Configurations share instances, so their t-statistics move together, and the largest of many of them is
smaller than Bonferroni's inequality allows for.  Its distribution is drawn: every instance gets a standard
normal weight, the same for all configurations and objectives, which gives errors that are correlated as those
of the means are.  What is settled at one step leaves, and the rest is compared among fewer (Romano and Wolf,
Econometrica 73, 2005).  Gaps that are three standard errors to the other side do not count: they are not what
errs (Hansen, Journal of Business and Economic Statistics 23, 2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice import resampling
from cobandit.advice.paired_gaps import Gaps, Paired, critical

#: Draws of the largest statistic, unless that takes more than `WORK` numbers.
DRAWS = 2000
WORK = 10**9
#: Fewer draws than this beyond a quantile do not tell it: Bonferroni's value is taken.
BEYOND = 5
#: Standard errors at which a gap counts as being of the sign that it has.
CLEAR = 3.0


class Levels(NamedTuple):
    """One-sided levels of single comparisons at which all answers to a question are right together."""

    off: float  # a configuration is off the front: some other beats it everywhere
    on: float  # it is on the front: each other fails to beat it in some objective
    best: NDArray[np.float64]  # (K,) it is less efficient than the best


def draw_errors(compared: Paired, replications: int, seed: int) -> NDArray[np.float32]:
    """Errors of means and, last, of efficiencies, that vary together as those do: shape (D + 1, K, R)."""
    rng, n_instances = np.random.default_rng(seed), compared.evaluations.n_instances
    n_arms, n_rows = len(compared.costs), len(compared.variances)
    errors = np.empty((n_rows, n_arms, replications), dtype=np.float32)
    chunk = max(1, resampling.BLOCK // n_instances)
    for start in range(0, replications, chunk):
        drawn = slice(start, min(start + chunk, replications))
        weights = rng.standard_normal((drawn.stop - drawn.start, n_instances)).T
        for arms in compared.evaluations.blocks(np.arange(n_arms)):
            errors[:, arms[0] : arms[-1] + 1, drawn] = compared.influence(arms) @ weights
    errors += np.sqrt(compared.one_more)[:, :, None] * rng.standard_normal(errors.shape, dtype=np.float32)
    return errors


def find_levels(compared: Paired, alpha: float, seed: int = 0) -> Levels:
    r"""Find the levels of single comparisons that make all answers right together.

    Membership.  With :math:`g_i = \max_j \min_d t_{ij}^{(d)}` the clearest evidence that some j beats i
    everywhere, i is called off the front where :math:`g_i` is large and on it where :math:`-g_i` is.  Each
    configuration that might be called wrongly has an equal share of the error: those that may be off by its D
    objectives, those that may be on by the distribution of the largest :math:`g_i` among them, were none of
    them beaten.

    Efficiency.  Whether i could be the most efficient is one comparison of i with all others, by the
    distribution of the largest of these: only one configuration is most efficient, so no further correction
    is needed.

    Parameters
    ----------
    compared : Paired
    alpha : float
        Probability that any answer to one of the questions that is called settled is wrong.
    seed : int

    Returns
    -------
    Levels
        None of them below Bonferroni's; ``on`` unless more arms may be wrong than there are.

    Notes
    -----
    Time O(K I R) for R draws and O(R) for each pair of configurations that Bonferroni's inequality leaves
    open.

    Examples
    --------
    >>> import cobandit as cb
    >>> from cobandit.advice.paired_gaps import paired
    >>> levels = find_levels(paired(cb.load("synthetic-24")), 0.05)
    >>> bonferroni = 0.05 / (24 * 23)
    >>> bool(levels.off > 2 * bonferroni), bool((levels.best >= 0.05 / 23).all())
    (True, True)
    """
    n_arms = len(compared.costs)
    draws = int(min(DRAWS, max(200, WORK / (compared.means.size * n_arms))))
    errors = draw_errors(compared, draws, seed)
    off, on = _front_levels(compared, alpha, errors[:-1])
    return Levels(off, on, _best_levels(compared, alpha, errors[-1:]))


def _front_levels(compared: Paired, alpha: float, errors: NDArray[np.float32]) -> tuple[float, float]:
    """Step down over configurations, starting from Bonferroni's inequality."""
    n_arms, n_objectives = compared.means.shape
    clearest = np.concatenate([_least(gaps).max(axis=1) for gaps in compared.dominance()])
    bonferroni = Levels(alpha / (2 * n_arms * (n_arms - 1)), alpha / (2 * n_arms * n_objectives), np.empty(0))
    found, open_ = bonferroni, ~_settled(compared, clearest, bonferroni)
    largest = np.full((n_arms, errors.shape[2]), -np.inf, dtype=np.float32)
    for gaps in compared.dominance(np.flatnonzero(open_)):
        largest[gaps.arms] = _largest(gaps, errors)
    while open_.any():
        maybe_on, maybe_off = open_ & (clearest >= -CLEAR), open_ & (clearest <= CLEAR)
        either = int(maybe_on.sum() + maybe_off.sum())
        share = alpha * maybe_on.sum() / either
        least = share / max(1, maybe_on.sum() * (n_arms - 1))
        off = max(least, _level(largest[maybe_on], share))
        found = Levels(max(found.off, off), max(found.on, alpha / (either * n_objectives)), found.best)
        left = open_ & ~_settled(compared, clearest, found)
        if (left == open_).all():
            break
        open_ = left
    return found.off, found.on


def _settled(compared: Paired, clearest: NDArray[np.float64], levels: Levels) -> NDArray[np.bool_]:
    off, on = critical(compared.counts, levels.off), critical(compared.counts, levels.on)
    settled: NDArray[np.bool_] = (clearest > off) | (clearest < -on)
    return settled


def _best_levels(compared: Paired, alpha: float, errors: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each arm the level at which the largest of its comparisons with the others exceeds chance."""
    n_arms, levels = len(compared.costs), np.full(len(compared.costs), alpha / (len(compared.costs) - 1))
    best = int(compared.efficiency.argmax())
    behind = np.concatenate([gaps.ratios[0, :, best] for gaps in compared.efficiency_gaps()])
    # what Bonferroni's inequality settles needs no draws, nor what a single comparison would leave open
    between = (behind <= critical(compared.counts, alpha / (n_arms - 1))) & (
        behind > critical(compared.counts, alpha)
    )
    for gaps in compared.efficiency_gaps(np.flatnonzero(between)):
        for arm, drawn in zip(gaps.arms, _largest(gaps, errors), strict=True):
            levels[arm] = max(levels[arm], _level(drawn[None], alpha))
    return levels


def _least(gaps: Gaps) -> NDArray[np.float64]:
    """By how much each other is ahead in every objective, itself not at all: shape (k, K)."""
    least = gaps.ratios.min(axis=0)
    least[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
    return least


def _largest(gaps: Gaps, errors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Largest statistic of each arm in each draw, if no other arm were ahead of it: shape (k, R).

    Others that are clearly behind in some objective do not count, nor do objectives in which they are clearly
    ahead, unless they are in all.
    """
    least = _least(gaps)
    largest = np.full((len(gaps.arms), errors.shape[2]), -np.inf, dtype=np.float32)
    for k, arm in enumerate(gaps.arms):
        for d, each in enumerate(errors):
            t, error = gaps.ratios[d, k], gaps.errors[d, k].astype(np.float32)
            others = (least[k] >= -CLEAR) & (t <= np.maximum(CLEAR, least[k])) & (error > 0)
            if others.any():
                drawn = (each[others] - each[arm]) / error[others, None]
                np.maximum(largest[k], drawn.max(axis=0), out=largest[k])
    return largest


def _level(largest: NDArray[np.float32], alpha: float) -> float:
    """One-sided level of the quantile of the largest statistic, 0 where the draws do not tell it."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if not len(largest) or alpha * largest.shape[1] < BEYOND:
        return 0.0
    return float(stats.norm.sf(np.quantile(largest.max(axis=0), 1 - alpha, method="higher")))
