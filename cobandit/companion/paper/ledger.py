"""The ledger: every number that the paper prints next to ours, with a verdict by a stated rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.numbers import RESULT_ROLES, Published, published
from cobandit.companion.paper.predictive import (
    CANNOT_TELL,
    CONSISTENT,
    DIFFERS,
    NOTHING_DRAWN,
    REPLICATED,
    UNKNOWN,
    Judged,
    group_of,
    judge_groups,
    judge_numbers,
    judge_prediction,
)

#: From the most to the least favourable.
VERDICTS = (REPLICATED, CONSISTENT, DIFFERS, CANNOT_TELL, UNKNOWN)
USED = "used"
"""In place of a verdict: the reconstruction was given this number."""
TESTED_ROLES = ("predicted", "arithmetic")

COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")
#: Of a paired comparison.
PAIR = ("against", "measure")

Interval = tuple[float, float, float]
NOTHING: Interval = (np.nan, np.nan, np.nan)
#: Half width of a 95 % interval of a normal variable, in standard deviations.
NORMAL = 1.959964


def ledger(
    cells: pd.DataFrame,
    numbers: tuple[Published, ...] | None = None,
    draws: pd.DataFrame | None = None,
) -> pd.DataFrame:
    r"""Set printed numbers next to computed ones, and judge those that are predicted.

    The rule is that of `cobandit.companion.paper.predictive.judge_prediction`, by the draws of what would be
    printed.  Without draws, a table is taken for the paper's own, and what it would print is normal around
    our value: at 95 % two samples of one size differ by :math:`\sqrt2` times our half width.  What tuning
    chooses is replicated if the printed point of the grid is not separated from the best one.

    Parameters
    ----------
    cells : DataFrame
        ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low``, ``high`` and, where they apply,
        ``method``, ``rho``, ``costs``, ``against``, ``measure``, as
        `cobandit.companion.paper.experiments.summary` returns them.
    numbers : tuple of Published, optional
        Default: all results, that is used, predicted or derived.
    draws : DataFrame, optional
        As `cobandit.companion.reconstruction.predictions.draws`, for the bundled reconstructions.

    Returns
    -------
    DataFrame
        One row per number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``, ``method``,
        ``against``, ``rho``, ``quantity``, ``costs``, ``group`` (joined,
        `cobandit.companion.paper.predictive.group_of`), ``printed``, ``value``;
        ``ours``, ``low``, ``high`` on the tables of the cells; ``predicted_low``, ``predicted_high``, ``z``,
        ``p``, ``width`` and ``verdict``.

    Examples
    --------
    >>> cells = pd.DataFrame({"dataset": ["piqa"], "experiment": "online", "method": "CoHVUCB", "rho": 32.0})
    >>> cells = cells.assign(quantity="efficiency_regret", costs=None, mean=1080.0, low=1060.0, high=1100.0)
    >>> rows = ledger(cells).set_index("key")
    >>> rows.loc["piqa-online-32-CoHVUCB-efficiency_regret", "verdict"]
    'replicated'
    """
    if numbers is None:
        numbers = tuple(n for n in published() if n.role in RESULT_ROLES)
    ours = _by_coordinates(cells)
    tested = [number for number in numbers if number.role in TESTED_ROLES]
    judged = {} if draws is None else judge_numbers(draws, tested)
    rows = []
    for number in numbers:
        mean, low, high = _ours(number, ours)
        if number.experiment == "tuning":
            found = _judge_tuning(number, ours)
        elif draws is None:
            found = _judge_replays(number, mean, low, high)
        else:
            found = judged.get(number.key, NOTHING_DRAWN._replace(verdict=USED))
        rows.append(
            {
                **{name: getattr(number, name) for name in ("key", "place", "role", "dataset", "experiment")},
                **{name: getattr(number, name) for name in ("method", "against", "rho", "quantity", "costs")},
                "group": ", ".join(group_of(number)),
                "printed": number.printed,
                "value": number.value,
                "ours": mean,
                "low": low,
                "high": high,
                "predicted_low": found.low,
                "predicted_high": found.high,
                **{name: getattr(found, name) for name in ("z", "p", "width", "verdict")},
            }
        )
    return pd.DataFrame(rows)


def tally(rows: pd.DataFrame) -> pd.DataFrame:
    """Count what is predicted: by number, and by group, so that each independent fact counts once.

    Parameters
    ----------
    rows : DataFrame
        From `ledger`.

    Returns
    -------
    DataFrame
        Rows ``"groups"`` and ``"numbers"`` by verdicts, and ``total``.

    Examples
    --------
    >>> from cobandit.companion.stored import results
    >>> counts = tally(results.ledger())
    >>> counts.index.tolist(), bool(counts.loc["groups", "total"] < counts.loc["numbers", "total"])
    (['groups', 'numbers'], True)
    """
    tested = rows[rows["role"].isin(TESTED_ROLES)]
    counted = {"groups": judge_groups(tested)["verdict"], "numbers": tested["verdict"]}
    counts = {
        what: verdict.value_counts().reindex(list(VERDICTS), fill_value=0)
        for what, verdict in counted.items()
    }
    frame = pd.DataFrame(counts).T.astype(int).rename_axis(columns=None)
    return frame.assign(total=frame.sum(axis=1))


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


def _judge_replays(number: Published, mean: float, low: float, high: float) -> Judged:
    """Judge a number as if our table were the paper's."""
    if not np.isfinite([mean, low, high]).all():
        return NOTHING_DRAWN
    deviation = np.sqrt(2) * max(high - mean, mean - low) / NORMAL
    draws = mean + deviation * ndtri((np.arange(1000) + 0.5) / 1000)
    return judge_prediction(draws, number.value, number.half_unit)


def _judge_tuning(number: Published, ours: dict[tuple[Any, ...], Interval]) -> Judged:
    """Whether the printed point of the grid is separated from the best one."""
    gap = ours.get((number.dataset, "tuning", "gap", None, None, None, None, None), NOTHING)
    if not np.isfinite(gap).all():
        return NOTHING_DRAWN
    return NOTHING_DRAWN._replace(verdict=REPLICATED if gap[1] <= 0 <= gap[2] else DIFFERS)
