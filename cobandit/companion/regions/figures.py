"""Figures of the map: who leads where, and what each method loses along one property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle

from cobandit.companion.regions.maps import METHODS
from cobandit.companion.regions.traits import Traits
from cobandit.figures.style import PALETTE, method_style
from cobandit.stats.metrics import NORMAL


def region_styles(selection: str) -> dict[str, dict[str, Any]]:
    """Colour and marker of each method of the map: those of the book, and others for its variants.

    Examples
    --------
    >>> region_styles("online")["HV-UCB"] == method_style("HVUCB")
    True
    """
    spare = iter([(PALETTE[8], "v"), (PALETTE[5], "P"), (PALETTE[9], "X")])
    styles: dict[str, dict[str, Any]] = {}
    taken: set[tuple[Any, str]] = set()
    for name, method in METHODS[selection].items():
        style = method_style(method.name)
        if (style["color"], style["marker"]) in taken:
            style = dict(zip(("color", "marker"), next(spare), strict=True))
        taken.add((style["color"], style["marker"]))
        styles[name] = style
    return styles


def region_map(
    standings: pd.DataFrame,
    selection: str,
    ax: Axes | None = None,
    marked: Mapping[str, Traits] | None = None,
) -> Axes:
    """Who leads by cost ratio and dependence; pale where others are level with the leader.

    Where none is, the square says by how many points the next one is behind.

    Parameters
    ----------
    standings : DataFrame
        From `cobandit.companion.regions.winners.standings`, one row per pair of ``cost_ratio`` and
        ``dependence``.
    selection : {"online", "identification"}
    ax : Axes, optional
    marked : mapping of str to Traits, optional
        Tables to mark where their properties are, by the letter to write.

    Returns
    -------
    Axes

    Examples
    --------
    >>> cell = {"cost_ratio": 10.0, "dependence": 0.5, "best": "HV-UCB", "level": ("HV-UCB",)}
    >>> ax = region_map(pd.DataFrame([cell | {"margin": 0.042}]), "online")
    >>> len(ax.patches), ax.texts[0].get_text()
    (1, '4.2')
    """
    ax = ax or plt.subplots()[1]
    styles = region_styles(selection)
    ratios, taus = (np.sort(standings[key].unique()) for key in ("cost_ratio", "dependence"))
    for row in standings.to_dict("records"):
        x, y = np.searchsorted(ratios, row["cost_ratio"]), np.searchsorted(taus, row["dependence"])
        alone = len(row["level"]) == 1
        color = styles[row["best"]]["color"]
        square = Rectangle((x - 0.5, y - 0.5), 1, 1, fc=color, alpha=1.0 if alone else 0.35, ec="white", lw=1)
        ax.add_patch(square)
        if alone:
            ink = "black" if np.dot(to_rgb(color), (0.3, 0.6, 0.1)) > 0.4 else "white"
            words = f"{100 * row['margin']:.1f}"
            ax.text(x, y, words, ha="center", va="center", fontsize=6.5, color=ink)
    for letter, at in (marked or {}).items():
        x = np.interp(np.log(at.cost_ratio), np.log(ratios), np.arange(len(ratios)))
        y = np.interp(at.dependence, taus, np.arange(len(taus)))
        box = {"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "0.2", "lw": 0.8}
        ax.text(x, y, letter, ha="center", va="center", fontsize=7, bbox=box)
    ax.set_xticks(range(len(ratios)), [f"{ratio:g}" for ratio in ratios])
    ax.set_yticks(range(len(taus)), [f"{tau:+g}" if tau else "0" for tau in taus])
    ax.set(xlim=(-0.5, len(ratios) - 0.5), ylim=(-0.5, len(taus) - 0.5))
    ax.grid(visible=False)
    return ax


def region_legend(figure: plt.Figure, selection: str, names: list[str], columns: int = 4) -> None:
    """Legend of a map below the figure, for the methods that lead somewhere.

    Examples
    --------
    >>> figure = plt.figure()
    >>> region_legend(figure, "online", ["HV-UCB"])
    >>> len(figure.legends)
    1
    """
    styles = region_styles(selection)
    handles = [Patch(fc=styles[name]["color"], label=name) for name in styles if name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def loss_along(outcomes: pd.DataFrame, by: str, selection: str, ax: Axes | None = None) -> Axes:
    """Mean loss of each method along one property, with 95 % bands over problems.

    Parameters
    ----------
    outcomes : DataFrame
        Rows of the map that differ in ``by``, method and problem only.
    by : str
        A column of numbers.
    selection : {"online", "identification"}
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> rows = pd.DataFrame({"rho": [4, 4, 16, 16], "name": "HV-UCB", "loss": [0.5, 0.4, 0.2, 0.3]})
    >>> loss_along(rows, "rho", "online").get_legend_handles_labels()[1]
    ['HV-UCB']
    """
    import seaborn as sns  # a second that other figures need not wait for

    ax = ax or plt.subplots()[1]
    there = set(outcomes["name"])
    styles = {name: style for name, style in region_styles(selection).items() if name in there}
    sns.lineplot(
        outcomes,
        x=by,
        y="loss",
        hue="name",
        style="name",
        hue_order=list(styles),
        style_order=list(styles),
        palette={name: style["color"] for name, style in styles.items()},
        markers={name: style["marker"] for name, style in styles.items()},
        dashes=False,
        errorbar=("se", NORMAL),
        ax=ax,
    )
    if own := ax.get_legend():
        own.remove()  # panels share one
    return ax
