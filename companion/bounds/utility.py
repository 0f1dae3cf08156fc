"""Bounds on the collected hypervolume, and a lower bound on regret (ours)."""

from cobandit import _validation
from cobandit.problem import Problem
from cobandit.theory.divergence import least_divergence


def counted_cost_bounds(budget: float, cost_ratio: float) -> tuple[float, float]:
    r"""Return bounds on the expected cost of the pulls within the budget (ours).

    This cost, :math:`\sum_i \mu_i^c \mathrm E[n_i(B)]`, is above B - 1, and at most B +
    1 - lambda. Wald's identity at the stopping
    time :math:`\tau = T(B) + 1` gives :math:`\sum_i \mu_i^c \mathrm E[n_i] = \mathrm
    E[C_\tau] - \mathrm E[\mu^c_{i_\tau}]`. The range follows, because :math:`B < C_\tau
    \le B + c_\tau` and costs are in [lambda, 1].

    Parameters
    ----------
    budget, cost_ratio : float
        B > 0 and lambda in (0, 1].

    Returns
    -------
    low, high : float
        The ends of the range. The proof of Corollary 1 uses the lower end.

    Examples
    --------
    >>> counted_cost_bounds(9, 0.5)
    (8.0, 9.5)
    """
    budget = _validation.positive(budget, "budget")
    return budget - 1, budget + 1 - _validation.positive(cost_ratio, "cost_ratio", 1.0)


def completed_utility_bound(
    best_efficiency: float, budget: float, cost_ratio: float
) -> float:
    r"""Return an upper bound on the hypervolume collected within the budget (ours).

    The bound is :math:`\nu_{i^\star} (B + 1 - \lambda)`, where Lemma 1 has
    :math:`\nu_{i^\star} (B + 1)`. Only the pulls that are completed within the budget
    count. Since :math:`H_i \le \nu_{i^\star} \mu_i^c`, the bound follows from the upper
    bound of `counted_cost_bounds`.

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
    best_efficiency = _validation.non_negative(best_efficiency, "best_efficiency")
    return best_efficiency * counted_cost_bounds(budget, cost_ratio)[1]


def least_regret_slope(problem: Problem, *, cost_ratio: float) -> float:
    r"""Return a lower bound on the growth of the regret per unit of log B (ours).

    The bound is :math:`\sum_{i \ne i^\star} \Delta_i / \mathcal K_{\inf}(i)`, with
    :math:`\mathcal K_{\inf}(i)` the result of `cobandit.theory.least_divergence`. A
    method is consistent if, on all problems, its pulls of suboptimal arms grow more
    slowly than every power of B. The efficiency regret of a consistent method grows at
    least like this bound times log B.

    Parameters
    ----------
    problem : Problem
        Problem with means in (0, 1) and mean costs in [lambda, 1].
    cost_ratio : float
        lambda.

    Returns
    -------
    float

    Examples
    --------
    >>> problem = Problem([[0.75], [0.5]], [1.0, 1.0])
    >>> round(least_regret_slope(problem, cost_ratio=1.0), 4)  # 0.25 / kl(0.5, 0.75)
    1.738
    """
    best = float(problem.efficiency.max())
    total = 0.0
    for mean, cost, gap in zip(
        problem.means, problem.costs, problem.efficiency_gaps, strict=True
    ):
        if gap > 0:
            total += float(gap) / least_divergence(
                mean, float(cost), best, cost_ratio=cost_ratio
            )
    return total
