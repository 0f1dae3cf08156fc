"""Measure the built book: visible words, dropdowns, pictures and code.

    python benchmarks/book_size.py            # the book of `make book`
    python benchmarks/book_size.py --stored   # the book of `make stored`

The program prints one row per page, and then every exceeded limit. It fails if a limit
is exceeded. The limit of words is for the pages that are read in order, without the
appendix of proofs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"pages": 18, "words": 33_140, "folds": 90, "code": 4_700}
#: Page of proofs, whose words the limit does not include.
APPENDIX = "book/proofs"
HIGHEST = 1_200
WIDEST = 88
#: Size of a common browser window.
WINDOW = {"width": 1280, "height": 900}
#: Chapters of the book; their first picture has to be near the top.
CHAPTERS = (
    "cohv-ucb",
    "standard-regret",
    "copsi",
    "which-arms",
    "once",
    "experiments",
    "reconstructions",
)

#: Script that returns the number of visible words, the names of dropdowns (folds), and
#: the position of the first picture. Words include labels in pictures. They exclude the
#: table of claims and the references, which nobody reads in full, the texts of formulas
#: for screen readers, and code, which has its own limit.
LOOK = r"""
() => {
  const word = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu;
  const words = parts =>
    (parts.map(part => part.innerText).join(" ").match(word) ?? []).length;
  const others = "table.claims, .citation-list, mjx-container, .cell_input";
  const article = document.querySelector("article");
  const picture = article.querySelector(".panels, #argument, figure img");
  const folds = [...article.querySelectorAll("details:not(.made)")];
  return {
    words: words([article]) - words(
      [...article.querySelectorAll(others)].filter(
        part => part.checkVisibility() && !part.parentElement.closest(others))),
    folds: folds.map(fold => fold.querySelector("summary").textContent.trim()),
    picture: picture ? picture.getBoundingClientRect().top + scrollY : null,
  };
}
"""


def contents() -> list[str]:
    """Return the names of the book's pages, in their order."""
    return re.findall(
        r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )


#: Generated pages, to look names up.
LOOKED_UP = [name for name in contents() if name.startswith("book/api")]


def code_of(name: str) -> list[list[str]]:
    """Return the code cells of a page as lists of non-empty lines."""
    path = ROOT / f"{name}.md"
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    cell = r"^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::\w+:[^\n]*\n)+)?(.*?)^```"
    cells = re.findall(cell, source, re.S | re.M)
    return [[line for line in code.splitlines() if line.strip()] for code in cells]


def measure(by_page: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Return a table with the sizes of each page.

    ``by_page`` has the results of `LOOK` by page.
    """
    rows = []
    for name, page in by_page.items():
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
    """Open pages in Chromium, and run the script `LOOK` on each of them."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from pdf import chromium
    from playwright.sync_api import sync_playwright

    by_page = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport=WINDOW)
        for name in names:
            tab.goto((html / f"{name}.html").resolve().as_uri())
            tab.evaluate("window.MathJax?.startup?.promise?.then(() => true)")
            by_page[name] = tab.evaluate(LOOK)
        browser.close()
    return by_page


def over(frame: pd.DataFrame) -> list[str]:
    """Return a sentence for each exceeded limit."""
    read = frame.drop(index=LOOKED_UP, errors="ignore")

    totals = {"pages": len(read), **read[["folds", "code"]].sum().to_dict()}
    totals["words"] = read["words"].drop(APPENDIX).sum()
    exceeded = [
        f"{key}: {totals[key]:,} of {limit:,}"
        for key, limit in LIMITS.items()
        if totals[key] > limit
    ]
    for name, row in read.iterrows():
        if row["nameless"]:
            exceeded.append(f"{name}: {row['nameless']:.0f} folds without a name")
        if row["widest"] > WIDEST:
            exceeded.append(f"{name}: code {row['widest']:.0f} wide")

    pictures = read.loc[[f"notebooks/{chapter}" for chapter in CHAPTERS], "picture"]
    for name, position in pictures[~(pictures <= HIGHEST)].items():
        exceeded.append(f"{name}: first picture at {position:,.0f}")
    return exceeded


if __name__ == "__main__":
    built = (
        ROOT / "_build" / ("stored/_build/html" if "--stored" in sys.argv else "html")
    )
    measured = measure(look(built, contents()))
    print(measured.to_string(float_format="{:,.0f}".format))
    if exceeded := over(measured):
        sys.exit("\n".join(["over a limit:", *exceeded]))
