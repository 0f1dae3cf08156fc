"""The HTML file of a report, which needs no other files to be shown."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cobandit._text import amount
from cobandit.advice.answer import answer_lines
from cobandit.advice.answer_table import worth_showing, write_answer_table
from cobandit.advice.recommendation import Recommendation
from cobandit.figures import described
from cobandit.figures.front_page import SORTABLE
from cobandit.tables import EvaluationTable
from cobandit.tables.whole_files import replace_file
from companion.report.pages import CHAPTERS, source

if TYPE_CHECKING:
    from companion.report.run import Manifest

HERE = Path(__file__).parent
#: Largest number of rows of a table in the report. The results folder has all rows.
SHOWN = 200
#: Positions before ids and references to them in a drawing. A prefix is inserted there,
#: because all pages of a report are in one document.
DEFINED = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')


def page_body(notebook: Any, page: str) -> str:
    """Convert an executed page to HTML, without its code."""
    from nbconvert import HTMLExporter

    # remove papermill's cells about errors, because the report describes errors itself
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "papermill-error-cell-tag" not in cell.metadata.get("tags", [])
    ]
    for cell in notebook.cells:
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        for output in cell.get("outputs", []) if alt else []:
            if drawing := output.get("data", {}).get("text/html"):
                output.data["text/html"] = DEFINED.sub(
                    f"{page}-", described(drawing, alt)
                )
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    html, _ = exporter.from_notebook_node(notebook)

    # lower headings by one level, below the report's title
    html = re.sub(r"(</?h)([1-5])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 1}", html)
    # prefix ids, because cell numbers and headings are the same on several pages
    return re.sub(r'(<(?:h\d|div)\b[^>]*) id="([^"]*)"', rf'\1 id="{page}--\2"', html)


def write_report(
    folder: Path,
    manifest: Manifest,
    table: EvaluationTable,
    advice: Recommendation,
    notice: Sequence[str],
) -> None:
    """Write the file ``index.html`` of a report.

    Parameters
    ----------
    folder : Path
        Folder of the report, with the executed notebooks.
    manifest : Manifest
    table : EvaluationTable
    advice : Recommendation
    notice : sequence of str
        Notes on the table, and findings of `cobandit.doctor`.
    """
    import jinja2
    import nbformat

    sections: list[dict[str, Any]] = []
    chapters: list[dict[str, Any]] = []
    for entry in manifest.pages:
        title = source(entry.page).partition("\n# ")[2].partition("\n")[0]
        shown = {"entry": entry, "title": title, "body": ""}
        if not entry.reason and entry.page not in CHAPTERS:
            executed = nbformat.read(
                folder / "notebooks" / f"{entry.page}.ipynb", as_version=4
            )
            shown["body"] = page_body(executed, entry.page)
        (chapters if entry.page in CHAPTERS else sections).append(shown)
    script = SORTABLE.read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True
    )
    page = environment.get_template("report.html.j2").render(
        manifest=manifest,
        table=table,
        advice=advice,
        said=answer_lines(advice),
        notice=notice,
        sections=sections,
        chapters=chapters,
        arms=_arms(advice),
        questions=_questions(advice),
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_sha256=base64.b64encode(
            hashlib.sha256(script.encode()).digest()
        ).decode(),
    )
    with replace_file(folder / "index.html") as partial:
        partial.write_text(page, encoding="utf-8")


def _html(frame: pd.DataFrame) -> str:
    html = frame.head(SHOWN).to_html(index=False, border=0, na_rep="–")
    n_hidden = len(frame) - SHOWN
    if n_hidden > 0:
        html += f"<p>{n_hidden:,} more rows are in <code>results/</code>.</p>"
    return html


def _arms(advice: Recommendation) -> str:
    texts = write_answer_table(advice, worth_showing(advice))
    return _html(texts.rename_axis(index="configuration").reset_index())


def _questions(advice: Recommendation) -> str:
    questions = advice.questions
    columns = {
        "configuration": questions["configuration"],
        "hardest to distinguish from": questions["against"],
        "new instances": (
            questions["new_instances"].map("{:,.0f}".format).replace("inf", "a tie")
        ),
        f"price ({advice.unit})": questions["price"].map(amount).replace("inf", "–"),
    }
    return _html(pd.DataFrame(columns)) if len(questions) else ""
