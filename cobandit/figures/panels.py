"""Figures for a page: one drawing per panel, in the colours of the page.

A row of panels would be illegible if it were scaled to the width of a phone. Panels are
therefore separate drawings, which the page places side by side or below each other.
Words in a drawing remain text, in the colour of the page's text.
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
    columns = _columns(grid)
    drawn = [_row(figure, parts, row) for row in titles]
    for row in grid:
        names = [_name(panel, row, grid[0]) for panel in row]
        drawn.append(_row(figure, parts, row, columns, names))
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


def _name(panel: list[Axes], row: list[list[Axes]], top: list[list[Axes]]) -> str:
    """Return a name for a panel, from the labels and titles of its row and column.

    On a phone, panels are stacked, and the labels of a row or column may be far away.
    """
    first = row[0][0]
    above = [other[0] for other in top if _in_line([other, panel])]
    alike = panel[0].get_shared_y_axes().joined(panel[0], first)
    quantity = first.get_ylabel() if alike and not panel[0].get_ylabel() else ""
    title = "" if panel[0].get_title() or not above else above[0].get_title()
    name = ", ".join(filter(None, (quantity, title)))
    return " ".join(name.translate({ord(mark): None for mark in "$\\"}).split())


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


def _row(
    figure: Figure,
    parts: list[Artist],
    row: Sequence[Sequence[Artist]],
    columns: Sequence[Bbox] | None = None,
    names: Sequence[str] = (),
) -> str:
    """Draw panels side by side, with equal heights and the widths of their columns."""
    boxes = [_extent(panel) for panel in row]
    low = min(box.y0 for box in boxes)
    high = max(box.y1 for box in boxes)
    drawn = []
    for place, box in enumerate(columns or boxes):
        panel = row[place] if place < len(row) else ()
        for part in parts:
            part.set_visible(part in panel)
        svg = _svg(figure, Bbox([[box.x0, low], [box.x1, high]]))
        if not panel:
            # a row with fewer panels than columns
            svg = svg.replace("height: auto", "height: 0")
        elif names and names[place]:
            svg = _named(svg, names[place])
        drawn.append(svg)
    return f'<div style="{_ROW}">{"".join(drawn)}</div>'


def _named(svg: str, name: str) -> str:
    """Add a name above a panel, which the style sheet shows only on narrow screens."""
    style = re.search(r' style="([^"]*)"', svg)
    assert style is not None
    whole = ' style="display: block; width: 100%; height: auto"'
    label = f'<span class="panel-name" hidden>{escape(name)}</span>'
    return f'<div style="{style[1]}">{label}{svg.replace(style[0], whole, 1)}</div>'


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
