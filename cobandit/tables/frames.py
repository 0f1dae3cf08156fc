"""A data frame or arrays as a user has them: brought into the columns of a table, with their card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.faults import Faults, refuse, stop, suggest
from cobandit.tables.card import Card, Objective
from cobandit.tables.columns import default_profiling
from cobandit.tables.safe_reading import check_fields
from cobandit.tables.schema import check_columns, encode_names

FRAME, ARRAYS = "from_frame", "from_arrays"
"""What messages call the data frame and the arrays, and the arguments next to them."""

UNKNOWN_LICENSE = "not stated"


def describe_frame(
    frame: pd.DataFrame,
    config: str | Sequence[str],
    instance: str,
    cost: str | float | Mapping[str, float],
    unit: str | None,
    objectives: Mapping[str, Any] | Sequence[str],
    arms: Sequence[str],
    profiling: int | None,
    seed: int,
    smallest_cost: float | None,
    about: Mapping[str, str],
) -> tuple[pd.DataFrame, Card, tuple[str, ...]]:
    """Make a tidy frame of the columns that are named, its card and notes; takes what `from_frame` takes.

    Raises
    ------
    TableError
        If an argument is not as it should be, or names a column that is missing.
    """
    if not isinstance(frame, pd.DataFrame):
        stop(FRAME, f"it is given a {type(frame).__name__}", "give a pandas DataFrame, or use from_arrays")
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    given = objectives if isinstance(objectives, Mapping) else dict(zip(objectives, objectives, strict=True))
    measured = [_read_objective(str(name), each) for name, each in given.items()]
    keys = _names(config)
    described = tuple(dict.fromkeys([*(keys if len(keys) > 1 else ()), *_names(arms)]))
    columns = dict.fromkeys([*(objective.column for objective in measured), *described])
    columns |= {cost: None} if isinstance(cost, str) else {}
    for column in ("config", "instance"):
        if column in columns:
            problem = f"the column {column!r} is measured or describes a configuration"
            stop(FRAME, problem, "rename it: the table needs that name")
    faults = Faults(FRAME)
    check_columns(frame, [*dict.fromkeys([*keys, instance, *columns])], faults)
    refuse(faults.found)

    named = [encode_names(frame[key], faults) for key in keys]
    refuse(faults.found)
    parts = zip(*(np.array(labels, dtype=object)[codes] for labels, codes in named), strict=True)
    tidy = frame[[*columns]].assign(config=[" ".join(each) for each in parts], instance=frame[instance])
    paid = cost if isinstance(cost, str) else "cost" + "_" * ("cost" in columns)
    if not isinstance(cost, str):
        tidy[paid] = charge(tidy["config"], cost, f"{FRAME}, cost")
    notes: tuple[str, ...] = ()
    if smallest_cost is not None and (free := tidy[paid].eq(0).fillna(False).to_numpy(bool)).any():
        tidy[paid] = tidy[paid].mask(free, _check.positive(smallest_cost, "smallest_cost"))
        notes = (
            f"{free.sum():,} of {len(tidy):,} evaluations cost nothing; each counts as {smallest_cost:g}",
        )
    if profiling is None:
        profiling = default_profiling(tidy["instance"].nunique())
    fields = {
        **about,
        "records": f"{about['name']}.parquet",
        "cost": {"column": paid, "unit": unit or (cost if isinstance(cost, str) else "evaluations")},
        "objectives": measured,
        "split": {"profiling": profiling, "seed": seed},
        "arms": described,
        "smallest_cost": smallest_cost if notes else None,
    }
    return tidy, check_fields(Card, fields, lambda field: f"{FRAME}, {field.rpartition('.')[2]}"), notes


def charge(config: pd.Series, cost: float | Mapping[str, float], where: str) -> pd.Series:
    """Charge every evaluation the same cost, or that of its configuration.

    Parameters
    ----------
    config : Series of str, length N
    cost : float or mapping of str to float
    where : str
        Who gave the cost, for messages.

    Raises
    ------
    TableError
        If a configuration has no cost, or there is none of such a name.

    Examples
    --------
    >>> charge(pd.Series(["a", "b", "a"]), {"a": 1, "b": 20}, "--cost").tolist()
    [1.0, 20.0, 1.0]
    """
    if not isinstance(cost, Mapping):
        return pd.Series(_check.scalar(cost, where), config.index)
    configs = sorted(config.dropna().unique())
    if unknown := sorted(set(cost) - set(configs)):
        stop(where, f"there is no configuration {unknown[0]!r}", suggest(unknown[0], configs))
    if missing := sorted(set(configs) - set(cost)):
        stop(where, f"none is given to {', '.join(missing)}", "give each configuration its own")
    return config.map(cost).astype(float)


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else [str(name) for name in given]


def _read_objective(name: str, given: Any) -> Objective:
    where = f"{FRAME}, objectives[{name!r}]"
    if isinstance(given, str):
        fields: dict[str, Any] = {"column": given}
    elif isinstance(given, tuple) and len(given) == 2:
        fields = dict(zip(("column", "transform"), given, strict=True))
    elif isinstance(given, Mapping):
        fields = dict(given)
    else:
        stop(where, f"{given!r} is no objective", "give a column, or (column, transform)")
    return check_fields(Objective, {"name": name} | fields, lambda field: f"{where}, {field}")


def read_arrays(
    rewards: ArrayLike,
    costs: ArrayLike,
    configs: Sequence[str] | None,
    instances: Sequence[str] | None,
    names: Iterable[str] | None,
) -> pd.DataFrame:
    """Make a tidy frame of arrays, indexed by places in them; takes what `from_arrays` takes.

    Raises
    ------
    TableError
        If shapes do not fit, or a name is given twice.
    """
    scores, paid = (_floats(value, name) for value, name in ((rewards, "rewards"), (costs, "costs")))
    if scores.ndim == 2:
        scores = scores[:, :, None]
    if scores.ndim != 3:
        stop("rewards", f"they have the shape {scores.shape}", "give (K, N, D), or (K, N) for one objective")
    n_arms, n_instances, n_objectives = scores.shape
    if paid.shape not in ((n_arms,), (n_arms, n_instances)):
        wanted = f"give ({n_arms},), one for each configuration, or ({n_arms}, {n_instances})"
        stop("costs", f"they have the shape {paid.shape}", wanted)
    labels = (
        _label(configs, "configs", "config", n_arms),
        _label(instances, "instances", "instance", n_instances),
        _label(names, "objectives", "objective", n_objectives),
    )
    arm, instance = np.nonzero(~np.isnan(scores).all(axis=2))
    places = pd.MultiIndex.from_arrays([arm, instance])
    frame = pd.DataFrame(scores[arm, instance], places, list(labels[2]))
    frame["cost"] = paid[arm] if paid.ndim == 1 else paid[arm, instance]
    frame["config"], frame["instance"] = np.array(labels[0])[arm], np.array(labels[1])[instance]
    return frame


def _floats(value: ArrayLike, name: str) -> np.ndarray:
    try:
        return np.ma.filled(np.ma.asarray(value, dtype=np.float64), np.nan)
    except (TypeError, ValueError) as error:
        stop(name, f"it is no array of numbers ({error})", "give numbers, and NaN for what was not evaluated")


def _label(given: Iterable[str] | None, argument: str, stem: str, count: int) -> tuple[str, ...]:
    """Take the names that are given, or number them so that they sort as they stand."""
    if given is None:
        return tuple(f"{stem}{number:0{len(str(count - 1))}}" for number in range(count))
    names = tuple(map(str, given))
    if len(set(names)) != count or len(names) != count:
        problem = f"{len(set(names))} different names are given for {count}"
        stop(f"{ARRAYS}, {argument}", problem, "give as many as the arrays have, each once")
    return names
