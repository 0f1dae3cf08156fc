"""Two frames that should be the same: which cells differ, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: Floating-point results agree to 1e-12 on any machine; this leaves room for what is computed from them.
RTOL = 1e-9


def differences(stored: pd.DataFrame, anew: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Compare a stored frame with one that was computed anew, row by row.

    Numbers that are not whole have to agree to a relative `RTOL`, everything else exactly; what is missing
    agrees with what is missing.

    Parameters
    ----------
    stored, anew : DataFrame
    keys : sequence of str
        Columns that say which row it is; those that a frame does not have are left out.

    Returns
    -------
    list of str
        One text a cell that differs, or one in all if the frames have different columns or lengths; empty
        if they agree.

    Examples
    --------
    >>> ours = pd.DataFrame({"arm": ["a", "b"], "mean": [0.5, 0.25]})
    >>> differences(ours, ours.assign(mean=[0.5, 0.26]), ["arm"])
    ['b: mean is 0.25, computed anew 0.26']
    >>> differences(ours, ours.head(1), ["arm"])
    ['2 rows are stored, 1 computed anew']
    """
    if len(stored) != len(anew):
        return [f"{len(stored)} rows are stored, {len(anew)} computed anew"]
    if set(stored) != set(anew):
        odd = ", ".join(sorted(map(str, set(stored) ^ set(anew))))
        return [f"stored and computed anew do not have the same columns: {odd}"]
    found = []
    names = [key for key in keys if key in anew]
    for column in anew:
        old, new = stored[column].reset_index(drop=True), anew[column].reset_index(drop=True)
        for row in np.flatnonzero(_differ(old, new)):
            which = " ".join(str(anew[key].iloc[row]) for key in names if pd.notna(anew[key].iloc[row]))
            found.append(f"{which}: {column} is {_text(old[row])}, computed anew {_text(new[row])}")
    return found


def _differ(old: pd.Series, new: pd.Series) -> np.ndarray:
    if pd.api.types.is_float_dtype(new) and pd.api.types.is_numeric_dtype(old):
        return ~np.isclose(old.astype(float), new, rtol=RTOL, atol=0, equal_nan=True)
    return np.array((old != new) & ~(old.isna() & new.isna()))


def _text(value: object) -> str:
    return "missing" if pd.isna(value) else str(value)  # type: ignore[call-overload]
