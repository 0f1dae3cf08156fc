"""Tests of the built book in a headless browser."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
#: The book that the tests open: `make test` builds it from the stored outputs.
HTML = ROOT / "_build" / "stored" / "_build" / "html"
CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])),
    None,
)
NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is absent (Debian: apt-get install chromium)"
)
NEEDS_BOOK = pytest.mark.skipif(
    not (HTML / "index.html").exists(),
    reason="the book is not built: run `make stored`",
)

#: Ends of old addresses, which redirect to new addresses.
REDIRECTING = tuple(
    f"/{name}.html"
    for name in yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"][
        "config"
    ]["redirects"]
)

WIDTH = 1280
PHONE = 390
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # pages share a process, which compiles a script only once (see `Visit`)
    "--process-per-site",
    # resolve no host name, so that pages cannot load anything from other hosts
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

#: Script that marks three texts of each look. A look is a combination of colour, size,
#: weight and background, which determines the contrast. The argument has the number of
#: texts of each look on earlier pages.
LOOKS = """looks => {
    const clear = 'rgba(0, 0, 0, 0)';
    const marked = document.querySelectorAll('[data-look]');
    marked.forEach(e => e.removeAttribute('data-look'));
    for (const e of document.querySelectorAll('body *')) {
        const isText = node => node.nodeType == 3 && node.data.trim();
        if (![...e.childNodes].some(isText)) continue;
        const visibility = {checkOpacity: true, checkVisibilityCSS: true};
        if (!e.checkVisibility(visibility)) continue;
        if (e.clientWidth == 1) continue;  // for screen readers alone
        const groundOf = element => getComputedStyle(element).backgroundColor;
        let ground = e;
        while (ground.parentElement && groundOf(ground) == clear)
            ground = ground.parentElement;
        const {color, fill, fontSize, fontWeight, opacity} = getComputedStyle(e);
        const look = [color, fill, fontSize, fontWeight, opacity, groundOf(ground)];
        looks[look] = (looks[look] || 0) + 1;
        if (looks[look] <= 3) e.setAttribute('data-look', '');
    }
    return looks;
}"""


class Visit:
    """A page that is open in the light theme, with its requests and its errors.

    All visits use one tab, because opening a tab takes a third of the time of a visit.
    """

    looks: ClassVar[dict[str, int]] = {}

    def __init__(self, browser, url: str):
        self.requests: list[str] = []
        self.complaints: list[str] = []
        if not browser.contexts:
            context = browser.new_context(reduced_motion="reduce")
            # continuous integration may share its cores
            context.set_default_timeout(120_000)
            context.new_page()
        self.tab = browser.contexts[0].pages[0]
        self.tab.set_viewport_size({"width": WIDTH, "height": 900})
        self.tab.emulate_media(media="screen", color_scheme="light")
        self._listeners = {
            "request": lambda request: self.requests.append(request.url),
            "requestfailed": self._fail,
            "dialog": self._dismiss,
            "pageerror": lambda error: self.complaints.append(str(error)),
            "console": self._read_console,
        }
        for event, listener in self._listeners.items():
            self.tab.on(event, listener)
        self.tab.goto(url, wait_until="load")
        self.typeset()

    def leave(self) -> None:
        """Leave the page, so that the tab can be used for the next visit."""
        for event, listener in self._listeners.items():
            self.tab.remove_listener(event, listener)
        # requests of this page end here, and not in the next visit
        self.tab.goto("about:blank")

    def _dismiss(self, box) -> None:
        self.complaints.append(box.message)
        box.dismiss()

    def _read_console(self, message) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _fail(self, request) -> None:
        # the redirection from an old address may abort its loading
        was_left = (
            request.is_navigation_request() and request.failure == "net::ERR_ABORTED"
        )
        if not (was_left and request.url.endswith(REDIRECTING)):
            self.complaints.append(f"failed: {request.url}")

    def typeset(self) -> None:
        # wait until formulas and fonts are ready
        if self.tab.locator(".math").count():
            self.tab.wait_for_function(
                "window.MathJax?.startup?.promise?.then(() => true)"
            )
        self.tab.wait_for_function("document.fonts.ready.then(() => true)")

    def went_to(self, address: str) -> list[str]:
        """Return the requested addresses outside the book."""
        return [
            url
            for url in self.requests
            if not url.startswith((address, "data:", "blob:"))
        ]

    def faults(self) -> list[str]:
        """Return violations of accessibility. Contrast is checked at marked texts."""
        self.mark_looks()
        return self._serious({})

    def faint(self) -> list[str]:
        """Return marked texts whose contrast to the background is too low."""
        return (
            self._serious({"runOnly": ["color-contrast"]}) if self.mark_looks() else []
        )

    def mark_looks(self) -> int:
        """Mark texts whose look has occurred less than three times, and count them."""
        Visit.looks = self.tab.evaluate(LOOKS, Visit.looks)
        return self.tab.locator("[data-look]").count()

    def _serious(self, options: dict[str, object]) -> list[str]:
        """Return the serious and critical violations that axe-core finds."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        axe.axe_script += (
            "axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});"
        )
        options = {"resultTypes": ["violations"], "preload": False} | options
        result = axe.run(self.tab, None, options).response
        return [
            f"{violation['id']} ({violation['impact']}), {len(violation['nodes'])}"
            " times: "
            + "; ".join(
                f"{node['target']} {node['html'][:120]}"
                for node in violation["nodes"][:3]
            )
            for violation in result["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
