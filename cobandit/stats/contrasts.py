"""Differences and ratios of methods' results, paired by replication.

In a replication, the n-th pull of an arm has the same feedback for every method, so
results of methods are correlated.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.stats.paired_errors import paired_difference
from cobandit.stats.summaries import (
    RESAMPLES,
    mean_interval,
    resampled_means,
    rows_by_cell,
)


def _central(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of resampled values.

    They are NaN if no value is finite. Quantiles are not interpolated, because a value
    may be infinite.
    """
    if not np.isfinite(values).any():
        return np.nan, np.nan
    low, high = np.nanquantile(values, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


def ratio(first: ArrayLike, second: ArrayLike) -> tuple[float, float, float]:
    """Return the ratio of two paired means and its 95 % bootstrap interval.

    Parameters
    ----------
    first, second : array_like, shape (R,)
        Values by replication, in the same order.

    Returns
    -------
    ratio, low, high : float
        ``low`` and ``high`` are the ends of the interval. An end is infinite if the
        second mean is zero in too many resamples. Both ends are NaN if the ratio is
        finite in no resample.

    Examples
    --------
    >>> ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    (0.5, 0.5, 0.5)
    """
    first = _validation.numbers(first, "values", 1)
    second = _validation.numbers(second, "values", 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_ratio = float(np.mean(first) / np.mean(second))
        low, high = _central(resampled_means(first) / resampled_means(second))
    return mean_ratio, low, high


def ratio_of_counts(
    first: int, second: int, both: int, replays: int
) -> tuple[float, float, float]:
    """Return the ratio of two error probabilities and its 95 % bootstrap interval.

    Parameters
    ----------
    first, second, both, replays : int
        Numbers of replays in which the first method errs, the second method errs, and
        both err; and the number of all replays.

    Returns
    -------
    ratio, low, high : float

    Examples
    --------
    >>> ratio, low, high = ratio_of_counts(740, 820, both=500, replays=5000)
    >>> round(ratio, 2), round(low, 2), round(high, 2)
    (0.9, 0.85, 0.96)
    """
    cells = np.array(
        [both, first - both, second - both, replays - first - second + both]
    )
    drawn = np.random.default_rng(0).multinomial(replays, cells / replays, RESAMPLES)
    with np.errstate(divide="ignore", invalid="ignore"):
        resampled = (drawn[:, 0] + drawn[:, 1]) / (drawn[:, 0] + drawn[:, 2])
        low, high = _central(resampled)
        return float(np.float64(first) / second), low, high


def paired_contrasts(
    runs: pd.DataFrame,
    column: str,
    pairs: Iterable[tuple[str, str]],
    by: tuple[str, ...] = ("rho",),
    over: str = "method",
) -> pd.DataFrame:
    """Return differences and ratios of two methods' means, with 95 % intervals.

    Results are paired by replication. The interval of a difference of means is the
    bootstrap percentile interval over replications
    (`cobandit.stats.summaries.mean_interval`). A boolean column gives a difference of
    proportions, which has Tango's score interval for pairs. The interval of a ratio is
    the bootstrap percentile interval over replications.

    Parameters
    ----------
    runs : DataFrame
        Results of `replay_online` or `replay_identification`, with one set of options
        per method.
    column : str
        Compared column, such as ``"efficiency_regret"`` or ``"f1"``.
    pairs : iterable of (str, str)
        Pairs of values of the column ``over``, such as pairs of methods. Pairs that do
        not occur are left out.
    by : tuple of str
        Columns whose combinations of values (cells) are compared separately.
    over : str
        Column in which the compared runs differ.

    Returns
    -------
    DataFrame
        Two rows per cell and pair, with the columns ``by``; ``over``, the first of the
        pair; ``against``, the second; ``measure``, which is ``"difference"`` (first
        minus second) or ``"ratio"`` (first over second); ``runs``, the number of
        replications in which both are feasible; ``mean``, the difference or ratio of
        the means; and ``low`` and ``high``, its interval.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["A", "B"] * 3, "rho": 2.0, "status": "ok"})
    >>> runs["replication"] = [0, 0, 1, 1, 2, 2]
    >>> runs["regret"] = [1.0, 2.0, 3.0, 4.0, 8.0, 9.0]
    >>> difference = paired_contrasts(runs, "regret", [("A", "B")]).loc[0]
    >>> difference[["mean", "low", "high"]].astype(float).tolist()
    [-1.0, -1.0, -1.0]
    """
    _validation.choice(column, "column", runs.columns)
    is_proportion = runs[column].dtype == bool
    pairs = list(pairs)
    feasible = runs[(runs["status"] == "ok") & runs[column].notna()]
    if feasible.duplicated([*by, over, "replication"]).any():
        raise CobanditError(
            f"runs has several rows with the same {over}, replication and"
            f" {', '.join(by)}. Compare one set of options at a time, or give"
            " 'by' also the columns that distinguish these rows",
            argument="runs",
            code="repeated-runs",
        )

    values = feasible[column].to_numpy(dtype=float)
    replication = feasible["replication"].to_numpy()
    side = feasible[over].to_numpy()
    contrasts = []
    for cell, rows in rows_by_cell(feasible, by):
        for pair in pairs:
            # compare only replications in which both runs are feasible
            first_rows, second_rows = (rows[side[rows] == name] for name in pair)
            _, first_places, second_places = np.intersect1d(
                replication[first_rows],
                replication[second_rows],
                assume_unique=True,
                return_indices=True,
            )
            if not len(first_places):
                continue
            first = values[first_rows[first_places]]
            second = values[second_rows[second_places]]

            difference = _paired_difference(first, second, is_proportion)
            common = (*cell, *pair)
            contrasts.append((*common, "difference", len(first), *difference))
            contrasts.append((*common, "ratio", len(first), *ratio(first, second)))

    columns = [*by, over, "against", "measure", "runs", "mean", "low", "high"]
    return pd.DataFrame(contrasts, columns=columns)


def _paired_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], is_proportion: bool
) -> tuple[float, float, float]:
    """Return the difference of two paired means and its 95 % interval."""
    if is_proportion:
        only_first = int((first > second).sum())
        only_second = int((second > first).sum())
        return paired_difference(only_first, only_second, len(first))
    differences = first - second
    return float(differences.mean()), *mean_interval(differences)


