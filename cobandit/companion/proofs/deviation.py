# mypy: allow-untyped-defs
"""Step 4 of the proof of Theorem 2: concentration at targets that depend on the data."""

from __future__ import annotations

from math import exp

import numpy as np
from numba import njit

from cobandit import _check
from cobandit.stats import metrics


@njit(cache=True, nogil=True)
def _leaves(rng, mean, first, last, width):
    """Tell whether a running mean is off by more than ``width`` at some n, and whether at the first."""
    total, left_at_first = 0, False
    for n in range(1, last + 1):
        total += rng.random() < mean
        if n >= first and abs(total - n * mean) > n * width:
            return True, left_at_first or n == first
    return False, False


@njit(cache=True, nogil=True)
def _count_leaving(rng, mean, first, last, width, paths):
    ever, at_first = 0, 0
    for _ in range(paths):
        left, left_now = _leaves(rng, mean, first, last, width)
        ever += left
        at_first += left_now
    return ever, at_first


def uniform_deviation(
    mean: float, first: int, width: float, paths: int, seed: int, span: int = 20
) -> dict[str, float]:
    r"""How often a running mean is off by more than x at *some* n >= N, against :math:`2\exp(-2Nx^2)`.

    Parameters
    ----------
    mean : float
        Of the Bernoulli draws.
    first : int
        N.
    width : float
        x > 0.
    paths, seed : int
    span : int
        Paths end after ``span`` N draws, so that frequencies are a little too small, which favours the
        bound; what is cut off has probability at most :math:`2\exp(-2\,\mathrm{span}\,Nx^2)`.

    Returns
    -------
    dict
        ``mean``, ``N``, ``x``; ``ever`` and ``at_N``, the frequencies of leaving at some n and at n = N;
        ``low`` and ``high``, the Wilson 95 % interval of ``ever``; ``bound``; ``cut``, the most that the end
        of the paths hides.

    Examples
    --------
    >>> result = uniform_deviation(0.5, 50, 0.15, paths=2000, seed=0)
    >>> result["at_N"] < result["ever"] < result["bound"]
    True
    """
    width, span = _check.positive(width, "width"), _check.count(span, "span", 1)
    first, paths = _check.count(first, "first", 1), _check.count(paths, "paths", 1)
    mean, rng = _check.positive(mean, "mean", 1.0), np.random.default_rng(seed)
    ever, at_first = _count_leaving(rng, mean, first, span * first, width, paths)
    low, high = metrics.proportion_interval(ever, paths)
    return {
        "mean": mean,
        "N": first,
        "x": width,
        "ever": ever / paths,
        "low": low,
        "high": high,
        "at_N": at_first / paths,
        "bound": 2 * exp(-2 * first * width**2),
        "cut": 2 * exp(-2 * span * first * width**2),
    }
