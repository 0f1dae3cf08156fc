"""Means of tables like one that was drawn: the Bayesian bootstrap over instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobandit import _validation
from cobandit.stats import evaluations as dense
from cobandit.stats.evaluations import Evaluations, Floats

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


def redraw_means(table: EvaluationTable, replications: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
    r"""Means of tables like this one, by the Bayesian bootstrap over instances.

    .. math::

        \mu_i^{(r)} = \sum_{s \in S_i} w_s^{(r)} x_{is} \Big/ \sum_{s \in S_i} w_s^{(r)},
        \qquad w_s^{(r)} \sim \mathrm{Exp}(1),

    with one weight per instance, or per cluster of instances, the same for every configuration and objective
    (Rubin, Annals of Statistics 9, 1981).  Weights are never zero, so a configuration that has few instances
    is not lost in a redraw.
    Where evaluations are missing, means are adjusted to all instances, and so are those of redraws, to first
    order in the weights (`cobandit.tables.adjusted.AdjustedMeans.redraw`).

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
    replications = _validation.count(replications, "replications", 1)
    rng, evaluations = np.random.default_rng(_validation.seed(seed)), Evaluations(table)
    result = np.empty((len(evaluations.values), replications, table.n_arms))
    for drawn in dense.cut_runs(np.arange(replications), dense.BLOCK_SIZE // evaluations.n_instances):
        weights = rng.standard_exponential((len(drawn), evaluations.n_units))[:, evaluations.unit]
        if not table.is_complete:
            for effects, mean in zip(table.effects, result, strict=True):
                mean[drawn] = effects.redraw(weights[:, evaluations.present])
            continue
        for arms in evaluations.blocks(np.arange(table.n_arms)):
            values, present = evaluations.block(arms)
            totals = weights @ present.T.astype(float)
            for column, mean in zip(values, result, strict=True):
                mean[drawn, arms[0] : arms[-1] + 1] = weights @ column.T / totals
    scores = result[:-1] if table.is_complete else result[:-1].clip(0, 1)
    return np.moveaxis(scores, 0, -1), result[-1]
