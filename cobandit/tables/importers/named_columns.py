"""Checks of a file's named columns, names as text, and missing values."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobandit.errors import Faults, Place, TableError, raise_fault, raise_if_any
from cobandit.tables.conditions import evaluate_condition
from cobandit.tables.encoded_names import encode_names
from cobandit.tables.row_checks import check_columns


def take_columns(
    frame: pd.DataFrame, names: dict[str, Any], columns: dict[str, str], file: Path
) -> pd.DataFrame:
    """Join columns of names with renamed columns of a file."""
    check_present(frame, columns.values(), file)
    for column in sorted(names.keys() & columns.keys()):
        problem = f"the column {column!r} is measured or descriptive"
        raise_fault(
            file,
            problem,
            "rename it, because the table has its own column of this name",
            "reserved-name",
        )
    return pd.DataFrame(
        names | {name: frame[column] for name, column in columns.items()},
        index=frame.index,
    )


def check_present(frame: pd.DataFrame, wanted: Iterable[str], file: Path) -> None:
    """Refuse columns that a file lacks, or has twice."""
    faults = Faults(str(file))
    check_columns(frame, list(dict.fromkeys(wanted)), faults)
    raise_if_any(faults.entries)


def read_names(
    frame: pd.DataFrame,
    column: str,
    file: Path,
    condition: str | None,
    measured: Sequence[str] = (),
) -> np.ndarray:
    """Read a column of names as text, without missing names.

    Parameters
    ----------
    frame : DataFrame
    column : str
    file : Path
        File of the frame, for messages.
    condition : str or None
        Condition on rows that the user gave, which a remedy may extend.
    measured : sequence of str
        Columns that may be blank in the same rows, such as events of a log that are not
        evaluations.
    """
    check_present(frame, [column], file)
    faults = Faults(str(file))
    keys = encode_names(frame[column], faults)
    if keys.labels and (keys.codes < 0).any():
        remedy = None
        for name in (*measured, column):
            remedy = remedy or find_where(frame, name, keys.codes < 0, condition)
        faults.entries[:] = [
            replace(fault, remedy=remedy or fault.remedy) for fault in faults.entries
        ]

    # the index still has the file's row numbers, even if --where removed rows
    rows = frame.index + 1
    raise_if_any(
        fault.locate(lambda row, name: Place(str(file), int(rows[row - 1]), name))
        for fault in faults.entries
    )
    return np.array(keys.labels, dtype=object)[keys.codes]


def find_where(
    frame: pd.DataFrame, column: str, missing: np.ndarray, user_condition: str | None
) -> str | None:
    """Return a condition on a column that excludes the rows without a value.

    Returns
    -------
    str or None
        None if no condition excludes all rows without a value and keeps other rows.
    """
    if column not in frame:
        return None

    prefix = "" if user_condition is None else f"({user_condition}) and "
    for condition in (f"`{column}`.notna()", f"`{column}` != ''"):
        try:
            is_kept = evaluate_condition(frame, condition, "--where")
        except TableError:  # pandas cannot parse the column's name in a condition
            continue
        if is_kept.any() and not (is_kept & missing).any():
            return (
                "import only rows with a value: --where"
                f" {shlex.quote(prefix + condition)}"
            )

    return None
