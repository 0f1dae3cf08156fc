"""What the book asks of its readers: visible words, folds, pictures and code of the book that was built.

    python benchmarks/book_size.py            # the book of `make book`
    python benchmarks/book_size.py --stored   # that of `make stored`

One row per page, then what is over a limit; ends with an error if something is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"pages": 17, "words": 32_000, "folds": 120, "code": 4_500}
HIGHEST = 1_200
WIDEST = 110
#: Of usual size.
WINDOW = {"width": 1280, "height": 900}
#: Where the first picture of a page has to be: the chapters of the book.
CHAPTERS = (
    "cohv-ucb",
    "standard-regret",
    "copsi",
    "which-arms",
    "once",
    "experiments",
    "reconstructions",
)

#: Words that are seen without opening anything, labels in pictures among them; names of
#: what can be opened; height of the first picture. Three things are left out: the table
#: of claims and the references, which are looked up rather than read, and formulas,
#: which are spelled out unseen for screen readers.
LOOK = r"""
() => {
  const word = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu;
  const words = parts => (parts.map(part => part.innerText).join(" ").match(word) ?? []).length;
  const others = "table.claims, .citation-list, mjx-container";
  const article = document.querySelector("article");
  const picture = article.querySelector(".panels, #argument, figure img");
  const folds = [...article.querySelectorAll("details:not(.made)")];
  return {
    words: words([article]) - words(
      [...article.querySelectorAll(others)].filter(part => !part.parentElement.closest(others))),
    folds: folds.map(fold => fold.querySelector("summary").textContent.trim()),
    picture: picture ? picture.getBoundingClientRect().top + scrollY : null,
  };
}
"""


def contents() -> list[str]:
    """Names of the book's pages, in their order."""
    return re.findall(
        r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )


#: Written by a program, and looked up rather than read.
LOOKED_UP = [name for name in contents() if name.startswith("book/api")]


def code_of(name: str) -> list[list[str]]:
    """Cells of code on a page, each its lines that are not empty."""
    path = ROOT / f"{name}.md"
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    cell = r"^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::\w+:[^\n]*\n)+)?(.*?)^```"
    found = re.findall(cell, source, re.S | re.M)
    return [[line for line in code.splitlines() if line.strip()] for code in found]


def measure(seen: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Count what was seen on each page by `LOOK`, and its code: one row per page."""
    rows = []
    for name, page in seen.items():
        code = [line for cell in code_of(name) for line in cell]
        nameless = sum(fold in ("", "Code") for fold in page["folds"])
        widest = max(map(len, code), default=0)
        rows.append(
            (
                name,
                page["words"],
                len(page["folds"]),
                nameless,
                len(code),
                widest,
                page["picture"],
            )
        )

    columns = ["page", "words", "folds", "nameless", "code", "widest", "picture"]
    return pd.DataFrame(rows, columns=columns).set_index("page")


def look(html: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Open pages, and look at each when its formulas are there."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from pdf import chromium
    from playwright.sync_api import sync_playwright

    seen = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport=WINDOW)
        for name in names:
            tab.goto((html / f"{name}.html").resolve().as_uri())
            tab.evaluate("window.MathJax?.startup?.promise?.then(() => true)")
            seen[name] = tab.evaluate(LOOK)
        browser.close()
    return seen


def over(frame: pd.DataFrame) -> list[str]:
    """Say what is over a limit."""
    read = frame.drop(index=LOOKED_UP, errors="ignore")

    totals = {"pages": len(read), **read[["words", "folds", "code"]].sum().to_dict()}
    said = [
        f"{key}: {totals[key]:,} of {most:,}"
        for key, most in LIMITS.items()
        if totals[key] > most
    ]
    for name, row in read.iterrows():
        said += (
            [f"{name}: {row['nameless']:.0f} folds without a name"]
            if row["nameless"]
            else []
        )
        said += (
            [f"{name}: code {row['widest']:.0f} wide"] if row["widest"] > WIDEST else []
        )

    pictures = read.loc[[f"notebooks/{chapter}" for chapter in CHAPTERS], "picture"]
    return said + [
        f"{name}: first picture at {at:,.0f}"
        for name, at in pictures[~(pictures <= HIGHEST)].items()
    ]


if __name__ == "__main__":
    built = (
        ROOT / "_build" / ("stored/_build/html" if "--stored" in sys.argv else "html")
    )
    measured = measure(look(built, contents()))
    print(measured.to_string(float_format="{:,.0f}".format))
    if found := over(measured):
        sys.exit("\n".join(["over a limit:", *found]))
