"""The printed numbers as results: error probabilities as counts, means as cells, claims judged by them."""

from itertools import combinations
from typing import Any

import pandas as pd

from cobandit.stats.paired_errors import compare
from cobandit.stats.summaries import proportion_interval
from companion.paper.derived import EQUAL, DerivedValue, derive
from companion.paper.judge import (
    CLOSE,
    HOLDS,
    NOTHING,
    UNKNOWN,
    Claim,
    by_place,
    claims,
    judge_claim,
    verdicts,
)
from companion.paper.numbers import RESULT_ROLES, Published, as_frame, published, run_of
from companion.paper.predictive import REPLAYS

#: Verdict on a claim of which the printed numbers bear out the part that they cover.
HOLDS_WHERE_PRINTED = "holds where printed"


def error_counts() -> pd.DataFrame:
    """Every error probability that the paper prints, as the count of replays that it is.

    Returns
    -------
    DataFrame
        One row per dataset, budget, method and kind of costs: ``dataset``, ``rho``,
        ``costs``, ``method``, ``printed``, ``errors`` (a count), ``replays``, and
        ``low``, ``high``, the Wilson 95 % interval.

    Examples
    --------
    >>> table = error_counts()
    >>> table.loc[table["printed"] == "0.148", ["dataset", "costs", "errors"]].to_numpy().tolist()
    [['piqa', 'declared', 74], ['piqa', 'realised', 74]]
    """
    place = ["dataset", "rho", "costs", "method"]
    frame = as_frame()
    frame = frame[
        (frame["quantity"] == "error") & frame["operation"].isna()
    ].drop_duplicates(place)
    errors = (frame["value"] * REPLAYS).round().astype(int)
    frame = (
        frame[[*place, "printed"]]
        .assign(errors=errors, replays=REPLAYS)
        .reset_index(drop=True)
    )
    ends = [proportion_interval(count, REPLAYS) for count in frame["errors"]]
    return frame.join(pd.DataFrame(ends, columns=["low", "high"]))


def error_comparisons() -> pd.DataFrame:
    """Every comparison of error probabilities that the paper draws, tested on its counts.

    CoPSI against each other method under the same costs, and each method under declared
    against realised costs.

    Returns
    -------
    DataFrame
        ``dataset``, ``rho``, ``about`` (``"methods"`` or ``"costs"``), ``first`` and
        ``second`` (methods), ``costs`` (of each), ``errors`` (of each), ``replays`` and
        what `cobandit.stats.paired_errors.compare` gives.

    Examples
    --------
    >>> error_comparisons().groupby("about").size().to_dict()
    {'costs': 6, 'methods': 9}
    """
    rows = []
    for a, b in combinations(error_counts().to_dict("records"), 2):
        charges = a["method"] == b["method"]
        if (a["dataset"], a["rho"]) != (b["dataset"], b["rho"]):
            continue
        if not charges and (a["method"] != "CoPSI" or a["costs"] != b["costs"]):
            continue
        row = {name: a[name] for name in ("dataset", "rho", "replays")}
        row |= {
            "about": "costs" if charges else "methods",
            "first": a["method"],
            "second": b["method"],
        }
        row |= {name: (a[name], b[name]) for name in ("costs", "errors")}
        rows.append(row | compare(a["errors"], b["errors"], REPLAYS))

    return pd.DataFrame(rows)


