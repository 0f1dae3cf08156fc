"""Bandit problems whose true means are known: designed, random, or from a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _budget, _validation
from cobandit.errors import CobanditError
from cobandit.policies.registry import Spec
from cobandit.problem import Problem, hypervolume
from cobandit.replay.grid import GridCell, Source, play_cell
from cobandit.replay.kernels import FeedbackRows
from cobandit.replay.running import Runs

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


#: In designed problems, means and shares of expensive pulls are multiples of
#: 1 / `LEVELS`.
LEVELS = 20

#: Number of outcomes of a random arm. Mean rewards are multiples of 1 / `GRAIN`.
GRAIN = 100
#: Relative deviation of a single cost of a random arm from the arm's mean cost.
SPREAD = 0.5


class Arms(NamedTuple):
    """Arms with finitely many, equally likely outcomes, so that true means are known.

    Each row of ``rows`` (N, D + 1) has the cost and the rewards of one outcome. The
    rows of arm i are ``offsets[i]`` to ``offsets[i + 1]``. Costs are at least
    ``cost_ratio`` and at most 1.
    """

    rows: NDArray[np.float64]
    offsets: NDArray[np.int64]
    cost_ratio: float

    @property
    def problem(self) -> Problem:
        """The problem with the true mean rewards and mean costs."""
        means = np.array(
            [
                outcomes.mean(axis=0)
                for outcomes in np.split(self.rows, self.offsets[1:-1])
            ]
        )
        return Problem(means[:, 1:], means[:, 0])


def arms_of_outcomes(
    rows: Sequence[ArrayLike], cost_ratio: float | None = None
) -> Arms:
    """Return arms with the given, equally likely outcomes.

    Parameters
    ----------
    rows : sequence of array_like, shape (n_i, D + 1)
        One array per arm, with the cost and the rewards of an outcome in each row.
    cost_ratio : float, optional
        lambda. Default: the smallest cost.

    Returns
    -------
    Arms

    Raises
    ------
    CobanditError
        If a cost is outside of [lambda, 1].

    Examples
    --------
    >>> arms = arms_of_outcomes([[[0.5, 1.0], [1.0, 0.0]], [[1.0, 1.0]]])
    >>> arms.problem.efficiency.round(3)
    array([0.667, 1.   ])
    """
    arrays = [np.asarray(outcomes, dtype=np.float64) for outcomes in rows]
    all_rows = np.concatenate(arrays)
    lowest = float(all_rows[:, 0].min())
    highest = float(all_rows[:, 0].max())
    cost_ratio = (
        lowest
        if cost_ratio is None
        else _validation.positive(cost_ratio, "cost_ratio", 1.0)
    )
    if (
        lowest <= 0
        or _budget.add_slack(lowest) < cost_ratio
        or highest > _budget.add_slack(1.0)
    ):
        raise CobanditError(
            f"costs range from {lowest:g} to {highest:g}; they must be in"
            f" [{cost_ratio:g}, 1]",
            argument="costs",
            code="out-of-range",
        )

    return Arms(all_rows, np.cumsum([0, *map(len, arrays)]), cost_ratio)


def count_ones(means: ArrayLike, grain: int) -> NDArray[np.int64]:
    """Return, for each mean, the number of ones among ``grain`` binary outcomes.

    Examples
    --------
    >>> count_ones([0.75, 0.5], 20)
    array([15, 10])
    """
    scaled = np.asarray(means) * grain
    ones = np.rint(scaled).astype(np.int64)
    if (np.abs(ones - scaled) > 1e-6).any() or ones.min() < 0 or ones.max() > grain:
        raise CobanditError(
            f"means and shares must be multiples of 1/{grain} in [0, 1]",
            argument="means",
            code="not-multiples",
        )
    return ones


def designed_arms(
    means: ArrayLike, costs: ArrayLike, *, spread: float = 0.0, grain: int = 400
) -> Arms:
    """Return arms with binary rewards of given means, and two costs per arm.

    The two costs of an arm are equally likely.

    Parameters
    ----------
    means : array_like, shape (K, D)
        Multiples of 1 / ``grain``.
    costs : array_like, shape (K,)
        Mean costs. A pull costs ``(1 - spread)`` or ``(1 + spread)`` times the mean,
        and must not cost more than 1.
    spread : float
        In [0, 1).
    grain : int
        Number of outcomes of an arm, even. Objectives and cost are shuffled
        independently, with a fixed seed.

    Returns
    -------
    Arms

    Raises
    ------
    CobanditError
        If a mean is not a multiple of 1 / ``grain`` in [0, 1], or a cost is above one.

    Examples
    --------
    >>> arms = designed_arms([[0.75], [0.5]], [0.8, 0.4], spread=0.25)
    >>> arms.problem.means.ravel(), arms.problem.costs.round(9)
    (array([0.75, 0.5 ]), array([0.8, 0.4]))
    """
    means = _validation.means(means)
    costs = _validation.costs(costs, n_arms=len(means))
    ones = count_ones(means, grain)
    rng = np.random.default_rng(0)
    rows = []
    for arm, mean_cost in enumerate(costs):
        cost = mean_cost * np.where(np.arange(grain) % 2, 1 - spread, 1 + spread)
        rows.append(
            np.column_stack([cost, *(rng.permutation(grain) < k for k in ones[arm])])
        )
    return arms_of_outcomes(rows)


def two_arms(n_objectives: int, cost_ratio: float, gap: float) -> Arms:
    r"""Return two arms with a given efficiency gap, whose pulls cost lambda or 1.

    The two costs are equally likely. The best arm has the mean 3/4 in every objective.
    The other arm has a lower mean in the first objective.

    Parameters
    ----------
    n_objectives : int
        D >= 1.
    cost_ratio : float
        lambda in (0, 1].
    gap : float
        :math:`\Delta`, up to the rounding of the lower mean to a multiple of 1/400.

    Returns
    -------
    Arms

    Raises
    ------
    CobanditError
        If no mean in [0, 1] gives the gap.

    Examples
    --------
    >>> two_arms(2, 0.5, 0.5).problem.efficiency_gaps
    array([0. , 0.5])
    """
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    mean_cost = (1 + _validation.positive(cost_ratio, "cost_ratio", 1.0)) / 2
    gap = _validation.positive(gap, "gap")

    # the gap of efficiencies is the difference of first means times the other means
    lower = 0.75 - gap * mean_cost / 0.75 ** (n_objectives - 1)
    lower = round(lower * 400) / 400
    means = [[0.75] * n_objectives, [lower] + [0.75] * (n_objectives - 1)]
    return designed_arms(
        means, [mean_cost] * 2, spread=(1 - cost_ratio) / (1 + cost_ratio)
    )


def arms_of_table(table: EvaluationTable) -> Arms:
    """Return arms whose outcomes are the rows of a table's evaluation split.

    Costs are divided by the largest cost of the split. As the theorems assume, feedback
    is drawn from the same split on which true mean costs and the range of costs are
    computed. In a replay, mean costs and range come from the profiling split.

    Parameters
    ----------
    table : EvaluationTable

    Returns
    -------
    Arms

    Examples
    --------
    >>> import cobandit as cb
    >>> arms_of_table(cb.load("synthetic-24")).problem
    Problem(24 arms, 2 objectives, best arm '21')
    """
    feedback = table.feedback
    rows = np.column_stack([feedback.costs / feedback.costs.max(), feedback.rewards])
    return arms_of_outcomes(np.split(rows, feedback.offsets[1:-1]))


def random_arms(
    number: int,
    n_arms: int,
    cost_ratio: float,
    dependence: float,
    *,
    n_objectives: int = 2,
    seed: int = 0,
) -> Arms:
    r"""Draw Bernoulli arms with uniform means, and costs that correlate with quality.

    The means depend only on the seed, ``number``, K and D, so problems with the same
    number differ only in their costs. The logarithms of mean costs are evenly spaced.
    Arms are ranked by

    .. math:: \tau\, q_i + \sqrt{1 - \tau^2}\, \varepsilon_i

    and the arm of rank k has the k-th smallest cost. Here q are the normal scores of
    the hypervolumes, and :math:`\varepsilon` is standard normal. At :math:`\tau = 1`,
    costs and hypervolumes have the same order, at :math:`\tau = -1` the reverse order.
    In general, their expected rank correlation is :math:`\frac6\pi
    \arcsin\frac\tau2`.

    Parameters
    ----------
    number, seed : int
        Number of the problem, and seed of all problems.
    n_arms, n_objectives : int
        K and D.
    cost_ratio : float
        Largest over smallest mean cost, >= 1.
    dependence : float
        :math:`\tau` in [-1, 1].

    Returns
    -------
    Arms
        A pull costs half of the mean cost, or one and a half times the mean cost. The
        largest cost of a pull is 1.

    Examples
    --------
    >>> rising, falling = (random_arms(0, 8, 10.0, tau).problem for tau in (1, -1))
    >>> order = np.argsort(rising.hypervolume)
    >>> bool((np.diff(rising.costs[order]) > 0).all())
    True
    >>> bool((np.diff(falling.costs[order]) < 0).all())
    True
    """
    from scipy import stats  # slow to import

    n_arms = _validation.count(n_arms, "n_arms", 2)
    n_objectives = _validation.count(n_objectives, "n_objectives", 1)
    rng = np.random.default_rng([_validation.seed(seed), number, n_arms, n_objectives])
    means = rng.integers(5, 96, (n_arms, n_objectives)) / GRAIN
    noise = rng.standard_normal(n_arms)
    ranks = stats.rankdata(hypervolume(means), method="ordinal")
    latent = (
        dependence * stats.norm.ppf(ranks / (n_arms + 1))
        + sqrt(1 - dependence**2) * noise
    )
    costs = np.empty(n_arms)
    costs[np.argsort(latent)] = np.geomspace(1 / cost_ratio, 1, n_arms) / (1 + SPREAD)
    return designed_arms(means, costs, spread=SPREAD, grain=GRAIN)


def share_instances(
    rewards: NDArray[np.float64], charges: NDArray[np.float64]
) -> FeedbackRows:
    """Return feedback for replays in which arms share instances and evaluate them once.

    ``rewards`` has the shape (K, N, D). ``charges`` has the costs, and broadcasts to
    (K, N).

    Examples
    --------
    >>> share_instances(np.ones((2, 3, 1)), np.ones((2, 1))).rows.shape
    (6, 3)
    """
    K, N, D = rewards.shape
    costs = np.broadcast_to(charges, (K, N))[..., None]
    rows = np.concatenate([costs, costs / costs.max(), rewards], axis=2).reshape(
        -1, D + 2
    )
    return FeedbackRows(rows, N * np.arange(K + 1), once=True)


def feedback_source(arms: Arms) -> Source:
    """Return a source of replays that draws feedback from the outcomes of arms.

    Methods receive the true mean costs.

    Examples
    --------
    >>> feedback_source(random_arms(0, 8, 10.0, 0.5)).cost_range[1]
    1.0
    """
    costs = arms.rows[:, :1]
    problem = arms.problem
    highest = float(costs.max())
    rows = np.ascontiguousarray(np.hstack([costs, costs / highest, arms.rows[:, 1:]]))
    return Source(
        FeedbackRows(rows, arms.offsets),
        problem,
        problem.costs,
        (arms.cost_ratio, highest),
    )


def play_on(
    source: Source,
    method: Spec,
    budget: float,
    streams: NDArray[np.int64],
    seed: int,
    realised: bool = True,
) -> Runs:
    """Run a method once per random stream.

    Parameters
    ----------
    source : Source
        Such as the result of `feedback_source`.
    method : Spec
    budget : float
        Budget in the unit of the costs.
    streams : ndarray of int, shape (R,)
        Numbers of the random streams.
    seed : int
    realised : bool
        Whether pulls are charged realised costs, instead of mean costs.

    Raises
    ------
    BudgetError
        If the budget is too small for the method.

    Examples
    --------
    >>> from cobandit import spec
    >>> source = feedback_source(two_arms(1, 1.0, 0.5))
    >>> play_on(source, spec("UniformAllocation"), 10.0, np.arange(1), seed=0).pulls
    array([[5, 5]])
    """
    cell = GridCell(method, budget / float(source.costs.sum()), budget, streams, seed)
    return play_cell(source, cell, realised=realised)
