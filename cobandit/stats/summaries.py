"""Means over replications, with 95 % intervals."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import scipy  # imports its subpackages when they are first used
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError

#: Half-width of a normal 95 % interval, in standard errors.
NORMAL = 1.96
#: Number of resamples of a bootstrap.
RESAMPLES = 2000
#: Confidence level of all intervals.
CONFIDENCE = 0.95
#: Largest number of replications for which resamples are cached (32 MB).
LARGEST_SHARED = 2000


@lru_cache(maxsize=4)
def _shares(n: int) -> NDArray[np.float64]:
    """Return the weights of n replications in each resample, shape (RESAMPLES, n)."""
    drawn = np.random.default_rng(0).integers(0, n, (RESAMPLES, n))
    return np.stack([np.bincount(row, minlength=n) for row in drawn]) / n


def resampled_means(values: ArrayLike) -> NDArray[np.float64]:
    """Return the means of bootstrap resamples of replications.

    The resamples depend only on the number of replications. Resampled means of two
    quantities in the same replications are therefore paired.

    Parameters
    ----------
    values : array_like, shape (R,)

    Returns
    -------
    ndarray, shape (RESAMPLES,)

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
    """Return the 95 % bootstrap percentile interval of a mean over replications.

    Parameters
    ----------
    values : array_like, shape (R,)

    Returns
    -------
    low, high : float
        Limits. If all values are equal, both limits are this value.

    Examples
    --------
    >>> mean_interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    values = _validation.numbers(values, "values", 1)
    if not len(values):
        raise CobanditError(
            "values are empty: an interval needs at least one value",
            argument="values",
            code="wrong-length",
        )
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(resampled_means(values), [tail, 100.0 - tail])
    return float(low), float(high)


def proportion_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a proportion.

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
    test = scipy.stats.binomtest(int(successes), int(trials))
    interval = test.proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def rows_by_cell(
    runs: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], NDArray[np.intp]]]:
    """Yield the combinations of values of some columns, and the rows of each.

    Combinations (cells) are in the order of their appearance. Selecting from arrays by
    position is much faster than selecting from the frame.

    Parameters
    ----------
    runs : DataFrame
    by : sequence of str
        Columns whose combinations of values are the cells.

    Yields
    ------
    cell : tuple
        Values of ``by``.
    rows : ndarray of int
        Positions in ``runs``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["A", "B", "A"], "rho": 2})
    >>> [(cell, rows.tolist()) for cell, rows in rows_by_cell(runs, ["method", "rho"])]
    [(('A', 2), [0, 2]), (('B', 2), [1])]
    """
    positions = pd.Series(np.arange(len(runs)), runs.index)
    for cell, rows in positions.groupby([runs[name] for name in by], sort=False):
        yield cell, rows.to_numpy()


def summarise(
    runs: pd.DataFrame, column: str, by: tuple[str, ...] = ("method", "options", "rho")
) -> pd.DataFrame:
    """Return means over replications of a column of a replay, with 95 % intervals.

    A boolean column gives proportions with Wilson intervals. Other columns have
    bootstrap percentile intervals over replications. Infeasible runs are left out. If
    no run is feasible, the mean is NaN.

    Parameters
    ----------
    runs : DataFrame
        Results of `replay_online` or `replay_identification`.
    column : str
        Summarised column, such as ``"efficiency_regret"``, ``"f1"`` or ``"correct"``.
    by : tuple of str
        Columns whose combinations of values (cells) have separate means.

    Returns
    -------
    DataFrame
        One row per cell, with the columns ``by``; ``runs``, the number of feasible
        replications; ``mean``; ``low`` and ``high``, the interval; and for a boolean
        column also ``successes``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": "A", "rho": 2.0, "correct": [True, False]})
    >>> runs = runs.assign(options="", status="ok")
    >>> summarise(runs, "correct")[["runs", "mean", "successes"]].iloc[0].tolist()
    [2.0, 0.5, 1.0]
    """
    _validation.choice(column, "column", runs.columns)
    is_proportion = runs[column].dtype == bool
    measured = runs[column].to_numpy()
    feasible = (runs["status"] != "infeasible").to_numpy()

    summaries = []
    for cell, rows in rows_by_cell(runs, by):
        values = measured[rows[feasible[rows]]]
        mean = low = high = np.nan
        if len(values):
            mean = float(values.mean())
            low, high = (
                proportion_interval(values.sum(), len(values))
                if is_proportion
                else mean_interval(values)
            )

        summary = [*cell, len(values), mean, low, high]
        if is_proportion:
            summary.append(int(values.sum()))
        summaries.append(summary)

    columns = [*by, "runs", "mean", "low", "high"]
    if is_proportion:
        columns.append("successes")
    return pd.DataFrame(summaries, columns=columns)
