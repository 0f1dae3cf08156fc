"""Checks of a table: columns, clusters, descriptions, duplicates and splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from cobandit._text import suggest
from cobandit.errors import Faults
from cobandit.tables.card import Card
from cobandit.tables.encoded_names import Keys, encode_names
from cobandit.tables.profiling import MIN_INSTANCES

#: Smallest number of configurations of a table.
MIN_ARMS = 2


def find_groups(
    frame: pd.DataFrame, card: Card, instances: Keys, faults: Faults
) -> dict[str, Keys]:
    """Return the columns that group instances, and check the declared cluster column.

    Columns that the card (the table's description) does not name are tested. Such a
    column groups instances if it has one value per instance, has fewer distinct values
    than instances, and has neither missing values nor floats.
    """
    groups = {}
    first = np.unique(instances.codes, return_index=True)[1]
    for name in dict.fromkeys(frame.columns[~frame.columns.duplicated(keep=False)]):
        is_cluster = name == card.cluster
        column = frame[name].reset_index(drop=True)
        has_other_use = name in card.columns or is_float_dtype(column)
        if has_other_use and not is_cluster:
            continue

        ignored = Faults(faults.source)
        keys = encode_names(column, faults if is_cluster else ignored)
        if not keys.labels or (keys.codes < 0).any():
            continue

        differs = keys.codes != keys.codes[first][instances.codes]
        is_group = not differs.any() and 1 < len(keys.labels) < len(instances.labels)
        if is_cluster and differs.any():
            row = int(differs.argmax())
            problem = (
                f"instance {instances.labels[instances.codes[row]]!r} has more than"
                " one value in the cluster column"
            )
            remedy = "give each instance one cluster, or name another column"
            faults.add(problem, remedy, name, differs, code="two-clusters")
        elif is_cluster or is_group:
            groups[name] = Keys(keys.labels, keys.codes[first])

    return groups


def check_columns(frame: pd.DataFrame, wanted: Sequence[str], faults: Faults) -> None:
    """Check that every wanted column exists exactly once."""
    names = list(frame.columns)
    for column in wanted:
        if names.count(column) > 1:
            problem = "the column exists more than once"
            remedy = "remove or rename all but one"
            faults.add(problem, remedy, column, code="repeated-column")
        if column not in names:
            spare = [name for name in names if name not in wanted]
            remedy = suggest(
                column, spare, f"add it, or name another of the columns {names}"
            )
            faults.add("the column is missing", remedy, column, code="missing-column")


def check_descriptions(
    frame: pd.DataFrame, card: Card, configs: Keys, faults: Faults
) -> None:
    """Check that each configuration has only one value in each descriptive column.

    A missing value counts as a value.
    """
    for column in [column for column in card.arms if column in frame]:
        codes = pd.Series(encode_names(frame[column], faults, required=False).codes)
        differs = (codes != codes.groupby(configs.codes).transform("first")).to_numpy()
        if differs.any():
            row = int(differs.argmax())
            config = configs.labels[configs.codes[row]]
            value = str(frame[column].iloc[row])
            problem = (
                f"the value {value!r} differs from the value of {config!r} in an"
                " earlier row"
            )
            remedy = (
                "use one value per configuration, give the rows different configuration"
                " names, or leave the column out of the descriptive columns"
            )
            faults.add(problem, remedy, column, differs, code="two-descriptions")


def check_pairs(configs: Keys, instances: Keys, faults: Faults) -> None:
    """Check that there are two configurations or more, and no duplicate evaluations."""
    if len(configs.labels) < MIN_ARMS:
        problem = f"there is only one configuration, {configs.labels[0]!r}"
        remedy = "give at least two configurations"
        faults.add(problem, remedy, "config", code="one-configuration")

    pairs = pd.DataFrame({"config": configs.codes, "instance": instances.codes})
    is_duplicate = pairs.duplicated().to_numpy()
    if is_duplicate.any():
        config, instance = pairs.iloc[is_duplicate.argmax()]
        names = (configs.labels[config], instances.labels[instance])
        remedy = (
            "keep one of these rows, or give repeated evaluations different instance"
            " names"
        )
        problem = f"duplicate (config, instance) {names}"
        faults.add(problem, remedy, "instance", is_duplicate, code="duplicate-row")


def check_split(
    configs: Keys, profiling: np.ndarray, card: Card, faults: Faults
) -> None:
    """Check that both splits have at least two instances of each configuration.

    In the table of a live run, the card (the table's description) lists the profiling
    instances, and the run may have removed a configuration immediately after these.
    Only the profiling split of such a table is checked.
    """
    n_arms = len(configs.labels)
    n_profiling = np.bincount(configs.codes[profiling], minlength=n_arms)
    n_evaluation = np.bincount(configs.codes[~profiling], minlength=n_arms)
    fewest = n_profiling
    if card.split.instances is None:
        fewest = np.minimum(n_profiling, n_evaluation)

    arm = int(np.argmax(fewest < MIN_INSTANCES))
    if fewest[arm] < MIN_INSTANCES:
        counts = (
            f"{n_profiling[arm]} profiling and {n_evaluation[arm]} evaluation instances"
        )
        problem = (
            f"configuration {configs.labels[arm]!r} has {counts}, but needs"
            f" {MIN_INSTANCES} of each"
        )
        remedy = (
            "evaluate this configuration on more instances, leave it out, or change"
            f" the number of profiling instances, now {card.split.profiling}"
        )
        faults.add(problem, remedy, "instance", code="few-instances")
