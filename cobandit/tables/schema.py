"""Validation: a frame and a card become checked records, or one error that lists every fault."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobandit.faults import Fault, TableError, nearest, refuse
from cobandit.tables.card import Card
from cobandit.tables.keys import Keys, encode, profiling_mask
from cobandit.tables.numeric import COST, Rule, check_column
from cobandit.tables.transforms import TRANSFORMS

MIN_ARMS = 2
MIN_INSTANCES = 2
"""Least number of instances of an arm in either split: one gives a mean, two a spread."""


class Records(NamedTuple):
    """Checked records of K configurations, D objectives and N rows: arm after arm, each by instance."""

    configs: tuple[str, ...]
    instances: tuple[str, ...]
    arm: npt.NDArray[np.int64]  # (N,), into configs
    instance: npt.NDArray[np.int64]  # (N,), into instances
    costs: npt.NDArray[np.float64]  # (N,), in the card's unit
    rewards: npt.NDArray[np.float64]  # (N, D), in [0, 1]
    profiling: npt.NDArray[np.bool_]  # (N,)

    def take(self, rows: npt.NDArray[np.int64]) -> Records:
        """Records of some of the rows, given by their numbers in the order wanted."""
        names = ("configs", "instances")
        return self._replace(**{key: x[rows] for key, x in self._asdict().items() if key not in names})


def validate(
    frame: pd.DataFrame, card: Card, source: str
) -> tuple[Records, pd.DataFrame, dict[str, tuple[float, float]], pd.DataFrame]:
    """Check a tidy frame against its card and bring it into order.

    Parameters
    ----------
    frame : DataFrame
        One row per (configuration, instance); columns that the card does not name are ignored.
    card : Card
        Which columns are what.
    source : str
        What to call the frame in messages, usually its file name.

    Returns
    -------
    records : Records
    arms : DataFrame, K rows
        The descriptive columns, indexed by configuration.
    limits : dict of str to (float, float)
        For each objective the fitted limits of its transform.
    raw : DataFrame, K rows
        Mean of each objective's column before its transform, by configuration.

    Raises
    ------
    TableError
        With every fault found: missing or repeated column, value that is missing, not finite or no number,
        cost or latency that is not positive, objective outside [0, 1], duplicate (config, instance), fewer
        than two configurations, fewer than two instances of a configuration in either split, constant
        latency, descriptive column that changes within a configuration, no rows.

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
    >>> records, arms, limits, raw = validate(toy, card, "toy.csv")
    >>> records.configs, records.rewards.shape, int(records.profiling.sum())
    (('a', 'b'), (8, 1), 4)
    >>> validate(toy.assign(ok=2), card, "toy.csv")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: toy.csv, row 1, column 'ok': the objective 2.0 is outside [0, 1] (and 7 more \
rows) -> rescale the column, or give the objective a transform in the card
    """
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    faults = _check_columns(frame, card, source)
    if not len(frame):
        refuse([*faults, Fault(source, "the table has no rows", "export it again, with its data")])
    frame = frame.loc[:, frame.columns.isin(card.columns) & ~frame.columns.duplicated()].reset_index(
        drop=True
    )
    numbers, more = _check_measures(frame, card, source)
    faults += more
    if not {"config", "instance"} <= set(frame.columns):
        refuse(faults)
    configs, instances, more = _check_keys(frame, source)
    faults += more
    faults += _check_arms(frame, card, configs, source)
    if more:
        refuse(faults)

    mask = profiling_mask(len(instances.labels), card.split.profiling, card.split.seed)
    profiling = mask[instances.codes]
    faults += _check_split(configs, profiling, card, source)
    rewards, limits, more = _rewards(numbers, profiling, card, source)
    refuse(faults + more)

    order = np.lexsort((instances.codes, configs.codes))
    records = Records(
        configs.labels,
        instances.labels,
        configs.codes,
        instances.codes,
        numbers[card.cost.column],
        rewards,
        profiling,
    ).take(order)
    first = order[np.flatnonzero(np.diff(records.arm, prepend=-1))]
    arms = frame.loc[first, list(card.arms)].set_axis(
        pd.Index(configs.labels, name="config", dtype=object), axis=0
    )
    for column in arms.select_dtypes("category"):
        arms[column] = arms[column].astype(arms[column].cat.categories.dtype)
    counts = np.bincount(records.arm)
    raw = {
        objective.column: np.bincount(configs.codes, weights=numbers[objective.column]) / counts
        for objective in card.objectives
    }
    return records, arms, limits, pd.DataFrame(raw, index=arms.index)


def _check_columns(frame: pd.DataFrame, card: Card, source: str) -> list[Fault]:
    known = list(frame.columns)
    faults = []
    for column in card.columns:
        if known.count(column) > 1:
            faults.append(
                Fault(source, "the column stands in the file more than once", "keep one", column=column)
            )
        if column not in known:
            spare = [name for name in known if name not in card.columns]
            remedy = nearest(column, spare) + f"add it, or name another column in the card; there are {known}"
            faults.append(Fault(source, "the column is missing", remedy, column=column))
    return faults


def _check_measures(
    frame: pd.DataFrame, card: Card, source: str
) -> tuple[dict[str, np.ndarray], list[Fault]]:
    """Read the cost column and those of the objectives, as far as they are there, and check each value."""
    rules: dict[str, list[Rule]] = {card.cost.column: [COST]}
    for objective in card.objectives:
        rule = TRANSFORMS[objective.transform].rule
        rules.setdefault(objective.column, []).extend([rule] if rule else [])
    numbers, faults = {}, []
    for column in [column for column in rules if column in frame]:
        values, found = check_column(frame[column], rules[column], source)
        faults += found
        if not found:
            numbers[column] = values
    return numbers, faults


def _check_keys(frame: pd.DataFrame, source: str) -> tuple[Keys, Keys, list[Fault]]:
    """Names of configurations and instances: present, at least two configurations, no pair twice."""
    faults = []
    keys = []
    for column in ("config", "instance"):
        try:
            keys.append(encode(frame[column]))
        except TypeError:  # factorize cannot hash lists and dictionaries
            remedy = "give each a plain name, text or number"
            faults.append(Fault(source, "the names are lists or other nested values", remedy, column=column))
            keys.append(Keys((), np.zeros(len(frame), dtype=np.int64)))
            continue
        missing = keys[-1].codes < 0
        if missing.any():
            row = int(np.argmax(missing)) + 1
            remedy = f"give the row its {column}, or drop it"
            faults.append(Fault(source, "the name is missing", remedy, row, column, int(missing.sum()) - 1))
    configs, instances = keys
    if faults:
        return configs, instances, faults
    if len(configs.labels) < MIN_ARMS:
        problem = f"there is only one configuration, {configs.labels[0]!r}"
        faults.append(Fault(source, problem, "choosing needs at least two", column="config"))
    pairs = pd.DataFrame({"config": configs.codes, "instance": instances.codes})
    again = pairs.duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        first = int((pairs == pairs.iloc[row]).all(axis=1).to_numpy().argmax())
        pair = (configs.labels[configs.codes[row]], instances.labels[instances.codes[row]])
        problem = f"(config, instance) = {pair} stands already in"
        remedy = "keep one of them, or give repeated evaluations instance names of their own"
        faults.append(Fault(source, problem, remedy, row + 1, "instance", int(again.sum()) - 1, first + 1))
    return configs, instances, faults


def _check_arms(frame: pd.DataFrame, card: Card, configs: Keys, source: str) -> list[Fault]:
    """Descriptive columns: one value in all rows of a configuration, missing counting as a value."""
    faults = []
    named = configs.codes >= 0
    arm, first = np.unique(configs.codes[named], return_index=True)
    leader = np.zeros(len(configs.labels) + 1, dtype=np.int64)
    leader[arm] = np.flatnonzero(named)[first]
    for column in [column for column in card.arms if column in frame]:
        try:
            codes, _ = pd.factorize(frame[column])
        except TypeError:
            remedy = "store plain text or numbers, or take it out of the card's arms"
            faults.append(Fault(source, "the column holds nested values", remedy, column=column))
            continue
        differs = named & (codes != codes[leader[configs.codes]])
        if differs.any():
            row = int(np.argmax(differs))
            config = configs.labels[configs.codes[row]]
            start = int(leader[configs.codes[row]])
            values = frame[column].iloc[[row, start]].tolist()  # Python's own numbers, to be shown
            problem = f"{values[0]!r} describes {config!r}, but {values[1]!r} does in"
            remedy = (
                "give a configuration one value, split it in two, or take the column out of the card's arms"
            )
            faults.append(Fault(source, problem, remedy, row + 1, column, int(differs.sum()) - 1, start + 1))
    return faults


def _check_split(configs: Keys, profiling: np.ndarray, card: Card, source: str) -> list[Fault]:
    """Either split of each arm holds at least two instances."""
    n_arms = len(configs.labels)
    known = np.bincount(configs.codes[profiling], minlength=n_arms)
    held_out = np.bincount(configs.codes[~profiling], minlength=n_arms)
    short = np.flatnonzero(np.minimum(known, held_out) < MIN_INSTANCES)
    if not len(short):
        return []
    arm = short[0]
    others = f" (and {len(short) - 1} more configurations)" if len(short) > 1 else ""
    problem = (
        f"configuration {configs.labels[arm]!r} has {known[arm]} profiling and {held_out[arm]} evaluation "
    )
    problem += f"instances, of which either has to be {MIN_INSTANCES} at least{others}"
    remedy = f"add instances, drop it, or change the card's split.profiling, now {card.split.profiling}"
    return [Fault(source, problem, remedy, column="instance")]


def _rewards(
    numbers: dict[str, np.ndarray], profiling: np.ndarray, card: Card, source: str
) -> tuple[np.ndarray, dict[str, tuple[float, float]], list[Fault]]:
    """Fit and apply the transforms of the objectives whose columns are sound."""
    rewards = np.full((len(profiling), len(card.objectives)), np.nan)
    limits: dict[str, tuple[float, float]] = {}
    faults = []
    for d, objective in enumerate(card.objectives):
        if objective.column not in numbers or not profiling.any():
            continue
        values = numbers[objective.column]
        transform = TRANSFORMS[objective.transform]
        limits[objective.name] = transform.fit(values[profiling], objective.low, objective.high)
        try:
            rewards[:, d] = transform.apply(values, *limits[objective.name])
        except TableError as error:
            remedy = "take another column or transform for this objective, or leave it out of the card"
            faults.append(Fault(source, str(error), remedy, column=objective.column))
    return rewards, limits, faults
