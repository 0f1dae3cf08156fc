"""A race to a Pareto set that is good enough, and stops by itself: this project's, not the paper's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from math import floor, inf, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from cobandit import _budget, _validation
from cobandit.dominance import TIE
from cobandit.errors import CobanditError
from cobandit.policies.asktell import Pull
from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import (
    FRONTS,
    LEAST_SCATTER,
    CostMargin,
    compare_costs,
    find_affordable,
    read_cost_tolerance,
)
from cobandit.policies.once_policy import Once
from cobandit.policies.tolerance_evidence import ToleranceEvidence, next_certified_look


def beats(above: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return standard dominance over zero, along the last axis: nowhere below, and somewhere above.

    Examples
    --------
    >>> beats(np.array([[0.5, 0.0], [0.5, -0.1], [0.0, 0.0]]))
    array([ True, False, False])
    """
    dominating: NDArray[np.bool_] = np.any(above > TIE, axis=-1) & np.all(
        above >= -TIE, axis=-1
    )
    return dominating


class Contrasts(NamedTuple):
    """How others compare with one configuration, arrays of shape (k, C) for C compared quantities.

    ``above`` is how far they are above it, ``within`` how far above it when they are
    given the tolerance, and ``beyond`` how far when the tolerance is taken from them,
    which is never done with a cost.  The first has the standard error ``above_error``,
    the other two ``within_error``.  The half-width has a least size where a difference
    ``varies``, and else none.
    """

    above: NDArray[np.float64]
    above_error: NDArray[np.float64]
    within: NDArray[np.float64]
    within_error: NDArray[np.float64]
    beyond: NDArray[np.float64]
    varies: NDArray[np.float64]


class Calls(NamedTuple):
    """What is certain of pairs of the k active configurations, (k, k) each, False on the diagonal.

    ``dominated[i, j]``: j is above i, in the standard order; ``covered[i, j]``: j is
    above i when it is given the tolerance; ``open[i, j]``: j may be above i even when
    the tolerance is taken from it.
    """

    dominated: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    open: NDArray[np.bool_]


class Standing:
    r"""Who is active, who is returned, and who covers those that left within the tolerance.

    At a look, in this order:

    1. Who is dominated leaves, the weakest first; those that dominate it cover whom it
       covered.
    2. Who is covered within the tolerance by one that stays leaves, the most expensive
       first, unless it is the only cover of one that left: dominance is transitive,
       cover is not.
    3. Who is *fine*, since nobody active may dominate it by more than the tolerance,
       and by whom nobody who is not fine may be dominated so, is returned and no longer
       evaluated.  When all are fine, all are.

    If every call is right, then at the end, with :math:`\tau` the tolerance:

    - Every configuration is returned or covered within :math:`\tau` by one that is
      returned.  One that left as dominated is below one that is present or left as
      covered, since dominance is transitive and has no cycles; one that left as covered
      has a present cover at any time: a cover that leaves as dominated hands it on to
      those above, and one that would leave as covered only does if there is another.
    - Nobody returned is dominated by more than :math:`\tau` by another one that is.  If
      j was active when i was called fine, or was returned at an earlier look, when i
      was active, then j was certainly not above i by more than :math:`\tau`.
    - Nobody returned is dominated by more than :math:`2 \tau` by anybody.  Let i be
      returned and j above it. If j was active when i was returned, or was returned
      before, j does not dominate i by more than :math:`\tau`.  Otherwise j is below one
      that is present, or covered within :math:`\tau` by one, m; in some objective m is
      at most :math:`\tau` above i, and j at most :math:`\tau` above m.

    The factor 2 is the price of letting the expensive leave early: what is known of j
    against i is as little as j was evaluated.  Keeping i until no cover of such a j can
    dominate it at all would give :math:`\tau`, and was measured to cost 2 to 5 % more
    at a tolerance of .02 and 5 to 25 % more at .05.

    With tolerance 0 what is returned is the Pareto set in the standard order.

    Parameters
    ----------
    costs : ndarray, shape (K,)

    Attributes
    ----------
    costs : ndarray, shape (K,)
        Those that say who is the most expensive; they may be replaced by better ones.
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
        self.costs = costs.copy()

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

        for a in np.argsort(-self.costs[active], kind="stable"):
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


#: Configurations are first compared on twenty instances, and then after every twentieth
#: part more.
FIRST_LOOK, STEP = 20, 0.05
#: Differences of the largest size that may not have been seen: the square of the
#: threshold over this.
UNSEEN = 3.0
#: Rivals are within so many standard errors of the boundary, and nobody is so far above
#: a candidate.
NEAR = 2.0
#: Others that are within so many standard errors of the boundary are in reach, and so
#: many exact ties are.
REACH, TIES_IN_REACH = 3.0, 0.9973
#: Power of the share in reach by which rivals count, and how often they do where all
#: are ties.
SHARPNESS, WEIGHT = 12, 2
#: Near ties that are always allowed for; rivals of a candidate per near tie, and
#: candidates with rivals.
LEAST_TIES, PER_TIE = 2, 8

#: Standard errors by which chance alone lets pairs be decided before their differences
#: as seen now would.
ANTICIPATED = 0.5


def count_near_ties(
    n_candidates: int, n_contested: int, n_rivals: int, n_reached: int, n_others: int
) -> int:
    r"""Count the near ties that a look allows for.

    .. math:: m = \max\Bigl\{2, \Bigl\lfloor \frac c8 \Bigr\rfloor, \Bigl\lfloor \frac r8 \Bigr\rfloor,
        \Bigl\lfloor 2 r \min\Bigl\{1, \frac{q}{0.9973}\Bigr\}^{12} \Bigr\rfloor\Bigr\}

    A candidate has r rivals on average, c candidates have any, and a share q of the
    others is in a candidate's reach in the objective in which most are.  Where all are
    equal, q is 0.9973, and every rival counts twice: chances of discrete scores after a
    few instances are larger than `find_crossing_chances` says.  Where means are spread
    by two standard errors, q is 0.82, and a fifth of the rivals count; by three, a
    seventieth: most rivals are then no exact ties, and an eighth of them is counted.

    Parameters
    ----------
    n_candidates, n_contested : int
        Candidates, and those that have a rival.
    n_rivals : int
        Rivals of all candidates together.
    n_reached, n_others : int
        Pairs of a candidate and another configuration that are in reach in the
        objective in which most are, and all such pairs.

    Examples
    --------
    >>> count_near_ties(50, 50, 50 * 90, 50 * 98, 50 * 99), count_near_ties(6, 6, 6 * 40, 6 * 60, 6 * 99)
    (164, 5)
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


