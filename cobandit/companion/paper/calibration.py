"""Calibration of the contrasts' intervals: tables of another generator in the place of the paper's."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.companion.paper.contrasts import CONTRASTS, facts_of, tables, used_keys
from cobandit.companion.reconstruction import inference

LEVELS = (0.5, 0.8, 0.95)


def calibrate(plays: pd.DataFrame, wider: float = 1.0) -> pd.DataFrame:
    """Predict every contrast on every table of the other generator as if it were the paper's.

    Parameters
    ----------
    plays : DataFrame
        As `cobandit.companion.stored.plays.played` gives them.
    wider : float
        Factor on scores.

    Returns
    -------
    DataFrame
        A row per table and contrast: ``dataset``, ``number``, ``experiment``, ``method``, ``against``,
        ``remoteness``, ``p``, and ``needed``, the factor with which the 95 % interval would just hold; an
        interval at a level holds where p is above one minus the level.
    """
    rows = []
    for contrast in CONTRASTS:
        known, unknown = (tables(plays, contrast.dataset, kind) for kind in ("table", "other"))
        if unknown.empty:
            continue
        keys = used_keys(contrast.dataset, contrast.experiment)
        facts, values = facts_of(known, keys), contrast.of(known)
        about = zip(unknown.index, facts_of(unknown, keys), contrast.of(unknown), strict=True)
        for number, at, value in about:
            found = inference.predict(facts, values, at)
            half = found.interval(max(LEVELS))[1] - found.centre
            row = contrast._asdict() | {"number": number, "remoteness": found.remoteness}
            row |= {"needed": float(abs(value - found.centre) / half)}
            rows.append(row | {"p": found.p(float(value), wider)})
    columns = ["dataset", "experiment", "method", "against", "number", "remoteness", "needed", "p"]
    return pd.DataFrame(rows, columns=columns)


def coverage(found: pd.DataFrame) -> pd.Series:
    """Share of the contrasts that the intervals hold, by level.

    Examples
    --------
    >>> coverage(pd.DataFrame({"p": [0.01, 0.3, 0.6, 0.9]})).to_dict()
    {0.5: 0.5, 0.8: 0.75, 0.95: 0.75}
    """
    return pd.Series({level: float((found["p"] > 1 - level).mean()) for level in LEVELS})


def widening(plays: pd.DataFrame) -> float:
    """Find the least factor with which 95 % intervals hold 95 % on tables with odd numbers.

    Returns
    -------
    float
        At least 1, in steps of 0.01; 1 where there is no such table.
    """
    found = calibrate(plays)
    needed = np.sort(found.loc[found["number"] % 2 == 1, "needed"])
    if not len(needed):
        return 1.0
    enough = needed[int(np.ceil(max(LEVELS) * len(needed))) - 1]
    return max(1.0, float(np.ceil(100 * enough - 1e-9) / 100))
