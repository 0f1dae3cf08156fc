r"""A bound on pulls that does not pay for certainty (ours): an arm's means may leave their radii.

The bounds of `cobandit.theory.sharper` ask the means of the suboptimal arm to stay within their radii for
every number of pulls, and pay with a second radius in the index.  But one pull too many costs one pull.  So
only the best arm has to stay within its radii; for the other it is counted how often its index is too large.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.theory.online import horizon
from cobandit.theory.sharper import threshold_radius


def split_pull_bound(
    means: ArrayLike,
    mean_cost: float,
    best_efficiency: float,
    *,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Bound on pulls with a leading term a quarter of `threshold_pull_bound`'s (ours).

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \frac{1}{r_i^2} \Bigl( (\sqrt a + y)^2 + \frac12 + \frac{\sqrt a}{2y} \Bigr)
            + (D+1)\,T_B^{2-2\alpha},
        \qquad a = \alpha \log T_B,\quad y = \sqrt{\tfrac12 \log(D+1)},

    where :math:`r_i` is twice `threshold_radius`: the root of

    .. math:: \prod_d \min\{1,\ \mu_i^{(d)} + r\} = \nu_{i^\star} \max\{\lambda/2,\ \mu_i^c - r\} .

    After n pulls the index of the arm is at least :math:`\nu_{i^\star}` only if one of its D + 1 means is off
    by :math:`r_i - \sqrt{a/n}`, which has probability at most
    :math:`\min\{1, (D+1) \exp(-2 (r_i \sqrt n - \sqrt a)_+^2)\}`.  The second term is the integral of that
    over n, the last what the best arm's index costs where it is too small.

    Parameters
    ----------
    means : array_like, shape (D,)
        :math:`\mu_i`.
    mean_cost, best_efficiency, cost_ratio : float
        :math:`\mu_i^c`, :math:`\nu_{i^\star}` and lambda.
    budget, alpha : float
        B and alpha.

    Returns
    -------
    float

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    >>> bound = split_pull_bound([0.5], 1.0, 1.0, cost_ratio=1.0, budget=99)
    >>> round(bound, 1)  # `threshold_pull_bound` gives 590
    260.3
    """
    radius = 2 * threshold_radius(means, mean_cost, best_efficiency, cost_ratio=cost_ratio)
    pulls, coordinates = horizon(budget, cost_ratio), np.size(means) + 1
    root, y = sqrt(_check.positive(alpha, "alpha") * log(pulls)), sqrt(log(coordinates) / 2)
    expected = ((root + y) ** 2 + 1 / 2 + root / (2 * y)) / radius**2
    return 1 + expected + coordinates * float(pulls) ** (2 - 2 * alpha)
