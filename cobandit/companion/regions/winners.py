"""Which method leads, by how much, and which others are level with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cobandit.companion.regions.maps import CELL, cell_of
from cobandit.companion.regions.traits import Traits
from cobandit.errors import CobanditError

#: Columns that name a random problem, whatever its costs and the budget.
PAIRS = ["n_arms", "problem"]


def paired_differences(losses: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Compare each method with the one of least mean, on the same problems or replications.

    Parameters
    ----------
    losses : DataFrame, shape (n, methods)
        One row per problem or replication, n >= 2.
    confidence : float
        Of each interval by itself.

    Returns
    -------
    DataFrame, one row per method, the best first
        ``loss``, its mean; ``worse``, the mean of what it loses more than the best, with Student's
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
    values = losses.to_numpy(dtype=float)
    order = np.argsort(values.mean(axis=0), kind="stable")
    values = values[:, order]
    differences = values - values[:, :1]
    spread = differences.std(axis=0, ddof=1) / np.sqrt(len(values))
    half = stats.t.ppf((1 + confidence) / 2, len(values) - 1) * spread
    worse = differences.mean(axis=0)
    columns = {"loss": values.mean(axis=0), "worse": worse, "low": worse - half, "high": worse + half}
    return pd.DataFrame(columns | {"level": worse <= half}, index=losses.columns[order])


def standings(
    outcomes: pd.DataFrame,
    by: str | list[str],
    over: str | list[str] = "problem",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Say for each cell which method leads.

    Parameters
    ----------
    outcomes : DataFrame
        Columns ``name`` and ``loss``, as `part` and `on_table` give them.
    by : str or list of str
        Columns that make a cell.
    over : str or list of str
        Columns that pair the methods' losses, ``"replication"`` for the runs of one table.
    confidence : float
        Of each interval by itself.

    Returns
    -------
    DataFrame, one row per cell
        ``by``; ``best``, the least mean ``loss``; ``second``, ``margin``, ``low`` and ``high``: the next one,
        and what it loses more with its interval; ``level``, a tuple of all that are level with the best,
        itself included.

    Examples
    --------
    >>> rows = pd.DataFrame({"rho": 4, "name": list("abab"), "problem": [0, 0, 1, 1]})
    >>> standings(rows.assign(loss=[0.3, 0.5, 0.2, 0.5]), "rho")[["best", "second"]].to_numpy().tolist()
    [['a', 'b']]
    """
    by, over = ([key] if isinstance(key, str) else key for key in (by, over))
    wide = outcomes.pivot_table(index=[*by, *over], columns="name", values="loss", observed=True, sort=False)
    rows = []
    for cell, group in wide.groupby(by, sort=False, observed=True):
        found = paired_differences(group.dropna(axis="columns", how="all"), confidence)
        second = found.iloc[1]
        rows.append(
            dict(zip(by, cell, strict=True))
            | {"best": found.index[0], "loss": found["loss"].iloc[0], "second": second.name}
            | {"margin": second["worse"], "low": second["low"], "high": second["high"]}
            | {"level": tuple(found.index[found["level"]])}
        )
    return pd.DataFrame(rows)


#: Classes of properties in the decision table: what they are called, and where they end (excluded).
COST_CLASSES = {"equal (below 2)": 2.0, "2 to 5": 5.0, "5 to 20": 20.0, "20 or more": np.inf}
QUALITY_CLASSES = {
    "better is cheaper": -0.25,
    "no clear order": 0.25,
    "better often costs more": 0.75,
    "better always costs more": np.inf,
}
#: With equal costs there is nothing for quality to depend on.
ANY = "any"


def _classed(values: pd.Series, classes: Mapping[str, float]) -> pd.Series:
    edges = [-np.inf, *classes.values()]
    return pd.cut(values, edges, right=False, labels=list(classes))


