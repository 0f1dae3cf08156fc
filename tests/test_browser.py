"""The built book in a browser: formulas typeset, pictures drawn, nothing asked of any other machine."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is absent (Debian: apt-get install chromium)"),
    pytest.mark.skipif(not (HTML / "index.html").exists(), reason="the book is not built: run `make book`"),
]

WIDTH = 1280
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def contents() -> list[str]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # Chromium asks once, whatever the pages say
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(HTML))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Visit:
    """One page, opened at 1280 pixels, with all that it asked for and complained about."""

    def __init__(self, browser, url: str, scheme: str = "light"):
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.tab = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme=scheme)
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on(
            "console",
            lambda message: self.complaints.append(message.text) if message.type == "error" else None,
        )
        self.tab.goto(url, wait_until="networkidle")
        if self.tab.locator(".math").count():
            self.tab.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
            self.tab.evaluate("MathJax.startup.promise")
            self.tab.evaluate("document.fonts.ready")


@pytest.mark.parametrize("name", contents())
def test_page_reads_well_and_alone(browser, address, name):
    visit = Visit(browser, f"{address}/{name}.html")
    tab = visit.tab
    try:
        assert not visit.complaints
        assert [url for url in visit.requests if not url.startswith((address, "data:", "blob:"))] == []
        assert tab.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)") == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= WIDTH
        formulas = tab.locator("article .math")
        if count := formulas.count():
            assert tab.locator("article .math mjx-container").count() >= count
            assert tab.locator("mjx-merror").count() == 0
            fonts = (
                "[...document.fonts].filter(f => f.status == 'loaded' && f.family.startsWith('MJX')).length"
            )
            assert tab.evaluate(fonts) > 0
        header = tab.locator(".bd-header")
        assert not header.count() or not header.first.is_visible()
    finally:
        tab.close()


def test_dark_theme_reads_too(browser, address):
    visit = Visit(browser, f"{address}/book/notation.html", scheme="dark")
    try:
        assert visit.tab.evaluate("document.documentElement.dataset.theme") == "dark"
        channels = "getComputedStyle(document.querySelector('article p')).color.match(/\\d+/g).map(Number)"
        assert min(visit.tab.evaluate(channels)[:3]) > 150
    finally:
        visit.tab.close()


def test_front_door_leads_to_the_first_page(browser, address):
    visit = Visit(browser, f"{address}/index.html")
    try:
        visit.tab.wait_for_url("**/book/intro.html")
        assert visit.tab.locator("article h1").count() == 1
    finally:
        visit.tab.close()


def test_search_finds_a_word_without_help(browser, address):
    visit = Visit(browser, f"{address}/search.html?q=hypervolume")
    try:
        visit.tab.wait_for_selector("#search-results li a", timeout=15000)
        assert [url for url in visit.requests if not url.startswith((address, "data:", "blob:"))] == []
    finally:
        visit.tab.close()
