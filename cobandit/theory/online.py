"""Theory of online selection: Theorem 1, Lemma 1 and Corollary 1."""

from math import ceil, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobandit import _budget, _validation
from cobandit.errors import CobanditError


def horizon(budget: float, cost_ratio: float) -> int:
    r"""Return :math:`T_B`, the paper's bound on the number of pulls (Section 4.1).

    .. math:: T_B = \lceil B / \lambda \rceil + 1

    Parameters
    ----------
    budget : float
        B > 0.
    cost_ratio : float
        lambda in (0, 1]. The budget is in units of the largest cost.

    Returns
    -------
    int

    Examples
    --------
    >>> horizon(10, 0.5)
    21
    """
    budget = _validation.positive(budget, "budget")
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    return ceil(_budget.pulls_within(budget, cost_ratio)) + 1


def confidence_radius(
    pulls: int, budget: float, cost_ratio: float, alpha: float = 2.0
) -> float:
    r"""Return the confidence radius after n pulls of an arm.

    .. math:: \beta = \sqrt{\alpha \log T_B / n} \qquad \text{(Section 4.1)}

    Parameters
    ----------
    pulls : int
        n >= 1.
    budget, cost_ratio : float
        B and lambda.
    alpha : float
        Exploration constant. Theorem 1 requires alpha >= 2.

    Returns
    -------
    float

    Examples
    --------
    >>> round(confidence_radius(8, budget=10, cost_ratio=0.5), 4)
    0.8724
    """
    pulls = _validation.count(pulls, "pulls", 1)
    alpha = _validation.positive(alpha, "alpha")
    return sqrt(alpha * log(horizon(budget, cost_ratio)) / pulls)


def index_constant(n_objectives: int, cost_ratio: float) -> float:
    r"""Return the constant :math:`C_{\lambda,H}` of Theorem 1.

    .. math:: C_{\lambda,H} = 4D/\lambda + 4/\lambda^2

    If all means are within their radii, no index exceeds the efficiency of its arm by
    more than this constant times the radius.

    Parameters
    ----------
    n_objectives : int
        D >= 1.
    cost_ratio : float
        lambda in (0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> index_constant(2, 0.5)
    32.0
    """
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    return 4 * n_objectives / cost_ratio + 4 / cost_ratio**2


