"""Validation: a frame and a card become checked records, or one error that lists every fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_float_dtype

from cobandit._text import suggest
from cobandit.errors import Faults, TableError, raise_fault, raise_if_any
from cobandit.tables.card import Card
from cobandit.tables.columns import (
    COST,
    MIN_INSTANCES,
    NESTED,
    RANGE,
    check_column,
    profiling_rows,
)
from cobandit.tables.transforms import TRANSFORMS

MIN_ARMS = 2


class Keys(NamedTuple):
    """A text column as sorted distinct labels and, for each row, the number of its label (-1: missing)."""

    labels: tuple[str, ...]
    codes: npt.NDArray[np.int64]


class Records(NamedTuple):
    """Checked records of K configurations, D objectives and N rows: arm after arm, each by instance."""

    arms: pd.DataFrame  # K rows, what describes the configurations, indexed by them
    instances: tuple[str, ...]
    # for each objective, what its transform was fitted to
    limits: dict[str, tuple[float, float]]
    arm: npt.NDArray[np.int64]  # (N,), into arms
    instance: npt.NDArray[np.int64]  # (N,), into instances
    costs: npt.NDArray[np.float64]  # (N,), in the card's unit
    rewards: npt.NDArray[np.float64]  # (N, D), in [0, 1]
    # (N, D), the objectives' columns before their transforms
    measured: npt.NDArray[np.float64]
    profiling: npt.NDArray[np.bool_]  # (N,)
    # other columns that are constant within an instance: the value of each, (I,)
    groups: dict[str, Keys]

    def take(self, rows: npt.NDArray[np.int64]) -> Records:
        """Return records of some of the rows, given by their numbers in the order wanted."""
        taken: Any = {
            key: x[rows]
            for key, x in self._asdict().items()
            if isinstance(x, np.ndarray)
        }
        return self._replace(**taken)


def validate(frame: pd.DataFrame, card: Card, source: str) -> Records:
    """Check a tidy frame against its card and bring it into order.

    Parameters
    ----------
    frame : DataFrame
        One row per (configuration, instance); columns that the card does not name are
        ignored.
    card : Card
        Which columns are what.
    source : str
        What to call the frame in messages, usually its file name.

    Returns
    -------
    Records

    Raises
    ------
    TableError
        With every fault found: missing or repeated column, value that is missing, not
        finite or no number, cost or latency that is not positive, cost too large or
        small to compute with, objective outside [0, 1], duplicate (config, instance),
        fewer than two configurations, fewer than four instances of a configuration (two
        in either split), constant latency, descriptive column that changes within a
        configuration, no rows.

    Notes
    -----
    O(N log N) for N rows, vectorised.

    Examples
    --------
    >>> card = Card(
    ...     name="toy", title="Toy", source="-", license="-", kind="synthetic", records="toy.csv",
    ...     cost={"column": "usd", "unit": "USD"}, objectives=[{"name": "accuracy", "column": "ok"}],
    ...     split={"profiling": 2},
    ... )
    >>> toy = pd.DataFrame({"config": list("aaaabbbb"), "instance": [1, 2, 3, 4] * 2, "usd": 0.5, "ok": True})
    >>> records = validate(toy, card, "toy.csv")
    >>> records.arms.index.tolist(), records.rewards.shape, int(records.profiling.sum())
    (['a', 'b'], (8, 1), 4)
    >>> validate(toy.assign(ok=2), card, "toy.csv")
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: toy.csv, row 1, column 'ok': the objective 2.0 is outside [0, 1] (and 7 more \
rows) -> rescale the column, or give the objective a transform
    """
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    faults = Faults(source)
    check_columns(frame, card.columns, faults)
    if frame.empty:
        raise_fault(
            source, "the table has no rows", "export it again, with its data", "no-rows"
        )
    all_columns = frame
    wanted = frame.columns.isin(card.columns) & ~frame.columns.duplicated()
    frame = frame.loc[:, wanted].reset_index(drop=True)
    numbers = _check_measures(frame, card, faults)
    if not {"config", "instance"} <= set(frame.columns):
        raise_if_any(faults.found)
    configs = encode_names(frame["config"], faults)
    instances = encode_names(frame["instance"], faults)
    if min(configs.codes.min(), instances.codes.min()) < 0:
        # nothing further can be checked
        raise_if_any(faults.found)

    _check_arms(frame, card, configs, faults)
    _check_keys(configs, instances, faults)
    groups = _find_groups(all_columns, card, instances, faults)

    if card.split.instances is None:
        profiling = profiling_rows(
            configs.codes, instances.codes, card.split.profiling, card.split.seed
        )
    else:
        profiling = np.isin(instances.labels, card.split.instances)[instances.codes]
    _check_split(configs, profiling, card, faults)
    raise_if_any(faults.found)
    rewards, limits = _rewards(numbers, profiling, card, faults)
    raise_if_any(faults.found)

    order = np.lexsort((instances.codes, configs.codes))
    first = order[np.flatnonzero(np.diff(configs.codes[order], prepend=-1))]
    arms = frame.loc[first, list(card.arms)]
    arms.index = pd.Index(configs.labels, name="config", dtype=object)
    for column in arms.select_dtypes("category"):
        arms[column] = arms[column].astype(arms[column].cat.categories.dtype)
    return Records(
        arms,
        instances.labels,
        limits,
        configs.codes,
        instances.codes,
        numbers[card.cost.column],
        rewards,
        np.column_stack([numbers[objective.column] for objective in card.objectives]),
        profiling,
        groups,
    ).take(order)


def _find_groups(
    frame: pd.DataFrame, card: Card, instances: Keys, faults: Faults
) -> dict[str, Keys]:
    """Find columns that say what instances have in common; that of the card has to be one.

    Others are found where they have fewer values than there are instances, and none is
    missing.
    """
    groups = {}
    first = np.unique(instances.codes, return_index=True)[1]
    for name in dict.fromkeys(frame.columns[~frame.columns.duplicated(keep=False)]):
        is_cluster = name == card.cluster
        column = frame[name].reset_index(drop=True)
        if (name in card.columns and not is_cluster) or (
            not is_cluster and pd.api.types.is_float_dtype(column)
        ):
            continue
        ignored = Faults(faults.source)
        keys = encode_names(column, faults if is_cluster else ignored)
        if not keys.labels or (keys.codes < 0).any():
            continue
        differs = keys.codes != keys.codes[first][instances.codes]
        if is_cluster and differs.any():
            row = int(differs.argmax())
            problem = (
                f"instance {instances.labels[instances.codes[row]]!r} has two values of"
                " its cluster"
            )
            remedy = "give an instance one cluster, or name another column"
            faults.add(problem, remedy, name, differs, code="two-clusters")
        elif is_cluster or (
            not differs.any() and 1 < len(keys.labels) < len(instances.labels)
        ):
            groups[name] = Keys(keys.labels, keys.codes[first])

    return groups


def check_columns(frame: pd.DataFrame, wanted: Sequence[str], faults: Faults) -> None:
    """Check that each of the wanted columns is there once."""
    names = list(frame.columns)
    for column in wanted:
        if names.count(column) > 1:
            faults.add(
                "the column is there more than once",
                "keep one",
                column,
                code="repeated-column",
            )
        if column not in names:
            spare = [name for name in names if name not in wanted]
            remedy = suggest(
                column, spare, f"add it, or name another; there are {names}"
            )
            faults.add("the column is missing", remedy, column, code="missing-column")


def _check_measures(
    frame: pd.DataFrame, card: Card, faults: Faults
) -> dict[str, np.ndarray]:
    """Read the cost column and those of the objectives, and return those without a fault."""
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


#: Whole numbers below this have a floating-point number of their own.
EXACT = 2**53


def restore_whole_numbers(column: pd.Series, faults: Faults) -> pd.Series:
    """Return whole numbers that a gap in their column turned into floating-point numbers.

    Parameters
    ----------
    column : Series, length N
        Names; other columns than those of whole floating-point numbers are returned as
        they are.
    faults : Faults
        Takes a fault where names are so long that several may have become one.

    Examples
    --------
    >>> restore_whole_numbers(pd.Series([8.0, None, 12.0]), Faults("toy.csv")).tolist()
    [8, <NA>, 12]
    >>> restore_whole_numbers(pd.Series([8.0, 0.5]), Faults("toy.csv")).tolist()
    [8.0, 0.5]
    """
    if not is_float_dtype(column) or not (column.dropna() % 1 == 0).all():
        return column
    too_long = (column.abs() >= EXACT).fillna(False).to_numpy(dtype=bool)
    if too_long.any():
        problem = "the name is a decimal number of more than 15 digits"
        remedy = "store names as text: rounded, different ones may have become one"
        faults.add(problem, remedy, str(column.name), too_long, code="rounded-name")
        return column
    return column.astype("Int64")


def encode_names(column: pd.Series, faults: Faults, required: bool = True) -> Keys:
    """Give numbers to names (configurations, instances, descriptions) in code point order.

    Parameters
    ----------
    column : Series, length N
        Names of any plain type; missing and blank ones get -1.
    faults : Faults
        Takes a fault if names are nested values, or if one is missing.
    required : bool
        Whether each row needs a name.

    Returns
    -------
    Keys
        ``labels``, a sorted tuple of str, and ``codes``, int64 of shape (N,). Takes
        O(N) and sorts only the distinct labels.

    Examples
    --------
    >>> keys = encode_names(pd.Series(["b", "a", None, "b"], name="config"), faults := Faults("toy.csv"))
    >>> keys.labels, keys.codes.tolist(), faults.found[0].problem
    (('a', 'b'), [1, 0, -1, 1], 'the name is missing')
    """
    name = str(column.name)
    try:
        places, distinct = pd.factorize(restore_whole_numbers(column, faults))
    except TypeError:  # it cannot hash lists and dictionaries
        faults.add("the names are nested values", NESTED, name, code="nested-names")
        return Keys((), np.full(len(column), -1))

    texts = [str(label) for label in distinct]

    # 1 and "1" are different to pandas and the same configuration to a reader
    labels = tuple(sorted({text for text in texts if text.strip()}))
    number = {label: i for i, label in enumerate(labels)}

    # one entry more at the end: it is where factorize's -1 for missing points
    codes = np.array([*(number.get(text, -1) for text in texts), -1], dtype=np.int64)[
        places
    ]
    if required and (codes < 0).any():
        remedy = f"give every row its {name}; a row without one cannot be counted"
        faults.add("the name is missing", remedy, name, codes < 0, code="missing-name")

    return Keys(labels, codes)


def _check_arms(frame: pd.DataFrame, card: Card, configs: Keys, faults: Faults) -> None:
    """Descriptive columns: one value in all rows of a configuration, missing counting as a value."""
    for column in [column for column in card.arms if column in frame]:
        codes = pd.Series(encode_names(frame[column], faults, required=False).codes)
        differs = (codes != codes.groupby(configs.codes).transform("first")).to_numpy()
        if differs.any():
            row = int(differs.argmax())
            config = configs.labels[configs.codes[row]]
            value = str(frame[column].iloc[row])
            problem = (
                f"the value {value!r} differs from what describes {config!r} in an"
                " earlier row"
            )
            remedy = (
                "give a configuration one value, split it, or leave the column out of"
                " what describes it"
            )
            faults.add(problem, remedy, column, differs, code="two-descriptions")


def _check_keys(configs: Keys, instances: Keys, faults: Faults) -> None:
    """At least two configurations, no pair twice."""
    if len(configs.labels) < MIN_ARMS:
        problem = f"there is only one configuration, {configs.labels[0]!r}"
        faults.add(
            problem,
            "give at least two to choose among",
            "config",
            code="one-configuration",
        )

    pairs = pd.DataFrame({"config": configs.codes, "instance": instances.codes})
    again = pairs.duplicated().to_numpy()
    if again.any():
        config, instance = pairs.iloc[again.argmax()]
        names = (configs.labels[config], instances.labels[instance])
        remedy = (
            "keep one of them, or give repeated evaluations instance names of their own"
        )
        problem = f"(config, instance) = {names} stands already in another row"
        faults.add(problem, remedy, "instance", again, code="duplicate-row")


def _check_split(
    configs: Keys, profiling: np.ndarray, card: Card, faults: Faults
) -> None:
    """Either split of each arm holds at least two instances.

    Where the profiling instances are named, by a run, a configuration may have left the
    run right after them.
    """
    n_arms = len(configs.labels)
    n_profiling = np.bincount(configs.codes[profiling], minlength=n_arms)
    n_evaluation = np.bincount(configs.codes[~profiling], minlength=n_arms)
    fewest = (
        np.minimum(n_profiling, n_evaluation)
        if card.split.instances is None
        else n_profiling
    )
    arm = int(np.argmax(fewest < MIN_INSTANCES))
    if fewest[arm] < MIN_INSTANCES:
        counts = (
            f"{n_profiling[arm]} profiling and {n_evaluation[arm]} evaluation instances"
        )
        problem = (
            f"configuration {configs.labels[arm]!r} has {counts}, and needs"
            f" {MIN_INSTANCES} of each"
        )
        change = (
            f"or change the number of profiling instances, now {card.split.profiling}"
        )
        remedy = f"evaluate it on more instances, leave it out, {change}"
        faults.add(problem, remedy, "instance", code="few-instances")


def _rewards(
    numbers: dict[str, np.ndarray], profiling: np.ndarray, card: Card, faults: Faults
) -> tuple[np.ndarray, dict[str, tuple[float, float]]]:
    """Fit and apply the transforms of the objectives."""
    rewards = np.full((len(profiling), len(card.objectives)), np.nan)
    limits: dict[str, tuple[float, float]] = {}
    for d, objective in enumerate(card.objectives):
        values, transform = numbers[objective.column], TRANSFORMS[objective.transform]
        fitted = objective.limits or transform.fit(
            values[profiling], objective.low, objective.high
        )
        limits[objective.name] = fitted
        try:
            rewards[:, d] = transform.apply(values, *fitted)
        except TableError as error:
            remedy = (
                "correct its limits, take another column or transform, or leave it out"
                " (logs: --latency none)"
            )
            faults.add(str(error), remedy, objective.column, code="no-scale")

    return rewards, limits
