r"""Levels of single comparisons at which all memberships of a front are right together.

How large a t-statistic has to be is found by step-down max-t, paired on instances.
Configurations share instances, so their t-statistics move together, and the largest of
many of them is smaller than Bonferroni's inequality allows for.  Its distribution is
drawn: every instance gets a standard normal weight, the same for all configurations and
objectives, which gives errors that are correlated as those of the means are.  What is
settled at one step leaves, and the rest is compared among fewer (Romano and Wolf,
Econometrica 73, 2005). Gaps that are three standard errors to the other side do not
count: they are not what errs (Hansen, Journal of Business and Economic Statistics 23,
2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.stats import evaluations as dense
from cobandit.stats.evaluations import Bools, Floats, Ints
from cobandit.stats.pairwise import Paired, PairGaps

#: Draws of the largest statistic, unless that takes more than `WORK` numbers.
DRAWS = 2000
WORK = 10**9
#: Fewer draws than this beyond a quantile do not tell it: Bonferroni's value is taken.
BEYOND = 5
#: Standard errors at which a gap counts as being of the sign that it has.
CLEAR = 3.0


class Levels(NamedTuple):
    """One-sided levels of single comparisons at which all answers are right together."""

    #: to call a configuration off the front, since another one beats it everywhere
    off: float
    on: float  #: to call it on the front, since no other one beats it everywhere


class DrawnErrors:
    """Random errors of gaps that are correlated as the gaps are.

    Parameters
    ----------
    compared : Paired
    replications : int
        R.
    seed : int
    """

    def __init__(self, compared: Paired, replications: int, seed: int):
        self.replications = replications
        self._compared, self._rng = compared, np.random.default_rng(seed)
        n_rows, n_arms = compared.variances.shape
        n_units = compared.evaluations.n_units
        if not compared.complete:  # every pair has instances of its own
            self._weights = self._rng.standard_normal(
                (n_units, replications), dtype=np.float32
            )
            self._noise = self._draw_noise((n_rows, n_arms, replications))
            return

        self._errors = np.empty((n_rows, n_arms, replications), dtype=np.float32)
        for drawn in dense.cut_runs(
            np.arange(replications), dense.BLOCK_SIZE // n_units
        ):
            weights = self._rng.standard_normal((len(drawn), n_units)).T
            for arms in compared.evaluations.blocks(np.arange(n_arms)):
                self._errors[:, arms[0] : arms[-1] + 1, drawn] = (
                    compared.influence(arms) @ weights
                )

        self._errors += self._draw_noise(self._errors.shape)

    def _draw_noise(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw the errors that the additional instance of each arm contributes."""
        spread = np.sqrt(self._compared.one_more)[:, :, None]
        noise: NDArray[np.float32] = spread * self._rng.standard_normal(
            shape, dtype=np.float32
        )
        return noise

    def of_gaps(self, arm: int, others: Ints) -> NDArray[np.float32]:
        """Return errors of the gaps of an arm and others: shape (D + 1, m, R)."""
        if self._compared.complete:
            drawn: NDArray[np.float32] = (
                self._errors[:, others] - self._errors[:, [arm]]
            )
            return drawn

        influence, _, _, shared = self._compared.gap_influence(arm, others)
        units, shared = self._compared.units, np.maximum(shared, 1)
        mine, theirs = (units[arms] / shared for arms in (arm, others))
        drawn = influence.astype(np.float32) @ self._weights
        drawn += (
            theirs[:, None] * self._noise[:, others]
            - mine[:, None] * self._noise[:, [arm]]
        )
        return drawn


class ClearestEvidence(NamedTuple):
    """Clearest evidence against each arm, that one other beats it everywhere; shape (K,) each."""

    ratios: Floats
    shared: Ints  #: instances, or clusters, on which the two were compared