def _at(claim: Claim) -> list[float]:
    about = run_of(claim.experiment), "rho"
    grid = [
        n.value for n in published() if (n.experiment, n.quantity) == about and n.item
    ]
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
        ``dataset``, ``rho``, ``spent`` (the same: text prints runs at their end),
        ``method``, ``costs``, ``mean``, ``low``, ``high``.  The interval is what
        rounding allows; where the paper prints a mean twice and differently it spans
        both.  It says nothing about replays.

    Examples
    --------
    >>> claim = next(c for c in claims() if c.key == "CoHVUCB-beats-uniform-at-the-end")
    >>> cells = printed_cells(claim).set_index(["dataset", "method"])
    >>> cells.loc[("piqa", "CoHVUCB"), ["low", "mean", "high"]].tolist()
    [1097.745, 1097.75, 1149.325]
    """
    frame = as_frame()
    frame = frame[
        frame["method"].notna()
        & frame["operation"].isna()
        & (frame["quantity"] == claim.quantity)
    ]
    frame = frame[frame["experiment"].map(run_of) == run_of(claim.experiment)]

    # of what is printed twice, first what the claim's own experiment prints
    frame = frame.sort_values(
        "experiment", key=lambda name: name != claim.experiment, kind="stable"
    )
    frame = frame.assign(
        low=frame["value"] - frame["half_unit"],
        high=frame["value"] + frame["half_unit"],
    )
    places = frame.groupby(
        ["dataset", "rho", "method", "costs"], sort=False, dropna=False
    )
    cells = places.agg(
        mean=("value", "first"), low=("low", "min"), high=("high", "max")
    ).reset_index()
    return cells[cells["rho"].isin(_at(claim))].assign(spent=cells["rho"])


def judge_printed() -> pd.DataFrame:
    """Judge each claim of the paper by the means that the paper prints.

    Returns
    -------
    DataFrame
        One row a claim: ``key`` and ``verdict``.  Of a claim that holds as far as
        printed means reach, but of which they cover a part only, it is ``"holds where
        printed"``.

    Examples
    --------
    >>> judge_printed().set_index("key").loc["CoHVUCB-least-standard-regret", "verdict"]
    'holds where printed'
    """
    found = {}
    for claim in claims():
        frame = claim.select(printed_cells(claim))
        verdict = judge_claim(claim, frame)
        methods = {*claim.methods, *claim.against}
        charges = 2 if claim.relation == "unchanged" else 1
        every = len(claim.datasets) * len(_at(claim)) * len(methods) * charges
        # one counterexample, or one example each way, is enough; else a part stands for
        # itself only
        if verdict == HOLDS and claim.relation != "undecided":
            # of a course no grid is printed
            along = claim.along == "spent" and claim.at != "largest"
            verdict = HOLDS_WHERE_PRINTED if along or len(frame) < every else HOLDS
        found[claim.key] = verdict

    return pd.DataFrame(found.items(), columns=["key", "verdict"])


# ------------------------------------------------------------ on reconstructions
def verdicts_on_reconstructions(cells: pd.DataFrame) -> pd.Series:
    """Judge each claim on reconstructions, but not by used values that they miss.

    A reconstruction is drawn to have the used values that the paper prints of a method.
    Where it misses one by more than `CLOSE`, what it says of another method next to
    this one is not what the paper's table would. So that value takes the printed one's
    place, and a claim whose verdict changes cannot be checked; nor can one whether two
    methods are comparable, of which one is off.

    Parameters
    ----------
    cells : DataFrame
        As for `companion.paper.judge.verdicts`, under the names of the paper's
        datasets.

    Returns
    -------
    Series
        The verdict by claim key.

    Examples
    --------
    >>> from companion.stored import results
    >>> verdicts_on_reconstructions(results.ledger_cells())["recent-decisions-comparable-on-piqa"]
    'cannot be checked'
    """
    own = verdicts(cells)
    cells = cells.reindex(columns=[*dict.fromkeys([*cells, "spent"])])
    missed = _missed_values(cells)
    again = verdicts(_print_missed(cells, missed))
    for claim in claims():
        at = claim.select(missed[missed["quantity"] == claim.quantity])
        at = at[(at["experiment"] == claim.experiment) & at["rho"].isin(_at(claim))]
        if len(at) and (
            claim.relation == "comparable" or again[claim.key] != own[claim.key]
        ):
            own[claim.key] = UNKNOWN
    return own


#: By what a cell is a printed number's.
PLACE = ["dataset", "quantity", "method", "rho"]


def _missed_values(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of used values that are missed by more than `CLOSE`, with ``printed`` and ``half_unit``."""
    used = as_frame().query("role == 'used' and method.notna() and costs != 'realised'")
    used = used.drop_duplicates(PLACE)[[*PLACE, "value", "half_unit"]]
    ends = cells[cells["against"].isna() & _at_the_end(cells)]
    found = ends.reset_index().merge(used, on=PLACE).set_index("index")
    apart = (found["mean"] - found["value"]).abs()
    return found[apart > CLOSE * found[["mean", "value"]].max(axis=1)]


