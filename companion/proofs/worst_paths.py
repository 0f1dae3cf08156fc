"""Worst paths that the event of Theorem 1 allows.

On the event of Theorem 1, all running means stay within their radii. On the worst path,
the means of a suboptimal arm are always at the upper ends of their radii, and those of
the best arm at the lower ends. Both are sequences of samples in [0, 1] with costs in
[lambda, 1], so the algorithm can be run on them. A bound that follows from the
event alone is therefore at least the number of pulls on this path.
"""

from bisect import bisect_left
from collections.abc import Iterable
from math import log, sqrt

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import theory
from cobandit.problem import Problem, hypervolume
from companion.proofs.checks import Floats
from companion.proofs.pulls import pull_bounds


def index_at(
    rewards: ArrayLike, cost: ArrayLike, radius: ArrayLike, *, floor: ArrayLike
) -> Floats:
    r"""Return the index of arms with given means, as a function of the radius.

    .. math::

        I(\beta) = \frac{\prod_d \min\{1, \bar r^{(d)} + \beta\}}
            {\max\{f, \bar c - \beta\}}

    Parameters
    ----------
    rewards : array_like, shape (..., D)
        Empirical mean rewards.
    cost, radius, floor : array_like, shape (...)
        Empirical mean cost, :math:`\beta`, and the smallest denominator f > 0, which is
        lambda / 2 in the algorithm.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> index_at([0.5], 0.5, [0.0, 0.25, 0.75], floor=0.125)
    array([1., 3., 8.])
    """
    radius = np.asarray(radius, dtype=np.float64)
    upper = np.minimum(1.0, np.asarray(rewards) + radius[..., None])
    return np.asarray(hypervolume(upper) / np.maximum(floor, np.asarray(cost) - radius))


def extreme_means(
    means: ArrayLike,
    mean_cost: ArrayLike,
    radius: ArrayLike,
    cost_ratio: ArrayLike,
    *,
    upper: bool,
) -> tuple[Floats, Floats]:
    """Return the means within their radii at which the index is largest or smallest.

    Parameters
    ----------
    means : array_like, shape (..., D)
    mean_cost, radius, cost_ratio : array_like, shape (...)
    upper : bool
        Whether rewards are at the upper end and the cost at the lower end, or the
        reverse.

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
    problem: Problem, arm: int, *, cost_ratio: float, budget: float
) -> int:
    r"""Count the pulls of an arm on the worst path of the module's docstring.

    The means of the best arm are at the lower ends of their radii, so its index is
    at least :math:`\nu_{i^\star}`. It is larger only if an end would be outside [0, 1].
    The number of pulls of the other arm is one more than the number of n at which its
    index is at least :math:`\nu_{i^\star}`.

    Parameters
    ----------
    problem : Problem
        Problem with costs in [lambda, 1].
    arm : int
        An arm that is not best.
    cost_ratio, budget : float
        lambda and B; alpha is 2.

    Returns
    -------
    int
        At most B / lambda + 1, the pulls at cost lambda.

    Examples
    --------
    >>> two = Problem([[0.875], [0.125]], [0.5, 0.75])
    >>> adversarial_pulls(two, 1, cost_ratio=0.25, budget=300)
    305
    """
    best = float(problem.efficiency.max())
    root = sqrt(2.0 * log(theory.horizon(budget, cost_ratio)))

    def index(n: int) -> float:
        beta = root / sqrt(n)
        rewards, cost = extreme_means(
            problem.means[arm], problem.costs[arm], beta, cost_ratio, upper=True
        )
        return float(index_at(rewards, float(cost), beta, floor=cost_ratio / 2))

    counts = range(1, int(budget / cost_ratio) + 1)
    return 1 + bisect_left(counts, True, key=lambda n: index(n) < best)


def worst_problems() -> list[tuple[Problem, float]]:
    """Return problems of two arms with lambda: random, and nearly sharp for C."""
    rng = np.random.default_rng(0)
    problems = []
    for lam in (0.5, 0.2, 0.1, 0.02):
        # rewards of one and costs near lambda use the constant C almost fully
        for share in (0.02, 0.1, 0.3):
            problems.append(
                (Problem([[1.0], [1.0]], [lam, lam * (1 + 2 * share)]), lam)
            )
        means = rng.integers(20, 81, (2, 2)) / 100
        costs = rng.uniform(max(lam, 0.3), 0.7, 2)
        problems.append((Problem(means, costs), lam))
    return problems


def worst_paths(
    problems: Iterable[tuple[Problem, float]], budget: float
) -> pd.DataFrame:
    """Return bounds on the pulls of the worst arm, and its pulls on the worst path.

    The frame has one row per problem. The pulls are in the column ``made``.
    """
    rows = []
    for problem, lam in problems:
        arm = int(problem.efficiency_gaps.argmax())
        setting = {"cost_ratio": lam, "budget": budget}
        all_bounds = pull_bounds(problem, arm, **setting)
        rows.append(
            {
                "made": adversarial_pulls(problem, arm, **setting),
                "trivial": budget / lam,
                **all_bounds,
            }
        )

    return pd.DataFrame(rows)
