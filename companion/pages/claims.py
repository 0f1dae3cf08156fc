"""Everything that the paper claims, a row each: what it prints, what tables say, and what becomes of it.

Rows are the statements of its theory, the fourteen contrasts, the orderings and remarks
in words, the printed numbers, and at the end this book's own statements.  Each has an
identifier, its line in ``claims.yml``, which never changes: pages link to it.
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

#: What a status can be, with its sign: of statements, of orderings and remarks, of
#: contrasts, of the rest.
DIVIDED = "divided"
USED = "used"
NO_WORD = "no word"
NOT_TESTABLE = "not testable"
#: What is added to a verdict that one kind of tables has alone.
MEASURED_ONLY = "where measured"
DRAWN_ONLY = "on reconstructions"
SIGNS = {
    **{f"{HOLDS}{of}": "✓" for of in ("", f" {MEASURED_ONLY}", f" {DRAWN_ONLY}")},
    **{f"{FAILS}{of}": "✗" for of in ("", f" {MEASURED_ONLY}", f" {DRAWN_ONLY}")},
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
#: Method whose schedule is our reading of the paper, and the name of the open choice.
READ_METHOD = "PSISR"
READING = "A6"
QUANTITIES = {
    "online": "regret",
    "identification": "odds of an error",
    "full-set": "odds of F1",
}


class ClaimRow(NamedTuple):
    """One claim, as text: where it stands, what is printed, what tables say, what becomes of it.

    ``reading`` names the open choice that it hangs on, and ``exhibit`` the paper's
    table or figure that bears it, if there is one.
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
    """Return the open choice that a claim about these methods hangs on."""
    return READING if READ_METHOD in methods else ""


#: Figure of the paper by experiment and, where it has two, by quantity.
FIGURES = {
    ("online", "efficiency_regret"): "Figure 2",
    ("online", "standard_regret"): "Figure 3",
    "identification": "Figure 2",
    "trajectory": "Figure 4",
    "full-set": "Figure 5",
    "stochastic": "Figure 6",
    "table1": "Table 1",
}
#: Facts of an experiment that no figure shows.
NOT_DRAWN = ("gap_min", "pareto_arms")


def exhibit_of(experiment: str, quantity: str) -> str:
    """Name the paper's table or figure that shows a quantity of an experiment, or nothing.

    Examples
    --------
    >>> exhibit_of("online", "standard_regret"), exhibit_of("trajectory", "moving_average")
    ('Figure 3', 'Figure 4')
    """
    if experiment == "identification" and quantity in NOT_DRAWN:
        return ""
    return FIGURES.get((experiment, quantity)) or FIGURES.get(experiment, "")


@cache
def identifiers() -> dict[str, str]:
    """Return the identifier of every claim by its key, as `ClaimRow` has it.

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
    """Every claim with its status.

    Parameters
    ----------
    plays : DataFrame, optional
        Default: the stored tables of the posterior.
    statements : DataFrame, optional
        Default: `companion.proofs.checks.check_statements`, which takes most of the
        time.
    measured : sequence of str
        Tables in the place of GSM8K's and of PIQA's: names of the catalogue or files.
    words : DataFrame, optional
        Default: `companion.paper.resample_words` of the plays.
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
    ours = in_place(measured, scale)
    words = paper.resample_words(plays) if words is None else words
    rows = [
        *state(statements),
        *contrast(paper.judge_contrasts(plays), words, cells, ours),
        *order(cells, ours, paper.shares(plays), originals(measured)),
        *remark(measured, originals(measured)),
        *number(cells, ours, paper.predict_numbers(plays)),
    ]
    rows.sort(key=lambda row: KINDS.index(row.kind))
    if unknown := {row.key for row in rows} - set(identifiers()):
        raise CobanditError(
            f"no identifier of {min(unknown)!r} -> add a line at the end of claims.yml"
        )

    return pd.DataFrame(
        rows, index=pd.Index([identifiers()[row.key] for row in rows], name="id")
    )


@cache
def play_measured(names: tuple[str, ...], scale: float = 1.0) -> pd.DataFrame:
    """Replay the paper's experiments on tables, or read what is stored of them.

    Parameters
    ----------
    names : tuple of str
        Of the catalogue, or files; at most two.
    scale : float
        Replications as a multiple of the paper's; on tables of any shape fewer, if a
        minute is not enough.

    Returns
    -------
    DataFrame
        As from `companion.paper.experiments.summary`.
    """
    if names == results.MEASURED:
        return results.read_result("measured")

    played = []
    for table in map(open_table, names[: len(results.NAMES)]):
        extent = (
            experiments.Extent() if originals(names) else experiments.fit_extent(table)
        )
        cells = experiments.summary(
            table,
            scale * extent.scale,
            online=extent.online,
            workers=-1,
            backend="threading",
        )
        played.append(cells)

    return pd.concat(played, ignore_index=True)


