r"""Bounds for the printed CoHV-UCB that the paper does not state, with smaller constants.

They rest on the paper's own event and index; only the bookkeeping differs.  Three remarks are shared:

* Of the concentration event, the argument for arm i reads 2(D + 1) one-sided statements: that the rewards of
  the best arm are not underestimated nor its cost overestimated, and the reverse for arm i.  Each fails
  for some sample size with probability at most :math:`T_B^{1-2\alpha}`.
* An arm that is selected with n pulls has :math:`I_i \ge I_{i^\star} \ge \nu_{i^\star}`.  Whatever upper
  bound on n follows holds for the last selection too: the count is at most its integer part plus one.
* They hold for every ``alpha`` > 0, and are logarithmic in B for alpha >= 1.
* They are for the algorithm as printed, ``CoHVUCB(..., selection="all")``.  Feasible selection makes at most
  :math:`1/\lambda` pulls more, over all arms together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.theory.online import horizon, index_constant


def one_sided_failure_probability(
    *, n_objectives: int, cost_ratio: float, budget: float, alpha: float = 2.0
) -> float:
    r"""Bound :math:`2(D+1)\,T_B^{1-2\alpha}` on leaving the part of the event that one arm needs (ours).

    Parameters
    ----------
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float
        As stated: it may exceed one, and then says nothing.

    Examples
    --------
    >>> bound = one_sided_failure_probability(n_objectives=2, cost_ratio=0.5, budget=4.5, alpha=2)
    >>> round(bound, 6)  # 6 / 10^3
    0.006
    """
    n_objectives = _check.count(n_objectives, "n_objectives", 1)
    exponent = 1 - 2 * _check.positive(alpha, "alpha")
    return 2 * (n_objectives + 1) * float(horizon(budget, cost_ratio)) ** exponent


def lean_pull_bound(
    gap: float, *, n_objectives: int, cost_ratio: float, budget: float, alpha: float = 2.0
) -> float:
    r"""Theorem 1 without the slack in its last step (ours): a quarter of the leading term, and no K.

    .. math::

        \mathrm E[n_i(B)] \le 1 + \Bigl\lfloor \frac{\alpha C_{\lambda,H}^2 \log T_B}{\Delta_i^2} \Bigr\rfloor
                            + 2(D+1)\,T_B^{2-2\alpha}

    A selected arm has :math:`C_{\lambda,H} \beta \ge \Delta_i`; the paper goes on with half the gap.

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float

    Examples
    --------
    >>> bound = lean_pull_bound(0.5, n_objectives=1, cost_ratio=1.0, budget=99)
    >>> round(bound, 4)  # 1 + floor(2357.8) + 4 / 100^2
    2358.0004
    """
    ratio = index_constant(n_objectives, cost_ratio) / _check.positive(gap, "gap")
    return _pulls(1 / ratio, n_objectives, cost_ratio, budget, alpha)


def instance_pull_bound(
    gap: float,
    mean_cost: float,
    best_efficiency: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Bound whose leading term reads the instance and not lambda (ours).

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \Bigl\lfloor \frac{4\alpha (D + \nu_{i^\star})^2 \log T_B}{(\mu_i^c \Delta_i)^2} \Bigr\rfloor
            + 2(D+1)\,T_B^{2-2\alpha}

    On the event a selected arm has numerator at most :math:`H_i + 2D\beta` and denominator at least
    :math:`\mu_i^c - 2\beta`, truncated or not, so
    :math:`H_i + 2D\beta \ge \nu_{i^\star}(\mu_i^c - 2\beta)`, that is
    :math:`2\beta (D + \nu_{i^\star}) \ge \nu_{i^\star} \mu_i^c - H_i = \mu_i^c \Delta_i`.  Since
    :math:`\nu_{i^\star} \le 1/\lambda` and :math:`\mu_i^c \ge \lambda`, the leading term is at most a
    sixteenth of Theorem 1's.

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    mean_cost : float
        :math:`\mu_i^c` in [lambda, 1].
    best_efficiency : float
        :math:`\nu_{i^\star}` in (0, 1 / lambda].
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float

    Examples
    --------
    >>> bound = instance_pull_bound(0.5, 1.0, 1.0, n_objectives=1, cost_ratio=1.0, budget=99)
    >>> round(bound, 4)  # 1 + floor(4 * 2 * 2^2 * log(100) / 0.25 = 589.46) + 4 / 100^2
    590.0004
    """
    gap, mean_cost = _check.positive(gap, "gap"), _check.positive(mean_cost, "mean_cost", 1.0)
    n_objectives = _check.count(n_objectives, "n_objectives", 1)
    best_efficiency = _check.positive(best_efficiency, "best_efficiency")
    if gap > _check.with_slack(best_efficiency):
        raise CobanditError(f"gap is {gap:g}, larger than best_efficiency {best_efficiency:g}")
    radius = mean_cost * gap / (2 * (n_objectives + best_efficiency))
    return _pulls(radius, n_objectives, cost_ratio, budget, alpha)


