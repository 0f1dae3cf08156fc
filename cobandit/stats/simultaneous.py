r"""Levels of single comparisons at which all decisions on the front are jointly right.

Critical values come from a step-down max-t procedure, with comparisons paired on
instances. Configurations share instances, so their t-statistics are correlated. The
critical value of the largest of them is therefore smaller than Bonferroni's. The
distribution of the largest statistic is simulated. Every instance gets a standard
normal weight, the same for all configurations and objectives, so simulated errors are
correlated like the errors of the means. Memberships that are decided at one step are
removed, so the next step has fewer comparisons (Romano and Wolf, Econometrica 73,
2005). If the difference of two means shows by more than three standard errors that an
arm does not dominate another, this comparison is left out, because it cannot cause an
error (Hansen, Journal of Business and Economic Statistics 23, 2005).

Student's distribution is from `scipy.special`, because importing `scipy.stats` takes as
long as a whole recommendation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cobandit.stats import evaluations as dense
from cobandit.stats.evaluations import Bools, Floats, Ints
from cobandit.stats.pairwise import Paired, PairGaps

#: Number of draws of the largest statistic, if time and memory allow so many.
DRAWS = 2000
#: Smallest number of draws of the largest statistic.
FEWEST_DRAWS = 200
#: Number of values that all draws may process together.
WORK = 10**9
#: Smallest number of draws beyond a quantile. If there are fewer, Bonferroni's level is
#: used.
BEYOND = 5
#: If a gap has at least this number of standard errors, its sign counts as certain.
CLEAR = 3.0


class Levels(NamedTuple):
    """One-sided levels of single comparisons for a joint error probability."""

    #: level of the test that some configuration dominates another one, which is then
    #: off the front
    off_front: float
    #: level of the test that a configuration is better than another one in some
    #: coordinate. A configuration is on the front if it passes this test against each
    #: of the other configurations
    on_front: float


class DrawnErrors:
    """Simulated errors of pairwise differences, correlated like the true errors.

    Parameters
    ----------
    compared : Paired
    replications : int
        R.
    seed : int
    """

    def __init__(self, compared: Paired, replications: int, seed: int):
        self.replications = replications
        self._compared = compared
        self._rng = np.random.default_rng(seed)
        n_rows, n_arms = compared.variances.shape
        n_units = compared.evaluations.n_units
        if not compared.complete:
            # every pair has its own shared instances, so errors are simulated per pair
            self._weights = self._rng.standard_normal(
                (n_units, replications), dtype=np.float32
            )
            self._noise = self._draw_noise((n_rows, n_arms, replications))
            return

        self._errors = np.empty((n_rows, n_arms, replications), dtype=np.float32)
        n_at_once = dense.BLOCK_SIZE // n_units
        for block in dense.cut_runs(np.arange(replications), n_at_once):
            weights = self._rng.standard_normal((len(block), n_units)).T
            for arms in compared.evaluations.blocks(np.arange(n_arms)):
                errors = compared.influence(arms) @ weights
                self._errors[:, arms[0] : arms[-1] + 1, block] = errors

        self._errors += self._draw_noise(self._errors.shape)

    def _draw_noise(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Draw the errors that the additional instances of the arms contribute."""
        spread = np.sqrt(self._compared.one_more)[:, :, None]
        normal = self._rng.standard_normal(shape, dtype=np.float32)
        noise: NDArray[np.float32] = spread * normal
        return noise

    def of_gaps(self, arm: int, others: Ints) -> NDArray[np.float32]:
        """Return simulated errors of an arm's gaps to other arms, (D + 1, m, R)."""
        errors: NDArray[np.float32]
        if self._compared.complete:
            errors = self._errors[:, others] - self._errors[:, [arm]]
            return errors

        influence, _, _, shared = self._compared.gap_influence(arm, others)
        errors = influence.astype(np.float32) @ self._weights

        # with few shared instances, the additional instance has more weight
        shared = np.maximum(shared, 1)
        arm_weight = (self._compared.units[arm] / shared)[:, None]
        other_weights = (self._compared.units[others] / shared)[:, None]
        errors += (
            other_weights * self._noise[:, others] - arm_weight * self._noise[:, [arm]]
        )
        return errors


