"""Prose of the executable pages: MyST for the book, plain Markdown wherever else a page is opened.

`plain_markdown` writes MyST as Markdown that any notebook shows.  The other three are
for the cells of pages: what they show is plain, and the book takes the MyST that comes
with it.

Text may be written before its numbers are there: `tell` shows it as soon as `glue` has
named the last of them, and text whose numbers never come is not shown.  So sentences
that hold for some tables alone stand on a page under a name that it glues for these
tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from companion.pages.labels import name_statement, words_of

#: Under this key in an output's metadata the book finds the MyST of what is shown as
#: plain Markdown.
MYST = "myst"
#: What the book's `glue` writes before the type of a value that is not shown where it
#: is glued.
RECORD = "application/papermill.record/"

FENCE = re.compile(r"^(?P<mark>`{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\})?(?P<title>.*)$")
OPTION = re.compile(r"^:[\w-]+:")
ROLE = re.compile(r"\{(?P<name>[\w:+-]+)\}(?P<ticks>`+)(?P<text>[^`]+)(?P=ticks)")
GLUED = re.compile(r"\{glue:\w+\}`(?P<name>\w+)(?::[^`]*)?`")
TITLED = re.compile(r"^(?P<title>.*\S)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
#: A link to another page, or within this one; addresses of the web stay links.
INTERNAL = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>#[\w.-]+|[\w./-]+\.(?:md|html)(?:#[\w.-]*)?)\)"
)
#: Stands for a reference that nothing at hand can name.
UNKNOWN = "\0"


def plain_markdown(text: str, page: str = "") -> str:
    """Write MyST as Markdown that reads well without the book.

    References become words, statements and folds plain paragraphs; what only the book
    has, such as another of its files, is left out.  Numbers that are glued stay as they
    are (`tell` puts them in).

    Parameters
    ----------
    text : str
    page : str, optional
        The page that it stands on: figures elsewhere are said to be there.

    Returns
    -------
    str

    Examples
    --------
    >>> plain_markdown("By {prf:ref}`thm-cohv` it is small ({claim}`C1`); {py:func}`~cobandit.recommend`.")
    'By Theorem 1 it is small (claim C1); `recommend`.'
    >>> plain_markdown("What is {ref}`open <open-choices>`, and the rest ({numref}`fig-that-is-nowhere`).")
    'What is open, and the rest.'
    """
    lines = text.split("\n")
    out = []
    prose = []
    at = 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if opening is None:
            prose.append(lines[at])
            at += 1
            continue
        end = _closing(lines, at, opening["mark"])
        out.append(_inline("\n".join(prose), page))
        prose = []
        out.append(_fence(opening, lines[at + 1 : end], page))
        at = end + 1

    out.append(_inline("\n".join(prose), page))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(part for part in out if part)).strip(
        "\n"
    )


def _closing(lines: list[str], start: int, mark: str) -> int:
    """Return the number of the line that closes the fence which a line opens."""
    for number in range(start + 1, len(lines)):
        if re.fullmatch(rf"{mark[0]}{{{len(mark)},}}", lines[number].strip()):
            return number
    return len(lines)


def _fence(opening: re.Match[str], body: list[str], page: str) -> str:
    """Write a directive as plain Markdown; code is left as it is."""
    name = opening["name"]
    title = opening["title"].strip()
    if name is None or name in ("code-block", "code"):
        return "\n".join([f"{opening['mark']}{title}", *body, opening["mark"]])

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
    if name == "dropdown":
        return f"<details>\n<summary>{title}</summary>\n\n{inner}\n\n</details>"
    if name.startswith("prf:"):
        rest = _without_number(title)
        named = name_statement(name.removeprefix("prf:"), title)
        heading = (
            f"**{named}.** *{rest}*" if rest != title and rest else f"**{named}.**"
        )
        return f"\n{heading}\n\n{inner}\n"
    if name == "table":
        return f"\n**{words_of(label, page) or 'Table'}.** {title}\n\n{inner}\n"

    return f"\n**{title or name.capitalize()}.**\n\n{inner}\n"


def _without_number(title: str) -> str:
    """Title of one of the paper's statements without the part that says so."""
    return re.sub(r",? ?[Tt]he paper's \w+ \d+(, )?", "", title)


def _inline(text: str, page: str) -> str:
    """Write roles, links, labels and definitions of some paragraphs as plain Markdown."""
    text = re.sub(r"^\([\w-]+\)=\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^%.*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n: +", ": ", text)
    text = ROLE.sub(lambda role: _role(role, page), text)
    text = INTERNAL.sub(lambda link: link["text"] or _page_title(link["target"]), text)
    # a reference that nothing can name leaves with the parentheses around it
    text = re.sub(rf"\s*\([^()]*{UNKNOWN}[^()]*\)", "", text)
    return text.replace(UNKNOWN, "the book")


def _page_title(target: str) -> str:
    """Title of the page that a link leads to."""
    name = re.sub(r"(\.\w+)?(#.*)?$", "", target).rpartition("/")[2]
    return _in_italics(words_of(name))


def _in_italics(words: str | None) -> str:
    return f"*{words}*" if words else UNKNOWN


def _role(role: re.Match[str], page: str) -> str:
    """Write one role in words."""
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
    """Name what is cited by the first author and the year, of which its key is made."""
    named = []
    for key in keys.split(","):
        parts = re.match(r"([a-z]+)(\d{4})", key.strip())
        author, year = (parts[1].capitalize(), parts[2]) if parts else (key.strip(), "")
        named.append(f"{author} ({year})" if in_text else f"{author} {year}")
    return ", ".join(named) if in_text else f"({', '.join(named)})"


class Markdown:
    r"""A computed sentence, in MyST: the book has references, any other reader plain words.

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


#: What a reader without Markdown sees, the same from every machine.
_NO_MARKDOWN = "<IPython.core.display.Markdown object>"
#: Values by their names, and the texts that wait for some, of the page that this
#: process runs.
_values: dict[str, str] = {}
_waiting: list[_Text] = []


class _Text:
    """A paragraph on its place, shown once its values are there."""

    def __init__(self, text: str, names: Iterable[str], otherwise: str):
        self.text, self.names = (
            text,
            {*names, *(found["name"] for found in GLUED.finditer(text))},
        )
        from IPython.display import display

        self.place = display(_bare(otherwise), display_id=True)
        self.show()

    def show(self) -> None:
        if self.names <= _values.keys():
            self.place.update(
                _bare(GLUED.sub(lambda found: _values[found["name"]], self.text))
            )


def _bare(text: str) -> Any:
    from IPython.display import Markdown as PlainMarkdown

    return PlainMarkdown(text.strip("\n"))


def tell(text: str, *, needs: Iterable[str] = (), otherwise: str = "") -> None:
    """Show a text here as soon as all of its values are glued.

    Parameters
    ----------
    text : str
        Markdown with values as roles, such as ``{glue:text}`share```.
    needs : iterable of str
        Names that have to be glued, too, though they are not in the text.
    otherwise : str
        What is shown until then, and if some value never comes.
    """
    _waiting.append(_Text(text, needs, otherwise))


def glue(name: str, value: Any, display: bool = False) -> None:
    """Record a value under a name: for roles of the book, and for what `tell` shows.

    Parameters
    ----------
    name : str
    value : object
        Its text is what is put in.
    display : bool
        Whether it is shown where it is glued, too.
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


def record(name: str, value: str = "") -> None:
    """Keep a value under a name for what `tell` shows, and not for the book."""
    _values[name] = value
    for text in _waiting:
        if name in text.names:
            text.show()
