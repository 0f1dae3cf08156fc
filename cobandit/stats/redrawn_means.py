"""Bootstrap replicates of the means of a table (Bayesian bootstrap)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobandit import _validation
from cobandit.stats import evaluations as dense
from cobandit.stats.evaluations import Evaluations, Floats

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def redraw_means(
    table: EvaluationTable, replications: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    r"""Return bootstrap replicates of a table's means (Bayesian bootstrap).

    .. math::

        \mu_i^{(r)} = \sum_{s \in S_i} w_s^{(r)} x_{is}
            \Big/ \sum_{s \in S_i} w_s^{(r)}, \qquad w_s^{(r)} \sim \mathrm{Exp}(1),

    Here :math:`S_i` are the instances with an evaluation of configuration i. Each
    instance, or each cluster of instances, has one weight, the same for every
    configuration and objective (Rubin, Annals of Statistics 9, 1981). Weights are never
    zero, so a configuration with few instances has a mean in every replicate. If
    evaluations are missing, replicates are adjusted to all instances like the means
    themselves, to first order in the weights
    (`cobandit.tables.adjusted.AdjustedMeans.redraw`).

    Parameters
    ----------
    table : EvaluationTable
        Table of which both splits are used.
    replications : int
        Number of replicates, R.
    seed : int

    Returns
    -------
    means : ndarray, shape (R, K, D)
        Replicates of the mean objectives.
    costs : ndarray, shape (R, K)
        Replicates of the mean costs, in the unit of the table.

    Notes
    -----
    Time O(R K I D) for I distinct instances, by matrix products; memory O(R K D). If
    all scores of a configuration are equal, its replicates have no variance.

    Examples
    --------
    >>> import cobandit as cb
    >>> means, costs = redraw_means(cb.load("synthetic-24"), replications=500)
    >>> means.shape
    (500, 24, 2)
    >>> means[:, 0].std(axis=0).round(2)  # first configuration
    array([0.02, 0.  ])
    """
    replications = _validation.count(replications, "replications", 1)
    rng = np.random.default_rng(_validation.seed(seed))
    evaluations = Evaluations(table)
    means = np.empty((len(evaluations.values), replications, table.n_arms))

    # process as many replicates at a time as fit into a block
    n_at_once = dense.BLOCK_SIZE // evaluations.n_instances
    for block in dense.cut_runs(np.arange(replications), n_at_once):
        unit_weights = rng.standard_exponential((len(block), evaluations.n_units))
        weights = unit_weights[:, evaluations.unit]
        if table.is_complete:
            _redraw_complete(evaluations, weights, means[:, block[0] : block[-1] + 1])
        else:
            for effects, mean in zip(table.effects, means, strict=True):
                mean[block] = effects.redraw(weights[:, evaluations.present])

    # adjusted means may leave the range of scores
    scores = means[:-1] if table.is_complete else means[:-1].clip(0, 1)
    return np.moveaxis(scores, 0, -1), means[-1]


def _redraw_complete(evaluations: Evaluations, weights: Floats, means: Floats) -> None:
    """Fill ``means``, shape (D + 1, r, K), with weighted means over instances."""
    for arms in evaluations.blocks(np.arange(means.shape[2])):
        values, present = evaluations.block(arms)
        totals = weights @ present.T.astype(float)
        for column, mean in zip(values, means, strict=True):
            mean[:, arms[0] : arms[-1] + 1] = weights @ column.T / totals