class ClearestEvidence(NamedTuple):
    """For each arm, the clearest evidence that another arm dominates it."""

    #: shape (K,), smallest t-statistic over the coordinates, for the other arm that
    #: gives the clearest evidence
    ratios: Floats
    #: shape (K,), number of instances or clusters that the arm and this other arm share
    shared: Ints


def find_clearest_evidence(compared: Paired) -> ClearestEvidence:
    """Return, for each arm, the clearest evidence that another arm dominates it.

    The clearest evidence is the one that is least probable if the two arms are equal.
    """
    ratios = []
    shared = []
    for gaps in compared.dominance():
        smallest = smallest_ratios(gaps)
        evidence = smallest
        if not compared.complete:
            # the same ratio is clearer evidence if there are more shared instances
            chance = special.stdtr(np.maximum(gaps.shared, 2) - 1, -smallest)
            with np.errstate(divide="ignore"):
                evidence = -np.log(chance)
            evidence[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
        place = evidence.argmax(axis=1)[:, None]
        ratios.append(np.take_along_axis(smallest, place, axis=1)[:, 0])
        shared.append(np.take_along_axis(gaps.shared, place, axis=1)[:, 0])
    return ClearestEvidence(np.concatenate(ratios), np.concatenate(shared))


def find_levels(compared: Paired, alpha: float, seed: int = 0) -> Levels:
    r"""Return levels of single tests at which all decisions on the front hold jointly.

    Let :math:`g_i = \max_j \min_d t_{ij}^{(d)}` be the clearest evidence that some j
    dominates i. If :math:`g_i` is large, i is off the front; if :math:`-g_i` is
    large, i is on the front. Every possible error gets an equal part of alpha. For
    configurations that may be wrongly included in the front, this part is divided among
    the compared coordinates. For configurations that may be wrongly excluded, the level
    comes from the distribution of the largest of their :math:`g_i`. This distribution
    is computed under the hypothesis that none of them is dominated.

    Parameters
    ----------
    compared : Paired
    alpha : float
        Largest probability that any decision about the front is wrong.
    seed : int

    Returns
    -------
    Levels
        Levels, which are at least as large as Bonferroni's.

    Notes
    -----
    Time O(K I R) for R draws, and O(R) per pair of configurations that is not decided
    at Bonferroni's levels.

    Examples
    --------
    >>> import cobandit as cb
    >>> levels = find_levels(Paired(cb.load("synthetic-24")), 0.05)
    >>> bonferroni = 0.05 / (24 * 23)
    >>> bool(levels.off_front > 2 * bonferroni)
    True
    """
    n_arms = len(compared.costs)
    n_compared = compared.n_compared
    errors = DrawnErrors(compared, _count_draws(compared), seed)
    clearest = find_clearest_evidence(compared)

    # begin with Bonferroni's levels; only memberships that remain open need draws
    levels = Levels(
        off_front=alpha / (2 * n_arms * (n_arms - 1)),
        on_front=alpha / (2 * n_arms * n_compared),
    )
    is_open = ~_settled(clearest, levels)
    largest = _largest(compared, is_open, errors)

    while is_open.any():
        # Two kinds of errors are possible. An arm of the front is wrongly excluded if
        # another arm seems ahead of it. An arm that is not on the front is wrongly
        # included if no other arm seems ahead of it.
        maybe_on = is_open & (clearest.ratios >= -CLEAR)
        maybe_off = is_open & (clearest.ratios <= CLEAR)
        n_on = maybe_on.sum()
        n_hypotheses = int(n_on + maybe_off.sum())

        share = alpha * n_on / n_hypotheses
        bonferroni = share / max(1, n_on * (n_arms - 1))
        off_front = max(bonferroni, _level(largest[maybe_on], share))
        on_front = alpha / (n_hypotheses * n_compared)
        levels = Levels(
            max(levels.off_front, off_front), max(levels.on_front, on_front)
        )

        still_open = is_open & ~_settled(clearest, levels)
        if (still_open == is_open).all():
            break
        is_open = still_open
    return levels


def _count_draws(compared: Paired) -> int:
    """Return the number of simulated draws that time and memory allow."""
    room = WORK / (compared.n_compared * len(compared.costs) ** 2)
    if not compared.complete:  # all weights are in memory together
        room = min(room, 8 * dense.BLOCK_SIZE / compared.evaluations.n_units)
    return int(min(DRAWS, max(FEWEST_DRAWS, room)))


def _settled(clearest: ClearestEvidence, levels: Levels) -> Bools:
    """Return the mask of arms that are surely on or off the front at these levels."""
    critical_off = critical_values(clearest.shared, levels.off_front)
    critical_on = critical_values(clearest.shared, levels.on_front)
    settled: Bools = clearest.ratios > critical_off
    settled |= clearest.ratios < -critical_on
    return settled


def critical_value(counts: ArrayLike, alpha: float | Floats) -> Floats:
    """Return upper quantiles of Student's distribution, given numbers of instances.

    Quantiles for fewer than two instances are infinite.

    Examples
    --------
    >>> critical_value([5, 500], 0.05).round(2)
    array([2.13, 1.65])
    """
    counts = np.asarray(counts)
    values: Floats = -special.stdtrit(np.maximum(counts, 2) - 1, alpha)
    return np.where(counts < 2, np.inf, values)


def critical_values(shared: Ints, level: float) -> Floats:
    """Return critical values for an array of numbers of shared instances."""
    counts, place = np.unique(shared, return_inverse=True)
    return critical_value(counts, level)[place].reshape(shared.shape)


def smallest_ratios(gaps: PairGaps) -> Floats:
    """Return the smallest t-statistic over the coordinates of each pair, shape (k, K).

    The statistic of an arm with itself is -inf.
    """
    smallest: Floats = gaps.ratios.min(axis=0)
    smallest[np.arange(len(gaps.arms)), gaps.arms] = -np.inf
    return smallest


def _largest(
    compared: Paired, is_open: Bools, errors: DrawnErrors
) -> NDArray[np.float32]:
    """Return draws of each open arm's largest statistic in comparisons with others.

    The draws follow the distribution under the hypothesis that no other arm dominates
    the open arm. The shape is (K, R). Other arms that are clearly behind in some
    objective are left out. If another arm is clearly ahead in some objectives, but not
    in all, these objectives are left out.
    """
    largest = np.full((len(is_open), errors.replications), -np.inf, dtype=np.float32)
    for gaps in compared.dominance(np.flatnonzero(is_open)):
        smallest = smallest_ratios(gaps)
        for k, arm in enumerate(gaps.arms):
            ratios = gaps.ratios[:, k]
            error = gaps.errors[:, k].astype(np.float32)
            is_near = ratios <= np.maximum(CLEAR, smallest[k])
            is_near &= smallest[k] >= -CLEAR
            is_near &= error > 0
            is_near &= gaps.shared[k] > 1
            others = np.flatnonzero(is_near.any(axis=0))
            if not len(others):
                continue

            drawn = errors.of_gaps(arm, others)
            for d in range(len(ratios)):
                near = is_near[d, others]
                if near.any():
                    statistics = drawn[d, near] / error[d, others[near], None]
                    np.maximum(largest[arm], statistics.max(axis=0), out=largest[arm])
    return largest


def _level(largest: NDArray[np.float32], alpha: float) -> float:
    """Return the level for a quantile of the largest statistic; 0 if draws are few."""
    if not len(largest) or alpha * largest.shape[1] < BEYOND:
        return 0.0
    quantile = np.quantile(largest.max(axis=0), 1 - alpha, method="higher")
    return float(special.ndtr(-quantile))