def threshold_radius(
    means: ArrayLike, mean_cost: float, best_efficiency: float, *, cost_ratio: float
) -> float:
    r"""Smallest radius at which the event lets a suboptimal arm be selected (ours), not linearised.

    The root :math:`\beta` of

    .. math::

        \frac{\prod_d \min\{1,\ \mu_i^{(d)} + 2\beta\}}{\max\{\lambda/2,\ \mu_i^c - 2\beta\}} = \nu_{i^\star}.

    Parameters
    ----------
    means : array_like, shape (D,)
        :math:`\mu_i` in [0, 1].
    mean_cost, best_efficiency, cost_ratio : float
        :math:`\mu_i^c`, :math:`\nu_{i^\star}` (larger than the arm's own efficiency) and lambda.

    Returns
    -------
    float
        By bisection, to a relative 1e-12.

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    The arm (mean 1/2, cost 1) against efficiency 1: 1/2 + 2 beta = 1 - 2 beta.

    >>> round(threshold_radius([0.5], 1.0, 1.0, cost_ratio=1.0), 9)
    0.125
    """
    means, mean_cost = _check.numbers(means, "means", 1), _check.positive(mean_cost, "mean_cost", 1.0)
    if not len(means) or means.min() < 0 or means.max() > 1:
        raise CobanditError(f"means is {means.tolist()}: mean rewards lie in [0, 1], at least one is needed")
    cost_ratio = _check.positive(cost_ratio, "cost_ratio", 1.0)
    best_efficiency = _check.positive(best_efficiency, "best_efficiency", 1 / cost_ratio * (1 + _check.SLACK))

    def reach(radius: float) -> float:
        largest = np.minimum(1.0, means + 2 * radius).prod()
        return float(largest / max(cost_ratio / 2, mean_cost - 2 * radius))

    if reach(0.0) >= best_efficiency:
        raise CobanditError("the arm is as efficient as the best: it has no threshold")
    low, high = 0.0, 1.0  # at radius one every numerator is 1 and every denominator lambda / 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) < best_efficiency else (low, middle)
    return low


def threshold_pull_bound(
    means: ArrayLike,
    mean_cost: float,
    best_efficiency: float,
    *,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Bound on pulls at the radius of `threshold_radius`, without linearising the index (ours).

    .. math::

        \mathrm E[n_i(B)] \le 1 + \Bigl\lfloor \frac{\alpha \log T_B}{\beta_i^2} \Bigr\rfloor
                            + 2(D+1)\,T_B^{2-2\alpha}

    At this radius the intervals of the event cease to contradict a selection, the index of the best arm being
    taken at its lower end.

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
    >>> bound = threshold_pull_bound([0.5], 1.0, 1.0, cost_ratio=1.0, budget=99)
    >>> round(bound, 4)  # 1 + floor(589.46) + 4 / 100^2
    590.0004
    """
    radius = threshold_radius(means, mean_cost, best_efficiency, cost_ratio=cost_ratio)
    return _pulls(radius, np.size(means), cost_ratio, budget, alpha)


def informative_budget(bound: Callable[[float], float], cost: float) -> float:
    r"""Budget from which a bound on pulls is below what the budget holds at a cost a pull, :math:`B / c`.

    Parameters
    ----------
    bound : callable
        Budget to bound on the pulls; it grows more slowly than the budget.
    cost : float
        lambda for the paper's trivial bound; an arm's mean cost for what can be bought of it.

    Returns
    -------
    float
        To a relative 1e-6, and not below the cost; ``inf`` if it is not yet below at 10^15 pulls.

    Raises
    ------
    CobanditError
        If the cost is out of range.

    Examples
    --------
    >>> round(informative_budget(lambda budget: 100.0, cost=0.5), 3)
    50.0
    """
    cost = _check.positive(cost, "cost", 1.0)
    low, high = cost, 1e15 * cost
    if bound(high) >= high / cost:
        return inf
    while high > low * (1 + 1e-6):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if bound(middle) >= middle / cost else (low, middle)
    return high


def _pulls(radius: float, n_objectives: int, cost_ratio: float, budget: float, alpha: float) -> float:
    """Pulls after which the radius is below ``radius``, one more, and what failures add."""
    pulls = horizon(budget, cost_ratio)
    failure = one_sided_failure_probability(
        n_objectives=n_objectives, cost_ratio=cost_ratio, budget=budget, alpha=alpha
    )
    if radius < 1e-150:
        raise CobanditError(
            f"the radius that the gap asks for is {radius:g}: the bound is beyond every floating-point number"
        )
    return 1 + _check.floor(alpha * log(pulls) / radius**2) + pulls * failure
