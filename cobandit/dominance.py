"""The Pareto order of mean vectors: who dominates whom, by how much, and how hard that is to tell.

Dominance is strict in *every* coordinate, as in the paper (Section 3.2): arms that tie
in one objective, and exact duplicates, do not dominate each other and stay in the
Pareto set.  `pareto_mask` knows the standard order, too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError

#: Means no further apart than this are equal.  Scores in [0, 1] that are added up in
#: another order differ in the last digits of their sum: by less than `TIE` N for N of
#: them, and different sums differ by more.
TIE = 1e-9


def pareto_mask(
    means: ArrayLike, dominance: str = "strict", tolerance: ArrayLike = TIE
) -> NDArray[np.bool_]:
    r"""Which arms are in the Pareto set: no arm dominates them.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Mean vector of each arm, larger is better.
    dominance : {"strict", "standard"}
        By which j dominates i if it is better in every coordinate, as in the paper,
        Section 3.2; or at least as good in every coordinate and better in one.
    tolerance : float or array_like, shape (D,)
        Values no further apart are equal.  The default is for means of scores in [0,
        1].

    Returns
    -------
    ndarray of bool, shape (K,)
        True for the arms of the Pareto set, the paper's P* if dominance is strict.

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1, or dominance
        or tolerance is not valid.

    Notes
    -----
    Time O(K^2 D), memory O(K D).  In the standard order, what is equal to a third is equal: otherwise three
    arms could dominate each other in a circle.

    Examples
    --------
    >>> pareto_mask([[0.9, 0.1], [0.5, 0.5], [0.4, 0.4], [0.5, 0.4]])
    array([ True,  True, False,  True])
    >>> pareto_mask([[0.9, 0.1], [0.5, 0.5], [0.4, 0.4], [0.5, 0.4]], dominance="standard")
    array([ True,  True, False, False])

    The same scores, added up in two orders:

    >>> pareto_mask([[0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1]])
    array([ True,  True])
    """
    means, tolerance = (
        _validation.means(means),
        _validation.numbers(tolerance, "tolerance", None),
    )
    if tolerance.shape not in ((), means.shape[1:]) or (tolerance < 0).any():
        raise CobanditError(
            "tolerance: one number >= 0 is needed, or one per objective, got"
            f" {tolerance}"
        )

    standard = (
        _validation.choice(dominance, "dominance", ("strict", "standard")) == "standard"
    )
    if not standard:
        return np.array(
            [not (means > mean + tolerance).all(axis=1).any() for mean in means]
        )

    ranks = _rank(means, tolerance)
    return np.array(
        [not ((ranks >= r).all(axis=1) & (ranks > r).any(axis=1)).any() for r in ranks]
    )


def _rank(
    means: NDArray[np.float64], tolerance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Rank each column from below, (K, D); values that are equal to the next share one."""
    order = np.argsort(means, axis=0)
    steps = np.diff(np.take_along_axis(means, order, axis=0), axis=0) > tolerance
    ranks = np.zeros(means.shape, dtype=np.int64)
    np.put_along_axis(ranks, order[1:], steps.cumsum(axis=0), axis=0)
    return ranks


