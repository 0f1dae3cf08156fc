"""A description and a picture per page, for search engines and link previews.

The picture is the first figure. Its address has to be absolute, so it is added only if
``[project.urls]`` in pyproject.toml has the address of the book (``Documentation``).
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from docutils import nodes
from sphinx.application import Sphinx

import cobandit as cb
from cobandit import figures
from companion.pages import first_figure
from companion.stored import results

#: Largest length of a description, in characters.
LONGEST = 300
#: Stands for a formula in the text of a paragraph.
FORMULA = "\N{REPLACEMENT CHARACTER}"
#: Place of the picture for links in the book, its size in inches, and its resolution.
PICTURE = "_static/link.png"
PICTURE_SIZE = (6, 3.15)
PICTURE_DPI = 200
#: The methods in the picture, from left to right, as when the first figure opens.
COMPARED = ("CoPSIPrintedOnce", "CoPSIOnce")
SHARE = 0.6


def describe(tree: nodes.document) -> str:
    """Return the first sentences of a page, as a description of limited length.

    The description ends before the first sentence with a formula.

    Examples
    --------
    >>> from docutils.core import publish_doctree
    >>> text = "Title\\n=====\\n\\n**Abstract.** A word. One :math:`x`. Another."
    >>> describe(publish_doctree(text))
    'A word.'
    """
    for paragraph in tree.findall(nodes.paragraph):
        if not isinstance(paragraph.parent, (nodes.section, nodes.document)):
            continue
        plain = paragraph.deepcopy()
        for formula in list(plain.findall(nodes.math)):
            formula.replace_self(nodes.Text(FORMULA))
        text = " ".join(plain.astext().split()).removeprefix("Abstract. ")

        description = ""
        for sentence in re.split(r"(?<=[.?!]) ", text):
            if FORMULA in sentence or len(description) + len(sentence) >= LONGEST:
                break
            description = f"{description} {sentence}".strip()
        if description:
            return description
    return ""


def describe_page(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, object],
    tree: nodes.document | None,
) -> None:
    """Add meta tags with the description, title and picture of a page."""
    if tree is None or not (description := describe(tree)):
        return

    title = re.sub(r"<[^>]+>", "", str(context.get("title", "")))
    values = {
        'name="description"': description,
        'property="og:title"': title,
        'property="og:description"': description,
        'property="og:type"': "article",
    }
    if site := app.config.html_baseurl:
        values |= {
            'property="og:image"': f"{site.rstrip('/')}/{PICTURE}",
            'name="twitter:card"': "summary_large_image",
        }
    tags = (
        f'<meta {key} content="{escape(value)}" />' for key, value in values.items()
    )
    context["metatags"] = "\n".join([str(context.get("metatags", "")), *tags])


def draw_picture(app: Sphinx, exception: Exception | None) -> None:
    """Draw the first figure as the picture for links, if the book has an address."""
    if exception or app.builder.name != "html" or not app.config.html_baseurl:
        return

    states = first_figure.describe_states(
        cb.load("word-sums"), results.read_result("argument")
    )
    states["methods"] = {name: states["methods"][name] for name in COMPARED}
    with mpl.rc_context():
        figures.use_style()
        figure = first_figure.draw_states(states, SHARE)
        figure.set_size_inches(*PICTURE_SIZE)
        figure.savefig(Path(app.outdir) / PICTURE, dpi=PICTURE_DPI)
        plt.close(figure)
