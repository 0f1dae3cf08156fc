"""The ledger: every number that the paper prints next to ours, and the interval in which it is predicted."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.numbers import RESULT_ROLES, Published, published

COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")
#: Of a paired comparison.
PAIR = ("against", "measure")

Interval = tuple[float, float, float]
NOTHING: Interval = (np.nan, np.nan, np.nan)


def ledger(
    cells: pd.DataFrame,
    numbers: tuple[Published, ...] | None = None,
    predicted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Set printed numbers next to computed ones, and next to what is predicted of them.

    No row has a word: those belong to the contrasts (`cobandit.companion.paper.judge_contrasts`).

    Parameters
    ----------
    cells : DataFrame
        ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low``, ``high`` and, where they apply,
        ``method``, ``rho``, ``costs``, ``against``, ``measure``, as
        `cobandit.companion.paper.experiments.summary` returns them.
    numbers : tuple of Published, optional
        Default: all results, that is used, predicted or derived.
    predicted : DataFrame, optional
        As `cobandit.companion.paper.predict_numbers`.

    Returns
    -------
    DataFrame
        One row per number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``, ``method``,
        ``against``, ``rho``, ``quantity``, ``costs``, ``printed``, ``value``, ``half_unit``; ``ours``,
        ``low``, ``high`` on the tables of the cells; ``predicted_low``, ``predicted_high``.

    Examples
    --------
    >>> cells = pd.DataFrame({"dataset": ["piqa"], "experiment": "online", "method": "CoHVUCB", "rho": 32.0})
    >>> cells = cells.assign(quantity="efficiency_regret", costs=None, mean=1080.0, low=1060.0, high=1100.0)
    >>> rows = ledger(cells).set_index("key")
    >>> rows.loc["piqa-online-32-CoHVUCB-efficiency_regret", ["value", "ours"]].tolist()
    [1097.75, 1080.0]
    """
    if numbers is None:
        numbers = tuple(n for n in published() if n.role in RESULT_ROLES)
    ours = _by_coordinates(cells)
    fields = ("key", "place", "role", "dataset", "experiment", "method", "against", "rho", "quantity")
    more = ("costs", "printed", "value", "half_unit")
    rows = []
    for number in numbers:
        own = dict(zip(("ours", "low", "high"), _ours(number, ours), strict=True))
        rows.append({name: getattr(number, name) for name in (*fields, *more)} | own)
    ends = ["predicted_low", "predicted_high"]
    frame = pd.DataFrame(rows)
    if predicted is None:
        return frame.assign(**dict.fromkeys(ends, np.nan))
    return frame.join(predicted[ends], on="key")


def _by_coordinates(cells: pd.DataFrame) -> dict[tuple[Any, ...], Interval]:
    if "spent" in cells:  # the paper prints ends of trajectories
        cells = cells[cells["spent"].isna()]
    return {
        tuple(_none(row.get(name)) for name in COORDINATES + PAIR): (row["mean"], row["low"], row["high"])
        for row in cells.to_dict("records")
    }


def _none(value: Any) -> Any:
    """None for what a frame holds where a coordinate does not apply."""
    return None if value is None or value != value else value


def _ours(number: Published, ours: dict[tuple[Any, ...], Interval]) -> Interval:
    def cell(method: str | None, *pair: str | None) -> Interval:
        fields = {name: getattr(number, name) for name in COORDINATES} | {"method": method}
        return ours.get((*fields.values(), *(pair or (None, None))), NOTHING)

    if number.operation is None:
        return cell(number.method)
    operation, mine, other = OPERATIONS[number.operation], cell(number.method), cell(number.against)
    # each operation is a function of the difference or of the ratio of its two numbers
    measure, neutral = ("difference", 0.0) if number.operation == "difference" else ("ratio", 1.0)
    paired = cell(number.method, number.against, measure)
    known = paired is not NOTHING
    ends = [(end, neutral) for end in paired[1:]] if known else list(product(mine[1:], other[1:]))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, *extremes = (
            float(operation(np.float64(a), np.float64(b))) for a, b in [(mine[0], other[0]), *ends]
        )
    return mean, min(extremes), max(extremes)
