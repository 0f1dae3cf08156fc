"""The exhibits of the paper (Table 1 and six figures), with claims and our results."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from cobandit.figures.style import FAINT, INK, escape_math, provenance
from cobandit.tables import EvaluationTable
from companion import paper
from companion.pages import claim_row, claims_display
from companion.paper import experiments


class Exhibit(NamedTuple):
    """A table or figure of the paper.

    Attributes
    ----------
    name, label : str
        Name, such as ``Figure 2``, and label in the paper's LaTeX source.
    says : str
        The claim of the caption and of the text about the exhibit, in our words.
    """

    name: str
    label: str
    says: str


EXHIBITS = (
    Exhibit(
        "Table 1",
        "tab:data",
        "108 configurations of GSM8K and 132 of PIQA differ in mean accuracy, latency"
        " and tokens. Seven of each are Pareto-optimal.",
    ),
    Exhibit(
        "Figure 1",
        "fig:landscape",
        "Accuracy and efficiency trade off among the configurations, and a few of them"
        " make up the front.",
    ),
    Exhibit(
        "Figure 2",
        "fig:main-results",
        "CoHV-UCB loses less efficiency than the other online policies, and its lead is"
        " larger on PIQA (a, b). Among fourteen arms CoPSI errs least at the largest"
        " budget (c, d).",
    ),
    Exhibit(
        "Figure 3",
        "fig:standard-hv-regret",
        "By standard regret, too, CoHV-UCB is the best of the four at each budget.",
    ),
    Exhibit(
        "Figure 4",
        "fig:online-trajectory",
        "CoHV-UCB's lead shows early in a run, and its last fifty pulls lose little.",
    ),
    Exhibit(
        "Figure 5",
        "fig:full-f1",
        "On the complete sets ties make exact recovery uninformative. There CoPSI's F1"
        " is above uniform allocation's at each budget, and close to PSI-SR's.",
    ),
    Exhibit(
        "Figure 6",
        "fig:stochastic-cost-robustness",
        "No error changes noticeably if pulls are charged their realised instead of"
        " their declared costs.",
    ),
)


def claims_of(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows of the claims that one of the paper's tables or figures shows.

    Parameters
    ----------
    rows : DataFrame
        Result of `companion.pages.claims.every_claim`.
    name : str
        Name of the table or figure, such as ``Figure 2``.
    """
    return rows[rows["exhibit"] == name]


def exhibit_html(rows: pd.DataFrame, name: str) -> str:
    """Return an HTML table of the claims that a table or figure of the paper shows.

    The rows have links to the page of all claims.
    """
    exhibit_rows = claims_of(rows, name)
    headings = {
        "claim": "claim",
        **{key: claims_display.HEAD[key] for key in ("paper", "reconstruction")},
    }
    headings |= {
        key: claims_display.HEAD[key] for key in ("measured", "replays", "status")
    }

    top = "".join(
        f'<th scope="col">{escape(text)}</th>' for text in ("", *headings.values())
    )
    lines = []
    for key, row in exhibit_rows.iterrows():
        claim = escape(row["claim"]) + (
            f" (reading {row['reading']})" if row["reading"] else ""
        )
        status = f"{claim_row.SIGNS[row['status']]} {row['status']}"
        cells = [
            claim,
            *(escape(row[field]) for field in list(headings)[1:-1]),
            escape(status),
        ]
        body = "".join(f"<td>{cell}</td>" for cell in cells)
        lines.append(
            f'<tr><th scope="row"><a href="claims.html#{key}">{key}</a></th>{body}</tr>'
        )

    caption = f"Claims about {name}"
    return (
        "<table"
        f' class="claims"><caption>{caption}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def compare_table(tables: Sequence[EvaluationTable]) -> pd.DataFrame:
    """Compute the paper's Table 1 for given tables.

    If the paper prints a row for a table, this row precedes the computed row.
    """
    printed = {
        number.key: number.printed
        for number in paper.published()
        if number.experiment == "table1"
    }
    rows = []
    for table in tables:
        facts = (
            experiments.facts(table)
            .query("experiment == 'table1'")
            .set_index("quantity")["mean"]
        )
        if f"{table.name}-table1-arms" in printed:
            printed_values = {
                key: printed[f"{table.name}-table1-{key}"] for key in facts.index
            }
            rows.append(_line(f"{table.name.upper()}, as printed", printed_values))
        values = {
            key: f"{value:,.3f}" if value < 10 else f"{value:,.1f}"
            for key, value in zip(map(str, facts.index), facts, strict=True)
        }
        values |= {key: f"{facts[key]:.0f}" for key in ("arms", "pareto_arms")}
        rows.append(_line(provenance(table), values))

    return pd.DataFrame(rows)


def _line(name: str, values: dict[str, str]) -> dict[str, str]:
    spans = {"accuracy": "accuracy", "latency": "latency, s", "tokens": "tokens"}
    line = {"table": name, "K": values["arms"]}
    for key, head in spans.items():
        ends = [values.get(f"{key}_{end}", "") for end in ("min", "max")]
        line[head] = " to ".join(ends) if all(ends) else ""
    return line | {"Pareto-optimal": values["pareto_arms"]}


def draw_landscapes(tables: Sequence[EvaluationTable]) -> Figure:
    """Draw the paper's Figure 1 for given tables: mean scores, costs and the front.

    One point stands for each configuration. Its area is proportional to its mean cost.
    """
    figure, axes = plt.subplots(
        1, len(tables), figsize=(2.3 * len(tables), 2.6), squeeze=False
    )
    for ax, table in zip(axes.flat, tables, strict=True):
        points = table.summary()
        x, y = (
            table.objectives[:2]
            if table.n_objectives > 1
            else ("cost", *table.objectives)
        )
        size = 60 * points["cost"] / points["cost"].max()
        ax.scatter(points[x], points[y], s=size, color=FAINT, alpha=0.5, lw=0)
        front = points[points["on_front"]].sort_values(x)
        ax.plot(front[x], front[y], "o-", color=INK, ms=3, lw=1)
        ax.set(
            title=escape_math(provenance(table)), xlabel=f"mean {x}", ylabel=f"mean {y}"
        )

    return figure
