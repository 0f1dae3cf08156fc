"""Growth rates of simulated means: fitted exponents with bootstrap intervals."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from companion.proofs.checks import Floats


class FittedExponent(NamedTuple):
    """A fitted exponent and its 95 % bootstrap percentile interval."""

    value: float
    low: float
    high: float


def fitted_power(
    x: ArrayLike, samples: ArrayLike, *, resamples: int = 500
) -> FittedExponent:
    r"""Fit the exponent p of a power law, :math:`\mathrm{mean} \propto x^p`.

    The fit is by least squares on logarithms.

    Parameters
    ----------
    x : array_like, shape (P,)
        Positive numbers, such as budgets.
    samples : array_like, shape (P, R)
        Results of R runs at each x, with a positive mean.
    resamples : int
        Number of bootstrap samples, which redraw the runs at each point.

    Returns
    -------
    FittedExponent

    Examples
    --------
    >>> round(fitted_power([1, 2, 4], [[3, 3], [12, 12], [48, 48]]).value, 9)
    2.0
    """
    x = np.log(x)
    return _bootstrap(
        lambda means: float(np.polyfit(x, np.log(means), 1)[0]), samples, resamples
    )


def fitted_growth(
    x: ArrayLike, samples: ArrayLike, *, resamples: int = 500
) -> FittedExponent:
    r"""Fit an exponent q that distinguishes logarithmic from polynomial growth.

    The curve is :math:`\mathrm{mean} = a + b\,(x^q - 1)/q`, fitted by relative least
    squares on a grid of q. At q = 0, it is :math:`a + b \log x`, which is logarithmic
    growth. An interval above 0 indicates polynomial growth, and an interval below 0
    growth slower than logarithmic.

    Parameters
    ----------
    x : array_like, shape (P,)
        Positive numbers, such as budgets.
    samples : array_like, shape (P, R)
        Results of R runs at each x, with a positive mean.
    resamples : int
        Number of bootstrap samples, which redraw the runs at each point.

    Returns
    -------
    FittedExponent
        q on a grid from -0.5 to 1 in steps of 0.01.

    Examples
    --------
    >>> x = np.array([10.0, 100.0, 1000.0, 10000.0])
    >>> fitted_growth(x, np.log(x)[:, None] + [[1.0, 1.0]]).value
    0.0
    """
    x = np.asarray(x, dtype=np.float64)
    powers = np.arange(-50, 101) / 100
    bases = np.array([np.log(x) if q == 0 else (x**q - 1) / q for q in powers])

    def fit(means: Floats) -> float:
        # for relative residuals, both columns are divided by the means; the target is
        # then a vector of ones, which is projected onto the span of the columns
        spanned = np.linalg.qr(
            np.stack([np.ones_like(bases), bases], axis=2) / means[:, None]
        )[0]
        residuals = (spanned @ spanned.sum(axis=1)[:, :, None])[:, :, 0] - 1
        return float(powers[(residuals**2).sum(axis=1).argmin()])

    return _bootstrap(fit, samples, resamples)


def _bootstrap(
    fit: Callable[[Floats], float], samples: ArrayLike, resamples: int
) -> FittedExponent:
    samples = np.asarray(samples, dtype=np.float64)
    rng = np.random.default_rng(0)
    fits = []
    for _ in range(resamples):
        indices = rng.integers(samples.shape[1], size=samples.shape)
        fits.append(fit(np.take_along_axis(samples, indices, axis=1).mean(axis=1)))
    low, high = np.quantile(fits, [0.025, 0.975])
    return FittedExponent(fit(samples.mean(axis=1)), float(low), float(high))
