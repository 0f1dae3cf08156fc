"""What the posterior predicts of the numbers that the paper prints."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cobandit.companion.reconstruction.experiment import DEFAULT
from cobandit.companion.reconstruction.inference import back, predict, widening
from cobandit.companion.reconstruction.pool import pool
from cobandit.companion.reconstruction.settings import SETTINGS


def draws(plays: pd.DataFrame, reading: str = DEFAULT) -> pd.DataFrame:
    """Draw from the predictive distribution of what the paper prints about each data set.

    Parameters
    ----------
    plays : DataFrame
        Rows as `cobandit.companion.reconstruction.pool.played` gives them.
    reading : str
        One of `cobandit.companion.reconstruction.experiment.READINGS`.

    Returns
    -------
    DataFrame
        A row per table of the pool, columns by `cobandit.companion.paper.predictive.played_key`; of what the
        reconstruction uses, the printed value in each row.
    """
    found: dict[str, np.ndarray] = {}
    for name in SETTINGS:
        tables, used, _ = pool(name, plays, reading)
        values = predict(tables, used.to_numpy(), widening(tables))
        for key, column in zip(tables.predicted, values.T, strict=True):
            found[str(key)] = back(str(key), column)
        for key in [str(key) for key in used.index if not str(key).startswith("fact-")]:
            found[key] = back(key, np.full(len(values), used[key]))
    return pd.DataFrame(found)


def across_readings(plays: pd.DataFrame) -> pd.DataFrame:
    """Take what the paper would print about the bundled tables under each reading of what it leaves open.

    Parameters
    ----------
    plays : DataFrame
        As in `draws`.

    Returns
    -------
    DataFrame
        A row per reading, columns as in `draws`; NaN where a reading leaves no pull.
    """
    bundled = plays[(plays["number"] == 0) & ~plays["key"].str.startswith("fact-")]
    own = {reading: part.set_index("key")["value"] for reading, part in bundled.groupby("reading")}
    return pd.DataFrame({reading: {**own[DEFAULT], **values} for reading, values in own.items()}).T
