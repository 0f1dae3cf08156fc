"""Rows that compare each claim of the paper with our results.

One function yields the rows of each kind of claim: statements of the theory, numerical
comparisons of two methods (contrasts), comparisons in words (orderings), other remarks,
and printed numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any

import numpy as np
import pandas as pd

from cobandit.advice.words import percent
from cobandit.figures.style import method_label
from cobandit.tables import open_table
from companion import paper
from companion.pages import labels, regions
from companion.pages.claim_row import (
    CONTRAST,
    DIVIDED,
    DRAWN_ONLY,
    MEASURED_ONLY,
    NO_WORD,
    NOT_TESTABLE,
    NUMBER,
    ORDERING,
    OURS,
    QUANTITIES,
    READ_METHOD,
    REMARK,
    STATEMENT,
    USED,
    ClaimRow,
    exhibit_of,
    name_contrast,
    read_typed,
    reading_of,
)
from companion.paper.contrasts import CANNOT_TELL, CONTRASTS
from companion.paper.judge import FAILS, HOLDS, NOT_SEPARATED, UNKNOWN
from companion.paper.numbers import Published, published, run_key
from companion.paper.remarks import (
    RULES,
    judge_pair,
    judge_remarks,
    share_of_pairs,
    typed_remarks,
)
from companion.proofs import checks
from companion.stored import results


def statement_rows(statements: pd.DataFrame) -> Iterator[ClaimRow]:
    """Yield a row for each theorem or lemma, the paper's and ours, with its test."""
    typed = read_typed("statements.yml")
    for row in statements.to_dict("records"):
        words = typed.get(row["statement"], {"says": row["statement"]})
        places = [words.get("place", ""), _place_in_book(row) if row["ours"] else ""]
        yield ClaimRow(
            key=row["statement"],
            kind=OURS if row["ours"] else STATEMENT,
            claim=words["says"],
            place="; ".join(filter(None, places)),
            page=row["page"],
            replays=row["found"],
            status=row["outcome"],
            size=checks.format_slack(row["slack"]),
        )


def _place_in_book(row: Mapping[Any, Any]) -> str:
    chapter = labels.read_contents()[row["page"]]
    title = labels.read_labels()[row["page"]].words
    return f"this book, {f'chapter {chapter}' if chapter else title}"


#: Place in the paper of the numbers of a contrast, by experiment.
PRINTED_IN = {
    "online": "Section 5.2; Appendix A, Online decision trajectories",
    "identification": "Section 5.2, Pareto set identification",
    "full-set": "Appendix A, Approximate recovery on the complete configuration sets",
}


def contrast_rows(
    judged: pd.DataFrame,
    words: pd.DataFrame,
    cells: pd.DataFrame,
    measured: pd.DataFrame,
) -> Iterator[ClaimRow]:
    """Yield a row for each contrast, a ratio of two methods' regrets or odds.

    The status of a row is the verdict on the paper's value of the ratio.
    """
    replayed_ratios = _ratios(cells)

    measured_ratios = _ratios(measured)
    shares = words.to_dict("records")
    for definition, row, word_shares in zip(
        CONTRASTS, judged.to_dict("records"), shares, strict=True
    ):
        often = percent(word_shares[row["word"]])
        yield ClaimRow(
            key=(
                f"contrast {definition.dataset} {definition.experiment}"
                f" {definition.method}"
                f" {definition.against}"
            ),
            kind=CONTRAST,
            claim=f"{name_contrast(row, ' against ')}, ρ = {definition.judged.rho:,}",
            place=PRINTED_IN[definition.experiment],
            reading=reading_of(*definition),
            exhibit=exhibit_of(definition.experiment, definition.judged.quantity),
            page="reconstructions",
            paper=f"{row['printed']:.2f}",
            reconstruction=f"{row['low']:.3g} to {row['high']:.3g}",
            measured=measured_ratios.get(definition.keys, ""),
            replays=replayed_ratios.get(definition.keys, ""),
            status=row["word"],
            size=f"{row['width']:.2f} of the prior's; this word on {often} of redraws",
        )


