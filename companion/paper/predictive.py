r"""Conformal prediction of the numbers that the paper prints.

Random table i (a reconstruction) has the used facts x_i and the value y_i of a result;
the paper prints x_0 and y_0. Used facts are a few printed quantities, to which the
tables are fitted. Let e_i be the residual of least squares and h_i the leverage of
table i, and w >= 1 a factor on scores. Then

.. math::

    t_i = \frac{e_i}{\sqrt{1 - h_i}}, \qquad
    t_0 = \frac{y_0 - \hat y(x_0)}{\sqrt{1 + h_0}}, \qquad
    p(y_0) = \frac{1 + \#\{i : w |t_i| \ge |t_0|\}}{n + 1} .

The score t_0 of the paper, and the scores t_i of tables, are prediction errors over
their standard errors, up to a constant. For t_i, the error is the leave-one-out
residual :math:`e_i / (1 - h_i)`. The interval at level 1 - a is the set of y_0 with p >
a, so intervals and p-values agree (Vovk, Gammerman and Shafer 2005). If the regression
does not predict left-out tables better than their mean, the mean is the prediction.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.paper.derived import OPERATIONS
from companion.paper.numbers import Published, published, run_key

Floats = NDArray[np.float64]

#: Number of replays behind a printed error.
REPLAYS = 500


def played_key(number: Published, method: str | None = None) -> str:
    """Return the key of the runs that a printed number is about.

    For a number that compares two methods, ``method`` selects one of them.

    Examples
    --------
    >>> from companion.paper import published
    >>> number = next(n for n in published() if n.printed == "2179.81")
    >>> played_key(number)
    'piqa-online-32-HVUCB-efficiency_regret'
    """
    return run_key(
        number.dataset,
        number.experiment,
        number.rho,
        method or number.method,
        number.quantity,
    )


def value_on_tables(
    values: pd.DataFrame | Mapping[str, Any], number: Published
) -> Floats | None:
    """Return the value of a printed quantity on each random table (reconstruction).

    If the paper derives the number from two results, the function derives the value in
    the same way.

    Parameters
    ----------
    values : mapping
        Results on n tables as arrays (n,) by `played_key`, such as a data frame with
        one row per table.
    number : Published

    Returns
    -------
    ndarray, shape (n,), or None
        None if ``values`` lacks a result that is needed.

    Examples
    --------
    >>> number = next(n for n in published() if n.printed == "64.7%")
    >>> key = "gsm8k-online-32-{}-efficiency_regret"
    >>> values = {key.format("CoHVUCB"): [60.0, 30.0]}
    >>> values[key.format("UniformAllocation")] = [120.0, 120.0]
    >>> value_on_tables(values, number).tolist()
    [0.5, 0.75]
    """
    keys = [played_key(number)]
    if number.operation:
        keys.append(played_key(number, number.against))
    if any(key not in values for key in keys):
        return None
    first, *second = (np.asarray(values[key], dtype=np.float64) for key in keys)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            OPERATIONS[number.operation](first, *second) if number.operation else first
        )


@cache
def printed_values() -> dict[str, float]:
    """Return the paper's printed means over runs, by `played_key`.

    If the paper prints different values of the same mean, the midpoint of their range
    is returned.

    Examples
    --------
    >>> values = printed_values()  # printed as 1097.75 and as 1149.32
    >>> round(values["piqa-online-32-CoHVUCB-efficiency_regret"], 3)
    1123.535
    """
    by_key: dict[str, list[float]] = {}
    for number in published():
        is_mean = number.operation is None and number.method is not None
        if is_mean and number.experiment != "tuning":
            by_key.setdefault(played_key(number), []).append(number.value)
    return {key: (min(values) + max(values)) / 2 for key, values in by_key.items()}


@cache
def judged_values() -> dict[str, float]:
    """Return `printed_values`, but with errors under declared costs only.

    Verdicts use these values. Runs on reconstructions are charged declared costs, so a
    printed error under realised costs is not averaged with the error under declared
    costs. (The Markov chains that draw tables use `printed_values`, but no errors.)

    Examples
    --------
    >>> key = "piqa-identification-5000-UniformIdentification-error-declared"
    >>> judged_values()[key]  # it is .266 at realised costs
    0.27
    """
    declared = [
        number
        for number in published()
        if number.costs == "declared" and number.operation is None
    ]
    return printed_values() | {
        played_key(number): number.value
        for number in declared
        if number.quantity == "error"
    }


def on_scale(key: str, values: Any) -> Floats:
    """Transform values to a scale on which noise is nearly additive.

    The last part of ``key`` is the quantity. Errors and F1 become log odds, and regrets
    become logarithms.
    """
    array = np.asarray(values, dtype=np.float64)
    # half a count is added to both sides, so that errors of 0 and 1 are finite
    if "-error-" in key:
        return np.log((REPLAYS * array + 0.5) / (REPLAYS * (1 - array) + 0.5))
    if "-f1-" in key:
        return np.log(np.clip(array, 1e-6, 1) / np.clip(1 - array, 1e-6, 1))
    return np.log(np.maximum(array, 1e-9))


def off_scale(key: str, values: Any) -> Floats:
    """Transform values back from the scale of `on_scale`."""
    scaled = np.exp(np.asarray(values, dtype=np.float64))
    if "-error-" in key:
        return np.clip(
            (scaled * (REPLAYS + 0.5) - 0.5) / (REPLAYS * (1 + scaled)), 0.0, 1.0
        )
    return scaled / (1 + scaled) if "-f1-" in key else scaled


def scales_of(number: Published) -> tuple[Any, Any]:
    """Return the transformation for a printed number, and its inverse.

    Derived numbers are transformed as in `DERIVED`, all others as in `on_scale`.
    """
    key = played_key(number)
    return DERIVED.get(
        str(number.operation), (partial(on_scale, key), partial(off_scale, key))
    )


#: Transformations of derived numbers, with their inverses. Functions of a ratio become
#: the logarithm of the ratio. Differences are unchanged.
DERIVED: dict[str, tuple[Any, Any]] = {
    "ratio": (np.log, np.exp),
    "relative_reduction": (
        lambda value: np.log(1 - value),
        lambda scaled: 1 - np.exp(scaled),
    ),
    "relative_gain": (
        lambda value: np.log(1 + value),
        lambda scaled: np.exp(scaled) - 1,
    ),
    "difference": (np.asarray, np.asarray),
}


class Prediction(NamedTuple):
    """Prediction of a value on the paper's table from n random tables.

    The symbols are those of `companion.paper.predictive`.

    Attributes
    ----------
    centre, spread : float
        The prediction, and the denominator of t_0, which increases with the distance of
        the printed facts from the facts of the tables.
    scores : ndarray, shape (n,)
        Signed scores t_i of the tables.
    regressed : bool
        Whether the prediction is a regression on the used facts, and not the mean.
    remoteness : float
        Share of the tables whose used facts have less leverage than the printed facts
        (a large share: the paper's facts are untypical of the tables).
    """

    centre: float
    spread: float
    scores: Floats
    regressed: bool
    remoteness: float

    def score(self, value: float) -> float:
        """Return the score t_0 of a value: its scaled distance from the prediction."""
        return (value - self.centre) / self.spread

    def p(self, value: float, wider: float = 1.0) -> float:
        """Return the p-value of a value. ``wider`` multiplies the scores of tables."""
        as_large = wider * np.abs(self.scores) >= abs(self.score(value))
        return float((1 + as_large.sum()) / (1 + len(self.scores)))

    def interval(self, level: float = 0.95, wider: float = 1.0) -> tuple[float, float]:
        """Return the prediction interval: the range of values with p above 1 - level.

        The range is unbounded if there are too few tables for the level.

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


def _leverages(design: Floats, rows: Floats) -> Floats:
    """Return the leverage of each row with respect to a design matrix."""
    inverse = np.linalg.pinv(design.T @ design)
    return np.einsum("ij,jk,ik->i", rows, inverse, rows)


def predict(used: Floats, values: Floats, printed: Floats) -> Prediction:
    """Predict a value on the paper's table, by regression on facts of random tables.

    Parameters
    ----------
    used : ndarray, shape (n, p)
        Used facts of each random table: values of a few printed quantities; p may be 0.
    values : ndarray, shape (n,)
        The value on each drawn table.
    printed : ndarray, shape (p,)
        The same facts of the paper's table, which are printed.

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
    >>> values = facts @ [1.0, -1.0] + 0.1 * rng.normal(size=300)
    >>> prediction = predict(facts, values, np.array([1.0, 0.0]))
    >>> prediction.regressed, round(prediction.centre, 1)
    (True, 1.0)
    """
    design, printed_row = (
        np.column_stack([np.ones(len(facts)), facts]) for facts in (used, printed[None])
    )
    leverages = _leverages(design, design)
    printed_leverage = float(_leverages(design, printed_row)[0])
    n = len(values)
    slopes = np.linalg.lstsq(design, values, rcond=None)[0]
    residuals = values - design @ slopes
    deviations = values - values.mean()
    # leave-one-out errors of the regression and of the mean
    regressed = bool(
        np.square(residuals / (1 - leverages)).mean()
        < np.square(deviations * n / (n - 1)).mean()
    )
    remoteness = 0.0
    if used.shape[1]:
        # the last bits of equal leverages differ between machines
        remoteness = float((leverages < printed_leverage - 1e-9).mean())
    centre = float((printed_row @ slopes)[0])
    if not regressed:
        centre = float(values.mean())
        residuals = deviations
        leverages = np.full(n, 1 / n)
        printed_leverage = 1 / n

    scores = residuals / np.sqrt(1 - leverages)
    return Prediction(
        centre, float(np.sqrt(1 + printed_leverage)), scores, regressed, remoteness
    )


def joint_p(scores: Floats, printed: Floats) -> float:
    """Return the p-value of several predictions together, by Mahalanobis distance.

    Parameters
    ----------
    scores : ndarray, shape (n, m)
        Scores t_i of n random tables for m values (see the module).
    printed : ndarray, shape (m,)
        Scores t_0 of the printed values.

    Returns
    -------
    float
        Share of tables, the paper's included, whose Mahalanobis distance is at least
        the distance of the paper's scores.

    Examples
    --------
    >>> t = np.random.default_rng(0).normal(size=(99, 3))
    >>> joint_p(t, np.zeros(3)), joint_p(t, np.full(3, 9.0))
    (1.0, 0.01)
    """
    distances = _leverages(scores, scores)
    return float(
        (1 + (distances >= _leverages(scores, printed[None])).sum())
        / (1 + len(distances))
    )


def holm(p: Floats) -> Floats:
    """Adjust p-values by Holm's procedure.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03, 0.6])).tolist()
    [0.04, 0.09, 0.09, 0.6]
    """
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    return np.minimum(adjusted[np.argsort(order)], 1.0)
