"""Step 4 of the proof of Theorem 2: concentration at targets that depend on the data, exactly."""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit import _check
from cobandit.companion.proofs.concentration import ever_outside


def leaving_from(
    steps: ArrayLike, chances: ArrayLike, first: int, width: float, last: int
) -> tuple[float, float]:
    r"""Probability that a running mean is off by x or more at some n from N to M, and at N.

    Parameters
    ----------
    steps : array_like of int, shape (S,)
        Values of one draw.
    chances : array_like, shape (S,)
        Their probabilities.
    first, last : int
        N and M.
    width : float
        x > 0.

    Returns
    -------
    ever, at_first : float
        Time O(M^2 S).

    Examples
    --------
    Two coins are off by 1/2 if they agree; one draw later the others may be off by more than 1/3.

    >>> leaving_from([0, 1], [0.5, 0.5], first=2, width=0.5, last=2)
    (0.5, 0.5)
    """
    mean = float(np.asarray(steps) @ np.asarray(chances))

    def off(n: int, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
        return (np.abs(sums - n * mean) >= n * width - 1e-9) & (n >= first)

    return ever_outside(steps, chances, off, last), ever_outside(steps, chances, off, first)


def uniform_deviation(mean: float, first: int, width: float, span: int = 20) -> dict[str, float]:
    r"""How often a running mean is off by x or more at *some* n >= N, against :math:`2\exp(-2Nx^2)`.

    Parameters
    ----------
    mean : float
        Of the Bernoulli draws.
    first : int
        N.
    width : float
        x > 0.
    span : int
        Paths end after ``span`` N draws, so that probabilities are a little too small, which favours the
        bound; what is cut off is at most :math:`2\exp(-2\,\mathrm{span}\,Nx^2)`.

    Returns
    -------
    dict
        ``mean``, ``N``, ``x``; ``ever`` and ``at_N``, the probabilities of being off at some n and at n = N,
        exact; ``bound``.

    Examples
    --------
    >>> result = uniform_deviation(0.5, 50, 0.15)
    >>> result["at_N"] < result["ever"] < result["bound"]
    True
    """
    mean, width = _check.positive(mean, "mean", 1.0), _check.positive(width, "width")
    first, span = _check.count(first, "first", 1), _check.count(span, "span", 1)
    ever, at_first = leaving_from([0, 1], [1 - mean, mean], first, width, span * first)
    bound = 2 * exp(-2 * first * width**2)
    return {"mean": mean, "N": first, "x": width, "ever": ever, "at_N": at_first, "bound": bound}


def difference_deviation(
    better: float, worse: float, first: int, width: float, span: int = 20
) -> dict[str, float]:
    r"""How often the difference of two running means is off by x or more at *some* n >= N.

    Parameters
    ----------
    better, worse : float
        Means of the Bernoulli draws of two independent arms, in [0, 1].
    first : int
        N.
    width : float
        x > 0.
    span : int
        As in `uniform_deviation`.

    Returns
    -------
    dict
        ``N``, ``x``; ``ever`` and ``at_N``, exact; ``bound``, :math:`2\exp(-Nx^2)`, and ``by_means``, what
        two means that may each be off by x / 2 give, :math:`4\exp(-Nx^2/2)`.

    Examples
    --------
    >>> result = difference_deviation(0.6, 0.4, 50, 0.25)
    >>> result["ever"] < result["bound"] < result["by_means"]
    True
    """
    width, span = _check.positive(width, "width"), _check.count(span, "span", 1)
    first = _check.count(first, "first", 1)
    up, down = better * (1 - worse), worse * (1 - better)
    ever, at_first = leaving_from([-1, 0, 1], [down, 1 - up - down, up], first, width, span * first)
    exponent = first * width**2
    bounds = {"bound": 2 * exp(-exponent), "by_means": 4 * exp(-exponent / 2)}
    return {"N": first, "x": width, "ever": ever, "at_N": at_first, **bounds}
