"""The ledger: every number that the paper prints beside ours, with a verdict by a stated rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cobandit.metrics import proportion_interval
from cobandit.published.derived import OPERATIONS
from cobandit.published.numbers import Published, published
from cobandit.tables.reconstruction.settings import REGRET_TOLERANCE

REPLICATED, CONSISTENT, DIFFERS, UNKNOWN = "replicated", "consistent", "differs", "cannot be checked"

#: Replays behind each error probability that the paper prints.
PAPER_REPLAYS = 500

COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")

Interval = tuple[float, float, float]


def ledger(
    cells: pd.DataFrame,
    numbers: tuple[Published, ...] | None = None,
    ensemble: pd.DataFrame | None = None,
) -> pd.DataFrame:
    r"""Set printed numbers beside computed ones.

    The rule, with the printed value taken as the interval of its rounding:

    - *replicated*: it meets our 95 % interval;
    - *consistent*: it does not, but the difference is within what two samples of the same size allow, that is
      :math:`\sqrt2` times our half width (for an error probability: the Wilson interval of the paper's own
      count of 500 meets ours), or it meets the ensemble's interval: other tables that agree with all that was
      fitted give such values; a fitted regret that is within the tolerance of the fit is consistent, too;
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
    ensemble : DataFrame, optional
        Such cells for each ``member`` of an ensemble of tables.

    Returns
    -------
    DataFrame
        One row a number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``, ``method``, ``rho``,
        ``quantity``, ``costs``, ``printed``, ``value``, ``ours``, ``low``, ``high``, ``ensemble_low`` and
        ``ensemble_high`` (between which lie the central 95 % of the members; NaN without an ensemble),
        ``verdict``.

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
    ours = _by_coordinates(cells)
    members = [] if ensemble is None else [_by_coordinates(part) for _, part in ensemble.groupby("member")]
    rows = []
    for number in numbers:
        mean, low, high = _ours(number, ours)
        spread = _spread([_ours(number, member)[0] for member in members])
        rows.append(
            {
                **{name: getattr(number, name) for name in ("key", "place", "role", "dataset", "experiment")},
                **{name: getattr(number, name) for name in ("method", "against", "rho", "quantity", "costs")},
                "printed": number.printed,
                "value": number.value,
                "ours": mean,
                "low": low,
                "high": high,
                "ensemble_low": spread[0],
                "ensemble_high": spread[1],
                "verdict": _verdict(number, mean, low, high, spread),
            }
        )
    return pd.DataFrame(rows)


def _by_coordinates(cells: pd.DataFrame) -> dict[tuple[Any, ...], Interval]:
    if "spent" in cells:  # the paper prints ends of trajectories
        cells = cells[cells["spent"].isna()]
    return {
        tuple(_none(row.get(name)) for name in COORDINATES): (row["mean"], row["low"], row["high"])
        for row in cells.to_dict("records")
    }


def _spread(values: list[float]) -> tuple[float, float]:
    """Ends of the central 95 % of the members in which the number exists."""
    known = [value for value in values if np.isfinite(value)]
    if not known:
        return np.nan, np.nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


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


def _verdict(number: Published, mean: float, low: float, high: float, spread: tuple[float, float]) -> str:
    if not np.isfinite([mean, low, high]).all():
        return UNKNOWN
    least, most = number.value - number.half_unit, number.value + number.half_unit
    if least <= high and most >= low:
        return REPLICATED
    if least <= spread[1] and most >= spread[0]:
        return CONSISTENT
    if number.quantity == "error" and number.operation is None:
        theirs = proportion_interval(round(number.value * PAPER_REPLAYS), PAPER_REPLAYS)
        return CONSISTENT if theirs[0] <= high and theirs[1] >= low else DIFFERS
    fitted = REGRET_TOLERANCE.get(str(number.method), 0.0) if number.role == "fitted" else 0.0
    if abs(number.value - mean) <= fitted * number.value:
        return CONSISTENT
    reach = np.sqrt(2) * max(high - mean, mean - low) + number.half_unit
    return CONSISTENT if abs(number.value - mean) <= reach else DIFFERS
