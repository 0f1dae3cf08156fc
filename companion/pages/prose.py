"""Prose of the executable pages: MyST in the book, plain Markdown elsewhere.

`plain_markdown` translates MyST into Markdown that every notebook viewer displays.
Cells of pages call `Markdown`, `tell` and `glue`. The output of such a cell is plain
Markdown; its metadata contains the MyST source, which the book uses.

A page may place a text before the cells that compute its numbers. `tell` shows the text
as soon as `glue` has recorded all of its numbers. If a number is never recorded, the
text is not shown. A page can therefore hide a text on tables to which the text does not
apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from companion.pages.labels import name_statement, words_of

#: Key of the MyST source in the metadata of an output.
MYST = "myst"
#: Prefix of the MIME type of a glued value that is not displayed by its own cell.
RECORD = "application/papermill.record/"

FENCE = re.compile(r"^(?P<mark>`{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\})?(?P<title>.*)$")
OPTION = re.compile(r"^:[\w-]+:")
ROLE = re.compile(r"\{(?P<name>[\w:+-]+)\}(?P<ticks>`+)(?P<text>[^`]+)(?P=ticks)")
GLUED = re.compile(r"\{glue:\w+\}`(?P<name>\w+)(?::[^`]*)?`")
TITLED = re.compile(r"^(?P<title>.*\S)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
#: A link to a page of the book, or to a section of a page. Web addresses do not match.
INTERNAL = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]]*)\]"
    r"\((?P<target>#[\w.-]+|[\w./-]+\.(?:md|html)(?:#[\w.-]*)?)\)"
)
#: Placeholder of a reference that cannot be named outside the book.
UNKNOWN = "\0"


def plain_markdown(text: str, page: str = "") -> str:
    """Translate MyST into plain Markdown.

    Cross-references become text. Statements become paragraphs with a bold heading.
    Parts that only the book can show, such as an included file, are left out. Glue
    roles, which stand for computed numbers, are kept; `tell` replaces them.

    Parameters
    ----------
    text : str
    page : str, optional
        Page that contains the text. References to figures of other pages name these
        pages.

    Returns
    -------
    str

    Examples
    --------
    >>> plain_markdown("By {prf:ref}`thm-cohv` ({claim}`C1`), {py:func}`~cb.play`")
    'By Theorem 1 (claim C1), `play`'
    >>> plain_markdown("See {ref}`choices <open-choices>` ({numref}`fig-unknown`).")
    'See choices.'
    """
    lines = text.split("\n")
    blocks = []
    prose = []
    row = 0
    while row < len(lines):
        opening = FENCE.match(lines[row])
        if opening is None:
            prose.append(lines[row])
            row += 1
            continue
        end = _closing(lines, row, opening["mark"])
        blocks.append(_inline("\n".join(prose), page))
        prose = []
        blocks.append(_fence(opening, lines[row + 1 : end], page))
        row = end + 1

    blocks.append(_inline("\n".join(prose), page))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(part for part in blocks if part)).strip(
        "\n"
    )


def _closing(lines: list[str], start: int, mark: str) -> int:
    """Return the index of the line that closes a fence."""
    for number in range(start + 1, len(lines)):
        if re.fullmatch(rf"{mark[0]}{{{len(mark)},}}", lines[number].strip()):
            return number
    return len(lines)


def _fence(opening: re.Match[str], body: list[str], page: str) -> str:
    """Translate a directive into plain Markdown. Code blocks are not changed."""
    name = opening["name"]
    title = opening["title"].strip()
    if name is None or name in ("code-block", "code"):
        return "\n".join([f"{opening['mark']}{title}", *body, opening["mark"]])

    # options come first, and blank lines may separate them from the content
    label = ""
    while body and (OPTION.match(body[0]) or not body[0].strip()):
        option, _, value = body.pop(0).lstrip(":").partition(":")
        label = value.strip() if option in ("label", "name") else label

    if name == "include":
        return ""
    if name == "math":
        return "\n".join(["$$", *body, "$$"])

    inner = plain_markdown("\n".join(body), page)
    title = plain_markdown(title, page)
    if not inner.strip():
        return ""
    if name == "tab-set":
        return inner
    if name == "dropdown":
        return f"<details>\n<summary>{title}</summary>\n\n{inner}\n\n</details>"
    if name.startswith("prf:"):
        bare_title = _without_number(title)
        named = name_statement(name.removeprefix("prf:"), title)
        heading = (
            f"**{named}.** *{bare_title}*"
            if bare_title != title and bare_title
            else f"**{named}.**"
        )
        return f"\n{heading}\n\n{inner}\n"
    if name == "table":
        return f"\n**{words_of(label, page) or 'Table'}.** {title}\n\n{inner}\n"

    return f"\n**{title or name.capitalize()}.**\n\n{inner}\n"


def _without_number(title: str) -> str:
    """Return the title of a statement without the paper's number."""
    return re.sub(r",? ?[Tt]he paper's \w+ \d+(, )?", "", title)


