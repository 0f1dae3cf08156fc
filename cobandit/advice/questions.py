"""What the instances of a table do not settle, and how many evaluations more would."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice.paired_gaps import Paired, critical


class Question(NamedTuple):
    """An unsettled answer: about which arm, and how many evaluations more of which arms would settle it."""

    kind: str  # "front" or "efficiency"
    arm: int
    against: int  # the arm that is hardest to tell from it
    ratio: float  # gap over its standard error, now
    factor: float  # what the ratio has to be
    arms: NDArray[np.int64]
    extra: NDArray[np.float64]  # (len(arms),), inf for a tie
    price: float  # in the table's unit

    def new(self, missing: NDArray[np.int64]) -> float:
        """Instances that it takes beyond the benchmark, of which each arm of all still misses so many."""
        return float(np.maximum(self.extra - missing[self.arms], 0).max())


def front_questions(compared: Paired, alpha: float) -> list[Question]:
    r"""Memberships that are not settled.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d t_{ij}^{(d)}` above the critical
    value at :math:`\alpha / (K (K - 1))`; it is on the front if of every other arm the smallest t is below
    minus that at :math:`\alpha / (K D)`.  Bonferroni over what could go wrong makes all of it right together.
    """
    n_arms, n_objectives = compared.means.shape
    off = critical(compared.counts, alpha / (n_arms * (n_arms - 1)))
    on = critical(compared.counts, alpha / (n_arms * n_objectives))
    asked = []
    for arms, ratios in compared.dominance():
        for arm, ratio in zip(arms, ratios, strict=True):
            ratio[arm] = -np.inf
            rival = int(ratio.argmax())
            if ratio[rival] > 0:  # dominated, by the means
                rivals, factor = np.array([rival]), np.maximum(off[arm], off[[rival]])
            else:
                rivals, factor = np.flatnonzero(np.isfinite(ratio)), np.maximum(on[arm], on)
                factor = factor[rivals]
            asked += _question("front", int(arm), rivals, np.abs(ratio[rivals]), factor, compared)
    return asked


def efficiency_questions(compared: Paired, alpha: float) -> list[Question]:
    """Arms that could be more efficient than the one that is most efficient by the means."""
    best = int(compared.efficiency.argmax())
    ratio = compared.efficiency_ratios(best)
    factor = critical(compared.counts, alpha / (len(ratio) - 1))
    factor = np.maximum(factor, factor[best])
    asked = []
    for arm in np.flatnonzero(ratio <= factor).tolist():
        if arm != best:
            here = np.array([best])
            asked += _question("efficiency", arm, here, ratio[[arm]], factor[[arm]], compared)
    return asked


def _question(
    kind: str,
    arm: int,
    rivals: NDArray[np.int64],
    ratio: NDArray[np.float64],
    factor: NDArray[np.float64],
    compared: Paired,
) -> list[Question]:
    """One question, or none if every ratio is beyond its factor.

    A standard error falls with the root of the number of instances, so the instances of both arms have to be
    ``(factor / ratio)^2`` times what they are.
    """
    unsettled = ratio <= factor
    if not unsettled.any():
        return []
    rivals, ratio, factor = rivals[unsettled], ratio[unsettled], factor[unsettled]
    with np.errstate(divide="ignore"):
        times = (factor / ratio) ** 2
    hardest = int(times.argmax())
    arms = np.append(rivals, arm)
    extra = np.ceil((np.append(times, times[hardest]) - 1) * compared.counts[arms])
    extra = np.maximum(extra, 1.0)
    price = float(extra @ compared.costs[arms])
    return [
        Question(
            kind, arm, int(rivals[hardest]), float(ratio[hardest]), float(factor[hardest]), arms, extra, price
        )
    ]
