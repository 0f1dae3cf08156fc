"""The built book in an offline browser: rendering, readability, accessibility."""

from __future__ import annotations

import functools
import http.server
import json
import re
import sys
import threading
from urllib.parse import quote_plus

import pytest
from book_size import LOOK, LOOKED_UP, WINDOW, contents, measure, over
from support.browsing import HTML, NEEDS_BOOK, NEEDS_CHROMIUM, PHONE, REDIRECTING, WIDTH
from support.sampling import sample

pytestmark = [pytest.mark.browser, pytest.mark.slow, NEEDS_CHROMIUM, NEEDS_BOOK]

#: Every page of the book and the index; of the pages of source code, which one template
#: makes, and of the old addresses, which lead to others of these, one each.
BUILT = [
    path
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and path != HTML / "index.html"
]
SOURCES = [path for path in BUILT if "_modules" in path.parts]
OLD = [path for path in BUILT if path.as_posix().endswith(REDIRECTING)]
LEFT_OUT = {
    *sorted(SOURCES, key=lambda path: path.stat().st_size)[:-1],
    *sorted(OLD)[:-1],
}
PAGES = sorted(path.relative_to(HTML).as_posix() for path in {*BUILT} - LEFT_OUT)
#: Pages of the reference, which one template makes. Accessibility is checked on the
#: largest of them only.
REFERENCE = sorted(HTML.glob("book/api/*.html"), key=lambda path: path.stat().st_size)
SAME_TEMPLATE = {path.relative_to(HTML).as_posix() for path in REFERENCE[:-1]}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # Chromium asks once, whatever the pages say
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format, *arguments):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # a page may be left before all of its files are loaded
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture(scope="module")
def address():
    server = QuietServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(HTML))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


#: Wide things have to scroll by themselves, and who has no mouse has to reach them with
#: the keyboard.
OUT_OF_REACH = """[...document.querySelectorAll('article *')].filter(e =>
    ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth + 1
    && e.checkVisibility() && e.tabIndex < 0
    && !e.querySelector('a[href], input, button, [tabindex="0"]')
).map(e => e.outerHTML.slice(0, 120))"""

#: Formulas whose right end no scrolling brings into sight, those in closed dropdowns
#: included.
CUT_OFF = """[...document.querySelectorAll('article mjx-container')].filter(formula => {
    let right = formula.getBoundingClientRect().right;
    for (let e = formula; e; e = e.parentElement) {
        const style = getComputedStyle(e), edge = e.getBoundingClientRect().right;
        if (style.overflowX == 'visible' || style.display == 'inline') continue;
        const isWide = e.scrollWidth > e.clientWidth + 1;
        if (isWide && style.overflowX != 'hidden') right = edge;
        else if (right > edge + 1) return true;
    }
    return right > innerWidth + 1;
}).map(
    formula => formula.parentElement.className + formula.textContent.slice(0, 120)
)"""

#: Punctuation that stands in the line below its formula, unless this fills a line.
TORN_OFF = """[
    ...document.querySelectorAll('article span.math:not(.wide)')
].filter(e => {
    const text = e.nextSibling;
    if (text?.nodeType != 3 || !/^[,.;:!?)\\]]/.test(text.data)) return false;
    const range = new Range();
    range.setStart(text, 0);
    range.setEnd(text, 1);
    const mark = range.getBoundingClientRect(), formula = e.getBoundingClientRect();
    return mark.width && mark.left < formula.left;
}).map(e => e.parentElement.textContent.slice(0, 120))"""

#: Words in tables of text that go on in the next line; code may.
BROKEN_WORDS = """[...document.querySelectorAll('article table p')].flatMap(cell => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const broken = [];
    const range = new Range();
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (text.parentElement.closest('code, mjx-container')) continue;
        for (const word of text.data.matchAll(/[\\p{L}\\d]+/gu)) {
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const lines = [...range.getClientRects()].map(line => Math.round(line.top));
            if (new Set(lines).size > 1) broken.push(word[0]);
        }
    }
    return broken;
})"""

#: Cells in open dropdowns that show both how a text is written and the text.
TEXTS_AS_CODE = """[...document.querySelectorAll('article details .cell_input')].filter(
    code => code.checkVisibility() && code.textContent.includes('Markdown(')
        && !code.closest('.tag_show-input')
).map(code => code.textContent.slice(0, 120))"""

