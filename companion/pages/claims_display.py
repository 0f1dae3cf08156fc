"""HTML table of the claims, and displays of comparisons of two methods (contrasts)."""

from collections.abc import Mapping
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from cobandit.advice.words import percent
from cobandit.figures.landscapes import typeset_text
from cobandit.figures.style import FAINT, INK, log_axis
from companion.figures.margin_labels import name_above
from companion.pages.claim_row import SIGNS, name_contrast
from companion.paper.contrasts import CANNOT_TELL, WORDS

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
    """Return an HTML table of claims, in which each row has an anchor for links.

    Parameters
    ----------
    rows : DataFrame
        Result of `companion.pages.claims.every_claim`.
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
    """Return the anchor of one of the paper's tables or figures on the book's page.

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
        escape(row["place"]) if row["place"] != row["exhibit"] else "",
        exhibit,
        f"under reading {row['reading']}" if row["reading"] else "",
    ]
    place = f" <small>{'; '.join(filter(None, places))}</small>" if any(places) else ""
    texts = [
        escape(typeset_text(row[field]))
        for field in ("paper", "reconstruction", "measured", "replays")
    ]

    # a statement of the theory has one finding, which spans the columns of all tables
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
    """Tabulate the verdicts on contrasts, and their shares on resampled tables.

    A contrast is a comparison of two methods.

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
            "contrast": name_contrast(row, " / "),
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
    """Draw the printed ratio of each contrast with its predicted interval.

    A contrast is a comparison of two methods.

    Rows are sorted by verdict.

    Parameters
    ----------
    judged : DataFrame
        Result of `companion.paper.judge_contrasts`.
    """
    rank = judged["word"].map(list(WORDS).index)
    shown = judged.assign(rank=rank).sort_values(
        ["rank", "dataset", "experiment"], kind="stable"
    )

    figure, ax = plt.subplots(figsize=(5.0, 0.9 + 0.42 * len(shown)))
    rows: list[dict[str, Any]] = shown.to_dict("records")  # type: ignore[assignment]
    for place, row in enumerate(rows):
        # colours stand for methods, so verdicts differ in their shade
        shade = INK if row["word"] != CANNOT_TELL else FAINT
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
    name_above(ax, [name_contrast(row, " / ") for row in rows])
    ax.set_xlabel("first method over second")
    log_axis(ax, "x")
    return figure
