"""A description in the head of each page, which a search engine or a chat shows below a link to it."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

#: What is shown of a description, at most, in letters.
LONGEST = 300


def describe(tree: nodes.document) -> str:
    """Return the first sentences of a page, as many as fit, without formulas.

    Examples
    --------
    >>> from docutils.core import publish_doctree
    >>> describe(publish_doctree("Title\\n=====\\n\\n**Abstract.** One thing. Another thing."))
    'One thing. Another thing.'
    """
    for paragraph in tree.findall(nodes.paragraph):
        if not isinstance(paragraph.parent, (nodes.section, nodes.document)):
            continue
        text = " ".join(paragraph.astext().split()).removeprefix("Abstract. ")
        if any(paragraph.findall(nodes.math)):
            continue

        description = ""
        for sentence in re.split(r"(?<=[.?!]) ", text):
            if len(description) + len(sentence) >= LONGEST:
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
    """Add the description of a page, and its title, to its head."""
    if tree is None or not (description := describe(tree)):
        return

    title = re.sub(r"<[^>]+>", "", str(context.get("title", "")))
    values = {
        'name="description"': description,
        'property="og:title"': title,
        'property="og:description"': description,
        'property="og:type"': "article",
    }
    tags = (
        f'<meta {key} content="{escape(value)}" />' for key, value in values.items()
    )
    context["metatags"] = "\n".join([str(context.get("metatags", "")), *tags])
