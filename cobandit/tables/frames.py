"""Conversion of a user's data frame to the columns and the description of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cobandit import _validation
from cobandit._text import suggest
from cobandit.errors import Faults, raise_fault, raise_if_any
from cobandit.tables.card import Card, Objective
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.encoded_names import encode_names
from cobandit.tables.profiling import default_profiling
from cobandit.tables.row_checks import check_columns

#: Place that messages name for a fault in the data frame or in another argument.
FRAME = "from_frame"

UNKNOWN_LICENSE = "not stated"

#: Columns of a tidy frame that name an evaluation.
KEYS = ("config", "instance")


def read_frame(
    frame: pd.DataFrame,
    *,
    config: list[str],
    instance: str,
    cost: str | float | Mapping[str, float],
    unit: str | None,
    objectives: Mapping[str, Any] | Sequence[str] | str,
    arms: list[str],
    cluster: str | None,
    profiling: int | None,
    seed: int,
    smallest_cost: float | None,
    description: Mapping[str, str],
) -> tuple[pd.DataFrame, Card]:
    """Return a tidy frame and its card, given a data frame with any column names.

    The card describes the columns and the origin of the table.

    The parameters are described at ``EvaluationTable.from_frame``.

    Raises
    ------
    TableError
        If a column is missing, occurs twice or has a reserved name, or a field of the
        card is wrong.

    Examples
    --------
    >>> columns = {"model": ["a", "b"], "q": [1, 1], "usd": 0.5, "ok": [0, 1]}
    >>> tidy, card = read_frame(
    ...     pd.DataFrame(columns), config=["model"], instance="q", cost="usd",
    ...     unit="USD", objectives="ok", arms=[], cluster=None, profiling=None, seed=0,
    ...     smallest_cost=None, description={},
    ... )
    >>> list(tidy), card.cost.unit
    (['ok', 'usd', 'config', 'instance'], 'USD')
    """
    measured = read_objectives(objectives)
    # if several columns name the configuration, they also describe it
    described = [*(config if len(config) > 1 else ()), *arms]
    described = list(dict.fromkeys(described))
    columns = [objective.column for objective in measured] + described
    columns += [cost] if isinstance(cost, str) else []
    columns += [cluster] if cluster is not None else []
    columns = list(dict.fromkeys(columns))

    tidy = _rename_keys(frame, config, instance, columns)

    cost_column = cost if isinstance(cost, str) else "cost"
    if not isinstance(cost, str):
        cost_column += "_" if "cost" in columns else ""
        tidy[cost_column] = charge(tidy["config"], cost, f"{FRAME}, cost")
    if smallest_cost is not None:
        is_free = tidy[cost_column].eq(0).fillna(False).astype(bool)
        tidy[cost_column] = tidy[cost_column].mask(is_free, smallest_cost)
        smallest_cost = smallest_cost if is_free.any() else None

    if profiling is None:
        profiling = default_profiling(tidy["instance"].nunique())
    default_unit = cost if isinstance(cost, str) else "evaluations"
    fields = {
        "name": "table",
        "title": description.get("name", "table"),
        "source": "a data frame",
        "license": UNKNOWN_LICENSE,
        "kind": "measured",
        "records": "table.parquet",
        **description,
        "cost": {"column": cost_column, "unit": unit or default_unit},
        "objectives": measured,
        "split": {"profiling": profiling, "seed": seed},
        "arms": tuple(described),
        "cluster": cluster,
        "smallest_cost": smallest_cost,
    }
    card = check_fields(
        Card, fields, lambda field: f"{FRAME}, {field.rpartition('.')[2]}"
    )
    return tidy, card


def _rename_keys(
    frame: pd.DataFrame, config: list[str], instance: str, columns: list[str]
) -> pd.DataFrame:
    """Return the frame with key columns renamed to ``config`` and ``instance``.

    Columns that no argument names are kept, because they may group instances.
    """
    reserved = sorted({*columns} & {*KEYS})
    if reserved:
        problem = f"the column {reserved[0]!r} is measured or describes a configuration"
        remedy = "rename this column: its name is reserved for a column of every table"
        raise_fault(FRAME, problem, remedy, "reserved-name")

    faults = Faults(FRAME)
    check_columns(frame, list(dict.fromkeys([*config, instance, *columns])), faults)
    raise_if_any(faults.entries)
    names = [encode_names(frame[column], faults) for column in config]
    raise_if_any(faults.entries)

    # columns that no argument names may group instances, which `doctor` checks
    in_use = {*columns, *config, instance, *KEYS, "cost"}
    unique_columns = frame.columns[~frame.columns.duplicated(keep=False)]
    spare = [name for name in unique_columns if name not in in_use]

    texts = [np.array(keys.labels, dtype=object)[keys.codes] for keys in names]
    joined = [" ".join(row) for row in zip(*texts, strict=True)]
    return frame[[*columns, *spare]].assign(config=joined, instance=frame[instance])


def charge(
    config: pd.Series, cost: float | Mapping[str, float], place: str
) -> pd.Series:
    """Return a column of costs, given one cost for all or one per configuration.

    Parameters
    ----------
    config : Series of str, length N
    cost : float or mapping of str to float
    place : str
        Origin of the cost, for messages.

    Raises
    ------
    TableError
        If a configuration has no cost, or a cost belongs to no configuration.

    Examples
    --------
    >>> charge(pd.Series(["a", "b", "a"]), {"a": 1, "b": 20}, "--cost").tolist()
    [1.0, 20.0, 1.0]
    """
    if not isinstance(cost, Mapping):
        return pd.Series(_validation.scalar(cost, place), config.index)

    configs = sorted(config.dropna().unique())
    unknown = sorted(set(cost) - set(configs))
    if unknown:
        problem = f"a cost is given for {unknown[0]!r}, which is no configuration"
        remedy = suggest(unknown[0], configs)
        raise_fault(place, problem, remedy, "unknown-configuration")

    missing = sorted(set(configs) - set(cost))
    if missing:
        problem = f"the cost of {', '.join(missing)} is missing"
        remedy = "give a cost for every configuration"
        raise_fault(place, problem, remedy, "missing-cost")

    return config.map(cost).astype(float)


def read_objectives(
    objectives: Mapping[str, Any] | Sequence[str] | str,
) -> list[Objective]:
    """Return objectives, given in any of the forms that a user may write.

    Parameters
    ----------
    objectives : str, sequence of str, or mapping
        Column names; or a mapping from names of objectives to a column, to ``(column,
        transform)``, or to fields of `cobandit.tables.card.Objective`.

    Raises
    ------
    TableError
        If a field of an objective is wrong.

    Examples
    --------
    >>> objectives = read_objectives({"speed": ("seconds", "negate-minmax")})
    >>> [objective.transform for objective in objectives]
    ['negate-minmax']
    """
    if isinstance(objectives, str):
        objectives = [objectives]
    if isinstance(objectives, Mapping):
        pairs = list(objectives.items())
    else:
        pairs = [(column, column) for column in objectives]

    checked = []
    for name, meaning in pairs:
        if isinstance(meaning, Mapping):
            fields = dict(meaning)
        else:
            values = meaning if isinstance(meaning, tuple) else (meaning,)
            fields = dict(zip(("column", "transform"), values, strict=False))
        place = f"{FRAME}, objectives[{name!r}]"
        checked.append(check_fields(Objective, {"name": str(name), **fields}, place))
    return checked
