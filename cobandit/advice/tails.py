r"""Whether a mean cost is known at all: a few evaluations may carry most of it, and more may be unmet.

A standard error is computed from what was met.  Where costs have a heavy tail, most samples have met little
of it, and look both cheap and sure: with a tail like Pareto's of exponent 1.25 half of all means of sixty
evaluations are too low by a quarter or more.  So the tail itself is estimated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice.paired_gaps import Paired

#: Standard errors that are added to an estimated tail index.
CAUTION = 3.0
#: A largest cost that is met so often is a cap.
CAPPED = 3


class Tails(NamedTuple):
    """Tails of the costs of K arms."""

    carried_by: NDArray[np.int64]  # (K,) most expensive evaluations that carry half of the mean cost
    unmet: NDArray[
        np.float64
    ]  # (K,) share of the mean cost that a tail like this may hold beyond what was met


def find_tails(compared: Paired) -> Tails:
    r"""Estimate how much of each arm's mean cost may lie beyond what was met.

    .. math::

        \hat\xi_i = \frac1k \sum_{m=1}^k \log \frac{c_{i(m)}}{c_{i(k+1)}}, \qquad
        u_i = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi_i \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate (Annals of Statistics 3, 1975) from the :math:`k = 2 \sqrt n` largest of n costs, and the
    share of its mean that a Pareto tail of index :math:`\xi` holds beyond its 1 - 1/n quantile, over what
    constant costs hold there, with the index three of its standard errors up.  For sixty costs within a
    factor of two that is about a hundredth, for sixty exponential ones a half, and for sixty with a tail like
    Pareto's of exponent 1.25 everything.  Costs whose largest is met three times or more have a cap, such as
    a limit on what is generated, and no tail beyond it.

    Parameters
    ----------
    compared : Paired

    Returns
    -------
    Tails
        About the benchmark itself, ``unmet`` is for missing evaluations only.

    Examples
    --------
    >>> import cobandit as cb
    >>> from cobandit.advice.paired_gaps import paired
    >>> tails = find_tails(paired(cb.load("synthetic-24")))
    >>> tails.carried_by.min(), tails.unmet.max().round(4)  # of 400 evaluations
    (np.int64(152), np.float64(0.0012))
    """
    carried_by = np.empty(len(compared.costs), dtype=np.int64)
    unmet = np.empty(len(compared.costs))
    for arm in range(len(unmet)):
        costs = np.sort(compared.evaluations.costs_of(arm))[::-1]
        carried_by[arm] = np.searchsorted(np.cumsum(costs), costs.sum() / 2 * (1 - 1e-12)) + 1
        unmet[arm] = _unmet(costs)
    if compared.finite:
        unmet *= compared.missing / compared.evaluations.n_instances
    return Tails(carried_by, unmet)


def _unmet(costs: NDArray[np.float64]) -> float:
    """Share of the mean beyond what was met, of costs sorted downwards."""
    n = len(costs)
    if costs[min(CAPPED, n) - 1] == costs[0]:
        return 0.0
    k = max(1, min(int(2 * np.sqrt(n)), n - 1))
    index = np.log(costs[:k] / costs[k]).mean() * (1 + CAUTION / np.sqrt(k))
    return float(min(1.0, np.expm1(min(index, 1.0) * np.log(n)) / n)) if index < 1 else 1.0
