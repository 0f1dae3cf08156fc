"""A family of problems such that every method has a large error on at least one."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.problem import Problem

#: In problems with two objectives, a reward is this weight times a Bernoulli draw, plus
#: a constant of the arm.
SHARE = 0.95


def hard_family(costs: ArrayLike, front_size: int = 1) -> list[Problem]:
    r"""Return problems such that every method has a large error on at least one.

    `companion.bounds.least_error` states how large this error is. Arms have ascending
    costs, and C([K]) is the sum of all costs. The last p - 1 arms are on the front of
    every problem. The other q = K - p + 1 arms are contested: exactly one of them is on
    the front. Let :math:`\gamma_i = s\,(c_1 + \dots + c_i)`. In every objective of
    the first problem, contested arm 1 has the mean :math:`v`, and contested arm i > 1
    has the mean :math:`v - \gamma_i`. In each other problem, the mean of one arm i > 1
    is :math:`v + \gamma_i`, so this arm is on the front instead of arm 1.

    For p = 1, there is one objective, :math:`v = \frac12` and :math:`s = 1 / (4
    C([K]))`. For larger p, there are two objectives. Then v and the means of the last p
    - 1 arms are evenly spaced on a falling line, :math:`1 / (20 (p - 1))` apart in each
    objective. The factor s is a sixth of this distance over C([K]), so the last p - 1
    arms are far from the contested arms.

    Parameters
    ----------
    costs : array_like, shape (K,)
    front_size : int
        Size p of the front, less than K.

    Returns
    -------
    list of Problem
        q problems, with ascending costs.

    Examples
    --------
    >>> [problem.means.ravel().tolist() for problem in hard_family([1.0, 1.0])]
    [[0.5, 0.25], [0.5, 0.75]]
    >>> family = hard_family([1.0, 1.0, 1.0], front_size=2)
    >>> [problem.pareto_mask.tolist() for problem in family]
    [[True, False, True], [False, True, True]]
    """
    costs = np.sort(_validation.costs(costs))
    n_always = _validation.count(front_size, "front_size", 1) - 1
    n_contested = len(costs) - n_always
    if n_contested < 2:
        raise CobanditError(
            f"front_size is {front_size}; with {len(costs)} arms, it must be at most"
            f" {len(costs) - 1}",
            argument="front_size",
            code="out-of-range",
        )

    step = 1 / (20 * n_always) if n_always else 0.0
    gaps = (
        np.cumsum(costs)[:n_contested] / costs.sum() * (step / 6 if n_always else 1 / 4)
    )
    gaps[0] = 0.0  # the first contested arm stays at v
    places = np.zeros((len(costs), 2 if n_always else 1))
    if n_always:
        places[n_contested:, 0] = step * np.arange(1, n_always + 1)
        places[:, 1] = 1 / 20 - places[:, 0]

    base = places + (SHARE / 2 if n_always else 1 / 2)
    base[:n_contested] -= gaps[:, None]

    # one row per problem; the first has no raised arm
    raised = 2 * gaps[:, None] * np.eye(n_contested, len(costs))
    return [Problem(base + shift[:, None], costs) for shift in raised]


def best_test_error(pulls: int, apart: float = 1 / 4) -> float:
    """Return the smallest error on one of two problems, given error 1/2 on the other.

    The problems differ in the mean of one coin, which is 1/2 minus or plus ``apart``.
    The best method spends the whole budget on this coin. By the Neyman-Pearson lemma,
    this method decides for the larger mean if the number of successes is large.

    Parameters
    ----------
    pulls : int
        Number of pulls of the coin: the budget over its cost.
    apart : float
        Distance of the coin's mean from 1/2, in (0, 1/2).

    Returns
    -------
    float

    Examples
    --------
    The test decides for 3/4 after heads, and after tails with probability 1/3.

    >>> round(best_test_error(1), 6)
    0.166667
    """
    pulls = _validation.count(pulls, "pulls", 1)
    low = 0.5 - apart
    high = 0.5 + apart
    median = int(stats.binom.isf(0.5, pulls, low))
    above = stats.binom.sf(median, pulls, low)
    here = stats.binom.pmf(median, pulls, low)
    # at the median, randomise so that the error on the first problem is one half
    called = (0.5 - above) / here
    missed = stats.binom.cdf(median - 1, pulls, high)
    missed_here = stats.binom.pmf(median, pulls, high)
    return float(missed + (1 - called) * missed_here)