def find_clearest_evidence(compared: Paired) -> ClearestEvidence:
    """Find the clearest evidence against each arm: the least probable were the two alike."""
    from scipy import stats  # half a second that an import of cobandit need not take

    ratios, shared = [], []
    for gaps in compared.dominance():
        least = smallest_ratios(gaps)
        evidence = least
        if not compared.complete:  # a ratio says more where more instances are shared
            evidence = -stats.t.logsf(least, np.maximum(gaps.shared, 2) - 1)
            evidence[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
        place = evidence.argmax(axis=1)[:, None]
        ratios.append(np.take_along_axis(least, place, axis=1)[:, 0])
        shared.append(np.take_along_axis(gaps.shared, place, axis=1)[:, 0])
    return ClearestEvidence(np.concatenate(ratios), np.concatenate(shared))


def find_levels(compared: Paired, alpha: float, seed: int = 0) -> Levels:
    r"""Find the levels of single comparisons that make all memberships right together.

    With :math:`g_i = \max_j \min_d t_{ij}^{(d)}` the clearest evidence that some j
    beats i everywhere, i is called off the front where :math:`g_i` is large and on it
    where :math:`-g_i` is.  Each configuration that might be called wrongly has an equal
    share of the error: those that may be off by its D objectives, those that may be on
    by the distribution of the largest :math:`g_i` among them, were none of them beaten.

    Parameters
    ----------
    compared : Paired
    alpha : float
        Probability that any membership that is called settled is wrong.
    seed : int

    Returns
    -------
    Levels
        None of them below Bonferroni's; ``on`` unless more arms may be wrong than there
        are.

    Notes
    -----
    Time O(K I R) for R draws and O(R) for each pair of configurations that Bonferroni's inequality leaves
    open.

    Examples
    --------
    >>> import cobandit as cb
    >>> levels = find_levels(Paired(cb.load("synthetic-24")), 0.05)
    >>> bonferroni = 0.05 / (24 * 23)
    >>> bool(levels.off > 2 * bonferroni)
    True
    """
    n_arms = len(compared.costs)
    n_compared = compared.n_compared
    errors = DrawnErrors(compared, _count_draws(compared), seed)
    clearest = find_clearest_evidence(compared)

    # begin with Bonferroni's levels, whose open memberships are the only ones that need
    # draws
    levels = Levels(
        off=alpha / (2 * n_arms * (n_arms - 1)), on=alpha / (2 * n_arms * n_compared)
    )
    is_open = ~_settled(clearest, levels)
    largest = _largest(compared, is_open, errors)

    while is_open.any():
        # the hypotheses that remain: beaten by none, which is wrongly called off where
        # some other seems ahead; and beaten by one, which is wrongly called on where
        # none seems to be
        maybe_on = is_open & (clearest.ratios >= -CLEAR)
        maybe_off = is_open & (clearest.ratios <= CLEAR)
        n_on = maybe_on.sum()
        n_hypotheses = int(n_on + maybe_off.sum())

        share = alpha * n_on / n_hypotheses
        bonferroni = share / max(1, n_on * (n_arms - 1))
        off = max(bonferroni, _level(largest[maybe_on], share))
        on = alpha / (n_hypotheses * n_compared)
        levels = Levels(max(levels.off, off), max(levels.on, on))

        still_open = is_open & ~_settled(clearest, levels)
        if (still_open == is_open).all():
            break
        is_open = still_open
    return levels


def _count_draws(compared: Paired) -> int:
    """Return the number of draws that time and memory allow, 200 at least."""
    room = WORK / (compared.n_compared * len(compared.costs) ** 2)
    if not compared.complete:  # all weights are held at once
        room = min(room, 8 * dense.BLOCK_SIZE / compared.evaluations.n_units)
    return int(min(DRAWS, max(200, room)))


def _settled(clearest: ClearestEvidence, levels: Levels) -> Bools:
    off, on = (critical_values(clearest.shared, level) for level in levels)
    settled: Bools = (clearest.ratios > off) | (clearest.ratios < -on)
    return settled


def critical_value(counts: ArrayLike, alpha: float | Floats) -> Floats:
    """Return upper Student quantiles for numbers of instances, infinite below two; shape as ``counts``.

    Examples
    --------
    >>> critical_value([5, 500], 0.05).round(2)
    array([2.13, 1.65])
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    counts = np.asarray(counts)
    values: Floats = stats.t.isf(alpha, np.maximum(counts, 2) - 1)
    return np.where(counts < 2, np.inf, values)


def critical_values(shared: Ints, level: float) -> Floats:
    """Return critical values for numbers of shared instances, each distinct number computed once."""
    counts, place = np.unique(shared, return_inverse=True)
    return critical_value(counts, level)[place].reshape(shared.shape)


def smallest_ratios(gaps: PairGaps) -> Floats:
    """Return the smallest t-statistic of each pair over the coordinates, -inf with itself: shape (k, K)."""
    least = gaps.ratios.min(axis=0)
    least[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
    return least


def _largest(
    compared: Paired, is_open: Bools, errors: DrawnErrors
) -> NDArray[np.float32]:
    """Return the largest statistic of each open arm in each draw, were no other arm ahead: shape (K, R).

    Others that are clearly behind in some objective do not count, nor do objectives in
    which they are clearly ahead, unless they are in all.
    """
    largest = np.full((len(is_open), errors.replications), -np.inf, dtype=np.float32)
    for gaps in compared.dominance(np.flatnonzero(is_open)):
        least = smallest_ratios(gaps)
        for k, arm in enumerate(gaps.arms):
            t = gaps.ratios[:, k]
            error = gaps.errors[:, k].astype(np.float32)
            is_near = (
                (least[k] >= -CLEAR) & (t <= np.maximum(CLEAR, least[k])) & (error > 0)
            )
            is_near &= gaps.shared[k] > 1
            others = np.flatnonzero(is_near.any(axis=0))
            if not len(others):
                continue

            drawn = errors.of_gaps(arm, others)
            for d in range(len(t)):
                counts = is_near[d, others]
                if counts.any():
                    statistics = drawn[d, counts] / error[d, others[counts], None]
                    np.maximum(largest[arm], statistics.max(axis=0), out=largest[arm])
    return largest


def _level(largest: NDArray[np.float32], alpha: float) -> float:
    """Return the one-sided level of the quantile of the largest statistic, 0 if draws are too few."""
    from scipy import stats  # half a second that an import of cobandit need not take

    if not len(largest) or alpha * largest.shape[1] < BEYOND:
        return 0.0
    return float(
        stats.norm.sf(np.quantile(largest.max(axis=0), 1 - alpha, method="higher"))
    )
