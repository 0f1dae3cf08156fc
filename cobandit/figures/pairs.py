"""Every score of a table against every other and against the cost, and how each is distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from cobandit.figures.looks import FAINT, INK
from cobandit.figures.style import escape_math

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Columns that are drawn, at most: the grid grows with their square.
MOST = 5


def pairs(table: EvaluationTable) -> Figure:
    """Draw the configurations by each pair of objectives and the mean cost, dark where on the front.

    Parameters
    ----------
    table : EvaluationTable
        Of its objectives the first four, and the mean cost.

    Returns
    -------
    Figure
        Scatter plots below the diagonal, a histogram of the configurations on it.

    Examples
    --------
    >>> import cobandit as cb
    >>> len(pairs(cb.load("synthetic-24")).axes)  # six panels, and a second axis for each histogram
    9
    """
    import seaborn as sns  # a second that other figures need not wait for

    cost = f"mean cost ({escape_math(table.card.cost.unit)})"
    named = {name: escape_math(name) for name in table.objectives[: MOST - 1]} | {"cost": cost}
    points = table.summary().rename(columns=named)
    points["on the front"] = points["on_front"].map({True: "yes", False: "no"})
    with plt.rc_context({"figure.constrained_layout.use": False}):  # seaborn lays it out
        grid = sns.pairplot(
            points,
            vars=list(named.values()),
            hue="on the front",
            hue_order=["no", "yes"],
            palette={"no": FAINT, "yes": INK},
            corner=True,
            diag_kind="hist",
            height=2.0,
        )
    return grid.figure
