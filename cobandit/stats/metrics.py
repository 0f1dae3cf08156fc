"""Regrets, recovery scores and the intervals around them (paper, Section 3 and Appendix A)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import scipy  # which loads its parts when they are first asked for
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.dominance import margins
from cobandit.errors import CobanditError
from cobandit.policies.cost_comparison import find_affordable
from cobandit.problem import Problem

#: Standard errors on either side of a mean in a 95 % interval of the normal
#: distribution.
NORMAL = 1.96
#: Resamples of a bootstrap.
RESAMPLES = 2000
#: Confidence level of every interval.
CONFIDENCE = 0.95
#: Replications up to which the shares of resamples are kept: `RESAMPLES` of so many
#: take 32 megabytes.
LARGEST_SHARED = 2000


def efficiency_regret(problem: Problem, pulls: ArrayLike) -> NDArray[np.float64]:
    r"""Hypervolume-efficiency regret :math:`R_B^{HV} = \sum_i \Delta_i n_i` of runs (Section 3.1).

    Parameters
    ----------
    problem : Problem
    pulls : array_like of int, shape (..., K)
        Pulls of each arm.

    Returns
    -------
    ndarray, shape (...)
        In the unit of hypervolume per unit of the problem's costs.

    Examples
    --------
    >>> efficiency_regret(Problem([[0.5], [0.25]], [1.0, 1.0]), [3, 4])
    np.float64(1.0)
    """
    return np.asarray(pulls) @ problem.efficiency_gaps


def standard_regret(
    problem: Problem, pulls: ArrayLike, budget: float
) -> NDArray[np.float64]:
    r"""Compute the standard regret :math:`\nu_{i^\star} B - \sum_i H_i n_i`.

    The optimum :math:`R_B^\star` of Section 3.1 is taken as the fluid benchmark
    :math:`\nu_{i^\star} B`.

    Parameters
    ----------
    problem : Problem
    pulls : array_like of int, shape (..., K)
        Pulls of each arm.
    budget : float
        B in the unit of the problem's costs.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> standard_regret(Problem([[0.5], [0.25]], [1.0, 1.0]), [3, 4], budget=7)
    np.float64(1.0)
    """
    optimum = problem.efficiency.max() * _validation.positive(budget, "budget")
    return optimum - np.asarray(pulls) @ problem.hypervolume


def moving_average(gaps: ArrayLike, window: int = 50) -> NDArray[np.float64]:
    """Mean of the last ``window`` entries up to each one (Appendix A; the paper takes 50).

    Parameters
    ----------
    gaps : array_like, shape (T,)
        Efficiency gap of each pull.
    window : int
        w >= 1.

    Returns
    -------
    ndarray, shape (T,)

    Examples
    --------
    >>> moving_average([1.0, 2.0, 6.0], window=2)
    array([1. , 1.5, 4. ])
    """
    gaps = pd.Series(_validation.numbers(gaps, "gaps", 1))
    return (
        gaps.rolling(_validation.count(window, "window", 1), min_periods=1)
        .mean()
        .to_numpy()
    )


def f1_score(returned: ArrayLike, truth: ArrayLike) -> NDArray[np.float64]:
    r"""F1 of returned sets, :math:`2 |\hat P \cap P^\star| / (|\hat P| + |P^\star|)` (Appendix A).

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    truth : array_like of bool, shape (K,)

    Returns
    -------
    ndarray, shape (...)
        1 exactly where the sets agree.

    Examples
    --------
    >>> f1_score([True, True, False], [True, False, False]).round(3)
    np.float64(0.667)
    """
    returned, truth = np.asarray(returned, dtype=bool), np.asarray(truth, dtype=bool)
    if returned.shape[-1:] != truth.shape:
        raise CobanditError(
            f"returned {returned.shape} and truth {truth.shape} are not about the same"
            " arms"
        )
    return 2 * (returned & truth).sum(axis=-1) / (returned.sum(axis=-1) + truth.sum())


def cover(
    returned: ArrayLike, means: ArrayLike, affordable: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""How far the worst arm is from being covered: :math:`\max_i \min_{j \in \hat P} M(i, j)^+`.

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    means : array_like, shape (K, D)
    affordable : array_like of bool, shape (K, K), optional
        Whether j may stand for i by its cost, as [i, j]; by default costs do not
        matter.

    Returns
    -------
    ndarray, shape (...)
        0 where every arm is returned or below one that is; infinite where nothing is
        returned that may stand for an arm.

    Examples
    --------
    >>> cover([[True, False], [False, True]], [[0.5, 0.5], [0.25, 0.75]])
    array([0.25, 0.25])
    """
    apart = margins(means)[1]
    if affordable is not None:
        apart = np.where(affordable, apart, np.inf)
    covered = [
        apart[:, mask].min(axis=1, initial=np.inf).max()
        for mask in np.atleast_2d(returned)
    ]
    return np.maximum(covered, 0.0).reshape(np.shape(returned)[:-1])


