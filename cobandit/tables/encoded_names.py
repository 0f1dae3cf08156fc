"""Encoding of columns of names, such as configurations, as integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_float_dtype

from cobandit.errors import Faults
from cobandit.tables.measured_columns import NESTED


class Keys(NamedTuple):
    """A column of names, encoded as sorted distinct labels and a number per row."""

    #: Distinct labels in code point order.
    labels: tuple[str, ...]
    #: Number of each row's label, shape (N,); -1 where it is missing.
    codes: npt.NDArray[np.int64]


#: Below this limit, every whole number is exact in floating point.
EXACT = 2**53


def restore_whole_numbers(column: pd.Series, faults: Faults) -> pd.Series:
    """Turn names that pandas read as floats back into whole numbers.

    Pandas reads a column of whole numbers with a missing value as floats.

    Parameters
    ----------
    column : Series, length N
        Names. Only a column of floats that are all whole numbers is changed.
    faults : Faults
        Receives a fault if numbers have so many digits that rounding may have made
        different names equal.

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
        remedy = (
            "store names as text, because rounding may have made different names equal"
        )
        faults.add(problem, remedy, str(column.name), too_long, code="rounded-name")
        return column
    return column.astype("Int64")


def encode_names(column: pd.Series, faults: Faults, required: bool = True) -> Keys:
    """Encode the names in a column as numbers, one per distinct name.

    Parameters
    ----------
    column : Series, length N
        Names of any plain type. Missing and blank names have the number -1.
    faults : Faults
        Receives a fault if names are nested values, or if a name is missing.
    required : bool
        Whether a missing name is a fault.

    Returns
    -------
    Keys
        Time O(N), plus the time to sort the distinct labels.

    Examples
    --------
    >>> faults = Faults("toy.csv")
    >>> keys = encode_names(pd.Series(["b", "a", None, "b"], name="config"), faults)
    >>> keys.labels, keys.codes.tolist(), faults.entries[0].code
    (('a', 'b'), [1, 0, -1, 1], 'missing-name')
    """
    name = str(column.name)
    try:
        places, distinct = pd.factorize(restore_whole_numbers(column, faults))
    except TypeError:  # raised because lists and dictionaries are not hashable
        faults.add("the names are nested values", NESTED, name, code="nested-names")
        return Keys((), np.full(len(column), -1))

    texts = [str(label) for label in distinct]

    # pandas distinguishes 1 and "1", but they are the same configuration
    labels = tuple(sorted({text for text in texts if text.strip()}))
    number = {label: i for i, label in enumerate(labels)}

    # factorize codes a missing name as -1, which here indexes the last entry
    number_of_distinct = [*(number.get(text, -1) for text in texts), -1]
    codes = np.array(number_of_distinct, dtype=np.int64)[places]
    if required and (codes < 0).any():
        remedy = f"write a value of {name} into every row, or remove the row"
        faults.add("the name is missing", remedy, name, codes < 0, code="missing-name")

    return Keys(labels, codes)
