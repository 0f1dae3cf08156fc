"""Figures for a page: one drawing per panel, in the colours of the page.

A row of panels would be illegible if it were scaled to the width of a phone. Panels are
therefore separate drawings, which the page places side by side or below each other.
Words in a drawing remain text, in the colour of the page's text.

Panels side by side share the names of axes. Below each other, every panel needs all
names. The additional names are hidden, and the style sheet of a page
(book/_static/custom.css) shows them, and makes room for them, on narrow screens.
"""

import re
import sys
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO, StringIO
from itertools import count, zip_longest
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import LogFormatterMathtext
from matplotlib.transforms import Bbox

from cobandit.figures.style import (
    INK,
    LINES,
    SHADES,
    follow_theme,
    show_power,
    without_glyph_warnings,
)

#: Size in characters from which a figure is shown as a raster image. A scatter plot of
#: many thousand points, for example, has this size.
LARGEST = 1_000_000
#: A panel moves to a separate row before it shrinks below this share of its size.
SHRINK = 0.7
PAD = 3 / 72
#: Start tag of every drawing; `described` adds the description.
OPENING = '<div class="panels"'
#: Class of names that only narrow screens show.
ADDED = "added-name"

_ROW = "display: flex; flex-wrap: wrap; gap: 0.3rem 0.6rem; justify-content: center"
_numbers = count()
_NOTHING = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def use_style() -> None:
    """Set the book's matplotlib style; a notebook shows figures as `panels`.

    Examples
    --------
    >>> use_style()
    """
    plt.rcParams.update(
        {
            "figure.dpi": 150,
            "figure.figsize": (7.0, 3.6),
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.titlesize": "medium",
            "legend.frameon": False,
            "legend.fontsize": "small",
            "font.size": 10,
            "lines.linewidth": 1.6,
            # colours are reserved for methods, so other lines are in shades of ink
            "axes.prop_cycle": cycler(linestyle=LINES) * cycler(color=list(SHADES)),
            "lines.markersize": 5,
            **dict.fromkeys(
                (
                    "text.color",
                    "axes.labelcolor",
                    "axes.edgecolor",
                    "xtick.color",
                    "ytick.color",
                ),
                INK,
            ),
        }
    )

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        # the backend of a notebook is loaded first, because loading it resets the
        # formatters of figures
        plt.switch_backend(plt.get_backend())
        plt.rcParams["figure.dpi"] = 100
        formatters = shell.display_formatter.formatters
        formatters["text/html"].for_type(Figure, panels)
        # a PNG copy of the picture would be ten times as large when compressed
        formatters["image/png"].pop(Figure, None)


@mpl.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False})
@without_glyph_warnings()
def panels(figure: Figure) -> str:
    """Draw a figure as HTML: an inline SVG per panel and per entry of its legends.

    `use_style` lets a notebook show figures in this way.

    Parameters
    ----------
    figure : Figure
        The figure is changed: all axes get labels.

    Returns
    -------
    str
        A ``div`` of rows, or a raster image if the rows would be too large for a page.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots(1, 2)
    >>> panels(figure).count("<svg")
    2
    """
    for ticked in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        # mathtext would be drawn digit by digit
        if isinstance(ticked.get_major_formatter(), LogFormatterMathtext):
            ticked.set_major_formatter(lambda value, _: show_power(value))

    figure.draw_without_rendering()  # computes the layout
    # with a layout engine, each panel would be drawn twice
    figure.set_layout_engine(None)
    parts = [part for part in figure.get_children() if part is not figure.patch]
    outside = [
        legend
        for ax in figure.axes
        if (legend := ax.get_legend()) and _beside(legend, ax)
    ]
    shown = {part: part.get_visible() for part in [*parts, *outside]}
    for legend in outside:
        legend.set_visible(False)
    titles: list[Any] = [
        [[p]] for p in parts if isinstance(p, Text) and shown[p] and p.get_text()
    ]
    grid = _grid([ax for ax in figure.axes if shown[ax]])
    for ax in [ax for row in grid if len(row) > 1 for panel in row for ax in panel]:
        _label(ax)
    drawn = [_row(figure, parts, row, _boxes([row])[0]) for row in titles]
    views = _boxes(grid)
    added = _repeat_names(grid)
    wholes = _boxes(grid)
    widest = max((box.width for boxes in wholes for box in boxes), default=1.0)
    for row, view, full in zip(grid, views, wholes, strict=True):
        drawn.append(_row(figure, parts, row, view, full, widest))
    for text in added:
        text.set(text="", gid=None)
    for part, visible in shown.items():
        part.set_visible(visible)
    seen = [legend for legend in [*outside, *figure.legends] if shown[legend]]
    legends = {
        tuple(text.get_text() for text in legend.get_texts()): legend for legend in seen
    }

    # legends that are equal in several panels are drawn once
    drawn += [_legend(legend) for legend in legends.values()]
    inside = "".join(drawn)
    return f"{OPENING}>{inside if len(inside) < LARGEST else _raster(figure)}</div>"


