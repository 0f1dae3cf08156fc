"""A race to a Pareto set that is good enough, and stops by itself: this project's, not the paper's."""

from collections.abc import Iterator
from copy import deepcopy
from math import inf, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import TIE
from cobandit.errors import CobanditError
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.once_policy import Once
from cobandit.policies.tolerance_evidence import ToleranceEvidence, next_certified_look


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
        for a in np.argsort(strength, kind="stable"):
            above = calls.dominated[a] & stays
            if above.any():
                stays[a] = False
                covered = np.flatnonzero(self.covers[:, active[a]])
                self.covers[np.ix_(covered, active[above])] = True
                self.covers[covered, active[a]] = False
        for a in np.argsort(-self._costs[active], kind="stable"):
            by = calls.covered[a] & stays
            covered = np.flatnonzero(self.covers[:, active[a]])
            if stays[a] and by.any() and (self.covers[covered].sum(axis=1) > 1).all():
                stays[a] = False
                self.covers[covered, active[a]] = False
                self.covers[active[a], active[by]] = True
        open_ = calls.open & stays & stays[:, None]
        fine = ~np.any(open_, axis=1)
        done = fine & ~np.any(open_[~fine], axis=0)
        self.returned[active[stays & done]] = True
        self.active = active[stays & ~done]


#: Configurations are first compared on twenty instances, and then after every twentieth part more.
FIRST_LOOK, STEP = 20, 0.05
#: Least sum of squared deviations of a pair: that of one difference of the largest size, seen or not.
LEAST_SCATTER = 1.0


def next_look(depth: int, n_instances: int) -> int:
    """Depth at which configurations are compared next.

    Examples
    --------
    >>> next_look(0, 300), next_look(20, 300), next_look(100, 300), next_look(290, 300)
    (20, 21, 105, 300)
    """
    return min(n_instances, max(FIRST_LOOK, depth + max(1, int(STEP * depth))))


def find_threshold(n_instances: int, n_objectives: int, error: float) -> float:
    r"""Find the standard errors from which on a difference counts as certain.

    .. math:: z = \Phi^{-1}\Bigl(1 - \frac{\min\{D, 2\} \cdot \text{error}}{\text{looks}}\Bigr)

    That is a union over the looks at one near tie, and half of it where a second objective would have to be
    mistaken, too.  It is measured, not proved.  The number of configurations does not enter: a union over
    those that are active, which falls as they leave, costs more on long lists and errs more on short ones.

    Examples
    --------
    >>> round(find_threshold(300, 2, 0.05), 2), round(find_threshold(300, 1, 0.05), 2)
    (2.97, 3.18)
    """
    looks, depth = 0, 0
    while depth < n_instances:
        depth, looks = next_look(depth, n_instances), looks + 1
    return max(0.0, NormalDist().inv_cdf(1 - min(n_objectives, 2, looks) * error / looks))


