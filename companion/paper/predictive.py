r"""What the paper would print about a table, by the number that it prints, and conformal prediction of it.

Of table i that is drawn there are used facts x_i and the value y_i.  With e_i the
residual of least squares and h_i the leverage,

.. math::

    t_i = \frac{e_i}{\sqrt{1 - h_i}}, \qquad t_0 = \frac{y_0 - \hat y(x_0)}{\sqrt{1 + h_0}}, \qquad
    p(y_0) = \frac{1 + \#\{i : w |t_i| \ge |t_0|\}}{n + 1},

where t_i is the left-out residual :math:`e_i / (1 - h_i)` over the growth of the error
with the distance, as t_0 is.  The interval at level 1 - a is the set of y_0 with p > a:
interval and p are one object (Vovk, Gammerman and Shafer 2005).  The regression is left
out where it does not predict left-out tables better than their mean.
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

#: Behind a printed error.
REPLAYS = 500


def played_key(number: Published, method: str | None = None) -> str:
    """Name the run that a number is about; of a derived number with a method that one, else the number's own.

    Examples
    --------
    >>> from companion.paper import published
    >>> keys = [played_key(n) for n in published() if n.printed in ("2179.81", "0.455", "0.028")]
    >>> for key in keys:
    ...     print(key)
    piqa-online-32-HVUCB-efficiency_regret
    piqa-trajectory-32-HVUCB-moving_average
    gsm8k-identification-5000-UniformIdentification-error-declared
    """
    return run_key(
        number.dataset,
        number.experiment,
        number.rho,
        method or number.method,
        number.quantity,
    )


def drawn(values: pd.DataFrame | Mapping[str, Any], number: Published) -> Floats | None:
    """Take a printed number from what tables play, or derive it there as the paper does from two others.

    Parameters
    ----------
    values : mapping
        Arrays (n,) by `played_key`, such as a data frame with a row per table.
    number : Published

    Returns
    -------
    ndarray, shape (n,), or None
        None where the tables lack what it is made of.

    Examples
    --------
    >>> number = next(n for n in published() if n.printed == "64.7%")
    >>> key = "gsm8k-online-32-{}-efficiency_regret"
    >>> values = {key.format("CoHVUCB"): [60.0, 30.0], key.format("UniformAllocation"): [120.0, 120.0]}
    >>> drawn(values, number).tolist()
    [0.5, 0.75]
    """
    keys = [played_key(number)] + (
        [played_key(number, number.against)] if number.operation else []
    )
    if any(key not in values for key in keys):
        return None
    first, *second = (np.asarray(values[key], dtype=np.float64) for key in keys)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            OPERATIONS[number.operation](first, *second) if number.operation else first
        )


@cache
def printed_values() -> dict[str, float]:
    """Give what the paper prints about runs, by `played_key`: middles of what it prints twice.

    Examples
    --------
    >>> round(printed_values()["piqa-online-32-CoHVUCB-efficiency_regret"], 3)  # 1097.75 and 1149.32
    1123.535
    """
    found: dict[str, list[float]] = {}
    for number in published():
        if (
            number.operation is None
            and number.method is not None
            and number.experiment != "tuning"
        ):
            found.setdefault(played_key(number), []).append(number.value)
    return {key: (min(values) + max(values)) / 2 for key, values in found.items()}


@cache
def judged_values() -> dict[str, float]:
    """Give what tables are judged by: `printed_values`, with errors at declared costs alone.

    The runs of tables are charged declared costs, and an error at realised ones is no
    second printing of the same number.  (Chains walk by `printed_values`, of which they
    read no error.)

    Examples
    --------
    >>> key = "piqa-identification-5000-UniformIdentification-error-declared"  # .270, and .266 realised
    >>> judged_values()[key]
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
    """Bring values onto a scale of additive noise: log odds of errors and of F1, logarithms of regrets."""
    array = np.asarray(values, dtype=np.float64)
    if "-error-" in key:
        return np.log((REPLAYS * array + 0.5) / (REPLAYS * (1 - array) + 0.5))
    if "-f1-" in key:
        return np.log(np.clip(array, 1e-6, 1) / np.clip(1 - array, 1e-6, 1))
    return np.log(np.maximum(array, 1e-9))


def off_scale(key: str, values: Any) -> Floats:
    """Inverse of `on_scale`."""
    scaled = np.exp(np.asarray(values, dtype=np.float64))
    if "-error-" in key:
        return np.clip(
            (scaled * (REPLAYS + 0.5) - 0.5) / (REPLAYS * (1 + scaled)), 0.0, 1.0
        )
    return scaled / (1 + scaled) if "-f1-" in key else scaled


def scales_of(number: Published) -> tuple[Any, Any]:
    """Bring values of a number onto a scale of additive noise, and back."""
    key = played_key(number)
    return DERIVED.get(
        str(number.operation), (partial(on_scale, key), partial(off_scale, key))
    )


#: Scales of derived numbers, and back: functions of a ratio become its logarithm,
#: differences stay.
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


# ------------------------------------------------------------------- prediction
class Prediction(NamedTuple):
    """What n tables predict of a value.

    Attributes
    ----------
    centre, spread : float
        The prediction, and by how much its error grows with the distance of the used
        facts.
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


def _leverages(design: Floats, at: Floats) -> Floats:
    """How far rows lie off by the second moments of a design: squares of Mahalanobis' distance, over n."""
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
    design, here = (
        np.column_stack([np.ones(len(facts)), facts]) for facts in (used, at[None])
    )
    leverages = _leverages(design, design)
    own = float(_leverages(design, here)[0])
    n = len(values)
    slopes = np.linalg.lstsq(design, values, rcond=None)[0]
    residuals = values - design @ slopes
    plain = values - values.mean()
    regressed = bool(
        np.square(residuals / (1 - leverages)).mean()
        < np.square(plain * n / (n - 1)).mean()
    )
    remoteness = float((leverages < own).mean()) if used.shape[1] else 0.0
    centre = float((here @ slopes)[0])
    if not regressed:
        centre = float(values.mean())
        residuals = plain
        leverages = np.full(n, 1 / n)
        own = 1 / n

    scores = residuals / np.sqrt(1 - leverages)
    return Prediction(centre, float(np.sqrt(1 + own)), scores, regressed, remoteness)


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
    far = _leverages(scores, scores)
    return float((1 + (far >= _leverages(scores, own[None])).sum()) / (1 + len(far)))


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