def described(drawing: str, text: str) -> str:
    """Add a description in words to a drawing, for readers who cannot see it.

    Examples
    --------
    >>> described('<div class="panels">...</div>', "A line that rises.")
    '<div class="panels" role="img" aria-label="A line that rises.">...</div>'
    """
    description = escape(" ".join(text.split()))
    return drawing.replace(
        f"{OPENING}>", f'{OPENING} role="img" aria-label="{description}">'
    )


def _grid(axes: list[Axes]) -> list[list[list[Axes]]]:
    """Return rows of panels, each a list of overlapping axes."""
    places = [
        spec.get_topmost_subplotspec() for ax in axes if (spec := ax.get_subplotspec())
    ]
    if len(places) < len(axes):
        return [[axes]]
    rows: dict[int, dict[int, list[Axes]]] = defaultdict(lambda: defaultdict(list))
    for ax, place in zip(axes, places, strict=True):
        rows[place.rowspan.start][place.colspan.start].append(ax)
    return [
        [panel for _, panel in sorted(row.items())] for _, row in sorted(rows.items())
    ]


def _label(ax: Axes) -> None:
    """Add tick labels to a panel that shares an axis with a labelled panel."""
    for axis, shared, side in (
        (ax.xaxis, ax.get_shared_x_axes(), "labelbottom"),
        (ax.yaxis, ax.get_shared_y_axes(), "labelleft"),
    ):
        alike = [
            getattr(other, axis.axis_name + "axis") for other in shared.get_siblings(ax)
        ]
        if any(each.get_tick_params().get(side) for each in alike):
            axis.set_tick_params(which="both", **{side: True})


def _repeat_names(grid: list[list[list[Axes]]]) -> list[Text]:
    """Name each panel of a row and its axes, and return the texts that were empty.

    A name that a panel lacks is the name of the nearest panel: above for titles, to the
    left for vertical axes, and below or in the last row for horizontal axes. An axis
    whose ticks are words needs no name.
    """
    missing: dict[Text, str] = {}
    for row in (row for row in grid if len(row) > 1):
        for place, panel in enumerate(row):
            ax = panel[0]
            column = [
                cell[0] for line in grid for cell in line if _in_line([cell, panel])
            ]
            height = column.index(ax)
            candidates = {ax.title: [cell.title for cell in column[:height][::-1]]}

            if _has_numbers(ax.xaxis):
                lower = [*column[height + 1 :], *(cell[0] for cell in grid[-1])]
                candidates[ax.xaxis.label] = [cell.xaxis.label for cell in lower]
            if _has_numbers(ax.yaxis):
                earlier = [cell[0].yaxis.label for cell in row[:place][::-1]]
                candidates[ax.yaxis.label] = earlier

            for text, labels in candidates.items():
                name = next(filter(None, (label.get_text() for label in labels)), "")
                if name and not text.get_text():
                    missing[text] = name

    for text, name in missing.items():
        text.set(text=name, gid=ADDED)
    return [*missing]


def _has_numbers(axis: Axis) -> bool:
    """Return whether an axis has tick labels, and none of them has a letter."""
    words = "".join(label.get_text() for label in axis.get_ticklabels())
    return axis.axes.axison and words != "" and not any(map(str.isalpha, words))


def _beside(legend: Legend, ax: Axes) -> bool:
    """Return whether a legend is outside of its axes."""
    return not legend.get_window_extent().overlaps(ax.bbox)


def _columns(grid: Sequence[Sequence[Sequence[Artist]]]) -> list[Bbox] | None:
    """Return the extent of each column of a grid; None if columns are not aligned."""
    columns = [[panel for panel in column if panel] for column in zip_longest(*grid)]
    if len({len(row) for row in grid}) != 1 and not all(map(_in_line, columns)):
        return None
    return [Bbox.union([_extent(panel) for panel in column]) for column in columns]


def _in_line(column: Iterable[Sequence[Any]]) -> bool:
    return (
        len({tuple(panel[0].get_position().intervalx.round(3)) for panel in column})
        == 1
    )


def _extent(panel: Sequence[Artist]) -> Bbox:
    for artist in panel:
        artist.set_visible(True)  # a hidden artist has no extent
    return Bbox.union([box for artist in panel if (box := artist.get_tightbbox())])


def _boxes(grid: Sequence[Sequence[Sequence[Artist]]]) -> list[list[Bbox]]:
    """Return extents of panels: equal heights in a row, equal widths in a column."""
    columns = _columns(grid)
    boxes = []
    for row in grid:
        extents = [_extent(panel) for panel in row]
        low = min(box.y0 for box in extents)
        high = max(box.y1 for box in extents)
        boxes.append(
            [Bbox([[box.x0, low], [box.x1, high]]) for box in columns or extents]
        )
    return boxes


