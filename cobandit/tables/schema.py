"""Checks of a data frame against its description (card); one error lists all faults."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.errors import Faults, TableError, raise_fault, raise_if_any
from cobandit.tables.card import Card
from cobandit.tables.encoded_names import encode_names
from cobandit.tables.measured_columns import COST, RANGE, check_column
from cobandit.tables.profiling import profiling_rows
from cobandit.tables.records import Records
from cobandit.tables.row_checks import (
    check_columns,
    check_descriptions,
    check_pairs,
    check_split,
    find_groups,
)
from cobandit.tables.transforms import TRANSFORMS


def validate(frame: pd.DataFrame, card: Card, source: str) -> Records:
    """Check a tidy frame against its description (card), and return its sorted records.

    Parameters
    ----------
    frame : DataFrame
        One row per (configuration, instance). Columns that the card does not name are
        used only if they group instances.
    card : Card
        Card that describes the columns.
    source : str
        Name of the frame in messages, usually its file name.

    Returns
    -------
    Records

    Raises
    ------
    TableError
        With every fault found:

        * no rows, or a missing or repeated column,
        * a value that is missing, not finite or not a number,
        * a cost or latency that is not positive, or a cost that is too large or too
          small to compute with,
        * an objective outside [0, 1], or a constant latency,
        * a duplicate (config, instance),
        * fewer than two configurations,
        * fewer than four instances of a configuration (two in each split),
        * a descriptive column that changes within a configuration.

    Notes
    -----
    Time O(N log N) for N rows.

    Examples
    --------
    >>> card = Card(
    ...     name="toy", title="Toy", source="-", license="-", kind="synthetic",
    ...     records="toy.csv", cost={"column": "usd", "unit": "USD"},
    ...     objectives=[{"name": "accuracy", "column": "ok"}], split={"profiling": 2},
    ... )
    >>> names = {"config": list("aaaabbbb"), "instance": [1, 2, 3, 4] * 2}
    >>> toy = pd.DataFrame(names).assign(usd=0.5, ok=True)
    >>> records = validate(toy, card, "toy.csv")
    >>> records.arms.index.tolist(), records.rewards.shape, int(records.profiling.sum())
    (['a', 'b'], (8, 1), 4)
    >>> validate(toy.assign(ok=2), card, "toy.csv")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: toy.csv, row 1, column 'ok': the objective 2.0 is \
outside [0, 1] (and 7 more rows) -> rescale the column, or give the objective a \
transform
    """
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    faults = Faults(source)
    check_columns(frame, card.columns, faults)
    if frame.empty:
        remedy = "export the table again, with its data"
        raise_fault(source, "the table has no rows", remedy, "no-rows")

    all_columns = frame
    is_wanted = frame.columns.isin(card.columns) & ~frame.columns.duplicated()
    frame = frame.loc[:, is_wanted].reset_index(drop=True)
    numbers = _check_measures(frame, card, faults)
    if not {"config", "instance"} <= set(frame.columns):
        raise_if_any(faults.entries)
    configs = encode_names(frame["config"], faults)
    instances = encode_names(frame["instance"], faults)
    if min(configs.codes.min(), instances.codes.min()) < 0:
        # the other checks need the names
        raise_if_any(faults.entries)

    check_descriptions(frame, card, configs, faults)
    check_pairs(configs, instances, faults)
    groups = find_groups(all_columns, card, instances, faults)

    if card.split.instances is None:
        profiling = profiling_rows(
            configs.codes, instances.codes, card.split.profiling, card.split.seed
        )
    else:
        profiling = np.isin(instances.labels, card.split.instances)[instances.codes]
    check_split(configs, profiling, card, faults)
    raise_if_any(faults.entries)

    rewards, limits = _scale_objectives(numbers, profiling, card, faults)
    raise_if_any(faults.entries)

    order = np.lexsort((instances.codes, configs.codes))
    first = order[np.flatnonzero(np.diff(configs.codes[order], prepend=-1))]
    arms = frame.loc[first, list(card.arms)]
    arms.index = pd.Index(configs.labels, name="config", dtype=object)
    for column in arms.select_dtypes("category"):
        arms[column] = arms[column].astype(arms[column].cat.categories.dtype)
    measured = [numbers[objective.column] for objective in card.objectives]
    records = Records(
        arms=arms,
        instances=instances.labels,
        limits=limits,
        arm=configs.codes,
        instance=instances.codes,
        costs=numbers[card.cost.column],
        rewards=rewards,
        measured=np.column_stack(measured),
        profiling=profiling,
        groups=groups,
    )
    return records.take(order)


def _check_measures(
    frame: pd.DataFrame, card: Card, faults: Faults
) -> dict[str, np.ndarray]:
    """Return the columns of cost and objectives that have no fault, as numbers."""
    rules = {card.cost.column: [COST, RANGE]}
    for objective in card.objectives:
        rule = TRANSFORMS[objective.transform].rule
        rules.setdefault(objective.column, []).extend([rule] if rule else [])
    columns = {
        name: check_column(frame[name], rules[name], faults)
        for name in rules
        if name in frame
    }
    return {name: values for name, values in columns.items() if values is not None}


def _scale_objectives(
    numbers: dict[str, np.ndarray], profiling: np.ndarray, card: Card, faults: Faults
) -> tuple[np.ndarray, dict[str, tuple[float, float]]]:
    """Return the objectives as scores (N, D), and the limits of their transforms."""
    rewards = np.full((len(profiling), len(card.objectives)), np.nan)
    limits: dict[str, tuple[float, float]] = {}
    for d, objective in enumerate(card.objectives):
        values = numbers[objective.column]
        transform = TRANSFORMS[objective.transform]
        fitted = objective.limits or transform.fit(
            values[profiling], objective.low, objective.high
        )
        limits[objective.name] = fitted
        try:
            rewards[:, d] = transform.apply(values, *fitted)
        except TableError as error:
            (fault,) = error.faults
            faults.add(fault.problem, fault.remedy, objective.column, code=fault.code)

    return rewards, limits
