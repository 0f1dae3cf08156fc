r"""Bounds for the printed CoHV-UCB that the paper does not state, with smaller constants.

They rest on the paper's own event and index; only the bookkeeping differs.  Three
remarks are shared:

* Of the concentration event, the argument for arm i reads 2(D + 1) one-sided
  statements: that the rewards of the best arm are not underestimated nor its cost
  overestimated, and the reverse for arm i.  Each fails for some sample size with
  probability at most :math:`T_B^{1-2\alpha}`.
* An arm that is selected with n pulls has :math:`I_i \ge I_{i^\star} \ge
  \nu_{i^\star}`.  Whatever upper bound on n follows holds for the last selection too:
  the count is at most its integer part plus one.
* They hold for every ``alpha`` > 0, and are logarithmic in B for alpha >= 1; with
  `leaving_bound`, for alpha > 1/2.
* They are for the algorithm as printed, ``CoHVUCB(..., selection="all")``.  Feasible
  selection makes at most :math:`1/\lambda` pulls more, over all arms together.

`split_pull_bound` does not pay for certainty: the others ask the means of the
suboptimal arm to stay within their radii for every number of pulls, and pay with a
second radius in the index.  But one pull too many costs one pull.  So only the best arm
has to stay within its radii; for the other it is counted how often its index is too
large.
"""

from collections.abc import Callable
from math import ceil, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _budget, _validation
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
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    exponent = 1 - 2 * _validation.positive(alpha, "alpha")
    return 2 * (n_objectives + 1) * float(horizon(budget, cost_ratio)) ** exponent


def leaving_bound(pulls: int, alpha: float) -> float:
    r"""Bound on the chance that one mean of [0, 1] ever leaves its radius to one side (ours, by peeling).

    .. math::

        \Pr\Bigl(\exists s \le T:\ \hat\mu_s - \mu > \sqrt{\alpha \log T / s}\Bigr)
            \le \min_{m \ge 1} m\, T^{-2\alpha / \cosh^2(\log T / (4m))}
            \le \sqrt e\, \Bigl\lceil \tfrac12 \sqrt\alpha\, (\log T)^{3/2} \Bigr\rceil\, T^{-2\alpha}

    Theorem 1 adds up over sample sizes and has T in the place of :math:`(\log
    T)^{3/2}`.  With this, what a run loses off the event, T times :math:`2K(D+1)` of
    it, vanishes for every alpha > 1/2.

    Cut 1, ..., T into m blocks of ratio :math:`\beta = T^{1/m}`.  With :math:`S_s` the
    sum of the first s deviations and :math:`a = \alpha \log T`, :math:`e^{\theta S_s -
    \theta^2 s / 8}` is a supermartingale (Hoeffding).  On the block [u, beta u] take
    :math:`\theta = 8 \sqrt{a} / (\sqrt u + \sqrt{\beta u})`: where :math:`S_s > \sqrt{a
    s}`, its logarithm is above :math:`\theta \sqrt{a s} - \theta^2 s / 8`, which is
    concave in s and has the same value at both ends, :math:`8 a \sqrt\beta / (1 +
    \sqrt\beta)^2 = 2a / \cosh^2(\tfrac14 \log \beta)`.  By Ville's inequality that has
    probability at most :math:`e^{-2a / \cosh^2(\log \beta / 4)}`, once for each block.
    The last form has :math:`m = \lceil \frac12 \sqrt\alpha (\log T)^{3/2} \rceil` and
    :math:`1 / \cosh^2 y \ge 1 - y^2`.

    Parameters
    ----------
    pulls : int
        T >= 2: the paper's :math:`T_B`.
    alpha : float
        Exploration constant, > 0.

    Returns
    -------
    float
        The first form, over all m up to four times that of the last.

    Examples
    --------
    >>> alpha, T = 0.6, 1000
    >>> round(T * leaving_bound(T, alpha), 2), round(T * T ** (1 - 2 * alpha), 1)
    (2.86, 251.2)
    """
    pulls = _validation.count(pulls, "pulls", 2)
    alpha = _validation.positive(alpha, "alpha")
    log_pulls = log(pulls)
    m = np.arange(1, 4 * ceil(sqrt(alpha) * log_pulls**1.5 / 2) + 1)
    return float(
        (m * np.exp(-2 * alpha * log_pulls / np.cosh(log_pulls / (4 * m)) ** 2)).min()
    )


