"""Figures as drawings of a page: complete, without repetition, figure unchanged."""

import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from io import BytesIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from cobandit import figures

SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        figures.use_style()
        yield
    plt.close("all")


def parsed(drawing):
    root = ET.fromstring(
        drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    )
    return root.findall(f".//{SVG}svg")


def texts(svg):
    return ["".join(node.itertext()) for node in svg.iter(f"{SVG}text")]


def test_panels_and_legend_entries_are_drawings_of_their_own():
    figure, axes = plt.subplots(2, 2, figsize=(7, 5))
    for number, ax in enumerate(axes.flat):
        ax.plot([0, 1], [0, number], label="one of four")
        ax.set(title=f"panel {number}", xlabel="0.00123 of it")
    figures.shared_legend(figure)
    svgs = parsed(figures.panels(figure))
    assert len(svgs) == 5
    for number, svg in enumerate(svgs[:4]):
        assert f"panel {number}" in texts(svg) and "0.00123 of it" in texts(svg)
        assert not any(
            f"panel {panel}" in texts(svg) for panel in range(4) if panel != number
        )
    assert texts(svgs[4]) == ["one of four"]


def test_every_panel_of_a_row_has_tick_labels():
    """On a phone, panels with shared axes are far from the labels of the first."""
    figure, axes = plt.subplots(2, 2, sharex=True, sharey=True)
    axes[0, 0].set(xticks=[1, 2], yticks=[3, 4])
    for svg in parsed(figures.panels(figure)):
        assert {"1", "2", "3", "4"} <= set(texts(svg))


def test_every_panel_of_a_row_has_a_title_and_names_of_both_axes():
    figure, axes = plt.subplots(2, 2)
    for ax, table in zip(axes[0], ("gsm8k", "piqa_small"), strict=True):
        ax.set_title(figures.escape_math(table))
    for ax, quantity in zip(axes[:, 0], ("regret", "F1"), strict=True):
        ax.set_ylabel(quantity)
    axes[1, 0].set_xlabel("budget")
    axes[1, 1].set_xlabel("share")
    drawn = [set(texts(svg)) for svg in parsed(figures.panels(figure))]
    for names, quantity, below, table in zip(
        drawn,
        ("regret", "regret", "F1", "F1"),
        ("budget", "share") * 2,
        ("gsm8k", "piqa_small") * 2,
        strict=True,
    ):
        assert {quantity, below, table} <= names


def test_added_names_are_outside_of_the_view():
    figure, axes = plt.subplots(1, 2)
    axes[0].set_ylabel("regret")
    drawing = figures.panels(figure)
    first, second = re.findall("--room: (.*?);", drawing)
    assert {*first.split()} == {"0.0%"}
    assert [side != "0.0%" for side in second.split()] == [False, False, False, True]
    assert axes[1].get_ylabel() == ""


def test_ticks_in_words_need_no_name():
    figure, axes = plt.subplots(1, 2)
    axes[0].set_ylabel("regret")
    axes[1].set_yticks([0, 1], ["a method", "another"])
    second = parsed(figures.panels(figure))[1]
    assert "regret" not in texts(second)


def test_omitted_labels_stay_omitted():
    figure, axes = plt.subplots(1, 2, sharey=True)
    for ax in axes:
        ax.tick_params(labelleft=False)
        ax.set(xticks=[1, 2], yticks=[3, 4])
    assert all(texts(svg) == ["1", "2"] for svg in parsed(figures.panels(figure)))


def test_rows_of_one_panel_are_unchanged():
    figure, axes = plt.subplots(2, 1, sharex=True)
    axes[0].set(xticks=[1, 2], yticks=[3, 4])
    assert [texts(svg)[:2] for svg in parsed(figures.panels(figure))] == [
        ["3", "4"],
        ["1", "2"],
    ]


def test_panels_of_a_row_share_height_and_keep_proportions():
    figure, axes = plt.subplots(1, 2, figsize=(7, 3), width_ratios=[1, 3])
    axes[1].set_title("two\nlines")
    svgs = parsed(figures.panels(figure))
    heights = {svg.get("viewBox").split()[3] for svg in svgs}
    widths = [float(svg.get("viewBox").split()[2]) for svg in svgs]
    assert len(heights) == 1 and widths[1] > 2 * widths[0]


def test_outer_legends_are_extracted_once_and_inner_ones_stay():
    figure, axes = plt.subplots(1, 3, figsize=(12, 3))
    for ax in axes:
        ax.plot([0, 1], label="line")
    axes[0].legend(loc="upper left")
    for ax in axes[1:]:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3))
    svgs = parsed(figures.panels(figure))
    assert [("line" in texts(svg)) for svg in svgs] == [True, False, False, True]


def test_ink_has_the_colour_of_the_page():
    figure, ax = plt.subplots()
    ax.plot([0, 1], color="black")
    ax.plot([1, 0], color="white")
    drawing = figures.panels(figure)
    assert not re.search("#22262b|#000000|#ffffff", drawing)
    assert "currentColor" in drawing and "--pst-color-background" in drawing


def test_identifiers_of_two_figures_differ_and_resolve():
    drawings = []
    for _ in range(2):
        figure, ax = plt.subplots()
        ax.plot([0, 1], "o-")
        drawings.append(figures.panels(figure))
    matches = [set(re.findall(r' id="([^"]*)"', drawing)) for drawing in drawings]
    assert matches[0] and not matches[0] & matches[1]
    for drawing, ids in zip(drawings, matches, strict=True):
        assert set(re.findall(r'(?:url\(|href=")#([^")]*)', drawing)) <= ids


def test_figure_is_not_modified():
    figure, axes = plt.subplots(1, 2)
    axes[0].plot([0, 1], label="a")
    axes[1].set_visible(False)
    figures.shared_legend(figure)
    figure.canvas.draw()
    before = np.asarray(figure.canvas.buffer_rgba()).copy()
    # the panel that can be seen, and the legend
    assert figures.panels(figure).count("<svg") == 2
    figure.canvas.draw()
    assert np.array_equal(before, np.asarray(figure.canvas.buffer_rgba()))


def test_point_cloud_is_shown_as_a_raster_image():
    figure, ax = plt.subplots()
    ax.plot(*np.random.default_rng(0).normal(size=(2, 20_000)), "o")
    drawing = figures.described(figures.panels(figure), "a cloud")
    assert drawing.startswith(
        '<div class="panels" role="img" aria-label="a cloud"><img src="data:image/png;'
    )
    picture = plt.imread(BytesIO(b64decode(drawing.split("base64,")[1].split('"')[0])))
    assert picture[..., :3].min() < 0.5 < picture[..., :3].max()


def test_names_are_drawn_as_text():
    figure, ax = plt.subplots()
    ax.set_title("<b>x</b> & y")
    assert "<b>x</b> & y" in texts(parsed(figures.panels(figure))[0])
    assert 'aria-label="&lt;b&gt; &quot;x&quot;"' in figures.described(
        figures.panels(figure), '<b> "x"'
    )
