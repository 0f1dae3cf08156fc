"""The page that is printed as a PDF, in a browser."""

from __future__ import annotations

import pytest
from support.browsing import NEEDS_CHROMIUM

PAGE = """
<div class="cell" id="empty"><p style="display: none">hidden</p></div>
<div class="cell" id="cell">
  <details open id="hidden"><summary>Tests</summary>
    <pre class="page-code">assert True</pre></details>
</div>
<details open id="short"><summary>Solution</summary><p>Seven.</p></details>
<details open id="long"><summary>Proof</summary>
  <p style="height: 900px">Let i be.</p></details>
"""


@pytest.mark.browser
@pytest.mark.slow
@NEEDS_CHROMIUM
def test_folds_and_cells_without_print_are_removed(visit, tmp_path):
    pdf = pytest.importorskip("pdf")
    page = tmp_path / "page.html"
    page.write_text(PAGE, encoding="utf-8")
    tab = visit(page.as_uri()).tab
    tab.add_style_tag(content=pdf.PRINT)
    tab.emulate_media(media="print")
    tab.evaluate(pdf.TIDY)
    ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(part => part.id)")
    assert ids == ["short", "long"]
    breaks = "[...document.querySelectorAll('details')].map(f => f.style.breakInside)"
    assert tab.evaluate(breaks) == ["avoid", ""]