def next_look(depth: int, n_instances: int) -> int:
    """Depth at which configurations are compared next.

    Examples
    --------
    >>> next_look(0, 300), next_look(20, 300), next_look(100, 300), next_look(290, 300)
    (20, 21, 105, 300)
    """
    return min(n_instances, max(FIRST_LOOK, depth + max(1, int(STEP * depth))))


class Others(NamedTuple):
    """Where the others are, seen from one configuration.

    ``is_candidate``: none is above it by two standard errors in every objective;
    ``rivals`` (k,): whether each is within two standard errors of covering it;
    ``reached`` (k, C): whether it is within three in one of the C compared quantities.
    """

    is_candidate: bool
    rivals: NDArray[np.bool_]
    reached: NDArray[np.bool_]


def place_others(
    above: NDArray[np.float64],
    above_error: NDArray[np.float64],
    within: NDArray[np.float64],
    within_error: NDArray[np.float64],
) -> Others:
    """Place the others as seen from one configuration.

    Parameters
    ----------
    above, above_error : ndarray, shape (k, C)
        How far the others are above it, and standard errors.
    within, within_error : ndarray, shape (k, C)
        How far they are when they are given the tolerance, and standard errors.

    Examples
    --------
    >>> errors = np.full((3, 1), 0.1)
    >>> others = place_others(*2 * (np.array([[0.1], [-0.1], [-0.5]]), errors))
    >>> others.is_candidate, others.rivals
    (True, array([ True,  True, False]))
    """
    levels = NEAR * within_error
    rivals = np.all(within >= -levels, axis=1) & np.any(within < levels, axis=1)
    is_candidate = not np.all(above >= NEAR * above_error, axis=1).any()
    return Others(is_candidate, rivals, np.abs(within) < REACH * within_error)


def find_starts(cluster: Sequence[Any] | None, n_instances: int) -> NDArray[np.int64]:
    """Find where each cluster starts in the order of the instances, and where the last one ends.

    Raises
    ------
    CobanditError
        If there is not one cluster per instance, or the instances of one are apart.

    Examples
    --------
    >>> find_starts(["a", "a", "b", "c", "c"], 5), find_starts(None, 3)
    (array([0, 2, 3, 5]), array([0, 1, 2, 3]))
    """
    if cluster is None:
        return np.arange(n_instances + 1)

    labels = list(cluster)
    if len(labels) != n_instances:
        raise CobanditError(
            f"cluster: {n_instances} instances need a cluster each, {len(labels)} are"
            " given"
        )

    starts = [
        place
        for place in range(n_instances)
        if place == 0 or labels[place] != labels[place - 1]
    ]
    counts = Counter(labels[place] for place in starts)
    if apart := [label for label, count in counts.items() if count > 1]:
        raise CobanditError(
            f"cluster: other instances stand between those of {apart[0]!r} -> order"
            " whole clusters"
        )

    return np.array([*starts, n_instances])


def list_looks(n_instances: int) -> NDArray[np.int64]:
    """Return the depths at which configurations are compared.

    Examples
    --------
    >>> list_looks(24)
    array([20, 21, 22, 23, 24])
    """
    looks = [next_look(0, n_instances)]
    while looks[-1] < n_instances:
        looks.append(next_look(looks[-1], n_instances))
    return np.array(looks)


