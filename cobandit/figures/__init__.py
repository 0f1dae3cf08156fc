"""Figures: each function takes a table or tidy frame, and draws one figure.

Every method has the same colour and marker in all figures. Variants of a method (its
options) share both and differ in the line style. Bands are 95 % intervals; each
function states their kind.
"""

from cobandit.figures.front_page import write_front_page as write_front_page
from cobandit.figures.fronts import front as front
from cobandit.figures.landscapes import landscape as landscape
from cobandit.figures.landscapes import show_table as show_table
from cobandit.figures.panels import described as described
from cobandit.figures.panels import panels as panels
from cobandit.figures.panels import use_style as use_style
from cobandit.figures.runs import by_budget as by_budget
from cobandit.figures.runs import error_by_budget as error_by_budget
from cobandit.figures.runs import gap_plane as gap_plane
from cobandit.figures.runs import index_path as index_path
from cobandit.figures.runs import phase_plane as phase_plane
from cobandit.figures.runs import stepper as stepper
from cobandit.figures.style import PALETTE as PALETTE
from cobandit.figures.style import escape_markdown as escape_markdown
from cobandit.figures.style import escape_math as escape_math
from cobandit.figures.style import log_axis as log_axis
from cobandit.figures.style import method_label as method_label
from cobandit.figures.style import method_style as method_style
from cobandit.figures.style import provenance as provenance
from cobandit.figures.style import shared_legend as shared_legend
from cobandit.figures.style import show_power as show_power
