"""The sharpest of our bounds on pulls, and a bound on pulls for a ratio index."""

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _validation
from cobandit.theory.online import horizon
from companion.bounds.pull_counts import threshold_radius


def split_pull_bound(
    means: ArrayLike,
    mean_cost: float,
    best_efficiency: float,
    *,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return the sharpest of our bounds on the pulls of a suboptimal arm (ours).

    Unlike the other bounds, this bound does not assume that the empirical means of the
    arm are within their confidence radii. Its leading term is a quarter of the leading
    term of `radius_pull_bound` at the `threshold_radius`.

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \frac{1}{r_i^2}
                \Bigl( (\sqrt a + y)^2 + \frac12 + \frac{\sqrt a}{2y} \Bigr)
            + (D+1)\,T_B^{2-2\alpha},
        \qquad a = \alpha \log T_B,\quad y = \sqrt{\tfrac12 \log(D+1)},

    where :math:`r_i`, twice the `threshold_radius`, is the root of

    .. math::

        \prod_d \min\{1,\ \mu_i^{(d)} + r\}
            = \nu_{i^\star} \max\{\lambda/2,\ \mu_i^c - r\} .

    After n pulls, the index of the arm is at least :math:`\nu_{i^\star}` only if one of
    its D + 1 means is off by :math:`r_i - \sqrt{a/n}`. The probability is at most
    :math:`\min\{1, (D+1) \exp(-2 (r_i \sqrt n - \sqrt a)_+^2)\}`. The second term
    bounds the integral of this probability over n. The last term accounts for indices
    of the best arm that are too small.

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
    >>> round(bound, 1)  # `radius_pull_bound` gives 590
    260.3
    """
    radius = 2 * threshold_radius(
        means, mean_cost, best_efficiency, cost_ratio=cost_ratio
    )
    pulls = horizon(budget, cost_ratio)
    coordinates = np.size(means) + 1
    root = sqrt(_validation.positive(alpha, "alpha") * log(pulls))
    y = sqrt(log(coordinates) / 2)
    expected = ((root + y) ** 2 + 1 / 2 + root / (2 * y)) / radius**2
    return 1 + expected + coordinates * float(pulls) ** (2 - 2 * alpha)


def ratio_leading_constant(gap: float, *, cost_ratio: float) -> float:
    r"""Return the leading constant of the pull bound for a ratio index.

    The constant is the coefficient of :math:`\log T_B`. Ding et al. (2013) introduced
    the index, for one objective. The index, and a bound on the pulls of an arm, are

    .. math::

        \frac{\bar r}{\bar c}
            + \Bigl(1 + \frac1\lambda\Bigr) \frac{\epsilon}{\lambda - \epsilon},
        \qquad
        \mathrm E[n_i(B)] \le 1
            + \Bigl\lfloor \Bigl( \frac{2 + 2/\lambda + \Delta_i}{\lambda \Delta_i}
            \Bigr)^2 \log T_B \Bigr\rfloor + 4 (1 + \log T_B) .

    The second term of the index is the bonus, and :math:`\epsilon` is the confidence
    radius. While the empirical means of reward and cost are within this radius of the
    true means, their ratio is off by at most the bonus. A suboptimal pull therefore
    requires that twice the bonus is at least the gap, which means
    :math:`\epsilon \ge \lambda \Delta_i / (2 + 2/\lambda + \Delta_i)`. The radius gives
    four one-sided statements, about the rewards and the costs of the arm and of the
    best arm. Each statement must hold at up to t - 1 sample sizes, and fails at one
    sample size with probability at most :math:`(t-1)^{-2}`. The sum of these
    probabilities over t is the last term. We derived these constants; the constants in
    the theorem of Ding et al. may differ.

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    cost_ratio : float
        lambda in (0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> ratio_leading_constant(0.5, cost_ratio=1.0)  # (4.5 / 0.5)^2
    81.0
    """
    gap = _validation.positive(gap, "gap")
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    return ((2 + 2 / cost_ratio + gap) / (cost_ratio * gap)) ** 2
