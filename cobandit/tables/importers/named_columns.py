"""Reading those columns of a file that the user's options name."""

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
    """Return a frame of the columns ``names``, and of renamed columns of a file."""
    check_present(frame, columns.values(), file)
    for column in sorted(names.keys() & columns.keys()):
        problem = f"an option uses the column {column!r} of the file"
        raise_fault(
            file,
            problem,
            "rename this column: its name is reserved for a column of every table",
            "reserved-name",
        )
    return pd.DataFrame(
        names | {name: frame[column] for name, column in columns.items()},
        index=frame.index,
    )


def check_present(frame: pd.DataFrame, wanted: Iterable[str], file: Path) -> None:
    """Raise if a file lacks a wanted column, or has it twice."""
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
    """Return a column of names as text; raise if a name is missing.

    Parameters
    ----------
    frame : DataFrame
    column : str
    file : Path
        File of the frame, for messages.
    condition : str or None
        Condition of ``--where``, if the user gave one. A remedy may extend this
        condition.
    measured : sequence of str
        Columns that may be blank where the name is missing, for example because the
        row is not an evaluation. A remedy may exclude such rows.
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
    """Return a remedy: a ``--where`` condition that excludes rows without a value.

    Returns
    -------
    str or None
        None if no condition on the column excludes all these rows and keeps some
        other row.
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
