"""Methods compared replication by replication: all of them see the same evaluations in each."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _validation
from cobandit.errors import CobanditError
from cobandit.stats.metrics import RESAMPLES, cells, mean_interval, resampled_means
from cobandit.stats.paired_errors import paired_difference


def _central(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the central 95 %; no resample is interpolated, since a ratio may be infinite.

    They are NaN where no resample is finite.
    """
    if not np.isfinite(values).any():
        return np.nan, np.nan
    low, high = np.nanquantile(values, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)


def ratio(first: ArrayLike, second: ArrayLike) -> tuple[float, float, float]:
    """Ratio of two means over the same replications, with its 95 % bootstrap percentile interval.

    Parameters
    ----------
    first, second : array_like, shape (R,)
        Values of the replications, in the same order.

    Returns
    -------
    ratio, low, high : float
        An end is infinite where resamples without any of the second are too many to be
        left out, and NaN where neither has any in any of them.

    Examples
    --------
    >>> ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    (0.5, 0.5, 0.5)
    """
    a, b = (_validation.numbers(values, "values", 1) for values in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(a) / np.mean(b)), *_central(
            resampled_means(a) / resampled_means(b)
        )


def ratio_of_counts(
    first: int, second: int, both: int, replays: int
) -> tuple[float, float, float]:
    """As `ratio`, of two error probabilities by their joint counts.

    Parameters
    ----------
    first, second, both, replays : int
        Replays in which the first errs, the second errs and both do, and all of them.

    Returns
    -------
    ratio, low, high : float

    Examples
    --------
    >>> [round(value, 2) for value in ratio_of_counts(first=740, second=820, both=500, replays=5000)]
    [0.9, 0.85, 0.96]
    """
    cells = np.array(
        [both, first - both, second - both, replays - first - second + both]
    )
    drawn = np.random.default_rng(0).multinomial(replays, cells / replays, RESAMPLES)
    with np.errstate(divide="ignore", invalid="ignore"):
        resampled = (drawn[:, 0] + drawn[:, 1]) / (drawn[:, 0] + drawn[:, 2])
        return float(np.float64(first) / second), *_central(resampled)


def paired_contrasts(
    runs: pd.DataFrame,
    column: str,
    pairs: Iterable[tuple[str, str]],
    by: tuple[str, ...] = ("rho",),
    over: str = "method",
) -> pd.DataFrame:
    """Differences and ratios of paired means, with 95 % intervals that see the pairing.

    A difference of means gets the bootstrap percentile interval of
    `cobandit.stats.metrics.mean_interval` over the replications' differences, one of
    proportions (boolean columns) Tango's score interval for pairs; a ratio gets the
    bootstrap percentile interval over replications.

    Parameters
    ----------
    runs : DataFrame
        From `replay_online` or `replay_identification`, each method with one set of
        options.
    column : str
        Such as ``"efficiency_regret"`` or ``"f1"``.
    pairs : iterable of (str, str)
        Values of ``over``; those that ``runs`` does not have are left out.
    by : tuple of str
        Columns that make a cell.
    over : str
        Column in which the two differ.

    Returns
    -------
    DataFrame
        Two rows per cell and pair: ``by``, ``over`` (the first), ``against`` (the
        second), ``measure`` (``"difference"``, first minus second, or ``"ratio"``,
        first over second), ``runs`` (replications in which both are feasible),
        ``mean``, ``low``, ``high``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": ["A", "B"] * 3, "rho": 2.0, "replication": [0, 0, 1, 1, 2, 2]})
    >>> runs = runs.assign(status="ok", regret=[1.0, 2.0, 3.0, 4.0, 8.0, 9.0])
    >>> paired_contrasts(runs, "regret", [("A", "B")]).loc[0, ["mean", "low", "high"]].astype(float).tolist()
    [-1.0, -1.0, -1.0]
    """
    _validation.choice(column, "column", runs.columns)
    proportion = runs[column].dtype == bool
    pairs, rows = list(pairs), []
    feasible = runs[(runs["status"] == "ok") & runs[column].notna()]
    if feasible.duplicated([*by, over, "replication"]).any():
        raise CobanditError(
            f"runs: a cell has several runs of one {over} in one replication; compare"
            " one set of options at a time, or add to by what tells them apart"
        )

    value, replication = (
        feasible[column].to_numpy(dtype=float),
        feasible["replication"].to_numpy(),
    )
    side = feasible[over].to_numpy()
    for cell, here in cells(feasible, by):
        for pair in pairs:
            first, second = (here[side[here] == name] for name in pair)
            _, one, other = np.intersect1d(
                replication[first], replication[second], True, True
            )
            if not len(one):
                continue
            a, b = value[first[one]], value[second[other]]
            apart: tuple[float, ...] = (float((a - b).mean()), *mean_interval(a - b))
            if proportion:
                apart = paired_difference(
                    int((a > b).sum()), int((b > a).sum()), len(a)
                )
            for measure, values in (("difference", apart), ("ratio", ratio(a, b))):
                rows.append((*cell, *pair, measure, len(one), *values))

    return pd.DataFrame(
        rows, columns=[*by, over, "against", "measure", "runs", "mean", "low", "high"]
    )


def leaders(
    runs: pd.DataFrame, column: str, by: tuple[str, ...] = ("rho",), most: bool = False
) -> pd.DataFrame:
    """Who leads in each cell, and who cannot be told from the leader.

    Parameters
    ----------
    runs : DataFrame
        From `replay_online` or `replay_identification`, each method with one set of
        options.
    column : str
        Such as ``"standard_regret"``, of which less is better.
    by : tuple of str
        Columns that make a cell.
    most : bool
        Whether more of the column is better instead.

    Returns
    -------
    DataFrame
        One row per cell with a feasible run: ``by``; ``leader``, of the best mean, and
        ``mean``; ``level``, a tuple of those whose paired difference from the leader
        has zero in its interval, as `paired_contrasts` gives it; ``next``, the best of
        the others, None if there is none, and ``next_mean``.

    Examples
    --------
    >>> runs = pd.DataFrame({"method": list("ABC") * 3, "rho": 2.0, "replication": np.repeat([0, 1, 2], 3)})
    >>> runs = runs.assign(status="ok", regret=[1.0, 0.0, 5.0, 2.0, 3.0, 6.0, 3.0, 6.0, 7.0])
    >>> leaders(runs, "regret")[["leader", "level", "next"]].to_numpy().tolist()
    [['A', ('B',), 'C']]
    """
    rows = []
    for cell, group in runs[runs["status"] == "ok"].groupby(list(by), sort=False):
        means = group.groupby("method", sort=False)[column].mean()
        means = means.sort_values(ascending=not most, kind="stable")
        first, *others = means.index
        pairs = paired_contrasts(
            group, column, [(first, other) for other in others], by
        )
        apart = pairs[
            (pairs["measure"] == "difference")
            & ((pairs["low"] > 0) | (pairs["high"] < 0))
        ]
        behind = [name for name in others if name in set(apart["against"])]
        level = tuple(name for name in others if name not in behind)
        follower = (behind[0], float(means[behind[0]])) if behind else (None, np.nan)
        rows.append((*cell, first, float(means[first]), level, *follower))

    return pd.DataFrame(
        rows, columns=[*by, "leader", "mean", "level", "next", "next_mean"]
    )
