"""Bounds for the index of Ding et al. (2013), one objective."""

from __future__ import annotations

from math import log

from cobandit import _check
from cobandit.theory.online import horizon


def ratio_leading_constant(gap: float, *, cost_ratio: float) -> float:
    r"""Coefficient of :math:`\log T_B` in `ratio_pull_bound` (ours, for the index of Ding et al.).

    .. math:: \Bigl( \frac{2 + 2/\lambda + \Delta_i}{\lambda \Delta_i} \Bigr)^2

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
    gap, cost_ratio = _check.positive(gap, "gap"), _check.positive(cost_ratio, "cost_ratio", 1.0)
    return ((2 + 2 / cost_ratio + gap) / (cost_ratio * gap)) ** 2


def ratio_pull_bound(gap: float, *, cost_ratio: float, budget: float) -> float:
    r"""Pulls of a suboptimal arm under the index of Ding et al. (2013), one objective (our derivation).

    Their index adds to the ratio of the means a bonus that goes with the radius
    :math:`\epsilon = \sqrt{\log(t - 1) / n}`, and is infinite while :math:`\epsilon \ge \lambda`:

    .. math::

        \frac{\bar r}{\bar c} + \Bigl(1 + \frac1\lambda\Bigr) \frac{\epsilon}{\lambda - \epsilon},
        \qquad
        \mathrm E[n_i(B)] \le 1 + \lfloor x_i \rfloor + 4 (1 + \log T_B),
        \quad
        x_i = \Bigl( \frac{2 + 2/\lambda + \Delta_i}{\lambda \Delta_i} \Bigr)^2 \log T_B .

    While means are within their radii, the ratio of two is off by at most the bonus, so that a suboptimal
    pull needs twice the bonus to be at least the gap, that is
    :math:`\epsilon \ge \lambda \Delta_i / (2 + 2/\lambda + \Delta_i)`.  Four one-sided statements (rewards
    and costs of the arm and of the best) at up to t - 1 sample sizes each fail with probability at most
    :math:`(t-1)^{-2}`; summed over t this is the last term.  The constants of their own theorem may differ.

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    cost_ratio, budget : float
        lambda in (0, 1] and B > 0.

    Returns
    -------
    float

    Examples
    --------
    >>> round(ratio_pull_bound(0.5, cost_ratio=1.0, budget=99), 3)  # 1 + floor(81 * log(100)) + 22.421
    396.421
    """
    log_horizon = log(horizon(budget, cost_ratio))
    leading = ratio_leading_constant(gap, cost_ratio=cost_ratio) * log_horizon
    return 1 + _check.floor(leading) + 4 * (1 + log_horizon)