#: The first look is allotted as much of the error as growth of n by this part of it.
FIRST_GROWTH = 0.3


def find_crossing_chances(
    thresholds: ArrayLike, n_instances: int
) -> NDArray[np.float64]:
    r"""Find the chances that one exact tie is first above its threshold at each look.

    .. math::

        P_1 = 1 - \Phi(z_1), \qquad
        P_t = z_t\, \varphi(z_t)\, \frac{\Delta_t}{2}\, e^{-0.583\, z_t \sqrt{\Delta_t}}, \qquad
        \Delta_t = \log \frac{n_t\, (N - n_{t-1})}{(N - n_t)\, n_{t-1}}

    Over its standard error a mean difference of zero is, from look to look, a
    stationary Gaussian process in the clock :math:`\log(n / (N - n))`, the Brownian
    bridge of a finite population; this is Siegmund's approximation of its first
    passage, seen at the looks below N only.  Their sum agrees with simulations to a
    fifth for chances up to one in twenty.

    Parameters
    ----------
    thresholds : array_like, shape (L, ...)
        Standard errors at each look before the last one.
    n_instances : int
        N.

    Returns
    -------
    ndarray
        Of the shape of the thresholds.

    Examples
    --------
    >>> constant = np.full(len(list_looks(300)) - 1, 2.69)
    >>> find_crossing_chances(constant, 300).sum().round(4).item()
    0.0504
    """
    z = np.asarray(thresholds, dtype=np.float64)
    looks = list_looks(n_instances)[:-1]
    steps = np.diff(np.log(looks / (n_instances - looks)))
    steps = steps.reshape(-1, *[1] * (z.ndim - 1))
    chances = np.empty_like(z)
    chances[:1] = stats.norm.sf(z[:1])
    density = np.exp(-(z[1:] ** 2) / 2) / sqrt(2 * pi)
    chances[1:] = z[1:] * density * steps / 2 * np.exp(-0.583 * z[1:] * np.sqrt(steps))
    return chances


@cache
def find_thresholds(n_instances: int, most: int, error: float) -> NDArray[np.float64]:
    r"""Find the standard errors that m exact ties exceed with probability ``error`` in all, for each m.

    .. math::

        P_t(z_{mt}) = \frac{\text{error}}{m}\, \frac{s_t}{\sum_u s_u}, \qquad
        s_t = \log\frac{n_t}{n_{t-1}}\, \sqrt{n_t}\, \Bigl(1 - \frac{n_t}{N}\Bigr), \qquad
        s_1 = 0.3\, \sqrt{n_1}\, \Bigl(1 - \frac{n_1}{N}\Bigr)

    The error is spent as the root of n grows: the first instances tell hardly anybody
    apart, whatever the threshold.  Less of it is spent the fewer instances are left to
    be saved.

    Returns
    -------
    ndarray, shape (L, most)
        A row per look before the last one (`list_looks`), with the chances of
        `find_crossing_chances`.

    Examples
    --------
    >>> find_thresholds(300, 4, 0.05)[[0, 20, 40]].round(2)
    array([[2.65, 2.87, 3.  , 3.09],
           [2.55, 2.83, 2.99, 3.09],
           [2.51, 2.79, 2.95, 3.05]])
    """
    looks = list_looks(n_instances)[:-1]
    growth = np.diff(np.log(looks), prepend=log(FIRST_LOOK) - FIRST_GROWTH)
    spent = growth * np.sqrt(looks) * (1 - looks / n_instances)
    allowed = (spent / spent.sum())[:, None] * error / np.arange(1, most + 1)
    low = np.ones(allowed.shape)
    high = np.full(allowed.shape, 10.0)
    for _ in range(50):
        middle = (low + high) / 2
        too_low = find_crossing_chances(middle, n_instances) > allowed
        low = np.where(too_low, middle, low)
        high = np.where(too_low, high, middle)
    high.flags.writeable = False
    return high


def widen(threshold: float, depth: int, n_instances: int) -> float:
    """Widen a normal quantile to Student's, to first order, since variances are estimated.

    The part of the instances that is seen is known, and only the variance on the others
    is estimated.

    Examples
    --------
    >>> round(widen(3.0, 20, 10**9), 3), round(widen(3.0, 200, 400), 3)
    (3.375, 3.019)
    """
    unseen = 1 - depth / n_instances
    return threshold * (1 + unseen * (threshold * threshold + 1) / (4 * depth))


