"""What the labels of the pages stand for, in words: for readers who have a page and not the book.

In the book Sphinx numbers figures and statements and makes links of references.  A page
that is opened in Jupyter names them instead: figures and tables by their place on the
page, statements by the paper's number or by their title, sections and pages by their
heading.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

STATEMENT = re.compile(
    r"^`{3,}\{prf:(?P<kind>\w+)\} ?(?P<title>.*)\n:label: (?P<label>\S+)", re.MULTILINE
)
FIGURE = re.compile(
    r"^ +figure:\s*\{?\s*name: (?P<label>[\w-]+)|^:name: (?P<other>[\w-]+)",
    re.MULTILINE,
)
TARGET = re.compile(
    r"^\((?P<label>[\w-]+)\)=\s*\n+(?:#+ (?P<heading>.+))?", re.MULTILINE
)
#: Such as "Pulls of a suboptimal arm, the paper's Theorem 1".
OF_THE_PAPER = re.compile(r"[Tt]he paper's (\w+ \d+)")


class Label(NamedTuple):
    """Words for a label, and the page that it is on."""

    words: str
    page: str


def pages_directory() -> Path:
    """Directory of the book's pages: inside an installed package, else next to it in a checkout.

    Examples
    --------
    >>> (pages_directory() / "experiments.md").is_file()
    True
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"


@cache
def read_labels() -> dict[str, Label]:
    """Read every label of the book's pages.

    Returns
    -------
    dict of str to Label
        Pages themselves stand under their names.  An installed package has the
        executable pages alone.

    Examples
    --------
    >>> read_labels()["thm-cohv"].words, read_labels()["open-choices"].words
    ('Theorem 1', 'What the paper leaves open')
    """
    prose = pages_directory().parent / "book"
    found: dict[str, Label] = {}
    for path in (*sorted(pages_directory().glob("*.md")), *sorted(prose.glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        words = {
            path.stem: _title(text),
            **_statements(text),
            **_figures(text),
            **_sections(text),
        }
        found |= {label: Label(name, path.stem) for label, name in words.items()}
    return found


def words_of(label: str, page: str = "") -> str | None:
    """Words for a label as they are read on a page; none for a label that is on no page at hand.

    Parameters
    ----------
    label : str
    page : str, optional
        Where it is referred to; what is on another page is said to be there.

    Examples
    --------
    >>> words_of("fig-regrets", "experiments"), words_of("fig-regrets", "your-data")
    ('Figure 2', 'Figure 2 of *The experiments again*')
    >>> words_of("thm-cohv", "your-data")
    'Theorem 1'
    """
    known = read_labels()
    if label not in known:
        return None
    words, home = known[label]
    by_place = re.fullmatch(r"(Figure|Table) \d+", words)
    return (
        f"{words} of *{known[home].words}*"
        if by_place and page not in ("", home)
        else words
    )


def _title(text: str) -> str:
    heading = re.search(r"^# (.+)", text, re.MULTILINE)
    return heading[1] if heading else ""


def _statements(text: str) -> dict[str, str]:
    return {
        found["label"]: name_statement(found["kind"], found["title"])
        for found in STATEMENT.finditer(text)
    }


def name_statement(kind: str, title: str) -> str:
    """Name a statement: by the paper's number if it is the paper's, otherwise by its title.

    Examples
    --------
    >>> name_statement("lemma", "The paper's Lemma 1")
    'Lemma 1'
    >>> name_statement("proposition", "Delay (ours)")
    'Proposition “Delay”'
    """
    if of_the_paper := OF_THE_PAPER.search(title):
        return of_the_paper[1]
    bare = re.sub(r" \(ours.*?\)", "", title)
    return f"{kind.capitalize()} “{bare}”" if bare else kind.capitalize()


def _figures(text: str) -> dict[str, str]:
    counted: Counter[str] = Counter()
    words = {}
    for found in FIGURE.finditer(text):
        label = found["label"] or found["other"]
        kind = "Table" if label.startswith("tab-") else "Figure"
        counted[kind] += 1
        words[label] = f"{kind} {counted[kind]}"
    return words


def _sections(text: str) -> dict[str, str]:
    return {
        found["label"]: found["heading"] or _title(text)
        for found in TARGET.finditer(text)
    }