def _ratios(cells: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the value of each contrast as text, by its pair of keys.

    A contrast is a comparison of two methods.
    """
    single = cells[cells["against"].isna() & cells["experiment"].isin(QUANTITIES)]
    keys = single[["dataset", "experiment", "rho", "method", "quantity"]].itertuples(
        index=False
    )
    means = dict(zip(starmap(run_key, keys), single["mean"], strict=True))
    available = [row for row in CONTRASTS if means.keys() >= set(row.keys)]
    # the ratio is undefined if neither method ever errs
    compared = [row for row in available if max(means[key] for key in row.keys) > 0]
    return {row.keys: f"{np.exp(float(row.of(means))):.2f}" for row in compared}


def ordering_rows(
    cells: pd.DataFrame,
    measured: pd.DataFrame,
    shares: pd.DataFrame,
    on_originals: bool,
) -> Iterator[ClaimRow]:
    """Yield a row for each ordering of methods that the paper states in words.

    ``on_originals`` is true if the measured tables are the paper's own tables.
    Otherwise, measured tables cannot decide an ordering that is about one data set or
    compares the two data sets. In the first case, the verdict of the table that
    replaces the data set is shown in parentheses. In the second case, no verdict is
    shown.
    """
    measured_verdicts = paper.verdicts(measured)
    replayed_verdicts = paper.verdicts_on_reconstructions(cells)

    printed = paper.judge_printed().set_index("key")["verdict"]
    shares = shares.reindex([claim.key for claim in paper.claims()])
    for claim in paper.claims():
        drawn_shares = shares.loc[claim.key].dropna().items()
        counts = on_originals or (
            len(claim.datasets) > 1 and not claim.compares_datasets
        )
        verdict = measured_verdicts[claim.key]
        if counts:
            shown = verdict
        elif claim.compares_datasets:
            shown = ""
        else:
            shown = f"({verdict})"
        yield ClaimRow(
            key=f"ordering {claim.key}",
            kind=ORDERING,
            claim=claim.says,
            place=claim.place,
            reading=reading_of(*claim.methods, *claim.against),
            exhibit=exhibit_of(claim.experiment, claim.quantity),
            paper=printed[claim.key].replace(UNKNOWN, "not printed"),
            reconstruction=", ".join(
                f"{str(name).upper()} {100 * share:.0f} %"
                for name, share in drawn_shares
            ),
            measured=shown,
            replays=replayed_verdicts[claim.key],
            status=combine_verdicts(
                verdict if counts else UNKNOWN, replayed_verdicts[claim.key]
            ),
        )


def combine_verdicts(measured: str, drawn: str) -> str:
    """Combine the verdict on measured tables and the verdict on reconstructions.

    If only one kind of table decides the verdict, the verdict names this kind.

    Examples
    --------
    >>> combine_verdicts("holds", "fails")
    'divided'
    >>> combine_verdicts("not separated", "fails")
    'fails on reconstructions'
    >>> combine_verdicts("cannot be checked", "not separated")
    'not separated'
    """
    decided = [verdict for verdict in (measured, drawn) if verdict in (HOLDS, FAILS)]
    if len(decided) == 2:
        return decided[0] if decided[0] == decided[1] else DIVIDED
    if decided:
        return f"{decided[0]} {MEASURED_ONLY if measured in decided else DRAWN_ONLY}"
    return NOT_SEPARATED if NOT_SEPARATED in (measured, drawn) else UNKNOWN


#: Share of pairs of drawn tables that must agree to decide a remark about the tables.
ENOUGH = 0.95


def remark_rows(measured: Sequence[str], on_originals: bool) -> Iterator[ClaimRow]:
    """Yield a row for each remark of the paper that does not compare methods.

    Remarks on tables are judged on pairs of drawn reconstructions, one per data set. A
    remark is undecided unless 95 % of the pairs agree. Remarks on runs are judged on
    the bundled reconstructions and on the measured tables.
    """
    names = (*results.NAMES, *measured)
    tables = [open_table(name) for name in names]
    by_table = {
        table.name: results.measured_remarks(name)
        for table, name in zip(tables, names, strict=True)
    }
    judged = judge_remarks(by_table)
    landscapes = results.read_result("landscapes")
    for typed in typed_remarks():
        key = typed["key"]
        subject = typed["about"]
        row = ClaimRow(
            key=f"remark {key}",
            kind=REMARK,
            claim=typed["says"],
            place=typed["place"],
            exhibit=typed["exhibit"] or "",
            reading=reading_of(READ_METHOD if "PSI-SR" in typed["says"] else None),
        )
        if subject == "nothing":
            yield row._replace(status=NOT_TESTABLE, page="../book/related")
            continue
        if subject == "problems":
            yield _by_dispersion(row)
            continue

        judged_row = judged.loc[key]
        values = [
            "–" if np.isnan(judged_row[table.name]) else f"{judged_row[table.name]:.2f}"
            for table in tables
        ]
        row = row._replace(
            measured=", ".join(values[2:]), replays=", ".join(values[:2])
        )
        drawn = judged_row["verdict"]
        if subject == "tables":
            verdict_on_pairs = CANNOT_TELL
            if key in RULES:
                share = share_of_pairs(key, landscapes)
                row = row._replace(reconstruction=f"{percent(share)} of pairs")
                decided = {HOLDS: share >= ENOUGH, FAILS: share <= 1 - ENOUGH}
                verdict_on_pairs = next(
                    (
                        f"{word} {DRAWN_ONLY}"
                        for word, is_decided in decided.items()
                        if is_decided
                    ),
                    CANNOT_TELL,
                )
            status = drawn if on_originals else verdict_on_pairs
            if typed["used"] and drawn == HOLDS:
                status = USED
        else:
            measured_verdict = UNKNOWN
            if len(tables) == 4:
                measured_values = (judged_row[table.name] for table in tables[2:])
                measured_verdict = judge_pair(key, *measured_values)
            counts = on_originals or "GSM8K" not in typed["says"]
            status = combine_verdicts(measured_verdict if counts else UNKNOWN, drawn)
        yield row._replace(status=status)


def _by_dispersion(row: ClaimRow) -> ClaimRow:
    """Judge the remark that CoPSI and PSI-SR differ less if costs are equal.

    The function completes the row of the remark. The verdict uses the stored results on
    random problems.
    """
    outcomes = results.read_result("regions")
    outcomes = outcomes[outcomes["selection"] == "identification"]
    loss = outcomes.pivot_table(
        index=[*regions.CELL, "problem"], columns="name", values="loss"
    )
    difference = (loss["CoPSI"] - loss["PSI-SR"]).groupby(level="cost_ratio").mean()
    finding = (
        f"CoPSI's mean F1 is {difference[1]:.3f} below PSI-SR's at equal costs,"
        f" {difference[10]:.3f} at tenfold ones"
    )
    return row._replace(
        replays=finding,
        status=HOLDS if abs(difference[1]) < abs(difference[10]) else FAILS,
    )


def number_rows(
    cells: pd.DataFrame, measured: pd.DataFrame, predicted: pd.DataFrame
) -> Iterator[ClaimRow]:
    """Yield a row for each number of the paper that is a result.

    A number that the paper prints in several places has one row.
    """
    numbers = {number.key: number for number in published()}
    measured_values = paper.ledger(measured).set_index("key")["ours"].to_dict()

    ledger = paper.ledger(cells, predicted=predicted)
    identity = ledger["key"].map(
        lambda key: (numbers[key].coordinates, numbers[key].printed)
    )
    for (_, printed), group in ledger.groupby(identity, sort=False):
        row = group.iloc[0]
        ours = _like(row["ours"], printed)
        span = _span(row["low"], row["high"], printed)
        yield ClaimRow(
            key=row["key"],
            kind=NUMBER,
            claim=describe_number(numbers[row["key"]]),
            place="; ".join(group["place"].unique()),
            reading=reading_of(row["method"], row["against"]),
            exhibit=exhibit_of(row["experiment"], row["quantity"]),
            paper=printed,
            reconstruction=_span(row["predicted_low"], row["predicted_high"], printed),
            measured=_like(measured_values[row["key"]], printed),
            replays=f"{ours} ({span})" if " to " in span else ours,
            status=USED if row["role"] == "used" else NO_WORD,
        )


def describe_number(number: Published) -> str:
    """Return a description of a printed number in words.

    Examples
    --------
    >>> number = next(number for number in published() if number.printed == "64.7%")
    >>> describe_number(number).partition(", ")[2]
    'CoHV-UCB against Uniform allocation, ρ = 32'
    """
    text = f"{number.dataset.upper()}: {number.says}" if number.dataset else number.says
    if number.method:
        text += f", {method_label(number.method)}"
    if number.against:
        text += f" against {method_label(number.against)}"
    if number.rho:
        text += f", ρ = {number.rho:g}"
    return text + (f", {number.costs} costs" if number.costs else "")


def _like(value: float, printed: str) -> str:
    """Format one of our numbers, in percent if the paper's number is in percent."""
    if not np.isfinite(value):
        return ""
    if printed.endswith("%"):
        text = f"{100 * value:.3g} %"
    else:
        text = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def _span(low: float, high: float, printed: str) -> str:
    if not np.isfinite([low, high]).all():
        return ""
    ends = _like(low, printed), _like(high, printed)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
