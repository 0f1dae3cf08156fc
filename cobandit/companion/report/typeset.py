"""A page's cells as HTML that needs nothing from elsewhere: formulas drawn, roles of the book plain."""

from __future__ import annotations

import base64
import html
import io
import re
from functools import cache
from typing import Any

from cobandit.figures import described

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
