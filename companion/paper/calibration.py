"""Calibration of our predictions of contrasts, on tables of a second generator.

A contrast compares two methods. Its value on the paper's tables is predicted from
reconstructions, which a first generator draws.
"""

import numpy as np
import pandas as pd

from companion.paper.contrasts import CONTRASTS, arrange_tables

LEVELS = (0.5, 0.8, 0.95)


def calibrate(plays: pd.DataFrame, wider: float = 1.0) -> pd.DataFrame:
    """Predict each contrast on each table of the second generator.

    A contrast is a comparison of two methods, such as the ratio of their regrets.

    Each table takes the place of the paper's table. Its contrasts are predicted from
    its used facts, which are a few of its results. The prediction is fitted to runs on
    the tables of the first generator.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.
    wider : float
        Factor by which intervals are widened, for the p-values.

    Returns
    -------
    DataFrame
        One row per table and contrast: ``dataset``, ``number``, ``experiment``,
        ``method``, ``against``, ``remoteness`` (see `Prediction`), ``p``, and
        ``needed``, the factor at which the 95 % interval just contains the true value
        of the contrast. The interval at a level contains the true value if p is larger
        than one minus the level.
    """
    rows = []
    for contrast in CONTRASTS:
        tables, other_tables = (
            arrange_tables(plays, contrast.dataset, kind) for kind in ("table", "other")
        )
        # arrays: the tables are read once per other table
        columns = {key: tables[key].to_numpy() for key in tables}
        for number, values in other_tables.to_dict("index").items():
            prediction = contrast.predict(columns, values)
            value = float(contrast.of(values))
            half_width = prediction.interval(max(LEVELS))[1] - prediction.centre
            rows.append(
                {
                    **contrast._asdict(),
                    "number": number,
                    "remoteness": prediction.remoteness,
                    "needed": abs(value - prediction.centre) / half_width,
                    "p": prediction.p(value, wider),
                }
            )

    return pd.DataFrame(rows)


def coverage(calibrated: pd.DataFrame) -> pd.Series:
    """Return the share of contrasts whose interval contains the value, by level.

    A contrast is a comparison of two methods.

    Examples
    --------
    >>> coverage(pd.DataFrame({"p": [0.01, 0.3, 0.6, 0.9]})).to_dict()
    {0.5: 0.5, 0.8: 0.75, 0.95: 0.75}
    """
    return pd.Series(
        {level: float((calibrated["p"] > 1 - level).mean()) for level in LEVELS}
    )


def widening(calibrated: pd.DataFrame) -> float:
    """Return the smallest widening at which 95 % intervals contain 95 % of contrasts.

    A contrast is a comparison of two methods.

    Only tables with odd numbers are used. The tables with even numbers test the result.

    Returns
    -------
    float
        At least 1, in steps of 0.01.
    """
    needed = calibrated.loc[calibrated["number"] % 2 == 1, "needed"]
    enough = np.quantile(needed, max(LEVELS), method="inverted_cdf")
    return max(1.0, float(np.ceil(100 * enough - 1e-9) / 100))