def radius_pull_bound(
    radius: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Bound on the pulls of an arm that the event lets be selected only while its radius is larger (ours).

    .. math::

        \mathrm E[n_i(B)] \le 1 + \Bigl\lfloor \frac{\alpha \log T_B}{\beta_i^2} \Bigr\rfloor
                            + 2(D+1)\,T_B^{2-2\alpha}

    At `threshold_radius` the intervals of the event cease to contradict a selection,
    the index of the best arm being taken at its lower end: no bound that reads only the
    event is smaller.

    Parameters
    ----------
    radius : float
        :math:`\beta_i > 0`.
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float

    Examples
    --------
    >>> radius = threshold_radius([0.5], 1.0, 1.0, cost_ratio=1.0)
    >>> bound = radius_pull_bound(radius, n_objectives=1, cost_ratio=1.0, budget=99)
    >>> round(bound, 4)  # 1 + floor(589.46) + 4 / 100^2
    590.0004
    """
    pulls = horizon(budget, cost_ratio)
    failure = one_sided_failure_probability(
        n_objectives=n_objectives, cost_ratio=cost_ratio, budget=budget, alpha=alpha
    )
    if _validation.positive(radius, "radius") < 1e-150:
        raise CobanditError(
            f"radius is {radius:g}: the bound is beyond every floating-point number"
        )
    return 1 + _budget.floor(alpha * log(pulls) / radius**2) + pulls * failure


def lean_pull_bound(
    gap: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Theorem 1 without the slack in its last step (ours): a quarter of the leading term, and no K.

    .. math::

        \mathrm E[n_i(B)] \le 1 + \Bigl\lfloor \frac{\alpha C_{\lambda,H}^2 \log T_B}{\Delta_i^2} \Bigr\rfloor
                            + 2(D+1)\,T_B^{2-2\alpha}

    A selected arm has :math:`C_{\lambda,H} \beta \ge \Delta_i`; the paper goes on with
    half the gap.

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
    how: Any = {
        "n_objectives": n_objectives,
        "cost_ratio": cost_ratio,
        "budget": budget,
        "alpha": alpha,
    }
    radius = 1 / (
        index_constant(n_objectives, cost_ratio) / _validation.positive(gap, "gap")
    )
    return radius_pull_bound(radius, **how)


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

    On the event a selected arm has numerator at most :math:`H_i + 2D\beta` and
    denominator at least :math:`\mu_i^c - 2\beta`, truncated or not, so :math:`H_i +
    2D\beta \ge \nu_{i^\star}(\mu_i^c - 2\beta)`, that is :math:`2\beta (D +
    \nu_{i^\star}) \ge \nu_{i^\star} \mu_i^c - H_i = \mu_i^c \Delta_i`.  Since
    :math:`\nu_{i^\star} \le 1/\lambda` and :math:`\mu_i^c \ge \lambda`, the leading
    term is at most a sixteenth of Theorem 1's.

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
    how: Any = {
        "n_objectives": n_objectives,
        "cost_ratio": cost_ratio,
        "budget": budget,
        "alpha": alpha,
    }
    apart = _validation.positive(mean_cost, "mean_cost", 1.0) * _validation.positive(
        gap, "gap"
    )
    most = _validation.count(n_objectives, "n_objectives", 1) + _validation.positive(
        best_efficiency, "best_efficiency"
    )
    if gap > _budget.add_slack(best_efficiency):
        raise CobanditError(
            f"gap is {gap:g}, larger than best_efficiency {best_efficiency:g}"
        )

    return radius_pull_bound(apart / (2 * most), **how)


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
    means = _validation.numbers(means, "means", 1)
    mean_cost = _validation.positive(mean_cost, "mean_cost", 1.0)
    if not len(means) or means.min() < 0 or means.max() > 1:
        raise CobanditError(
            f"means is {means.tolist()}: mean rewards lie in [0, 1], at least one is"
            " needed"
        )
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    best_efficiency = _validation.positive(
        best_efficiency, "best_efficiency", 1 / cost_ratio * (1 + _budget.SLACK)
    )

    def reach(radius: float) -> float:
        largest = np.minimum(1.0, means + 2 * radius).prod()
        return float(largest / max(cost_ratio / 2, mean_cost - 2 * radius))

    if reach(0.0) >= best_efficiency:
        raise CobanditError("the arm is as efficient as the best: it has no threshold")
    # at radius one every numerator is 1 and every denominator lambda / 2
    low = 0.0
    high = 1.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) < best_efficiency else (low, middle)
    return low


def informative_budget(
    bound: Callable[[float], float], cost: float, *, cost_ratio: float | None = None
) -> float:
    r"""Budget from which a bound on pulls is below what the budget holds at a cost a pull, :math:`B / c`.

    Parameters
    ----------
    bound : callable
        Budget to bound on the pulls; it grows more slowly than the budget.
    cost : float
        lambda for the paper's trivial bound; an arm's mean cost for what can be bought
        of it.
    cost_ratio : float, optional
        lambda, where the bound depends on the horizon: none is computed of budgets that
        hold 2^62 pulls.

    Returns
    -------
    float
        To a relative 1e-6, and not below the cost; ``inf`` if it is not yet below at
        10^15 pulls, or at the largest budget whose horizon is computed.

    Raises
    ------
    CobanditError
        If the cost is out of range.

    Examples
    --------
    >>> round(informative_budget(lambda budget: 100.0, cost=0.5), 3)
    50.0
    """
    cost = _validation.positive(cost, "cost", 1.0)
    low = cost
    high = 1e15 * cost
    if cost_ratio is not None:
        countable = (
            0.5
            * _budget.MOST_PULLS
            * _validation.positive(cost_ratio, "cost_ratio", 1.0)
        )
        high = max(low, min(high, countable))

    if bound(high) >= high / cost:
        return inf

    while high > low * (1 + 1e-6):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if bound(middle) >= middle / cost else (low, middle)

    return high


# ------------------------------------------------------------ an arm's means may leave their radii
def split_pull_bound(
    means: ArrayLike,
    mean_cost: float,
    best_efficiency: float,
    *,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Bound on pulls with a leading term a quarter of `radius_pull_bound`'s at `threshold_radius` (ours).

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \frac{1}{r_i^2} \Bigl( (\sqrt a + y)^2 + \frac12 + \frac{\sqrt a}{2y} \Bigr)
            + (D+1)\,T_B^{2-2\alpha},
        \qquad a = \alpha \log T_B,\quad y = \sqrt{\tfrac12 \log(D+1)},

    where :math:`r_i` is twice `threshold_radius`: the root of

    .. math:: \prod_d \min\{1,\ \mu_i^{(d)} + r\} = \nu_{i^\star} \max\{\lambda/2,\ \mu_i^c - r\} .

    After n pulls the index of the arm is at least :math:`\nu_{i^\star}` only if one of
    its D + 1 means is off by :math:`r_i - \sqrt{a/n}`, which has probability at most
    :math:`\min\{1, (D+1) \exp(-2 (r_i \sqrt n - \sqrt a)_+^2)\}`.  The second term is
    the integral of that over n, the last what the best arm's index costs where it is
    too small.

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
    r"""Coefficient of :math:`\log T_B` in a bound for the index of Ding et al. (2013), one objective (ours).

    Their index adds to the ratio of the means a bonus that goes with the radius
    :math:`\epsilon = \sqrt{\log(t - 1) / n}`, and is infinite while :math:`\epsilon \ge
    \lambda`:

    .. math::

        \frac{\bar r}{\bar c} + \Bigl(1 + \frac1\lambda\Bigr) \frac{\epsilon}{\lambda - \epsilon},
        \qquad
        \mathrm E[n_i(B)] \le 1 + \Bigl\lfloor \Bigl( \frac{2 + 2/\lambda + \Delta_i}{\lambda \Delta_i}
        \Bigr)^2 \log T_B \Bigr\rfloor + 4 (1 + \log T_B) .

    While means are within their radii, the ratio of two is off by at most the bonus, so
    that a suboptimal pull needs twice the bonus to be at least the gap, that is
    :math:`\epsilon \ge \lambda \Delta_i / (2 + 2/\lambda + \Delta_i)`.  Four one-sided
    statements (rewards and costs of the arm and of the best) at up to t - 1 sample
    sizes each fail with probability at most :math:`(t-1)^{-2}`; summed over t this is
    the last term.  The constants of their own theorem may differ.

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
