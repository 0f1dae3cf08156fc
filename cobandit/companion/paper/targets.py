"""How PSI-SR's targets compare with CoPSI's, for any costs in a range: no table is needed."""

from __future__ import annotations

from itertools import pairwise

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

    *Proof of the bound.*  With the largest cost 1 and all costs at least :math:`\lambda` the fraction without
    :math:`L_{K,\lambda}` is a ratio of two positive linear functions of the sorted costs, hence least at a
    corner of what they may be: some arms at :math:`\lambda`, all others at 1.  This least value does not fall
    as :math:`\lambda` rises, since fewer costs are allowed, and :math:`L_{K,\lambda}` does not rise.  So on
    a cell :math:`a \le \lambda \le b` the ratio is at least :math:`L_{K,b}` times the least value at a; the
    smallest of these over cells that cover all :math:`\lambda` is what is returned.

    Parameters
    ----------
    n_arms : int
        K >= 3.
    low, high : float
        Between which all costs lie.

    Returns
    -------
    float
        A lower bound, for all costs in the range and all phases, from 1,000 cells.

    Notes
    -----
    Time O(K^2) per cell.  The two cheapest arms at the lower end and all others at the upper attain the
    least ratio, 1.0747 and 0.9598 in the examples; fewer cells give less (1.064 and 0.936 with twelve).
    Round down what is called a bound.

    Examples
    --------
    >>> printed = (118.37, 147.21), (95.01, 152.16)
    >>> [int(1000 * least_target_ratio(14, *ends)) / 1000 for ends in printed]
    [1.074, 0.959]
    """
    weights = 1 / np.append(np.arange(n_arms, 1, -1), 2.0)
    cheap = np.arange(n_arms)[None, :] < np.arange(n_arms)[:, None]  # a row per corner
    ends, least = np.linspace(low / high, 1.0, 1001), np.inf
    for a, b in pairwise(ends):
        costs = np.where(cheap, a, 1.0)
        smallest = np.cumsum(costs, axis=1)[:, 1:] / np.arange(2, n_arms + 1)
        found = smallest / (costs @ weights)[:, None]
        least = min(least, float(theory.allocation_constant(n_arms, b) * found.min()))
    return least