def failure_probability(
    *,
    n_arms: int,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return the bound on the probability that a mean leaves its confidence radius.

    .. math:: 2K(D+1)\,T_B^{1-2\alpha} \qquad \text{(Theorem 1, Step 1)}

    Parameters
    ----------
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float
        The bound as stated, which is trivial above one.

    Examples
    --------
    >>> size = {"n_arms": 3, "n_objectives": 2}
    >>> bound = failure_probability(**size, cost_ratio=0.5, budget=4.5, alpha=2)
    >>> round(bound, 6)  # 18 / 10^3
    0.018
    """
    n_arms = _validation.count(n_arms, "n_arms", 2)
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    exponent = 1 - 2 * _validation.positive(alpha, "alpha")
    pulls = float(horizon(budget, cost_ratio))
    probability: float = 2 * n_arms * (n_objectives + 1) * pulls**exponent
    return probability


def leading_constant(
    gap: float, *, n_objectives: int, cost_ratio: float, alpha: float = 2.0
) -> float:
    r"""Return the coefficient of :math:`\log T_B` in Theorem 1.

    .. math:: 4 \alpha C_{\lambda,H}^2 / \Delta_i^2

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    n_objectives : int
        D >= 1.
    cost_ratio, alpha : float
        lambda in (0, 1], and alpha.

    Returns
    -------
    float

    Examples
    --------
    >>> leading_constant(0.5, n_objectives=1, cost_ratio=1.0)  # 4 * 2 * 8^2 / 0.25
    2048.0
    """
    ratio = index_constant(n_objectives, cost_ratio) / _validation.positive(gap, "gap")
    return 4 * _validation.positive(alpha, "alpha") * ratio**2


def pull_bound(
    gap: float,
    *,
    n_arms: int,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return the bound of Theorem 1 on the expected pulls of a suboptimal arm.

    .. math::

        \mathrm E[n_i(B)] \le 1
            + \Bigl\lceil \frac{4 \alpha C_{\lambda,H}^2 \log T_B}{\Delta_i^2}
            \Bigr\rceil
            + 2K(D+1)\,T_B^{2-2\alpha}

    The bound holds for Algorithm 1 as printed, which is ``CoHVUCB(...,
    selection="all")`` with unscaled radii. It also holds for ``selection="feasible"``.
    This selection makes at most :math:`1/\lambda` more pulls in total. The factor 4 is
    larger than needed, so the bound also covers these pulls. (This case is ours; the
    paper's proof does not cover it.)

    Parameters
    ----------
    gap : float
        Efficiency gap :math:`\Delta_i > 0`.
    n_arms, n_objectives : int
        K >= 2 and D >= 1.
    cost_ratio, budget : float
        lambda in (0, 1] and B > 0.
    alpha : float
        Exploration constant. The theorem requires alpha >= 2, but smaller values are
        accepted.

    Returns
    -------
    float
        The bound as stated. It is at least one, and useful only if it is below the
        trivial bound B / lambda.

    Raises
    ------
    CobanditError
        If an argument is out of range, such as a gap of zero.

    Examples
    --------
    >>> size = {"n_arms": 2, "n_objectives": 1}
    >>> bound = pull_bound(0.5, **size, cost_ratio=1.0, budget=99, alpha=2.0)
    >>> round(bound, 6)  # 1 + ceil(4 * 2 * 8^2 * log(100) / 0.25) + 8 / 100^2
    9433.0008
    """
    gap = _validation.positive(gap, "gap")
    failure = failure_probability(
        n_arms=n_arms,
        n_objectives=n_objectives,
        cost_ratio=cost_ratio,
        budget=budget,
        alpha=alpha,
    )
    pulls = horizon(budget, cost_ratio)
    leading = leading_constant(
        gap, n_objectives=n_objectives, cost_ratio=cost_ratio, alpha=alpha
    )
    return 1 + ceil(leading * log(pulls)) + pulls * failure


def efficiency_regret_bound(
    gaps: ArrayLike,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return the bound of Theorem 1 on the efficiency regret, with its constants.

    The bound is the sum of :math:`\Delta_i` times `pull_bound` over suboptimal arms.

    Parameters
    ----------
    gaps : array_like, shape (K,)
        Efficiency gaps of all arms, including the gap of zero of the best arm.
    n_objectives : int
        D >= 1.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    float
        Bound on the expected efficiency regret. Time O(K).

    Examples
    --------
    >>> settings = {"n_objectives": 1, "cost_ratio": 1.0, "budget": 99}
    >>> round(efficiency_regret_bound([0.0, 0.5], **settings), 4)
    4716.5004
    """
    gaps = gaps_of(gaps)
    ones = np.ones(np.size(gaps))
    return _sum_pull_bounds(gaps, ones, n_objectives, cost_ratio, budget, alpha)


def optimal_utility_bound(best_efficiency: float, budget: float) -> float:
    r"""Return the bound :math:`\nu_{i^\star} (B + 1)` of Lemma 1.

    No policy collects a larger expected hypervolume.

    Parameters
    ----------
    best_efficiency : float
        :math:`\nu_{i^\star} \ge 0`.
    budget : float
        B > 0.

    Returns
    -------
    float

    Examples
    --------
    >>> optimal_utility_bound(0.5, 9)
    5.0
    """
    efficiency = _validation.non_negative(best_efficiency, "best_efficiency")
    return efficiency * (_validation.positive(budget, "budget") + 1)


def standard_regret_bound(
    gaps: ArrayLike,
    mean_costs: ArrayLike,
    best_efficiency: float,
    *,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float = 2.0,
) -> float:
    r"""Return the bound of Corollary 1 on the standard regret, for a finite budget.

    .. math::

        \mathrm E[R_B^{\mathrm{std}}] \le 2 \nu_{i^\star}
            + \sum_{i \ne i^\star} \mu_i^c \Delta_i \Bigl( 1
            + \Bigl\lceil \frac{4 \alpha C_{\lambda,H}^2 \log T_B}{\Delta_i^2}
            \Bigr\rceil
            + 2K(D+1)\,T_B^{2-2\alpha} \Bigr)

    The corollary states only the order of this bound; the bound itself is in its proof.

    Parameters
    ----------
    gaps : array_like, shape (K,)
        Efficiency gaps of all arms, including the gap of zero of the best arm.
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
        Bound on the expected standard regret. Time O(K).

    Examples
    --------
    >>> settings = {"n_objectives": 1, "cost_ratio": 1.0, "budget": 99}
    >>> bound = standard_regret_bound([0.0, 0.5], [1.0, 1.0], 0.75, **settings)
    >>> round(bound, 4)  # the efficiency regret bound plus 2 * 0.75, at costs of 1
    4718.0004
    """
    gaps = gaps_of(gaps)
    cost_ratio = _validation.positive(cost_ratio, "cost_ratio", 1.0)
    mean_costs = _validation.costs(mean_costs, "mean_costs", n_arms=len(gaps))
    is_too_high = mean_costs.max() > _budget.add_slack(1.0)
    is_too_low = _budget.add_slack(float(mean_costs.min())) < cost_ratio
    if is_too_high or is_too_low:
        raise CobanditError(
            f"mean_costs must be in [{cost_ratio}, 1]: divide costs and budget by the"
            " largest cost",
            argument="mean_costs",
            code="out-of-range",
        )

    efficiency = _validation.non_negative(best_efficiency, "best_efficiency")
    suboptimal = _sum_pull_bounds(
        gaps, mean_costs, n_objectives, cost_ratio, budget, alpha
    )
    return 2 * efficiency + suboptimal


def gaps_of(gaps: ArrayLike) -> np.ndarray:
    """Return efficiency gaps as an array, or raise unless the smallest is zero."""
    gaps = _validation.numbers(gaps, "gaps", 1)
    if len(gaps) < 2 or gaps.min() != 0:
        raise CobanditError(
            "gaps: at least two are needed, one for each arm, and the smallest must be"
            " 0, the gap of the best arm",
            argument="gaps",
            code="bad-gaps",
        )
    return gaps


def _sum_pull_bounds(
    gaps: np.ndarray,
    costs: np.ndarray,
    n_objectives: int,
    cost_ratio: float,
    budget: float,
    alpha: float,
) -> float:
    """Return the sum of cost times gap times `pull_bound` over suboptimal arms."""
    settings: Any = {
        "n_arms": len(gaps),
        "n_objectives": n_objectives,
        "cost_ratio": cost_ratio,
        "budget": budget,
        "alpha": alpha,
    }
    arms = zip(gaps[gaps > 0], costs[gaps > 0], strict=True)
    terms = [cost * gap * pull_bound(gap, **settings) for gap, cost in arms]
    return float(sum(terms))
