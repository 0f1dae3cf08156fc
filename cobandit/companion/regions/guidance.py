"""What the map advises for a table, in three ways, and what following each would have cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.companion.regions.traits import Traits
from cobandit.companion.regions.winners import (
    best_overall,
    decisions,
    nearest_standing,
    paired_differences,
    with_classes,
)

#: The three ways: the nearest cell, the row of the decision table, one method whatever the problem.
WAYS = {"cell": "the nearest cell", "row": "the decision table", "always": "one method for all"}


def decision_for(outcomes: pd.DataFrame, selection: str, at: Traits) -> pd.Series:
    """Look a table up in the decision table.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.companion.regions.maps.part`.
    selection : {"online", "identification"}
    at : Traits
        From `cobandit.companion.regions.traits.traits`.

    Returns
    -------
    Series
        A row of `cobandit.companion.regions.winners.decisions`: that of its classes, and of the nearest
        budget by logarithms.

    Raises
    ------
    CobanditError
        If there is no row of that selection.

    Examples
    --------
    >>> from cobandit.companion.regions.maps import CELL
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1], loss=[0.1, 0.2, 0.1, 0.3])
    >>> decision_for(rows, "online", Traits(7.0, -0.2, 30, 8.0))[["costs", "quality", "best"]].tolist()
    ['5 to 20', 'no clear order', 'a']
    """
    own = with_classes(pd.DataFrame([at])).iloc[0]
    cells = with_classes(outcomes[outcomes["selection"] == selection])
    cells = cells[(cells["costs"] == own["costs"]) & (cells["quality"] == own["quality"])]
    budgets = cells["rho"].unique()
    nearest = budgets[np.abs(np.log(budgets / at.rho)).argsort()[:1]]
    return decisions(cells[cells["rho"].isin(nearest)], selection).iloc[0]


def compare_guidance(outcomes: pd.DataFrame, selection: str, at: Traits, runs: pd.DataFrame) -> pd.DataFrame:
    """Compare what each of the three ways advises for a table with what was best in its replays.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.companion.regions.maps.part`.
    selection : {"online", "identification"}
    at : Traits
        Of the table; its budget is not used.
    runs : DataFrame
        From `cobandit.companion.regions.maps.on_table`.

    Returns
    -------
    DataFrame, one row per budget and way
        ``rho``; ``way``, a key of `WAYS`; ``takes``, the method; its ``loss``; ``worse``, what it loses more
        than the best one, with the paired 95 % interval ``low`` to ``high``; ``best`` and ``best_loss``;
        ``random``, what a method drawn at random loses more than the best one on average.

    Raises
    ------
    CobanditError
        If there is no row of that selection.

    Examples
    --------
    >>> from cobandit.companion.regions.maps import CELL
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1], loss=[0.1, 0.2, 0.1, 0.3])
    >>> runs = pd.DataFrame({"rho": 4.0, "replication": [0, 0, 1, 1], "name": list("abab")})
    >>> runs["loss"] = [0.3, 0.2, 0.2, 0.1]
    >>> compared = compare_guidance(rows, "online", Traits(7.0, -0.2, 30, 8.0), runs)
    >>> compared[["way", "takes", "best"]].iloc[0].tolist()
    ['cell', 'a', 'b']
    """
    fixed = best_overall(outcomes, selection)
    rows = []
    for rho in np.unique(runs["rho"].to_numpy(dtype=float)):
        here, own = at._replace(rho=float(rho)), runs[runs["rho"] == rho]
        found = paired_differences(own.pivot_table(index="replication", columns="name", values="loss"))
        takes = {
            "cell": nearest_standing(outcomes, selection, here)["best"],
            "row": decision_for(outcomes, selection, here)["best"],
            "always": fixed,
        }
        for way, name in takes.items():
            row = {"rho": rho, "way": way, "takes": name, **found.loc[name].drop("level")}
            best = {"best": found.index[0], "best_loss": found["loss"].iloc[0]}
            rows.append(row | best | {"random": found["worse"].mean()})
    return pd.DataFrame(rows)
