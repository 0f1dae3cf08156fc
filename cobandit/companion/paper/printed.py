"""The printed numbers as results: error probabilities as counts, means as cells, claims judged by them."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.judge import FAILS, HOLDS, UNKNOWN, Claim, claims, judge_claim
from cobandit.companion.paper.numbers import RESULT_ROLES, Published, as_frame, published, run_of
from cobandit.companion.paper.predictive import REPLAYS
from cobandit.stats.metrics import proportion_interval
from cobandit.stats.paired_errors import compare

#: Verdict on a claim of which the printed numbers bear out the part that they cover.
HOLDS_WHERE_PRINTED = "holds where printed"


def error_counts() -> pd.DataFrame:
    """Every error probability that the paper prints, as the count of replays that it is.

    Returns
    -------
    DataFrame
        One row per dataset, budget, method and kind of costs: ``dataset``, ``rho``, ``costs``, ``method``,
        ``printed``, ``errors`` (a count), ``replays``, and ``low``, ``high``, the Wilson 95 % interval.

    Examples
    --------
    >>> table = error_counts()
    >>> table.loc[table["printed"] == "0.148", ["dataset", "costs", "errors"]].to_numpy().tolist()
    [['piqa', 'declared', 74], ['piqa', 'realised', 74]]
    """
    place, frame = ["dataset", "rho", "costs", "method"], as_frame()
    frame = frame[(frame["quantity"] == "error") & frame["operation"].isna()].drop_duplicates(place)
    errors = (frame["value"] * REPLAYS).round().astype(int)
    frame = frame[[*place, "printed"]].assign(errors=errors, replays=REPLAYS).reset_index(drop=True)
    ends = [proportion_interval(count, REPLAYS) for count in frame["errors"]]
    return frame.join(pd.DataFrame(ends, columns=["low", "high"]))


def error_comparisons() -> pd.DataFrame:
    """Every comparison of error probabilities that the paper draws, tested on its counts.

    CoPSI against each other method under the same costs, and each method under declared against realised
    costs.

    Returns
    -------
    DataFrame
        ``dataset``, ``rho``, ``about`` (``"methods"`` or ``"costs"``), ``first`` and ``second`` (methods),
        ``costs`` (of each), ``errors`` (of each), ``replays`` and the fields of
        `cobandit.stats.paired_errors.Comparison`.

    Examples
    --------
    >>> error_comparisons().groupby("about").size().to_dict()
    {'costs': 6, 'methods': 9}
    """
    rows = []
    for a, b in combinations(error_counts().to_dict("records"), 2):
        if (a["dataset"], a["rho"]) != (b["dataset"], b["rho"]):
            continue
        method, costs = a["method"] == b["method"], a["costs"] == b["costs"]
        if method == costs or (costs and "CoPSI" not in (a["method"], b["method"])):
            continue
        if costs and b["method"] == "CoPSI":
            a, b = b, a
        about = {"about": "costs" if method else "methods", "first": a["method"], "second": b["method"]}
        pair = {name: (a[name], b[name]) for name in ("costs", "errors")}
        place = {name: a[name] for name in ("dataset", "rho")}
        tested = asdict(compare(*pair["errors"], REPLAYS))
        rows.append(place | about | pair | {"replays": REPLAYS} | tested)
    return pd.DataFrame(rows)


def _at(claim: Claim) -> list[float]:
    about = run_of(claim.experiment), "rho"
    grid = [n.value for n in published() if (n.experiment, n.quantity) == about and n.item]
    if claim.along == "spent":  # of a course the text prints the end of the longest
        return grid[-1:]
    if claim.relation == "growing advantage":
        return [grid[0], grid[-1]]
    return {"largest": grid[-1:], "smallest": grid[:1]}.get(claim.at, grid)


def printed_cells(claim: Claim) -> pd.DataFrame:
    """Means that the paper prints about what a claim speaks of, as a table for `judge_claim`.

    Parameters
    ----------
    claim : Claim

    Returns
    -------
    DataFrame
        ``dataset``, ``rho``, ``spent`` (the same: text prints runs at their end), ``method``, ``costs``,
        ``mean``, ``low``, ``high``.  The interval is what rounding allows; where the paper prints a mean
        twice and differently it spans both.  It says nothing about replays.

    Examples
    --------
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-beats-uniform-at-the-end")
    >>> cells = printed_cells(claim).set_index(["dataset", "method"])
    >>> cells.loc[("piqa", "CoHVUCB"), ["low", "mean", "high"]].tolist()
    [1097.745, 1097.75, 1149.325]
    """
    about = run_of(claim.experiment), claim.quantity, None
    found: dict[Any, list[Published]] = {}
    for number in published():
        if number.method and (run_of(number.experiment), number.quantity, number.operation) == about:
            found.setdefault(number.coordinates, []).append(number)
    rows = []
    for numbers in found.values():
        number = min(numbers, key=lambda each: each.experiment != claim.experiment)
        low = min(n.value - n.half_unit for n in numbers)
        high = max(n.value + n.half_unit for n in numbers)
        place = (number.dataset, number.rho, number.rho, number.method, number.costs)
        rows.append((*place, number.value, low, high))
    columns = ["dataset", "rho", "spent", "method", "costs", "mean", "low", "high"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame[frame["rho"].isin(_at(claim))].reset_index(drop=True)


def _comparisons_claimed(claim: Claim) -> float:
    """How many comparisons `judge_claim` makes if everything is there; NaN of a course, which has no grid."""
    if claim.along == "spent" and claim.at != "largest":
        return float("nan")
    costs = ("declared", "realised") if claim.relation == "unchanged" else (claim.costs,)
    everything = product(claim.datasets, _at(claim), {*claim.methods, *claim.against}, costs)
    frame = pd.DataFrame(everything, columns=["dataset", "rho", "method", "costs"])
    return len(judge_claim(claim, frame.assign(spent=frame["rho"], mean=1.0, low=1.0, high=1.0)).details)


def judge_printed() -> pd.DataFrame:
    """Judge each claim of the paper by the means that the paper prints.

    Returns
    -------
    DataFrame
        One row a claim: ``key``, ``place``, ``says``, ``verdict``, the comparisons that the printed means
        allow (``made``) and those that the claim speaks of (``claimed``, NaN along a course), and
        ``against``, the comparisons that failed.  A claim that holds as far as printed means reach, but of
        which they cover a part only, ``"holds where printed"``.

    Examples
    --------
    >>> table = judge_printed().set_index("key")
    >>> table.loc["CoHVUCB-least-standard-regret", "verdict"]
    'holds where printed'
    """
    rows = []
    for claim in claims():
        frame, claimed = printed_cells(claim), _comparisons_claimed(claim)
        verdict, details = UNKNOWN, pd.DataFrame(columns=["verdict"])
        if set(claim.methods + claim.against) <= set(frame["method"]):
            verdict, details = judge_claim(claim, frame)
            details = details[details["verdict"] != UNKNOWN]
        # one counterexample, or one example each way, is enough; else a part stands for itself only
        if verdict == HOLDS and len(details) != claimed and claim.relation != "undecided":
            verdict = HOLDS_WHERE_PRINTED
        failed = details[details["verdict"] == FAILS].to_dict("records")
        rows.append((claim.key, claim.place, claim.says, verdict, len(details), claimed, failed))
    return pd.DataFrame(rows, columns=["key", "place", "says", "verdict", "made", "claimed", "against"])


# -------------------------------------------------------- next to computed ones
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
    fields = ["key", "place", "role", "dataset", "experiment", "method", "against", "rho", "quantity"]
    fields += ["costs", "printed", "value", "half_unit"]
    rows = [[getattr(number, name) for name in fields] + [*_ours(number, ours)] for number in numbers]
    frame = pd.DataFrame(rows, columns=[*fields, "ours", "low", "high"])
    ends = ["predicted_low", "predicted_high"]
    return frame.join(
        pd.DataFrame(columns=ends, dtype=float) if predicted is None else predicted[ends], on="key"
    )


def _by_coordinates(cells: pd.DataFrame) -> dict[tuple[Any, ...], Interval]:
    if "spent" in cells:  # the paper prints ends of trajectories
        cells = cells[cells["spent"].isna()]
    places = cells.reindex(columns=[*COORDINATES, *PAIR]).astype(object)
    places = places.where(places.notna(), None)  # where a coordinate does not apply
    ends = cells[["mean", "low", "high"]].itertuples(index=False, name=None)
    return dict(zip(places.itertuples(index=False, name=None), ends, strict=True))


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
