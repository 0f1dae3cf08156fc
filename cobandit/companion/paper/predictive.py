"""What the paper would print about a table, by the number that it prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.numbers import SAME_RUNS_AS, Published, published

Floats = NDArray[np.float64]

REPLAYS = 500
"""Behind a printed error."""


def played_key(number: Published, method: str | None = None) -> str:
    """Name the run that a number is about: what is printed about the same run has the same key.

    Under realised costs the pulls are those under declared costs, but for a few at the end, and errors of
    both are one number here.

    Parameters
    ----------
    number : Published
    method : str, optional
        Default: the number's own; of a derived number also the one that it is held against.

    Examples
    --------
    >>> from cobandit.companion.paper import published
    >>> keys = [played_key(n) for n in published() if n.printed in ("2179.81", "0.455", "0.028")]
    >>> for key in keys:
    ...     print(key)
    piqa-online-32-HVUCB-efficiency_regret
    piqa-trajectory-32-HVUCB-moving_average
    gsm8k-identification-5000-UniformIdentification-error-declared
    """
    run = SAME_RUNS_AS.get(number.experiment, number.experiment)
    place = "trajectory" if number.quantity == "moving_average" else run
    costs = "-declared" if number.costs else ""
    return f"{number.dataset}-{place}-{number.rho or 0:g}-{method or number.method}-{number.quantity}{costs}"


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
    keys = [played_key(number)] + ([played_key(number, number.against)] if number.operation else [])
    if any(key not in values for key in keys):
        return None
    first, *second = (np.asarray(values[key], dtype=np.float64) for key in keys)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(OPERATIONS[number.operation](first, *second) if number.operation else first)


def printed_values() -> dict[str, float]:
    """Give what the paper prints about runs, by `played_key`: middles of what it prints twice.

    Examples
    --------
    >>> round(printed_values()["piqa-online-32-CoHVUCB-efficiency_regret"], 3)  # 1097.75 and 1149.32
    1123.535
    """
    found: dict[str, list[float]] = {}
    for number in published():
        if number.operation is None and number.method is not None and number.experiment != "tuning":
            found.setdefault(played_key(number), []).append(number.value)
    return {key: (min(values) + max(values)) / 2 for key, values in found.items()}


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
        return np.clip((scaled * (REPLAYS + 0.5) - 0.5) / (REPLAYS * (1 + scaled)), 0.0, 1.0)
    return scaled / (1 + scaled) if "-f1-" in key else scaled


#: Scales of derived numbers, and back: functions of a ratio become its logarithm, differences stay.
DERIVED: dict[str, tuple[Any, Any]] = {
    "ratio": (np.log, np.exp),
    "relative_reduction": (lambda value: np.log(1 - value), lambda scaled: 1 - np.exp(scaled)),
    "relative_gain": (lambda value: np.log(1 + value), lambda scaled: np.exp(scaled) - 1),
    "difference": (np.asarray, np.asarray),
}
