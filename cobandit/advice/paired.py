"""Configurations compared on the instances that they share: gaps over their standard errors, pair by pair.

An evaluation table is one draw of instances.  Configurations share them, so their means err together, and
whatever compares configurations has to redraw instances, not rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.dominance import TIE, pareto_mask

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: Numbers held at once by a block of arms or of weights: 128 MB.
BLOCK = 2**24


def cut(numbers: Ints, width: int) -> Iterator[Ints]:
    """Cut numbers into runs of so many, at least one, and what is left.

    Examples
    --------
    >>> [run.tolist() for run in cut(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    width = max(1, width)
    return (numbers[start : start + width] for start in range(0, len(numbers), width))


class Evaluations:
    """All rows of a table, both splits, as dense blocks of arms: small in memory however large the table is.

    Parameters
    ----------
    table : EvaluationTable

    Attributes
    ----------
    n_instances : int
        Number of distinct instances, I.
    values : ndarray, shape (D + 1, N)
        The objectives in the card's order, then the cost.
    instance : ndarray of int, shape (N,)
        Of each row; arm i owns rows ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> import cobandit as cb
    >>> evaluations = Evaluations(cb.load("synthetic-24"))
    >>> values, present = evaluations.block([3, 7])
    >>> values.shape, bool(present.all())
    ((3, 2, 400), True)
    """

    def __init__(self, table: EvaluationTable):
        rows = table.rows
        self.instance = rows["instance"].cat.codes.to_numpy()
        self.values = rows[[*table.objectives, "cost"]].to_numpy().T
        self.offsets = np.concatenate(([0], np.cumsum(table.n_instances)))
        self.n_instances = int(self.instance.max()) + 1

    def block(self, arms: Ints | list[int]) -> tuple[Floats, Bools]:
        """Scores and cost of some arms on every instance, zero where an arm was not evaluated.

        Parameters
        ----------
        arms : sequence of int, length k

        Returns
        -------
        values : ndarray, shape (D + 1, k, I)
            The objectives in the card's order, then the cost.
        present : ndarray of bool, shape (k, I)
        """
        values = np.zeros((len(self.values), len(arms), self.n_instances))
        present = np.zeros((len(arms), self.n_instances), dtype=bool)
        for k, arm in enumerate(arms):
            rows = slice(self.offsets[arm], self.offsets[arm + 1])
            present[k, self.instance[rows]] = True
            values[:, k, self.instance[rows]] = self.values[:, rows]
        return values, present

    def blocks(self, arms: Ints) -> Iterator[Ints]:
        """Cut arms into runs of which each makes a block of about `BLOCK` numbers."""
        return cut(arms, BLOCK // (len(self.values) * self.n_instances))


def redraw_means(table: EvaluationTable, replications: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    r"""Means of tables like this one, by the Bayesian bootstrap over instances.

    .. math::

        \mu_i^{(r)} = \sum_{s \in S_i} w_s^{(r)} x_{is} \Big/ \sum_{s \in S_i} w_s^{(r)},
        \qquad w_s^{(r)} \sim \mathrm{Exp}(1),

    with one weight per instance, the same for every configuration and objective (Rubin, Annals of Statistics
    9, 1981).  Weights are never zero, so a configuration that has few instances is not lost in a redraw.

    Parameters
    ----------
    table : EvaluationTable
        Both splits are used.
    replications : int
        Number of redraws, R.
    seed : int

    Returns
    -------
    means : ndarray, shape (R, K, D)
    costs : ndarray, shape (R, K)
        In the table's unit.

    Notes
    -----
    Time O(R K I D) for I distinct instances, as matrix products; memory O(R K D).  A configuration whose
    instances all scored alike has no spread here: `cobandit.recommend` allows for that.

    Examples
    --------
    >>> import cobandit as cb
    >>> means, costs = redraw_means(cb.load("synthetic-24"), replications=500)
    >>> means.shape, means[:, 0].std(axis=0).round(2)  # spread of the first configuration's means
    ((500, 24, 2), array([0.02, 0.  ]))
    """
    replications = _check.count(replications, "replications", 1)
    rng, evaluations = np.random.default_rng(_check.seed(seed)), Evaluations(table)
    result = np.empty((len(evaluations.values), replications, table.n_arms))
    for drawn in cut(np.arange(replications), BLOCK // evaluations.n_instances):
        weights = rng.standard_exponential((len(drawn), evaluations.n_instances))
        for arms in evaluations.blocks(np.arange(table.n_arms)):
            values, present = evaluations.block(arms)
            totals = weights @ present.T.astype(float)
            for column, mean in zip(values, result, strict=True):
                mean[drawn, arms[0] : arms[-1] + 1] = weights @ column.T / totals
    return np.moveaxis(result[:-1], 0, -1), result[-1]


def find_worth(means: Floats, costs: Floats) -> Bools:
    """Find who is worth its cost: on the front of the means (K, D) and the costs (K,), in the standard order.

    Examples
    --------
    >>> find_worth(np.array([[0.5], [0.7], [0.7]]), np.array([1.0, 2.0, 3.0]))
    array([ True,  True, False])
    """
    return pareto_mask(np.column_stack([means, -costs / costs.max()]), dominance="standard")


class Gaps(NamedTuple):
    """Arms compared with all others, each array but the first of shape (rows, k, K)."""

    arms: Ints  # (k,)
    ratios: Floats  # t-statistics of the gaps
    errors: Floats  # standard errors that gaps on new instances would have
    gaps: Floats  # positive where the other is ahead
    left: Floats  # standard errors of what the evaluations leave open


class Paired:
    r"""Means of a table, over both splits, and what every instance contributes to their errors.

    The influence of instance s on a mean is :math:`z_{is} = (x_{is} - \mu_i) / \sqrt{n_i (n_i - 1)}`, zero
    where arm i was not evaluated on s.  Instances are independent, so the variance of :math:`\mu_j - \mu_i`
    is :math:`\sum_s (z_{js} - z_{is})^2`: what two arms share cancels.  An arm whose few instances all scored
    alike would be certain by that, so each arm's variance counts one instance more that varies like the
    pooled arms.

    About the benchmark itself, a finite population of N instances, means are exact once all is evaluated:

    .. math:: (1 - n_i / N)\, v_i + (1 - n_j / N)\, v_j - 2\, (1 - n_i n_j / (N n_{ij}))\, c_{ij}

    with :math:`n_{ij}` the shared instances, :math:`v` the variances and :math:`c_{ij} = z_i \cdot z_j`, is
    the variance of what the missing instances leave open.

    Parameters
    ----------
    table : EvaluationTable
    finite : bool
        Whether the benchmark is all there is, so that only missing evaluations are uncertain.
    strict : bool
        Whether dominance is the paper's, better in every objective and whatever the cost; otherwise it is at
        least as good in every objective and in cost, and better in one of them.

    Attributes
    ----------
    table, evaluations, finite, strict
        As given, and the table's `Evaluations`.
    means, costs : ndarray, shapes (K, D) and (K,)
    counts, missing : ndarray of int, shape (K,)
        Instances on which each arm is evaluated, and those of the benchmark on which it is not.
    one_more, variances : ndarray, shape (D + 1, K)
        Of `coordinates`; what the instance more adds to each variance, and with it the variance.

    Examples
    --------
    >>> import cobandit as cb
    >>> compared = Paired(cb.load("synthetic-24"))
    >>> gaps, = compared.dominance()
    >>> ratios = gaps.ratios.min(axis=0)  # positive: the other is ahead in both objectives and in cost
    >>> ratios.shape, int((ratios.max(axis=1) <= 0).sum()), int(compared.on_front.sum())
    ((24, 24), 6, 6)
    """

    def __init__(self, table: EvaluationTable, finite: bool = False, strict: bool = False):
        every = table.summary()
        self.table, self.evaluations = table, Evaluations(table)
        self.finite, self.strict = finite, strict
        self.means, self.costs = every[list(table.objectives)].to_numpy(), every["cost"].to_numpy()
        self.counts, self.n_instances = table.n_instances, table.n_benchmark
        self.missing = self.n_instances - self.counts
        n = self.counts.astype(float)
        self.variances: Floats = np.empty(self.coordinates.shape)
        relative = np.empty(len(n))  # variance of the cost, over its square
        for arms in self.evaluations.blocks(np.arange(len(n))):
            self.variances[:, arms] = (self.influence(arms) ** 2).sum(axis=2)
            values, present = self.evaluations.block(arms)
            spread = ((values[-1] - self.costs[arms, None]) * present) ** 2
            relative[arms] = spread.sum(axis=1) / (n[arms] - 1) / self.costs[arms] ** 2
        pooled = np.average(self.variances[:-1] * n, axis=1)  # of one instance, by objective
        more = np.vstack([np.outer(pooled, np.ones(len(n))), relative.mean() * self.costs**2])
        self.one_more = more / n**2
        self.variances += self.one_more

    @property
    def coordinates(self) -> Floats:
        """What is compared, more is better: the objectives, and minus the cost: (D + 1, K)."""
        return np.vstack([self.means.T, -self.costs])

    @property
    def n_compared(self) -> int:
        """In how many of these an arm may be ahead of another: D, and one for the cost."""
        return self.means.shape[1] + (not self.strict)

    @property
    def on_front(self) -> Bools:
        """Which arms no other dominates, by the means, shape (K,)."""
        return self.front_of(self.means, self.costs)

    def front_of(self, means: Floats, costs: Floats) -> Bools:
        """Which arms no other would dominate if these were the means (K, D) and the costs (K,)."""
        return pareto_mask(means) if self.strict else find_worth(means, costs)

    def influence(self, arms: Ints) -> Floats:
        """Influences on `coordinates`: shape (D + 1, k, I)."""
        values, present = self.evaluations.block(arms)
        n = self.counts[arms]
        values -= np.vstack([self.means[arms].T, self.costs[arms]])[:, :, None]
        values *= present / np.sqrt(n * (n - 1.0))[:, None]
        values[-1] *= -1
        return values

    def dominance(self, arms: Ints | None = None) -> Iterator[Gaps]:
        """Compare arms (default: all) with every arm in each of `n_compared` coordinates: that, k, K.

        Equal in one of them is as good as ahead there, unless dominance is strict: about the benchmark where
        both means are exact, and of costs where both cost the same on every instance.
        """
        rows, everyone = self.n_compared, np.arange(len(self.costs))
        values, variances, one_more = self.coordinates[:rows], self.variances[:rows], self.one_more[:rows]
        tie = TIE * np.abs(values).max(axis=1)[:, None, None]
        done = self.finite & (self.missing == 0)
        arms = everyone if arms is None else arms
        width = BLOCK // (rows * len(everyone))
        for some in (part for whole in self.evaluations.blocks(arms) for part in cut(whole, width)):
            mine = self.influence(some)[:rows]
            errors = np.empty((rows, len(some), len(everyone)))
            left = np.empty_like(errors)  # the variance of what is left open
            for others in self.evaluations.blocks(everyone):
                at = slice(others[0], others[-1] + 1)
                shared = mine @ self.influence(others)[:rows].transpose(0, 2, 1)
                errors[:, :, at] = variances[:, some, None] + variances[:, None, at] - 2 * shared
                left[:, :, at] = self._leave_open(some, others, shared) if self.finite else errors[:, :, at]
            gaps = values[:, None, :] - values[:, some, None]
            gaps[np.abs(gaps) <= tie] = 0.0
            exact = done[some][:, None] & done
            left = np.where(exact, 0.0, np.maximum(left, 0.0))
            with np.errstate(divide="ignore", invalid="ignore"):  # no gap is no evidence, unless it is exact
                ratios = np.where(gaps == 0, np.where(exact, -np.inf, 0.0), gaps / np.sqrt(left))
            if not self.strict:
                tied = (gaps == 0) & exact
                added = one_more[-1, some][:, None] + one_more[-1]
                tied[-1] |= (gaps[-1] == 0) & (errors[-1] - added <= TIE * errors[-1])
                ratios[tied] = np.inf
                ratios[:, tied.all(axis=0)] = -np.inf
            yield Gaps(some, ratios, np.sqrt(np.maximum(errors, 0.0)), gaps, np.sqrt(left))

    def _leave_open(self, arms: Ints, others: Ints, shared: Floats) -> Floats:
        """Give the variances of gaps that missing instances leave, from the covariances of the means."""
        mine, theirs = (self.variances[: len(shared), each] for each in (arms, others))
        mine, theirs = mine[:, :, None], theirs[:, None]
        total, n = self.n_instances, self.counts.astype(float)
        _, present = self.evaluations.block(arms)
        _, there = self.evaluations.block(others)
        both = present.astype(float) @ there.T
        with np.errstate(divide="ignore", invalid="ignore"):
            covariance = shared * (1 - np.outer(n[arms], n[others]) / (total * both))
        # of two arms that share no instance nothing is known but that no correlation exceeds one
        alone = -np.sqrt(mine * theirs * n[arms][:, None] * n[others]) / total
        covariance = np.where(both > 1, covariance, alone)
        open_ = 1 - n / total
        return open_[arms][:, None] * mine + open_[others] * theirs - 2 * covariance


def critical_value(counts: ArrayLike, alpha: float | Floats) -> Floats:
    """Upper Student quantile for arms with so many instances each, shape as ``counts``.

    Examples
    --------
    >>> critical_value([5, 500], 0.05).round(2)
    array([2.13, 1.65])
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    return stats.t.isf(alpha, np.asarray(counts) - 1)