def _inline(text: str, page: str) -> str:
    """Translate roles, links, labels and definitions into plain Markdown."""
    text = re.sub(r"^\([\w-]+\)=\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^%.*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n: +", ": ", text)
    text = ROLE.sub(lambda role: _role(role, page), text)
    text = INTERNAL.sub(lambda link: link["text"] or _page_title(link["target"]), text)
    # an unknown reference is dropped together with the parentheses around it
    text = re.sub(rf"\s*\([^()]*{UNKNOWN}[^()]*\)", "", text)
    return text.replace(UNKNOWN, "the book")


def _page_title(target: str) -> str:
    """Return the title of a linked page."""
    name = re.sub(r"(\.\w+)?(#.*)?$", "", target).rpartition("/")[2]
    return _in_italics(words_of(name))


def _in_italics(words: str | None) -> str:
    return f"*{words}*" if words else UNKNOWN


def _role(role: re.Match[str], page: str) -> str:
    """Return the text that replaces one role."""
    name = role["name"]
    text = " ".join(role["text"].split())
    titled = TITLED.match(text)
    target = titled["target"] if titled else text
    if name.startswith("glue"):
        return role[0]
    if titled and not name.startswith(("py", "numref")):
        return titled["title"]
    if name.startswith("cite"):
        return _cite(target, in_text=name.endswith("t"))
    if name.startswith("py:"):
        return f"`{target.rpartition('.')[2] if target.startswith('~') else target}`"
    if name in ("ref", "doc"):
        return _in_italics(words_of(target.rpartition("/")[2]))
    if name in ("numref", "prf:ref"):
        return words_of(target, page) or UNKNOWN

    return f"claim {text}" if name == "claim" else text


def _cite(keys: str, in_text: bool) -> str:
    """Return a citation by author and year, from keys such as ``xue2026cost``."""
    named = []
    for key in keys.split(","):
        parts = re.match(r"([a-z]+)(\d{4})", key.strip())
        author, year = (parts[1].capitalize(), parts[2]) if parts else (key.strip(), "")
        named.append(f"{author} ({year})" if in_text else f"{author} {year}")
    return ", ".join(named) if in_text else f"({', '.join(named)})"


class Markdown:
    r"""A computed sentence in MyST, displayed as plain Markdown outside the book.

    Examples
    --------
    >>> data, metadata = Markdown("By {prf:ref}`thm-cohv`.")._repr_mimebundle_()
    >>> data["text/markdown"], metadata
    ('By Theorem 1.', {'myst': 'By {prf:ref}`thm-cohv`.'})
    """

    def __init__(self, data: str):
        self.data = data

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        myst = self.data
        words = plain_markdown(myst)
        metadata = {MYST: myst} if words.strip() != myst.strip() else {}
        shown = words if metadata else myst
        return {"text/markdown": shown, "text/plain": _NO_MARKDOWN}, metadata


#: Text for displays without Markdown. It contains no address, so outputs are the
#: same on all machines.
_NO_MARKDOWN = "<IPython.core.display.Markdown object>"
#: Recorded values by name, and the texts of `tell`, in the notebook of this process.
_values: dict[str, str] = {}
_waiting: list[_Text] = []


class _Text:
    """A paragraph of a page, which is displayed once all its values are recorded."""

    def __init__(self, text: str, names: Iterable[str], otherwise: str):
        self.text = text
        self.names = {*names, *(match["name"] for match in GLUED.finditer(text))}
        from IPython.display import display

        self.place = display(_bare(otherwise), display_id=True)
        self.show()

    def show(self) -> None:
        if self.names <= _values.keys():
            self.place.update(
                _bare(GLUED.sub(lambda match: _values[match["name"]], self.text))
            )


def _bare(text: str) -> Any:
    from IPython.display import Markdown as PlainMarkdown

    return PlainMarkdown(text.strip("\n"))


def tell(text: str, *, needs: Iterable[str] = (), otherwise: str = "") -> None:
    """Show a text as the output of this cell once all its values are recorded.

    Parameters
    ----------
    text : str
        Markdown with values as roles, such as ``{glue:text}`share```.
    needs : iterable of str
        Further names of values that must be recorded.
    otherwise : str
        Text that is shown as long as a value is not recorded.
    """
    _waiting.append(_Text(text, needs, otherwise))


def glue(name: str, value: Any, display: bool = False) -> None:
    """Record a value under a name, so that the book's text and `tell` can insert it.

    Parameters
    ----------
    name : str
    value : object
        Value to record. `tell` inserts it as ``str(value)``.
    display : bool
        Whether the current cell also displays the value.
    """
    from IPython import get_ipython
    from IPython.display import display as publish

    shell = get_ipython()
    if shell is None:
        return
    data, metadata = shell.display_formatter.format(value)
    prefix = "" if display else RECORD
    metadata["scrapbook"] = {"name": name, "mime_prefix": prefix}
    publish(
        {prefix + kind: part for kind, part in data.items()},
        raw=True,
        metadata=metadata,
    )
    record(name, str(value))


def glue_all(**values: Any) -> None:
    """Record several values under their names, and display none of them."""
    for name, value in values.items():
        glue(name, value)


def record(name: str, value: str = "") -> None:
    """Record a value under a name, for the texts of `tell` only."""
    _values[name] = value
    for text in _waiting:
        if name in text.names:
            text.show()
