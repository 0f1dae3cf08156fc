"""Joint tests of all contrasts of a data set, also under each reading of the paper.

A contrast compares two methods. A reading is one set of answers to the choices that the
paper leaves open.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from companion.paper import predictive
from companion.paper.contrasts import (
    CONTRASTS,
    DEFAULT,
    LEVEL,
    WIDENING,
    Contrast,
    arrange_tables,
)
from companion.paper.predictive import (
    Floats,
    Prediction,
    judged_values,
)


def judge_together(plays: pd.DataFrame, reading: str = DEFAULT) -> pd.DataFrame:
    """Compare the seven contrasts of each data set jointly with their predictions.

    A contrast is a comparison of two methods.

    There are three measures: the joint distance of all seven contrasts from their
    predictions; the number of contrasts outside their intervals; and the joint
    deviation, in CoPSI's favour, of the two contrasts of CoPSI with PSI-SR. We chose
    the last two measures after we had seen the contrasts.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.
    reading : str
        Reading of the paper. For a reading other than the default, only the
        reconstructions on which it was run are used.

    Returns
    -------
    DataFrame
        One row per data set: ``tables``, the number of reconstructions; ``distance``,
        the p-value of the Mahalanobis distance of all seven contrasts; ``outside``, the
        number of contrasts outside their 95 % intervals; ``as_many``, the number of
        reconstructions with at least as many contrasts outside; ``favour``, the sum of
        the two scores of CoPSI against PSI-SR, each divided by the half-width of its 95
        % interval, and positive in CoPSI's favour; ``as_favourable``, the number of
        reconstructions with at least this sum.
    """
    if reading != DEFAULT:
        plays = plays[plays["number"] <= _last_with_readings(plays)]
    printed = judged_values()
    rows = {}
    for dataset in dict.fromkeys(contrast.dataset for contrast in CONTRASTS):
        played = arrange_tables(plays, dataset, reading=reading).dropna()
        contrasts = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        predictions = [contrast.predict(played, printed) for contrast in contrasts]
        scores = np.stack([prediction.scores for prediction in predictions], axis=1)
        printed_scores = _score_printed(contrasts, predictions)
        half_widths = np.array(
            [
                prediction.interval(1 - LEVEL, WIDENING)[1] - prediction.centre
                for prediction in predictions
            ]
        )
        limits = half_widths / [prediction.spread for prediction in predictions]

        # scores are divided by half-widths of intervals, so that errors and F1 have
        # equal weight
        is_rival = np.array([contrast.against == "PSISR" for contrast in contrasts])
        signs = np.array([contrast.favour for contrast in contrasts])
        weights = signs * is_rival / limits
        outside = int((abs(printed_scores) > limits).sum())
        favour = float(printed_scores @ weights)
        rows[dataset] = {
            "tables": len(played),
            "distance": predictive.joint_p(scores, printed_scores),
            "outside": outside,
            "as_many": int(((abs(scores) > limits).sum(axis=1) >= outside).sum()),
            "favour": favour,
            "as_favourable": int((scores @ weights >= favour).sum()),
        }

    return pd.DataFrame.from_dict(rows, orient="index")


def _score_printed(
    contrasts: Sequence[Contrast], predictions: Sequence[Prediction]
) -> Floats:
    """Return the score of each comparison of two methods at the printed values."""
    printed = judged_values()
    return np.array(
        [
            prediction.score(float(contrast.of(printed)))
            for contrast, prediction in zip(contrasts, predictions, strict=True)
        ]
    )


def combine(counts: pd.Series, tables: pd.Series) -> float:
    """Combine the p-values of all data sets by Fisher's method.

    For each data set, ``tables`` is the number of reconstructions, and ``counts`` is
    the number of reconstructions that deviate at least as much as the paper's table.
    The p-value is ``counts`` over ``tables``, after the paper's table is added to both.

    Examples
    --------
    >>> round(combine(pd.Series([0, 0]), pd.Series([99, 99])), 6)
    0.001021
    """
    from scipy.stats import combine_pvalues

    return float(combine_pvalues((1 + counts) / (1 + tables), method="fisher").pvalue)


def _last_with_readings(plays: pd.DataFrame) -> int:
    """Return the number of the last reconstruction on which all readings were run."""
    return int(plays.loc[plays["reading"] != DEFAULT, "number"].max())


def judge_readings(plays: pd.DataFrame) -> pd.DataFrame:
    """Test the seven contrasts of each data set jointly, under each reading.

    A contrast is a comparison of two methods. A reading is one set of answers to the
    choices that the paper leaves open.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.

    Returns
    -------
    DataFrame
        One row per reading: the p-value of each data set; ``together``, their
        combination by Fisher's method; ``disfavoured``, whether ``together`` is below
        .05 over the number of readings.
    """
    from scipy.stats import combine_pvalues

    printed = judged_values()
    frame = pd.DataFrame()
    # all readings are judged on the same tables
    plays = plays[plays["number"] <= _last_with_readings(plays)]
    readings = plays.loc[plays["kind"] == "table", "reading"].unique()
    for reading, dataset in product(
        readings, dict.fromkeys(contrast.dataset for contrast in CONTRASTS)
    ):
        played = arrange_tables(plays, dataset, reading=reading).dropna()
        contrasts = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        predictions = [contrast.predict(played, printed) for contrast in contrasts]
        scores = np.stack([prediction.scores for prediction in predictions], axis=1)
        printed_scores = _score_printed(contrasts, predictions)
        frame.loc[reading, dataset] = predictive.joint_p(scores, printed_scores)
    together = [
        float(combine_pvalues(row, method="fisher").pvalue) for row in frame.to_numpy()
    ]
    return frame.assign(
        together=together, disfavoured=np.array(together) < LEVEL / len(frame)
    )
