"""How sharp a check is: the smallest change of a constant that it notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

#: Changes larger than this are not tried.
LARGEST = 1e6


def noticed_at(holds: Callable[[float], bool]) -> float:
    """Smallest factor by which a constant has to be changed for a check to fail, to a relative 1e-3.

    Parameters
    ----------
    holds : callable
        Factor >= 1 to whether the check still passes with the constant cut (or raised) by that much; once it
        fails it fails for all larger factors.

    Returns
    -------
    float
        From above; ``inf`` if it passes at ``LARGEST``, ``nan`` if it fails with the constant as it is.

    Examples
    --------
    >>> round(noticed_at(lambda factor: 10 / factor >= 4), 2)
    2.5
    """
    if not holds(1.0):
        return nan
    if holds(LARGEST):
        return inf
    low, high = 1.0, LARGEST
    while high > low * (1 + 1e-3):
        middle = sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def room(seen: ArrayLike, bounds: ArrayLike) -> float:
    """Smallest factor by which bounds have to be cut for one to fall below what was seen.

    Parameters
    ----------
    seen, bounds : array_like
        Of one shape.

    Returns
    -------
    float
        As from `noticed_at`.

    Examples
    --------
    >>> round(room([1.0, 2.0], [6.0, 5.0]), 2)
    2.5
    """
    found, most = np.asarray(seen), np.asarray(bounds)
    return noticed_at(lambda by: bool((found <= most / by).all()))


def said(factors: Mapping[str, float]) -> str:
    """Put the constants and their factors into words.

    Parameters
    ----------
    factors : mapping of str to float
        From `noticed_at`, by the constant with a sign for how it was changed.

    Returns
    -------
    str

    Examples
    --------
    >>> said({"256 ÷": 254.1, "γ/8 ×": 2.0, "2K²D ÷": inf})
    '256 ÷ 254, γ/8 × 2, 2K²D ÷ anything'
    """

    def number(factor: float) -> str:
        return "anything" if factor == inf else f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"

    return ", ".join(f"{constant} {number(factor)}" for constant, factor in factors.items()) or "–"
