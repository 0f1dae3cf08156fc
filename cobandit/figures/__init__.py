"""One function a figure: tidy frame in, Axes out.

Every method has one colour and one marker through the whole book; variants of a method (its options)
share them and differ in their line.  Bands are 95 % intervals, and say which.
"""

from cobandit.figures.gaps import gap_plane
from cobandit.figures.landscapes import drawn_from, landscape, numbered_front, show_table
from cobandit.figures.panels import described, panels
from cobandit.figures.replays import along_runs, by_budget, error_bars, error_by_budget
from cobandit.figures.steps import index_path, phase_plane
from cobandit.figures.style import (
    PALETTE,
    drawn,
    log_axis,
    method_label,
    method_style,
    provenance,
    shared_legend,
    use_style,
    written,
)

__all__ = [
    "PALETTE",
    "along_runs",
    "by_budget",
    "described",
    "drawn",
    "drawn_from",
    "error_bars",
    "error_by_budget",
    "gap_plane",
    "index_path",
    "landscape",
    "log_axis",
    "method_label",
    "method_style",
    "numbered_front",
    "panels",
    "phase_plane",
    "provenance",
    "shared_legend",
    "show_table",
    "use_style",
    "written",
]
