"""One colour and marker per method through the whole book, for each theme; all else is in shades of ink."""

from __future__ import annotations

import re
from typing import NamedTuple

#: What `use_style` draws text, ticks and frames with; on a page it becomes the colour of the text around it.
INK = "#22262b"
#: What stands behind the rest: arms that nothing is said of, reference lines.
FAINT = "#8a8f96"


class Look(NamedTuple):
    """Colour on a light and on a dark ground, at least 3 : 1 against either, and marker."""

    light: str
    dark: str
    marker: str


#: Neighbours in a picture are told apart by hue and lightness, so also without seeing red or green.
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
#: Shades of what is no method: arms, bounds, problems.  Lines and markers tell more of them apart.
SHADES = {INK: "currentColor", FAINT: "#7d838a", "#5a6068": "#c4c8cd"}
PALETTE = tuple(SHADES) * 4
_ON_DARK = {look.light: look.dark for look in LOOKS.values()} | SHADES


def follow_theme(drawing: str) -> str:
    """Let the colours of a drawing or a style sheet follow the theme of the page around it.

    Examples
    --------
    >>> follow_theme("stroke: #0173b2"), follow_theme("fill: #22262b")
    ('stroke: light-dark(#0173b2, #4ba3e3)', 'fill: currentColor')
    """

    def both(found: re.Match[str]) -> str:
        dark = _ON_DARK.get(found[0], found[0])
        return dark if dark in (found[0], "currentColor") else f"light-dark({found[0]}, {dark})"

    return re.sub(r"#[0-9a-f]{6}\b", both, drawing)
