"""The Pareto order of mean vectors: dominance, margins and classification gaps.

An arm dominates another one if it is better in *every* coordinate, as in the paper
(Section 3.2). Arms that tie in one objective, and exact duplicates, do not dominate
each other. `pareto_mask` also supports the standard order.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError

#: Largest difference of means that count as equal. If N scores in [0, 1] are added in
#: another order, the rounding errors change their mean by less. Means that really
#: differ are assumed to differ by more.
TIE = 1e-9

#: Number of arms that are compared with a front at once. A larger number needs fewer
#: calls, but more memory.
BLOCK = 256


def pareto_mask(
    means: ArrayLike, dominance: str = "strict", tolerance: ArrayLike = TIE
) -> NDArray[np.bool_]:
    r"""Return a mask of the Pareto set, the arms that no other arm dominates.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Mean vector of each arm. Larger is better.
    dominance : {"strict", "standard"}
        ``"strict"``, as in the paper (Section 3.2): j dominates i if it is better in
        every coordinate. ``"standard"``: j dominates i if it is at least as good in
        every coordinate and better in one.
    tolerance : float or array_like, shape (D,)
        Largest difference of values that count as equal. The default is for means of
        scores in [0, 1].

    Returns
    -------
    ndarray of bool, shape (K,)
        True for the arms of the Pareto set. If dominance is strict, it is the paper's
        P*.

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1, or if
        dominance or tolerance is invalid.

    Notes
    -----
    Time O(K log K + K F D) for a front of F arms, memory O(K D + F). In the standard
    order, equality within the tolerance is made transitive; otherwise, three arms could
    dominate each other in a cycle.

    Examples
    --------
    >>> means = [[0.9, 0.1], [0.5, 0.5], [0.4, 0.4], [0.5, 0.4]]
    >>> pareto_mask(means)
    array([ True,  True, False,  True])
    >>> pareto_mask(means, dominance="standard")
    array([ True,  True, False, False])

    The same scores, added in two orders, are equal:

    >>> pareto_mask([[0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1]])
    array([ True,  True])
    """
    means = _validation.means(means)
    tolerance = _validation.numbers(tolerance, "tolerance", None)
    if tolerance.shape not in ((), means.shape[1:]) or (tolerance < 0).any():
        raise CobanditError(
            "tolerance: one number >= 0 is needed, or one per objective, got"
            f" {tolerance}",
            argument="tolerance",
            code="out-of-range",
        )

    dominance = _validation.choice(dominance, "dominance", ("strict", "standard"))
    if dominance == "strict":
        return _find_front(means, _dominated_strictly, tolerance)
    return _find_front(_rank(means, tolerance), _dominated)


def _find_front(
    points: NDArray[Any], find_dominated: Callable[..., NDArray[np.bool_]], *args: Any
) -> NDArray[np.bool_]:
    """Return the points that no other point dominates, as a mask of shape (K,).

    Points are processed in descending lexicographic order, in which each point comes
    after the points that dominate it. Because dominance is transitive, a point has to
    be compared only with the front of the points before it.
    """
    order = np.lexsort(points.T[::-1])[::-1]
    front = order[:0]
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        rivals = points[np.concatenate([front, block])]
        is_dominated = find_dominated(points[block], rivals, *args)
        front = np.concatenate([front, block[~is_dominated]])

    on_front = np.zeros(len(points), dtype=np.bool_)
    on_front[front] = True
    return on_front


def _dominated_strictly(
    points: NDArray[np.float64],
    rivals: NDArray[np.float64],
    tolerance: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return a mask of the points that some rival exceeds in all coordinates, (k,)."""
    exceeds = np.ones((len(points), len(rivals)), dtype=np.bool_)
    for limits, values in zip((points + tolerance).T, rivals.T, strict=True):
        exceeds &= values > limits[:, None]
    is_dominated: NDArray[np.bool_] = np.any(exceeds, axis=1)
    return is_dominated


