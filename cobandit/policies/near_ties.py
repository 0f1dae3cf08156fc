"""The number of near ties for which `ParetoRace` corrects its thresholds."""

from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The distance of a rival from the boundary of covering an arm (see `Others`) is below
#: this number of standard errors. An arm that another arm exceeds by this number in
#: every quantity is no candidate.
NEAR = 2.0
#: The distance of an arm in reach from the boundary of covering another arm is below
#: this number of standard errors.
REACH = 3.0
#: Probability that an exact tie is in reach.
TIES_IN_REACH = 0.9973
#: Exponent of the share of arms in reach, in the weight of a rival.
SHARPNESS = 12
#: Weight of a rival if all arms are exact ties.
WEIGHT = 2
#: Smallest number of near ties at a comparison.
LEAST_TIES = 2
#: This number of rivals of a candidate, or of candidates with rivals, counts as one
#: near tie.
PER_TIE = 8
#: Largest number of candidates whose rivals are counted. More candidates would only
#: make the means more exact, and the time would be quadratic in their number.
SAMPLE = 128


def sample_candidates(
    candidates: NDArray[np.bool_], ranks: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return a mask of the candidates whose rivals are counted.

    These are the first `SAMPLE` candidates in a random order of all arms, which is the
    same at every comparison.

    Parameters
    ----------
    candidates : ndarray of bool, shape (k,)
        Mask of the candidates.
    ranks : ndarray of int, shape (k,)
        Positions of the arms in the random order.

    Examples
    --------
    >>> is_even = np.arange(300) % 2 == 0
    >>> sampled = sample_candidates(is_even, ranks=np.arange(300))
    >>> sampled.sum().item(), np.flatnonzero(sampled)[-1].item()
    (128, 254)
    """
    # loops compile faster than indexing with arrays
    is_candidate = np.zeros(ranks.max() + 1, dtype=np.int64)
    for a, rank in enumerate(ranks):
        is_candidate[rank] = candidates[a]
    counts = np.cumsum(is_candidate)
    sampled = candidates.copy()
    for a, rank in enumerate(ranks):
        sampled[a] &= counts[rank] <= SAMPLE
    return sampled


def count_near_ties(
    n_candidates: int,
    n_sampled: int,
    n_contested: int,
    n_rivals: int,
    n_reached: int,
    n_others: int,
) -> int:
    r"""Return the number of near ties for which `ParetoRace` corrects its thresholds.

    .. math:: m = \max\Bigl\{2, \Bigl\lfloor \frac c8 \Bigr\rfloor,
        \Bigl\lfloor \frac r8 \Bigr\rfloor,
        \Bigl\lfloor 2 r \min\Bigl\{1, \frac{q}{0.9973}\Bigr\}^{12} \Bigr\rfloor\Bigr\}

    At each comparison, `cobandit.ParetoRace` multiplies its error correction by m, the
    number of pairs of arms that are nearly tied. Candidates are arms that no other arm
    clearly exceeds, rivals are arms nearly equal to a candidate, and arms in reach are
    a little further away (`Others` has the definitions). r is the mean number of rivals
    of a candidate, c is the number of candidates with a rival, and q is the share of
    other arms in reach of a candidate, in the objective with the largest share. If
    there are more than 128 candidates, c, r and q are estimated from a random sample of
    128 candidates.

    If all arms are equal, q is 0.9973. Every rival then counts twice, because discrete
    scores on a few instances exceed thresholds more often than `find_crossing_chances`
    predicts. If means are spread by two standard errors, q is 0.82, and the weight of a
    rival is a fifth; with a spread of three, it is a seventieth. Most rivals are then
    not exact ties, and the second and third term count one near tie per eight contested
    candidates or rivals.

    Parameters
    ----------
    n_candidates : int
        Number of arms that no other arm clearly exceeds.
    n_sampled : int
        Number of candidates in the sample (`sample_candidates`).
    n_contested : int
        Number of sampled candidates that have a rival.
    n_rivals : int
        Number of rivals, summed over the sampled candidates.
    n_reached : int
        Number of pairs of a sampled candidate and another arm in reach, in the
        objective with the most such pairs.
    n_others : int
        Number of pairs of a sampled candidate and another arm.

    Examples
    --------
    >>> count_near_ties(50, 50, 50, 50 * 90, 50 * 98, 50 * 99)
    164
    >>> count_near_ties(6, 6, 6, 6 * 40, 6 * 60, 6 * 99)
    5
    >>> count_near_ties(40, 40, 40, 40, 40, 40 * 39), count_near_ties(2, 2, 2, 2, 2, 2)
    (5, 2)

    Half of 256 candidates are sampled, and each of them has one rival.

    >>> count_near_ties(256, 128, 128, 128, 128, 128 * 255)
    32
    """
    if n_others == 0:
        return LEAST_TIES

    contested = n_contested * n_candidates // n_sampled
    rivals = n_rivals / n_sampled
    weight = WEIGHT * min(1.0, n_reached / (TIES_IN_REACH * n_others)) ** SHARPNESS
    return max(
        LEAST_TIES,
        contested // PER_TIE,
        floor(rivals / PER_TIE),
        floor(rivals * weight),
    )


class Others(NamedTuple):
    """Relations of k other arms to one arm, or to several arms.

    Arm i covers arm j if, in each quantity, i is at most the tolerance worse than j.
    """

    #: Shape (...,). True if the arm is a candidate: no other arm exceeds it by two
    #: standard errors in every compared quantity.
    is_candidate: NDArray[np.bool_]
    #: Shape (..., k). True if the other arm is a rival: it is less than two standard
    #: errors from the boundary at which it covers the arm.
    rivals: NDArray[np.bool_]
    #: Shape (..., k, C). True if the other arm is in reach in one of the C compared
    #: quantities: less than three standard errors from the boundary at which it covers
    #: the arm.
    reached: NDArray[np.bool_]


def place_others(
    above: NDArray[np.float64],
    above_error: NDArray[np.float64],
    within: NDArray[np.float64],
    within_error: NDArray[np.float64],
) -> Others:
    """Find which other arms are rivals of an arm, or in its reach (see `Others`).

    Parameters
    ----------
    above, above_error : ndarray, shape (..., k, C)
        Differences of the other arms minus the arm, and their standard errors.
    within, within_error : ndarray, shape (..., k, C)
        The same differences plus the tolerance, and their standard errors.

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
