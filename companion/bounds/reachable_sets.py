r"""Sets of arms that can be active together, and the complexity over them (ours).

The complexity :math:`H_{\mu,c}` is a maximum over all sets of k arms. But as long as
empirical means are close to the true means, the true means nearly determine the order
of removals. For example, expensive arms that are easy to classify are removed before
classification gaps become small.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation, dominance
from cobandit.errors import CobanditError

#: Function of the means of the active arms and the largest error of margins. It returns
#: the mask of the arms that may be removed next.
LeaveRule = Callable[[NDArray[np.float64], float], NDArray[np.bool_]]


#: Largest number of reachable sets of one size. K arms have 2^K sets, but few of them
#: are reachable.
MOST_SETS = 5_000


def may_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Return a mask of the arms that may have the largest empirical gap (ours).

    The mask contains every arm that can have the largest gap if margins err by less
    than ``slack``. Every empirical gap is :math:`\max\{\Delta_i^-, \Delta_i^+\}`, which
    increases in each margin. Its lower bound is the gap with all margins lowered by the
    slack, and its upper bound the gap with all margins raised by the slack. An arm is
    in the mask if its upper bound is above the lower bounds of all arms. The mask may
    also contain arms that cannot have the largest gap, because an error of a mean
    changes several margins in different directions.

    Parameters
    ----------
    means : array_like, shape (k, D)
        True means of the active arms.
    slack : float
        Twice the largest error of a mean, > 0.

    Returns
    -------
    ndarray of bool, shape (k,)
        The mask. Time and memory O(k^2 D).

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

    # gaps that can only become equal do not count, so allow for rounding
    return gaps(slack) > gaps(-slack).max() + 1e-12


def reachable_sets(
    means: ArrayLike, leaves: LeaveRule = may_leave
) -> list[NDArray[np.bool_]]:
    r"""Return the active sets that gap elimination can reach at small errors (ours).

    Gap elimination removes, in each phase, the active arm with the largest empirical
    classification gap. The set of all arms is reachable. Let A be a reachable set of
    size k > 2, and :math:`\gamma_{(k)}` the k-th smallest classification gap. Then
    :math:`A \setminus \{e\}` is reachable for every arm e that may be removed from A at
    small errors. Errors are small if means of active arms err by less than
    :math:`\gamma_{(k)} / 8`, and therefore margins by less than :math:`\gamma_{(k)} /
    4`.

    Parameters
    ----------
    means : array_like, shape (K, D)
        True means.
    leaves : callable
        Function that returns the mask of the removable arms, from the means of the
        active arms and the largest error of a margin. The default may mark too many
        arms, but never too few.

    Returns
    -------
    list of ndarray of bool, shape (number of sets, K)
        One array of masks per size K, K - 1, ..., 2.

    Raises
    ------
    CobanditError
        If a gap is zero, or more than 5,000 sets of one size are reachable.

    Notes
    -----
    Time O(K^2 D) per set.

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
            "means: a classification gap is zero, but every gap must be positive. Make"
            " the means of these arms differ.",
            argument="means",
            code="zero-gap",
        )

    by_size = [np.ones((1, n_arms), dtype=bool)]
    for size in range(n_arms, 2, -1):
        smaller = []
        for active in by_size[-1]:
            removable = leaves(means[active], gaps[size - 1] / 4)
            for arm in np.flatnonzero(active)[removable]:
                smaller.append(active & (np.arange(n_arms) != arm))
        by_size.append(np.unique(np.array(smaller), axis=0))
        if len(by_size[-1]) > MOST_SETS:
            raise CobanditError(
                f"means: {len(by_size[-1]):,} sets of {size - 1} arms can be reached,"
                f" more than the limit of {MOST_SETS:,}; use fewer arms",
                argument="means",
                code="too-many-sets",
            )

    return by_size


def reachable_complexity(
    means: ArrayLike, costs: ArrayLike, leaves: LeaveRule = may_leave
) -> float:
    r"""Return the complexity over `reachable_sets` instead of all sets (ours).

    .. math::

        H_{\mathrm{reach}} = \max_{k \ge 2} \max_{A \in \mathcal A_k}
            \frac{C(A)}{\gamma_{(k)}^2} \le H_{\mu,c}

    This complexity can replace `cobandit.theory.cost_complexity`, :math:`H_{\mu,c}`, in
    `difference_error_bound` and in `sharpened_error_bound`.

    Parameters
    ----------
    means : array_like, shape (K, D)
    costs : array_like, shape (K,)
        Costs in any unit.
    leaves : callable
        As in `reachable_sets`.

    Returns
    -------
    float
        Complexity in the unit of the costs; ``inf`` if a gap is zero.

    Raises
    ------
    CobanditError
        If more than 5,000 sets of one size are reachable.

    Examples
    --------
    The expensive arm is hard to classify in the first case, and easy in the second. The
    paper's complexity is the same in both.

    >>> means = [[0.9], [0.8], [0.1]]
    >>> round(reachable_complexity(means, [1, 0.5, 0.2]), 6)
    150.0
    >>> round(reachable_complexity(means, [0.5, 0.2, 1]), 6)
    70.0
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
    """Return the largest ratio of a set's cost to a squared gap, over all given sets.

    The ratio of a set of k arms has the k-th smallest classification gap. Each array of
    ``sets`` has the masks of all sets of one size.
    """
    return max(
        float((active @ costs).max() / gaps[active[0].sum() - 1] ** 2)
        for active in sets
    )
