"""The explorer: what is computed for it, and that its page shows just that, offline, in a browser."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from support.browsing import HTML, NEEDS_CHROMIUM, Visit

import cobandit as cb
from cobandit.companion import explorer
from cobandit.companion.allocation import allocation
from cobandit.companion.paper import experiments
from cobandit.stats import metrics
from cobandit.testing import table_of

PAGE = HTML / "notebooks" / "explorer.html"
SIZE = 3_000_000  # bytes of the page, data and all; a slow telephone loads that in seconds

needs_page = [
    pytest.mark.browser,
    pytest.mark.slow,
    NEEDS_CHROMIUM,
    pytest.mark.skipif(
        not PAGE.exists(), reason="the book of stored outputs is not built: run `make stored`"
    ),
]


# ----------------------------------------------------------------------------- what is computed


@pytest.fixture(scope="module")
def table():
    return cb.load("synthetic-24")


@pytest.mark.parametrize("methods", ["CoHVUCB", ["HVUCB", "UniformAllocation"], ["CoPSI", cb.spec("PSISR")]])
def test_allocation_adds_up_to_the_runs_of_the_replay(table, methods):
    rho, replications, seed = [40, 60], 6, 3
    online = "UCB" in str(methods)
    kind = "online" if online else "identification"
    counted = allocation(table, methods, kind, rho, replications, seed)
    runs = (cb.replay_online if online else cb.replay_identification)(table, methods, rho, replications, seed)
    by = ["method", "rho", "replication"]
    assert len(counted) == len(runs) * table.n_arms
    totals = counted.groupby(by)["pulls"].sum()
    assert totals.sort_index().equals(runs.set_index(by)["pulls"].sort_index())
    if online:
        per_run = counted.pivot_table(index=by, columns="arm", values="pulls")
        regret = metrics.efficiency_regret(table.problem, per_run.to_numpy())
        expected = runs.set_index(by)["efficiency_regret"].reindex(per_run.index)
        np.testing.assert_allclose(regret, expected, rtol=1e-12)


def test_allocation_of_a_budget_that_is_too_small_is_empty(table):
    assert allocation(table, "CoPSI", "identification", 1, 2).empty


def test_table_for_some_objectives_is_the_table_that_never_had_the_others():
    rng = np.random.default_rng(0)
    arms = [[(float(rng.integers(1, 9)), *rng.random(3)) for _ in range(6)] for _ in range(4)]
    whole = table_of(arms)
    names = whole.objectives
    kept = whole.for_objectives(names[2], names[0])
    fresh = table_of([[(row[0], row[3], row[1]) for row in rows] for rows in arms])
    assert kept.objectives == (names[2], names[0])
    np.testing.assert_array_equal(kept.means, fresh.means)
    np.testing.assert_array_equal(kept.feedback.rewards, fresh.feedback.rewards)
    np.testing.assert_array_equal(kept.costs, whole.costs)
    assert list(kept.raw_means.columns) == [whole.card.objectives[d].column for d in (2, 0)]
    runs = [cb.replay_online(one, "CoHVUCB", 4, 3) for one in (kept, fresh)]
    pd.testing.assert_frame_equal(*runs)


@pytest.mark.parametrize("names", [(), ("accuracy", "accuracy"), ("accurracy",)])
def test_unknown_or_repeated_objectives_are_refused(table, names):
    with pytest.raises(cb.CobanditError, match="objective"):
        table.for_objectives(*names)


@pytest.mark.slow
def test_data_fit_json_and_say_so_where_a_budget_is_too_small():
    arms = [[(1.0, 0.2), (1.0, 0.4), (1.0, 0.3)], [(900.0, 0.9), (900.0, 0.7), (900.0, 0.8)]]
    made_up = table_of(arms, kind="reconstruction")
    data = explorer.precompute([made_up], replications=3)
    again = json.loads(re.search(r"<script[^>]*>(.*)</script>", explorer.html(data), re.DOTALL)[1])
    assert again == json.loads(json.dumps(data))
    (shown,) = again["tables"]
    assert "reconstruction" in shown["shown"]
    for cells in shown["views"][0]["replays"].values():
        assert all(len(cell["pulls"]["mean"]) == 2 for cell in cells if "pulls" in cell)


def test_a_name_cannot_end_the_script_element():
    assert explorer.html({"name": "</script><b>"}).count("</script>") == 1


# ----------------------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def visit(browser):
    if not PAGE.exists():
        pytest.skip("the book is not built: run `make book`")
    opened = Visit(browser, PAGE.as_uri())
    yield opened
    opened.tab.close()


def said(x: float) -> str:
    """A number as the page writes it: four significant digits, thousands by commas."""
    return f"{float(f'{x:.4g}'):,.10g}"


def choose(tab, **values) -> str:
    for name, value in values.items():
        tab.locator(f"#explorer-{name}").select_option(str(value))
    return tab.locator(".explorer-says").inner_text()


class TestPage:
    pytestmark = needs_page

    def test_page_is_light_and_its_data_are_those_of_its_tables(self, visit):
        assert PAGE.stat().st_size < SIZE
        held = json.loads(visit.tab.locator("#explorer-data").text_content())
        for shown in held["tables"]:
            table = cb.load(shown["name"])
            assert shown["configurations"] == list(table.configs)
            assert table.kind in shown["shown"] or table.kind == "measured"

    def test_every_method_and_budget_shows_what_the_library_computes(self, visit, table):
        tab = visit.tab
        held = json.loads(tab.locator("#explorer-data").text_content())
        place = [shown["name"] for shown in held["tables"]].index(table.name)
        how = {"replications": held["replications"], "seed": held["seed"]}
        online = cb.replay_online(table, experiments.online_methods(), explorer.ONLINE_RHO, **how)
        found = cb.replay_identification(
            table, experiments.IDENTIFICATION, explorer.IDENTIFICATION_RHO, **how
        )
        found["error"] = ~found["correct"]
        compared = 0
        for task, runs in {"online": online, "identification": found}.items():
            for measure in explorer.MEASURES[task]:
                for row in metrics.summarise(runs, measure, ("method", "rho")).itertuples():
                    text = choose(tab, table=place, objectives=0, method=row.method, budget=f"{row.rho:g}")
                    text = choose(tab, measure=measure)
                    if row.runs == 0:
                        assert "too small" in text
                        continue
                    assert f"{said(row.mean)} ({said(row.low)} to {said(row.high)})" in text
                    compared += 1
        assert compared >= 40

    def test_allocation_shown_is_the_library_s(self, visit, table):
        tab = visit.tab
        names = tab.locator("#explorer-table option").all_inner_texts()
        place = next(i for i, name in enumerate(names) if name.startswith(table.name))
        choose(tab, table=place, objectives=0, method="CoHVUCB", budget=32)
        held = json.loads(tab.locator("#explorer-data").text_content())
        spec = experiments.online_methods()[0]
        counted = allocation(table, [spec], "online", 32, held["replications"], held["seed"])
        means = counted.groupby("arm")["pulls"].mean().sort_values(ascending=False)
        folded = tab.locator("details").filter(has_text="The same as a table: every configuration")
        folded.evaluate("node => { node.open = true }")
        rows = folded.locator("tbody tr")
        assert rows.count() == table.n_arms
        cells = rows.first.locator("th, td").all_inner_texts()
        assert cells[0] == table.configs[means.index[0]]
        assert cells[-1].startswith(said(means.iloc[0]))

    def test_every_table_and_choice_of_objectives_names_its_front(self, visit):
        tab = visit.tab
        held = json.loads(tab.locator("#explorer-data").text_content())
        for place, shown in enumerate(held["tables"]):
            table = cb.load(shown["name"])
            for view, choice in enumerate(shown["views"]):
                problem = table.for_objectives(*choice["objectives"]).problem
                text = choose(tab, table=place, objectives=view, method="CoHVUCB")
                assert text.startswith(f"{shown['shown']}, objectives {' and '.join(choice['objectives'])}: ")
                assert f"the front has {problem.pareto_mask.sum()} of {table.n_arms} configurations" in text
                assert f"best return on cost has {problem.names[problem.best_arm]}." in text
                assert tab.locator(".explorer-figure svg").count() >= 3
                captions = tab.locator(".explorer-figure figcaption").all_inner_texts()
                assert all(shown["shown"] in caption for caption in captions)
        assert not visit.complaints

    def test_keyboard_is_enough(self, visit):
        tab = visit.tab
        choose(tab, table=0, objectives=0, method="CoHVUCB", budget=2)
        before = tab.locator(".explorer-says").inner_text()
        tab.locator("#explorer-method").focus()
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.id") == "explorer-budget"
        tab.keyboard.press("ArrowDown")
        assert tab.locator(".explorer-says").inner_text() != before
        labelled = (
            "[...document.querySelectorAll('#cobandit-explorer select')].every(s => s.labels.length == 1)"
        )
        assert tab.evaluate(labelled)

    def test_nothing_leaves_the_machine(self, visit):
        assert [url for url in visit.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert not visit.complaints

    def test_phone_in_the_dark(self, browser):
        opened = Visit(browser, PAGE.as_uri())
        try:
            opened.tab.emulate_media(color_scheme="dark")
            opened.tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")
            opened.tab.set_viewport_size({"width": 375, "height": 800})
            opened.tab.wait_for_function("document.querySelector('.explorer-figure svg').clientWidth <= 375")
            assert opened.tab.evaluate("document.documentElement.scrollWidth") <= 375
            shade = "getComputedStyle(document.querySelector('.explorer-figure svg text')).fill"
            assert min(map(int, re.findall(r"\d+", opened.tab.evaluate(shade))[:3])) > 150
            assert not opened.complaints
        finally:
            opened.tab.close()

    def test_without_scripts_there_is_a_sentence(self, browser):
        context = browser.new_context(java_script_enabled=False)
        try:
            page = context.new_page()
            page.goto(PAGE.as_uri())
            assert page.locator(".explorer-fallback").is_visible()
            assert page.locator("noscript").count() >= 1
        finally:
            context.close()
