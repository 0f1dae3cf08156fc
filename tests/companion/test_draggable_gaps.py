"""The figure of gaps that the reader moves, and its agreement with the library."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.browsing import HTML, NEEDS_BOOK, NEEDS_CHROMIUM, ROOT
from support.faults import bad_argument
from support.sampling import sample

import cobandit as cb
from cobandit.dominance import gap_terms
from companion.pages import draggable_gaps
from companion.pages.draggable_gaps import STEPS

PAGE = HTML / "notebooks" / "copsi.html"
LABELS = ("first score", "second score")
#: Two shapes per status: a sum of two terms, and arms that tie.
PLANES = [
    np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125], [0.9, 0.05]]),
    np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.2]]),
    *(
        np.random.default_rng(seed).integers(0, most + 1, (5, 2)) / most
        for seed in range(6)
        for most in (4, STEPS)
    ),
]

#: Sizes of the figure's words in pixels of the screen.
FONT_SIZES = """[
    ...document.querySelectorAll('#gaps :is(.gaps-plane text, td, th, p)')
].map(e => {
    const {a, b} = e.getScreenCTM?.() ?? {a: 1, b: 0};
    return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
})"""


@pytest.mark.parametrize("means", PLANES)
def test_sides_of_the_squares_add_up_to_the_gap(means):
    terms = gap_terms(means)
    for arm, gap in enumerate(cb.classification_gaps(means)):
        squares = draggable_gaps.find_squares(means, terms, arm)
        sides = sum(abs(square.change) for square in squares)
        assert sides == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("mean", [0.1234, 1.005, -0.005])
def test_means_have_to_be_on_the_grid(mean):
    with bad_argument("not-on-the-grid", "means"):
        draggable_gaps.describe_arms([[mean, 0.5], [0.5, 0.5]], "ab", LABELS)


def test_static_figure_marks_the_front():
    figure = draggable_gaps.draw_arms(
        draggable_gaps.describe_arms(PLANES[0], "abcd", LABELS)
    )
    front = cb.pareto_mask(PLANES[0])
    for ax in figure.axes:
        filled = [dot.get_markerfacecolor() != "none" for dot in ax.lines]
        assert filled == front.tolist()
    plt.close(figure)


def read_means(tab):
    """Return the means that the figure reports for its arms."""
    texts = [
        arm.get_attribute("aria-valuetext") for arm in tab.locator(".gaps-arm").all()
    ]
    return np.array([re.findall(r"score (\S+?)[,;]", text) for text in texts], float)


def check_figure(tab):
    """Compare gaps, front and deciding arms with the library; return the means."""
    means = read_means(tab)
    gaps = cb.classification_gaps(means)
    front = cb.pareto_mask(means)
    names = tab.locator("#gaps tbody th").all_inner_texts()
    for row, name, gap, on_front, term in zip(
        tab.locator("#gaps tbody tr").all(),
        names,
        gaps,
        front,
        gap_terms(means),
        strict=True,
    ):
        assert row.locator("td").all_inner_texts() == [
            "yes" if on_front else "no",
            names[term.by],
            f"{gap:.3f}",
            "",
        ]
        arm = tab.get_by_label(f"Arm {name}", exact=True)
        status = "on the front" if on_front else "dominated"
        text = f"{status}, gap {gap:.3f}, decided by {names[term.by]}"
        assert arm.get_attribute("aria-valuetext").endswith(text)
        look = "gaps-front" if on_front else "gaps-dominated"
        assert arm.locator(f".{look}").count() == 1

    # the squares that are drawn, in units of the axes
    marked = tab.locator("#gaps .gaps-row th").inner_text()
    low, high = draggable_gaps.LIMITS
    frame = float(tab.locator("#gaps-frame rect").get_attribute("width"))
    sides = [
        float(square.get_attribute("width"))
        for square in tab.locator(".gaps-square").all()
    ]
    drawn = sum(sides) / frame * (high - low)
    assert drawn == pytest.approx(gaps[names.index(marked)], abs=1e-9)
    return means


def drag(tab, name, change):
    """Drag an arm, gripped beside its centre; return the expected mean."""
    arm = tab.get_by_label(f"Arm {name}", exact=True)
    names = tab.locator("#gaps tbody th").all_inner_texts()
    before = read_means(tab)[names.index(name)]
    box = arm.locator("circle").nth(1).bounding_box()
    low, high = draggable_gaps.LIMITS
    width = tab.locator(".gaps-axes path").bounding_box()["width"]
    scale = width / (high - low)
    x = box["x"] + box["width"] / 2 + 4
    y = box["y"] + box["height"] / 2 - 4
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + change[0] * scale, y - change[1] * scale, steps=3)
    tab.mouse.up()
    return np.clip(before + change, 0, 1)


@pytest.fixture
def figure(visit, tmp_path):
    """``figure(means)``: a page with nothing but the figure."""

    def figure(means):
        data = draggable_gaps.describe_arms(means, "abcdef"[: len(means)], LABELS)
        scripts = [
            (ROOT / "book" / "_static" / name).as_uri()
            for name in ("elements.js", "gaps.js")
        ]
        page = tmp_path / "page.html"
        page.write_text(
            "".join(f'<script src="{script}"></script>' for script in scripts)
            + '<div style="width: 400px">'
            f"{draggable_gaps.figure_html(data)}</div>",
            encoding="utf-8",
        )
        return visit(page.as_uri())

    return figure


@pytest.mark.browser
@pytest.mark.slow
@NEEDS_CHROMIUM
class TestScript:
    @pytest.mark.parametrize("means", sample(PLANES, first=4))
    def test_gaps_agree_with_the_library(self, figure, means):
        visited = figure(means)
        assert check_figure(visited.tab) == pytest.approx(means)
        assert not visited.complaints

    def test_gaps_of_dragged_arms_agree_with_the_library(self, figure):
        tab = figure(PLANES[0]).tab
        rng = np.random.default_rng(0)
        for _ in range(12):
            place = int(rng.integers(4))
            wanted = drag(tab, "abcd"[place], rng.uniform(-0.6, 0.6, 2))
            means = check_figure(tab)
            assert means[place] == pytest.approx(wanted, abs=2 / STEPS)
            gaps = np.sort(cb.classification_gaps(means))
            assert gaps[0] == pytest.approx(gaps[1], abs=1e-12)
            assert tab.locator(".gaps-smallest").count() >= 2

        tab.get_by_role("button", name="Reset").click()
        assert check_figure(tab) == pytest.approx(PLANES[0])

    def test_arms_move_by_keyboard(self, figure):
        tab = figure(PLANES[0]).tab
        tab.get_by_label("Arm c", exact=True).focus()
        for keys in ["ArrowUp", "ArrowUp", "Shift+ArrowUp", "ArrowLeft"]:
            tab.keyboard.press(keys)
        means = check_figure(tab)
        assert means[2] == pytest.approx([0.49, 0.245])
        assert tab.locator(".gaps-says").inner_text().startswith("c is dominated")
        tab.keyboard.press("ArrowUp")
        assert tab.locator(".gaps-says").inner_text().startswith("c is on the front")
        check_figure(tab)

    def test_arms_move_by_touch(self, figure):
        tab = figure(PLANES[0]).tab
        box = tab.get_by_label("Arm b", exact=True).locator("circle").nth(1)
        place = box.bounding_box()
        x = place["x"] + 5
        y = place["y"] + 5
        session = tab.context.new_cdp_session(tab)
        touches = {"touchStart": 0, "touchMove": 60, "touchEnd": None}
        for kind, moved in touches.items():
            points = [] if moved is None else [{"x": x + moved, "y": y + moved}]
            session.send(
                "Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}
            )
        means = check_figure(tab)
        assert means[1, 0] > 0.3 and means[1, 1] < 0.7
        assert means[[0, 2, 3]] == pytest.approx(PLANES[0][[0, 2, 3]])


@pytest.mark.browser
@pytest.mark.slow
@NEEDS_CHROMIUM
@NEEDS_BOOK
class TestPage:
    @pytest.mark.parametrize(
        "width", [390, pytest.param(800, marks=pytest.mark.acceptance), 1400]
    )
    @pytest.mark.parametrize(
        "scheme", ["light", pytest.param("dark", marks=pytest.mark.acceptance)]
    )
    def test_figure_is_read_and_moved_in_every_window(self, visit, width, scheme):
        visited = visit(PAGE.as_uri())
        tab = visited.tab
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_function(f"document.documentElement.dataset.theme == '{scheme}'")
        tab.set_viewport_size({"width": width, "height": 900})
        tab.locator("#gaps").scroll_into_view_if_needed()
        drag(tab, "d", np.array([-0.2, 0.3]))
        check_figure(tab)
        sizes = tab.evaluate(FONT_SIZES)
        assert min(sizes) >= 9
        assert not visited.complaints

    def test_static_figure_is_printed(self, visit):
        tab = visit(PAGE.as_uri()).tab
        plane = tab.locator("#gaps .gaps-plane")
        panels = tab.locator("#gaps > .panels")
        assert plane.is_visible() and not panels.is_visible()
        tab.emulate_media(media="print")
        assert panels.is_visible() and not plane.is_visible()

    def test_figure_is_static_without_scripts(self, browser):
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(PAGE.as_uri())
        assert page.locator("#gaps .panels svg").count() == 4
        context.close()
