"""The report: one HTML file that opens from disk and asks nothing of any other machine."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit.advice.recommendation import Recommendation
from cobandit.advice.words import describe, describe_steps, percent, worth_showing
from cobandit.companion.report.manifest import Manifest
from cobandit.companion.report.pages import source
from cobandit.faults import amount
from cobandit.figures import described
from cobandit.files import replace_file

HERE = Path(__file__).parent
#: Rows of a table in the report; the results folder has all.
SHOWN = 200

#: Where a drawing names one of its definitions: pages of a report stand in one document.
DEFINED = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^`>]*>)?`")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
#: As in pandoc: no space inside the dollars, no digit behind them, so that "$5 or $10" stays money.
FORMULA = re.compile(r"(?<![\\$])\$(?=[^\s$])((?:[^$\\]|\\.)+?)(?<=\S)\$(?![\d$])", re.DOTALL)
#: A block directive of the book, such as a margin note; its options stand first.
DIRECTIVE = re.compile(
    r"^(`{3,}|:{3,})\{[\w:-]+\}[^\n]*\n(?::[\w-]+:[^\n]*\n)*(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL
)
#: A label for references, on a line of its own.
LABEL = re.compile(r"^\([\w:-]+\)=\n?", re.MULTILINE)
HEADING = re.compile(r"^(#{1,5} )", re.MULTILINE)


@cache
def formula(tex: str) -> str:
    r"""Draw a formula as an inline SVG image described by its TeX; the TeX itself where it cannot be drawn.

    Examples
    --------
    >>> formula(r"\mu_i")[:26]
    '<img class="formula" alt="'
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import math_to_image

    picture = io.BytesIO()
    try:
        font = FontProperties(size=11)
        depth = math_to_image(f"${' '.join(tex.split())}$", picture, prop=font, dpi=72, format="svg")
    except ValueError:
        return f"<code>{html.escape(tex)}</code>"
    drawn = base64.b64encode(picture.getvalue()).decode()
    style = f"vertical-align: -{depth:.1f}pt"
    return (
        f'<img class="formula" alt="{html.escape(tex)}" style="{style}" '
        f'src="data:image/svg+xml;base64,{drawn}">'
    )


def plain(markdown: str) -> str:
    r"""Take directives, labels and roles of the book out of Markdown and draw its formulas; code stays.

    Examples
    --------
    >>> plain("see {doc}`your-data`, {ref}`gap <def-gap>`, `$x$` and $5 or $10")
    'see *your-data*, *gap*, `$x$` and $5 or $10'
    >>> plain("```{margin}\nOn {term}`arms <arm>`.\n```")
    '> On *arms*.\n'
    """
    markdown = DIRECTIVE.sub(lambda found: _quoted(found[2].strip("\n")), markdown)
    markdown = LABEL.sub("", markdown)
    markdown = ROLE.sub(lambda found: f"*{found[1].rpartition('/')[2]}*", markdown)
    parts = CODE.split(markdown)
    parts[::2] = [_drawn(part) for part in parts[::2]]
    return "".join(parts)


def _quoted(text: str) -> str:
    return re.sub("^", "> ", text, flags=re.MULTILINE) + "\n"


def _drawn(text: str) -> str:
    """Draw the formulas; a configuration's name may hold what looks like a tag, and stays text."""
    pieces = FORMULA.split(text)
    pieces[::2] = [piece.replace("<", "&lt;") for piece in pieces[::2]]
    pieces[1::2] = [formula(tex) for tex in pieces[1::2]]
    return "".join(pieces)