def excess(
    returned: ArrayLike, means: ArrayLike, affordable: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""By how much the worst returned arm is dominated: :math:`\max_{i \in \hat P} \max_j m(i, j)^+`.

    Parameters
    ----------
    returned : array_like of bool, shape (..., K)
    means : array_like, shape (K, D)
    affordable : array_like of bool, shape (K, K), optional
        As in `cover`: only such a j dominates i.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> excess([[True, False], [True, True]], [[0.5, 0.5], [0.25, 0.375]])
    array([0.   , 0.125])
    """
    by = margins(means)[0]
    if affordable is not None:
        by = np.where(affordable, by, 0.0)
    by = np.maximum(by.max(axis=1), 0.0)
    worst: NDArray[np.float64] = np.where(returned, by, 0.0).max(axis=-1)
    return worst


def beyond_tolerance(
    returned: ArrayLike,
    means: ArrayLike,
    tolerance: float,
    costs: ArrayLike | None = None,
    cost_tolerance: float | str = 0.0,
) -> NDArray[np.float64]:
    r"""Compute how far a returned set is from what a race with a tolerance promises.

    The promise of `cobandit.ParetoRace` is that every arm is covered within
    :math:`\tau`, that none that is returned is dominated by more than :math:`\tau` by
    another one that is, and by more than :math:`2 \tau` by any.  If it compares costs,
    an arm is only covered by one whose cost is within the tolerance of costs, and only
    dominated by one that costs no more.

    Parameters
    ----------
    returned : array_like of bool, shape (R, K)
    means : array_like, shape (K, D)
    tolerance : float
        :math:`\tau`, the same for all objectives.
    costs : array_like, shape (K,), optional
        Mean costs, if they are compared.
    cost_tolerance : float or str
        As of `cobandit.ParetoRace`.

    Returns
    -------
    ndarray, shape (R,)
        By how much the most violated of the three is exceeded, 0 where none is;
        infinite where an arm is not covered at its cost, however good what is returned.

    Examples
    --------
    >>> means = [[0.5, 0.5], [0.53, 0.53]]
    >>> beyond_tolerance([[True, False], [True, True]], means, 0.02).round(3)
    array([0.01, 0.01])
    """
    masks = np.asarray(returned, dtype=np.bool_)
    dominated_by = margins(means)[0]
    near = no_dearer = None
    if costs is not None:
        near = find_affordable(costs, cost_tolerance)
        no_dearer = find_affordable(costs)
        dominated_by = np.where(no_dearer, dominated_by, 0.0)

    among = np.array(
        [dominated_by[np.ix_(mask, mask)].max(initial=0.0) for mask in masks]
    )
    uncovered = cover(masks, means, near) - tolerance
    dominated = np.maximum(
        among - tolerance, excess(masks, means, no_dearer) - 2 * tolerance
    )
    beyond: NDArray[np.float64] = np.maximum(np.maximum(uncovered, dominated), 0.0)
    return beyond


@lru_cache(maxsize=4)
def _shares(n: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(0).integers(0, n, (RESAMPLES, n))
    return np.stack([np.bincount(row, minlength=n) for row in drawn]) / n


def resampled_means(values: ArrayLike) -> NDArray[np.float64]:
    """Means of bootstrap resamples of replications.

    Values of the same replications are resampled alike, so that differences of such
    means are those of paired resamples, and the shares of the replications are drawn
    once for all that is summarised.

    Parameters
    ----------
    values : array_like, shape (R,)

    Returns
    -------
    array, shape (RESAMPLES,)

    Examples
    --------
    >>> resampled_means([1.0, 3.0])[:4].tolist()
    [3.0, 2.0, 1.0, 1.0]
    """
    values = _validation.numbers(values, "values", 1)
    n = len(values)
    if n <= LARGEST_SHARED:
        return _shares(n) @ values
    rng = np.random.default_rng(0)
    return np.array([values[rng.integers(0, n, n)].mean() for _ in range(RESAMPLES)])


def mean_interval(values: ArrayLike) -> tuple[float, float]:
    """Bootstrap percentile interval (95 %) of a mean over independent replications.

    Parameters
    ----------
    values : array_like, shape (R,)

    Returns
    -------
    low, high : float
        The value itself where all are equal.

    Examples
    --------
    >>> mean_interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    values = _validation.numbers(values, "values", 1)
    if not len(values):
        raise CobanditError("values are empty: an interval needs at least one")
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(resampled_means(values), [tail, 100.0 - tail])
    return float(low), float(high)


def proportion_interval(successes: int, trials: int) -> tuple[float, float]:
    """Wilson interval (95 %) of a proportion.

    Parameters
    ----------
    successes, trials : int

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = proportion_interval(2, 500)
    >>> round(low, 4), round(high, 4)
    (0.0011, 0.0145)
    """
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(
        CONFIDENCE, method="wilson"
    )
    return float(interval.low), float(interval.high)


def cells(
    runs: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], NDArray[np.intp]]]:
    """Where the rows of each cell of a replay's grid stand, in the order in which the cells appear.

    Cutting arrays by position takes a fraction of the time of cutting the frame.

    Parameters
    ----------
    runs : DataFrame
    by : sequence of str
        Columns that make a cell.

    Yields
    ------
    cell : tuple
        Values of ``by``.
    rows : ndarray of int
        Positions in ``runs``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["A", "B", "A"], "rho": 2})
    >>> [(cell, rows.tolist()) for cell, rows in cells(runs, ["method", "rho"])]
    [(('A', 2), [0, 2]), (('B', 2), [1])]
    """
    positions = pd.Series(np.arange(len(runs)), runs.index)
    for cell, rows in positions.groupby([runs[name] for name in by], sort=False):
        yield cell, rows.to_numpy()


