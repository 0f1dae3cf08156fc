"""Standing of the arms of a race: active, returned, or covering removed arms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE


def beats(above: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return standard dominance over zero, along the last axis.

    A row dominates zero if no entry is negative and some entry is positive.

    Examples
    --------
    >>> beats(np.array([[0.5, 0.0], [0.5, -0.1], [0.0, 0.0]]))
    array([ True, False, False])
    """
    dominating: NDArray[np.bool_] = np.any(above > TIE, axis=-1) & np.all(
        above >= -TIE, axis=-1
    )
    return dominating


class Calls(NamedTuple):
    """Certain comparisons of the k active arms: (k, k) each, False on the diagonal."""

    #: [i, j]: j is above i, in the standard order.
    dominated: NDArray[np.bool_]
    #: [i, j]: j is above i when the tolerance is added to j.
    covered: NDArray[np.bool_]
    #: [i, j]: j may be above i even when the tolerance is subtracted from j.
    open: NDArray[np.bool_]


class Standing:
    r"""Active arms, returned arms, and covers of the arms that were removed.

    Each look does three things, in this order:

    1. Dominated arms are removed, weakest first.  The dominators of such an arm become
       covers of the arms that it covered.
    2. An arm that a remaining arm covers within the tolerance is removed, most
       expensive first, unless it is the only cover of a removed arm: dominance is
       transitive, cover is not.
    3. An arm is *fine* if no active arm may dominate it by more than the tolerance.  A
       fine arm is returned, and no longer evaluated, once it is not needed to decide
       whether another arm is fine.  When all active arms are fine, all are returned.

    If every call is right, then at the end, with :math:`\tau` the tolerance:

    - Every arm is returned, or covered within :math:`\tau` by a returned arm.  An arm
      that was removed as dominated is below an arm that is present or was removed as
      covered, since dominance is transitive and has no cycles.  An arm that was removed
      as covered has a present cover at all times: a cover that is removed as dominated
      is replaced by its dominators, and an only cover is never removed as covered.
    - No returned arm is dominated by more than :math:`\tau` by another returned arm.  If
      j was active when i was called fine, or was returned at an earlier look, while i
      was active, then j was certainly not above i by more than :math:`\tau`.
    - No returned arm is dominated by more than :math:`2 \tau` by any arm.  Let i be
      returned and j above it.  If j was active when i was returned, or was returned
      before, j does not dominate i by more than :math:`\tau`.  Otherwise j is below a
      present arm, or covered within :math:`\tau` by a present arm m; in some objective
      m is at most :math:`\tau` above i, and j at most :math:`\tau` above m.

    The factor 2 is the price of removing expensive arms early: j and i are compared on
    the few instances that j was evaluated on.  Keeping i until no cover of such a j can
    dominate it at all would give :math:`\tau`.  In measurements this cost 2 to 5 % more
    at a tolerance of .02, and 5 to 25 % more at .05.

    With tolerance 0 the returned arms are the Pareto set in the standard order.

    Parameters
    ----------
    costs : ndarray, shape (K,)

    Attributes
    ----------
    costs : ndarray, shape (K,)
        Costs by which arms are ordered. Better estimates may replace these costs.
    active : ndarray of int, shape (k,)
    returned : ndarray of bool, shape (K,)
    covers : ndarray of bool, shape (K, K)
        ``covers[i, j]``: i was removed, and j is present and covers it.
    """

    def __init__(self, costs: NDArray[np.float64]):
        n_arms = len(costs)
        self.active = np.arange(n_arms)
        self.returned = np.zeros(n_arms, dtype=np.bool_)
        self.covers = np.zeros((n_arms, n_arms), dtype=np.bool_)
        self.costs = costs.copy()

    def conclude(self, calls: Calls, strength: NDArray[np.float64]) -> None:
        """Remove the arms that may be removed, and return the arms that are fine.

        Parameters
        ----------
        calls : Calls
            Comparisons of the active arms.
        strength : ndarray, shape (k,)
            Larger for j than for i wherever j dominates i.
        """
        active = self.active
        stays = np.ones(len(active), dtype=np.bool_)
        for a in np.argsort(strength, kind="stable"):
            above = calls.dominated[a] & stays
            if above.any():
                stays[a] = False
                covered = np.flatnonzero(self.covers[:, active[a]])
                self.covers[np.ix_(covered, active[above])] = True
                self.covers[covered, active[a]] = False

        for a in np.argsort(-self.costs[active], kind="stable"):
            above = calls.covered[a] & stays
            covered = np.flatnonzero(self.covers[:, active[a]])
            has_other_covers = self.covers[covered].sum(axis=1) > 1
            if stays[a] and above.any() and has_other_covers.all():
                stays[a] = False
                self.covers[covered, active[a]] = False
                self.covers[active[a], active[above]] = True

        # A fine arm stays active while an arm that is not fine waits for it.
        may_dominate = calls.open & stays & stays[:, None]
        fine = ~np.any(may_dominate, axis=1)
        finished = fine & ~np.any(may_dominate[~fine], axis=0)
        self.returned[active[stays & finished]] = True
        self.active = active[stays & ~finished]
