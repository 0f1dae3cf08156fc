"""Print the page of Sphinx's ``singlehtml`` builder as a PDF with an outline.

    python book/_ext/pdf.py _build/singlehtml _build/cobandit.pdf

The PDF contains the article, the chapters and the proofs. It is printed with Chromium,
because then formulas have the fonts of the book, and figures and tables look as on the
pages.
Dropdowns are printed open, because the text refers to them. Hidden code, long tables
(class and tag ``unprinted``) and instructions for running a page are left out. The
claims, the pages on use and the reference are left out as well, because they are for
filtering, running and searching.
"""

from __future__ import annotations

import shutil
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]

PRINT = """
.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article,
.prev-next-footer, footer, .copybtn,
.headerlink, .viewcode-link, p.filter, button, #pst-skip-link {
  display: none !important;
}
.bd-main .bd-content .bd-article-container {
  max-width: none !important; padding: 0 !important;
}
body, .bd-article { font-size: 9.5pt; line-height: 1.4; }
h1 { font-size: 19pt !important; }
h2 { font-size: 14pt !important; margin: 1rem 0 0.4rem !important; }
h3, h4, h5 { font-size: 11.5pt !important; margin: 1rem 0 0.4rem !important; }
p, ul, ol { margin-bottom: 0.5rem !important; }
h1, h2, h3, h4, h5 { break-inside: avoid; }
span[id^="document-"] { position: absolute; }
span[id^="document-"] + section { break-before: page; }
h1, h2, h3, h4, h5, caption { break-after: avoid; }
.panels { zoom: 0.7; }  /* four panels in a row, as on a screen */
figcaption, figcaption *, .numbered-table caption, .numbered-table > p {
  font-size: 8.5pt !important;
}
div.cell:not(.tag_show-input):not(:has(.cell_output, details)) { display: none; }
figure, img, tr, div.proof, mjx-container[display] { break-inside: avoid; }
/* a table of many rows goes on with the next page */
:is(figure, .cell, .cell_output, .output, table):has(tr:nth-child(12)) {
  break-inside: auto !important;
}
summary { break-after: avoid; break-inside: avoid; }
.scrolls { mask: none !important; }
pre {
  white-space: pre-wrap !important; overflow-wrap: anywhere; font-size: 8pt !important;
}
table { font-size: 7pt !important; width: 100% !important; }
table td, table th {
  color: #22262b !important; padding: 0.5mm 1mm !important; overflow-wrap: break-word;
  white-space: normal !important;
}
.pst-scrollable-table-container, .cell_output, .cell_output .output, .text_html {
  overflow: visible !important;
}
pre, div.highlight, div.cell_input { break-inside: auto !important; }
.tag_show-input > .cell_input { break-inside: avoid !important; }
details.made, .code-switch, .page-code, .cell_input:not(.tag_show-input > *),
.readers, .unprinted, .tag_unprinted, .argument-link {
  display: none !important;
}
p, li, dd { orphans: 3; widows: 3; }
section > :last-child, details:last-child, summary ~ :last-child > :last-child {
  margin-bottom: 0 !important;
}
#jb-print-toc { display: none !important; }
.front { break-after: page; padding-top: 45mm; text-align: center; }
.front p:first-child {
  font-size: 22pt; font-weight: 600; line-height: 1.25; margin-bottom: 8mm !important;
}
.front ol {
  display: inline-block; margin-top: 15mm !important;
  text-align: left; list-style: none;
}
"""
#: Script that removes all other pages, opens dropdowns, and adds a title page with a
#: table of contents.
PREPARE = """
([kept, title, lines]) => {
  const list = document.createElement('ol');
  const make = (tag, text) =>
    Object.assign(document.createElement(tag), {textContent: text});
  for (const mark of document.querySelectorAll('span[id^="document-"]')) {
    const page = mark.nextElementSibling, head = page?.querySelector('h1, h2');
    if (!kept.includes(mark.id.replace('document-', ''))) {
      page?.remove();
      mark.remove();
    } else if (head) {
      const words = head.cloneNode(true);
      words.querySelector('.headerlink')?.remove();
      const entry = make('a', words.textContent.trim());
      entry.href = '#' + page.id;
      const item = document.createElement('li');
      item.append(entry);
      list.append(item);
    }
  }
  for (const fold of document.querySelectorAll('details')) {
    if (fold.textContent.trim().startsWith('Run this page')) fold.remove();
    else fold.open = true;
  }
  const front = document.createElement('section');
  front.className = 'front';
  front.append(make('p', title), ...lines.map(line => make('p', line)), list);
  document.querySelector('#jb-print-docs-body, article').before(front);
}
"""
#: Script that removes folds and cells in which nothing is printed: such a fold is a
#: heading without text, and such a cell may need a page. Short folds stay on one page.
TIDY = """
() => {
  for (const fold of document.querySelectorAll('details')) {
    const [, ...parts] = fold.children;
    if (parts.every(part => !part.offsetHeight)) fold.remove();
    else if (fold.offsetHeight < 250) fold.style.breakInside = 'avoid';
  }
  for (const cell of document.querySelectorAll('div.cell')) {
    if (!cell.offsetHeight) cell.remove();
  }
}
"""
#: Script that shrinks formulas that are wider than the column to its width.
SHRINK = """
() => {
  for (const formula of document.querySelectorAll('div.math')) {
    const parts = [formula, ...formula.querySelectorAll('mjx-container, mjx-math')];
    const width = Math.max(...parts.map(part => part.scrollWidth));
    const share = formula.clientWidth / width;
    if (share < 1) formula.style.fontSize = `${100 * share}%`;
  }
}
"""
#: Parts of the table of contents that are printed after the first page.
PRINTED = ("Chapters", "Appendix")
#: Width of the text on the page, in pixels: A4 between its margins.
COLUMN = 657
FOOTER = (
    '<div style="width:100%;font-size:8px;text-align:center"><span'
    ' class="pageNumber"></span></div>'
)


