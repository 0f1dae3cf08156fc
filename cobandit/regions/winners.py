"""Which method leads, by how much, and which others are level with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cobandit.errors import CobanditError
from cobandit.regions.maps import CELL, cell_of
from cobandit.regions.problems import Traits

#: Columns that name a random problem, whatever its costs and the budget.
PAIRS = ["n_arms", "problem"]


def paired_differences(losses: pd.DataFrame) -> pd.DataFrame:
    """Compare each method with the one of least mean, on the same problems or replications.

    Parameters
    ----------
    losses : DataFrame, shape (n, methods)
        A row a problem or replication, n >= 2.

    Returns
    -------
    DataFrame, a row a method, the best first
        ``loss``, its mean; ``worse``, the mean of what it loses more than the best, with Student's 95 %
        interval ``low``, ``high``; ``level``, whether that interval reaches zero.

    Raises
    ------
    CobanditError
        If there are fewer than two rows, or one is incomplete.

    Examples
    --------
    >>> paired_differences(pd.DataFrame({"a": [0.5, 0.7, 0.6], "b": [0.2, 0.3, 0.3]})).round(2)
       loss  worse   low  high  level
    b  0.27   0.00  0.00  0.00   True
    a  0.60   0.33  0.19  0.48  False
    """
    from scipy import stats  # half a second that an import of cobandit need not take

    if len(losses) < 2 or losses.isna().to_numpy().any():
        raise CobanditError(f"losses: two or more complete rows are needed, got {losses.shape}")
    means = losses.mean().sort_values(kind="stable")
    worse = losses[means.index].sub(losses[means.index[0]], axis=0)
    half = stats.t.ppf(0.975, len(worse) - 1) * worse.std() / np.sqrt(len(worse))
    found = pd.DataFrame({"loss": means, "worse": worse.mean()})
    found["low"], found["high"] = found["worse"] - half, found["worse"] + half
    return found.assign(level=found["low"] <= 0)


def standings(outcomes: pd.DataFrame, by: str | list[str], over: str | list[str] = "problem") -> pd.DataFrame:
    """Say for each cell which method leads.

    Parameters
    ----------
    outcomes : DataFrame
        Columns ``name`` and ``loss``, as `part` and `on_table` give them.
    by : str or list of str
        Columns that make a cell.
    over : str or list of str
        Columns that pair the methods' losses, ``"replication"`` for the runs of one table.

    Returns
    -------
    DataFrame, a row a cell
        ``by``; ``best``, the least mean ``loss``; ``second``, ``margin``, ``low`` and ``high``: the next one,
        and what it loses more with its 95 % interval; ``level``, a tuple of all that are level with the best,
        itself included.

    Examples
    --------
    >>> rows = pd.DataFrame({"rho": 4, "name": list("abab"), "problem": [0, 0, 1, 1]})
    >>> standings(rows.assign(loss=[0.3, 0.5, 0.2, 0.5]), "rho")[["best", "second"]].to_numpy().tolist()
    [['a', 'b']]
    """
    by = [by] if isinstance(by, str) else by
    rows = []
    for cell, group in outcomes.groupby(by, sort=False, observed=True):
        found = paired_differences(group.pivot_table(index=over, columns="name", values="loss"))
        second = found.iloc[1]
        rows.append(
            dict(zip(by, cell, strict=True))
            | {"best": found.index[0], "loss": found["loss"].iloc[0], "second": second.name}
            | {"margin": second["worse"], "low": second["low"], "high": second["high"]}
            | {"level": tuple(found.index[found["level"]])}
        )
    return pd.DataFrame(rows)


#: Classes of properties in the decision table: what they are called, and where they end (excluded).
COST_CLASSES = {"less than 5": 5.0, "5 to 20": 20.0, "20 or more": np.inf}
QUALITY_CLASSES = {"better is cheaper": -0.25, "no clear order": 0.25, "better is dearer": np.inf}


def _classed(values: pd.Series, classes: Mapping[str, float]) -> pd.Categorical:
    edges = [-np.inf, *classes.values()]
    return pd.Categorical(pd.cut(values, edges, right=False, labels=list(classes)), ordered=True)


def decisions(outcomes: pd.DataFrame, selection: str) -> pd.DataFrame:
    """Decision table: who leads by class of cost ratio, class of dependence, and budget.

    A cell pools numbers of arms; its intervals pair the methods by problem, so that the cells a problem
    appears in count as one observation.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.regions.maps.part`.
    selection : {"online", "identification"}

    Returns
    -------
    DataFrame
        As `standings`, by ``costs``, ``quality`` (the words of the classes) and ``rho``.

    Raises
    ------
    CobanditError
        If there is no row of that selection.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1], loss=[0.1, 0.2, 0.1, 0.3])
    >>> decisions(rows, "online")[["costs", "quality", "best"]].iloc[0].tolist()
    ['5 to 20', 'no clear order', 'a']
    """
    chosen = outcomes[outcomes["selection"] == selection]
    if not len(chosen):
        raise CobanditError(f"the map has no rows for {selection!r}")
    classed = chosen.assign(
        costs=_classed(chosen["cost_ratio"], COST_CLASSES),
        quality=_classed(chosen["dependence"], QUALITY_CLASSES),
    )
    by = ["costs", "quality", "rho"]
    return standings(classed.sort_values(by), by, PAIRS)


def advise(outcomes: pd.DataFrame, selection: str, at: Traits) -> pd.Series:
    """Say who leads in the cell of the map that is nearest to a table.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.regions.maps.part`.
    selection : {"online", "identification"}
    at : Traits
        From `cobandit.regions.problems.traits`.

    Returns
    -------
    Series
        A row of `standings`; its index starts with the properties of the cell, `CELL`.

    Raises
    ------
    CobanditError
        If there is no row of that selection.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1], loss=[0.1, 0.2, 0.1, 0.3])
    >>> advise(rows, "online", Traits(7.0, -0.2, 30, 8.0))[["best", "second"]].tolist()
    ['a', 'b']
    """
    return standings(cell_of(outcomes, selection, at), CELL).iloc[0]


def said(standing: pd.Series) -> str:
    """One line on a cell: the leader and its loss, and who is level with it or how far behind the next is.

    Examples
    --------
    >>> row = {"best": "a", "loss": 0.1, "level": ("a",), "second": "b"}
    >>> said(pd.Series(row | {"margin": 0.05, "low": 0.01, "high": 0.09}))
    'a, 10.0 %; then b, +5.0 (1.0 to 9.0)'
    >>> said(pd.Series(row | {"level": ("a", "b", "c")}))
    'a, 10.0 %; level: b, c'
    """
    best = f"{standing['best']}, {100 * standing['loss']:.1f} %"
    others = [name for name in standing["level"] if name != standing["best"]]
    if others:
        return f"{best}; level: {', '.join(others)}"
    margin, low, high = (100 * standing[key] for key in ("margin", "low", "high"))
    return f"{best}; then {standing['second']}, +{margin:.1f} ({low:.1f} to {high:.1f})"