#: Thousands of words of code have a few colours: each is looked at once, the others
#: become plain text.  So do formulas after the first of a page; and of what templates
#: write in hundreds, entries of the reference and the index and rows of long tables,
#: each eighth stays.  Drawings keep their words and lose their shapes. The list of all
#: pages is looked at on one of them.
ALIKE = """seen => {
    const navigation = document.querySelectorAll('.bd-sidebar-primary ul');
    if (seen.length) navigation.forEach(list => list.remove());
    const repeated = document.querySelectorAll(
        'dl.py:not(:has(dl.py)), .genindextable li, .bd-sidebar-secondary li li, '
        + 'tbody tr:nth-child(n + 20)'
    );
    repeated.forEach((entry, i) => i % 8 && entry.remove());
    const shapes = document.querySelectorAll(
        'article svg :is(defs, use, path, g:not(:has(text, title)))'
    );
    shapes.forEach(shape => shape.remove());
    const formulas = [...document.querySelectorAll('article mjx-container')];
    formulas.slice(12).forEach(formula => formula.replaceWith('x'));
    const words = document.querySelectorAll('article :is(pre, dt.sig) span[class]');
    return [...words].flatMap(word => {
        const kind = word.className;
        if (!seen.includes(kind) && !word.children.length) {
            seen.push(kind);
            return [kind];
        }
        if (!word.children.length) word.replaceWith(...word.childNodes);
        return [];
    });
}"""


@pytest.fixture
def seen(once, visit, address):
    """``seen(name)``: the counts of a page, made by the first test that opens it."""

    def seen(name, tab=None):
        def look(folder):
            result = (tab or visit(f"{address}/{name}").tab).evaluate(LOOK)
            (folder / "seen.json").write_text(json.dumps(result))

        return json.loads(
            (once(f"seen {name.replace('/', ' ')}", look) / "seen.json").read_text()
        )

    return seen


@pytest.fixture(scope="module")
def colours():
    """Kinds of words of code that axe-core has looked at."""
    return []


@pytest.mark.parametrize("name", PAGES)
def test_page_renders_offline_at_both_widths(visit, address, seen, name):
    visited = visit(f"{address}/{name}")
    tab = visited.tab
    if name.removesuffix(".html") in contents():
        assert tab.viewport_size == WINDOW and seen(name, tab)["words"] > 100
    assert (
        tab.evaluate(
            "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
        )
        == []
    )
    assert tab.evaluate("document.documentElement.scrollWidth") <= WIDTH
    formulas = tab.locator("article .math")
    if count := formulas.count():
        assert tab.locator("article .math mjx-container").count() >= count
        assert tab.locator("mjx-merror").count() == 0
        fonts = (
            "[...document.fonts].filter(f => f.status == 'loaded' &&"
            " f.family.startsWith('MJX')).length"
        )
        assert tab.evaluate(fonts) > 0
    header = tab.locator(".bd-header")
    assert not header.count() or not header.first.is_visible()

    tab.set_viewport_size({"width": PHONE, "height": 800})
    tab.wait_for_timeout(600)  # the theme looks at widths again
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE
    tab.evaluate(
        "document.querySelectorAll('article details').forEach(d => d.open = true)"
    )
    tab.wait_for_timeout(100)
    assert tab.evaluate(TEXTS_AS_CODE) == []
    assert tab.evaluate(OUT_OF_REACH) == []
    assert tab.evaluate(CUT_OFF) == []
    assert tab.evaluate(TORN_OFF) == []
    assert tab.evaluate(BROKEN_WORDS) == []
    assert not visited.complaints
    assert not visited.went_to(address)


#: Pages whose accessibility is checked. `make test` checks one page.
ACCESSIBLE = [name for name in PAGES if name not in SAME_TEMPLATE]


@pytest.mark.parametrize("name", sample(ACCESSIBLE))
def test_page_is_accessible_in_both_themes(visit, address, colours, name):
    visited = visit(f"{address}/{name}")
    tab = visited.tab
    tab.evaluate(
        "document.querySelectorAll('article details').forEach(d => d.open = true)"
    )
    # add the colours of code that are checked on this page
    colours += tab.evaluate(ALIKE, colours)
    assert tab.evaluate("document.documentElement.dataset.theme") in (None, "light")
    faults = {"light": visited.faults()}
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    faults["dark"] = visited.faint()  # nothing but colours changes with the theme
    assert not any(faults.values()), faults


def test_book_stays_within_its_limits(seen):
    """Limits hold for words, folds, their names and the place of the first picture."""
    measured = measure(
        {name: seen(f"{name}.html") for name in contents() if name not in LOOKED_UP}
    )
    assert not over(measured), measured.to_string()


@pytest.mark.parametrize("name", sample(["book/notation.html", "book/intro.html"]))
def test_page_opens_from_disk(visit, name):
    """A reader opens _build/html/index.html without any server."""
    visited = visit((HTML / name).as_uri())
    assert not visited.complaints
    assert not visited.went_to(HTML.as_uri())
    formulas = visited.tab.locator("article .math").count()
    assert visited.tab.locator("article .math mjx-container").count() >= formulas


