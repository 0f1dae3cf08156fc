"""How PSI-SR's targets compare with CoPSI's, for any costs in a range: no table is needed."""

from __future__ import annotations

import numpy as np

from cobandit import theory


def least_target_ratio(n_arms: int, low: float, high: float) -> float:
    r"""Least ratio of PSI-SR's target to CoPSI's in any phase, for any costs between two ends.

    Up to rounding PSI-SR's worst-case rounds fit the budget exactly: :math:`n_k = B / ((K + 1 - k) W)`
    with :math:`W = \sum_k w_k c_{(k)}`, :math:`w_k = 1 / (K + 1 - k)` and :math:`w_K = 1/2`, the costs
    sorted upwards.  CoPSI's target is :math:`B / (L_{K,\lambda} C_k)`, so with m active arms the ratio is

    .. math::

        \frac{L_{K,\lambda}}{W} \frac{C_k}{m} \ge
        \frac{L_{K,\lambda}}{W} \cdot \text{mean of the m smallest costs}.

    For given smallest and largest costs this is a ratio of linear functions of the sorted costs, hence least
    at a corner: some arms at the smallest, all others at the largest.  Only the ratio of the ends matters.

    Parameters
    ----------
    n_arms : int
        K >= 3.
    low, high : float
        Between which all costs lie.

    Returns
    -------
    float
        The least over the corners, all phases, and all ratios of costs from ``low / high`` to 1, of which
        1,001 are tried.

    Notes
    -----
    Time O(K^2) for each ratio tried.

    Examples
    --------
    >>> [round(least_target_ratio(14, *ends), 3) for ends in ((118.37, 147.21), (95.01, 152.16), (1, 1))]
    [1.075, 0.96, 1.182]
    """
    weights = 1 / np.append(np.arange(n_arms, 1, -1), 2.0)
    cheap = np.arange(n_arms)[None, :] < np.arange(1, n_arms)[:, None]  # a row per corner
    least = np.inf
    for ratio in np.linspace(low / high, 1.0, 1001):
        costs = np.where(cheap, ratio, 1.0)
        smallest = np.cumsum(costs, axis=1)[:, 1:] / np.arange(2, n_arms + 1)
        found = smallest / (costs @ weights)[:, None]
        least = min(least, float(theory.allocation_constant(n_arms, ratio) * found.min()))
    return least
