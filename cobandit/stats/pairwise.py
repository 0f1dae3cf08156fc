"""Pairwise comparisons of configurations on shared instances.

The instances of a table are one sample, which configurations share. The errors of their
means are therefore correlated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cobandit.dominance import TIE, pareto_mask
from cobandit.stats import evaluations as dense
from cobandit.stats.evaluations import Bools, Evaluations, Floats, Ints

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def cost_aware_front(means: Floats, costs: Floats) -> Bools:
    """Return a mask of the Pareto front of means (K, D) and costs (K,).

    Dominance is in the standard order: nowhere worse, and better or cheaper in one.

    Examples
    --------
    >>> cost_aware_front(np.array([[0.5], [0.7], [0.7]]), np.array([1.0, 2.0, 3.0]))
    array([ True,  True, False])
    """
    coordinates = np.column_stack([means, -costs / costs.max()])
    return pareto_mask(coordinates, dominance="standard")


class PairGaps(NamedTuple):
    """Paired differences between k arms and all K arms, per compared coordinate.

    The coordinates (rows) are the objectives and minus the cost.
    """

    arms: Ints  #: shape (k,), numbers of the k arms
    ratios: Floats  #: shape (rows, k, K), t-statistics of the gaps
    errors: Floats  #: shape (rows, k, K), standard errors for an infinite population
    gaps: Floats  #: shape (rows, k, K), positive if the other arm is ahead
    #: shape (rows, k, K), standard errors in ``ratios``. They are smaller than
    #: ``errors`` if the population is the benchmark itself.
    remaining_errors: Floats
    #: shape (k, K), number of shared instances, or of clusters with such instances
    shared: Ints


class SharedMeans(NamedTuple):
    """Paired differences between k arms and m other arms, with squared errors."""

    gaps: Floats  #: shape (D + 1, k, m), positive if the other arm is ahead
    squares: Floats  #: shape (D + 1, k, m), squared standard errors
    #: shape (D + 1, k, m), part of the squares that comes from the additional instances
    #: (see `Paired`)
    added: Floats
    counts: Ints  #: shape (k, m), number of shared instances
    #: shape (k, m), number of clusters of the shared instances; without clusters,
    #: number of these instances
    units: Ints


class Front(NamedTuple):
    """Members of the front, by comparisons on shared instances."""

    on_front: Bools  #: shape (K,), mask of the front
    #: shape (K,), mask of arms in a cycle, in which each arm is ahead of the next
    in_cycle: Bools


class Paired:
    r"""Configurations compared in pairs, each pair on its shared instances.

    The gap of arms i and j is the mean of :math:`x_{js} - x_{is}` over the
    :math:`n_{ij}` instances s that they share. (Means over different instances would
    also depend on how hard the instances are.) Instances are independent, so the
    variance of the gap is estimated by :math:`\sum_s z_{ijs}^2` with the influences

    .. math:: z_{ijs} = \frac{x_{js} - x_{is} - \delta_{ij}}
        {\sqrt{n_{ij} (n_{ij} - 1)}} .

    Instances of one cluster, such as questions about one passage, are not independent,
    but clusters are. Influences are then summed within each cluster, and n clusters
    have n - 1 degrees of freedom. Gaps remain means over instances.

    A few equal scores would have a variance of zero. The variance therefore includes
    one additional instance per arm, with the variance pooled over all arms. If the
    population is the benchmark itself, its N instances are a finite population, and the
    variance is multiplied by :math:`1 - n_{ij} / N`. Gaps are then exact if everything
    is evaluated.

    If some evaluations are missing, the reported means are adjusted to all instances
    (`cobandit.tables.adjusted`). Gaps of pairs may then be inconsistent: of three arms,
    the first may be ahead of the second, the second ahead of the third, and the third
    ahead of the first. In such a cycle, the adjusted means decide.

    Parameters
    ----------
    table : EvaluationTable
    finite : bool
        Whether the population is the benchmark itself. Only missing evaluations are
        then uncertain.
    strict : bool
        If True, an arm dominates as in the paper: it is better in every objective,
        whatever the cost. If False, it dominates if it is at least as good in every
        objective and in cost, and better in one of them.

    Attributes
    ----------
    table, evaluations, finite, strict
        The arguments, and the `Evaluations` of the table.
    complete : bool
        Whether every arm is evaluated on every instance of the table.
    means, costs : ndarray, shapes (K, D) and (K,)
        Means over all instances of the table, adjusted if evaluations are missing.
    counts, missing : ndarray of int, shape (K,)
        Number of evaluated instances of each arm, and number of missing instances of
        the benchmark.
    units : ndarray of int, shape (K,)
        Number of clusters among the evaluated instances of each arm; without clusters,
        number of instances.
    variances : ndarray, shape (D + 1, K)
        Variance of the mean of each arm over its evaluated instances.
    one_more : ndarray, shape (D + 1, K)
        Part of the variances that comes from the additional instances.

    Examples
    --------
    >>> import cobandit as cb
    >>> compared = Paired(cb.load("synthetic-24"))
    >>> gaps, = compared.dominance()
    >>> ratios = gaps.ratios.min(axis=0)  # positive if the other arm is better in all
    >>> ratios.shape, int((ratios.max(axis=1) <= 0).sum()), int(compared.on_front.sum())
    ((24, 24), 6, 6)
    """

    def __init__(
        self, table: EvaluationTable, finite: bool = False, strict: bool = False
    ):
        summary = table.summary()
        self.table = table
        self.evaluations = Evaluations(table)
        self.finite = finite
        self.strict = strict
        self.complete = table.is_complete
        self.means = summary[list(table.objectives)].to_numpy()
        self.costs = summary["cost"].to_numpy()
        self.counts = table.n_instances
        self.n_instances = table.n_benchmark
        self.missing = self.n_instances - self.counts
        self.units = self._count_units()

        #: Means of each arm over its evaluated instances, the cost last.
        self._centres = np.vstack([self.means.T, self.costs])
        if not self.complete:
            sums = np.add.reduceat(
                self.evaluations.values, self.evaluations.offsets[:-1], axis=1
            )
            self._centres = sums / self.counts
        self.variances: Floats = np.empty(self.coordinates.shape)
        for arms in self.evaluations.blocks(np.arange(len(self.costs))):
            self.variances[:, arms] = (self.influence(arms) ** 2).sum(axis=2)
        self.one_more = self._vary_one_more()
        self.variances += self.one_more

    def _vary_one_more(self) -> Floats:
        """Return the variance that the additional instances contribute, (D + 1, K).

        An additional instance has the variance pooled over all arms. Variances of costs
        are divided by the squared mean cost of their arm before they are pooled.
        """
        n = self.units.astype(float)
        costs = self._centres[-1]
        pooled = np.average(self.variances[:-1] * n, axis=1)
        relative = np.average(self.variances[-1] * n / costs**2)
        score_variances = np.outer(pooled, np.ones(len(n)))
        of_instance = np.vstack([score_variances, relative * costs**2])
        return np.asarray(of_instance / n**2)

    def _count_units(self) -> Ints:
        """Return the number of clusters (or instances) with evaluations of each arm."""
        evaluations = self.evaluations
        arm = np.repeat(np.arange(len(self.counts)), self.counts)
        unit = evaluations.unit[evaluations.instance]
        pairs = np.unique(arm * evaluations.n_units + unit)
        return np.bincount(pairs // evaluations.n_units, minlength=len(self.counts))

    @property
    def coordinates(self) -> Floats:
        """Mean objectives, then minus the mean cost, shape (D + 1, K).

        Larger is better in all coordinates.
        """
        return np.vstack([self.means.T, -self.costs])

    @property
    def n_compared(self) -> int:
        """Number of compared coordinates: D, plus one for the cost unless strict."""
        n_objectives = self.means.shape[1]
        return n_objectives if self.strict else n_objectives + 1

    @property
    def on_front(self) -> Bools:
        """Mask of arms that no other arm dominates on shared instances, (K,)."""
        return self._front.on_front

    @property
    def in_cycle(self) -> Bools:
        """Mask of arms in a cycle, in which each arm is ahead of the next, (K,)."""
        return self._front.in_cycle

    @cached_property
    def _front(self) -> Front:
        if self.complete:
            by_means = self.front_of(self.means, self.costs)
            return Front(by_means, np.zeros_like(by_means))
        from scipy import sparse  # slow to import, and needed for few tables only

        better = np.concatenate([block.gaps > 0 for block in self.dominance()], axis=1)
        worse = np.concatenate([block.gaps < 0 for block in self.dominance()], axis=1)
        is_beaten_by = better.any(axis=0) & ~worse.any(axis=0)
        if self.strict:
            is_beaten_by = better.all(axis=0)

        # arms of a cycle form one strongly connected component, which is beaten as a
        # whole or not at all
        graph = sparse.csr_array(is_beaten_by)
        _, component = sparse.csgraph.connected_components(graph, connection="strong")
        is_beaten = (is_beaten_by & (component[:, None] != component)).any(axis=1)
        is_beaten = np.bincount(component, is_beaten)[component] > 0
        in_cycle = np.bincount(component)[component] > 1

        # within a cycle that no other arm beats, the adjusted means decide
        on_front = ~is_beaten
        for number in np.unique(component[in_cycle & ~is_beaten]):
            arms = np.flatnonzero(component == number)
            on_front[arms] = self.front_of(self.means[arms], self.costs[arms])
        return Front(on_front, in_cycle)

    def front_of(self, means: Floats, costs: Floats) -> Bools:
        """Return the mask of the front of means (K, D) and costs (K,)."""
        return pareto_mask(means) if self.strict else cost_aware_front(means, costs)

    def influence(self, arms: Ints) -> Floats:
        """Return the influence of each unit on the means of arms, shape (D + 1, k, G).

        Units are clusters or instances. The sum of squared influences is the estimated
        variance of a mean. The last row is for minus the mean cost.
        """
        values, present = self.evaluations.block(arms)
        values -= self._centres[:, arms, None]
        values *= present / self.counts[arms, None]
        values[-1] *= -1
        return self.evaluations.gather(values) * _widen(self.units[arms])[:, None]

    def gap_influence(
        self, arm: int, others: Ints
    ) -> tuple[Floats, Floats, Ints, Ints]:
        """Return differences of an arm to other arms, with influences and counts.

        Returns
        -------
        influence : ndarray, shape (D + 1, m, G)
            Influence of each instance (or cluster) on each gap. The sum of squared
            influences is the estimated variance of the gap.
        gaps : ndarray, shape (D + 1, m)
            Gap on the shared instances, positive if the other arm is ahead, and 0 if
            there are fewer than two shared instances.
        counts, units : ndarray of int, shape (m,)
            Number of shared instances, and number of their clusters.
        """
        values, present = self.evaluations.block(np.array([arm]))
        other_values, other_present = self.evaluations.block(others)
        is_shared = other_present & present
        counts = is_shared.sum(axis=1)
        units = (self.evaluations.gather(is_shared) > 0).sum(axis=1)

        differences = (other_values - values) * is_shared
        differences[-1] *= -1
        gaps = differences.sum(axis=2) / np.maximum(counts, 1)
        gaps[:, counts < 2] = 0.0

        differences -= gaps[:, :, None] * is_shared
        differences /= np.maximum(counts, 1)[:, None]
        influence = self.evaluations.gather(differences) * _widen(units)[:, None]
        return influence, gaps, counts, units

    def step(self, lower: int, upper: int) -> tuple[Floats, float]:
        """Return the gains of an arm over another, shape (D,), and the ratio of costs.

        Both are computed on the instances that the two arms share; NaN if they share
        none.
        """
        if self.complete:
            gains = self.means[upper] - self.means[lower]
            return gains, float(self.costs[upper] / self.costs[lower])

        values, present = self.evaluations.block([lower, upper])
        is_shared = present.all(axis=0)
        if not is_shared.any():
            return np.full(self.means.shape[1], np.nan), np.nan
        means = values[:, :, is_shared].mean(axis=2)
        return means[:-1, 1] - means[:-1, 0], float(means[-1, 1] / means[-1, 0])

    def fall_behind(self, objective: int) -> Floats:
        """Return by how much each arm is behind the best one in an objective, (K,)."""
        if self.complete:
            means = self.means[:, objective]
            return np.asarray(means.max() - means)
        return np.concatenate(
            [block.gaps[objective].max(axis=1) for block in self.dominance()]
        )

    def dominance(self, arms: Ints | None = None) -> Iterator[PairGaps]:
        """Yield blocks of comparisons between ``arms`` (by default all) and all arms.

        In the standard order, two arms that are certainly equal in a coordinate both
        count as ahead in it. Equality is certain for exact means on the benchmark, and
        for costs that are equal on every instance.
        """
        everyone = np.arange(len(self.costs))
        arms = everyone if arms is None else arms
        compare = self._compare_means if self.complete else self._compare_pairs

        for block in self._cut(arms):
            parts = [
                compare(block, others) for others in self.evaluations.blocks(everyone)
            ]
            fields = [
                np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)
            ]
            yield self._judge(block, SharedMeans(*fields))

    def _cut(self, arms: Ints) -> Iterator[Ints]:
        """Yield blocks of arms whose evaluations and differences fit into memory."""
        width = dense.BLOCK_SIZE // (self.n_compared * len(self.costs))
        for block in self.evaluations.blocks(arms):
            yield from dense.cut_runs(block, width)

    def _judge(self, arms: Ints, compared: SharedMeans) -> PairGaps:
        """Return t-statistics of mean differences, infinite for certain equalities."""
        rows = self.n_compared
        gaps = compared.gaps[:rows]
        squares = compared.squares[:rows]
        smallest_gap = TIE * np.abs(self.coordinates[:rows]).max(axis=1)[:, None, None]
        gaps[np.abs(gaps) <= smallest_gap] = 0.0

        # about the benchmark itself, only missing evaluations are uncertain
        missing = np.ones(compared.counts.shape)
        if self.finite:
            missing = 1 - compared.counts / self.n_instances
        is_exact = missing == 0
        remaining_errors = np.sqrt(np.maximum(missing * squares, 0.0))

        # a gap of zero has the t-statistic zero, unless it is exact
        no_gap = np.where(is_exact, -np.inf, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(gaps == 0, no_gap, gaps / remaining_errors)

        if not self.strict:
            is_tied = (gaps == 0) & is_exact
            is_tied[-1] |= _cost_the_same(compared, gaps[-1], rows - 1)
            ratios[is_tied] = np.inf

            # arms that are equal in every coordinate do not beat each other
            ratios[:, is_tied.all(axis=0)] = -np.inf

        return PairGaps(
            arms=arms,
            ratios=ratios,
            errors=np.sqrt(np.maximum(squares, 0.0)),
            gaps=gaps,
            remaining_errors=remaining_errors,
            shared=compared.units,
        )

    def _compare_means(self, some: Ints, others: Ints) -> SharedMeans:
        """Compare arms on the same instances, by means and covariances."""
        values = self.coordinates
        gaps = values[:, None, others] - values[:, some, None]

        # Var(x - y) = Var(x) + Var(y) - 2 Cov(x, y)
        covariances = self.influence(some) @ self.influence(others).transpose(0, 2, 1)
        variances = self.variances[:, some, None] + self.variances[:, None, others]
        squares = variances - 2 * covariances

        added = self.one_more[:, some, None] + self.one_more[:, None, others]
        shape = len(some), len(others)
        counts = np.broadcast_to(self.counts[others], shape)
        units = np.broadcast_to(self.units[others], shape)
        return SharedMeans(gaps, squares, added, counts, units)

    def _compare_pairs(self, some: Ints, others: Ints) -> SharedMeans:
        """Compare arms in pairs, each pair on its shared instances."""
        shape = len(self.one_more), len(some), len(others)
        gaps = np.empty(shape)
        squares = np.empty(shape)
        counts = np.empty(shape[1:], dtype=np.int64)
        units = np.empty(shape[1:], dtype=np.int64)
        for k, arm in enumerate(some):
            influence, gaps[:, k], counts[k], units[k] = self.gap_influence(arm, others)
            squares[:, k] = (influence**2).sum(axis=2)

        # the variance of one additional unit, divided by the squared number of shared
        # units
        of_unit = self.one_more * self.units**2.0
        of_both = of_unit[:, some, None] + of_unit[:, None, others]
        added = of_both / np.maximum(units, 1) ** 2.0
        squares = np.where(units > 1, squares + added, np.inf)
        return SharedMeans(gaps, squares, added, counts, units)


def _cost_the_same(compared: SharedMeans, gaps: Floats, row: int) -> Bools:
    """Return the mask of pairs of arms whose costs are equal on every shared instance.

    For such a pair, the variance of the gap in cost comes only from the additional
    instances.
    """
    square = compared.squares[row]
    varies_by_one_more = square - compared.added[row] <= TIE * square
    result: Bools = (gaps == 0) & varies_by_one_more & (compared.units > 1)
    return result


def _widen(units: Ints) -> Floats:
    """Return factors for influences, so that their sums of squares are unbiased."""
    factors: Floats = np.sqrt(units / np.maximum(units - 1.0, 1.0))
    return factors
