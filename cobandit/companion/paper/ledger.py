"""The ledger: every number that the paper prints next to ours, with a verdict by a stated rule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.numbers import RESULT_ROLES, Published, published
from cobandit.companion.reconstruction.settings import PAPER_REPLAYS, REGRET_TOLERANCE
from cobandit.stats.metrics import proportion_interval

REPLICATED, CONSISTENT, DIFFERS, UNKNOWN = "replicated", "consistent", "differs", "cannot be checked"
#: From the most to the least favourable.
VERDICTS = (REPLICATED, CONSISTENT, DIFFERS, UNKNOWN)

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
    ensemble: pd.DataFrame | None = None,
) -> pd.DataFrame:
    r"""Set printed numbers next to computed ones.

    The rule, with the printed value taken as the interval of its rounding:

    - *replicated*: it meets our 95 % interval;
    - *consistent*: it does not, but the difference is within what two samples of the same size allow, that is
      :math:`\sqrt2` times our half width (for an error probability: the Wilson interval of the paper's own
      count of 500 meets ours), or it meets the ensemble's interval: other tables that agree with all that was
      fitted give such values; a fitted regret that is within the tolerance of the fit is consistent, too;
    - *differs*: neither;
    - *cannot be checked*: there is no such cell, or too few errors for a ratio of them to have an interval.

    A derived number is computed from our means; its interval is that of the paired comparison
    (`cobandit.stats.paired_contrasts`), and without one what the intervals of both means allow.  What
    tuning chooses is a point of a grid: it is replicated if it is the same, and differs if not.

    Parameters
    ----------
    cells : DataFrame
        ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low``, ``high`` and, where they apply,
        ``method``, ``rho``, ``costs``, ``against``, ``measure``, as
        `cobandit.companion.paper.experiments.summary` returns them.
    numbers : tuple of Published, optional
        Default: all results, that is fitted, predicted, related or derived.
    ensemble : DataFrame, optional
        Such cells for each ``member`` of an ensemble of other tables.

    Returns
    -------
    DataFrame
        One row a number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``, ``method``, ``against``,
        ``rho``, ``quantity``, ``costs``, ``result`` (key of the first number about the same thing, whatever
        the costs charged), ``printed``, ``value``, ``ours``, ``low``, ``high``, ``ensemble_low`` and
        ``ensemble_high`` (between which lie the central 95 % of the members; NaN without an ensemble),
        ``between`` (share of the members' variance that their replays do not explain; NaN where no replays
        are behind the number), ``verdict``.

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
    members = [] if ensemble is None else [_by_coordinates(part) for _, part in ensemble.groupby("member")]
    first: dict[tuple[Any, ...], str] = {}
    rows = []
    for number in numbers:
        mean, low, high = _ours(number, ours)
        spread, between = _spread([_ours(number, member) for member in members])
        *about, _, item = number.coordinates
        rows.append(
            {
                **{name: getattr(number, name) for name in ("key", "place", "role", "dataset", "experiment")},
                **{name: getattr(number, name) for name in ("method", "against", "rho", "quantity", "costs")},
                "result": first.setdefault((number.role, *about, item), number.key),
                "printed": number.printed,
                "value": number.value,
                "ours": mean,
                "low": low,
                "high": high,
                "ensemble_low": spread[0],
                "ensemble_high": spread[1],
                "between": between,
                "verdict": _verdict(number, mean, low, high, spread),
            }
        )
    return pd.DataFrame(rows)


def tally(rows: pd.DataFrame) -> pd.DataFrame:
    """Count the distinct results of a ledger by role and verdict.

    A thing that the paper prints in several places, or for declared and for realised costs, is one result;
    where its rows have different verdicts it counts with the least favourable that could be reached.

    Parameters
    ----------
    rows : DataFrame
        From `ledger`.

    Returns
    -------
    DataFrame
        Roles by verdicts, and ``numbers``, the rows of the ledger behind them.

    Examples
    --------
    >>> from cobandit.companion.stored import results
    >>> counts = tally(results.ledger())
    >>> counts.index.tolist(), int(counts["numbers"].sum()) == len(results.ledger())
    (['fitted', 'predicted', 'related', 'arithmetic'], True)
    """
    checked = [UNKNOWN, REPLICATED, CONSISTENT, DIFFERS]
    worst = rows.assign(rank=rows["verdict"].map(checked.index)).groupby(["role", "result"])["rank"].max()
    verdict = worst.map(dict(enumerate(checked))).rename("verdict").reset_index()
    roles = [role for role in RESULT_ROLES if role in set(rows["role"])]
    counts = pd.crosstab(verdict["role"], verdict["verdict"]).reindex(roles)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    return counts.assign(numbers=rows["role"].value_counts().reindex(roles)).rename_axis(columns=None)


def _by_coordinates(cells: pd.DataFrame) -> dict[tuple[Any, ...], Interval]:
    if "spent" in cells:  # the paper prints ends of trajectories
        cells = cells[cells["spent"].isna()]
    return {
        tuple(_none(row.get(name)) for name in COORDINATES + PAIR): (row["mean"], row["low"], row["high"])
        for row in cells.to_dict("records")
    }


def _spread(members: list[Interval]) -> tuple[tuple[float, float], float]:
    """Ends of the central 95 % of the members in which the number exists, and what lies between tables."""
    known = [member for member in members if np.isfinite(member[0])]
    if len(known) < 2:
        return (np.nan, np.nan), np.nan
    mean, low, high = np.array(known).T
    ends = np.quantile(mean, [0.025, 0.975])
    variance, replays = mean.var(ddof=1), np.mean(((high - low) / (2 * NORMAL)) ** 2)
    replayed = 0 < replays < np.inf and variance > 0  # a fact about a table has no replays
    return (float(ends[0]), float(ends[1])), float(max(0.0, 1 - replays / variance)) if replayed else np.nan


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


def _verdict(number: Published, mean: float, low: float, high: float, spread: tuple[float, float]) -> str:
    if not np.isfinite([mean, low, high]).all():
        return UNKNOWN
    if number.experiment == "tuning":
        return REPLICATED if mean == number.value else DIFFERS
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