def _print_missed(cells: pd.DataFrame, missed: pd.DataFrame) -> pd.DataFrame:
    """Put printed values in the place of missed ones; paired comparisons with these are left out."""
    cells = cells.copy()
    cells.loc[missed.index, "mean"] = missed["value"]
    cells.loc[missed.index, "low"] = missed["value"] - missed["half_unit"]
    cells.loc[missed.index, "high"] = missed["value"] + missed["half_unit"]
    places = pd.MultiIndex.from_frame(missed[PLACE])
    sides = (
        pd.MultiIndex.from_frame(cells[["dataset", "quantity", side, "rho"]])
        for side in SIDES
    )
    about = pd.concat(
        [pd.Series(side.isin(places), cells.index) for side in sides], axis=1
    ).any(axis=1)
    return cells[~(about & cells["against"].notna() & _at_the_end(cells))]


#: Columns that name the two methods of a paired comparison.
SIDES = ("method", "against")


def _at_the_end(cells: pd.DataFrame) -> pd.Series:
    """Whether a cell is about whole runs, or about the last point of their course."""
    return cells["spent"].isna() | (
        cells["spent"] == cells.groupby("dataset")["spent"].transform("max")
    )


# -------------------------------------------------------- next to computed ones
COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")
#: Of a paired comparison.
PAIR = ("against", "measure")


def ledger(
    cells: pd.DataFrame,
    numbers: tuple[Published, ...] | None = None,
    predicted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Set printed numbers next to computed ones, and next to what is predicted of them.

    No row has a word: those belong to the contrasts
    (`companion.paper.judge_contrasts`).

    Parameters
    ----------
    cells : DataFrame
        ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low``, ``high`` and,
        where they apply, ``method``, ``rho``, ``costs``, ``against``, ``measure``, as
        `companion.paper.experiments.summary` returns them.
    numbers : tuple of Published, optional
        Default: all results, that is used, predicted or derived.
    predicted : DataFrame, optional
        As `companion.paper.predict_numbers`.

    Returns
    -------
    DataFrame
        One row per number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``,
        ``method``, ``against``, ``rho``, ``quantity``, ``costs``, ``printed``,
        ``value``, ``half_unit``; ``ours``, ``low``, ``high`` on the tables of the
        cells; ``predicted_low``, ``predicted_high``.

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
    if "spent" in cells:  # the paper prints ends of trajectories
        cells = cells[cells["spent"].isna()]
    ours = by_place(cells, [*COORDINATES, *PAIR])
    fields = [
        "key",
        "place",
        "role",
        "dataset",
        "experiment",
        "method",
        "against",
        "rho",
        "quantity",
    ]
    fields += ["costs", "printed", "value", "half_unit"]
    rows = [
        [getattr(number, name) for name in fields] + [*_ours(number, ours)]
        for number in numbers
    ]
    frame = pd.DataFrame(rows, columns=[*fields, "ours", "low", "high"])
    ends = ["predicted_low", "predicted_high"]
    predicted = (
        pd.DataFrame(columns=ends, dtype=float) if predicted is None else predicted
    )
    return frame.join(predicted[ends], on="key")


def _ours(number: Published, ours: dict[tuple[Any, ...], DerivedValue]) -> DerivedValue:
    def cell(method: str | None, *pair: str | None) -> DerivedValue:
        fields = {name: getattr(number, name) for name in COORDINATES} | {
            "method": method
        }
        return ours.get((*fields.values(), *(pair or (None, None))), NOTHING)

    if number.operation is None:
        return cell(number.method)
    found = derive(number.operation, cell(number.method), cell(number.against))
    # each operation is a function of the difference or of the ratio of its two numbers
    measure = "difference" if number.operation == "difference" else "ratio"
    if (paired := cell(number.method, number.against, measure)) is NOTHING:
        return found
    return DerivedValue(
        found.mean, *derive(number.operation, paired, EQUAL[measure])[1:]
    )
