"""All claims of the paper, one row each: printed value, our results, and status.

Rows are the statements of the theory, the fourteen contrasts, the orderings and remarks
in words, the printed numbers, and finally this book's own statements. Each row has an
identifier, its line in ``claims.yml``. Identifiers never change, because pages link to
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure

from cobandit.advice.words import percent
from cobandit.errors import CobanditError
from cobandit.figures.style import FAINT, INK, log_axis, method_label, name_rows
from cobandit.tables import open_table
from companion import paper
from companion.pages import regions
from companion.paper import experiments
from companion.paper.contrasts import CANNOT_TELL, CONTRASTS, WORDS
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

#: Statuses besides those of `companion.paper.judge` and `companion.paper.contrasts`.
DIVIDED = "divided"
USED = "used"
NO_WORD = "no word"
NOT_TESTABLE = "not testable"
#: Additions to a verdict that rests on one kind of tables only.
MEASURED_ONLY = "where measured"
DRAWN_ONLY = "on reconstructions"
_ADDITIONS = ("", f" {MEASURED_ONLY}", f" {DRAWN_ONLY}")
#: The sign of each status: of statements, orderings, remarks, contrasts and numbers.
SIGNS = {
    **{f"{HOLDS}{addition}": "✓" for addition in _ADDITIONS},
    **{f"{FAILS}{addition}": "✗" for addition in _ADDITIONS},
    checks.SAYS_NOTHING: "○",
    checks.FAILS: "✗",
    DIVIDED: "◐",
    NOT_SEPARATED: "≈",
    UNKNOWN: "?",
    **dict(zip(WORDS, "✓≈↯✗?", strict=True)),
    USED: "▪",
    NOT_TESTABLE: "–",
    NO_WORD: "–",
}
KINDS = ("statement", "contrast", "ordering", "remark", "number", "statement of ours")
STATEMENT, CONTRAST, ORDERING, REMARK, NUMBER, OURS = KINDS
#: Method whose schedule is our reading of the paper, and the name of that choice.
READ_METHOD = "PSISR"
READING = "A6"
QUANTITIES = {
    "online": "regret",
    "identification": "odds of an error",
    "full-set": "odds of F1",
}


class ClaimRow(NamedTuple):
    """One claim as text: its place, its printed value, our results, and its status.

    ``reading`` names the open choice that the claim depends on, and ``exhibit`` the
    table or figure of the paper that shows it, if any.
    """

    key: str
    kind: str
    claim: str
    place: str = ""
    reading: str = ""
    exhibit: str = ""
    page: str = "experiments"
    paper: str = ""
    reconstruction: str = ""
    measured: str = ""
    replays: str = ""
    status: str = NO_WORD
    size: str = ""


def _reading(*methods: str | None) -> str:
    """Return the open choice that a claim about these methods depends on."""
    return READING if READ_METHOD in methods else ""


#: Figure of the paper by experiment and, if there are two, by quantity.
FIGURES = {
    ("online", "efficiency_regret"): "Figure 2",
    ("online", "standard_regret"): "Figure 3",
    "identification": "Figure 2",
    "trajectory": "Figure 4",
    "full-set": "Figure 5",
    "stochastic": "Figure 6",
    "table1": "Table 1",
}
#: Quantities of an experiment that no figure shows.
NOT_DRAWN = ("gap_min", "pareto_arms")


def exhibit_of(experiment: str, quantity: str) -> str:
    """Return the paper's table or figure that shows a quantity, or ''.

    Examples
    --------
    >>> exhibit_of("online", "standard_regret")
    'Figure 3'
    """
    if experiment == "identification" and quantity in NOT_DRAWN:
        return ""
    return FIGURES.get((experiment, quantity)) or FIGURES.get(experiment, "")


@cache
def identifiers() -> dict[str, str]:
    """Return the identifier of every claim by its key, the key of `ClaimRow`.

    Examples
    --------
    >>> identifiers()["Theorem 1: pulls of a suboptimal arm"]
    'C4'
    """
    return {
        key: f"C{number}" for number, key in enumerate(_typed("claims.yml"), start=1)
    }


def _typed(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def every_claim(
    plays: pd.DataFrame | None = None,
    statements: pd.DataFrame | None = None,
    measured: Sequence[str] = results.MEASURED,
    words: pd.DataFrame | None = None,
    scale: float = 1.0,
) -> pd.DataFrame:
    """Return every claim with its status.

    Parameters
    ----------
    plays : DataFrame, optional
        By default the stored tables of the posterior.
    statements : DataFrame, optional
        By default the result of `companion.proofs.checks.check_statements`, which takes
        most of the time.
    measured : sequence of str
        Tables that replace the paper's tables: names in the catalogue, or files.
    words : DataFrame, optional
        By default the result of `companion.paper.resample_words` for the plays.
    scale : float
        Replications on other tables than the stored ones, as a multiple of the paper's.

    Returns
    -------
    DataFrame
        The fields of `ClaimRow`, by identifier, in the order of `KINDS`.

    Raises
    ------
    CobanditError
        If a claim has no line in ``claims.yml``.
    """
    plays = results.read_result("posterior") if plays is None else plays
    statements = checks.check_statements() if statements is None else statements
    cells = results.ledger_cells()
    ours = replace_paper_tables(measured, scale)
    words = paper.resample_words(plays) if words is None else words
    rows = [
        *statement_rows(statements),
        *contrast_rows(paper.judge_contrasts(plays), words, cells, ours),
        *ordering_rows(cells, ours, paper.shares(plays), are_originals(measured)),
        *remark_rows(measured, are_originals(measured)),
        *number_rows(cells, ours, paper.predict_numbers(plays)),
    ]
    rows.sort(key=lambda row: KINDS.index(row.kind))
    if unknown := {row.key for row in rows} - set(identifiers()):
        raise CobanditError(
            f"{min(unknown)!r} has no identifier -> add a line at the end of claims.yml"
        )

    return pd.DataFrame(
        rows, index=pd.Index([identifiers()[row.key] for row in rows], name="id")
    )


@cache
def play_measured(names: tuple[str, ...], scale: float = 1.0) -> pd.DataFrame:
    """Replay the paper's experiments on tables, or read their stored results.

    Parameters
    ----------
    names : tuple of str
        Names in the catalogue, or files; at most two.
    scale : float
        Replications as a multiple of the paper's; fewer if they would take longer than
        a minute.

    Returns
    -------
    DataFrame
        The columns of `companion.paper.experiments.summary`.
    """
    if names == results.MEASURED:
        return results.read_result("measured")

    played = []
    for table in map(open_table, names[: len(results.NAMES)]):
        extent = experiments.Extent()
        if not are_originals(names):
            extent = experiments.fit_extent(table)
        cells = experiments.summary(
            table,
            scale * extent.scale,
            online=extent.online,
            workers=-1,
            backend="threading",
        )
        played.append(cells)

    return pd.concat(played, ignore_index=True)


def replace_paper_tables(names: Sequence[str], scale: float = 1.0) -> pd.DataFrame:
    """Replace the paper's tables by others in its experiments, under their names."""
    cells = play_measured(tuple(names), scale)
    stands_for = dict(zip(cells["dataset"].unique(), results.NAMES, strict=False))
    return cells.assign(dataset=cells["dataset"].replace(stands_for))