def summarise(
    runs: pd.DataFrame, column: str, by: tuple[str, ...] = ("method", "options", "rho")
) -> pd.DataFrame:
    """Mean and 95 % interval of one column of a replay, one row per cell of the grid.

    Proportions (boolean columns) get Wilson intervals, means bootstrap percentile
    intervals over replications.  Infeasible runs are left out; a cell without any other
    is NaN.

    Parameters
    ----------
    runs : DataFrame
        From `replay_online` or `replay_identification`.
    column : str
        Such as ``"efficiency_regret"``, ``"f1"`` or ``"correct"``.
    by : tuple of str
        Columns that make a cell.

    Returns
    -------
    DataFrame
        ``by`` and ``runs`` (feasible replications), ``mean``, ``low``, ``high``; for a
        boolean column also ``successes``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": "A", "options": "", "rho": 2.0, "correct": [True, False]})
    >>> runs["status"] = "ok"
    >>> summarise(runs, "correct")[["runs", "mean", "successes"]].iloc[0].tolist()
    [2.0, 0.5, 1.0]
    """
    _validation.choice(column, "column", runs.columns)
    proportion = runs[column].dtype == bool

    feasible, measured = (
        (runs["status"] != "infeasible").to_numpy(),
        runs[column].to_numpy(),
    )
    rows = []
    for cell, here in cells(runs, by):
        values = measured[here[feasible[here]]]
        mean, interval, successes = (
            np.nan,
            (np.nan, np.nan),
            [int(values.sum())] if proportion else [],
        )
        if len(values):
            mean = float(values.mean())
            interval = (
                proportion_interval(values.sum(), len(values))
                if proportion
                else mean_interval(values)
            )
        rows.append((*cell, len(values), mean, *interval, *successes))

    columns = [
        *by,
        "runs",
        "mean",
        "low",
        "high",
        *(["successes"] if proportion else []),
    ]
    return pd.DataFrame(rows, columns=columns)
