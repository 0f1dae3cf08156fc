r"""Means as bad as the event of Theorem 1 allows: what no argument that reads only the event can beat.

An arm whose running means are at the upper end of every radius, against a best arm at the lower end of its
own, stays on the event of Theorem 1 for certain.  Both are sequences of samples in [0, 1], and costs in
[lambda, 1], so that the algorithm itself can be run on them.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, theory
from cobandit.companion.proofs.optimism import index_at
from cobandit.policies import CoHVUCB
from cobandit.problem import Problem


def extreme_means(
    means: ArrayLike, mean_cost: ArrayLike, radius: ArrayLike, cost_ratio: ArrayLike, *, upper: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Empirical means at the end of their radii at which the index is largest, or smallest.

    Parameters
    ----------
    means : array_like, shape (..., D)
    mean_cost, radius, cost_ratio : array_like, shape (...)
    upper : bool
        Rewards high and the cost low; else the reverse.

    Returns
    -------
    rewards : ndarray, shape (..., D)
        In [0, 1].
    cost : ndarray, shape (...)
        In [lambda, 1].

    Examples
    --------
    >>> extreme_means([0.5, 0.875], 0.5, 0.25, 0.375, upper=True)
    (array([0.75, 1.  ]), np.float64(0.375))
    """
    radius = np.asarray(radius, dtype=float) * (1 if upper else -1)
    rewards = np.clip(np.asarray(means) + radius[..., None], 0.0, 1.0)
    return rewards, np.clip(np.asarray(mean_cost) - radius, cost_ratio, 1.0)


def adversarial_pulls(
    problem: Problem, arm: int, *, cost_ratio: float, budget: float, alpha: float = 2.0
) -> int:
    r"""Pulls of an arm whose means are at the upper ends of their radii, the best arm's at the lower ones.

    The index of the best arm is then :math:`\nu_{i^\star}` (from above, where an end would leave [0, 1]), so
    these are one more than the number of n with an index of at least that.

    Parameters
    ----------
    problem : Problem
        With costs in [lambda, 1].
    arm : int
        One that is not best.
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    int
        At most what the budget holds at a cost of lambda a pull.

    Examples
    --------
    >>> two = Problem([[0.875], [0.125]], [0.5, 0.75])
    >>> adversarial_pulls(two, 1, cost_ratio=0.25, budget=300)
    305
    """
    best = float(problem.efficiency.max())
    root = sqrt(_check.positive(alpha, "alpha") * log(theory.horizon(budget, cost_ratio)))

    def index(n: int) -> float:
        beta = root / sqrt(n)
        rewards, cost = extreme_means(problem.means[arm], problem.costs[arm], beta, cost_ratio, upper=True)
        return float(index_at(rewards, float(cost), beta, floor=cost_ratio / 2))

    selected, not_selected = 0, int(budget / cost_ratio) + 1
    while not_selected - selected > 1:
        middle = (selected + not_selected) // 2
        selected, not_selected = (middle, not_selected) if index(middle) >= best else (selected, middle)
    return selected + 1


def adversarial_run(
    problem: Problem, *, cost_ratio: float, budget: float, alpha: float = 2.0
) -> NDArray[np.int64]:
    """Run Algorithm 1 on these samples: the best arm at the lower ends, all others at the upper ones.

    Parameters
    ----------
    problem : Problem
        With costs in [lambda, 1].
    cost_ratio, budget, alpha : float
        lambda, B and alpha.

    Returns
    -------
    ndarray of int, shape (K,)
        Pulls completed within the budget.

    Examples
    --------
    >>> two = Problem([[0.875], [0.125]], [0.5, 0.75])
    >>> adversarial_run(two, cost_ratio=0.25, budget=300)
    array([174, 305])
    """
    K, D = problem.means.shape
    policy = CoHVUCB(K, D, budget, (cost_ratio, 1.0), alpha=alpha, selection="all")
    root = sqrt(alpha * log(theory.horizon(budget, cost_ratio)))
    totals, last = np.zeros((K, D + 1)), 0
    while (arm := policy.ask()) is not None:
        last, n = arm, int(policy.pulls[arm]) + 1
        means, mean_cost = problem.means[arm], problem.costs[arm]
        upper = arm != problem.best_arm
        rewards, cost = extreme_means(means, mean_cost, root / sqrt(n), cost_ratio, upper=upper)
        total = n * np.append(cost, rewards)
        sample = np.clip(total - totals[arm], [cost_ratio, *[0.0] * D], 1.0)  # rounding
        totals[arm] = total
        policy.tell(arm, sample[1:], float(sample[0]))
    pulls = policy.pulls.copy()
    pulls[last] -= policy.spent > _check.with_slack(budget)
    return pulls
