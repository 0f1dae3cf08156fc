"""The answer as one HTML file, opened from disk in a browser."""

from __future__ import annotations

import builtins
import json

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from support.browsing import ARGUMENTS, CHROMIUM, NEEDS_CHROMIUM, PHONE, WIDTH
from support.commands import call
from support.faults import bad_argument
from support.sampling import sample

import cobandit as cb
from cobandit import figures
from cobandit.figures.front_page import CHOSEN, OPEN, draw_chart


def make_table(n_arms, n_objectives):
    """Names and objectives contain markup or characters of chart expressions."""
    rng = np.random.default_rng(n_arms)
    names = [f"<b>{arm}</b> & </script>" for arm in range(n_arms)]
    objectives = [f"a.score [{d}] 'x'" for d in range(n_objectives)]
    quality = np.linspace(0.1, 0.9, n_arms)[:, None, None]  # the better, the dearer
    rewards = rng.beta(10 * quality, 10 * (1 - quality), (n_arms, 20, n_objectives))
    costs = 10 ** (6 * quality[:, :, 0] - 4 + rng.uniform(0, 0.1, (n_arms, 20)))
    return cb.EvaluationTable.from_arrays(
        rewards, costs, configs=names, objectives=objectives
    )


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@NEEDS_CHROMIUM
@pytest.mark.slow
@pytest.mark.parametrize(
    "size",
    [(3, 1), pytest.param((24, 2), marks=pytest.mark.acceptance), (108, 4)],
    ids=str,
)
@pytest.mark.parametrize(
    ("width", "scheme"), sample([(WIDTH, "light"), (PHONE, "dark")])
)
def test_page_opens_from_disk_and_its_slider_moves_the_choice(
    browser, tmp_path, size, width, scheme
):
    advice = cb.recommend(make_table(*size), replications=2)
    figures.write_front_page(advice, tmp_path / "front.html")
    tab = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    errors, requests = [], []
    tab.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type == "error" else None
        ),
    )
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto((tmp_path / "front.html").as_uri())
    tab.wait_for_selector("#front svg")
    assert errors == [] and all(url.startswith(("file:", "data:")) for url in requests)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width

    assert tab.locator("tbody tr").count() == size[0]
    assert tab.locator("tbody tr td").first.inner_text() == advice.arms.index[0]
    tab.locator("th button", has_text="on the front").click()
    sliders = tab.locator("#front input[type=range]")
    assert sliders.count() == size[1]

    chosen = f'#front svg text[fill="{CHOSEN}"]'
    cheapest = tab.locator(chosen).first.text_content()
    best = advice.arms[advice.objectives[0]].max()
    sliders.first.evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new"
        " Event('input')); }",
        float(np.floor(100 * best) / 100),
    )
    tab.wait_for_function(
        "([where, before]) => document.querySelector(where)?.textContent !== before",
        arg=[chosen, cheapest],
    )
    tab.close()


@pytest.mark.slow
def test_command_writes_the_page_and_prints_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(
        "recommend", "synthetic-24", "--replications", "2", "--html", "front.html"
    )
    assert done.exit_code == 0 and "front.html" in done.output
    assert "frontier-direct-t0.0" in (tmp_path / "front.html").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_missing_packages_are_named_with_the_remedy(tmp_path, monkeypatch, synthetic):
    imported = builtins.__import__

    def without(name, *rest, **keywords):
        if name == "vl_convert":
            raise ImportError("absent", name=name)
        return imported(name, *rest, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with bad_argument("missing-package", names=["vl_convert", "cobandit[html]"]):
        figures.write_front_page(
            cb.recommend(synthetic, replications=2), tmp_path / "front.html"
        )
    assert not (tmp_path / "front.html").exists()


@pytest.mark.slow
def test_sliders_begin_at_the_given_condition(synthetic):
    """A margin below the best becomes a rounded mean, so the choice is marked."""
    advice = cb.recommend(synthetic, within={"accuracy": 0.052}, replications=2)
    chart = draw_chart(advice)

    minimum = {
        param["name"]: param["value"] for param in chart["params"] if "bind" in param
    }

    assert minimum == {"least0": 0.79, "least1": 0.0}
    meets = advice.arms[advice.arms["accuracy"] >= minimum["least0"]]
    assert meets.index[0] == advice.choice.configuration


@pytest.mark.slow
def test_legend_lists_only_present_statuses(synthetic):
    advice = cb.recommend(synthetic, about="benchmark", replications=2)
    assert advice.arms["front_settled"].all()
    assert OPEN not in json.dumps(draw_chart(advice))


@pytest.mark.slow
def test_page_shows_the_front_before_all_others(synthetic, tmp_path):
    """Steps compare a row with the next cheaper one of the front."""
    advice = cb.recommend(synthetic, replications=2)
    figures.write_front_page(advice, tmp_path / "front.html")

    table = (
        (tmp_path / "front.html").read_text(encoding="utf-8").partition("<tbody>")[2]
    )

    places = [table.index(f"<td>{name}</td>") for name in advice.front.index]
    assert places == sorted(places)
    assert max(places) < min(
        table.index(f"<td>{name}</td>")
        for name in advice.arms.index.difference(advice.front.index)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("minimum", "outcome"), [(0.8, "chosen: frontier-cot-t0.0"), (0.99, "chosen: none")]
)
def test_picture_states_whether_a_condition_is_met(synthetic, minimum, outcome):
    figure = cb.recommend(
        synthetic, at_least={"accuracy": minimum}, replications=2
    ).plot()
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert outcome in texts
