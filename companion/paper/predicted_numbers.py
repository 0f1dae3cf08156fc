"""Predictions of the paper's numbers and orderings from drawn reconstructions."""

from itertools import product

import numpy as np
import pandas as pd

from companion.paper.contrasts import (
    AVERAGE,
    ERROR,
    F1,
    LEVEL,
    REGRET,
    STANDARD,
    WIDENING,
    arrange_tables,
    predict,
    used_keys,
)
from companion.paper.judge import claims
from companion.paper.numbers import published
from companion.paper.predictive import (
    judged_values,
    scales_of,
    value_on_tables,
)


def shares(plays: pd.DataFrame) -> pd.DataFrame:
    """Return the share of reconstructions on which each ordering of the paper holds.

    An ordering is a statement that one method is better than another. Orderings are
    compared at the largest budget. On each reconstruction, the experiments were run
    with the paper's numbers of replications. Claims about the smallest budget, and
    claims whose relation is not "better", are left out.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.

    Returns
    -------
    DataFrame
        The share by key of the claim (rows) and data set (columns). The share is NaN if
        the claim is not about the data set.
    """
    wide = {name: arrange_tables(plays, name) for name in plays["dataset"].unique()}

    by_claim: dict[str, dict[str, float]] = {}
    played = {entry.quantity: entry for entry in (REGRET, STANDARD, AVERAGE, ERROR, F1)}
    for claim in claims():
        if claim.relation != "better" or claim.at == "smallest":
            continue
        by_claim[claim.key] = {}
        for dataset in set(claim.datasets) & set(wide):
            key = played[claim.quantity].key
            sign = 1 if claim.direction == "higher" else -1
            values = {
                method: sign * wide[dataset][key(dataset, method)]
                for method in claim.methods + claim.against
            }
            pairs = product(claim.methods, claim.against)
            holds = np.logical_and.reduce(
                [values[first] > values[second] for first, second in pairs]
            )
            by_claim[claim.key][dataset] = float(holds.mean())

    return pd.DataFrame.from_dict(by_claim, orient="index", columns=list(wide))


def predict_numbers(plays: pd.DataFrame) -> pd.DataFrame:
    """Predict the paper's printed results from runs on reconstructions.

    Each number is predicted from the used facts of its experiment, which are printed
    numbers to which the tables were fitted. The used facts are not predicted.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.

    Returns
    -------
    DataFrame
        ``predicted_low`` and ``predicted_high``, the ends of the 95 % interval, by key
        of the number.
    """
    printed = judged_values()

    intervals: dict[str, list[float]] = {}
    wide = {name: arrange_tables(plays, name) for name in plays["dataset"].unique()}
    for number in published():
        values = (
            None
            if number.dataset is None
            else value_on_tables(wide[number.dataset], number)
        )
        if number.role not in ("predicted", "arithmetic") or values is None:
            continue
        to_scale, from_scale = scales_of(number)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = to_scale(values)
        is_finite = np.isfinite(scaled)
        keys = used_keys(str(number.dataset), number.experiment)
        prediction = predict(
            wide[str(number.dataset)][is_finite], keys, scaled[is_finite], printed
        )
        intervals[number.key] = sorted(
            from_scale(np.array(prediction.interval(1 - LEVEL, WIDENING)))
        )

    return pd.DataFrame.from_dict(
        intervals, orient="index", columns=["predicted_low", "predicted_high"]
    )