class ParetoRace(Once):
    r"""Race configurations on N shared instances until those that are left are good enough.

    The instances stand in one uniformly random order, the same for all.  After 20 instances, and then after
    every twentieth part more, the active configurations are compared on the n instances that all of them were
    evaluated on.  With :math:`\hat\delta_{ij} = \hat\mu_j - \hat\mu_i` and the half-width

    .. math::

        h_{ij}^{(d)} = z\, \frac{\hat s_{ij}^{(d)}}{\sqrt n} \Bigl(1 - \frac nN\Bigr)^{1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \max\Bigl\{1, \sum_{q \le n} \bigl(X_{jq} - X_{iq} - \hat\delta_{ij}\bigr)^2\Bigr\}\Bigr),

    j certainly dominates i if :math:`\hat\delta - h` is nowhere below zero and somewhere above (the standard
    order), certainly covers it within the tolerance :math:`\tau` if :math:`\hat\delta - h + \tau` is, and
    may dominate it by more than the tolerance if :math:`\hat\delta + h - \tau` is.  Who is dominated or
    covered leaves; who is fine, and needed to tell whether another is, is returned (`Standing`).  The race is
    over when all are settled, at the latest at n = N, where h is zero and the answer is exact.

    If every comparison was right, every configuration is covered within :math:`\tau` by one that is
    returned, and none that is returned is dominated by more than :math:`2 \tau` in every objective (proof:
    `Standing`).  With tolerance 0 the answer is then the Pareto set in the standard order.  That comparisons
    are right in all but a share ``error`` of the runs is *measured*, on tables that the threshold z was not
    chosen on (`find_threshold`), and not proved.

    A **certified** race takes for certain only what `ToleranceEvidence` holds, and compares from 5 instances
    on, each time that n has grown by 2 %.  Then, whatever the table, with probability at least 1 - ``error``
    over the order of the instances: at any time every configuration that has left is covered within
    :math:`\tau` by one that is active or returned, and of a settled race each of the three statements above
    is true.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Known mean cost of one evaluation of each configuration, in the user's unit.
    n_objectives : int
        D >= 1.
    n_instances : int
        N: instances that every configuration can be evaluated on; one that turns out not to be can be left
        out in the run (`leave_out`), unless it is certified.
    tolerance : float or array_like, shape (D,)
        :math:`\tau \ge 0`, one for all objectives or one each, in the objective's own unit: what is not
        worth telling apart.
    error : float
        In (0, 1): share of runs that may be off by more than the tolerance.
    budget : float, optional
        Cap on what is spent, in the unit of the costs; by default there is none.  A race that reaches it
        returns those that are settled, and of the active the empirical front.
    certified : bool
        Whether ``error`` is proved, on any table and for any number of configurations, instead of measured.
        It takes longer, by about a half at a tolerance of .02 and by two thirds to five quarters at .05.
    largest_costs : array_like, shape (K,), optional
        As in `IdentificationPolicy`.

    Attributes
    ----------
    depth : int
        n, instances on which all active configurations are compared.

    Raises
    ------
    BudgetError
        If the budget does not hold one evaluation of each configuration.

    Notes
    -----
    Time :math:`O(K^2 D)` per instance and per look, of which there are about :math:`20 \log(N / 20)`; memory
    :math:`O(K^2 D + N K D)`.

    Examples
    --------
    Evaluating everything would cost 6,000.  On these nothing varies.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> race = ParetoRace(costs=[1, 4, 1], n_objectives=2, n_instances=1000, tolerance=0.1)
    >>> while (arm := race.ask()) is not None:
    ...     race.tell(arm, rewards[arm])
    >>> race.status, race.recommend(), race.pulls, race.spent
    ('settled', array([0, 1]), array([20, 20, 20]), 120.0)
    """

    label = "Pareto race"
    dominance = "standard"

    def __init__(
        self,
        costs: ArrayLike,
        n_objectives: int,
        n_instances: int,
        *,
        tolerance: ArrayLike = 0.0,
        error: float = 0.05,
        budget: float | None = None,
        certified: bool = False,
        largest_costs: ArrayLike | None = None,
    ):
        self.error = _check.positive(error, "error", 1.0)
        if self.error == 1.0:
            raise CobanditError("error is 1: a race that may always be wrong has nothing to do; take less")
        everything = _check.count(n_instances, "n_instances", 1) * float(_check.costs(costs).sum())
        most = everything if budget is None or budget == inf else budget
        super().__init__(costs, most, n_objectives, n_instances, largest_costs=largest_costs)
        self.budget = inf if budget is None else float(budget)
        self.tolerance = tolerance
        values = _check.numbers(tolerance, "tolerance", None)
        if values.shape not in ((), (self.n_objectives,)) or ((values < 0) | (values > 1)).any():
            raise CobanditError(
                f"tolerance is {values.tolist()}: a number from 0 to 1 is needed, or one for each of the "
                f"{self.n_objectives} objectives"
            )
        #: Tolerance of each objective, shape (D,).
        self.tolerances = np.array(np.broadcast_to(values, self.n_objectives))
        #: z, standard errors from which on a difference is certain.
        self.threshold = find_threshold(self.n_instances, self.n_objectives, self.error)
        self.depth = 0
        self._reached = 0  # in the order of the instances: more than the depth if some are left out
        self._standing = Standing(self.costs)
        self._sums = np.zeros((self.n_arms, self.n_objectives))
        self._products = np.zeros((self.n_objectives, self.n_arms, self.n_arms))  # of pairs of rewards
        self.certified = bool(certified)
        #: What is certain so far; None if the race is not certified.
        self.evidence = None
        if self.certified:
            self.evidence = ToleranceEvidence(self.n_arms, self.n_instances, self.tolerances, self.error)

    def leave_out(self, pull: int) -> None:  # noqa: D102 (as its parent)
        if self.evidence:
            raise CobanditError(
                "in a certified race no instance can be left out: what is certain is certain of all "
                f"{self.n_instances}; tell a score, or leave the instance out of a new race"
            )
        super().leave_out(pull)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Who is settled, shape (K,): returned, or left."""
        return ~np.isin(np.arange(self.n_arms), self._active)

    @property
    def status(self) -> str:
        """``"settled"`` when all are, ``"out of budget"`` if the budget ends it before, else ``"open"``."""
        if not len(self._active):
            return "settled"
        return "out of budget" if self.finished else "open"

    def know(self, rewards: ArrayLike) -> None:
        """Take evaluations that were made before: they are not asked for again, and nothing is charged.

        As far as they go the race is over before its first evaluation.  What an earlier race has evaluated,
        with a larger tolerance, lets this one go on where that one stopped.

        Parameters
        ----------
        rewards : array_like, shape (N, K, D)
            In the order of the instances (for a table with holes see `arrange`); NaN where there is none.

        Raises
        ------
        CobanditError
            If the shape is another, a reward is outside [0, 1], or the race has begun.
        """
        values = np.array(rewards, dtype=np.float64)
        if self.begun.any():
            raise CobanditError("the race has begun: make a new one, and tell it first what is known")
        if values.shape != self._rewards.shape or ((values < 0) | (values > 1)).any():
            raise CobanditError(
                f"rewards: {self._rewards.shape} numbers in [0, 1] are needed, NaN where none is"
            )
        told = np.all(np.isfinite(values), axis=2)
        self._told, self._rewards = told, np.where(told[:, :, None], values, 0.0)
        self._turn, self._plan = None, self._schedule()
        self._settle()

    def forecast(self) -> NDArray[np.int64]:
        """Tell about how many evaluations of each configuration are still to be made, shape (K,).

        They are those that a race would make if differences and their variances stayed what they are now:
        one outcome, in the middle of those that are possible, not a bound.  Before anything is compared it is
        everything.  Of a certified race it is all that is left of the active configurations, a bound.
        """
        *_, (missing, _) = self.foresee()
        return missing

    def foresee(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """Tell the `forecast` after each look, and before any: how many evaluations, and who is settled."""
        standing, depth, reached = deepcopy(self._standing), self.depth, self._reached
        missing = np.zeros(self.n_arms, dtype=np.int64)
        while True:
            active = standing.active
            yield missing.copy(), ~np.isin(np.arange(self.n_arms), active)
            if not len(active):
                return
            target = next_look(depth, self.n_kept)
            start, reached, depth = reached, reached + target - depth, target
            open_ = ~self._told[start:reached] & ~self.left_out[start:reached, None]
            missing[active] += open_[:, active].sum(axis=0)
            if self.depth >= FIRST_LOOK:
                standing.conclude(*self._calls(active, depth))
            elif depth == self.n_kept:  # then all is known, whatever it says
                standing.active = standing.active[:0]

    def recommend(self) -> NDArray[np.int64]:
        """Return who is settled to be returned, and the empirical front of those that are still open.

        Returns
        -------
        ndarray of int
            Sorted numbers; the open ones are compared, in the standard order, on the instances that they
            share.
        """
        active, shared = self._active, self._rewards[self._shared()][:, self._active]
        returned = self._standing.returned.copy()
        if len(shared) and len(active):
            means = shared.mean(axis=0)
            returned[active] = [not beats(means - mean).any() for mean in means]
        return np.flatnonzero(returned)

    def _schedule(self) -> Iterator[int | None]:
        while len(self._active):
            done = self._reached
            known = (self._told[done:, self._active].all(axis=1) | self.left_out[done:]).tolist()
            more = [*known, False].index(False)  # those cost nothing, and there is no need to look between
            if not more:
                more = self._affordable(self._next_look() - self.depth)
            if not more:
                return
            yield from self._evaluate(done + more)
            self._take_in(slice(done, done + more))
            self._reached = done + more
            if self.evidence or self.depth >= min(FIRST_LOOK, self.n_kept):
                self._standing.conclude(*self._calls(self._active, self.depth))
                self._active = self._standing.active
            if self.evidence:
                self.evidence.release(self._active)

    def _next_look(self) -> int:
        return (next_certified_look if self.evidence else next_look)(self.depth, self.n_kept)

    def _affordable(self, more: int) -> int:
        """Further instances, at most so many, that all active ones can be evaluated on."""
        missing = ~self._told[self._reached : self._reached + more, self._active]
        needed = np.cumsum(missing @ self.costs[self._active])
        return int((needed <= _check.add_slack(self.budget) - self.spent).sum())

    def _take_in(self, instances: slice) -> None:
        """Add up what all active configurations scored."""
        active = self._active
        rewards = self._rewards[instances][~self.left_out[instances]][:, active]
        self.depth += len(rewards)
        self._sums[active] += rewards.sum(axis=0)
        for products, of in zip(self._products, rewards.transpose(2, 0, 1), strict=True):
            products[np.ix_(active, active)] += of.T @ of
        if self.evidence:
            for scores in rewards:
                self.evidence.add(active, scores)

    def _calls(self, active: NDArray[np.int64], depth: int) -> tuple[Calls, NDArray[np.float64]]:
        """What would be certain at a depth, and how strong each is, by the differences seen so far."""
        if self.evidence and depth < self.n_kept:  # then all is known, and no difference has a half-width
            return self._read_evidence(active)
        n, N, k = self.depth, self.n_kept, len(active)
        means = self._sums[active] / n
        products = self._products[:, active[:, None], active].transpose(1, 2, 0)
        squares = np.einsum("aad->ad", products)
        scale = self.threshold * sqrt((1 - depth / N) / (depth * n))
        calls = Calls(*(np.zeros((k, k), dtype=np.bool_) for _ in Calls._fields))
        for a in range(k):  # row by row: a matrix of all statistics would need as much memory as the products
            differences = means - means[a]
            scatter = squares + squares[a] - 2 * products[a] - n * differences**2
            half = scale * np.sqrt(np.maximum(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)
            calls.dominated[a] = beats(differences - half)
            calls.covered[a] = beats(differences - half + self.tolerances)
            calls.open[a] = beats(differences + half - self.tolerances)
        for each in calls:
            np.fill_diagonal(each, False)
        return calls, means.sum(axis=1)

    def _read_evidence(self, active: NDArray[np.int64]) -> tuple[Calls, NDArray[np.float64]]:
        """What is certain by the evidence; nothing is taken to be dominated that is not covered."""
        assert self.evidence is not None
        covered, open_ = self.evidence.read(active)
        return Calls(np.zeros_like(covered), covered, open_), np.zeros(len(active))


def arrange(told: ArrayLike, seed: int = 0) -> NDArray[np.int64]:
    """Put the instances of a table with holes in the order of a race: most evaluated first, else at random.

    Whether an evaluation is there must not depend on what it gave.

    Parameters
    ----------
    told : array_like of bool, shape (N, K)
    seed : int

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> arrange([[True, False], [False, False], [True, True]]).tolist()
    [2, 0, 1]
    """
    counts = np.asarray(told, dtype=np.bool_).sum(axis=1)
    shuffled = np.random.default_rng(seed).permutation(len(counts))
    return shuffled[np.argsort(-counts[shuffled], kind="stable")]
