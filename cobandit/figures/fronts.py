"""The figure of the front: configurations that are worth their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, BboxBase
from numpy.typing import NDArray

from cobandit._text import ellipsize
from cobandit.figures.style import (
    FAINT,
    INK,
    NAME_SIZE,
    escape_math,
    log_axis,
    without_glyph_warnings,
)

if TYPE_CHECKING:
    from cobandit.advice import Recommendation
    from cobandit.tables import EvaluationTable

#: Largest size of a front whose members are named at their marks. Members of a larger
#: front, or with long names, have numbers, which are explained next to the panels.
NAMED_AT_MARKS = 6
#: Largest number of numbered members; the cheapest ones are numbered.
NAMED = 20
#: Largest number of characters of a name at its mark, and next to the panels.
SHORT, LONG = 26, 40
#: Number of panels per row.
COLUMNS = 2
#: Part of a panel's width that is kept free on the right for names.
MARGIN = 0.35
#: Possible places of a name, best first: alignment, and distance from the mark in
#: points.
PLACES = [
    (alignment, side * 6, vertical, (3 + 11 * line) * sign)
    for line in range(4)
    for alignment, side in (("left", 1), ("right", -1))
    for vertical, sign in (("top", -1), ("bottom", 1))
]


def front(source: EvaluationTable | Recommendation) -> Figure:
    """Draw each objective against cost, with the front as a line of steps.

    Marks of the front have names, or numbers if names are many or long. The marks are
    filled if the membership is certain, and open otherwise; marks of other
    configurations are grey. Bars are intervals of single means at the recommendation's
    level (not joint). A tolerance is a band below the steps, a condition is a line, and
    the chosen configuration has a ring. With one objective and a short front, the steps
    are labelled with the paired gains in points.

    Parameters
    ----------
    source : EvaluationTable or Recommendation
        A table is passed to `cobandit.recommend` with default arguments.

    Returns
    -------
    Figure
        One panel per objective.

    See Also
    --------
    cobandit.advice.Recommendation.plot : this figure of a recommendation.

    Examples
    --------
    >>> import cobandit as cb
    >>> figure = front(cb.load("synthetic-24"))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['mean accuracy', 'mean efficiency']
    """
    from cobandit.advice import Recommendation, recommend

    advice = source if isinstance(source, Recommendation) else recommend(source)
    columns = min(COLUMNS, len(advice.objectives))
    rows = -(-len(advice.objectives) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(1 + 4.6 * columns, 0.8 + 3.4 * rows),
        squeeze=False,
        layout="constrained",
    )
    panels = [*grid.flat]
    for ax in panels[len(advice.objectives) :]:
        ax.remove()
    named = [
        (ax, _draw_panel(advice, objective, ax))
        for objective, ax in zip(advice.objectives, panels, strict=False)
    ]
    _explain(advice, figure)

    with without_glyph_warnings():
        # apply the layout, so that positions in the panels are final
        figure.draw_without_rendering()
        for objective, (ax, names) in zip(advice.objectives, named, strict=True):
            members = advice.arms.loc[advice.front.index, ["cost", objective]]
            _keep_apart(names, ax.transData.transform(members.to_numpy()), ax)
    return figure


def find_steps(advice: Recommendation, objective: str) -> pd.DataFrame:
    """Return the corners of the step curve that `front` draws for an objective.

    The curve shows, for each cost, the best mean of the front members that cost at most
    this.

    Returns
    -------
    DataFrame
        ``cost`` and ``mean``, cheapest first; the last row is at the largest cost of
        all configurations.

    Examples
    --------
    >>> import cobandit as cb
    >>> steps = find_steps(cb.recommend(cb.load("synthetic-24")), "efficiency")
    >>> steps["mean"].round(3).tolist()
    [0.851, 0.851]
    """
    members = advice.arms.loc[advice.front.index]
    best = members[members[objective] >= members[objective].cummax()]
    corners = pd.DataFrame({"cost": best["cost"], "mean": best[objective]})
    end = pd.DataFrame(
        {"cost": [advice.arms["cost"].max()], "mean": [best[objective].max()]}
    )
    return pd.concat([corners, end], ignore_index=True)


def _draw_panel(advice: Recommendation, objective: str, ax: Axes) -> list[Annotation]:
    """Draw one objective against cost, and return the names at its marks."""
    arms = advice.arms
    members = arms.loc[advice.front.index]
    others = arms.drop(index=members.index)
    ax.scatter(
        others["cost"], others[objective], s=16, color=FAINT, alpha=0.6, lw=0, zorder=1
    )
    _draw_steps(advice, members, objective, ax)

    low = members[objective] - members[f"{objective}_low"]
    high = members[f"{objective}_high"] - members[objective]
    bars = [low.clip(lower=0), high.clip(lower=0)]
    ax.errorbar(
        members["cost"],
        members[objective],
        yerr=bars,
        fmt="none",
        ecolor=INK,
        lw=0.8,
        alpha=0.7,
        zorder=2,
    )
    for settled, face in ((True, INK), (False, "white")):
        marks = members[members["front_settled"] == settled]
        ax.scatter(
            marks["cost"],
            marks[objective],
            s=36,
            facecolor=face,
            edgecolor=INK,
            linewidth=1.2,
            zorder=3,
        )

    if advice.choice is not None:
        _draw_choice(advice, objective, ax)
    if arms["cost"].max() > arms["cost"].min():
        log_axis(ax, "x")
    ax.set_xlabel(f"mean cost ({escape_math(advice.unit)})")
    ax.set_ylabel(f"mean {escape_math(objective)}")
    return _name_members(members, objective, ax)


def _draw_steps(
    advice: Recommendation, members: pd.DataFrame, objective: str, ax: Axes
) -> None:
    """Draw the best mean at each cost, with the tolerance band and the gains."""
    corners = find_steps(advice, objective)
    costs = corners["cost"]
    heights = corners["mean"]
    ax.step(costs, heights, where="post", color=INK, lw=1, zorder=1)

    tolerance = _tolerance_of(advice, objective)
    if tolerance:
        ax.fill_between(
            costs, heights - tolerance, heights, step="post", color=INK, alpha=0.1, lw=0
        )
    if len(advice.objectives) > 1 or len(members) > NAMED_AT_MARKS:
        return
    gains = 100 * advice.front[f"more_{objective}"]
    for cheaper, dearer, gain in zip(
        members.iloc[:-1].to_dict("records"),
        members.iloc[1:].to_dict("records"),
        gains[1:],
        strict=True,
    ):
        if np.isfinite(gain):
            middle = (cheaper[objective] + dearer[objective]) / 2
            ax.annotate(
                f"{gain:+.1f}".replace("-", "−"),
                (dearer["cost"], middle),
                xytext=(-4, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize="small",
                color=INK,
            )


def _tolerance_of(advice: Recommendation, objective: str) -> float:
    tolerances = np.broadcast_to(advice.tolerance, len(advice.objectives))
    return float(tolerances[advice.objectives.index(objective)])


def _draw_choice(advice: Recommendation, objective: str, ax: Axes) -> None:
    """Draw the conditions on the objective, and a ring around the choice."""
    assert advice.choice is not None
    wishes = advice.choice.wishes
    wanted = []
    if objective in wishes.at_least:
        wanted.append(wishes.at_least[objective])
    if objective in wishes.within:
        wanted.append(advice.arms[objective].max() - wishes.within[objective])
    for value in wanted:
        ax.axhline(value, color=INK, lw=1, ls="--", zorder=1)
    if advice.choice.configuration is not None:
        chosen = advice.arms.loc[advice.choice.configuration]
        ax.scatter(
            chosen["cost"],
            chosen[objective],
            s=130,
            facecolor="none",
            edgecolor=INK,
            lw=1.8,
            zorder=4,
        )


def _name_members(members: pd.DataFrame, objective: str, ax: Axes) -> list[Annotation]:
    """Write names at the marks, or numbers if there are many."""
    if _are_named_at_marks(members):
        texts = [escape_math(str(name)) for name in members.index]
        # names are on the right of their marks, so the most expensive one needs room
        low, high = ax.get_xlim()
        wide = (
            high * (high / low) ** MARGIN
            if ax.get_xscale() == "log"
            else high + MARGIN * (high - low)
        )
        ax.set_xlim(low, wide)
    else:
        texts = [str(number) for number in range(1, min(len(members), NAMED) + 1)]

    return [
        ax.annotate(
            text,
            (row["cost"], row[objective]),
            xytext=(6, -3),
            textcoords="offset points",
            va="top",
            fontsize=NAME_SIZE,
        )
        for text, (_, row) in zip(texts, members.iterrows(), strict=False)
    ]


def _are_named_at_marks(members: pd.DataFrame) -> bool:
    longest = max(len(str(name)) for name in members.index)
    return len(members) <= NAMED_AT_MARKS and longest <= SHORT


def _keep_apart(names: list[Annotation], marks: NDArray[np.float64], ax: Axes) -> None:
    """Move names away from other names and from marks, as far as there is room.

    ``marks`` are the positions of the front's marks, in pixels.
    """
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in marks]
    taken += [
        line.get_window_extent().padded(1)
        for line in ax.lines
        if line.get_linestyle() == "--"
    ]
    for name in names:
        tried = []
        for alignment, right, vertical, up in PLACES:
            name.set(ha=alignment, va=vertical, position=(right, up))
            box = name.get_window_extent()
            hidden = sum(_overlap(box, other) for other in taken)
            outside = box.width * box.height - _overlap(box, ax.bbox)
            tried.append((hidden + outside, box))
            if not hidden + outside:
                break

        least = min(range(len(tried)), key=lambda place: tried[place][0])
        alignment, right, vertical, up = PLACES[least]
        name.set(ha=alignment, va=vertical, position=(right, up))
        taken.append(tried[least][1])


def _overlap(box: Bbox, second: BboxBase) -> float:
    """Return the common area of two boxes, in square pixels."""
    common = Bbox.intersection(box, second)
    return 0.0 if common is None else float(common.width * common.height)


def _explain(advice: Recommendation, figure: Figure) -> None:
    """Add a legend below the panels, and a list of numbered names next to them."""
    arms = advice.arms
    members = arms.loc[advice.front.index]
    level = f"{100 * advice.level:g} %"
    mark: dict[str, Any] = {"ls": "", "marker": "o", "markeredgecolor": INK}
    entries: list[Any] = []
    if members["front_settled"].any():
        entries.append(
            Line2D([], [], color=INK, label="worth its cost, settled", **mark)
        )

    if not members["front_settled"].all():
        entries.append(
            Line2D(
                [],
                [],
                markerfacecolor="white",
                label="worth its cost, not settled",
                **mark,
            )
        )

    if len(arms) > len(members):
        entries.append(
            Line2D([], [], ls="", marker="o", ms=4, color=FAINT, label="beaten")
        )

    bar: dict[str, Any] = {"ls": "", "marker": "|", "ms": 12, "markeredgewidth": 0.8}
    if not advice.exact:
        entries.append(
            Line2D(
                [], [], color=INK, label=f"{level} interval, one mean at a time", **bar
            )
        )

    if np.any(advice.tolerance):
        entries.append(Patch(color=INK, alpha=0.1, label="within the tolerance"))
    if advice.choice is not None:
        ring: dict[str, Any] = {"marker": "o", "ms": 10, "markerfacecolor": "none"}
        if advice.choice.configuration is None:
            ring = {"marker": ""}
        chosen = advice.choice.configuration
        name = "none" if chosen is None else ellipsize(chosen, LONG)
        label = escape_math(f"chosen: {name}")
        entries.append(Line2D([], [], ls="--", color=INK, label=label, **ring))

    figure.legend(
        handles=entries, loc="outside lower center", ncols=2, fontsize="small"
    )
    if _are_named_at_marks(members):
        return

    lines = [
        f"{number}  {escape_math(ellipsize(str(name), LONG))}"
        for number, name in enumerate(members.index[:NAMED], start=1)
    ]
    if len(members) > NAMED:
        lines.append(f"and {len(members) - NAMED} more")
    blank = [Line2D([], [], ls="") for _ in lines]
    figure.legend(
        blank,
        lines,
        loc="outside right upper",
        fontsize="small",
        handlelength=0,
        handletextpad=0,
    )