def margins(means: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Pairwise margins ``m(i, j)`` and ``M(i, j)`` of the paper, Section 3.2.

    .. math::

        m(i, j) = \min_d (\mu_j^{(d)} - \mu_i^{(d)}), \qquad
        M(i, j) = \max_d (\mu_i^{(d)} - \mu_j^{(d)}) = -m(i, j).

    ``m(i, j) > 0`` says that j dominates i, and by how much in its weakest coordinate;
    ``M(i, j) > 0`` that i beats j somewhere, and by how much where it is strongest.

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
    Time and memory O(K^2 D): for looking at few arms.  `classification_gaps` needs no such matrix.

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
    """`margins` whose diagonals no largest m and no smallest M sees."""
    m, M = margins(means)
    np.fill_diagonal(m, -np.inf)
    np.fill_diagonal(M, np.inf)
    return m, M


def classification_gaps(means: ArrayLike) -> NDArray[np.float64]:
    r"""Classification gap :math:`\gamma_i` of each arm (paper, Section 3.2).

    .. math::

        \Delta_i^- &= \max_{j \ne i} m(i, j), \\
        \Delta_i^+ &= \min_{j \ne i} \bigl[ M(i, j) \wedge
                      \bigl( M(j, i)^+ + (\Delta_j^-)^+ \bigr) \bigr], \\
        \gamma_i   &= \Delta_i^- \text{ if } i \text{ is dominated, else } \Delta_i^+ .

    Margins up to `TIE` dominate nobody.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Mean vector of each arm, true or empirical.

    Returns
    -------
    ndarray, shape (K,)
        Non-negative; zero where a tie makes the arm's status undecidable.

    Raises
    ------
    CobanditError
        If ``means`` is not a finite (K, D) array with K >= 2 and D >= 1.

    Notes
    -----
    Time O(K^2 D), memory O(K D).

    Examples
    --------
    The third arm is dominated by the second with margin 1/8, and that margin is the smaller term in the
    gaps of both others.

    >>> classification_gaps([[0.75, 0.25], [0.5, 0.5], [0.375, 0.25]])
    array([0.125, 0.125, 0.125])
    """
    means = _validation.means(means)
    # Delta^-, of which only the positive part counts: an arm's margin over itself is
    # zero
    dominated_by = np.array([(means - mean).min(axis=1).max() for mean in means])
    dominated_by[dominated_by <= TIE] = 0.0  # the Pareto set

    gaps = dominated_by.copy()
    for i in np.flatnonzero(dominated_by == 0).tolist():
        difference = means - means[i]
        beats = -difference.min(axis=1)  # M(i, j)
        beaten = np.maximum(difference.max(axis=1), 0.0) + dominated_by
        apart = np.minimum(beats, beaten)
        apart[i] = np.inf
        gaps[i] = max(0.0, apart.min())
    return gaps


#: Gaps this close to the largest count as equal to it (paper, Appendix A).
GAP_RTOL, GAP_ATOL = 1e-10, 1e-12


def find_clearest(gaps: NDArray[np.float64], front: NDArray[np.bool_]) -> int:
    """Position of the arm that a gap elimination removes: the largest gap, a dominated arm first.

    Parameters
    ----------
    gaps : ndarray, shape (k,)
    front : ndarray of bool, shape (k,)

    Returns
    -------
    int
        Among gaps that count as the largest that of a dominated arm, if there is one;
        then the first.

    Examples
    --------
    >>> find_clearest(np.array([0.5, 0.25, 0.5, 0.5]), np.array([True, False, False, False]))
    2
    """
    largest = gaps >= gaps.max() - (GAP_ATOL + GAP_RTOL * gaps.max())
    dominated = largest & ~front
    return int((dominated if dominated.any() else largest).argmax())


class GapTerm(NamedTuple):
    r"""What decides the classification gap of an arm i.

    ``by`` is the number of the deciding arm j (the lowest if several do); ``term`` is
    ``dominated`` (i is dominated most strongly by j: :math:`m(i,j)`), ``overtaken`` (i
    stays on the front until j has gained :math:`M(i,j)` on it) or ``needed`` (j's own
    status hangs on i: :math:`M(j,i)^+ + (\Delta_j^-)^+`).
    """

    front: bool
    gap: float
    by: int
    term: str


def gap_terms(means: ArrayLike) -> list[GapTerm]:
    """Which competitor and which term decide each arm's classification gap.

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
    Written from the pairwise margins, independently of `classification_gaps`.  Time and memory O(K^2 D).

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
            terms.append(
                GapTerm(False, float(dominated_by[i]), int(m[i].argmax()), "dominated")
            )
            continue
        j = int(np.minimum(M[i], needed[i]).argmin())
        term = "overtaken" if M[i, j] <= needed[i, j] else "needed"
        terms.append(
            GapTerm(True, max(0.0, float(min(M[i, j], needed[i, j]))), j, term)
        )

    return terms
