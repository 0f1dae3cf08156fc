"""Repeated evaluations of an instance: averaging, and detecting equal repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from cobandit.tables.card import STATIC
from cobandit.tables.importers.import_notes import Notes


def average_repeats(
    frame: pd.DataFrame,
    arms: Sequence[str],
    separate: pd.Series,
    repeats: str,
    notes: Notes,
) -> pd.DataFrame:
    """Average repeated evaluations of an instance, or make each a separate instance.

    Parameters
    ----------
    frame : DataFrame
        Columns ``config``, ``instance`` and descriptive columns; all other columns are
        numbers.
    arms : sequence of str
        Descriptive columns. Rows that differ in one of these are not repeats.
    separate : Series of str
        Names that distinguish the repeats of an instance.
    repeats : {"mean", "separate"}
    notes : Notes

    Returns
    -------
    DataFrame
        Each row has the index of the first repeat in ``frame``.

    Examples
    --------
    >>> columns = {"config": "m", "instance": ["q", "r", "q"], "score": [1.0, 1.0, 0.0]}
    >>> frame = pd.DataFrame(columns)
    >>> average_repeats(frame, [], frame["instance"], "mean", notes := Notes())
      config instance  score
    0      m        q    0.5
    1      m        r    1.0
    >>> notes.remarks
    ['note: repeats of an instance are averaged (--repeats separate keeps each)']
    """
    if not frame.duplicated(["config", "instance"]).any():
        return frame
    if repeats == "separate":
        notes.remarks.append(
            "note: repeats of an instance count as instances, and are not independent"
        )
        return frame.assign(instance=separate)

    notes.remarks.append(
        "note: repeats of an instance are averaged (--repeats separate keeps each)"
    )
    keys = [name for name in frame if name in ("config", "instance", *arms)]
    means = frame.groupby(keys, sort=False, dropna=False).transform("mean")
    return frame.assign(**means).drop_duplicates(keys)


#: Smallest number of repeated instances for the remark that repeats always have equal
#: scores.
MANY_REPEATED = 5


def count_same_repeats(
    frame: pd.DataFrame, scores: Sequence[str], notes: Notes
) -> None:
    """Note configurations whose repeated evaluations always have equal scores."""
    pairs = frame.groupby(["config", "instance"], sort=False)[list(scores)]
    repeated = pairs.size() > 1
    if not repeated.any():
        return
    differ = (pairs.max() > pairs.min()).any(axis=1)
    n_repeated = Counter(repeated.index.get_level_values("config")[repeated])
    n_differ = Counter(repeated.index.get_level_values("config")[repeated & differ])
    for config, number in n_repeated.items():
        if number >= MANY_REPEATED and not n_differ[config]:
            notes.count(STATIC, [config] * number, [config] * number)