def printed_pages() -> list[str]:
    """Return the names of the pages to print, in the order of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    printed = [part for part in toc["parts"] if part.get("caption") in PRINTED]
    return [
        toc["root"],
        *(page["file"] for part in printed for page in part["chapters"]),
    ]


def title_page() -> tuple[str, list[str]]:
    """Return the title, and the lines below it: authors, date and version."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["title"], [
        config["author"],
        f"{date.today():%-d %B %Y}, version {version('cobandit')}",
    ]


def chromium() -> str:
    """Return the path of an installed Chromium."""
    path = next(
        filter(
            None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])
        ),
        None,
    )
    if path is None:
        sys.exit(
            "make pdf requires Chromium; install it (on Debian: apt-get install"
            " chromium)"
        )
    return path


def print_book(folder: Path, target: Path) -> None:
    """Open the book's single HTML page in Chromium, and print it to a PDF file."""
    from playwright.sync_api import sync_playwright

    # Sphinx writes the page into the folder of its source, but links in the page are
    # relative to the top folder
    page = folder / "book.html"
    shutil.copyfile(folder / "book" / "intro.html", page)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        tab = browser.new_page(color_scheme="light")
        tab.set_default_timeout(600_000)
        tab.goto(page.resolve().as_uri(), wait_until="load")
        tab.wait_for_function(
            "window.MathJax && MathJax.startup && MathJax.startup.promise"
        )
        tab.evaluate("MathJax.startup.promise.then(() => true)")
        tab.evaluate(PREPARE, [printed_pages(), *title_page()])
        tab.add_style_tag(content=PRINT)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": COLUMN, "height": 900})
        tab.evaluate(TIDY)
        tab.evaluate(SHRINK)
        tab.pdf(
            path=str(target),
            format="A4",
            margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            outline=True,
            tagged=True,
        )
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print_book(Path(sys.argv[1]), Path(sys.argv[2]))
