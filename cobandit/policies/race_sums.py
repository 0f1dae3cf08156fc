"""Sums of scores and costs in a `ParetoRace`, and comparisons of arms by these sums."""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.policies.copsi_once import PRIOR_VARIANCE
from cobandit.policies.cost_comparison import (
    LEAST_SCATTER,
    CostMargin,
    CostTolerance,
    compare_costs,
)

Floats = NDArray[np.float64]

#: Number of compared values in one block of arms, which takes a few megabytes per
#: array.
BLOCK = 2**18


class Contrasts(NamedTuple):
    """Comparisons of b arms with k other arms in C quantities, each (b, k, C)."""

    #: Mean of the other arm minus mean of the arm.
    above: Floats
    #: Standard error of ``above``.
    above_error: Floats
    #: ``above`` plus the tolerance.
    within: Floats
    #: Standard error of ``within`` and of ``beyond``.
    within_error: Floats
    #: ``above`` minus the tolerance. For the cost, it equals ``within``, because a
    #: dominator may cost more by the tolerance.
    beyond: Floats
    #: 1 if the difference varies over instances, else 0. A difference that does not
    #: vary is exact, so its confidence interval has no width.
    varies: Floats


class RaceSums:
    """Sums of scores, costs and their products, over instances shared by active arms.

    Parameters
    ----------
    n_arms, n_objectives : int
        K and D.
    compares_cost : bool
        Whether the cost is compared like an objective.

    Attributes
    ----------
    depth : int
        n, the number of added instances.
    rewards : ndarray, shape (K, D)
        Sums of rewards.
    costs : ndarray, shape (K,)
        Sums of costs; zero unless costs are compared.
    """

    def __init__(self, n_arms: int, n_objectives: int, compares_cost: bool):
        self.compares_cost = compares_cost
        self.depth = 0
        self.rewards = np.zeros((n_arms, n_objectives))
        self.costs = np.zeros(n_arms)
        self._reward_products = np.zeros((n_objectives, n_arms, n_arms))
        self._cost_products = np.zeros((n_arms, n_arms))

    def add(self, active: NDArray[np.int64], rewards: Floats, costs: Floats) -> None:
        """Add the scores and costs of active arms on n instances.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
        rewards : ndarray, shape (n, k, D)
        costs : ndarray, shape (n, k)
        """
        pairs = np.ix_(active, active)
        self.depth += len(rewards)
        self.rewards[active] += rewards.sum(axis=0)
        for d, scores in enumerate(rewards.transpose(2, 0, 1)):
            self._reward_products[d][pairs] += scores.T @ scores

        if self.compares_cost:
            self.costs[active] += costs.sum(axis=0)
            self._cost_products[pairs] += costs.T @ costs

    def compare(
        self,
        active: NDArray[np.int64],
        unseen: float,
        depth: int,
        tolerances: Floats,
        cost_tolerance: CostTolerance,
    ) -> Iterator[tuple[NDArray[np.int64], Contrasts]]:
        """Yield blocks of active arms, and their comparisons with all active arms.

        A block is an array of positions in ``active``. Blocks save memory, because a
        comparison of all arms at once would need as much memory again as the sums of
        products.

        Parameters
        ----------
        active : ndarray of int, shape (k,)
        unseen : float
            Share of all instances that are not evaluated at ``depth``.
        depth : int
            Number of instances for standard errors: the current number, or a larger one
            for a forecast.
        tolerances : ndarray, shape (D,)
        cost_tolerance : CostTolerance
        """
        n = self.depth
        means = self.rewards[active] / n
        products = self._reward_products[:, active[:, None], active].transpose(1, 2, 0)
        squares = np.einsum("aad->ad", products)
        scale = sqrt(unseen / (depth * n))

        step = max(1, BLOCK // max(1, means.size))
        for start in range(0, len(active), step):
            rows = np.arange(start, min(start + step, len(active)))
            above = means - means[rows, None]
            scatter = squares + squares[rows, None] - 2 * products[rows] - n * above**2
            error = scale * np.sqrt(np.maximum(scatter, LEAST_SCATTER) + PRIOR_VARIANCE)
            contrasts = Contrasts(
                above=above,
                above_error=error,
                within=above + tolerances,
                within_error=error,
                beyond=above - tolerances,
                varies=np.ones(above.shape),
            )
            if self.compares_cost:
                margin = self._compare_costs(active, rows, scale, cost_tolerance)
                contrasts = _append_cost(contrasts, margin)
            yield rows, contrasts

    def _compare_costs(
        self,
        active: NDArray[np.int64],
        rows: NDArray[np.int64],
        scale: float,
        tolerance: CostTolerance,
    ) -> CostMargin:
        """Compare the costs of a block of arms with all active arms, shape (b, k)."""
        n = self.depth
        means = self.costs[active] / n
        products = self._cost_products[np.ix_(active[rows], active)]
        squares = np.diag(self._cost_products)[active]
        scatter = np.maximum(squares - n * means**2, 0.0)
        differences = means - means[rows, None]
        scatter_of_pairs = (
            squares + squares[rows, None] - 2 * products - n * differences**2
        )
        return compare_costs(
            means[rows, None],
            means,
            scatter[rows, None],
            scatter,
            scatter_of_pairs,
            n,
            scale,
            tolerance.share,
            tolerance.amount,
        )


def _append_cost(scores: Contrasts, cost: CostMargin) -> Contrasts:
    """Append the cost as the last compared quantity."""
    columns = Contrasts(
        above=cost.cheaper,
        above_error=cost.cheaper_error,
        within=cost.within,
        within_error=cost.within_error,
        beyond=cost.within,
        varies=cost.varies,
    )
    return Contrasts(
        *(
            np.concatenate([score, column[..., None]], axis=-1)
            for score, column in zip(scores, columns, strict=True)
        )
    )
