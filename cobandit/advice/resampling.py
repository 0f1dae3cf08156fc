"""What another set of instances would have said: the same new weights on the instances for every arm.

An evaluation table is one draw of instances.  Configurations share them, so their means err together, and
whatever compares configurations has to redraw instances, not rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobandit import _check

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Numbers held at once by a block of arms or of weights: 128 MB.
BLOCK = 2**24


class Evaluations:
    """All rows of a table, both splits, as dense blocks of arms: small in memory however large the table is.

    Parameters
    ----------
    table : EvaluationTable

    Attributes
    ----------
    n_instances : int
        Number of distinct instances, I.
    counts : ndarray of int, shape (K,)
        Instances of each arm.
    arm, instance : ndarray of int, shape (N,)
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
        self.arm = rows["config"].cat.codes.to_numpy()
        self.instance = rows["instance"].cat.codes.to_numpy()
        self.values = [rows[name].to_numpy() for name in (*table.objectives, "cost")]
        self.counts = table.n_instances
        self.offsets = np.concatenate(([0], np.cumsum(self.counts)))
        self.n_instances = int(self.instance.max()) + 1

    def block(self, arms: NDArray[np.int64] | list[int]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
            for column, whole in zip(values, self.values, strict=True):
                column[k, self.instance[rows]] = whole[rows]
        return values, present

    def costs_of(self, arm: int) -> NDArray[np.float64]:
        """Costs of an arm's evaluations, by instance."""
        costs: NDArray[np.float64] = self.values[-1][self.offsets[arm] : self.offsets[arm + 1]]
        return costs

    def blocks(self, arms: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Cut arms into runs of which each makes a block of about `BLOCK` numbers."""
        width = max(1, BLOCK // (len(self.values) * self.n_instances))
        return (arms[start : start + width] for start in range(0, len(arms), width))


def redraws(
    table: EvaluationTable, replications: int = 1000, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
    >>> means, costs = redraws(cb.load("synthetic-24"), replications=500)
    >>> means.shape, means[:, 0].std(axis=0).round(2)  # spread of the first configuration's means
    ((500, 24, 2), array([0.02, 0.  ]))
    """
    replications = _check.count(replications, "replications", 1)
    rng, evaluations = np.random.default_rng(_check.seed(seed)), Evaluations(table)
    result = np.empty((len(evaluations.values), replications, table.n_arms))
    chunk = max(1, BLOCK // evaluations.n_instances)
    for start in range(0, replications, chunk):
        drawn = slice(start, min(start + chunk, replications))
        weights = rng.standard_exponential((drawn.stop - drawn.start, evaluations.n_instances))
        for arms in evaluations.blocks(np.arange(table.n_arms)):
            values, present = evaluations.block(arms)
            totals = weights @ present.T.astype(float)
            for column, mean in zip(values, result, strict=True):
                mean[drawn, arms[0] : arms[-1] + 1] = weights @ column.T / totals
    return np.moveaxis(result[:-1], 0, -1), result[-1]
