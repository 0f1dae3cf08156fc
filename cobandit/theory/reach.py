r"""Which arms may be left while nothing has gone wrong, and what errors that allows (ours).

The complexity :math:`H_{\mu,c}` lets any k arms be the ones that are still active.  But before the first
phase whose means are too far off, arms leave in an order that the true means nearly fix: expensive arms that
are easy to classify are gone by the time that gaps are small.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check, dominance
from cobandit.errors import CobanditError

#: From (means of the active arms, what margins err by) to which of them may be the next to leave.
LeaveRule = Callable[[NDArray[np.float64], float], NDArray[np.bool_]]

#: Sets of one size up to which they are enumerated: of K arms there are 2^K sets, but few can be reached.
MOST_SETS = 5_000


def may_leave(means: ArrayLike, slack: float) -> NDArray[np.bool_]:
    r"""Not the paper's: arms whose empirical gap may be the largest while margins err by less than ``slack``.

    Every empirical gap is :math:`\max\{\Delta_i^-, \Delta_i^+\}`, which grows with each margin in it.  So it
    lies between what it is with all of them lowered and with all of them raised by the slack; an arm may
    leave if its upper end is above every lower one.  No arm is missed that can leave, but one may be named
    that cannot: one error of a mean moves several margins, not all of them the same way.

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
    slack = _check.positive(slack, "slack")
    m, M = dominance.margins(means)
    np.fill_diagonal(m, -np.inf)
    np.fill_diagonal(M, np.inf)
    dominated_by = m.max(axis=1)

    def gaps(error: float) -> NDArray[np.float64]:
        needed = np.maximum(M.T + error, 0) + np.maximum(dominated_by + error, 0)
        plus: NDArray[np.float64] = np.minimum(M + error, needed).min(axis=1)
        return np.maximum(dominated_by + error, plus)

    # ends that are equal, but for rounding, would need the whole slack
    return gaps(slack) > gaps(-slack).max() + 1e-12


def reachable_sets(means: ArrayLike, leaves: LeaveRule = may_leave) -> list[NDArray[np.bool_]]:
    r"""Not the paper's: active sets that gap elimination may come to while no phase has erred too much.

    All arms are one; if A is one, of size k > 2, so is every :math:`A \setminus \{e\}` whose e may leave A
    while the means of active arms err by less than :math:`\gamma_{(k)} / 8`, and hence margins by less than
    :math:`\gamma_{(k)} / 4`.

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
    means = _check.means(means)
    n_arms = len(means)
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        raise CobanditError("means: a classification gap is zero, and no error is small enough for that")
    found = [np.ones((1, n_arms), dtype=bool)]
    for size in range(n_arms, 2, -1):
        smaller = []
        for active in found[-1]:
            for arm in np.flatnonzero(active)[leaves(means[active], gaps[size - 1] / 4)]:
                smaller.append(active & (np.arange(n_arms) != arm))
        found.append(np.unique(np.array(smaller), axis=0))
        if len(found[-1]) > MOST_SETS:
            raise CobanditError(
                f"means: {len(found[-1]):,} sets of {size - 1} arms can be reached, too many to enumerate; "
                "their gaps are too close together: take fewer arms"
            )
    return found


def reachable_complexity(means: ArrayLike, costs: ArrayLike, leaves: LeaveRule = may_leave) -> float:
    r"""Not the paper's: the complexity of `cobandit.theory.cost_complexity` over `reachable_sets` alone.

    .. math::

        H_{\mathrm{reach}} = \max_{k \ge 2} \max_{A \in \mathcal A_k} \frac{C(A)}{\gamma_{(k)}^2}
            \le H_{\mu,c}

    It takes the place of :math:`H_{\mu,c}` in `difference_error_bound` and in `sharpened_error_bound`.

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
    means = _check.means(means)
    costs = _check.costs(costs, n_arms=len(means))
    gaps = np.sort(dominance.classification_gaps(means))
    if gaps[0] == 0:
        return float("inf")
    sets = reachable_sets(means, leaves)
    return max(float((each @ costs).max() / gaps[each[0].sum() - 1] ** 2) for each in sets)


def least_error(budget: float, *, allocation: float, complexity: float) -> float:
    r"""Not the paper's: an error that no method can stay below on all problems of a hard family.

    .. math:: \frac14 \exp\Bigl( - \frac{18\, B}{(L^\star(c) - \frac12)\, H_{\mathrm{reach}}} \Bigr)

    For every cost vector and every p < K there are K - p + 1 problems with p arms on the front such that
    whoever spends at most B errs on the first with probability more than one half, or on one of the others
    with at least this, at that problem's own complexity; c holds the costs of K - p + 1 arms, of any.

    Parameters
    ----------
    budget : float
        B > 0, on average on the first problem.
    allocation : float
        :math:`L^\star(c)`, `exact_allocation_constant`, of the K - p + 1 arms that are contested.
    complexity : float
        `reachable_complexity`, whichever of the two rules says who may leave.

    Returns
    -------
    float
        In (0, 1/4].

    Examples
    --------
    >>> round(least_error(10.0, allocation=1.5, complexity=100.0), 4)
    0.0413
    """
    allocation = _check.positive(allocation, "allocation")
    if allocation < 1:
        raise CobanditError(f"allocation is {allocation}: the exact constant is at least 1")
    rate = 18 / ((allocation - 1 / 2) * _check.positive(complexity, "complexity"))
    return exp(-rate * _check.positive(budget, "budget")) / 4
