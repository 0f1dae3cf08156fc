"""Heavy tails of costs: the share of a mean that may lie in unobserved values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def estimate_tail(costs: NDArray[np.float64]) -> tuple[int, float]:
    r"""Estimate the share of a mean cost that may lie beyond the observed costs.

    .. math::

        \hat\xi = \frac1k \sum_{m=1}^k \log \frac{c_{(m)}}{c_{(k+1)}}, \qquad
        u = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate (Annals of Statistics 3, 1975) uses the :math:`k = 2 \sqrt n`
    largest of n costs, and :math:`\xi` is three standard errors above it.  The share u
    is the part of its mean that a Pareto tail of index :math:`\xi` has beyond its 1 -
    1/n quantile, less the same part of constant costs.  For sixty costs within a factor
    of two it is about a hundredth, for sixty exponential costs a half, and for sixty
    costs with a Pareto tail of exponent 1.25 everything.  Costs whose largest value
    occurs three times or more have a cap, such as a limit of generated tokens, and no
    tail beyond it.

    Parameters
    ----------
    costs : ndarray, shape (n,)

    Returns
    -------
    carried : int
        Number of the most expensive evaluations that carry half of the mean cost.
    unobserved : float
        The share u of the mean.

    Examples
    --------
    >>> carried, unobserved = estimate_tail(np.linspace(1, 2, 60))
    >>> carried, round(unobserved, 3)
    (26, 0.012)
    """
    n = len(costs)
    costs = np.sort(costs)[::-1]
    carried = int(np.searchsorted(np.cumsum(costs), costs.sum() / 2 * (1 - 1e-12))) + 1
    has_cap = costs[min(3, n) - 1] == costs[0]
    if has_cap:
        return carried, 0.0

    k = max(1, min(int(2 * np.sqrt(n)), n - 1))
    hill = np.log(costs[:k] / costs[k]).mean()
    index = min(1.0, hill * (1 + 3 / np.sqrt(k)))
    if index == 1:
        return carried, 1.0
    return carried, float(min(1.0, np.expm1(index * np.log(n)) / n))
