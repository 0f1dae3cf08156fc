"""Lemma 1 and Corollary 1 for pulls completed within the budget, by Wald's identity where it holds (ours)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.theory.online import costs_within, gaps_of
from cobandit.theory.sharper import instance_pull_bound


def counted_cost_bounds(budget: float, cost_ratio: float) -> tuple[float, float]:
    r"""Where :math:`\sum_i \mu_i^c \mathrm E[n_i(B)]` lies: above B - 1, at most B + 1 - lambda (ours).

    Wald's identity holds at the stopping time :math:`\tau = T(B) + 1`, and gives
    :math:`\sum_i \mu_i^c \mathrm E[n_i] = \mathrm E[C_\tau] - \mathrm E[\mu^c_{i_\tau}]`, where
    :math:`B < C_\tau \le B + c_\tau` and costs lie in [lambda, 1].

    Parameters
    ----------
    budget, cost_ratio : float
        B > 0 and lambda in (0, 1].

    Returns
    -------
    low, high : float
        The lower end is what the proof of Corollary 1 uses.

    Examples
    --------
    >>> counted_cost_bounds(9, 0.5)
    (8.0, 9.5)
    """
    budget = _check.positive(budget, "budget")
    return budget - 1, budget + 1 - _check.positive(cost_ratio, "cost_ratio", 1.0)


def completed_utility_bound(best_efficiency: float, budget: float, cost_ratio: float) -> float:
    r"""Lemma 1 for pulls completed within the budget (ours): :math:`\nu_{i^\star} (B + 1 - \lambda)`.

    As :math:`H_i \le \nu_{i^\star} \mu_i^c`, this is the upper end of `counted_cost_bounds`.

    Parameters
    ----------
    best_efficiency : float
        :math:`\nu_{i^\star} \ge 0`.
    budget, cost_ratio : float
        B > 0 and lambda in (0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> completed_utility_bound(0.5, 9, 0.5)
    4.75
    """
    return (
        _check.non_negative(best_efficiency, "best_efficiency") * counted_cost_bounds(budget, cost_ratio)[1]
    )


def end_of_run(
    best_efficiency: float, crossing_mean_cost: ArrayLike, crossing_spend: ArrayLike, budget: float
) -> NDArray[np.float64]:
    r"""What the end of a run adds to its standard regret against :math:`\nu_{i^\star} B` (ours).

    .. math:: \nu_{i^\star} \bigl( \mu^c_{i_\tau} - (C_\tau - B) \bigr)

    In expectation the regret is this and :math:`\sum_i \mu_i^c \Delta_i\, n_i(B)`; the paper has
    :math:`2 \nu_{i^\star}` in its place.

    Parameters
    ----------
    best_efficiency : float
        :math:`\nu_{i^\star} \ge 0`.
    crossing_mean_cost, crossing_spend : array_like, shape (...)
        Of the pull that crosses the budget: the mean cost of its arm, and the spend with it, :math:`C_\tau`.
    budget : float
        B > 0.

    Returns
    -------
    ndarray, shape (...)
        Between :math:`-\nu_{i^\star}` and :math:`\nu_{i^\star}`.

    Examples
    --------
    >>> float(end_of_run(2.0, 0.5, 10.25, budget=10))
    0.5
    """
    beyond = np.asarray(crossing_spend, dtype=float) - _check.positive(budget, "budget")
    room = np.asarray(crossing_mean_cost, dtype=float) - beyond
    return np.asarray(_check.non_negative(best_efficiency, "best_efficiency") * room)


def instance_standard_regret_bound(
    gaps: ArrayLike,
    mean_costs: ArrayLike,
    best_efficiency: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Corollary 1 with the constant that survives and the instance's pulls (ours).

    .. math::

        \mathrm E[R_B^{\mathrm{std}}] \le (2 - \lambda)\, \nu_{i^\star}
            + \sum_{\Delta_i > 0} \mu_i^c \Delta_i \, b_i

    with :math:`b_i` from `instance_pull_bound`, and :math:`R_B^\star` the best that completed pulls can earn.

    Parameters
    ----------
    gaps : array_like, shape (K,)
        Efficiency gaps of all arms, the best one (gap zero) among them.
    mean_costs : array_like, shape (K,)
        :math:`\mu_i^c` in [lambda, 1].
    best_efficiency : float
        :math:`\nu_{i^\star}`.
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float
        Time O(K).

    Examples
    --------
    >>> bound = instance_standard_regret_bound(
    ...     [0.0, 0.5], [1.0, 1.0], 1.0, n_objectives=1, cost_ratio=1.0, budget=99
    ... )
    >>> round(bound, 4)  # 1 + 0.5 * 590.0004
    296.0002
    """
    gaps, cost_ratio = gaps_of(gaps), _check.positive(cost_ratio, "cost_ratio", 1.0)
    mean_costs = costs_within(mean_costs, cost_ratio, len(gaps))
    how = {"n_objectives": n_objectives, "cost_ratio": cost_ratio, "budget": budget, "alpha": alpha}
    wasted = sum(
        cost * gap * instance_pull_bound(gap, cost, best_efficiency, **how)  # type: ignore[arg-type]
        for gap, cost in zip(gaps, mean_costs, strict=True)
        if gap > 0
    )
    return float((2 - cost_ratio) * best_efficiency + wasted)
