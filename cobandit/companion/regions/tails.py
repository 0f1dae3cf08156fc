"""What a mean hides: quantiles and the mean of the worst runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError


def worst_mean(values: ArrayLike, share: float = 0.05) -> NDArray[np.float64]:
    r"""Mean of the largest values, the conditional value at risk of a loss.

    Parameters
    ----------
    values : array_like, shape (..., R)
        Losses of R runs.
    share : float
        In (0, 1]: the mean is over the ceil(share R) largest.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> worst_mean([1.0, 5.0, 2.0, 4.0], share=0.5)
    np.float64(4.5)
    """
    values = np.sort(np.asarray(values, dtype=float), axis=-1)
    if not values.size:
        raise CobanditError("values: at least one is needed")
    kept = _check.ceil(_check.positive(share, "share", 1.0) * values.shape[-1])
    return values[..., -kept:].mean(axis=-1)


def tails(
    runs: pd.DataFrame,
    column: str,
    by: Sequence[str],
    share: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Mean, median, 95 % quantile and mean of the worst runs, each with a bootstrap 95 % interval.

    Parameters
    ----------
    runs : DataFrame
        One row per run.
    column : str
        A loss.
    by : sequence of str
        Columns that make a cell.
    share : float
        Of the runs that count as the worst.
    resamples, seed : int
        Of the bootstrap over runs.

    Returns
    -------
    DataFrame, one row per cell
        ``by``, ``runs``, and ``mean``, ``median``, ``q95``, ``worst``, each also with ``_low`` and ``_high``.

    Examples
    --------
    >>> runs = pd.DataFrame({"rho": 4, "loss": [0.1, 0.1, 0.1, 0.9]})
    >>> tails(runs, "loss", ["rho"], share=0.25)[["mean", "median", "worst"]].round(3).iloc[0].tolist()
    [0.3, 0.1, 0.9]
    """
    statistics = {
        "mean": lambda x: x.mean(axis=-1),
        "median": lambda x: np.median(x, axis=-1),
        "q95": lambda x: np.quantile(x, 0.95, axis=-1),
        "worst": lambda x: worst_mean(x, share),
    }
    rows = []
    for cell, group in runs.groupby(list(by), sort=False):
        values = group[column].to_numpy(dtype=float)
        drawn = values[np.random.default_rng(seed).integers(len(values), size=(resamples, len(values)))]
        row = dict(zip(by, cell, strict=True)) | {"runs": len(values)}
        for name, statistic in statistics.items():
            low, high = np.quantile(statistic(drawn), [0.025, 0.975])
            row |= {name: float(statistic(values)), f"{name}_low": low, f"{name}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)
