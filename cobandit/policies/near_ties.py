"""The number of near ties that a look of a race allows for."""

from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Standard errors that separate a rival from the boundary, at most, and that another arm
#: must be above an arm to make it no candidate.
NEAR = 2.0
#: Standard errors from the boundary within which another arm is in reach.
REACH = 3.0
#: Share of exact ties that are in reach.
TIES_IN_REACH = 0.9973
#: Power of the share in reach by which rivals are weighted.
SHARPNESS = 12
#: Weight of a rival where all arms are exact ties.
WEIGHT = 2
#: Near ties that every look allows for.
LEAST_TIES = 2
#: Rivals of a candidate, and candidates with rivals, per near tie.
PER_TIE = 8


def count_near_ties(
    n_candidates: int, n_contested: int, n_rivals: int, n_reached: int, n_others: int
) -> int:
    r"""Return the number of near ties that a look allows for.

    .. math:: m = \max\Bigl\{2, \Bigl\lfloor \frac c8 \Bigr\rfloor, \Bigl\lfloor \frac r8 \Bigr\rfloor,
        \Bigl\lfloor 2 r \min\Bigl\{1, \frac{q}{0.9973}\Bigr\}^{12} \Bigr\rfloor\Bigr\}

    A candidate has r rivals on average, c candidates have a rival, and q is the share
    of the other arms in a candidate's reach, in the objective with the largest share.
    If all arms are equal, q is 0.9973 and every rival counts twice, because discrete
    scores on a few instances exceed the chances of `find_crossing_chances`. If means
    are spread by two standard errors, q is 0.82 and a fifth of the rivals count; with a
    spread of three, a seventieth.  Most rivals are then not exact ties, and an eighth
    of them is counted.

    Parameters
    ----------
    n_candidates : int
    n_contested : int
        Number of candidates that have a rival.
    n_rivals : int
        Number of rivals, added up over all candidates.
    n_reached : int
        Number of pairs of a candidate and another arm in its reach, in the objective
        with the most such pairs.
    n_others : int
        Number of pairs of a candidate and another arm.

    Examples
    --------
    >>> count_near_ties(50, 50, 50 * 90, 50 * 98, 50 * 99)
    164
    >>> count_near_ties(6, 6, 6 * 40, 6 * 60, 6 * 99)
    5
    >>> count_near_ties(40, 40, 40, 40, 40 * 39), count_near_ties(2, 2, 2, 2, 2)
    (5, 2)
    """
    if n_others == 0:
        return LEAST_TIES

    rivals = n_rivals / n_candidates
    weight = WEIGHT * min(1.0, n_reached / (TIES_IN_REACH * n_others)) ** SHARPNESS
    return max(
        LEAST_TIES,
        n_contested // PER_TIE,
        floor(rivals / PER_TIE),
        floor(rivals * weight),
    )


class Others(NamedTuple):
    """Places of the k other arms relative to some arms."""

    #: Shape (...,): no other arm is above by two standard errors in every objective.
    is_candidate: NDArray[np.bool_]
    #: Shape (..., k): the other arm is within two standard errors of covering the arm.
    rivals: NDArray[np.bool_]
    #: Shape (..., k, C): the other arm is within three standard errors of that, in one
    #: of the C compared quantities.
    reached: NDArray[np.bool_]


def place_others(
    above: NDArray[np.float64],
    above_error: NDArray[np.float64],
    within: NDArray[np.float64],
    within_error: NDArray[np.float64],
) -> Others:
    """Return the places of the other arms relative to some arms.

    Parameters
    ----------
    above, above_error : ndarray, shape (..., k, C)
        Differences of the other arms above an arm, with standard errors.
    within, within_error : ndarray, shape (..., k, C)
        The same differences with the tolerance added to the other arms.

    Examples
    --------
    >>> above = np.array([[0.1], [-0.1], [-0.5]])
    >>> errors = np.full((3, 1), 0.1)
    >>> others = place_others(above, errors, above, errors)
    >>> others.is_candidate.item(), others.rivals
    (True, array([ True,  True, False]))
    """
    levels = NEAR * within_error
    rivals = np.all(within >= -levels, axis=-1) & np.any(within < levels, axis=-1)
    is_beaten = np.all(above >= NEAR * above_error, axis=-1).any(axis=-1)
    return Others(~is_beaten, rivals, np.abs(within) < REACH * within_error)
