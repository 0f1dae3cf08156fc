"""Configurations compared on the instances that they share: gaps over their standard errors, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.advice.resampling import Evaluations
from cobandit.problem import hypervolume

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


class Paired(NamedTuple):
    r"""Means, and what every instance contributes to their errors.

    The influence of instance s on a mean is :math:`z_{is} = (x_{is} - \mu_i) / \sqrt{n_i (n_i - 1)}`, zero
    where arm i was not evaluated on s.  Instances are independent, so the variance of :math:`\mu_j - \mu_i`
    is :math:`\sum_s (z_{js} - z_{is})^2`: what two arms share cancels.  An arm whose few instances all scored
    alike would be certain by that, so each arm's variance counts one instance more that varies like the
    pooled arms.
    """

    evaluations: Evaluations
    means: NDArray[np.float64]  # (K, D)
    costs: NDArray[np.float64]  # (K,)
    counts: NDArray[np.int64]  # (K,)
    variances: NDArray[np.float64]  # (D + 1, K), of the means, the last of the efficiency

    @property
    def efficiency(self) -> NDArray[np.float64]:
        """Hypervolume per unit of cost, shape (K,)."""
        return hypervolume(self.means) / self.costs

    def influence(self, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Influences on the objectives' means and, last, on the efficiency: shape (D + 1, k, I)."""
        values, present = self.evaluations.block(arms)
        centre = np.vstack([self.means[arms].T, self.costs[arms]])
        values -= centre[:, :, None]
        n = self.counts[arms]
        values *= present / np.sqrt(n * (n - 1.0))[:, None]
        values[-1] = np.einsum("dk,dks->ks", _slopes(self.means[arms], self.costs[arms]), values)
        return values

    def dominance(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For runs of arms i, the ratios ``min_d t_ij`` to every arm j, shape (k, K); t over all objectives.

        Positive: j dominates i by the means, and the ratio says how surely.
        """
        everyone = np.arange(len(self.costs))
        for arms in self.evaluations.blocks(everyone):
            mine, ratios = self.influence(arms)[:-1], np.empty((len(arms), len(everyone)))
            for others in self.evaluations.blocks(everyone):
                theirs = mine if others[0] == arms[0] else self.influence(others)[:-1]
                least = np.full((len(arms), len(others)), np.inf)
                for d, (z, other) in enumerate(zip(mine, theirs, strict=True)):
                    gap = self.means[others, d] - self.means[arms, d][:, None]
                    both = self.variances[d, arms][:, None] + self.variances[d, others]
                    np.minimum(least, _ratio(gap, both - 2 * (z @ other.T)), out=least)
                ratios[:, others[0] : others[-1] + 1] = least
            yield arms, ratios

    def efficiency_ratios(self, best: int) -> NDArray[np.float64]:
        """By how many standard errors an arm is more efficient than each other, shape (K,)."""
        everyone, ratios = np.arange(len(self.costs)), np.empty(len(self.costs))
        mine = self.influence(everyone[[best]])[-1, 0]
        for arms in self.evaluations.blocks(everyone):
            gap = self.efficiency[best] - self.efficiency[arms]
            shared = self.influence(arms)[-1] @ mine
            ratios[arms] = _ratio(gap, self.variances[-1, best] + self.variances[-1, arms] - 2 * shared)
        return ratios


def _ratio(gap: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """``gap / sqrt(variance)``; no gap is no evidence, whatever its error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gap == 0, 0.0, gap / np.sqrt(np.maximum(variance, 0.0)))


def _slopes(means: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of ``prod(means) / cost`` by each mean and by the cost, shape (D + 1, k)."""
    others = [np.delete(means, d, axis=1).prod(axis=1) / costs for d in range(means.shape[1])]
    return np.vstack([*others, -hypervolume(means) / costs**2])


def paired(table: EvaluationTable) -> Paired:
    """Compare the configurations of a table on all its instances, both splits.

    Examples
    --------
    >>> import cobandit as cb
    >>> compared = paired(cb.load("synthetic-24"))
    >>> (arms, ratios), = compared.dominance()
    >>> ratios.shape, int((ratios.max(axis=1) <= 0).sum())  # six arms that no other beats everywhere
    ((24, 24), 6)
    """
    every = table.summary()
    means, costs = every[list(table.objectives)].to_numpy(), every["cost"].to_numpy()
    unknown = np.full((table.n_objectives + 1, table.n_arms), np.nan)
    compared = Paired(Evaluations(table), means, costs, table.n_instances, unknown)
    return compared._replace(variances=_variances(compared))


def _variances(compared: Paired) -> NDArray[np.float64]:
    """Variances of the means and, last, of the efficiency, each with one instance more: shape (D + 1, K)."""
    costs, n = compared.costs, compared.counts.astype(float)
    variances = np.empty((compared.means.shape[1] + 1, len(costs)))
    relative = np.empty(len(costs))  # variance of the cost, over its square
    for arms in compared.evaluations.blocks(np.arange(len(costs))):
        variances[:, arms] = (compared.influence(arms) ** 2).sum(axis=2)
        values, present = compared.evaluations.block(arms)
        spread = ((values[-1] - costs[arms, None]) * present) ** 2
        relative[arms] = spread.sum(axis=1) / (n[arms] - 1) / costs[arms] ** 2
    pooled = np.average(variances[:-1] * n, axis=1)  # of one instance, by objective
    one_more = np.vstack([np.outer(pooled, np.ones(len(n))), relative.mean() * costs**2])
    variances[:-1] += one_more[:-1] / n**2
    variances[-1] += (_slopes(compared.means, costs) ** 2 * one_more).sum(axis=0) / n**2
    return variances


def critical(counts: ArrayLike, alpha: float) -> NDArray[np.float64]:
    """Upper Student quantile for arms with so many instances each, shape as ``counts``.

    Examples
    --------
    >>> critical([5, 500], 0.05).round(2)
    array([2.13, 1.65])
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    return stats.t.isf(alpha, np.asarray(counts) - 1)