def in_place(names: Sequence[str], scale: float = 1.0) -> pd.DataFrame:
    """Play the paper's experiments on other tables, under the names of the paper's tables."""
    cells = play_measured(tuple(names), scale)
    stands_for = dict(zip(cells["dataset"].unique(), results.NAMES, strict=False))
    return cells.assign(dataset=cells["dataset"].replace(stands_for))


def originals(names: Sequence[str]) -> bool:
    """Whether tables are the paper's own two, by the names on their cards.

    Only these can bear out what it says about one of its data sets, or of one against
    the other.
    """
    return tuple(names) != results.MEASURED and [
        open_table(name).name for name in names
    ] == [*results.NAMES]


def state(statements: pd.DataFrame) -> Iterator[ClaimRow]:
    """Statements of the theory, the paper's and ours, with what testing them found."""
    typed = _typed("statements.yml")
    for each in statements.to_dict("records"):
        known = typed.get(each["statement"], {"says": each["statement"], "place": ""})
        yield ClaimRow(
            key=each["statement"],
            kind=OURS if each["ours"] else STATEMENT,
            claim=known["says"],
            place=known["place"],
            page=each["page"],
            replays=each["found"],
            status=each["outcome"],
            size=checks.format_slack(each["slack"]),
        )


#: Where the numbers of a contrast are printed, by its experiment.
PRINTED_IN = {
    "online": "Section 5.2; Appendix A, Online decision trajectories",
    "identification": "Section 5.2, Pareto set identification",
    "full-set": "Appendix A, Approximate recovery on the complete configuration sets",
}


def contrast(
    judged: pd.DataFrame,
    words: pd.DataFrame,
    cells: pd.DataFrame,
    measured: pd.DataFrame,
) -> Iterator[ClaimRow]:
    """Return the fourteen contrasts with the words of the protocol, as ratios of regrets or of odds."""
    many = _ratios(cells)
    ours = _ratios(measured)
    shares = words.to_dict("records")
    for known, each, share in zip(
        CONTRASTS, judged.to_dict("records"), shares, strict=True
    ):
        often = percent(share[each["word"]])
        yield ClaimRow(
            key=(
                f"contrast {known.dataset} {known.experiment} {known.method}"
                f" {known.against}"
            ),
            kind=CONTRAST,
            claim=f"{_name_contrast(each, ' against ')}, ρ = {known.judged.rho:,}",
            place=PRINTED_IN[known.experiment],
            reading=_reading(*known),
            exhibit=exhibit_of(known.experiment, known.judged.quantity),
            page="reconstructions",
            paper=f"{each['printed']:.2f}",
            reconstruction=f"{each['low']:.3g} to {each['high']:.3g}",
            measured=ours.get(known.keys, ""),
            replays=many.get(known.keys, ""),
            status=each["word"],
            size=f"{each['width']:.2f} of the prior's; this word on {often} of redraws",
        )


def _name_contrast(row: Mapping[Any, Any], against: str) -> str:
    names = against.join(method_label(row[name]) for name in ("method", "against"))
    return f"{row['dataset'].upper()}, {QUANTITIES[row['experiment']]}: {names}"


