"""The paper's printed numbers: their verdicts on claims, and our values beside them.

The list of all printed numbers with our values is called the ledger.
"""

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

#: Verdict on a claim that holds for all printed numbers, if some results are not
#: printed.
HOLDS_WHERE_PRINTED = "holds where printed"


def error_counts() -> pd.DataFrame:
    """Return every printed error probability as a number of wrong replays.

    Returns
    -------
    DataFrame
        One row per data set, budget, method and kind of costs: ``dataset``, ``rho``,
        ``costs``, ``method``, ``printed``; ``errors``, the number of wrong replays, and
        ``replays``, the number of all; ``low`` and ``high``, the Wilson 95 % interval
        of the error.

    Examples
    --------
    >>> table = error_counts()
    >>> table.loc[table["printed"] == "0.148", "errors"].tolist()
    [74, 74]
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
    """Test the differences between printed error probabilities.

    CoPSI is compared with each other method under the same costs. Each method is also
    compared with itself under two kinds of costs. Declared costs charge a pull the mean
    cost of its arm, and realised costs the cost of its evaluation.

    Returns
    -------
    DataFrame
        One row per comparison: ``dataset``; ``rho``; ``replays``; ``about``, whether
        ``"methods"`` or ``"costs"`` are compared; ``first`` and ``second``, the
        methods; ``costs`` and ``errors``, the pairs of their costs and of their numbers
        of errors; the fields of `cobandit.stats.paired_errors.compare`.

    Examples
    --------
    >>> error_comparisons().groupby("about").size().to_dict()
    {'costs': 6, 'methods': 9}
    """
    rows = []
    for a, b in combinations(error_counts().to_dict("records"), 2):
        same_method = a["method"] == b["method"]
        if (a["dataset"], a["rho"]) != (b["dataset"], b["rho"]):
            continue
        if not same_method and (a["method"] != "CoPSI" or a["costs"] != b["costs"]):
            continue
        row = {name: a[name] for name in ("dataset", "rho", "replays")}
        row |= {
            "about": "costs" if same_method else "methods",
            "first": a["method"],
            "second": b["method"],
        }
        row |= {name: (a[name], b[name]) for name in ("costs", "errors")}
        rows.append(row | compare(a["errors"], b["errors"], REPLAYS))

    return pd.DataFrame(rows)


def _budgets(claim: Claim) -> list[float]:
    """Return the printed budgets that a claim is about."""
    setting = run_of(claim.experiment), "rho"
    grid = [
        number.value
        for number in published()
        if (number.experiment, number.quantity) == setting and number.item
    ]
    # for trajectories, the paper prints only values at the end of the largest budget
    if claim.along == "spent":
        return grid[-1:]
    if claim.relation == "growing advantage":
        return [grid[0], grid[-1]]
    return {"largest": grid[-1:], "smallest": grid[:1]}.get(claim.at, grid)


def printed_cells(claim: Claim) -> pd.DataFrame:
    """Return the printed means that a claim is about, as input of `judge_claim`.

    Parameters
    ----------
    claim : Claim

    Returns
    -------
    DataFrame
        ``dataset``, ``rho``, ``spent``, ``method``, ``costs``, ``mean``, ``low``,
        ``high``. ``spent`` equals ``rho``, because the paper prints only values at the
        end of runs. The interval is the range of the mean before rounding. If the paper
        prints two different values of a mean, the interval contains both. The interval
        does not include the variation between replays.

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

    # if a mean is printed twice, use the value from the experiment of the claim
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
    return cells[cells["rho"].isin(_budgets(claim))].assign(spent=cells["rho"])


def judge_printed() -> pd.DataFrame:
    """Return the verdict on each ordering of the paper from the printed means.

    Returns
    -------
    DataFrame
        One row per claim: ``key`` and ``verdict``. The verdict is ``"holds where
        printed"`` if the claim holds for the printed means, but the paper does not
        print all means that the claim is about.

    Examples
    --------
    >>> judge_printed().set_index("key").loc["CoHVUCB-least-standard-regret", "verdict"]
    'holds where printed'
    """
    by_claim = {}
    for claim in claims():
        frame = claim.select(printed_cells(claim))
        verdict = judge_claim(claim, frame)
        methods = {*claim.methods, *claim.against}
        charges = 2 if claim.relation == "unchanged" else 1
        n_cells = len(claim.datasets) * len(_budgets(claim)) * len(methods) * charges
        # a part of the means can refute a claim, or show that neither method is always
        # better, but it cannot establish any other claim
        if verdict == HOLDS and claim.relation != "undecided":
            # along a trajectory, only the end is printed
            along = claim.along == "spent" and claim.at != "largest"
            verdict = HOLDS_WHERE_PRINTED if along or len(frame) < n_cells else HOLDS
        by_claim[claim.key] = verdict

    return pd.DataFrame(by_claim.items(), columns=["key", "verdict"])


def verdicts_on_reconstructions(cells: pd.DataFrame) -> pd.Series:
    """Return the verdict on each ordering of the paper from runs on reconstructions.

    A reconstruction is drawn to reproduce the used values, which the paper prints. The
    reconstruction misses a used value if its own value differs by more than a tenth.
    Comparisons with the method of a missed value are unreliable. Claims are therefore
    judged again with the printed values in place of the missed values. If the verdict
    changes, it becomes "cannot be checked". A claim that two methods are comparable
    also becomes "cannot be checked" if a value of one of them is missed.

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary` for the reconstructions of both
        data sets.

    Returns
    -------
    Series
        The verdict by key of the claim.

    Examples
    --------
    >>> from companion.stored import results
    >>> judged = verdicts_on_reconstructions(results.ledger_cells())
    >>> judged["recent-decisions-comparable-on-piqa"]
    'cannot be checked'
    """
    judged = verdicts(cells)
    cells = cells.reindex(columns=[*dict.fromkeys([*cells, "spent"])])

    missed = _missed_values(cells)
    corrected = verdicts(_print_missed(cells, missed))
    for claim in claims():
        relevant = claim.select(missed[missed["quantity"] == claim.quantity])
        relevant = relevant[
            (relevant["experiment"] == claim.experiment)
            & relevant["rho"].isin(_budgets(claim))
        ]
        if len(relevant) and (
            claim.relation == "comparable" or corrected[claim.key] != judged[claim.key]
        ):
            judged[claim.key] = UNKNOWN

    return judged


