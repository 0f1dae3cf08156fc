r"""Conformal prediction of a value of the paper's table from tables that are drawn.

Of table i there are used facts x_i and the value y_i.  With e_i the residual of least squares and h_i the
leverage,

.. math::

    t_i = \frac{e_i}{\sqrt{1 - h_i}}, \qquad t_0 = \frac{y_0 - \hat y(x_0)}{\sqrt{1 + h_0}}, \qquad
    p(y_0) = \frac{1 + \#\{i : w |t_i| \ge |t_0|\}}{n + 1},

where t_i is the left-out residual :math:`e_i / (1 - h_i)` over the growth of the error with the distance, as
t_0 is.  The interval at level 1 - a is the set of y_0 with p > a: interval and p are one object (Vovk,
Gammerman and Shafer 2005).  The regression is left out where it does not predict left-out tables better than
their mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Prediction(NamedTuple):
    """What n tables predict of a value.

    Attributes
    ----------
    centre, spread : float
        The prediction, and by how much its error grows with the distance of the used facts.
    scores : ndarray, shape (n,)
        t_i, with their signs.
    regressed : bool
        Whether the used facts help.
    remoteness : float
        Share of the tables whose used facts have less leverage than the printed ones.
    """

    centre: float
    spread: float
    scores: Floats
    regressed: bool
    remoteness: float

    def score(self, value: float) -> float:
        """t_0 of a value."""
        return (value - self.centre) / self.spread

    def p(self, value: float, wider: float = 1.0) -> float:
        """Share of tables, the paper's counted, whose score is as large."""
        as_large = wider * np.abs(self.scores) >= abs(self.score(value))
        return float((1 + as_large.sum()) / (1 + len(self.scores)))

    def interval(self, level: float = 0.95, wider: float = 1.0) -> tuple[float, float]:
        """All values with a p above ``1 - level``; unbounded where the tables are too few.

        Examples
        --------
        >>> tables = predict(np.empty((39, 0)), np.arange(39.0), np.empty(0))
        >>> low, high = tables.interval(0.95)
        >>> [round(tables.p(x), 3) for x in (low, low - 1e-6, high, high + 1e-6)]
        [0.075, 0.025, 0.075, 0.025]
        """
        fewest = int((1 - level) * (len(self.scores) + 1) + 1e-9)
        if fewest == 0:
            return -np.inf, np.inf
        half = wider * float(np.sort(np.abs(self.scores))[-fewest]) * self.spread
        return self.centre - half, self.centre + half


def _design(used: Floats) -> Floats:
    return np.column_stack([np.ones(len(used)), used])


def _leverages(design: Floats, at: Floats) -> Floats:
    inverse = np.linalg.pinv(design.T @ design)
    return np.einsum("ij,jk,ik->i", at, inverse, at)


def predict(used: Floats, values: Floats, at: Floats) -> Prediction:
    """Predict a value from used facts.

    Parameters
    ----------
    used : ndarray, shape (n, p)
        Of the tables; p may be 0.
    values : ndarray, shape (n,)
    at : ndarray, shape (p,)
        The printed facts.

    Returns
    -------
    Prediction

    Notes
    -----
    Time O(n p^2).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> facts = rng.normal(size=(300, 2))
    >>> found = predict(facts, facts @ [1.0, -1.0] + 0.1 * rng.normal(size=300), np.array([1.0, 0.0]))
    >>> found.regressed, round(found.centre, 1)
    (True, 1.0)
    """
    design, n = _design(used), len(values)
    leverages, own = _leverages(design, design), float(_leverages(design, _design(at[None]))[0])
    slopes = np.linalg.lstsq(design, values, rcond=None)[0]
    residuals, plain = values - design @ slopes, values - values.mean()
    regressed = bool(np.square(residuals / (1 - leverages)).mean() < np.square(plain * n / (n - 1)).mean())
    remoteness = float((leverages < own).mean()) if used.shape[1] else 0.0
    if not regressed:
        centre, residuals, leverages, own = float(values.mean()), plain, np.full(n, 1 / n), 1 / n
    else:
        centre = float((_design(at[None]) @ slopes)[0])
    return Prediction(
        centre, float(np.sqrt(1 + own)), residuals / np.sqrt(1 - leverages), regressed, remoteness
    )


def joint(scores: Floats, own: Floats) -> float:
    """Share of tables, the paper's counted, whose scores together are as far off.

    Parameters
    ----------
    scores : ndarray, shape (n, m)
        t_i of m values.
    own : ndarray, shape (m,)
        Their t_0.

    Returns
    -------
    float
        By Mahalanobis' distance.

    Examples
    --------
    >>> t = np.random.default_rng(0).normal(size=(99, 3))
    >>> joint(t, np.zeros(3)), joint(t, np.full(3, 9.0))
    (1.0, 0.01)
    """
    inverse = np.linalg.pinv(scores.T @ scores / len(scores))
    far = np.einsum("ij,jk,ik->i", scores, inverse, scores)
    return float((1 + (far >= own @ inverse @ own).sum()) / (1 + len(far)))


def holm(p: Floats) -> Floats:
    """Adjust p-values by Holm's procedure.

    Examples
    --------
    >>> holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    return np.minimum(adjusted[np.argsort(order)], 1.0)