def leaders(
    runs: pd.DataFrame,
    column: str,
    by: tuple[str, ...] = ("rho",),
    largest: bool = False,
) -> pd.DataFrame:
    """Return, per budget, the best method and methods that are not clearly worse.

    Parameters
    ----------
    runs : DataFrame
        Results of `replay_online` or `replay_identification`, with one set of options
        per method.
    column : str
        Compared column, such as ``"standard_regret"``.
    by : tuple of str
        Columns whose combinations of values (cells) have separate rows.
    largest : bool
        Whether larger values are better; by default, smaller values are.

    Returns
    -------
    DataFrame
        One row per cell with a feasible run, with the columns ``by``; ``leader``, the
        method with the best mean; ``mean``, this mean; ``level``, a tuple of the
        methods whose difference from the leader has an interval that contains zero
        (`paired_contrasts`); ``next``, the best of the remaining methods, or None; and
        ``next_mean``, its mean.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": list("ABC") * 3, "rho": 2.0, "status": "ok"})
    >>> runs["replication"] = np.repeat([0, 1, 2], 3)
    >>> runs["regret"] = [1.0, 0.0, 5.0, 2.0, 3.0, 6.0, 3.0, 6.0, 7.0]
    >>> leaders(runs, "regret")[["leader", "level", "next"]].to_numpy().tolist()
    [['A', ('B',), 'C']]
    """
    rows = []
    for cell, group in runs[runs["status"] == "ok"].groupby(list(by), sort=False):
        means = group.groupby("method", sort=False)[column].mean()
        means = means.sort_values(ascending=not largest, kind="stable")
        leader, *others = means.index

        pairs = [(leader, name) for name in others]
        contrasts = paired_contrasts(group, column, pairs, by)
        excludes_zero = (contrasts["low"] > 0) | (contrasts["high"] < 0)
        is_difference = contrasts["measure"] == "difference"
        clearly_behind = set(contrasts.loc[is_difference & excludes_zero, "against"])

        behind = [name for name in others if name in clearly_behind]
        level = tuple(name for name in others if name not in clearly_behind)
        row = [*cell, leader, float(means[leader]), level]
        row += [behind[0], float(means[behind[0]])] if behind else [None, np.nan]
        rows.append(row)

    columns = [*by, "leader", "mean", "level", "next", "next_mean"]
    return pd.DataFrame(rows, columns=columns)
