"""Largest number of pulls that the concentration event of Theorem 1 allows.

On this event, all running means stay within their radii. On the worst path, the index
of a suboptimal arm is always as large as the event allows, and the index of the best
arm is as small as the event allows. Sequences of rewards in [0, 1] and costs in
[lambda, 1] attain these means, so the algorithm can be run on them. A bound that
follows from the event alone is therefore at least the number of pulls on this path.
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
    r"""Return the index of CoHV-UCB for arms with given means and radii.

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
    """Return the empirical means at which the index of an arm is extreme on the event.

    The concentration event is that all means stay within their radii.

    Parameters
    ----------
    means : array_like, shape (..., D)
        True mean rewards.
    mean_cost, radius, cost_ratio : array_like, shape (...)
        True mean cost, confidence radius and lambda.
    upper : bool
        True for the largest index, at the largest rewards and the smallest cost; False
        for the smallest index.

    Returns
    -------
    rewards : ndarray, shape (..., D)
        Empirical mean rewards, in [0, 1].
    cost : ndarray, shape (...)
        Empirical mean cost, in [lambda, 1].

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
    r"""Count the pulls of a suboptimal arm on its worst path.

    `companion.proofs.worst_paths` defines the worst path. On this path, the means of
    the best arm are at the lower ends of their intervals. The index of the best arm is
    therefore :math:`\nu_{i^\star}`, unless an end is cut off at the limits of rewards
    or costs. The other arm is pulled n + 1 times, where n is the largest number of
    pulls after which the index of this arm is still at least :math:`\nu_{i^\star}`.

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
        At most B / lambda + 1, the number of pulls if each costs lambda.

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
    """Return pairs of a problem with two arms and its lambda.

    Some problems are random. On the others, the proof of Theorem 1 has almost no slack
    in the constant C.
    """
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
    """Return the pulls of each problem's worst arm on its worst path, and their bounds.

    The frame has one row per problem. The column ``made`` has the pulls. Each other
    column has the bound of its name.
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