def are_originals(names: Sequence[str]) -> bool:
    """Return whether these are the paper's own two tables, by the names on their cards.

    Only these can support its claims about one of its data sets, or about one against
    the other.
    """
    return tuple(names) != results.MEASURED and [
        open_table(name).name for name in names
    ] == [*results.NAMES]


def statement_rows(statements: pd.DataFrame) -> Iterator[ClaimRow]:
    """Return the statements of the theory, the paper's and ours, with their tests."""
    typed = _typed("statements.yml")
    for row in statements.to_dict("records"):
        words = typed.get(row["statement"], {"says": row["statement"], "place": ""})
        yield ClaimRow(
            key=row["statement"],
            kind=OURS if row["ours"] else STATEMENT,
            claim=words["says"],
            place=words["place"],
            page=row["page"],
            replays=row["found"],
            status=row["outcome"],
            size=checks.format_slack(row["slack"]),
        )


#: Place of the printed numbers of a contrast, by its experiment.
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
    """Return the contrasts with their words, as ratios of regrets or of odds."""
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
            claim=f"{_name_contrast(row, ' against ')}, ρ = {definition.judged.rho:,}",
            place=PRINTED_IN[definition.experiment],
            reading=_reading(*definition),
            exhibit=exhibit_of(definition.experiment, definition.judged.quantity),
            page="reconstructions",
            paper=f"{row['printed']:.2f}",
            reconstruction=f"{row['low']:.3g} to {row['high']:.3g}",
            measured=measured_ratios.get(definition.keys, ""),
            replays=replayed_ratios.get(definition.keys, ""),
            status=row["word"],
            size=f"{row['width']:.2f} of the prior's; this word on {often} of redraws",
        )


