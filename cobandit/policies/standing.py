"""Who of a race is still evaluated, who is returned, and who stands for whom."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE


def beats(above: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Standard dominance over zero, along the last axis: nowhere below, and somewhere above.

    Examples
    --------
    >>> beats(np.array([[0.5, 0.0], [0.5, -0.1], [0.0, 0.0]]))
    array([ True, False, False])
    """
    dominating: NDArray[np.bool_] = np.any(above > TIE, axis=-1) & np.all(above >= -TIE, axis=-1)
    return dominating


class Calls(NamedTuple):
    """What is certain of pairs of the k active configurations, (k, k) each, False on the diagonal.

    ``dominated[i, j]``: j is above i, in the standard order; ``covered[i, j]``: j is above i when it is
    given the tolerance; ``open[i, j]``: j may be above i even when the tolerance is taken from it.
    """

    dominated: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    open: NDArray[np.bool_]


class Standing:
    r"""Who is active, who is returned, and who covers those that left within the tolerance.

    At a look, in this order:

    1. Who is dominated leaves, the weakest first; those that dominate it cover whom it covered.
    2. Who is covered within the tolerance by one that stays leaves, the most expensive first, unless it is
       the only cover of one that left: dominance is transitive, cover is not.
    3. Who is *fine*, since nobody active may dominate it by more than the tolerance, and by whom nobody who
       is not fine may be dominated so, is returned and no longer evaluated.  When all are fine, all are.

    If every call is right, then at the end, with :math:`\tau` the tolerance:

    - Every configuration is returned or covered within :math:`\tau` by one that is returned.  One that left
      as dominated is below one that is present or left as covered, since dominance is transitive and has no
      cycles; one that left as covered has a present cover at any time: a cover that leaves as dominated
      hands it on to those above, and one that would leave as covered only does if there is another.
    - Nobody returned is dominated by more than :math:`2 \tau`.  Let i be returned and j above it.  If j was
      active when i was returned, or was returned before, j does not dominate i by more than :math:`\tau`.
      Otherwise j is below one that is present, or covered within :math:`\tau` by one, m; in some objective m
      is less than :math:`\tau` above i, and j at most :math:`\tau` above m.

    With tolerance 0 what is returned is the Pareto set in the standard order.

    Parameters
    ----------
    costs : ndarray, shape (K,)

    Attributes
    ----------
    active : ndarray of int, shape (k,)
    returned : ndarray of bool, shape (K,)
    covers : ndarray of bool, shape (K, K)
        ``covers[i, j]``: i has left, and j is present and covers it.
    """

    def __init__(self, costs: NDArray[np.float64]):
        n_arms = len(costs)
        self.active = np.arange(n_arms)
        self.returned = np.zeros(n_arms, dtype=np.bool_)
        self.covers = np.zeros((n_arms, n_arms), dtype=np.bool_)
        self._costs = costs
        self._n_covers = np.zeros(n_arms, dtype=np.int64)  # of each that left

    def conclude(self, calls: Calls, strength: NDArray[np.float64]) -> None:
        """Let leave who may, and return who is fine.

        Parameters
        ----------
        calls : Calls
            Of the active.
        strength : ndarray, shape (k,)
            Larger for j than for i wherever j dominates i.
        """
        active, stays = self.active, np.ones(len(self.active), dtype=np.bool_)
        for a in self._in_order(calls.dominated, strength):
            above = calls.dominated[a] & stays
            if above.any():
                stays[a] = False
                self._hand_on(active[a], active[above], np.flatnonzero(self.covers[:, active[a]]))
        for a in self._in_order(calls.covered, -self._costs[active]):
            by = calls.covered[a] & stays
            covered = np.flatnonzero(self.covers[:, active[a]])
            if stays[a] and by.any() and (self._n_covers[covered] > 1).all():
                stays[a] = False
                self._hand_on(active[a], active[:0], covered)
                self._hand_on(active[a], active[by], active[[a]])
        open_ = calls.open & stays & stays[:, None]
        fine = ~np.any(open_, axis=1)
        done = fine & ~np.any(open_[~fine], axis=0)
        self.returned[active[stays & done]] = True
        self.active = active[stays & ~done]

    def _hand_on(self, arm: int, to: NDArray[np.int64], covered: NDArray[np.int64]) -> None:
        """Let others cover in the place of an arm that leaves."""
        self.covers[np.ix_(covered, to)] = True
        self.covers[covered, arm] = False
        self._n_covers[covered] = self.covers[covered].sum(axis=1)

    @staticmethod
    def _in_order(calls: NDArray[np.bool_], key: NDArray[np.float64]) -> NDArray[np.int64]:
        order = np.argsort(key, kind="stable")
        return order[np.any(calls, axis=1)[order]]
