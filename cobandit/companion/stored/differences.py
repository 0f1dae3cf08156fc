"""Two frames that should be the same: which cells differ, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: Floating-point results agree to 1e-12 on any machine; this leaves room for what is computed from them.
RTOL = 1e-9


def differences(stored: pd.DataFrame, again: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    """Compare a stored frame with one that was recomputed, row by row.

    Numbers that are not whole have to agree to a relative `RTOL`, everything else exactly; what is missing
    agrees with what is missing.

    Parameters
    ----------
    stored, again : DataFrame
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
    ['b: mean is 0.25, recomputed 0.26']
    >>> differences(ours, ours.head(1), ["arm"])
    ['2 rows are stored, 1 recomputed']
    """
    if len(stored) != len(again):
        return [f"{len(stored)} rows are stored, {len(again)} recomputed"]
    if set(stored) != set(again):
        odd = ", ".join(sorted(map(str, set(stored) ^ set(again))))
        return [f"stored and recomputed do not have the same columns: {odd}"]
    found = []
    names = [key for key in keys if key in again]
    for column in again:
        old, new = stored[column].reset_index(drop=True), again[column].reset_index(drop=True)
        for row in np.flatnonzero(_differ(old, new)):
            which = " ".join(str(again[key].iloc[row]) for key in names if pd.notna(again[key].iloc[row]))
            found.append(f"{which}: {column} is {_text(old[row])}, recomputed {_text(new[row])}")
    return found


def _differ(old: pd.Series, new: pd.Series) -> np.ndarray:
    if pd.api.types.is_float_dtype(new) and pd.api.types.is_numeric_dtype(old):
        return ~np.isclose(old.astype(float), new, rtol=RTOL, atol=0, equal_nan=True)
    return np.array((old != new) & ~(old.isna() & new.isna()))


def _text(value: object) -> str:
    return "missing" if pd.isna(value) else str(value)  # type: ignore[call-overload]
