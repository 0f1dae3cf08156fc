"""Problems that no method can all solve quickly, and the least error on them."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.problem import Problem

#: Weight of an arm's coin in each of its rewards where fronts are larger; the remaining
#: weight is its place.
SHARE = 0.95


def hard_family(costs: ArrayLike, front_size: int = 1) -> list[Problem]:
    r"""Return problems that no method can all solve quickly.

    They are one problem, and q - 1 that differ from it in one arm each. Of K arms with
    ascending costs, the last p - 1 are on the front of every problem, and q = K - p + 1
    are contested. With :math:`\gamma_i = s\,(c_1 + \dots + c_i)`, the contested arms of
    the first problem have the means :math:`v` and :math:`v - \gamma_i`. In each of the
    others, one arm has :math:`v + \gamma_i` in every objective, so that each problem
    has one contested arm on its front.

    For p = 1 there is one objective, :math:`v = \frac12` and :math:`s = 1 / (4
    C([K]))`. Otherwise there are two objectives; v and the places of the arms that are
    always on the front are evenly spaced on a falling line, :math:`1 / (20 (p - 1))`
    apart in each objective, and s is a sixth of that over C([K]), so that they are far
    from all others.

    Parameters
    ----------
    costs : array_like, shape (K,)
    front_size : int
        p, less than K.

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
            f"front_size is {front_size}: it must be less than the {len(costs)} arms"
        )

    step = 1 / (20 * n_always) if n_always else 0.0
    gaps = (
        np.cumsum(costs)[:n_contested] / costs.sum() * (step / 6 if n_always else 1 / 4)
    )
    gaps[0] = 0.0  # the first stays at v
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
    """Return the least error on one problem if it may be one half on the other.

    There are two contested arms. The problems differ in one coin, with mean 1/2 minus
    or plus ``apart``. It is best to spend the whole budget on that coin and, by Neyman
    and Pearson, to call it the better arm if it succeeds often.

    Parameters
    ----------
    pulls : int
        Pulls of that coin: the budget over its cost.
    apart : float
        Distance of the coin's mean from 1/2, in (0, 1/2).

    Returns
    -------
    float

    Examples
    --------
    The answer is 3/4 after heads, and after a third of the tails.

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