def with_classes(cells: pd.DataFrame) -> pd.DataFrame:
    """Say of cells of the map, or of tables, which row of the decision table they are in.

    Parameters
    ----------
    cells : DataFrame
        With columns ``cost_ratio`` and ``dependence``.

    Returns
    -------
    DataFrame
        With two more, categorical: ``costs``, one of `COST_CLASSES`, and ``quality``, one of
        `QUALITY_CLASSES`, or `ANY` where costs are equal.

    Examples
    --------
    >>> cells = pd.DataFrame({"cost_ratio": [1.0, 3.0], "dependence": [1.0, 1.0]})
    >>> with_classes(cells)[["costs", "quality"]].to_numpy().tolist()
    [['equal (below 2)', 'any'], ['2 to 5', 'better always costs more']]
    """
    costs = _classed(cells["cost_ratio"], COST_CLASSES)
    quality = _classed(cells["dependence"], QUALITY_CLASSES).cat.add_categories(ANY)
    return cells.assign(costs=costs, quality=quality.mask(costs == next(iter(COST_CLASSES)), ANY))


def decisions(outcomes: pd.DataFrame, selection: str) -> pd.DataFrame:
    """Decision table: who leads by class of cost ratio, class of dependence, and budget.

    A cell pools numbers of arms; its intervals pair the methods by problem, so that the cells a problem
    appears in count as one observation.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.companion.regions.maps.part`.
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
    by = ["costs", "quality", "rho"]
    return standings(with_classes(chosen).sort_values(by), by, PAIRS)


def nearest_standing(outcomes: pd.DataFrame, selection: str, at: Traits) -> pd.Series:
    """Say who leads in the cell of the map that is nearest to a table.

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
        A row of `standings`; its index starts with the properties of the cell, `CELL`.

    Raises
    ------
    CobanditError
        If there is no row of that selection.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 4, columns=CELL)
    >>> rows = rows.assign(name=list("abab"), problem=[0, 0, 1, 1], loss=[0.1, 0.2, 0.1, 0.3])
    >>> nearest_standing(rows, "online", Traits(7.0, -0.2, 30, 8.0))[["best", "second"]].tolist()
    ['a', 'b']
    """
    return standings(cell_of(outcomes, selection, at), CELL).iloc[0]


def excess_losses(outcomes: pd.DataFrame, selection: str) -> pd.DataFrame:
    """What each method loses more than the best one of a cell, by cell of the map.

    Parameters
    ----------
    outcomes : DataFrame
        The map, rows of `cobandit.companion.regions.maps.part`.
    selection : {"online", "identification"}

    Returns
    -------
    DataFrame, shape (cells, methods)
        Indexed by `CELL`; differences of means over problems.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", 10.0, 0.0, 8, 4.0]] * 2, columns=CELL)
    >>> excess_losses(rows.assign(name=["a", "b"], loss=[0.1, 0.25]), "online").round(2).iloc[0].tolist()
    [0.0, 0.15]
    """
    chosen = outcomes[outcomes["selection"] == selection]
    wide = chosen.pivot_table(index=CELL, columns="name", values="loss")
    return wide.sub(wide.min(axis=1), axis=0)


def best_overall(outcomes: pd.DataFrame, selection: str) -> str:
    """Name the method of least mean loss over the whole map: what to take if nothing is known.

    Examples
    --------
    >>> rows = pd.DataFrame([["online", r, 0.0, 8, 4.0] for r in (1.0, 1.0, 9.0, 9.0)], columns=CELL)
    >>> best_overall(rows.assign(name=list("abab"), loss=[0.1, 0.2, 0.5, 0.3]), "online")
    'b'
    """
    return str(excess_losses(outcomes, selection).mean().idxmin())


def in_words(standing: pd.Series) -> str:
    """One line on a cell: the leader and its loss, and who is level with it or how far behind the next is.

    Examples
    --------
    >>> row = {"best": "a", "loss": 0.1, "level": ("a",), "second": "b"}
    >>> in_words(pd.Series(row | {"margin": 0.05, "low": 0.01, "high": 0.09}))
    'a, 10.0 %; then b, +5.0 (1.0 to 9.0)'
    >>> in_words(pd.Series(row | {"level": ("a", "b", "c")}))
    'a, 10.0 %; level: b, c'
    """
    best = f"{standing['best']}, {100 * standing['loss']:.1f} %"
    others = [name for name in standing["level"] if name != standing["best"]]
    if others:
        return f"{best}; level: {', '.join(others)}"
    margin, low, high = (100 * standing[key] for key in ("margin", "low", "high"))
    return f"{best}; then {standing['second']}, +{margin:.1f} ({low:.1f} to {high:.1f})"
