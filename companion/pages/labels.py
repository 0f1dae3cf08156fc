"""Text that replaces cross-references if a page of the book is opened in Jupyter.

In the book, Sphinx numbers figures and statements, and turns references into links.
Jupyter shows text instead. Figures and tables are named by their number on the page,
statements by the paper's number or their title, and sections and pages by their
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
#: The paper's number in a title, such as "Pulls of a suboptimal arm, the paper's
#: Theorem 1".
OF_THE_PAPER = re.compile(r"[Tt]he paper's (\w+ \d+)")


class Label(NamedTuple):
    """Text that replaces references to a label, and the page that defines the label."""

    words: str
    page: str


def pages_directory() -> Path:
    """Return the directory of the book's notebooks.

    An installed package contains the directory. In a checkout, the directory is next to
    the package.

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
    """Return the text for every label of the book's pages, by label.

    Returns
    -------
    dict of str to Label
        Labels of figures, tables, statements and sections, and names of pages. An
        installed package has only the executable pages.

    Examples
    --------
    >>> read_labels()["thm-cohv"].words, read_labels()["open-choices"].words
    ('Theorem 1', 'What the paper leaves open')
    """
    prose = pages_directory().parent / "book"
    labels: dict[str, Label] = {}
    for path in (*sorted(pages_directory().glob("*.md")), *sorted(prose.glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        words = {
            path.stem: _title(text),
            **_statements(text),
            **_figures(text),
            **_sections(text),
        }
        labels |= {label: Label(name, path.stem) for label, name in words.items()}
    return labels


def words_of(label: str, page: str = "") -> str | None:
    """Return the text that replaces a reference to a label, or None if it is unknown.

    Parameters
    ----------
    label : str
    page : str, optional
        Page that contains the reference. For a figure of another page, the text names
        this other page.

    Examples
    --------
    >>> words_of("fig-regrets", "experiments")
    'Figure 2'
    >>> words_of("fig-regrets", "your-data")
    'Figure 2 of *The experiments again*'
    >>> words_of("thm-cohv", "your-data")
    'Theorem 1'
    """
    labels = read_labels()
    if label not in labels:
        return None
    words, home = labels[label]
    by_place = re.fullmatch(r"(Figure|Table) \d+", words)
    return (
        f"{words} of *{labels[home].words}*"
        if by_place and page not in ("", home)
        else words
    )


def _title(text: str) -> str:
    heading = re.search(r"^# (.+)", text, re.MULTILINE)
    return heading[1] if heading else ""


def _statements(text: str) -> dict[str, str]:
    return {
        match["label"]: name_statement(match["kind"], match["title"])
        for match in STATEMENT.finditer(text)
    }


def name_statement(kind: str, title: str) -> str:
    """Return the name of a statement: its number in the paper, or its title if ours.

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
    for match in FIGURE.finditer(text):
        label = match["label"] or match["other"]
        kind = "Table" if label.startswith("tab-") else "Figure"
        counted[kind] += 1
        words[label] = f"{kind} {counted[kind]}"
    return words


def _sections(text: str) -> dict[str, str]:
    return {
        match["label"]: match["heading"] or _title(text)
        for match in TARGET.finditer(text)
    }
