"""The style of all figures: colours and markers of methods, axes and titles.

Methods have colours. Everything else is in shades of the text's colour.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from cobandit._text import ellipsize
from cobandit.policies.registry import list_methods

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Colour of text, ticks and frames. On a page it is replaced by the colour of the
#: surrounding text.
INK = "#22262b"
#: Colour of background elements: reference lines, and arms that are not in focus.
FAINT = "#8a8f96"


class Look(NamedTuple):
    """Marker, and colours for light and dark pages with contrasts of at least 3 : 1."""

    light: str
    dark: str
    marker: str


#: Looks of methods. Methods that are often drawn together differ in hue and lightness,
#: so that colour-blind readers can also distinguish them.
LOOKS = {
    "CoHVUCB": Look("#0173b2", "#4ba3e3", "o"),
    "CoHVUCBV": Look("#c2548f", "#f2a2cc", ">"),
    "CoHVKLUCB": Look("#2f4f2f", "#8fbc8f", "4"),
    "HVUCB": Look("#c27800", "#f0a830", "s"),
    "AccuracyCostUCB": Look("#028a64", "#2fc79a", "D"),
    "UniformAllocation": Look("#7f7f7f", "#a8a8a8", "^"),
    "CoPSI": Look("#d55e00", "#ff8a3d", "v"),
    "CoPSIExact": Look("#a8763e", "#d9b98a", "*"),
    "CoPSIAdaptive": Look("#4f7a00", "#a5cf45", "<"),
    "PSISR": Look("#3391c7", "#8fd0f5", "P"),
    "UniformIdentification": Look("#b45aa2", "#dd94d0", "X"),
    "CoPSIOnce": Look("#8b0000", "#f26d6d", "H"),
    "ParetoRace": Look("#00695c", "#4db6ac", "."),
    "CoPSIPrintedOnce": Look("#9a7206", "#d4ad3a", "h"),
    "PSISROnce": Look("#1f4e79", "#7ea9d6", "p"),
    "EGESHOnce": Look("#5c3d99", "#b09ae6", "d"),
    "UniformOnce": Look("#737373", "#b0b0b0", "8"),
}
#: Shades of arms, bounds and problems. If there are more of these than shades, they
#: also differ in line style and marker.
SHADES = {INK: "currentColor", FAINT: "#7d838a", "#5a6068": "#c4c8cd"}
PALETTE = tuple(SHADES) * 4
_ON_DARK = {look.light: look.dark for look in LOOKS.values()} | SHADES


def follow_theme(drawing: str) -> str:
    """Make the colours of a drawing or style sheet follow the theme of the page.

    Examples
    --------
    >>> follow_theme("stroke: #0173b2"), follow_theme("fill: #22262b")
    ('stroke: light-dark(#0173b2, #4ba3e3)', 'fill: currentColor')
    """

    def both(found: re.Match[str]) -> str:
        dark = _ON_DARK.get(found[0], found[0])
        return (
            dark
            if dark in (found[0], "currentColor")
            else f"light-dark({found[0]}, {dark})"
        )

    return re.sub(r"#[0-9a-f]{6}\b", both, drawing)


LINES = ("-", "--", ":", "-.")

#: Font size in points of a name next to a mark; at least 9 pixels on a phone.
NAME_SIZE = 9.7
#: If the ratio of the largest to the smallest value is below this, a logarithmic axis
#: has the ticks of a linear one.
NARROW = 1.6
#: Largest number of characters of a name in a figure.
LONGEST_NAME = 60
#: Characters that are markup within a line of Markdown, unless they are written as
#: entities.
MARKUP = re.compile(r"[\\`*_\[\]<>&$|{}~]")
#: Markers of methods that are not in `LOOKS`, which has none of these markers.
OTHER_MARKERS = "123+x|_"


def method_style(method: str) -> dict[str, Any]:
    """Return the colour and marker of a method, which are the same in every figure.

    Parameters
    ----------
    method : str
        Name of a policy class; for classes of other projects, the style is computed
        from the name.

    Returns
    -------
    dict
        Keyword arguments for ``plot``.

    Examples
    --------
    >>> method_style("CoHVUCB")
    {'color': '#0173b2', 'marker': 'o'}
    >>> method_style("MyOwn") == method_style("MyOwn")
    True
    """
    if method in LOOKS:
        return {"color": LOOKS[method].light, "marker": LOOKS[method].marker}
    # unlike hash, the same in every process
    place, number = divmod(crc32(method.encode()), len(LOOKS))
    return {
        "color": list(LOOKS.values())[number].light,
        "marker": OTHER_MARKERS[place % len(OTHER_MARKERS)],
    }


def method_label(method: str, options: str = "") -> str:
    """Return the readable name of a method, with options that distinguish variants.

    A class without a ``label`` is labelled by its class name.

    Examples
    --------
    >>> method_label("PSISR", "rounds=mean")
    'PSI-SR (rounds=mean)'
    """
    methods = list_methods()
    label = methods[method].label if method in methods else method
    return f"{label} ({options})" if options else label


def escape_math(name: object) -> str:
    r"""Return a name as text of a figure: on one line, shortened, ``$`` escaped.

    Examples
    --------
    >>> escape_math("costs $1 or $2\n"), len(escape_math("long " * 100))
    ('costs \\$1 or \\$2', 60)
    """
    return ellipsize(_on_one_line(name), LONGEST_NAME).replace("$", r"\$")


def escape_markdown(text: object) -> str:
    """Return a text with Markdown's markup escaped and long words shortened.

    Examples
    --------
    >>> escape_markdown("<b>_gpt_</b> at $1")
    '&#60;b&#62;&#95;gpt&#95;&#60;/b&#62; at &#36;1'
    """
    short = " ".join(
        ellipsize(word, LONGEST_NAME) for word in _on_one_line(text).split()
    )
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", short)


def _on_one_line(text: object) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def provenance(
    source: EvaluationTable | pd.DataFrame | Sequence[EvaluationTable | pd.DataFrame],
) -> str:
    """Return the names of tables for a title, and the kind of any table not measured.

    Parameters
    ----------
    source : EvaluationTable, DataFrame of a replay, or several of them

    Examples
    --------
    >>> import cobandit as cb
    >>> provenance(cb.load("synthetic-24"))
    'synthetic-24 (synthetic)'
    >>> provenance([cb.load("gsm8k"), cb.load("piqa")])
    'gsm8k (reconstruction), piqa (reconstruction)'
    """
    if isinstance(source, Sequence):
        return ", ".join(provenance(each) for each in source)
    if isinstance(source, pd.DataFrame):
        named = (
            source[["dataset", "kind"]]
            .drop_duplicates()
            .itertuples(index=False, name=None)
        )
    else:
        named = iter([(source.name, source.kind)])
    return ", ".join(
        name if kind == "measured" else f"{name} ({kind})" for name, kind in named
    )


def show_power(value: float) -> str:
    """Write a number in scientific notation as plain text, without a formula.

    Examples
    --------
    >>> show_power(1e4), show_power(2.5e-7), show_power(np.inf)
    ('10⁴', '2.5 · 10⁻⁷', '∞')
    """
    if np.isinf(value):
        return "∞"
    digits, exponent = f"{value:.1e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digits == "1.0" else f"{digits} · 10{raised}"


def show_plain(value: float) -> str:
    """Write a number in full, or with a power of ten if it is very large or small.

    Examples
    --------
    >>> show_plain(0.98), show_plain(1_160_000), show_plain(3e10), show_plain(1e-6)
    ('0.98', '1,160,000', '3 · 10¹⁰', '10⁻⁶')
    >>> show_plain(8.574e15), show_plain(5e-5)
    ('8.574 · 10¹⁵', '5 · 10⁻⁵')
    """
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:,.10g}"
    digits, exponent = f"{value:.9e}".split("e")
    power = show_power(float(f"1e{exponent}"))
    return power if float(digits) == 1 else f"{float(digits):g} · {power}"


def log_axis(ax: Axes, which: Literal["x", "y"] = "y") -> None:
    """Make an axis logarithmic, with plain numbers; call this after drawing.

    Examples
    --------
    >>> ax = Figure().subplots()
    >>> log_axis(ax)
    >>> ax.get_yscale()
    'log'
    """
    if not np.isfinite({"x": ax.dataLim.minposx, "y": ax.dataLim.minposy}[which]):
        # there are no data, because no budget was feasible
        ax.set(**{f"{which}lim": (0.1, 1)})
    ax.set(**{f"{which}scale": "log"})
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    low, high = axis.get_view_interval()
    if high < NARROW * low:
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(lambda value, _: show_plain(value))
        return

    # at least three labels, but not too many
    choices = {
        1000: (1,),
        60: (1, 3),
        10: (1, 2, 5),
        3: (1, 2, 3, 5, 7),
        1: range(1, 10),
    }
    plain_log(
        axis, next(digits for ratio, digits in choices.items() if high >= ratio * low)
    )


def plain_numbers(axis: Axis) -> None:
    """Write large numbers on a linear axis in full, with thousands separators.

    Examples
    --------
    >>> ax = Figure().subplots()
    >>> _ = ax.plot([0, 1_200_000])
    >>> plain_numbers(ax.yaxis)
    >>> ax.yaxis.get_major_formatter()(200_000)
    '200,000'
    """
    _, high = axis.get_view_interval()
    if 1000 <= high < 1e7:
        axis.set_major_formatter(lambda value, _: show_plain(value))


def plain_log(axis: Axis, digits: Sequence[int]) -> None:
    """Label a logarithmic axis at the multiples of powers of ten by ``digits``."""
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: show_plain(value))


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Label the vertical axis with names, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Suppress warnings about characters that the font lacks.

    SVG stores text as text, and a browser takes missing characters from another font.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def shared_legend(figure: Figure, columns: int = 4) -> None:
    """Put one legend for all panels below the figure.

    Parameters
    ----------
    figure : Figure
    columns : int

    Examples
    --------
    >>> figure = Figure()
    >>> axes = figure.subplots(1, 2)
    >>> _ = axes[0].plot([0, 1], label="a"), axes[1].plot([0, 1], label="a")
    >>> shared_legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['a']
    """
    entries: dict[str, Any] = {}
    for ax in figure.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=columns
    )
