r"""Sets of arms that can still be active together, and the complexity of those alone (ours).

The complexity :math:`H_{\mu,c}` lets any k arms be the ones that are still active.  But
before the first phase whose means are too far off, arms leave in an order that the true
means nearly fix: expensive arms that are easy to classify are gone by the time that
gaps are small.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation, dominance
from cobandit.errors import CobanditError

#: From (means of the active arms, what margins err by) to which of them may be the next
#: to leave.
LeaveRule = Callable[[NDArray[np.float64], float], NDArray[np.bool_]]


#: Sets of one size up to which they are enumerated: of K arms there are 2^K sets, but
#: few can be reached.
MOST_SETS = 5_000


def may_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Not the paper's: arms whose empirical gap may be the largest while margins err by less than ``slack``.

    Every empirical gap is :math:`\max\{\Delta_i^-, \Delta_i^+\}`, which grows with each
    margin in it.  So it lies between what it is with all of them lowered and with all
    of them raised by the slack; an arm may leave if its upper end is above every lower
    one.  No arm is missed that can leave, but one may be named that cannot: one error
    of a mean moves several margins, not all of them the same way.

    Parameters
    ----------
    means : array_like, shape (k, D)
        True means of the active arms.
    slack : float
        Positive; twice that which a mean may err by.

    Returns
    -------
    ndarray of bool, shape (k,)
        Time and memory O(k^2 D).

    Examples
    --------
    >>> may_leave([[0.9], [0.8], [0.2]], 0.05)
    array([False, False,  True])
    """
    slack = _validation.positive(slack, "slack")
    m, M = dominance.margins_of_others(means)
    dominated_by = m.max(axis=1)

    def gaps(error: float) -> NDArray[np.float64]:
        needed = np.maximum(M.T + error, 0) + np.maximum(dominated_by + error, 0)
        plus: NDArray[np.float64] = np.minimum(M + error, needed).min(axis=1)
        return np.maximum(dominated_by + error, plus)

    # ends that are equal, but for rounding, would need the whole slack
    return gaps(slack) > gaps(-slack).max() + 1e-12


def reachable_sets(
    means: ArrayLike, leaves: LeaveRule = may_leave
) -> list[NDArray[np.bool_]]:
    r"""Not the paper's: active sets that gap elimination may come to while no phase has erred too much.

    All arms are one; if A is one, of size k > 2, so is every :math:`A \setminus \{e\}`
    whose e may leave A while the means of active arms err by less than
    :math:`\gamma_{(k)} / 8`, and hence margins by less than :math:`\gamma_{(k)} / 4`.

    Parameters
    ----------
    means : array_like, shape (K, D)
        True means.
    leaves : callable
        Who may leave; the default errs on the side of too many.

    Returns
    -------
    list of ndarray of bool, shape (number of sets, K)
        The sets of K, K - 1, ..., 2 arms.

    Raises
    ------
    CobanditError
        If a gap is zero, or more than 5,000 sets of one size can be reached.

    Notes
    -----
    Time O(K^2 D) for each set.

    Examples
    --------
    >>> [len(sets) for sets in reachable_sets([[0.9], [0.8], [0.5], [0.45], [0.2]])]
    [1, 3, 2, 1]
    """
    means = _validation.means(means)
    n_arms = len(means)
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        raise CobanditError(
            "means: a classification gap is zero, and no error is small enough for that"
        )

    found = [np.ones((1, n_arms), dtype=bool)]
    for size in range(n_arms, 2, -1):
        smaller = []
        for active in found[-1]:
            for arm in np.flatnonzero(active)[
                leaves(means[active], gaps[size - 1] / 4)
            ]:
                smaller.append(active & (np.arange(n_arms) != arm))
        found.append(np.unique(np.array(smaller), axis=0))
        if len(found[-1]) > MOST_SETS:
            raise CobanditError(
                f"means: {len(found[-1]):,} sets can be reached: take fewer arms"
            )

    return found


def reachable_complexity(
    means: ArrayLike, costs: ArrayLike, leaves: LeaveRule = may_leave
) -> float:
    r"""Not the paper's: the complexity of `cobandit.theory.cost_complexity` over `reachable_sets` alone.

    .. math::

        H_{\mathrm{reach}} = \max_{k \ge 2} \max_{A \in \mathcal A_k} \frac{C(A)}{\gamma_{(k)}^2}
            \le H_{\mu,c}

    It takes the place of :math:`H_{\mu,c}` in `difference_error_bound` and in
    `sharpened_error_bound`.

    Parameters
    ----------
    means : array_like, shape (K, D)
    costs : array_like, shape (K,)
        In any unit.
    leaves : callable
        As in `reachable_sets`.

    Returns
    -------
    float
        In the unit of the costs; ``inf`` if a gap is zero.

    Raises
    ------
    CobanditError
        If more than 5,000 sets of one size can be reached.

    Examples
    --------
    The paper's complexity is the same for both; the expensive arm is hard to classify, then easy.

    >>> means = [[0.9], [0.8], [0.1]]
    >>> [round(reachable_complexity(means, costs), 6) for costs in ([1, 0.5, 0.2], [0.5, 0.2, 1])]
    [150.0, 70.0]
    """
    means = _validation.means(means)
    costs = _validation.costs(costs, n_arms=len(means))
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        return float("inf")
    return largest_complexity(reachable_sets(means, leaves), costs, gaps)


def largest_complexity(
    sets: list[NDArray[np.bool_]], costs: NDArray[np.float64], gaps: NDArray[np.float64]
) -> float:
    """Largest aggregate cost over the square of the gap of that size; sets of an array are of one size."""
    return max(
        float((each @ costs).max() / gaps[each[0].sum() - 1] ** 2) for each in sets
    )