#: Columns by which cells are matched with printed numbers.
PLACE = ["dataset", "quantity", "method", "rho"]


def _missed_values(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a summary that differ from a used value by more than a tenth.

    The columns ``value`` and ``half_unit`` describe the used value.
    """
    used = as_frame().query("role == 'used' and method.notna() and costs != 'realised'")
    used = used.drop_duplicates(PLACE)[[*PLACE, "value", "half_unit"]]
    ends = cells[cells["against"].isna() & _at_the_end(cells)]
    used_cells = ends.reset_index().merge(used, on=PLACE).set_index("index")
    distance = (used_cells["mean"] - used_cells["value"]).abs()
    return used_cells[distance > CLOSE * used_cells[["mean", "value"]].max(axis=1)]


def _print_missed(cells: pd.DataFrame, missed: pd.DataFrame) -> pd.DataFrame:
    """Replace the means of some rows of a summary by printed values.

    Paired comparisons with these rows are dropped.
    """
    cells = cells.copy()
    cells.loc[missed.index, "mean"] = missed["value"]
    cells.loc[missed.index, "low"] = missed["value"] - missed["half_unit"]
    cells.loc[missed.index, "high"] = missed["value"] + missed["half_unit"]
    places = pd.MultiIndex.from_frame(missed[PLACE])
    sides = (
        pd.MultiIndex.from_frame(cells[["dataset", "quantity", side, "rho"]])
        for side in SIDES
    )
    is_affected = pd.concat(
        [pd.Series(side.isin(places), cells.index) for side in sides], axis=1
    ).any(axis=1)
    return cells[~(is_affected & cells["against"].notna() & _at_the_end(cells))]


#: Columns that name the two methods of a paired comparison.
SIDES = ("method", "against")


def _at_the_end(cells: pd.DataFrame) -> pd.Series:
    """Return the mask of rows about whole runs or about the end of a trajectory."""
    return cells["spent"].isna() | (
        cells["spent"] == cells.groupby("dataset")["spent"].transform("max")
    )


COORDINATES = ("dataset", "experiment", "quantity", "method", "rho", "costs")
#: Further coordinates of a paired comparison.
PAIR = ("against", "measure")


def ledger(
    cells: pd.DataFrame,
    numbers: tuple[Published, ...] | None = None,
    predicted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the paper's printed numbers next to our values and predictions.

    Numbers have no verdicts. Verdicts are about comparisons of two methods
    (`companion.paper.judge_contrasts`).

    Parameters
    ----------
    cells : DataFrame
        Result of `companion.paper.experiments.summary`, or a data frame with some of
        its columns: ``dataset``, ``experiment``, ``quantity``, ``mean``, ``low`` and
        ``high`` are required.
    numbers : tuple of Published, optional
        Printed numbers. Default: all results of the paper, which are the used, the
        predicted and the derived numbers.
    predicted : DataFrame, optional
        Result of `companion.paper.predict_numbers`.

    Returns
    -------
    DataFrame
        One row per number: ``key``, ``place``, ``role``, ``dataset``, ``experiment``,
        ``method``, ``against``, ``rho``, ``quantity``, ``costs``, ``printed``,
        ``value``, ``half_unit``; ``ours``, ``low`` and ``high``, the value in ``cells``
        with its interval; ``predicted_low`` and ``predicted_high``.

    Examples
    --------
    >>> cells = pd.DataFrame({"dataset": ["piqa"], "experiment": "online"})
    >>> cells = cells.assign(method="CoHVUCB", rho=32.0, costs=None)
    >>> cells = cells.assign(quantity="efficiency_regret", mean=1080.0)
    >>> cells = cells.assign(low=1060.0, high=1100.0)
    >>> rows = ledger(cells).set_index("key")
    >>> rows.loc["piqa-online-32-CoHVUCB-efficiency_regret", ["value", "ours"]].tolist()
    [1097.75, 1080.0]
    """
    if numbers is None:
        numbers = tuple(n for n in published() if n.role in RESULT_ROLES)
    # for trajectories, the paper prints only values at the end of runs
    if "spent" in cells:
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
    if predicted is None:
        predicted = pd.DataFrame(columns=ends, dtype=float)
    return frame.join(predicted[ends], on="key")


def _ours(number: Published, ours: dict[tuple[Any, ...], DerivedValue]) -> DerivedValue:
    def cell(method: str | None, *pair: str | None) -> DerivedValue:
        fields = {name: getattr(number, name) for name in COORDINATES} | {
            "method": method
        }
        return ours.get((*fields.values(), *(pair or (None, None))), NOTHING)

    if number.operation is None:
        return cell(number.method)
    derived = derive(number.operation, cell(number.method), cell(number.against))
    # An operation depends only on the difference or the ratio of its two numbers. The
    # interval of the paired comparison can therefore be used.
    measure = "difference" if number.operation == "difference" else "ratio"
    if (paired := cell(number.method, number.against, measure)) is NOTHING:
        return derived
    interval = derive(number.operation, paired, EQUAL[measure])[1:]
    return DerivedValue(derived.mean, *interval)
