"""Text that replaces cross-references if a page of the book is opened in Jupyter.

In the book, Sphinx numbers figures and statements, and turns references into links.
Jupyter shows text instead. Figures and tables are named by their number or letter in
the book, statements by the paper's number or their title, and sections and pages by
their heading.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

import yaml

STATEMENT = re.compile(
    r"^`{3,}\{prf:(?P<kind>\w+)\} ?(?P<title>.*)\n:label: (?P<label>\S+)", re.MULTILINE
)
#: A figure or table that a cell shows, or the directive of a figure or table in the
#: text.
FIGURE = re.compile(
    r"^ +figure:\s*\{?\s*name: (?P<label>[\w-]+)(?P<table>\s+classes: table)?"
    r"|\{(?P<directive>table|figure)\}.*\n:name: (?P<other>[\w-]+)",
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
        installed package has only the executable pages, the first page and the proofs.

    Examples
    --------
    >>> read_labels()["thm-cohv"].words, read_labels()["open-choices"].words
    ('Theorem 1', 'What the paper leaves open')
    """
    book = pages_directory().parent
    paths = (*book.glob("notebooks/*.md"), *book.glob("book/*.md"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    chapters = read_contents()
    counted: Counter[tuple[int | None, str]] = Counter()
    labels: dict[str, Label] = {}
    # letters continue over all pages without a chapter number
    for page in [*chapters, *sorted(texts.keys() - chapters.keys())]:
        if page not in texts:
            continue
        text = texts[page]
        words = {
            page: _title(text),
            **_statements(text),
            **_figures(text, chapters.get(page), counted),
            **_sections(text),
        }
        labels |= {label: Label(name, page) for label, name in words.items()}
    return labels


def read_contents() -> dict[str, int | None]:
    """Return the pages of the book in order, each with its chapter number or None.

    Examples
    --------
    >>> chapters = read_contents()
    >>> chapters["intro"], chapters["cohv-ucb"], chapters["live"]
    (None, 1, None)
    """
    text = (pages_directory().parent / "_toc.yml").read_text(encoding="utf-8")
    contents = yaml.safe_load(text)
    chapters: dict[str, int | None] = {_stem(contents["root"]): None}
    number = 0
    for part in contents["parts"]:
        for entry in part["chapters"]:
            number += bool(part.get("numbered"))
            chapter = number if part.get("numbered") else None
            pages: list[dict[str, Any]] = [entry, *entry.get("sections", [])]
            chapters |= {_stem(page["file"]): chapter for page in pages}
    return chapters


def _stem(name: str) -> str:
    return name.rpartition("/")[2]


def letters(number: int) -> str:
    """Write a number in letters.

    Examples
    --------
    >>> letters(1), letters(26), letters(27)
    ('A', 'Z', 'AA')
    """
    leading, last = divmod(number - 1, 26)
    return (letters(leading) if leading else "") + ascii_uppercase[last]


def words_of(label: str, page: str = "") -> str | None:
    """Return the text that replaces a reference to a label, or None for unknown labels.

    Parameters
    ----------
    label : str
    page : str, optional
        Page that contains the reference. For a figure of another page, the text names
        this other page.

    Examples
    --------
    >>> words_of("fig-regrets", "experiments")
    'Figure 6.2'
    >>> words_of("fig-regrets", "your-data")
    'Figure 6.2 of *The experiments again*'
    >>> words_of("thm-cohv", "your-data")
    'Theorem 1'
    """
    labels = read_labels()
    if label not in labels:
        return None
    words, home = labels[label]
    by_place = re.fullmatch(r"(Figure|Table) [\dA-Z.]+", words)
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
    """Return the name of a statement: its number in the paper, or else its title.

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


def _figures(
    text: str, chapter: int | None, counted: Counter[tuple[int | None, str]]
) -> dict[str, str]:
    """Return the name of each figure and table of a page, such as Figure 6.2, by label.

    The numbers continue from ``counted``, which is updated.
    """
    words = {}
    for match in FIGURE.finditer(text):
        is_table = match["table"] or match["directive"] == "table"
        kind = "Table" if is_table else "Figure"
        counted[chapter, kind] += 1
        number = counted[chapter, kind]
        shown = f"{chapter}.{number}" if chapter else letters(number)
        words[match["label"] or match["other"]] = f"{kind} {shown}"
    return words


def _sections(text: str) -> dict[str, str]:
    return {
        match["label"]: match["heading"] or _title(text)
        for match in TARGET.finditer(text)
    }
