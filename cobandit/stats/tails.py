"""Heavy tails of costs: the share of a mean cost due to costs not yet observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def estimate_tail(costs: NDArray[np.float64]) -> tuple[int, float]:
    r"""Estimate the share of a mean cost that is due to costs above any observed one.

    .. math::

        \hat\xi = \frac1k \sum_{m=1}^k \log \frac{c_{(m)}}{c_{(k+1)}}, \qquad
        u = \min\Bigl\{1, \frac{n^{\xi} - 1}n\Bigr\}, \quad
        \xi = \hat\xi \Bigl(1 + \frac3{\sqrt k}\Bigr)

    Hill's estimate :math:`\hat\xi` (Annals of Statistics 3, 1975) uses the :math:`k = 2
    \sqrt n` largest of n costs, and :math:`\xi` is three standard errors larger. For a
    Pareto tail of index :math:`\xi`, u is the difference of two shares of the mean. The
    first is due to costs above the 1 - 1/n quantile. The second is 1/n, the value of
    the first if all costs are equal. For sixty costs within a factor of two, u is about
    0.01; for sixty exponential costs, about a half; and for sixty costs with a Pareto
    tail of exponent 1.25, it is 1. If the largest cost occurs three times or more,
    costs are assumed to have a cap, such as a limit of generated tokens, and u is 0.

    Parameters
    ----------
    costs : ndarray, shape (n,)

    Returns
    -------
    carried : int
        Smallest number of evaluations that make up half of the total cost.
    unobserved : float
        The share u.

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
