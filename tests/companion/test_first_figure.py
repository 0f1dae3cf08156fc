"""The first figure: its states, and their display in a browser."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from support.browsing import HTML, NEEDS_BOOK, NEEDS_CHROMIUM
from support.sampling import sample

import cobandit as cb
from cobandit.testing.small_tables import table_of
from companion.pages import first_figure
from companion.stored import results

PAGE = HTML / "book" / "intro.html"


@pytest.fixture(scope="module")
def data():
    return described(cb.load("synthetic-24"), 3)


def described(table, replications):
    states = [
        first_figure.play_states(table, method, replications)
        for method in first_figure.METHODS
    ]
    return first_figure.describe_states(table, pd.concat(states))


@pytest.mark.slow
def test_states_match_the_replays(data):
    table = cb.load("synthetic-24")
    for name in first_figure.METHODS:
        runs = cb.replay_identification(
            table, name, share=0.4, replications=3, feedback="once"
        )
        state = data["methods"][name]["states"][first_figure.SHARES.index(0.4)]
        first = runs.iloc[0]
        assert state["exact"] == runs["correct"].sum()
        assert state["spent"] == pytest.approx(
            first["spent"] / first["budget"], abs=1e-4
        )
        assert sum(state["pulls"]) == first["pulls"]
        assert {table.configs[arm] for arm in state["returned"]} == set(
            first["returned"]
        )


@pytest.mark.slow
def test_run_is_judged_by_the_front_of_its_method():
    """Where all runs are exact, so is the one that is drawn."""
    descriptions = first_figure.describe_states(
        cb.load("word-sums"), results.read_result("argument")
    )
    states = [
        (method, state)
        for method in descriptions["methods"].values()
        for state in method["states"]
    ]
    exact = [
        (method, state)
        for method, state in states
        if state["exact"] == descriptions["replications"]
    ]
    assert exact and all(
        sorted(state["returned"]) == method["front"] for method, state in exact
    )


@pytest.mark.slow
def test_insufficient_budget_has_no_run():
    cheap = [(1.0, 0.2), (1.0, 0.4), (1.0, 0.3)]
    dear = [(900.0, 0.9), (900.0, 0.7), (900.0, 0.8)]
    data = described(
        table_of([[(*row, row[1]) for row in arm] for arm in (cheap, dear)]), 2
    )
    assert set(data["methods"]["CoPSIPrintedOnce"]["states"][0]) == {"exact"}


@pytest.mark.browser
@pytest.mark.slow
@NEEDS_CHROMIUM
@NEEDS_BOOK
class TestPage:
    def test_each_state_is_drawn_described_and_linked(self, visit):
        visited = visit(PAGE.as_uri())
        tab = visited.tab

        states = json.loads(tab.locator("#argument-data").text_content())
        side = tab.locator("#argument .argument-side").first
        for name, method in states["methods"].items():
            tab.locator("#argument-method-left").select_option(name)
            for place in (0, len(states["shares"]) - 1):
                tab.locator("#argument-budget").fill(str(place))
                state = method["states"][place]
                text = side.locator(".argument-says").inner_text()
                if "pulls" not in state:
                    assert "cannot start" in text
                    continue
                share = round(100 * state["exact"] / states["replications"])
                exact = f"exact in {share} % of {states['replications']} runs."
                assert f"{method['label']}: {exact}" in text
                returned = set(state["returned"])
                front = set(method["front"])
                shown = side.locator(".argument-fill.returned").count()
                assert shown == len(returned)
                assert side.locator(".argument-wrong").count() == len(returned ^ front)

        link = tab.locator(".argument-link").get_attribute("href")
        assert link == f"#{name}-CoPSIOnce-100"
        assert not visited.complaints

    @pytest.mark.parametrize(
        ("address", "shown"),
        sample(
            [
                ("#UniformOnce-ParetoRace-90", ["UniformOnce", "ParetoRace"]),
                ("#Unknown-100", ["CoPSIPrintedOnce", "CoPSIOnce"]),
                ("", ["CoPSIPrintedOnce", "CoPSIOnce"]),
                ("#UniformOnce-100", ["CoPSIPrintedOnce", "UniformOnce"]),
            ],
            first=2,
        ),
    )
    def test_address_selects_methods(self, visit, address, shown):
        tab = visit(PAGE.as_uri() + address).tab
        menus = tab.locator("#argument select")
        assert [menu.input_value() for menu in menus.all()] == shown

    def test_figure_works_by_keyboard(self, visit):
        tab = visit(PAGE.as_uri()).tab
        sentences = tab.locator(".argument-says")
        before = sentences.all_inner_texts()
        tab.locator("#argument-budget").focus()
        tab.keyboard.press("Home")
        after = sentences.all_inner_texts()
        assert all(old != new for old, new in zip(before, after, strict=True))
        labelled = (
            "[...document.querySelectorAll('#argument input, #argument select')]"
            ".every(control => control.labels.length == 1)"
        )
        assert tab.evaluate(labelled)

    def test_figure_works_on_a_dark_phone(self, visit):
        tab = visit(PAGE.as_uri()).tab
        tab.emulate_media(color_scheme="dark")
        tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")
        tab.set_viewport_size({"width": 375, "height": 800})
        widths = [
            side.bounding_box()["width"]
            for side in tab.locator("#argument .argument-side").all()
        ]
        assert min(widths) > 300, "one above the other, each as wide as the column"
        assert tab.evaluate("document.documentElement.scrollWidth") <= 375
        shade = tab.evaluate(
            "getComputedStyle(document.querySelector('#argument svg text')).fill"
        )
        assert min(map(int, re.findall(r"\d+", shade)[:3])) > 150

    def test_figure_is_static_without_scripts(self, browser):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(PAGE.as_uri())
        assert page.locator("#argument .panels svg").count() >= len(
            first_figure.METHODS
        )
        context.close()
