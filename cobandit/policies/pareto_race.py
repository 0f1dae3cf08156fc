"""ParetoRace, which identifies the Pareto set within a tolerance, and then stops."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.errors import CobanditError
from cobandit.policies.asktell import Pull
from cobandit.policies.cost_comparison import (
    FRONTS,
    find_affordable,
    read_cost_tolerance,
)
from cobandit.policies.look_depths import FIRST_LOOK, list_looks, next_look
from cobandit.policies.look_thresholds import find_thresholds, widen
from cobandit.policies.near_ties import (
    LEAST_TIES,
    WEIGHT,
    Others,
    count_near_ties,
    place_others,
    sample_candidates,
)
from cobandit.policies.once_policy import Once
from cobandit.policies.race_order import find_starts
from cobandit.policies.race_standing import Calls, Standing, beats
from cobandit.policies.race_sums import Contrasts, RaceSums
from cobandit.policies.tolerance_evidence import ToleranceEvidence, next_certified_look

#: A half-width allows for z^2 / `UNSEEN` unseen differences of the largest size. Here z
#: is the threshold.
UNSEEN = 3.0
#: Reduction of the threshold in forecasts, in standard errors. Chance decides some
#: pairs earlier than their current estimates suggest.
ANTICIPATED = 0.5


class ForecastLook(NamedTuple):
    """Forecast of a look, a comparison of all active arms of a race."""

    #: Number of new units (instances or clusters) that are evaluated before the look.
    n_units: int
    #: Arms that are active before the look.
    active: NDArray[np.int64]
    #: Arms that are active after the look.
    remaining: NDArray[np.int64]


class ParetoRace(Once):
    r"""Identification of the Pareto set on N shared instances, within a tolerance.

    The race stops by itself when the set is identified. All configurations are
    evaluated on the same instances, in one uniformly random order. A *look* compares
    the active configurations on the first n instances, in each objective and in the
    cost. The first look is after 20 instances, and the next ones whenever n has grown
    by 5 %. A look uses the differences :math:`\hat\delta_{ij} = \hat\mu_j - \hat\mu_i`,
    their standard errors :math:`\hat\sigma_{ij}`, and half-widths h of confidence
    intervals:

    .. math::

        \hat\sigma_{ij}^{(d)} = \frac{\hat s_{ij}^{(d)}}{\sqrt n}
            \Bigl(1 - \frac nN\Bigr)^{1/2}, \qquad
        \hat s^2 = \frac1n \Bigl(\tfrac14
            + \max\Bigl\{1, \sum_{q \le n}
            \bigl(X_{jq} - X_{iq} - \hat\delta_{ij}\bigr)^2\Bigr\}\Bigr), \\
        h = z \Bigl(1 + \frac{z^2 + 1}{4n} \Bigl(1 - \frac nN\Bigr)\Bigr)
            \max\Bigl\{\hat\sigma,\,
            \frac zn \Bigl(\frac13 - \frac n{3N}\Bigr)^{1/2}\Bigr\},

    Call a vector of differences *dominating* if no entry is below zero, and some entry
    is above zero (the standard order).

    - j certainly *dominates* i if :math:`\hat\delta_{ij} - h` is dominating.
    - j certainly *covers* i within the tolerance :math:`\tau` if
      :math:`\hat\delta_{ij} - h + \tau` is dominating.
    - j *may dominate* i by more than the tolerance if
      :math:`\hat\delta_{ij} + h - \tau` is dominating.

    Configurations that are certainly dominated or covered are removed. A configuration
    is returned if no other one may dominate it by more than the tolerance (`Standing`
    has the exact rules). The race ends when every configuration is *settled*: removed
    or returned. At n = N, h is zero, and the answer is exact.

    The **cost** is compared like an objective, so returned configurations are worth
    their cost. Costs are reported with the scores (`tell`), and a lower cost is better.
    The tolerance of costs is an amount a in the user's unit, or a share r: j can cover
    i only if it costs at most :math:`(1 + r)\, c_i + a`. No configuration of at most
    the same cost dominates a returned one by more than the tolerance. A cheap
    configuration may be the only one that covers some removed configuration. It may
    then be returned in addition to a better configuration of about the same cost. Costs
    have no known upper bound, so the larger of two mean costs scales their comparison.
    A difference that is the same on every instance counts as exact, such as a
    difference of declared costs or of prices per call (`compare_costs`). With
    ``front="objectives"``, costs are charged but not compared, as in the paper.

    The threshold z of a look is corrected for m near ties (`find_thresholds`), and m is
    computed again at every look. A *candidate* is an active configuration i that no
    other one exceeds by two standard errors in every objective. A *rival* of i is a
    configuration j whose distance from the boundary of covering i is below two standard
    errors:

    .. math::

        \Bigl|\min_d \frac{\hat\delta_{ij}^{(d)} + \tau^{(d)}}
            {\hat\sigma_{ij}^{(d)}}\Bigr| < 2, \qquad
        m = \max\Bigl\{2, \Bigl\lfloor \frac c8 \Bigr\rfloor,
            \Bigl\lfloor \frac r8 \Bigr\rfloor,
            \Bigl\lfloor 2 r \min\Bigl\{1, \frac{q}{0.9973}\Bigr\}^{12}
            \Bigr\rfloor\Bigr\},

    Here c is the number of candidates with a rival, and r is the mean number of rivals
    of a candidate. q is the share of the other configurations within three standard
    errors of the boundary, in the objective with the largest share (`count_near_ties`).
    If there are more than 128 candidates, c, r and q are estimated from 128 of them.
    A rival that i certainly covers still counts after the removal of the rival, while i
    is active. The reason is that among many tied configurations, the last active one is
    the luckiest. Its evidence must be corrected for all these ties. The correction is
    therefore larger for a list of almost equal prompts than for a list with a few clear
    leaders. The second term of h allows for rare differences that have not been seen.
    If :math:`z^2 / 3` of them are expected, the probability of seeing none is
    :math:`e^{-z^2 / 3}`.

    If every comparison is right, three statements hold at the end (proof: `Standing`):

    1. Every configuration is covered within :math:`\tau` by a returned one.
    2. No returned configuration is dominated by more than :math:`\tau`, in every
       objective, by another returned one.
    3. No returned configuration is dominated by more than :math:`2 \tau`, in every
       objective, by any configuration.

    With tolerance 0, the answer is then the Pareto set in the standard order. The share
    of runs in which a statement is wrong is at most ``error`` in simulations on tables
    with many near ties (``benchmarks/promises.py``); this is not proved. On tables with
    many means placed on the boundary, the share exceeds ``error`` by at most half a
    percentage point.

    A **certified** race compares configurations by `ToleranceEvidence` instead, whose
    error is proved. The first look is after 5 instances, and the next ones whenever n
    has grown by 2 %. For any table, the following holds with probability at least 1 -
    ``error`` over the order of the instances: at any time, every configuration is
    covered within :math:`\tau` by an active or returned one, and the three statements
    hold at the end. The proof needs bounded differences, but observed costs are
    unbounded. A certified race therefore compares the *declared* costs.

    With **clusters** of instances, such as questions about one passage, the race
    evaluates whole clusters in a uniformly random order. Clusters then replace
    instances in all definitions above. The score of a configuration on cluster g is
    :math:`\sum_{q \in g} X_{iq} / \max_g |g|`, and the tolerance is multiplied by the
    ratio of the mean to the largest size of a cluster. This score is a sum over the
    cluster rather than a mean, because the mean of such sums over clusters is
    proportional to the mean over instances.

    Parameters
    ----------
    costs : array_like, shape (K,)
        Declared mean cost of one evaluation of each configuration, in the user's unit.
        The race plans with these costs, but compares the reported costs.
    n_objectives : int
        D >= 1.
    n_instances : int
        N, the number of instances on which every configuration can be evaluated. If a
        configuration cannot be evaluated on an instance during the run, `leave_out`
        removes the instance, unless the race is certified.
    tolerance : float or array_like, shape (D,)
        :math:`\tau \ge 0`, the largest difference that does not matter, in the unit of
        the objective: one value for all objectives, or one per objective.
    error : float
        In (0, 1): share of runs in which one of the three statements may be wrong.
    budget : float, optional
        Upper limit of the total cost; no limit by default. A race that reaches the
        budget recommends the returned configurations, and the empirical front of the
        active ones.
    certified : bool
        Whether ``error`` is proved, for any table and any number of configurations.
        With many configurations and wide tolerances, a certified race costs up to two
        and a half times as much (chapter 5).
    front : {"objectives and cost", "objectives"}
        Quantities that are compared.
    cost_tolerance : float or str
        Largest difference of costs that does not matter: an amount in their unit, or a
        share such as ``"10%"``.
    cluster : sequence, length N, optional
        Cluster of each instance, in the order of the instances. Instances of a cluster
        must be adjacent. By default, each instance is a cluster.
    largest_costs : array_like, shape (K,), optional
        As in `IdentificationPolicy`.

    Raises
    ------
    BudgetError
        If the budget is not enough for one evaluation of each configuration.

    Notes
    -----
    Time :math:`O(K^2 D)` per instance and per look; memory :math:`O(K^2 D + N K D)`.
    There are about :math:`20 \log(N / 20)` looks.

    Examples
    --------
    Evaluating everything would cost 6,000. Feedback has no noise. The third
    configuration costs as much as the first, and is worse.

    >>> rewards = [[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]
    >>> race = ParetoRace([1, 4, 1], n_objectives=2, n_instances=1000, tolerance=0.1)
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
                "error is 1, which allows a race to be always wrong -> write a smaller"
                " number, such as 0.05",
                argument="error",
                code="out-of-range",
            )

        n_instances = _validation.count(n_instances, "n_instances", 1)
        everything = n_instances * float(_validation.costs(costs).sum())
        most = everything if budget is None or budget == inf else budget
        super().__init__(
            costs, most, n_objectives, n_instances, largest_costs=largest_costs
        )
        self.budget = inf if budget is None else float(budget)
        self.tolerance = tolerance
        self.tolerances = self._read_tolerance(tolerance)
        self.front = _validation.choice(front, "front", FRONTS)
        self.cost_tolerance = cost_tolerance
        #: Share and amount of ``cost_tolerance``.
        self.cost_margin = read_cost_tolerance(cost_tolerance)
        self.cluster = None if cluster is None else np.asarray(cluster).tolist()

        # a unit is a cluster, or an instance if there are no clusters
        self._starts = find_starts(self.cluster, self.n_instances)
        self._largest_size = int(np.diff(self._starts).max())
        n_units = len(self._starts) - 1
        self._looks = list_looks(n_units)
        #: Thresholds in standard errors, one row per look before the last. With m near
        #: ties, any of them exceeds column m - 1 at some look with probability
        #: ``error``. There are at least 2 K columns.
        self.thresholds = find_thresholds(
            n_units, max(LEAST_TIES, WEIGHT * self.n_arms), self.error
        )

        #: Shape (K,): positions of the arms in a random order, by which candidates are
        #: sampled.
        self.ranks = np.random.default_rng(0).permutation(self.n_arms)

        # number of units so far, which exceeds the depth if some of them are left out
        self._reached = 0
        self._standing = Standing(self.costs)
        self._sums = RaceSums(self.n_arms, self.n_objectives, self.compares_cost)
        self._paid = np.zeros((self.n_instances, self.n_arms))
        # per arm, the number of its rivals that it certainly covered at their removal
        self._outdone = np.zeros(self.n_arms, dtype=np.int64)
        self._forecast: list[ForecastLook] | None = None

        self.certified = bool(certified)
        #: Evidence of a certified race; None if the race is not certified.
        self.evidence = self._make_evidence(n_units) if self.certified else None

    def _read_tolerance(self, tolerance: ArrayLike) -> NDArray[np.float64]:
        """Return the tolerance of each objective, shape (D,)."""
        values = _validation.numbers(tolerance, "tolerance", None)
        has_shape = values.shape in ((), (self.n_objectives,))
        if not has_shape or ((values < 0) | (values > 1)).any():
            raise CobanditError(
                f"tolerance is {values.tolist()} -> write a number from 0 to 1, or one"
                f" for each of the {self.n_objectives} objectives",
                argument="tolerance",
                code="out-of-range",
            )
        return np.array(np.broadcast_to(values, self.n_objectives))

    def _make_evidence(self, n_units: int) -> ToleranceEvidence:
        """Return the evidence of a certified race before its first instance."""
        affordable = None
        if self.compares_cost:
            affordable = find_affordable(self.costs, self.cost_tolerance)
        return ToleranceEvidence(
            self.n_arms, n_units, self._scaled_tolerances, self.error, affordable
        )

    def leave_out(self, pull: int) -> None:  # noqa: D102 (as its parent)
        if self.evidence:
            raise CobanditError(
                "no instance can be left out of a certified race, because its result is"
                f" about all {self.n_instances} instances -> record a score, or start a"
                " new race without this instance",
                argument="pull",
                code="needs-all-instances",
            )
        self._forecast = None
        super().leave_out(pull)
        self._paid[self.left_out] = 0.0

    @property
    def depth(self) -> int:
        """Number n of instances (or clusters) on which active arms are compared."""
        return self._sums.depth

    @property
    def _is_kept(self) -> NDArray[np.bool_]:
        """Mask of units (instances or clusters) not left out entirely, shape (G,)."""
        return np.add.reduceat(~self.left_out, self._starts[:-1]) > 0

    @property
    def _n_units(self) -> int:
        """Number of units (instances or clusters) that are not left out entirely."""
        return self.n_kept if self.cluster is None else int(self._is_kept.sum())

    @property
    def _mean_size(self) -> float:
        """Mean size of a cluster, divided by the largest size."""
        return self.n_kept / max(1, self._n_units * self._largest_size)

    @property
    def _scaled_tolerances(self) -> NDArray[np.float64]:
        """Tolerances in the unit of the scores of clusters, shape (D,)."""
        return self.tolerances * self._mean_size

    @property
    def compares_cost(self) -> bool:
        """Whether the front is the front of the objectives and the cost."""
        return self.front == FRONTS[0]

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Mask of arms that are returned or removed, shape (K,)."""
        return ~np.isin(np.arange(self.n_arms), self._active)

    @property
    def status(self) -> str:
        """Status of the race: ``"open"``, ``"settled"`` or ``"out of budget"``."""
        if not len(self._active):
            return "settled"
        return "out of budget" if self.finished else "open"

    def know(self, rewards: ArrayLike, costs: ArrayLike | None = None) -> None:
        """Record earlier evaluations, which are then neither repeated nor charged.

        The race compares configurations by these evaluations first. Given all
        evaluations of an earlier race with a larger tolerance, this race continues
        where the earlier race stopped.

        Parameters
        ----------
        rewards : array_like, shape (N, K, D)
            Scores in the order of the instances, NaN for missing evaluations. For a
            table with missing evaluations, `cobandit.policies.race_order.arrange` gives
            the order.
        costs : array_like, shape (N, K), optional
            Costs of the evaluations; the declared costs by default. Costs of missing
            evaluations are ignored.

        Raises
        ------
        CobanditError
            If a shape is wrong, a reward is outside [0, 1], a cost is not positive, or
            the race has begun.
        """
        values = np.array(rewards, dtype=np.float64)
        if self.begun.any():
            raise CobanditError(
                "the race has begun -> make a new race, and record earlier evaluations"
                " before you start it",
                argument="rewards",
                code="race-has-begun",
            )
        if values.shape != self._rewards.shape or ((values < 0) | (values > 1)).any():
            raise CobanditError(
                f"rewards must have shape {self._rewards.shape}, with numbers in [0, 1]"
                " and NaN for missing evaluations",
                argument="rewards",
                code="bad-rewards",
            )

        evaluated = np.all(np.isfinite(values), axis=2)
        paid = np.array(np.broadcast_to(self.costs, evaluated.shape))
        if costs is not None and not self.certified:
            paid = np.array(costs, dtype=np.float64)
        has_shape = paid.shape == evaluated.shape
        if not has_shape or not ((paid > 0) & (paid < inf))[evaluated].all():
            raise CobanditError(
                f"costs must have shape {evaluated.shape}, with a positive number for"
                " each evaluation",
                argument="costs",
                code="bad-costs",
            )

        self._paid = np.where(evaluated, paid, 0.0)
        self._is_scored = evaluated
        self._rewards = np.where(evaluated[:, :, None], values, 0.0)
        self._turn = None
        self._plan = self._schedule()
        self._forecast = None
        self._update()

    def forecast(self) -> NDArray[np.int64]:
        """Return the expected number of further evaluations of each arm, shape (K,).

        The forecast assumes that differences and their variances do not change. It is a
        typical outcome, not a bound. Before the first comparison, the forecast contains
        all remaining evaluations. For a certified race, it is a simulation with scores
        that are drawn from the observed ones.
        """
        *_, (missing, _) = self.foresee()
        return missing

    def foresee(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield the current state, and the expected state after each future comparison.

        Yields
        ------
        evaluations : ndarray of int, shape (K,)
            Number of further evaluations of each arm until this comparison.
        settled : ndarray of bool, shape (K,)
            Mask of arms that are settled (removed or returned) after this comparison.
        """
        if self._forecast is None:
            self._forecast = list(self._foresee_looks())

        missing = np.zeros(self.n_arms, dtype=np.int64)
        reached = self._reached
        yield missing.copy(), self.settled
        for look in self._forecast:
            instances = slice(
                self._starts[reached], self._starts[reached + look.n_units]
            )
            reached += look.n_units
            is_missing = ~self._is_scored[instances] & ~self.left_out[instances, None]
            missing[look.active] += is_missing[:, look.active].sum(axis=0)
            yield missing.copy(), ~np.isin(np.arange(self.n_arms), look.remaining)

    def _foresee_looks(self) -> Iterator[ForecastLook]:
        """Yield the expected future comparisons, simulated on copies of the state."""
        standing = deepcopy(self._standing)
        evidence = deepcopy(self.evidence)
        depth = self.depth
        rng = np.random.default_rng(0)
        seen = self._gather(self._rewards, slice(0, self._reached))
        has_compared = self.depth >= FIRST_LOOK

        while len(active := standing.active):
            before = depth
            depth = self._next_look(depth)
            if depth == self._n_units and (evidence or not has_compared):
                # the last look decides all remaining arms; the forecast cannot predict
                # which of them will be returned
                standing.active = active[:0]
            elif has_compared and evidence:
                for scores in seen[rng.integers(len(seen), size=depth - before)]:
                    evidence.add(active, scores[active])
                calls, strength = _read_evidence(evidence, active)
                standing.conclude(calls, strength)
                evidence.release(standing.active)
            elif has_compared:
                calls, strength = self._call(active, depth)
                standing.conclude(calls, strength)
            yield ForecastLook(depth - before, active, standing.active)

    def recommend(self) -> NDArray[np.int64]:
        """Return the returned arms, and the empirical front of the active arms.

        Returns
        -------
        ndarray of int
            Sorted numbers of arms. The front is in the standard order, on the instances
            on which all active arms were evaluated.
        """
        active = self._active
        shared = self._shared()
        returned = self._standing.returned.copy()
        if shared.any() and len(active):
            means = self._rewards[shared][:, active].mean(axis=0)
            if self.compares_cost:
                costs = self._paid[shared][:, active].mean(axis=0)
                means = np.column_stack([means, -costs / costs.max()])
            returned[active] = [not beats(means - mean).any() for mean in means]
        return np.flatnonzero(returned)

    def _schedule(self) -> Iterator[int | None]:
        while len(self._active):
            start = self._reached
            n_new = self._count_complete()
            if not n_new:
                n_new = self._affordable(self._next_look(self.depth) - self.depth)
            if not n_new:
                return

            yield from self._evaluate(int(self._starts[start + n_new]))
            self._add(slice(start, start + n_new))
            self._reached = start + n_new
            self._forecast = None
            if self.evidence or self.depth >= min(FIRST_LOOK, self._n_units):
                self._look()
            if self.evidence:
                self.evidence.release(self._active)

    def _look(self) -> None:
        """Compare the active arms, and settle the arms that are decided."""
        calls, strength = self._call(self._active, self.depth)
        self._standing.conclude(calls, strength)
        if not self.evidence:
            self._count_outdone(calls)
        self._active = self._standing.active

    def _count_complete(self) -> int:
        """Return how many of the next units already have scores of all active arms.

        A unit is an instance or a cluster. These units cost nothing, so the arms need
        not be compared between them.
        """
        has_score = self._is_scored[:, self._active].all(axis=1) | self.left_out
        is_complete = np.logical_and.reduceat(has_score, self._starts[:-1])
        return [*is_complete[self._reached :].tolist(), False].index(False)

    def _record(self, pull: Pull, reward: NDArray[np.float64], cost: float) -> None:
        if not self.left_out[pull.number]:
            self._paid[pull.number, pull] = self.costs[pull] if self.certified else cost
        super()._record(pull, reward, cost)

    def _next_look(self, depth: int) -> int:
        if self.evidence:
            return next_certified_look(depth, self._n_units)
        return next_look(depth, self._n_units)

    def _affordable(self, most: int) -> int:
        """Return how many of the next ``most`` units fit into the budget.

        A unit is an instance or a cluster.
        """
        starts = self._starts[self._reached : self._reached + most + 1]
        missing = ~self._is_scored[starts[0] : starts[-1], self._active]
        instance_costs = missing @ self.costs[self._active]
        needed = np.cumsum(instance_costs)[np.diff(starts).cumsum() - 1]
        return int((needed <= _budget.add_slack(self.budget) - self.spent).sum())

    def _gather(self, values: NDArray[np.float64], units: slice) -> NDArray[np.float64]:
        """Return the values of units that are not left out: (N, K, ...) -> (n, K, ...).

        The value of a cluster is the sum over its instances, divided by the size of
        the largest cluster.
        """
        if self.cluster is None:
            return values[units][~self.left_out[units]]

        starts = self._starts[units.start : units.stop + 1]
        if len(starts) < 2:
            return values[:0]
        sums = np.add.reduceat(values[: starts[-1]], starts[:-1])
        gathered: NDArray[np.float64] = sums[self._is_kept[units]] / self._largest_size
        return gathered

    def _add(self, units: slice) -> None:
        """Add the scores and costs of active arms on some instances (or clusters)."""
        active = self._active
        rewards = self._gather(self._rewards, units)[:, active]
        costs = self._gather(self._paid, units)[:, active]
        self._sums.add(active, rewards, costs)
        if self.compares_cost:
            self._standing.costs[active] = self._sums.costs[active] / max(self.depth, 1)

        if self.evidence:
            for scores in rewards:
                self.evidence.add(active, scores)

    def _compare(
        self, active: NDArray[np.int64], depth: int
    ) -> Iterator[tuple[NDArray[np.int64], Contrasts]]:
        """Yield blocks of active arms, and their comparisons with all active arms."""
        unseen = 1 - depth / self._n_units
        margin = self.cost_margin._replace(
            amount=self.cost_margin.amount * self._mean_size
        )
        return self._sums.compare(
            active, unseen, depth, self._scaled_tolerances, margin
        )

    def _place_all(
        self, active: NDArray[np.int64], depth: int
    ) -> Iterator[tuple[NDArray[np.int64], Others]]:
        """Yield blocks of active arms, and their relations to the other arms."""
        for rows, contrasts in self._compare(active, depth):
            others = place_others(
                contrasts.above,
                contrasts.above_error,
                contrasts.within,
                contrasts.within_error,
            )
            # an arm is not its own rival
            block = np.arange(len(rows))
            others.rivals[block, rows] = False
            others.reached[block, rows] = False
            yield rows, others

    def _count_ties(self, active: NDArray[np.int64], depth: int) -> int:
        """Return m, the number of near ties for which the threshold is corrected."""
        k = len(active)
        candidates = np.zeros(k, dtype=np.bool_)
        rivals = self._outdone[active]
        reached = np.zeros((k, self.n_objectives + self.compares_cost), dtype=np.int64)
        for rows, others in self._place_all(active, depth):
            candidates[rows] = others.is_candidate
            rivals[rows] += others.rivals.sum(axis=1)
            reached[rows] = others.reached.sum(axis=1)

        sampled = sample_candidates(candidates, self.ranks[active])
        n_sampled = int(sampled.sum())
        n_outdone = int(self._outdone[active][sampled].sum())
        return count_near_ties(
            int(candidates.sum()),
            n_sampled,
            int((rivals[sampled] > 0).sum()),
            int(rivals[sampled].sum()),
            int(reached[sampled].sum(axis=0).max()) + n_outdone,
            n_sampled * (k - 1) + n_outdone,
        )

    def _count_outdone(self, calls: Calls) -> None:
        """Count, for each arm, the just removed rivals that the arm covers."""
        before = self._active
        stayed = np.isin(before, self._standing.active)
        removed = ~stayed & ~self._standing.returned[before]
        if self.depth == self._n_units or not removed.any():
            return
        for rows, others in self._place_all(before, self.depth):
            outdone = others.rivals & calls.covered[:, rows].T & removed
            self._outdone[before[rows]] += outdone.sum(axis=1)

    def _call(
        self, active: NDArray[np.int64], depth: int
    ) -> tuple[Calls, NDArray[np.float64]]:
        """Return the certain comparisons at a depth, and the strengths of active arms.

        For a depth beyond the current one, the comparisons are a forecast.
        """
        is_last = depth == self._n_units
        if self.evidence and not is_last:
            return _read_evidence(self.evidence, active)

        # at the last look, means are exact and half-widths are zero
        threshold = 0.0 if is_last else self._find_threshold(active, depth)
        wide = widen(threshold, depth, self._n_units)
        # least standard error, which allows for rare differences that were not seen
        unseen = 1 - depth / self._n_units
        least = threshold * sqrt(unseen / (UNSEEN * depth * self.depth))

        k = len(active)
        calls = Calls(*(np.zeros((k, k), dtype=np.bool_) for _ in Calls._fields))
        for rows, contrasts in self._compare(active, depth):
            least_error = least * contrasts.varies
            half_above = wide * np.maximum(contrasts.above_error, least_error)
            half_within = wide * np.maximum(contrasts.within_error, least_error)
            calls.dominated[rows] = beats(contrasts.above - half_above)
            calls.covered[rows] = beats(contrasts.within - half_within)
            # at the last look, differences are known, and no question remains open
            if not is_last:
                calls.open[rows] = beats(contrasts.beyond + half_within)
        for matrix in calls:
            np.fill_diagonal(matrix, False)

        strength = (self._sums.rewards[active] / self.depth).sum(axis=1)
        if self.compares_cost:
            costs = self._sums.costs[active]
            strength -= costs / costs.max()

        return calls, strength

    def _find_threshold(self, active: NDArray[np.int64], depth: int) -> float:
        """Return the threshold z at a depth, corrected for near ties of active arms."""
        look = min(int(np.searchsorted(self._looks, depth)), len(self.thresholds) - 1)
        ties = self._count_ties(active, depth)
        threshold = float(self.thresholds[look, ties - 1])
        is_forecast = depth > self.depth
        return threshold - ANTICIPATED if is_forecast else threshold


def _read_evidence(
    evidence: ToleranceEvidence, active: NDArray[np.int64]
) -> tuple[Calls, NDArray[np.float64]]:
    """Return the comparisons of arms that are decided in a certified race.

    The evidence never shows that an arm is dominated, only that another arm covers it,
    that is, is worse by at most the tolerance. Strengths only order dominated arms, so
    the returned strengths are zero.
    """
    covered, open_ = evidence.read(active)
    calls = Calls(dominated=np.zeros_like(covered), covered=covered, open=open_)
    return calls, np.zeros(len(active))
