"""What the instances of a table do not settle, and how many evaluations more would."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice.paired_gaps import Paired, critical
from cobandit.advice.stepdown import Levels
from cobandit.advice.tails import Tails


class Question(NamedTuple):
    """An unsettled answer: about which arm, and how many evaluations more of which arms would settle it."""

    kind: str  # "front" or "efficiency"
    arm: int
    against: int  # the arm that is hardest to tell from it
    ratio: float  # gap over its standard error, now
    factor: float  # what the ratio has to be
    arms: NDArray[np.int64]
    extra: NDArray[np.float64]  # (len(arms),), inf for a tie or a tail
    price: float  # in the table's unit

    def new(self, missing: NDArray[np.int64]) -> float:
        """Instances that it takes beyond the benchmark, of which each arm of all still misses so many."""
        return float(np.maximum(self.extra - missing[self.arms], 0).max())

    @property
    def why(self) -> str:
        """What leaves it open: the size of the gap, that it is a tie, or the tail of the costs."""
        if self.ratio > self.factor:  # and open even so
            return "tail"
        return "gap" if np.isfinite(self.price) else "tie"


def front_questions(compared: Paired, levels: Levels) -> list[Question]:
    r"""Memberships that are not settled.

    Arm i is off the front if one arm beats it everywhere, by :math:`\min_d t_{ij}^{(d)}` above the critical
    value at level ``off``; it is on the front if of every other arm the smallest t is below minus that at
    level ``on``.
    """
    off, on = critical(compared.counts, levels.off), critical(compared.counts, levels.on)
    asked = []
    for gaps in compared.dominance():
        for arm, ratio in zip(gaps.arms, gaps.ratios.min(axis=0), strict=True):
            ratio[arm] = -np.inf
            rival = int(ratio.argmax())
            if ratio[rival] > 0:  # dominated, by the means
                rivals, factor = np.array([rival]), np.maximum(off[arm], off[[rival]])
            else:
                rivals, factor = np.flatnonzero(np.isfinite(ratio)), np.maximum(on[arm], on)
                factor = factor[rivals]
            asked += _question("front", int(arm), rivals, np.abs(ratio[rivals]), factor, compared)
    return asked


def efficiency_questions(compared: Paired, levels: Levels, tails: Tails) -> list[Question]:
    """Arms that could be more efficient than the one that is most efficient by the means.

    Either the gap is too small for its standard error, or what the tail of the best arm's costs may hold
    beyond what was met would close it.
    """
    best = int(compared.efficiency.argmax())
    ratio = np.concatenate([gaps.ratios[0, :, best] for gaps in compared.efficiency_gaps()])
    factor = critical(np.minimum(compared.counts, compared.counts[best]), levels.best)
    within = compared.efficiency[best] * (1 - tails.unmet[best]) <= compared.efficiency
    asked = []
    for arm in np.flatnonzero((ratio <= factor) | within).tolist():
        exact = compared.finite and not compared.missing[[arm, best]].any()
        if arm == best or exact:
            continue
        if ratio[arm] > factor[arm]:  # no number of evaluations is told by so few
            arms, never = np.array([best, arm]), np.full(2, np.inf)
            asked += [Question("efficiency", arm, best, ratio[arm], factor[arm], arms, never, float("inf"))]
        else:
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
    ``(factor / ratio)^2`` times what they are; about the benchmark itself 1 / n falls towards 1 / N.
    """
    unsettled = ratio <= factor
    if not unsettled.any():
        return []
    rivals, ratio, factor = rivals[unsettled], ratio[unsettled], factor[unsettled]
    with np.errstate(divide="ignore"):
        times = (factor / ratio) ** 2
    hardest = int(times.argmax())
    arms, times = np.append(rivals, arm), np.append(times, times[hardest])
    n = compared.counts[arms]
    if compared.finite:
        total = compared.evaluations.n_instances
        extra = np.ceil(1 / (1 / total + (1 / n - 1 / total) / times) - n - 1e-9)
        extra = np.clip(extra, np.minimum(1, total - n), total - n)
    else:
        extra = np.maximum(np.ceil((times - 1) * n), 1.0)
    price = float(extra @ compared.costs[arms])
    return [
        Question(
            kind, arm, int(rivals[hardest]), float(ratio[hardest]), float(factor[hardest]), arms, extra, price
        )
    ]
