"""Random problems with a chosen spread of costs and a chosen dependence between cost and quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cobandit import _check
from cobandit.companion.regions.arms import Arms, designed_arms
from cobandit.errors import CobanditError
from cobandit.problem import Problem, hypervolume
from cobandit.replay.grid import Source
from cobandit.replay.kernels import Table

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Outcomes of an arm: mean rewards are multiples of one over it.
GRAIN = 100
#: A single evaluation costs this share less or more than the mean of its arm.
SPREAD = 0.5


class Traits(NamedTuple):
    """What is known of a problem before any method runs on it.

    ``cost_ratio`` is the largest over the smallest mean cost, ``dependence`` Spearman's rank correlation of
    mean cost and hypervolume: 1 if better arms are always dearer.  ``rho``, evaluations per configuration,
    is the budget.
    """

    cost_ratio: float
    dependence: float
    n_arms: int
    rho: float


def traits(problem: Problem | EvaluationTable, rho: float) -> Traits:
    """Properties of a problem, or of a table, by which `advise` finds its region.

    Parameters
    ----------
    problem : Problem or EvaluationTable
        Of a table the truth of its replays: means of the evaluation split, profiling mean costs.
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


def random_arms(
    number: int,
    n_arms: int,
    cost_ratio: float,
    dependence: float,
    *,
    n_objectives: int = 2,
    seed: int = 0,
) -> Arms:
    r"""Bernoulli arms with uniform means, whose costs are dealt out in a chosen order of quality.

    The means depend on ``number`` and the shape only, so that problems of one number differ in nothing but
    their costs.  Mean costs are evenly spread in the logarithm; the arm of rank k in

    .. math:: \tau\, q_i + \sqrt{1 - \tau^2}\, \varepsilon_i

    gets the k-th cheapest, q being the normal scores of the hypervolumes and :math:`\varepsilon` standard
    normal: at :math:`\tau = \pm 1` the order of costs is that of quality or its reverse, in between the
    expected rank correlation is :math:`\frac6\pi \arcsin\frac\tau2`.

    Parameters
    ----------
    number, seed : int
        They name the problem.
    n_arms, n_objectives : int
        K and D.
    cost_ratio : float
        Largest over smallest mean cost, >= 1.
    dependence : float
        :math:`\tau` in [-1, 1].

    Returns
    -------
    Arms
        Single evaluations cost half or one and a half times the mean; the largest single cost is 1.

    Raises
    ------
    CobanditError
        If an argument is out of range.

    Examples
    --------
    >>> dear, cheap = (random_arms(0, 8, 10.0, tau).problem for tau in (1, -1))
    >>> traits(dear, 1).dependence, traits(cheap, 1).dependence, bool((dear.means == cheap.means).all())
    (1.0, -1.0, True)
    """
    from scipy import stats

    n_arms, n_objectives = _check.count(n_arms, "n_arms", 2), _check.count(n_objectives, "n_objectives", 1)
    if not abs(dependence) <= 1:
        raise CobanditError(f"dependence is {dependence}: a number in [-1, 1] is needed")
    if not _check.positive(cost_ratio, "cost_ratio") >= 1:
        raise CobanditError(f"cost_ratio is {cost_ratio}: the largest over the smallest cost is at least 1")
    rng = np.random.default_rng([_check.seed(seed), number, n_arms, n_objectives])
    means = rng.integers(5, 96, (n_arms, n_objectives)) / GRAIN
    noise = rng.standard_normal(n_arms)
    ranks = stats.rankdata(hypervolume(means), method="ordinal")
    latent = dependence * stats.norm.ppf(ranks / (n_arms + 1)) + np.sqrt(1 - dependence**2) * noise
    costs = np.empty(n_arms)
    costs[np.argsort(latent)] = np.geomspace(1 / cost_ratio, 1, n_arms) / (1 + SPREAD)
    return designed_arms(means, costs, spread=SPREAD, grain=GRAIN)


def source_of(arms: Arms) -> Source:
    """Pack arms as the replays take them; what a policy may know of the costs is exact.

    Examples
    --------
    >>> source_of(random_arms(0, 8, 10.0, 0.5)).cost_range[1]
    1.0
    """
    costs = arms.rows[:, :1]
    rows = np.ascontiguousarray(np.hstack([costs, costs / costs.max(), arms.rows[:, 1:]]))
    problem = arms.problem
    return Source(Table(rows, arms.offsets), problem, problem.costs, (arms.cost_ratio, float(costs.max())))
