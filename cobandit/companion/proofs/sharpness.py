"""A search around the example that breaks gap elimination, for one that smaller errors break."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _check, dominance
from cobandit.companion.proofs.misclassification import eliminate, sharp_example


class Searched(NamedTuple):
    """What a search found: the smallest share that misleads, from which, over how many better examples."""

    share: float
    start: float
    improvements: int
    tried: int


def misleads(means: NDArray[np.float64], signs: NDArray[np.float64], share: float) -> bool:
    """Whether errors of this share of the largest gap in the first phase end in a wrong set.

    Examples
    --------
    >>> means, errors = sharp_example(0.2)
    >>> [misleads(means, np.sign(errors), share) for share in (0.1249, 0.1251)]
    [False, True]
    """
    gaps = dominance.classification_gaps(means)
    returned, _ = eliminate(means, [share * gaps.max() * signs])
    return not np.array_equal(returned, dominance.pareto_mask(means))


def local_search(tries: int, seed: int, margin: float = 2.0) -> Searched:
    """Move the arms of `sharp_example`, and turn their errors over, while ever smaller errors mislead.

    It starts from a blunt form of the example and keeps a random change if a wrong set is left at a share
    below the smallest so far.

    Parameters
    ----------
    tries, seed : int
    margin : float
        Of the example that it starts from; the smaller, the closer to 1/8 of the gap.

    Returns
    -------
    Searched

    Examples
    --------
    >>> found = local_search(300, seed=0)
    >>> 0.125 < found.share < 0.15 < 0.2 < found.start
    True
    """
    rng = np.random.default_rng(seed)
    means, errors = sharp_example(0.2, margin)
    signs, improvements = np.sign(errors), 0
    smallest = start = _smallest(means, signs, 1.0)
    for _ in range(_check.count(tries, "tries", 1)):
        moved, turned = means.copy(), signs.copy()
        arm = rng.integers(len(means))
        moved[arm] += 10 ** rng.uniform(-4, -1) * rng.standard_normal(2)
        if rng.random() < 0.1:
            turned[arm, rng.integers(2)] *= -1
        gaps = dominance.classification_gaps(moved)
        if gaps.min() > 0 and misleads(moved, turned, smallest * (1 - 1e-4)):
            smallest = _smallest(moved, turned, smallest)
            means, signs, improvements = moved, turned, improvements + 1
    return Searched(smallest, start, improvements, tries)


def _smallest(means: NDArray[np.float64], signs: NDArray[np.float64], known: float) -> float:
    """Give the smallest share that misleads: below it, down to where nothing does, by bisection."""
    low, high = 0.0, known
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if misleads(means, signs, middle) else (middle, high)
    return high
