"""Heavy tails of costs: how much of a mean may lie in values that were never met."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def estimate_tail(costs: NDArray[np.float64]) -> tuple[int, float]:
    r"""Estimate how much of a mean cost may lie beyond what was met.

    .. math::

        \hat\xi = \frac1k \sum_{m=1}^k \log \frac{c_{(m)}}{c_{(k+1)}}, \qquad
        u = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate (Annals of Statistics 3, 1975) from the :math:`k = 2 \sqrt n`
    largest of n costs, and the share of its mean that a Pareto tail of index
    :math:`\xi` holds beyond its 1 - 1/n quantile, over what constant costs hold there,
    with the index three of its standard errors up.  For sixty costs within a factor of
    two that is about a hundredth, for sixty exponential ones a half, and for sixty with
    a tail like Pareto's of exponent 1.25 everything.  Costs whose largest is met three
    times or more have a cap, such as a limit on what is generated, and no tail beyond
    it.

    Parameters
    ----------
    costs : ndarray, shape (n,)

    Returns
    -------
    carried : int
        How many of the most expensive evaluations carry half of the mean cost.
    unmet : float
        The share u of the mean.

    Examples
    --------
    >>> carried, unmet = estimate_tail(np.linspace(1, 2, 60))
    >>> carried, round(unmet, 3)
    (26, 0.012)
    """
    n = len(costs)
    costs = np.sort(costs)[::-1]
    carried = int(np.searchsorted(np.cumsum(costs), costs.sum() / 2 * (1 - 1e-12))) + 1
    if costs[min(3, n) - 1] == costs[0]:
        return carried, 0.0
    k = max(1, min(int(2 * np.sqrt(n)), n - 1))
    index = min(1.0, np.log(costs[:k] / costs[k]).mean() * (1 + 3 / np.sqrt(k)))
    return carried, (
        1.0 if index == 1 else float(min(1.0, np.expm1(index * np.log(n)) / n))
    )