def test_first_screen_links_every_reader(visit, address):
    """The abstract and the first figure's controls are visible without scrolling."""
    visited = visit(f"{address}/book/intro.html")
    screen = visited.tab.viewport_size["height"]
    controls = visited.tab.locator("#argument .argument-controls").bounding_box()
    assert controls["y"] + controls["height"] <= screen
    cards = [
        card.bounding_box()
        for card in visited.tab.locator("article .readers .sd-card").all()
    ]
    assert len(cards) == 3
    assert max(card["y"] + card["height"] for card in cards) <= 2 * screen


@pytest.mark.parametrize("width", sample([390, 800]))
def test_toggles_open_navigation_and_contents(visit, address, width):
    tab = visit(f"{address}/notebooks/copsi.html").tab
    tab.set_viewport_size({"width": width, "height": 800})

    for kind in "primary", "secondary":
        tab.locator(f".{kind}-toggle:visible").click()
        sidebar = tab.locator(f"#pst-{kind}-sidebar-modal")
        sidebar.locator("a:visible").first.wait_for()
        tab.keyboard.press("Escape")
        sidebar.wait_for(state="hidden")


def test_stacked_panels_on_a_phone_have_one_size_and_names(visit, address):
    tab = visit(f"{address}/notebooks/exhibits.html").tab
    panels = tab.locator("#exhibit-figure-3 .panel")
    names = panels.nth(1).locator(".added-name")
    assert names.count() and not names.first.is_visible()

    tab.set_viewport_size({"width": 390, "height": 800})
    assert panels.nth(1).get_by_text("standard regret").is_visible()
    boxes = [panel.bounding_box() for panel in panels.all()]
    widths = [box["width"] for box in boxes]
    assert max(widths) < 1.1 * min(widths)
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]


def test_toggle_collapses_navigation_on_wide_screens(visit, address):
    tab = visit(f"{address}/notebooks/copsi.html").tab
    tab.set_viewport_size({"width": 1400, "height": 800})
    sidebar = tab.locator("#pst-primary-sidebar")
    toggle = tab.locator(".primary-toggle:visible")

    toggle.click()
    sidebar.wait_for(state="hidden")
    toggle.click()
    sidebar.wait_for(state="visible")


def test_root_page_redirects_to_the_first_page(visit, address):
    tab = visit(f"{address}/index.html").tab
    tab.wait_for_url("**/book/intro.html")
    assert tab.locator("article h1").count() == 1


@pytest.mark.parametrize(
    ("query", "page"),
    sample(
        [
            ("papermill", "book/reproduce.html"),
            ("Table 1", "notebooks/exhibits.html"),
            ("pareto_mask", "book/api/cobandit.html"),
            ("hypervolume", "notebooks/cohv-ucb.html"),
            ("PSI-SR", "notebooks/copsi.html"),
            ("tolerance", "notebooks/once.html"),
            ("Figure 4", "notebooks/exhibits.html"),
            ("Lemma 2", "notebooks/copsi.html"),
            ("Corollary 1", "notebooks/standard-regret.html"),
        ],
        first=3,
    ),
)
def test_search_finds_the_right_page_first_offline(visit, address, query, page):
    visited = visit(f"{address}/search.html?q={quote_plus(query)}")
    first = visited.tab.locator("#search-results li a").first
    first.wait_for(timeout=15000)
    assert first.get_attribute("href").partition("#")[0] == page
    assert not visited.went_to(address)


@pytest.mark.parametrize(
    "query", sample(["regret", "front", "budget", "price", "import"])
)
def test_search_lists_pages_before_names_of_the_api(visit, address, query):
    tab = visit(f"{address}/search.html?q={query}").tab
    tab.wait_for_function(
        "document.querySelector('.search-summary')?.textContent.includes('finished')"
    )
    links = tab.locator("#search-results li a")
    targets = links.evaluate_all("links => links.map(a => a.getAttribute('href'))")
    of_the_api = [target.startswith("book/api") for target in targets]
    assert of_the_api == sorted(of_the_api)
    assert not of_the_api[0]


@pytest.mark.parametrize(
    "exhibit", sample(["Figure 4", "Table 1", "Figure 2", "Lemma 2"])
)
def test_filter_of_claims_finds_one_exhibit(visit, address, exhibit):
    tab = visit(f"{address}/notebooks/claims.html").tab
    tab.locator(".filter input").first.fill(exhibit)
    rows = tab.locator("table.claims tbody tr:visible").all_inner_texts()
    assert rows
    assert all(re.search(rf"{exhibit}(?!\d)", " ".join(row.split())) for row in rows)
