"""Regression-adjusted approximate Bayesian computation on a pool of tables, and its calibration.

Every table of the pool has played the paper's experiments once: used values s and predicted values y,
transformed so that noise is about additive.  A ridge regression of y on s, fitted without the run of the
sampler that a table comes from, gives that table a residual; the prediction at printed values s0 is the
set, over the tables i, of

    (prediction at s0 of the regression without the run of i) + (residual of i)

(Beaumont, Zhang and Balding 2002; residuals across folds as in the jackknife+ of Barber et al. 2021, where a
fold is a run, since tables of one run are related).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RIDGE = 1.0
"""Penalty in units of one table: s is standardised, and y not shrunk but towards its mean."""
LEVELS = (0.5, 0.9, 0.95)
LIMITS = {0.95: 0.92, 0.5: 0.44}
"""By level the least coverage, over all values, with which intervals stay as they are (the protocol's)."""


def transformed(key: str, values: Floats) -> Floats:
    """Bring values onto a scale of additive noise: log odds of errors, deviations as they are, else logs."""
    if "-error-" in key:
        return np.log((500 * values + 0.5) / (500 * (1 - values) + 0.5))
    return values if key.startswith("fact-") else np.log(np.maximum(values, 1e-6))


def back(key: str, values: Floats) -> Floats:
    """Inverse of `transformed`."""
    if "-error-" in key:
        odds = np.exp(values)
        return np.clip((odds * 500.5 - 0.5) / (500 * (1 + odds)), 0.0, 1.0)
    return values if key.startswith("fact-") else np.exp(values)


class Pool(NamedTuple):
    """Tables by rows: used (n, p) and predicted (n, m) values, transformed, and the run of each."""

    used: pd.DataFrame
    predicted: pd.DataFrame
    run: NDArray[np.int64]


class _Line(NamedTuple):
    centre: Floats
    scale: Floats
    slope: Floats
    mean: Floats

    def __call__(self, used: Floats) -> Floats:
        return self.mean + (used - self.centre) / self.scale @ self.slope


def _fit(used: Floats, predicted: Floats) -> _Line:
    centre, scale = used.mean(axis=0), np.maximum(used.std(axis=0), 1e-9)
    x, mean = (used - centre) / scale, predicted.mean(axis=0)
    slope = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ (predicted - mean))
    return _Line(centre, scale, slope, mean)


def predict(pool: Pool, used: Floats, wider: float = 1.0) -> Floats:
    """Draw from the prediction of the predicted values, transformed.

    Parameters
    ----------
    pool : Pool
        Of n tables with p used and m predicted values.
    used : ndarray, shape (p,) or (t, p)
        What is known, of one table or of each of t.
    wider : float
        Factor on the residuals, as from `widening`.

    Returns
    -------
    ndarray, shape (n, m) or (n, t, m)
    """
    s, y = pool.used.to_numpy(), pool.predicted.to_numpy()
    draws = np.empty((len(y), *used.shape[:-1], y.shape[1]))
    for run in np.unique(pool.run):
        own = pool.run == run
        line = _fit(s[~own], y[~own])
        residuals = (y[own] - line(s[own])).reshape(-1, *[1] * (used.ndim - 1), y.shape[1])
        draws[own] = line(used) + wider * residuals
    return draws


