"""The ledger: every number that the paper prints beside ours, with a verdict by a stated rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cobandit.metrics import proportion_interval
from cobandit.published.derived import OPERATIONS
from cobandit.published.numbers import Published, published

REPLICATED, CONSISTENT, DIFFERS, UNKNOWN = "replicated", "consistent", "differs", "cannot be checked"

#: Replays behind each error probability that the paper prints.
PAPER_REPLAYS = 500

COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")

Interval = tuple[float, float, float]


def ledger(cells: pd.DataFrame, numbers: tuple[Published, ...] | None = None) -> pd.DataFrame:
    r"""Set printed numbers beside computed ones.

    The rule, with the printed value taken as the interval of its rounding:

    - *replicated*: it meets our 95 % interval;
    - *consistent*: it does not, but the difference is within what two samples of the same size allow, that is
      :math:`\sqrt2` times our half width (for an error probability: the Wilson interval of the paper's own
      count of 500 meets ours);
    - *differs*: neither;
    - *cannot be checked*: there is no such cell.

    A derived number is computed from our means; its interval is what the intervals of both allow.

    Parameters
    ----------
    cells : DataFrame
        ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low``, ``high`` and, where they apply,
        ``method``, ``rho``, ``costs``, as `cobandit.experiments.summary` returns them.
    numbers : tuple of Published, optional
        Default: all that are fitted, predicted or derived.

    Returns
    -------
    DataFrame
        One row a number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``, ``method``, ``rho``,
        ``quantity``, ``costs``, ``printed``, ``value``, ``ours``, ``low``, ``high``, ``verdict``.

    Examples
    --------
    >>> cells = pd.DataFrame({"dataset": ["piqa"], "experiment": "online", "method": "CoHVUCB", "rho": 32.0})
    >>> cells = cells.assign(quantity="efficiency_regret", costs=None, mean=1080.0, low=1060.0, high=1100.0)
    >>> rows = ledger(cells).set_index("key")
    >>> rows.loc["piqa-online-32-CoHVUCB-efficiency_regret", "verdict"]
    'replicated'
    """
    if numbers is None:
        numbers = tuple(n for n in published() if n.role in ("fitted", "predicted", "arithmetic"))
    ours = {
        tuple(_none(row.get(name)) for name in COORDINATES): (row["mean"], row["low"], row["high"])
        for row in cells.to_dict("records")
    }
    rows = []
    for number in numbers:
        mean, low, high = _ours(number, ours)
        rows.append(
            {
                **{name: getattr(number, name) for name in ("key", "place", "role", "dataset", "experiment")},
                **{name: getattr(number, name) for name in ("method", "against", "rho", "quantity", "costs")},
                "printed": number.printed,
                "value": number.value,
                "ours": mean,
                "low": low,
                "high": high,
                "verdict": _verdict(number, mean, low, high),
            }
        )
    return pd.DataFrame(rows)


def _none(value: Any) -> Any:
    """None for what a frame holds where a coordinate does not apply."""
    return None if value is None or value != value else value


def _ours(number: Published, ours: dict[tuple[Any, ...], Interval]) -> Interval:
    def cell(method: str | None) -> Interval:
        fields = {name: getattr(number, name) for name in COORDINATES} | {"method": method}
        return ours.get(tuple(fields.values()), (np.nan, np.nan, np.nan))

    if number.operation is None:
        return cell(number.method)
    operation, mine, other = OPERATIONS[number.operation], cell(number.method), cell(number.against)
    with np.errstate(divide="ignore", invalid="ignore"):
        corners = [operation(np.float64(a), np.float64(b)) for a, b in product(mine[1:], other[1:])]
        return float(operation(np.float64(mine[0]), np.float64(other[0]))), min(corners), max(corners)


def _verdict(number: Published, mean: float, low: float, high: float) -> str:
    if not np.isfinite([mean, low, high]).all():
        return UNKNOWN
    least, most = number.value - number.half_unit, number.value + number.half_unit
    if least <= high and most >= low:
        return REPLICATED
    if number.quantity == "error" and number.operation is None:
        theirs = proportion_interval(round(number.value * PAPER_REPLAYS), PAPER_REPLAYS)
        return CONSISTENT if theirs[0] <= high and theirs[1] >= low else DIFFERS
    reach = np.sqrt(2) * max(high - mean, mean - low) + number.half_unit
    return CONSISTENT if abs(number.value - mean) <= reach else DIFFERS
