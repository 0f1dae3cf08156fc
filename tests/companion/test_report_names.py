"""Names in the report are shown as text, never as markup, formula or script."""

import pytest
from support.browsing import NEEDS_CHROMIUM
from support.names import NAMES, write_records

import cobandit as cb
from cobandit.tables.importers import import_logs
from companion.report import rerun


def shown(name):
    """A name on a page, which shows no control characters, and spaces once."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


@pytest.mark.browser
@NEEDS_CHROMIUM
@pytest.mark.slow
def test_names_are_escaped_in_the_report(visit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_records(12)
    import_logs(
        "csv",
        ["records.parquet"],
        tmp_path / "my.parquet",
        config=["model"],
        instance="question",
        cost="usd",
        unit="<i>USD</i>",
        objective=["accuracy=ok", "speed=seconds:inverse-percentile"],
        title="<script>document.title = 'broken'</script> $x$ [0-shot]",
        profiling=4,
    )
    report = rerun(
        tmp_path / "my.parquet",
        tmp_path / "report",
        fast=True,
        pages=["landscape"],
        budget=50,
    )
    visited = visit((tmp_path / "report" / "index.html").as_uri())
    tab = visited.tab

    assert tab.title() != "broken"
    text = " ".join(tab.locator("#recommendation").inner_text().split())
    for name in NAMES:
        # the page may cut what is long
        assert all(
            word in text for word in shown(name)[:40].split() if len(word) < 30
        ), name

    assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
    assert (
        tab.locator(
            "#top script, #top b:has-text('gpt'), #top a:has-text('gpt')"
        ).count()
        == 0
    )
    output_text = " ".join(tab.locator("#landscape").inner_text().split())
    problem = cb.read(tmp_path / "my.parquet").problem
    for arm in (problem.best_arm, problem.hypervolume.argmax()):
        assert shown(problem.names[arm]) in output_text
    assert (
        report.pages[0].status == "done"
        and not visited.complaints
        and not visited.went_to("file:")
    )