def _dominated(
    ranks: NDArray[np.int64], rivals: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return a mask of the ranks that some rival dominates in standard order, (k,)."""
    reaches = np.ones((len(ranks), len(rivals)), dtype=np.bool_)
    exceeds = np.zeros_like(reaches)
    for limits, values in zip(ranks.T, rivals.T, strict=True):
        reaches &= values >= limits[:, None]
        exceeds |= values > limits[:, None]
    is_dominated: NDArray[np.bool_] = np.any(reaches & exceeds, axis=1)
    return is_dominated


def _rank(
    means: NDArray[np.float64], tolerance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return ranks in each column, (K, D); neighbours within the tolerance tie."""
    order = np.argsort(means, axis=0)
    steps = np.diff(np.take_along_axis(means, order, axis=0), axis=0) > tolerance
    ranks = np.zeros(means.shape, dtype=np.int64)
    np.put_along_axis(ranks, order[1:], steps.cumsum(axis=0), axis=0)
    return ranks


def margins(means: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return pairwise margins ``m(i, j)`` and ``M(i, j)`` (paper, Section 3.2).

    .. math::

        m(i, j) = \min_d (\mu_j^{(d)} - \mu_i^{(d)}), \qquad
        M(i, j) = \max_d (\mu_i^{(d)} - \mu_j^{(d)}) = -m(i, j).

    If ``m(i, j) > 0``, j dominates i, and m(i, j) is the smallest lead of j over i. If
    ``M(i, j) > 0``, i is above j in some coordinate, and M(i, j) is the largest lead of
    i over j.

    Parameters
    ----------
    means : array_like, shape (K, D)

    Returns
    -------
    m, M : ndarray, shape (K, K)

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1.

    Notes
    -----
    Time and memory O(K^2 D), so memory limits the number of arms. `classification_gaps`
    does not use these matrices.

    Examples
    --------
    >>> m, M = margins([[0.75, 0.25], [0.5, 0.125]])
    >>> m[1, 0], M[0, 1], M[1, 0]
    (np.float64(0.125), np.float64(0.25), np.float64(-0.125))
    """
    means = _validation.means(means)
    difference = means[None, :, :] - means[:, None, :]
    return difference.min(axis=2), (-difference).max(axis=2)


def margins_of_others(
    means: ArrayLike,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `margins` with infinite diagonals, which no maximum or minimum selects."""
    m, M = margins(means)
    np.fill_diagonal(m, -np.inf)
    np.fill_diagonal(M, np.inf)
    return m, M


def classification_gaps(means: ArrayLike) -> NDArray[np.float64]:
    r"""Return the classification gap :math:`\gamma_i` of each arm (paper, Section 3.2).

    .. math::

        \Delta_i^- &= \max_{j \ne i} m(i, j), \\
        \Delta_i^+ &= \min_{j \ne i} \bigl[ M(i, j) \wedge
                      \bigl( M(j, i)^+ + (\Delta_j^-)^+ \bigr) \bigr], \\
        \gamma_i   &= \Delta_i^- \text{ if } i \text{ is dominated, else } \Delta_i^+ .

    Margins up to `TIE` do not count as dominance.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Mean vector of each arm, true or empirical.

    Returns
    -------
    ndarray, shape (K,)
        Gaps, >= 0. If a tie makes it impossible to decide the membership of an arm, its
        gap is zero.

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1.

    Notes
    -----
    Time O(K^2 D), memory O(K D).

    Examples
    --------
    The second arm dominates the third by a margin of 1/8. This margin is also the
    smaller term in the gaps of the other two arms.

    >>> classification_gaps([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    array([0.125, 0.125, 0.125])
    """
    means = _validation.means(means)
    # the positive part of Delta^-, since the margin of an arm over itself is zero
    dominated_by = np.array([(means - mean).min(axis=1).max() for mean in means])

    # zero for the Pareto set
    dominated_by[dominated_by <= TIE] = 0.0

    gaps = dominated_by.copy()
    for i in np.flatnonzero(dominated_by == 0).tolist():
        difference = means - means[i]
        overtaken = -difference.min(axis=1)  # M(i, j)
        needed = np.maximum(difference.max(axis=1), 0.0) + dominated_by
        terms = np.minimum(overtaken, needed)
        terms[i] = np.inf
        gaps[i] = max(0.0, terms.min())
    return gaps


#: Relative and absolute tolerance of gaps that tie with the largest gap (paper,
#: Appendix A).
GAP_RTOL = 1e-10
GAP_ATOL = 1e-12


def find_clearest(gaps: NDArray[np.float64], front: NDArray[np.bool_]) -> int:
    """Return the position of the arm with the largest gap, which is removed next.

    Parameters
    ----------
    gaps : ndarray, shape (k,)
    front : ndarray of bool, shape (k,)

    Returns
    -------
    int
        Position of the largest gap. Among ties, dominated arms come first, and among
        these the arm with the lowest position.

    Examples
    --------
    >>> front = np.array([True, False, False, False])
    >>> find_clearest(np.array([0.5, 0.25, 0.5, 0.5]), front)
    2
    """
    largest = gaps >= gaps.max() - (GAP_ATOL + GAP_RTOL * gaps.max())
    dominated = largest & ~front
    return int((dominated if dominated.any() else largest).argmax())


class GapTerm(NamedTuple):
    r"""The term of the definition that equals the classification gap of an arm i."""

    front: bool  #: whether i is in the Pareto set
    gap: float  #: classification gap of i
    by: int  #: number of the arm j in this term; the lowest number among ties
    #: ``"dominated"``: j dominates i by the largest margin, m(i, j). ``"overtaken"``: i
    #: remains on the front until j gains M(i, j) in all coordinates. ``"needed"``:
    #: whether j is dominated may depend on i, and the gap is the sum of the positive
    #: parts of M(j, i) and of the largest margin by which j is dominated.
    term: str


def gap_terms(means: ArrayLike) -> list[GapTerm]:
    """Return the arm and the term that determine each classification gap.

    Parameters
    ----------
    means : array_like, shape (K, D)

    Returns
    -------
    list of GapTerm, one per arm

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1.

    Notes
    -----
    The gaps are computed from pairwise margins, independently of `classification_gaps`.
    Time and memory O(K^2 D).

    Examples
    --------
    >>> [row.term for row in gap_terms([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])]
    ['needed', 'needed', 'dominated']
    """
    m, M = margins_of_others(means)
    dominated_by = m.max(axis=1)

    needed = np.maximum(M.T, 0.0) + np.where(dominated_by > TIE, dominated_by, 0.0)
    terms = []
    for i in range(len(m)):
        if dominated_by[i] > TIE:
            j = int(m[i].argmax())
            terms.append(GapTerm(False, float(dominated_by[i]), j, "dominated"))
            continue

        j = int(np.minimum(M[i], needed[i]).argmin())
        gap = max(0.0, float(min(M[i, j], needed[i, j])))
        term = "overtaken" if M[i, j] <= needed[i, j] else "needed"
        terms.append(GapTerm(True, gap, j, term))

    return terms