def _row(
    figure: Figure,
    parts: list[Artist],
    row: Sequence[Sequence[Artist]],
    views: Sequence[Bbox],
    wholes: Sequence[Bbox] = (),
    widest: float = 1.0,
) -> str:
    """Draw panels side by side; ``wholes`` include the names outside of the views."""
    drawn = []
    for place, view in enumerate(views):
        panel = row[place] if place < len(row) else ()
        for part in parts:
            part.set_visible(part in panel)
        svg = _svg(figure, view)
        if not panel:
            # a row with fewer panels than columns
            svg = svg.replace("height: auto", "height: 0")
        elif len(row) > 1:
            svg = _with_room(svg, view, wholes[place], widest, figure.dpi)
        drawn.append(svg)
    return f'<div style="{_ROW}">{"".join(drawn)}</div>'


def _with_room(svg: str, view: Bbox, full: Bbox, widest: float, dpi: float) -> str:
    """Wrap a drawing for the style sheet, which can make room for names around it."""
    style = re.search(r' style="([^"]*)"', svg)
    assert style is not None
    room = [
        full.y1 - view.y1,
        full.x1 - view.x1,
        view.y0 - full.y0,
        view.x0 - full.x0,
    ]
    padded = full.width + 2 * PAD * dpi
    shares = " ".join(f"{100 * side / padded:.1f}%" for side in room)
    wide = 96 * padded / dpi
    variables = (
        f"--room: {shares}; --view: {100 * (1 - (room[1] + room[3]) / padded):.1f}%;"
        f" --share: {100 * full.width / widest:.1f}%; --least: {SHRINK * wide:.0f}px;"
        f" --most: {wide:.0f}px"
    )
    filled = ' style="display: block; width: 100%; height: auto"'
    return (
        f'<div class="panel" style="{style[1]}; {variables}">'
        f"{svg.replace(style[0], filled, 1)}</div>"
    )


def _legend(legend: Legend) -> str:
    """Draw each entry of a legend separately, so that entries wrap like words."""
    drawn = []
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        assert handle is not None
        alone = Figure()
        # the height of the largest mark of a scatter plot, which is centred in the line
        look: dict[str, Any] = {
            "borderpad": 0,
            "frameon": False,
            "handleheight": 1.5,
            "scatteryoffsets": [0.385],
        }
        entry = alone.legend(
            [handle], [text.get_text()], fontsize=text.get_fontsize(), **look
        )
        drawn.append(_svg(alone, entry.get_window_extent(), 1))

    return f'<div style="{_ROW}">{"".join(drawn)}</div>'


def _raster(figure: Figure) -> str:
    file = BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return (
        f'<img src="data:image/png;base64,{b64encode(file.getvalue()).decode()}"'
        ' style="max-width: 100%">'
    )


def _svg(figure: Figure, box: Bbox, shrink: float = SHRINK) -> str:
    """Write the part of a figure that lies inside ``box``, in pixels, as inline SVG."""
    file = StringIO()
    inches = Bbox(box.get_points() / figure.dpi).padded(PAD)

    # the salt makes the ids of drawings on one page different
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": str(next(_numbers))}):
        figure.savefig(
            file, format="svg", bbox_inches=inches, transparent=True, metadata=_NOTHING
        )

    # remove the file's header, repeated styles, and ids that panels share
    inside = file.getvalue().partition("</defs>")[2].rpartition("</svg>")[0]
    inside = inside.replace(f'id="{ADDED}"', f'class="{ADDED}" visibility="hidden"')
    inside = re.sub(r'(?<=<g) id="[^"]*"| font-family: [^;"]*;?', "", inside)

    # round coordinates, which are in attributes, to hundredths of a point
    inside = re.sub(
        '="[^"]*"', lambda given: re.sub(r"(\.\d\d)\d+", r"\1", given[0]), inside
    )
    inside = follow_theme(inside.replace("#000000", INK))
    inside = " ".join(
        inside.replace("#ffffff", "var(--pst-color-background, #fff)").split("\n")
    )
    width, height = (
        round(float(side * 72), 1) for side in (inches.width, inches.height)
    )
    wide = width * 96 / 72
    style = (
        f"flex: {wide:.0f} 1 {shrink * wide:.0f}px; max-width: {wide:.0f}px; min-width:"
        " 0; height: auto"
    )
    look = (
        'fill="currentColor" font-family="DejaVu Sans, Verdana, sans-serif"'
        ' stroke-linejoin="round"'
    )
    head = (
        f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width} {height}"'
        f" {look}"
    )
    return f'<svg {head} style="{style}">{inside}</svg>'
