"""A data frame or arrays as a user has them: brought into the columns of a table, with their card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit import _check
from cobandit.faults import Fault, Faults, refuse, stop, suggest
from cobandit.tables.card import Card, Objective
from cobandit.tables.columns import Terms, default_profiling, encode
from cobandit.tables.safe_reading import check_fields
from cobandit.tables.schema import check_columns

FRAME, ARRAYS = "from_frame", "from_arrays"
"""What messages call the data frame and the arrays, and the arguments next to them."""

UNKNOWN_LICENSE = "not stated"

TERMS = Terms(
    profiling="profiling",
    transform="a transform in objectives, 'inverse-percentile' or 'negate-minmax'",
    free="for one that was free, say with smallest_cost what it counts as",
    column="name another",
)


class Described(NamedTuple):
    """A tidy frame, the card that describes it, what to tell of it, and what the user calls its columns."""

    frame: pd.DataFrame
    card: Card
    notes: tuple[str, ...]
    columns: dict[str, str]

    def rename_columns(self, fault: Fault) -> Fault:
        """Say a fault of the columns that the user named."""
        return replace(fault, column=self.columns.get(str(fault.column), fault.column))


def describe_frame(
    frame: pd.DataFrame,
    config: str | Sequence[str],
    instance: str,
    cost: str | float | Mapping[str, float],
    unit: str | None,
    objectives: Mapping[str, Any] | Sequence[str] | str,
    arms: Sequence[str],
    profiling: int | None,
    seed: int,
    smallest_cost: float | None,
    about: Mapping[str, str],
) -> Described:
    """Make a tidy frame of the columns that are named, and its card; takes what `from_frame` takes.

    Raises
    ------
    TableError
        If an argument is not as it should be, or names a column that is missing.
    """
    if not isinstance(frame, pd.DataFrame):
        stop(FRAME, f"it is given a {type(frame).__name__}", "give a pandas DataFrame, or use from_arrays")
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    keys, measured = _names(config), _read_objectives(objectives)
    described = tuple(dict.fromkeys([*(keys if len(keys) > 1 else ()), *_names(arms)]))
    columns = dict.fromkeys([*(objective.column for objective in measured), *described])
    columns |= {cost: None} if isinstance(cost, str) else {}
    for column in ("config", "instance"):
        if column in columns:
            problem = f"the column {column!r} is measured or describes a configuration"
            stop(FRAME, problem, "rename it: the table needs that name")
    faults = Faults(FRAME)
    check_columns(frame, [*dict.fromkeys([*keys, instance, *columns])], TERMS, faults)
    refuse(faults.found)

    named = {"config": _join(frame, keys), "instance": frame[instance]}
    tidy = pd.DataFrame(named | {column: frame[column] for column in columns})
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
    card = check_fields(Card, fields, lambda field: f"{FRAME}, {field.rpartition('.')[2]}")
    return Described(tidy, card, notes, {"config": ", ".join(keys), "instance": instance})


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


def _join(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Name configurations as their columns do, one after the other; missing where one of these is."""
    parts = []
    for key in keys:
        try:
            labels, codes = encode(frame[key])
        except TypeError:  # lists and dictionaries cannot be hashed
            stop(FRAME, f"the column {key!r} holds nested values", "make plain names of them")
        parts.append(pd.Series(np.array([*labels, None], dtype=object)[codes], frame.index))
    return parts[0].str.cat(pd.concat(parts[1:], axis=1), sep=" ") if parts[1:] else parts[0]


def _read_objectives(given: Mapping[str, Any] | Sequence[str] | str) -> list[Objective]:
    """Read ``{name: column}``, ``{name: (column, transform)}``, ``{name: fields of a card}``, or columns."""
    named = given if isinstance(given, Mapping) else {name: name for name in _names(given)}
    return [_read_objective(str(name), each) for name, each in named.items()]


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


class Arrays(NamedTuple):
    """Arrays as a tidy frame: row r is of configuration ``arm[r]`` and instance ``instance[r]``."""

    frame: pd.DataFrame
    names: tuple[str, ...]
    arm: np.ndarray
    instance: np.ndarray
    own_costs: bool

    def locate_entry(self, fault: Fault) -> Fault:
        """Say a fault of the entry of an array that has it."""
        if fault.row is None:
            return replace(fault, file=ARRAYS, column=None)
        arm, instance = int(self.arm[fault.row - 1]), int(self.instance[fault.row - 1])
        entry = f"rewards[{arm}, {instance}]"
        if fault.column == "cost":
            entry = f"costs[{arm}, {instance}]" if self.own_costs else f"costs[{arm}]"
        elif fault.column in self.names:
            entry = f"rewards[{arm}, {instance}, {self.names.index(fault.column)}]"
        return replace(fault, file=entry, row=None, column=None)


def read_arrays(
    rewards: ArrayLike,
    costs: ArrayLike,
    configs: Sequence[str] | None,
    instances: Sequence[str] | None,
    names: Iterable[str] | None,
) -> Arrays:
    """Make a tidy frame of arrays; takes what `from_arrays` takes.

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
    frame = pd.DataFrame(scores[arm, instance], columns=list(labels[2]))
    frame["cost"] = paid[arm] if paid.ndim == 1 else paid[arm, instance]
    frame["config"], frame["instance"] = np.array(labels[0])[arm], np.array(labels[1])[instance]
    return Arrays(frame, labels[2], arm, instance, paid.ndim == 2)


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
