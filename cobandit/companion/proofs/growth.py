"""Laws of growth fitted to simulated means, with intervals from resampling the runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.errors import CobanditError


class FittedExponent(NamedTuple):
    """An estimate, its 95 % bootstrap percentile interval, and the largest relative residual of the fit."""

    value: float
    low: float
    high: float
    residual: float


def fitted_power(x: ArrayLike, samples: ArrayLike, *, resamples: int = 500, seed: int = 0) -> FittedExponent:
    r"""Exponent p of :math:`\mathrm{mean} \propto x^p`, by least squares on logarithms.

    Parameters
    ----------
    x : array_like, shape (P,)
        Positive.
    samples : array_like, shape (P, R)
        R runs at each point, of positive mean.
    resamples, seed : int
        Of the bootstrap, which resamples runs within each point.

    Returns
    -------
    FittedExponent

    Raises
    ------
    CobanditError
        If shapes disagree or there are fewer than three points.

    Examples
    --------
    >>> round(fitted_power([1, 2, 4], [[3, 3], [12, 12], [48, 48]]).value, 9)
    2.0
    """
    x, samples = _points(x, samples)

    def fit(means: NDArray[np.float64]) -> tuple[float, float]:
        power, level = np.polyfit(np.log(x), np.log(means), 1)
        return power, float(np.abs(np.exp(level) * x**power / means - 1).max())

    return _bootstrap(fit, samples, resamples, seed)


def fitted_growth(x: ArrayLike, samples: ArrayLike, *, resamples: int = 500, seed: int = 0) -> FittedExponent:
    r"""Exponent q of :math:`\mathrm{mean} = a + b\,(x^q - 1)/q`, by least relative squares on a grid of q.

    At q = 0 this is :math:`a + b \log x`, so that logarithmic growth is one member of the family: an interval
    that lies above 0 speaks for a power, one that lies below for something slower than the logarithm.

    Parameters
    ----------
    x : array_like, shape (P,)
        Positive.
    samples : array_like, shape (P, R)
        R runs at each point, of positive mean.
    resamples, seed : int
        Of the bootstrap, which resamples runs within each point.

    Returns
    -------
    FittedExponent
        q to 0.01, from -0.5 to 1.

    Raises
    ------
    CobanditError
        If shapes disagree or there are fewer than three points.

    Examples
    --------
    >>> x = np.array([10.0, 100.0, 1000.0, 10000.0])
    >>> fitted_growth(x, np.log(x)[:, None] + [[1.0, 1.0]]).value
    0.0
    """
    x, samples = _points(x, samples)
    powers = np.arange(-50, 101) / 100
    bases = np.array([np.log(x) if q == 0 else (x**q - 1) / q for q in powers])

    def fit(means: NDArray[np.float64]) -> tuple[float, float]:
        designs = np.stack([np.ones_like(bases), bases], axis=2) / means[:, None]
        spanned = np.linalg.qr(designs)[0]
        residuals = (spanned @ spanned.sum(axis=1)[:, :, None])[:, :, 0] - 1  # the ones projected
        best = int((residuals**2).sum(axis=1).argmin())
        return float(powers[best]), float(np.abs(residuals[best]).max())

    return _bootstrap(fit, samples, resamples, seed)


def _points(x: ArrayLike, samples: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, samples = _check.numbers(x, "x", 1), _check.numbers(samples, "samples", 2)
    if len(x) < 3 or len(samples) != len(x) or (x <= 0).any() or (samples.mean(axis=1) <= 0).any():
        raise CobanditError("x and samples: at least three points, positive, with runs of positive mean each")
    return x, samples


def _bootstrap(
    fit: Callable[[NDArray[np.float64]], tuple[float, float]],
    samples: NDArray[np.float64],
    resamples: int,
    seed: int,
) -> FittedExponent:
    value, residual = fit(samples.mean(axis=1))
    rng = np.random.default_rng(_check.seed(seed))
    drawn = []
    for _ in range(_check.count(resamples, "resamples", 1)):
        chosen = rng.integers(samples.shape[1], size=samples.shape)
        drawn.append(fit(np.take_along_axis(samples, chosen, axis=1).mean(axis=1))[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    return FittedExponent(float(value), float(low), float(high), residual)
