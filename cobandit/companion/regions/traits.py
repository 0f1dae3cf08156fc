"""The properties of a problem by which the map of regions places it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cobandit import _check
from cobandit.problem import Problem

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


class Traits(NamedTuple):
    """What is known of a problem before any method runs on it.

    ``cost_ratio`` is the largest over the smallest mean cost, ``dependence`` Spearman's rank correlation of
    mean cost and hypervolume: 1 if better arms always cost more.  ``rho``, evaluations per configuration,
    is the budget.
    """

    cost_ratio: float
    dependence: float
    n_arms: int
    rho: float


def traits(problem: Problem | EvaluationTable, rho: float) -> Traits:
    """Properties of a problem, or of a table, by which its place on the map is found.

    Parameters
    ----------
    problem : Problem or EvaluationTable
        Of a table the truth of its replays.
    rho : float
        Budget over the cost of one evaluation of each arm.

    Returns
    -------
    Traits
        Without differences in cost or in hypervolume the dependence is 0.

    Examples
    --------
    >>> traits(Problem([[0.2], [0.4], [0.8]], [1.0, 2.0, 4.0]), rho=10)
    Traits(cost_ratio=4.0, dependence=1.0, n_arms=3, rho=10.0)
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    problem = problem if isinstance(problem, Problem) else problem.problem
    costs, quality = problem.costs, problem.hypervolume
    flat = np.ptp(costs) == 0 or np.ptp(quality) == 0
    dependence = 0.0 if flat else float(stats.spearmanr(costs, quality).statistic)
    ratio = float(costs.max() / costs.min())
    return Traits(ratio, dependence, problem.n_arms, _check.positive(rho, "rho"))
