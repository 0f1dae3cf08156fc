"""Repeated evaluations of an instance: they are not independent, so they become one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd

from cobandit.tables.importers.notes import Notes

Repeats = Literal["mean", "separate"]


def settle(
    frame: pd.DataFrame, measured: Sequence[str], separate: pd.Series, repeats: Repeats, notes: Notes
) -> pd.DataFrame:
    """Average the repeats of an instance, or give each a name of its own, and remark what was done.

    Parameters
    ----------
    frame : DataFrame
        ``config`` and ``instance``, of which some pair stands in several rows; measured columns are numbers.
    measured : sequence of str
        Columns to average. Rows that differ in any other column are not repeats of each other.
    separate : Series of str
        Names of the instances that tell the repeats apart.
    repeats : {"mean", "separate"}
    notes : Notes

    Returns
    -------
    DataFrame
        With the labels of those rows of ``frame`` that stand first.

    Examples
    --------
    >>> frame = pd.DataFrame({"config": "m", "instance": ["q", "r", "q"], "score": [1.0, 1.0, 0.0]})
    >>> settle(frame, ["score"], frame["instance"], "mean", notes := Notes())
      config instance  score
    0      m        q    0.5
    1      m        r    1.0
    >>> notes.remarks[0][:72]
    'note: repeats of an instance (epochs, trials) are averaged, 1 to 2 per r'
    """
    if repeats == "separate":
        notes.remarks.append(
            "note: repeats of an instance (epochs, trials) count as instances, though they are not "
            "independent: more will be called settled than is"
        )
        return frame.assign(instance=separate)
    keys = [name for name in frame if name not in measured]
    group = frame.groupby(keys, sort=False, dropna=False).ngroup()
    sizes = group.value_counts()
    notes.remarks.append(
        f"note: repeats of an instance (epochs, trials) are averaged, {sizes.min():,} to {sizes.max():,} per "
        "row: instances are what counts as independent; --repeats separate keeps them apart"
    )
    means = frame[list(measured)].groupby(group).mean()
    return frame[~group.duplicated()].assign(**{name: means[name].to_numpy() for name in measured})
