r"""Bounds on the pulls of CoHV-UCB as printed, with smaller constants (ours).

The bounds use the paper's index and its concentration event, on which all means stay
within their radii. Only the counting of pulls differs. Four facts hold for all of them:

* The argument for arm i uses 2(D + 1) one-sided statements of the concentration event.
  The rewards of the best arm are not underestimated, and its cost is not overestimated;
  for arm i, the reverse holds. Each statement fails for some sample size with
  probability at most :math:`T_B^{1-2\alpha}`.
* If arm i is selected after n of its pulls, :math:`I_i \ge I_{i^\star} \ge
  \nu_{i^\star}`. This implies an upper bound on n. As the upper bound also holds for
  the last selection, the number of pulls is at most the bound's integer part plus one.
* The bounds hold for every ``alpha`` > 0. They are logarithmic in B for alpha >= 1, and
  with `leaving_bound` for alpha > 1/2.
* The bounds are for the algorithm as printed, ``CoHVUCB(..., selection="all")``.
  Feasible selection makes at most :math:`1/\lambda` additional pulls, over all arms
  together.

`split_pull_bound` does not need the statements about arm i. The other bounds require
that the means of arm i stay within their radii for every number of pulls, which adds a
second radius to the index. But if a mean of arm i leaves its radius once, the loss is
only one pull. `split_pull_bound` therefore requires only that the means of the best arm
stay within their radii, and counts how often the index of arm i is too large.
"""

from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _budget, _validation
from cobandit.errors import CobanditError
from cobandit.theory.online import horizon, index_constant
from companion.bounds.leaving_bounds import one_sided_failure_probability


def radius_pull_bound(
    radius: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return a bound on the pulls of an arm from its threshold radius (ours).

    On the concentration event, all means stay within their radii. The arm can then be
    selected only while its confidence radius is at least :math:`\beta_i`. Therefore

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \Bigl\lfloor \frac{\alpha \log T_B}{\beta_i^2} \Bigr\rfloor
            + 2(D+1)\,T_B^{2-2\alpha}

    If :math:`\beta_i` is the `threshold_radius`, no bound that uses only the event is
    smaller: at this radius, the event allows the selection of the arm if the index of
    the best arm has its smallest possible value.

    Parameters
    ----------
    radius : float
        Threshold :math:`\beta_i > 0`.
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
            f"radius is {radius:g}, so small that the bound overflows; it must be at"
            " least 1e-150",
            argument="radius",
            code="too-small",
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
    r"""Return our version of Theorem 1's bound, whose proof has no loose last step.

    The leading term is a quarter of the leading term in Theorem 1, and the number of
    arms K does not appear.

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \Bigl\lfloor \frac{\alpha C_{\lambda,H}^2 \log T_B}
                {\Delta_i^2} \Bigr\rfloor
            + 2(D+1)\,T_B^{2-2\alpha}

    An arm of radius :math:`\beta` is selected only if :math:`C_{\lambda,H} \beta \ge
    \Delta_i`. The paper's proof replaces the gap by half of the gap at this step.

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
    r"""Return a bound on the pulls of an arm that uses the arm's mean cost (ours).

    The leading term of the bound does not depend on lambda.

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \Bigl\lfloor \frac{4\alpha (D + \nu_{i^\star})^2 \log T_B}
                {(\mu_i^c \Delta_i)^2} \Bigr\rfloor
            + 2(D+1)\,T_B^{2-2\alpha}

    On the event, the index of an arm has a numerator of at most :math:`H_i + 2D\beta`
    and a denominator of at least :math:`\mu_i^c - 2\beta`, with or without truncation.
    If the arm is selected, then :math:`H_i + 2D\beta \ge \nu_{i^\star}(\mu_i^c -
    2\beta)`, which is equivalent to :math:`2\beta (D + \nu_{i^\star}) \ge \nu_{i^\star}
    \mu_i^c - H_i = \mu_i^c \Delta_i`. Since :math:`\nu_{i^\star} \le 1/\lambda` and
    :math:`\mu_i^c \ge \lambda`, the leading term is at most a sixteenth of the leading
    term in Theorem 1.

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
    >>> how = {"n_objectives": 1, "cost_ratio": 1.0}
    >>> bound = instance_pull_bound(0.5, 1.0, 1.0, **how, budget=99)
    >>> round(bound, 4)  # 1 + floor(4 * 2 * 2^2 * log(100) / 0.25 = 589.46) + 4 / 100^2
    590.0004
    """
    how: Any = {
        "n_objectives": n_objectives,
        "cost_ratio": cost_ratio,
        "budget": budget,
        "alpha": alpha,
    }
    mean_cost = _validation.positive(mean_cost, "mean_cost", 1.0)
    gap = _validation.positive(gap, "gap")
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    best_efficiency = _validation.positive(best_efficiency, "best_efficiency")
    if gap > _budget.add_slack(best_efficiency):
        raise CobanditError(
            f"gap is {gap:g}; it must be at most best_efficiency, which is"
            f" {best_efficiency:g}",
            argument="gap",
            code="out-of-range",
        )

    radius = mean_cost * gap / (2 * (n_objectives + best_efficiency))
    return radius_pull_bound(radius, **how)


def threshold_radius(
    means: ArrayLike, mean_cost: float, best_efficiency: float, *, cost_ratio: float
) -> float:
    r"""Return the smallest radius at which a suboptimal arm can be selected (ours).

    The concentration event of Theorem 1 is assumed: all means are within their radii.
    The radius is the root :math:`\beta` of

    .. math::

        \frac{\prod_d \min\{1,\ \mu_i^{(d)} + 2\beta\}}
            {\max\{\lambda/2,\ \mu_i^c - 2\beta\}} = \nu_{i^\star}.

    Parameters
    ----------
    means : array_like, shape (D,)
        :math:`\mu_i` in [0, 1].
    mean_cost, best_efficiency, cost_ratio : float
        :math:`\mu_i^c`, :math:`\nu_{i^\star}` (larger than the arm's efficiency) and
        lambda.

    Returns
    -------
    float
        Radius, with a relative accuracy of 1e-12.

    Raises
    ------
    CobanditError
        If the arm is not suboptimal, or an argument is out of range.

    Examples
    --------
    For an arm of mean 1/2 and cost 1, and a best efficiency of 1, the equation is
    1/2 + 2 beta = 1 - 2 beta.

    >>> round(threshold_radius([0.5], 1.0, 1.0, cost_ratio=1.0), 9)
    0.125
    """
    means = _validation.numbers(means, "means", 1)
    mean_cost = _validation.positive(mean_cost, "mean_cost", 1.0)
    if not len(means) or means.min() < 0 or means.max() > 1:
        raise CobanditError(
            f"means is {means.tolist()}; it must contain at least one mean reward, all"
            " in [0, 1]",
            argument="means",
            code="out-of-range",
        )
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    best_efficiency = _validation.positive(
        best_efficiency, "best_efficiency", 1 / cost_ratio * (1 + _budget.SLACK)
    )

    def reach(radius: float) -> float:
        largest = np.minimum(1.0, means + 2 * radius).prod()
        return float(largest / max(cost_ratio / 2, mean_cost - 2 * radius))

    if reach(0.0) >= best_efficiency:
        raise CobanditError(
            "the arm is at least as efficient as best_efficiency, so it has no"
            " threshold; give the efficiency of the best arm",
            argument="best_efficiency",
            code="no-threshold",
        )
    # at radius one, the numerator is 1 and the denominator lambda / 2
    low = 0.0
    high = 1.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) < best_efficiency else (low, middle)
    return low