def _ratios(cells: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Each contrast as many replays of one table have it."""
    single = cells[cells["against"].isna() & cells["experiment"].isin(QUANTITIES)]
    places = single[["dataset", "experiment", "rho", "method", "quantity"]].itertuples(
        index=False
    )
    named = dict(zip(starmap(run_key, places), single["mean"], strict=True))
    known = [each for each in CONTRASTS if named.keys() >= set(each.keys)]
    # where neither method ever errs there is nothing to compare
    compared = [each for each in known if max(named[key] for key in each.keys) > 0]
    return {each.keys: f"{np.exp(float(each.of(named))):.2f}" for each in compared}


def order(
    cells: pd.DataFrame, measured: pd.DataFrame, shares: pd.DataFrame, own: bool
) -> Iterator[ClaimRow]:
    """Orderings that the paper states in words.

    What it says about one of its data sets is shown on the table in its place, in
    parentheses, and does not count there; what it says about both against each other is
    not judged on other tables at all.  Both count where the tables are its own.
    """
    ours = paper.verdicts(measured)
    many = paper.verdicts_on_reconstructions(cells)

    printed = paper.judge_printed().set_index("key")["verdict"]
    shares = shares.reindex([each.key for each in paper.claims()])
    for each in paper.claims():
        known = shares.loc[each.key].dropna().items()
        counts = own or (len(each.datasets) > 1 and not each.compares_datasets)
        shown = (
            ours[each.key]
            if counts
            else ""
            if each.compares_datasets
            else f"({ours[each.key]})"
        )
        yield ClaimRow(
            key=f"ordering {each.key}",
            kind=ORDERING,
            claim=each.says,
            place=each.place,
            reading=_reading(*each.methods, *each.against),
            exhibit=exhibit_of(each.experiment, each.quantity),
            paper=printed[each.key].replace(UNKNOWN, "not printed"),
            reconstruction=", ".join(
                f"{str(name).upper()} {100 * share:.0f} %" for name, share in known
            ),
            measured=shown,
            replays=many[each.key],
            status=together(ours[each.key] if counts else UNKNOWN, many[each.key]),
        )


def together(measured: str, drawn: str) -> str:
    """Return what verdicts on measured tables and on reconstructions say together, and which of these say it.

    Examples
    --------
    >>> together("holds", "holds"), together("holds", "fails"), together("not separated", "fails")
    ('holds', 'divided', 'fails on reconstructions')
    >>> together("holds", "cannot be checked"), together("cannot be checked", "not separated")
    ('holds where measured', 'not separated')
    """
    told = [verdict for verdict in (measured, drawn) if verdict in (HOLDS, FAILS)]
    if len(told) == 2:
        return told[0] if told[0] == told[1] else DIVIDED
    if told:
        return f"{told[0]} {MEASURED_ONLY if measured in told else DRAWN_ONLY}"
    return NOT_SEPARATED if NOT_SEPARATED in (measured, drawn) else UNKNOWN


#: Share of the pairs of drawn tables from which on a remark about the paper's tables
#: holds, or fails.
ENOUGH = 0.95


def remark(measured: Sequence[str], own: bool) -> Iterator[ClaimRow]:
    """Return what the paper says of its tables and runs without an order of methods.

    What it says of its tables is judged on pairs of drawn ones, and cannot be told
    where these differ.  What it says of runs is judged on the bundled reconstructions
    and on the measured tables.
    """
    tables = [open_table(name) for name in (*results.NAMES, *measured)]
    judged = judge_remarks(tables)
    landscapes = results.read_result("landscapes")
    for typed in typed_remarks():
        key = typed["key"]
        about = typed["about"]
        row = ClaimRow(
            key=f"remark {key}",
            kind=REMARK,
            claim=typed["says"],
            place=typed["place"],
            exhibit=typed["exhibit"] or "",
            reading=_reading(READ_METHOD if "PSI-SR" in typed["says"] else None),
        )
        if about == "nothing":
            yield row._replace(status=NOT_TESTABLE, page="../book/related")
            continue
        if about == "problems":
            yield _by_dispersion(row)
            continue
        each = judged.loc[key]
        values = [
            "–" if np.isnan(each[table.name]) else f"{each[table.name]:.2f}"
            for table in tables
        ]
        row = row._replace(
            measured=", ".join(values[2:]), replays=", ".join(values[:2])
        )
        drawn = each["verdict"]
        if about == "tables":
            counted = CANNOT_TELL
            if key in RULES:
                share = share_of_pairs(key, landscapes)
                row = row._replace(reconstruction=f"{percent(share)} of pairs")
                decided = {HOLDS: share >= ENOUGH, FAILS: share <= 1 - ENOUGH}
                counted = next(
                    (f"{word} {DRAWN_ONLY}" for word, so in decided.items() if so),
                    CANNOT_TELL,
                )
            status = (
                USED if typed["used"] and drawn == HOLDS else drawn if own else counted
            )
        else:
            ours = (
                judge_pair(key, *(each[table.name] for table in tables[2:]))
                if len(tables) == 4
                else UNKNOWN
            )
            counts = own or "GSM8K" not in typed["says"]
            status = together(ours if counts else UNKNOWN, drawn)
        yield row._replace(status=status)


def _by_dispersion(row: ClaimRow) -> ClaimRow:
    """Judge by random problems whether two methods differ less where costs do."""
    outcomes = results.read_result("regions")
    outcomes = outcomes[outcomes["selection"] == "identification"]
    loss = outcomes.pivot_table(
        index=[*regions.CELL, "problem"], columns="name", values="loss"
    )
    less = (loss["CoPSI"] - loss["PSI-SR"]).groupby(level="cost_ratio").mean()
    found = (
        f"CoPSI's mean F1 is {less[1]:.3f} below PSI-SR's at equal costs,"
        f" {less[10]:.3f} at tenfold ones"
    )
    return row._replace(
        replays=found, status=HOLDS if abs(less[1]) < abs(less[10]) else FAILS
    )


def number(
    cells: pd.DataFrame, measured: pd.DataFrame, predicted: pd.DataFrame
) -> Iterator[ClaimRow]:
    """Return the printed numbers that are results; what is printed twice alike has one row."""
    known = {each.key: each for each in published()}
    others = paper.ledger(measured).set_index("key")["ours"].to_dict()

    ledger = paper.ledger(cells, predicted=predicted)
    alike = ledger["key"].map(lambda key: (known[key].coordinates, known[key].printed))
    for (_, printed), group in ledger.groupby(alike, sort=False):
        row = group.iloc[0]
        ours = _like(row["ours"], printed), _span(row["low"], row["high"], printed)
        yield ClaimRow(
            key=row["key"],
            kind=NUMBER,
            claim=in_words(known[row["key"]]),
            place="; ".join(group["place"].unique()),
            reading=_reading(row["method"], row["against"]),
            exhibit=exhibit_of(row["experiment"], row["quantity"]),
            paper=printed,
            reconstruction=_span(row["predicted_low"], row["predicted_high"], printed),
            measured=_like(others[row["key"]], printed),
            replays=f"{ours[0]} ({ours[1]})" if " to " in ours[1] else ours[0],
            status=USED if row["role"] == "used" else NO_WORD,
        )


def in_words(number: Published) -> str:
    """Return what a printed number is.

    Examples
    --------
    >>> in_words(next(n for n in published() if n.printed == "64.7%"))
    'GSM8K: share of the regret that goes away, CoHV-UCB against Uniform allocation, ρ = 32'
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
    """Return a number of ours, in percent where the paper's is."""
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


# ------------------------------------------------------------------------------------------------- as shown


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
    """Return the table of the page: a row that can be linked to per claim, which readers filter.

    Parameters
    ----------
    rows : DataFrame
        As from `every_claim`.
    caption : str

    Returns
    -------
    str
    """
    cells = "".join(f'<th scope="col">{head}</th>' for head in ("", *HEAD.values()))
    listed: list[dict[str, str]] = rows.reset_index().to_dict("records")  # type: ignore[assignment]
    body = "\n".join(_row(row["id"], row) for row in listed)
    return (
        f'<table class="filterable claims"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>\n{body}\n</tbody></table>"
    )


def anchor(exhibit: str) -> str:
    """Name the place of an exhibit on the page of exhibits.

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
    told = [
        escape(row[field])
        for field in ("paper", "reconstruction", "measured", "replays")
    ]

    # of a statement of the theory there is one finding, which no table gives
    found = (
        "".join(f"<td>{text}</td>" for text in told)
        if any(told[:3])
        else f'<td colspan="4">{told[3]}</td>'
    )
    sign = f'<span aria-hidden="true">{SIGNS[row["status"]]}</span>'
    return (
        f'<tr id="{name}" data-kind="{row["kind"]}"><th scope="row"><a'
        f' href="#{name}">{name}</a> {sign}</th>'
        "<td><a"
        f' href="{row["page"]}.html">{escape(row["claim"])}</a>{place}</td>{found}'
        f"<td>{sign} {row['status']}</td><td>{escape(row['size'])}</td></tr>"
    )


def tabulate_words(judged: pd.DataFrame, words: pd.DataFrame) -> pd.DataFrame:
    """Each contrast with its word, and how often each word comes out when tables are drawn again.

    Parameters
    ----------
    judged, words : DataFrame
        As from `companion.paper.judge_contrasts` and `companion.paper.resample_words`.
    """
    rows = []
    for row, share in zip(
        judged.to_dict("records"), words.to_dict("records"), strict=True
    ):
        often = sorted(
            ((part, word) for word, part in share.items() if part > 0), reverse=True
        )
        known = {
            "contrast": _name_contrast(row, " / "),
            "nearer": row["remoteness"],
            "p": row["p"],
        }
        known |= {"adjusted": row["adjusted"], "word": row["word"]}
        rows.append(
            known
            | {
                "on redrawn tables": ", ".join(
                    f"{word} {percent(part)}" for part, word in often
                )
            }
        )

    return pd.DataFrame(rows)


def draw_contrasts(judged: pd.DataFrame) -> Figure:
    """Contrasts as ratios with the interval of each, sorted by word.

    Parameters
    ----------
    judged : DataFrame
        As from `companion.paper.judge_contrasts`.
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