def body(notebook: Any, page: str) -> str:
    """Give an executed page as HTML without its code: text, tables, described pictures, errors."""
    from nbconvert import HTMLExporter

    notebook = notebook.copy()
    cells = []
    for cell in notebook.cells:
        cell = cell.copy()
        if "papermill-error-cell-tag" in cell.metadata.get("tags", []):
            continue  # papermill's own words on an error, which the report says itself
        if cell.cell_type == "markdown":
            cell.source = HEADING.sub(r"#\1", plain(cell.source))
        elif cell.cell_type == "code":
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
            for output in cell.outputs:
                data = output.get("data", {})
                if "text/markdown" in data:
                    data["text/markdown"] = plain("".join(data["text/markdown"]))
                if "text/html" in data and alt:
                    drawn = described("".join(data["text/html"]), alt)
                    data["text/html"] = DEFINED.sub(f"{page}-", drawn)
        cells.append(cell)
    notebook.cells = cells
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    made, _ = exporter.from_notebook_node(notebook)
    # ids are made of the cells' numbers and the headings' texts, and pages share both
    return re.sub(r'(<(?:h\d|div)\b[^>]*) id="([^"]*)"', rf'\1 id="{page}--\2"', made)


def write_report(
    folder: Path,
    manifest: Manifest,
    advice: Recommendation,
    notice: Sequence[str],
) -> Path:
    """Write ``index.html`` from what a folder holds.

    Parameters
    ----------
    folder : Path
        With the executed notebooks that the manifest names.
    manifest : Manifest
    advice : Recommendation
    notice : sequence of str
        What to notice of the table.

    Returns
    -------
    Path
    """
    import jinja2
    import nbformat

    sections = []
    for entry in manifest.pages:
        title = source(entry.page).partition("\n# ")[2].partition("\n")[0]
        shown = {"entry": entry, "title": title, "body": ""}
        if entry.status in ("done", "failed"):
            executed = nbformat.read(folder / "notebooks" / f"{entry.page}.ipynb", as_version=4)
            shown["body"] = body(executed, entry.page)
        sections.append(shown)
    script = (HERE / "report.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    page = environment.get_template("report.html.j2").render(
        manifest=manifest,
        advice=advice,
        said=describe(advice),
        notice=notice,
        sections=sections,
        arms=_arms(advice),
        questions=_questions(advice),
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_sha256=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    path = folder / "index.html"
    with replace_file(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return path


def _html(frame: pd.DataFrame) -> str:
    shown = frame.head(SHOWN).map(lambda value: html.escape(value) if isinstance(value, str) else value)
    made = shown.to_html(index=False, escape=False, border=0, na_rep="–")
    rest = len(frame) - len(shown)
    return made + (f"<p>and {rest:,} more in <code>results/</code></p>" if rest else "")


def _arms(advice: Recommendation) -> str:
    arms, steps = worth_showing(advice), dict(zip(advice.front.index, describe_steps(advice), strict=True))
    columns: dict[str, Any] = {"configuration": arms.index, "n": arms["instances"].map("{:,}".format)}
    columns[f"cost ({advice.unit})"] = arms["cost"].map(amount)
    for name in advice.objectives:
        columns[name] = [
            f"{mean:.3f} ±{(high - low) / 2:.3f}"
            for mean, low, high in zip(arms[name], arms[f"{name}_low"], arms[f"{name}_high"], strict=True)
        ]
    columns |= {
        "step up": [steps.get(str(name), "not on the front") for name in arms.index],
        "stays": arms["front_share"].map(percent),
        "settled": arms["front_settled"].map({True: "yes", False: "no"}),
    }
    return _html(pd.DataFrame(columns))


def _questions(advice: Recommendation) -> str:
    if not len(advice.questions):
        return ""
    asked = advice.questions
    return _html(
        pd.DataFrame(
            {
                "configuration": asked["configuration"],
                "question": asked["kind"].map({"front": "worth its cost?", "efficiency": "largest ratio?"}),
                "hardest to tell from": asked["against"],
                "new instances": [
                    f"{n:,.0f}" if n != float("inf") else f"a {why}"
                    for n, why in zip(asked["new_instances"], asked["why"], strict=True)
                ],
                f"price ({advice.unit})": [amount(p) if p != float("inf") else "–" for p in asked["price"]],
            }
        )
    )