class ParetoRace(Once):
    r"""Race configurations on N shared instances until those that are left are good enough.

    The instances stand in one uniformly random order, the same for all.  After 20
    instances, and then after every twentieth part more, the active configurations are
    compared on the n instances that all of them were evaluated on, in each objective
    and in the cost.  With :math:`\hat\delta_{ij} = \hat\mu_j - \hat\mu_i`, its standard
    error and the half-width

    .. math::

        \hat\sigma_{ij}^{(d)} = \frac{\hat s_{ij}^{(d)}}{\sqrt n} \Bigl(1 - \frac nN\Bigr)^{1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \max\Bigl\{1, \sum_{q \le n} \bigl(X_{jq} - X_{iq} - \hat\delta_{ij}\bigr)^2\Bigr\}\Bigr), \\
        h = z \Bigl(1 + \frac{z^2 + 1}{4n} \Bigl(1 - \frac nN\Bigr)\Bigr)
            \max\Bigl\{\hat\sigma,\, \frac zn \Bigl(\frac13 - \frac n{3N}\Bigr)^{1/2}\Bigr\},

    j certainly dominates i if :math:`\hat\delta - h` is nowhere below zero and
    somewhere above (the standard order), certainly covers it within the tolerance
    :math:`\tau` if :math:`\hat\delta - h + \tau` is, and may dominate it by more than
    the tolerance if :math:`\hat\delta + h - \tau` is.  Who is dominated or covered
    leaves; who is fine, and needed to tell whether another is, is returned
    (`Standing`).  The race is over when all are settled, at the latest at n = N, where
    h is zero and the answer is exact.

    The **cost** is one more thing that is compared, so that what is returned is what is
    worth its money. It is observed like a score (`tell`), and of a pair the cheaper one
    is above.  Its tolerance is an amount a in the user's unit, or a share r: j covers i
    if it costs at most :math:`(1 + r)\, c_i + a`.  One that is returned is dominated by
    more than the tolerance by none that costs no more; a cheaper one that alone covers
    another may stay beside a better one of about its cost.  Costs have no largest size
    that is known, so that of a pair the larger of the two means stands for it; and a
    difference that is the same on every instance, as of declared costs or of prices per
    call, is exact (`compare_costs`).  With ``front="objectives"`` costs are charged,
    and not compared: the question of the paper.

    The threshold z of a look allows for m near ties (`find_thresholds`), and m is
    counted anew at each look. A *candidate* is an active i that nobody is above by two
    standard errors in every objective; a *rival* of i is a j that is within two
    standard errors of covering it just so:

    .. math::

        \Bigl|\min_d \frac{\hat\delta_{ij}^{(d)} + \tau^{(d)}}{\hat\sigma_{ij}^{(d)}}\Bigr| < 2, \qquad
        m = \max\Bigl\{2, \Bigl\lfloor \frac c8 \Bigr\rfloor, \Bigl\lfloor \frac r8 \Bigr\rfloor,
            \Bigl\lfloor 2 r \min\Bigl\{1, \frac{q}{0.9973}\Bigr\}^{12} \Bigr\rfloor\Bigr\},

    with c candidates that have a rival, r rivals of a candidate on average, and q the
    share of the others that are within three standard errors of the boundary in one
    objective, the one with the largest share (`count_near_ties`).  A rival that left,
    and that i certainly covers, is counted as long as i is active: the luckiest of many
    ties is the last to leave.  So a list of prompts that hardly differ is raced with
    more caution than one with a few clear leaders.  The second term of h stands for
    differences that are rare and have not been seen: where :math:`z^2 / 3` of them are
    to be expected, none is seen with probability :math:`e^{-z^2 / 3}`.

    If every comparison was right, every configuration is covered within :math:`\tau` by
    one that is returned; none that is returned is dominated by more than :math:`\tau`
    by another one that is, or by more than :math:`2 \tau` by any, in every objective
    (proof: `Standing`).  With tolerance 0 the answer is then the Pareto set in the
    standard order.  That this holds in all but a share ``error`` of the runs is
    *measured*, on tables with many near ties (``benchmarks/promises.py``), and not
    proved; where many means were put on the boundary by hand it holds up to half a
    point.

    A **certified** race takes for certain only what `ToleranceEvidence` holds, and
    compares from 5 instances on, each time that n has grown by 2 %.  Then, whatever the
    table, with probability at least 1 - ``error`` over the order of the instances: at
    any time every configuration is covered within :math:`\tau` by one that is active or
    returned; and when it is settled, by one that is returned, none that is returned is
    dominated by more than :math:`\tau` in every objective by another one that is, nor
    by more than :math:`2 \tau` by any, and with tolerance 0 the answer is the Pareto
    set in the standard order.  Bets need bounded differences, which costs are not: a
    certified race compares the *declared* costs, which are known, and what is proved
    holds for these.

    With **clusters** of instances, such as questions about one passage, the race hands
    out whole clusters, and clusters stand in the place of instances in all that is said
    above, in a uniformly random order.  A configuration scores :math:`\sum_{q \in g}
    X_{iq} / \max_g |g|` on cluster g, and the tolerance is taken times the mean size of
    a cluster over the largest.  Sums, and not means of clusters, since their mean over
    all clusters is then the mean over instances, whatever the sizes, and all that is
    measured and proved of instances holds of clusters.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Mean cost of one evaluation of each configuration, in the user's unit, as far as
        it is known: what is planned and charged by, while the costs that are told are
        compared.
    n_objectives : int
        D >= 1.
    n_instances : int
        N: instances that every configuration can be evaluated on; one that turns out
        not to be can be left out in the run (`leave_out`), unless it is certified.
    tolerance : float or array_like, shape (D,)
        :math:`\tau \ge 0`, one for all objectives or one each, in the objective's own unit: what is not
        worth telling apart.
    error : float
        In (0, 1): share of runs that may be off by more than the tolerance.
    budget : float, optional
        Cap on what is spent, in the unit of the costs; by default there is none.  A
        race that reaches it returns those that are settled, and of the active the
        empirical front.
    certified : bool
        Whether ``error`` is proved, on any table and for any number of configurations,
        instead of measured. That costs more: on long lists and at wide tolerances up to
        twice as much and a half (chapter 5).
    front : {"objectives and cost", "objectives"}
        Whether the cost is compared, too.
    cost_tolerance : float or str
        What is not worth telling apart in a cost: an amount in its unit, or a share
        such as ``"10%"``.
    cluster : sequence, length N, optional
        What each instance belongs to, in the order of the instances, in which those of
        one cluster stand together; by default each stands for itself.
    largest_costs : array_like, shape (K,), optional
        As in `IdentificationPolicy`.

    Attributes
    ----------
    depth : int
        n, instances, or clusters, on which all active configurations are compared.

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
    Evaluating everything would cost 6,000.  On these nothing varies.  The third is as cheap as the first and
    worse.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> race = ParetoRace(costs=[1, 4, 1], n_objectives=2, n_instances=1000, tolerance=0.1)
    >>> while (arm := race.ask()) is not None:
    ...     race.tell(arm, rewards[arm])
    >>> race.status, race.recommend(), race.pulls, race.spent
    ('settled', array([0, 1]), array([27, 20, 27]), 134.0)
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
        front: str = FRONTS[0],
        cost_tolerance: float | str = 0.0,
        cluster: Sequence[Any] | None = None,
        largest_costs: ArrayLike | None = None,
    ):
        self.error = _validation.positive(error, "error", 1.0)
        if self.error == 1.0:
            raise CobanditError(
                "error is 1: a race that may always be wrong has nothing to do; take"
                " less"
            )

        everything = _validation.count(n_instances, "n_instances", 1) * float(
            _validation.costs(costs).sum()
        )
        most = everything if budget is None or budget == inf else budget
        super().__init__(
            costs, most, n_objectives, n_instances, largest_costs=largest_costs
        )
        self.budget = inf if budget is None else float(budget)
        self.tolerance = tolerance
        values = _validation.numbers(tolerance, "tolerance", None)
        if (
            values.shape not in ((), (self.n_objectives,))
            or ((values < 0) | (values > 1)).any()
        ):
            raise CobanditError(
                f"tolerance is {values.tolist()}: a number from 0 to 1 is needed, or"
                f" one for each of the {self.n_objectives} objectives"
            )

        self.front = _validation.choice(front, "front", FRONTS)
        self.cost_tolerance = cost_tolerance

        #: Share and amount of a cost that are not worth telling apart.
        self.cost_margin = read_cost_tolerance(cost_tolerance)

        #: Tolerance of each objective, shape (D,).
        self.tolerances = np.array(np.broadcast_to(values, self.n_objectives))
        self.cluster = None if cluster is None else np.asarray(cluster).tolist()

        # of the units: instances, or clusters
        self._starts = find_starts(self.cluster, self.n_instances)
        self._largest_size = int(np.diff(self._starts).max())
        n_units = len(self._starts) - 1

        #: Standard errors that 1, 2, ... near ties exceed with probability ``error``, a
        #: row for each look before the last one, shape (L, 2 K) or longer.
        self.thresholds = find_thresholds(
            n_units, max(LEAST_TIES, WEIGHT * self.n_arms), self.error
        )
        self.depth = 0

        # in the order of the units: more than the depth if some are left out
        self._reached = 0
        self._coming: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] | None = (
            None
        )
        self._looks = list_looks(n_units)

        # rivals of each that left below it
        self._outdone = np.zeros(self.n_arms, dtype=np.int64)
        self._standing = Standing(self.costs)
        self._sums = np.zeros((self.n_arms, self.n_objectives))

        # of pairs of rewards
        self._products = np.zeros((self.n_objectives, self.n_arms, self.n_arms))

        # costs that are compared
        self._paid = np.zeros((self.n_instances, self.n_arms))
        self._cost_sums = np.zeros(self.n_arms)
        self._cost_products = np.zeros((self.n_arms, self.n_arms))
        self.certified = bool(certified)

        #: What is certain so far; None if the race is not certified.
        self.evidence = None
        if self.certified:
            self.evidence = ToleranceEvidence(
                self.n_arms,
                n_units,
                self._scaled_tolerances,
                self.error,
                (
                    find_affordable(self.costs, cost_tolerance)
                    if self.compares_cost
                    else None
                ),
            )

    def leave_out(self, pull: int) -> None:  # noqa: D102 (as its parent)
        if self.evidence:
            raise CobanditError(
                "in a certified race no instance can be left out: what is certain is"
                f" certain of all {self.n_instances}; tell a score, or leave the"
                " instance out of a new race"
            )
        self._coming = None
        super().leave_out(pull)
        self._paid[self.left_out] = 0.0

    @property
    def _is_kept(self) -> NDArray[np.bool_]:
        """Whether anything of a unit is kept, shape (G,)."""
        return np.add.reduceat(~self.left_out, self._starts[:-1]) > 0

    @property
    def _n_units(self) -> int:
        """Units of which anything is kept."""
        return self.n_kept if self.cluster is None else int(self._is_kept.sum())

    @property
    def _scaled_tolerances(self) -> NDArray[np.float64]:
        """The tolerances in the unit of scores of clusters."""
        return self.tolerances * self._mean_size

    @property
    def _mean_size(self) -> float:
        """The mean size of a cluster over the largest."""
        return self.n_kept / max(1, self._n_units * self._largest_size)

    @property
    def compares_cost(self) -> bool:
        """Whether the front is that of the objectives and the cost."""
        return self.front == FRONTS[0]

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

    def know(self, rewards: ArrayLike, costs: ArrayLike | None = None) -> None:
        """Take evaluations that were made before: they are not asked for again, and nothing is charged.

        As far as they go the race is over before its first evaluation.  What an earlier
        race has evaluated, with a larger tolerance, lets this one go on where that one
        stopped.

        Parameters
        ----------
        rewards : array_like, shape (N, K, D)
            In the order of the instances (for a table with holes see `arrange`); NaN
            where there is none.
        costs : array_like, shape (N, K), optional
            What they cost; it is not read where there is no reward.  By default the
            declared costs.

        Raises
        ------
        CobanditError
            If a shape is another, a reward is outside [0, 1], a cost is not positive,
            or the race has begun.
        """
        values = np.array(rewards, dtype=np.float64)
        if self.begun.any():
            raise CobanditError(
                "the race has begun: make a new one, and tell it first what is known"
            )
        if values.shape != self._rewards.shape or ((values < 0) | (values > 1)).any():
            raise CobanditError(
                f"rewards: {self._rewards.shape} numbers in [0, 1] are needed, NaN"
                " where none is"
            )

        told = np.all(np.isfinite(values), axis=2)
        paid = np.array(np.broadcast_to(self.costs, told.shape))
        if costs is not None and not self.certified:
            paid = np.array(costs, dtype=np.float64)
        if paid.shape != told.shape or not ((paid > 0) & (paid < inf))[told].all():
            raise CobanditError(
                f"costs: {told.shape} positive numbers are needed, one for each"
                " evaluation"
            )

        self._paid = np.where(told, paid, 0.0)
        self._told, self._rewards = told, np.where(told[:, :, None], values, 0.0)
        self._turn, self._plan, self._coming = None, self._schedule(), None
        self._settle()

    def forecast(self) -> NDArray[np.int64]:
        """Tell about how many evaluations of each configuration are still to be made, shape (K,).

        They are those that a race would make if differences and their variances stayed
        what they are now: one outcome, in the middle of those that are possible, not a
        bound.  Before anything is compared it is everything.  A certified race is
        continued with scores that are drawn from those seen.
        """
        *_, (missing, _) = self.foresee()
        return missing

    def foresee(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """Tell the `forecast` after each look, and before any: how many evaluations, and who is settled."""
        if self._coming is None:
            self._coming = list(self._go_on())
        missing = np.zeros(self.n_arms, dtype=np.int64)
        reached = self._reached
        yield missing.copy(), self.settled
        for more, active, left in self._coming:
            part = slice(self._starts[reached], self._starts[reached + more])
            reached += more
            open_ = ~self._told[part] & ~self.left_out[part, None]
            missing[active] += open_[:, active].sum(axis=0)
            yield missing.copy(), ~np.isin(np.arange(self.n_arms), left)

    def _go_on(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Give the looks to come: how many units more, who is active until then, and who is after it."""
        standing, evidence, depth = (
            deepcopy(self._standing),
            deepcopy(self.evidence),
            self.depth,
        )

        rng = np.random.default_rng(0)
        seen = self._gather(self._rewards, slice(0, self._reached))
        while len(active := standing.active):
            before = depth
            depth = self._next_look(depth)
            # then all is known
            if depth == self._n_units and (evidence or self.depth < FIRST_LOOK):
                standing.active = active[:0]
            elif self.depth >= FIRST_LOOK and evidence:
                for scores in seen[rng.integers(len(seen), size=depth - before)]:
                    evidence.add(active, scores[active])
                standing.conclude(*self._read(evidence, active))
                evidence.release(standing.active)
            elif self.depth >= FIRST_LOOK:
                standing.conclude(*self._calls(active, depth))
            yield depth - before, active, standing.active

    def recommend(self) -> NDArray[np.int64]:
        """Return who is settled to be returned, and the empirical front of those that are still open.

        Returns
        -------
        ndarray of int
            Sorted numbers; the open ones are compared, in the standard order, on the
            instances that they share.
        """
        active, which = self._active, self._shared()
        returned = self._standing.returned.copy()
        if which.any() and len(active):
            means = self._rewards[which][:, active].mean(axis=0)
            if self.compares_cost:
                costs = self._paid[which][:, active].mean(axis=0)
                means = np.column_stack([means, -costs / costs.max()])
            returned[active] = [not beats(means - mean).any() for mean in means]
        return np.flatnonzero(returned)

    def _schedule(self) -> Iterator[int | None]:
        while len(self._active):
            done = self._reached
            has_score = self._told[:, self._active].all(axis=1) | self.left_out
            is_complete = np.logical_and.reduceat(has_score, self._starts[:-1])[
                done:
            ].tolist()
            # complete units cost nothing, and there is no need to look between them
            more = [*is_complete, False].index(False)
            if not more:
                more = self._affordable(self._next_look(self.depth) - self.depth)
            if not more:
                return
            yield from self._evaluate(int(self._starts[done + more]))
            self._take_in(slice(done, done + more))
            self._reached = done + more
            self._coming = None
            if self.evidence or self.depth >= min(FIRST_LOOK, self._n_units):
                calls, strength = self._calls(self._active, self.depth)
                self._standing.conclude(calls, strength)
                if not self.evidence:
                    self._count_outdone(calls)
                self._active = self._standing.active
            if self.evidence:
                self.evidence.release(self._active)

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        if not self.left_out[pull.number]:
            self._paid[pull.number, pull] = self.costs[pull] if self.certified else cost
        super()._record(pull, reward, cost)

    def _next_look(self, depth: int) -> int:
        return (next_certified_look if self.evidence else next_look)(
            depth, self._n_units
        )

    def _affordable(self, more: int) -> int:
        """Further units, at most so many, that all active ones can be evaluated on."""
        starts = self._starts[self._reached : self._reached + more + 1]
        missing = ~self._told[starts[0] : starts[-1], self._active]
        needed = np.cumsum(missing @ self.costs[self._active])[
            np.diff(starts).cumsum() - 1
        ]
        return int((needed <= _budget.add_slack(self.budget) - self.spent).sum())

    def _gather(self, values: NDArray[np.float64], units: slice) -> NDArray[np.float64]:
        """Give values (N, K, ...) of units of which anything is kept, sums of clusters: (n, K, ...)."""
        if self.cluster is None:
            return values[units][~self.left_out[units]]
        starts = self._starts[units.start : units.stop + 1]
        if len(starts) < 2:
            return values[:0]
        sums = np.add.reduceat(values[: starts[-1]], starts[:-1])
        gathered: NDArray[np.float64] = sums[self._is_kept[units]] / self._largest_size
        return gathered

    def _take_in(self, units: slice) -> None:
        """Add up what all active configurations scored and cost."""
        active = self._active
        pairs = np.ix_(active, active)
        rewards = self._gather(self._rewards, units)[:, active]
        self.depth += len(rewards)
        self._sums[active] += rewards.sum(axis=0)
        for products, of in zip(
            self._products, rewards.transpose(2, 0, 1), strict=True
        ):
            products[pairs] += of.T @ of

        if self.compares_cost:
            costs = self._gather(self._paid, units)[:, active]
            self._cost_sums[active] += costs.sum(axis=0)
            self._cost_products[pairs] += costs.T @ costs
            self._standing.costs[active] = self._cost_sums[active] / max(self.depth, 1)

        if self.evidence:
            for scores in rewards:
                self.evidence.add(active, scores)

    def _compare(self, active: NDArray[np.int64], depth: int) -> Iterator[Contrasts]:
        """Yield how the active ones compare with each of them, (k, C).

        Row by row, since all statistics at once would need as much memory as the
        products.  By what has been seen so far, and as precise as they would be at the
        depth.
        """
        n, tolerances = self.depth, self._scaled_tolerances
        means = self._sums[active] / n
        products = self._products[:, active[:, None], active].transpose(1, 2, 0)

        squares = np.einsum("aad->ad", products)
        scale = sqrt((1 - depth / self._n_units) / (depth * n))
        for a in range(len(active)):
            above = means - means[a]
            scatter = squares + squares[a] - 2 * products[a] - n * above**2
            error = scale * np.sqrt(np.maximum(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)
            scores = Contrasts(
                above,
                error,
                above + tolerances,
                error,
                above - tolerances,
                np.ones(above.shape),
            )
            if not self.compares_cost:
                yield scores
                continue
            cost = self._compare_costs(active, a, scale)
            costs = (
                cost.cheaper,
                cost.cheaper_error,
                cost.within,
                cost.within_error,
                cost.within,
                cost.varies,
            )
            yield Contrasts(
                *(np.column_stack(both) for both in zip(scores, costs, strict=True))
            )

    def _compare_costs(
        self, active: NDArray[np.int64], a: int, scale: float
    ) -> CostMargin:
        """Compare the costs of the active ones with that of one of them."""
        n = self.depth
        share, amount = self.cost_margin
        means = self._cost_sums[active] / n
        products = self._cost_products[np.ix_(active, active)]
        scatter = np.maximum(np.diag(products) - n * means**2, 0.0)
        of_pairs = (
            np.diag(products)
            + products[a, a]
            - 2 * products[a]
            - n * (means - means[a]) ** 2
        )
        return compare_costs(
            means[a],
            means,
            scatter[a],
            scatter,
            of_pairs,
            n,
            scale,
            share,
            amount * self._mean_size,
        )

    def _place_all(
        self, active: NDArray[np.int64], depth: int
    ) -> Iterator[tuple[int, Others]]:
        """Yield each active one, by position, with where the others are; it is not among them itself."""
        for a, row in enumerate(self._compare(active, depth)):
            others = place_others(
                row.above, row.above_error, row.within, row.within_error
            )
            others.rivals[a] = False
            others.reached[a] = False
            yield a, others

    def _count_ties(self, active: NDArray[np.int64], depth: int) -> int:
        """Count the near ties that are allowed for: m."""
        n_candidates = n_contested = n_rivals = n_others = 0
        n_reached = np.zeros(self.n_objectives + self.compares_cost, dtype=np.int64)
        for a, others in self._place_all(active, depth):
            if not others.is_candidate:
                continue
            outdone = int(self._outdone[active[a]])
            rivals = int(others.rivals.sum()) + outdone
            n_candidates += 1
            n_contested += rivals > 0
            n_rivals += rivals
            n_reached += others.reached.sum(axis=0) + outdone
            n_others += len(active) - 1 + outdone

        return count_near_ties(
            n_candidates, n_contested, n_rivals, int(n_reached.max()), n_others
        )

    def _count_outdone(self, calls: Calls) -> None:
        """Count, of each active one, the rivals that it certainly covers and that have just left."""
        before = self._active
        left = (
            ~np.isin(before, self._standing.active) & ~self._standing.returned[before]
        )
        if self.depth == self._n_units or not left.any():
            return
        for a, others in self._place_all(before, self.depth):
            self._outdone[before[a]] += int(
                (others.rivals & calls.covered[:, a] & left).sum()
            )

    def _calls(
        self, active: NDArray[np.int64], depth: int
    ) -> tuple[Calls, NDArray[np.float64]]:
        """Return what would be certain at a depth, and how strong each is, by the differences seen so far."""
        # then all is known, and no difference has a half-width
        if self.evidence and depth < self._n_units:
            return self._read(self.evidence, active)

        k = len(active)
        calls = Calls(*(np.zeros((k, k), dtype=np.bool_) for _ in Calls._fields))
        threshold = 0.0
        if depth < self._n_units:
            look = min(
                int(np.searchsorted(self._looks, depth)), len(self.thresholds) - 1
            )
            threshold = float(
                self.thresholds[look, self._count_ties(active, depth) - 1]
            )
            if depth > self.depth:
                threshold -= ANTICIPATED

        wide = widen(threshold, depth, self._n_units)
        least = threshold * sqrt(
            (1 - depth / self._n_units) / (UNSEEN * depth * self.depth)
        )
        for a, row in enumerate(self._compare(active, depth)):
            floor_ = least * row.varies
            calls.dominated[a] = beats(
                row.above - wide * np.maximum(row.above_error, floor_)
            )
            calls.covered[a] = beats(
                row.within - wide * np.maximum(row.within_error, floor_)
            )
            if depth < self._n_units:  # afterwards nothing is left to wait for
                calls.open[a] = beats(
                    row.beyond + wide * np.maximum(row.within_error, floor_)
                )

        for matrix in calls:
            np.fill_diagonal(matrix, False)
        strength = (self._sums[active] / self.depth).sum(axis=1)
        if self.compares_cost:
            costs = self._cost_sums[active]
            strength -= costs / costs.max()

        return calls, strength

    @staticmethod
    def _read(
        evidence: ToleranceEvidence, active: NDArray[np.int64]
    ) -> tuple[Calls, NDArray[np.float64]]:
        """Return what is certain by evidence; nothing is taken to be dominated that is not covered."""
        covered, open_ = evidence.read(active)
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