def calibrate(pool: Pool, wider: float = 1.0, runs: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Take each table of the pool for the paper's and predict it from all other runs.

    Parameters
    ----------
    pool : Pool
    wider : float
        As in `predict`.
    runs : ndarray of int, optional
        Only tables of these runs are predicted.

    Returns
    -------
    DataFrame
        One row per table and predicted value: ``table``, ``run``, ``key``, ``rank`` (share of draws
        below the truth).
    """
    parts = []
    for run in np.unique(pool.run) if runs is None else runs:
        own = pool.run == run
        rest = Pool(pool.used[~own], pool.predicted[~own], pool.run[~own])
        draws, truths = predict(rest, pool.used.to_numpy()[own], wider), pool.predicted.to_numpy()[own]
        ranks = ((draws < truths).sum(axis=0) + 0.5 * (draws == truths).sum(axis=0) + 0.5) / (len(draws) + 1)
        wide = pd.DataFrame(ranks, columns=pool.predicted.columns).assign(table=np.flatnonzero(own), run=run)
        parts.append(wide.melt(["table", "run"], var_name="key", value_name="rank"))
    return pd.concat(parts, ignore_index=True)


def factor(pool: Pool, runs: NDArray[np.int64]) -> float:
    """Find the least factor on the residuals with which 95 % intervals hold 95 % of the values of some runs.

    Returns
    -------
    float
        At least 1, in steps of 0.01; 2 where no smaller one is enough.
    """
    factors = np.arange(1.0, 2.0, 0.01).round(2)
    covers = (coverage(calibrate(pool, wider, runs)).loc["all"][0.95] >= 0.95 for wider in factors)
    return float(next((wider for wider, enough in zip(factors, covers, strict=True) if enough), 2.0))


def widening(pool: Pool) -> float:
    """Say by how much residuals are widened: by the protocol not at all where coverage is within its limits.

    Returns
    -------
    float
        1, or else the `factor` for the runs with odd numbers, to be checked on the others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> used = pd.DataFrame(rng.normal(size=(240, 2)))
    >>> predicted = pd.DataFrame(used.sum(axis=1).to_numpy()[:, None] + rng.normal(size=(240, 3)))
    >>> widening(Pool(used, predicted, np.repeat(np.arange(20), 12)))  # independent tables
    1.0
    """
    found = coverage(calibrate(pool)).loc["all"]
    runs = np.unique(pool.run)
    enough = all(found[level] >= limit for level, limit in LIMITS.items())
    return 1.0 if enough else factor(pool, runs[runs % 2 == 1])


def distance(draws: Floats, value: Floats) -> float:
    """Squared Mahalanobis distance of values (m,) from draws (n, m), over m."""
    centre, scale = draws.mean(axis=0), np.maximum(draws.std(axis=0), 1e-9)
    x, at = (draws - centre) / scale, (value - centre) / scale
    covariance = x.T @ x / len(x) + RIDGE / np.sqrt(len(x)) * np.eye(x.shape[1])
    return float(at @ np.linalg.solve(covariance, at)) / len(at)


class Joint(NamedTuple):
    """How far all predicted values together lie from their prediction, next to known tables."""

    distance: float
    of_tables: Floats
    p: float


def judge_jointly(pool: Pool, used: pd.Series, predicted: pd.Series) -> Joint:
    """Ask whether any table like those of the pool has all the printed values together.

    Parameters
    ----------
    pool : Pool
    used, predicted : Series
        What is printed, transformed; predicted values that are NaN are left out.

    Returns
    -------
    Joint
        `distance` of the printed values from their prediction; that of each table's own values from the
        prediction by all other runs; and the share of these, the printed one counted, that are as large.
    """
    keys = predicted.dropna().index
    known = Pool(pool.used, pool.predicted[keys], pool.run)
    ours = distance(predict(known, used.to_numpy()), predicted[keys].to_numpy())
    truths = []
    for run in np.unique(known.run):
        own = known.run == run
        rest = Pool(known.used[~own], known.predicted[~own], known.run[~own])
        draws = predict(rest, known.used.to_numpy()[own])
        truths += [distance(draws[:, i], truth) for i, truth in enumerate(known.predicted.to_numpy()[own])]
    of_tables = np.array(truths)
    return Joint(ours, of_tables, float((1 + (of_tables >= ours).sum()) / (1 + len(of_tables))))


def coverage(ranks: pd.DataFrame) -> pd.DataFrame:
    """Share of truths inside the central intervals, by predicted value and over all."""
    parts = {"all": ranks["rank"]} | dict(list(ranks.groupby("key")["rank"]))
    rows = {
        key: {level: float(((r - 0.5).abs() <= level / 2).mean()) for level in LEVELS}
        for key, r in parts.items()
    }
    return pd.DataFrame(rows).T


def convergence(values: pd.DataFrame, run: NDArray[np.int64]) -> pd.DataFrame:
    """Compare the runs of a sampler.

    Parameters
    ----------
    values : DataFrame
        A row per table, as in a `Pool`.
    run : ndarray of int
        Run of each table; all have the same number of tables.

    Returns
    -------
    DataFrame
        By column of the values: ``rhat``, the root of the ratio of total to within-run variance (Gelman and
        Rubin 1992), and ``ess``, the number of independent tables whose mean would vary as the means of runs
        say; at most the number of tables.  Both are NaN for a value that all tables share; R-hat is infinite
        where tables differ between runs alone.

    Examples
    --------
    >>> values = pd.DataFrame({"x": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0], "y": [1.0, 1.1, 0.9, 5.0, 5.1, 4.9]})
    >>> convergence(values, np.array([0, 0, 0, 1, 1, 1])).round(2).to_dict("list")
    {'rhat': [0.82, 28.3], 'ess': [6.0, 2.0]}
    """
    grouped = values.groupby(run)
    within, means = grouped.var(ddof=1).mean(), grouped.mean()
    size, between = len(values) / len(means), means.var(ddof=1)
    total = ((size - 1) / size * within + between).replace(0.0, np.nan)
    ess = np.minimum(len(means) * total / np.maximum(between, 1e-300), len(values))
    return pd.DataFrame({"rhat": np.sqrt(total / within), "ess": ess})


def remoteness(pool: Pool, used: Floats) -> float:
    """Squared Mahalanobis distance of used values (p,) from the pool's, over p: about 1 inside the pool.

    The regression interpolates where this is no larger than for tables of the pool itself, and otherwise
    extrapolates, which calibration does not test.
    """
    values = pool.used.to_numpy()
    centre, scale = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-9)
    x, at = (values - centre) / scale, (used - centre) / scale
    covariance = x.T @ x / len(x) + RIDGE / len(x) * np.eye(x.shape[1])
    return float(at @ np.linalg.solve(covariance, at)) / len(at)