def _name_contrast(row: Mapping[Any, Any], against: str) -> str:
    names = against.join(method_label(row[name]) for name in ("method", "against"))
    return f"{row['dataset'].upper()}, {QUANTITIES[row['experiment']]}: {names}"


def _ratios(cells: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the ratio of each contrast by its keys, from many replays of one table."""
    single = cells[cells["against"].isna() & cells["experiment"].isin(QUANTITIES)]
    keys = single[["dataset", "experiment", "rho", "method", "quantity"]].itertuples(
        index=False
    )
    means = dict(zip(starmap(run_key, keys), single["mean"], strict=True))
    available = [row for row in CONTRASTS if means.keys() >= set(row.keys)]
    # the ratio is undefined where neither method ever errs
    compared = [row for row in available if max(means[key] for key in row.keys) > 0]
    return {row.keys: f"{np.exp(float(row.of(means))):.2f}" for row in compared}


def ordering_rows(
    cells: pd.DataFrame,
    measured: pd.DataFrame,
    shares: pd.DataFrame,
    on_originals: bool,
) -> Iterator[ClaimRow]:
    """Return the orderings that the paper states in words.

    A statement about one of the paper's data sets is shown for the table in its place,
    in parentheses, and does not count. A statement that compares the data sets is not
    judged on other tables. Both count if the tables are the paper's own.
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
            reading=_reading(*claim.methods, *claim.against),
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
    """Combine the verdicts on measured tables and on reconstructions.

    A verdict on one kind of tables alone is marked as such.

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


#: Share of the pairs of drawn tables that decides a remark about the paper's tables.
ENOUGH = 0.95


def remark_rows(measured: Sequence[str], on_originals: bool) -> Iterator[ClaimRow]:
    """Return the paper's remarks on its tables and runs that order no methods.

    Remarks on its tables are judged on pairs of drawn tables, and are undecided where
    these differ. Remarks on runs are judged on the bundled reconstructions and on the
    measured tables.
    """
    tables = [open_table(name) for name in (*results.NAMES, *measured)]
    judged = judge_remarks(tables)
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
            reading=_reading(READ_METHOD if "PSI-SR" in typed["says"] else None),
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
    """Judge on random problems whether two methods differ less where costs do."""
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
    """Return the printed numbers that are results, each once."""
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
            reading=_reading(row["method"], row["against"]),
            exhibit=exhibit_of(row["experiment"], row["quantity"]),
            paper=printed,
            reconstruction=_span(row["predicted_low"], row["predicted_high"], printed),
            measured=_like(measured_values[row["key"]], printed),
            replays=f"{ours} ({span})" if " to " in span else ours,
            status=USED if row["role"] == "used" else NO_WORD,
        )


def describe_number(number: Published) -> str:
    """Describe a printed number in words.

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
    """Format a number of ours, in percent if the paper's is."""
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


HEAD = {
    "claim": "claim",
    "paper": "paper",
    "reconstruction": "reconstructions, 95 %",
    "measured": "measured tables",
    "replays": "bundled reconstruction",
    "status": "status",
    "size": "slack or width",
}


def claims_html(rows: pd.DataFrame, caption: str) -> str:
    """Return the table of the page, with one linkable row per claim.

    Parameters
    ----------
    rows : DataFrame
        Result of `every_claim`.
    caption : str

    Returns
    -------
    str
    """
    cells = "".join(
        f'<th scope="col">{heading}</th>' for heading in ("", *HEAD.values())
    )
    records: list[dict[str, str]] = rows.reset_index().to_dict("records")  # type: ignore[assignment]
    body = "\n".join(_row(row["id"], row) for row in records)
    return (
        f'<table class="filterable claims"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>\n{body}\n</tbody></table>"
    )


def anchor(exhibit: str) -> str:
    """Return the anchor of an exhibit on the page of exhibits.

    Examples
    --------
    >>> anchor("Figure 4")
    'figure-4'
    """
    return exhibit.lower().replace(" ", "-")


def _row(name: str, row: Mapping[str, str]) -> str:
    exhibit = (
        f'<a href="exhibits.html#{anchor(row["exhibit"])}">{row["exhibit"]}</a>'
        if row["exhibit"]
        else ""
    )
    places = [
        escape(row["place"]),
        exhibit,
        f"under reading {row['reading']}" if row["reading"] else "",
    ]
    place = f"<small>{'; '.join(filter(None, places))}</small>" if any(places) else ""
    texts = [
        escape(row[field])
        for field in ("paper", "reconstruction", "measured", "replays")
    ]

    # a statement of the theory has one finding across all columns of tables
    results = (
        "".join(f"<td>{text}</td>" for text in texts)
        if any(texts[:3])
        else f'<td colspan="4">{texts[3]}</td>'
    )
    sign = f'<span aria-hidden="true">{SIGNS[row["status"]]}</span>'
    return (
        f'<tr id="{name}" data-kind="{row["kind"]}"><th scope="row"><a'
        f' href="#{name}">{name}</a> {sign}</th>'
        "<td><a"
        f' href="{row["page"]}.html">{escape(row["claim"])}</a>{place}</td>{results}'
        f"<td>{sign} {row['status']}</td><td>{escape(row['size'])}</td></tr>"
    )


def tabulate_words(judged: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Tabulate each contrast with its word, and the words on redrawn tables.

    Parameters
    ----------
    judged, words : DataFrame
        Results of `companion.paper.judge_contrasts` and
        `companion.paper.resample_words`.
    """
    rows = []
    for row, share in zip(
        judged.to_dict("records"), words.to_dict("records"), strict=True
    ):
        frequencies = sorted(
            ((part, word) for word, part in share.items() if part > 0), reverse=True
        )
        line = {
            "contrast": _name_contrast(row, " / "),
            "nearer": row["remoteness"],
            "p": row["p"],
        }
        line |= {"adjusted": row["adjusted"], "word": row["word"]}
        rows.append(
            line
            | {
                "on redrawn tables": ", ".join(
                    f"{word} {percent(part)}" for part, word in frequencies
                )
            }
        )

    return pd.DataFrame(rows)


def draw_contrasts(judged: pd.DataFrame) -> Figure:
    """Draw the contrasts as ratios with their intervals, sorted by word.

    Parameters
    ----------
    judged : DataFrame
        Result of `companion.paper.judge_contrasts`.
    """
    rank = judged["word"].map(list(WORDS).index)
    shown = judged.assign(rank=rank).sort_values(
        ["rank", "dataset", "experiment"], kind="stable"
    )

    figure, ax = plt.subplots(figsize=(8.4, 0.9 + 0.3 * len(shown)))
    rows: list[dict[str, Any]] = shown.to_dict("records")  # type: ignore[assignment]
    for place, row in enumerate(rows):
        shade = INK if row["word"] != CANNOT_TELL else FAINT  # colours are the methods'
        ax.plot([row["low"], row["high"]], [place] * 2, "-", color=shade, lw=2.4)
        ax.plot(row["printed"], place, "o", color=shade, ms=6)
        ax.annotate(
            row["word"],
            (1.02, place),
            xycoords=("axes fraction", "data"),
            va="center",
            color=shade,
        )

    ax.axvline(1, color=FAINT, lw=1)
    name_rows(ax, [_name_contrast(row, " / ") for row in rows])
    ax.set_xlabel("first method over second")
    log_axis(ax, "x")
    return figure
