"""The fourteen contrasts by which the paper's experiments are judged, and their words.

``book/protocol.md`` lists them, and states the rule.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobandit.companion.paper import predictive
from cobandit.companion.paper.judge import claims
from cobandit.companion.paper.numbers import Published, published
from cobandit.companion.paper.predictive import (
    DERIVED,
    Floats,
    Prediction,
    drawn,
    off_scale,
    on_scale,
    played_key,
    printed_values,
)

PREDICTED, COMPATIBLE, CONTRADICTED, CANNOT_TELL = "predicted", "compatible", "contradicted", "cannot tell"
WORDS = (PREDICTED, COMPATIBLE, CONTRADICTED, CANNOT_TELL)
LEVEL, SHARP, REMOTE = 0.05, 0.5, 0.99
"""Of the test; width over the prior's up to which it is predicted; share of tables that may be nearer."""
WIDENING = 1.0
"""On scores, from the calibration by another generator."""
DEFAULT = "default"

USED = {
    "online": tuple(
        f"{{}}-{run}-32-AccuracyCostUCB-{quantity}"
        for run, quantity in (
            ("online", "efficiency_regret"),
            ("online", "standard_regret"),
            ("trajectory", "moving_average"),
        )
    ),
    "identification": tuple(
        f"{{}}-identification-{rho}-UniformIdentification-error-declared" for rho in (20, 5000)
    ),
    "full-set": tuple(f"{{}}-full-set-{rho}-UniformIdentification-f1-declared" for rho in (10, 200)),
}
"""Used facts of each experiment, by key; where an error is not printed, it is not used."""
OF_EXPERIMENT = {"trajectory": "online", "stochastic": "identification"}


class Contrast(NamedTuple):
    """One method against another: keys of both values, as `played_key` gives them."""

    dataset: str
    experiment: str
    method: str
    against: str
    key: str
    other: str

    def of(self, values: pd.DataFrame | dict[str, float]) -> Floats:
        """Take the contrast from what tables play, or from what is printed."""
        return on_scale(self.key, values[self.key]) - on_scale(self.other, values[self.other])


def _contrast(dataset: str, experiment: str, method: str, against: str) -> Contrast:
    rho, quantity = {
        "online": ("32", "efficiency_regret"),
        "identification": ("5000", "error-declared"),
        "full-set": ("200", "f1-declared"),
    }[experiment]
    keys = (f"{dataset}-{experiment}-{rho}-{each}-{quantity}" for each in (method, against))
    return Contrast(dataset, experiment, method, against, *keys)


CONTRASTS = tuple(
    _contrast(dataset, *about)
    for dataset in ("gsm8k", "piqa")
    for about in (
        ("online", "CoHVUCB", "UniformAllocation"),
        ("online", "CoHVUCB", "AccuracyCostUCB"),
        ("online", "CoHVUCB", "HVUCB"),
        ("identification", "CoPSI", "UniformIdentification"),
        ("identification", "CoPSI", "PSISR"),
        ("full-set", "CoPSI", "UniformIdentification"),
        ("full-set", "CoPSI", "PSISR"),
    )
)


def tables(plays: pd.DataFrame, dataset: str, kind: str = "table", reading: str = DEFAULT) -> pd.DataFrame:
    """Arrange plays by table: a row per kept one, a column per key.

    Parameters
    ----------
    plays : DataFrame
        As `cobandit.companion.stored.results.played` gives them.
    dataset, kind : str
    reading : str
        What it does not change is as by default.
    """
    own = plays[(plays["dataset"] == dataset) & (plays["kind"] == kind)]
    wide = {
        name: part.pivot_table(index="number", columns="key", values="value", dropna=False)
        for name, part in own.groupby("reading")
    }
    found = wide[DEFAULT][wide[DEFAULT]["kept"] == 1].copy()
    if reading != DEFAULT:
        changed = wide[reading].reindex(found.index)
        found[changed.columns] = changed
    return found


def used_keys(dataset: str, experiment: str) -> list[str]:
    """Keys of the used facts of an experiment, as far as they are printed."""
    known = printed_values()
    keys = (key.format(dataset) for key in USED[OF_EXPERIMENT.get(experiment, experiment)])
    return [key for key in keys if key in known]


def facts_of(values: pd.DataFrame | dict[str, float], keys: list[str]) -> Floats:
    """Used facts on their scales, a column each."""
    return np.stack([on_scale(key, values[key]) for key in keys], axis=-1)


def predict(played: pd.DataFrame, contrast: Contrast, printed: dict[str, float]) -> Prediction:
    """Predict a contrast from tables, and from what is printed of the used facts."""
    keys = used_keys(contrast.dataset, contrast.experiment)
    return predictive.predict(facts_of(played, keys), contrast.of(played), facts_of(printed, keys))


def word(p: float, inside: bool, width: float, remoteness: float) -> str:
    """Say by the protocol's rule what becomes of a contrast.

    Parameters
    ----------
    p : float
        Adjusted.
    inside : bool
        Whether the printed value lies in the 95 % interval.
    width : float
        Of the interval, over the prior's.
    remoteness : float
        Share of the tables nearer than the paper.

    Examples
    --------
    >>> word(0.5, True, 0.4, 0.7), word(0.5, True, 0.8, 0.7)
    ('predicted', 'compatible')
    >>> word(0.01, False, 0.4, 0.7), word(0.5, True, 0.4, 1.0)
    ('contradicted', 'cannot tell')
    """
    if remoteness > REMOTE or not width <= 1:
        return CANNOT_TELL
    if p <= LEVEL:
        return CONTRADICTED
    return PREDICTED if inside and width <= SHARP else COMPATIBLE


def judge_contrasts(plays: pd.DataFrame, wider: float = WIDENING) -> pd.DataFrame:
    """Judge the fourteen contrasts.

    Parameters
    ----------
    plays : DataFrame
        As for `tables`.
    wider : float
        Factor on scores.

    Returns
    -------
    DataFrame
        A row per contrast: ``dataset``, ``experiment``, ``method``, ``against``, ``tables``; ``printed``,
        ``centre``, ``low`` and ``high`` as ratios of regrets or of odds; ``p``, ``adjusted`` (Holm),
        ``width`` over the prior's on the scale of logarithms, ``remoteness``, ``regressed`` and ``word``.
    """
    printed, rows = printed_values(), []
    for contrast in CONTRASTS:
        played, prior = (tables(plays, contrast.dataset, kind) for kind in ("table", "prior"))
        found, value = predict(played, contrast, printed), float(contrast.of(printed))
        low, high = found.interval(1 - LEVEL, wider)
        nothing = np.empty((len(prior), 0))
        before = np.diff(predictive.predict(nothing, contrast.of(prior), np.empty(0)).interval(1 - LEVEL))
        rows.append(
            contrast._asdict()
            | {"tables": len(played), "printed": np.exp(value), "centre": np.exp(found.centre)}
            | {"low": np.exp(low), "high": np.exp(high), "p": found.p(value, wider)}
            | {"width": float((high - low) / before[0]), "remoteness": found.remoteness}
            | {"regressed": found.regressed}
        )
    frame = pd.DataFrame(rows).drop(columns=["key", "other"])
    frame["adjusted"] = predictive.holm(frame["p"].to_numpy())
    inside = (frame["low"] <= frame["printed"]) & (frame["printed"] <= frame["high"])
    about = zip(frame["adjusted"], inside, frame["width"], frame["remoteness"], strict=True)
    return frame.assign(word=[word(*each) for each in about])


def judge_readings(plays: pd.DataFrame) -> pd.DataFrame:
    """Ask how far the seven contrasts of a data set lie off together, under each reading.

    Returns
    -------
    DataFrame
        A row per reading, a column per data set with its p, ``together`` (Fisher), and whether the reading is
        ``disfavoured`` by that: below the level over the number of readings.
    """
    from scipy.stats import combine_pvalues

    printed = printed_values()
    found: dict[str, dict[str, float]] = {}
    last = plays.loc[plays["reading"] != DEFAULT, "number"].max()  # all readings on the same tables
    plays = plays[plays["number"] <= last]
    for reading in dict.fromkeys(plays.loc[plays["kind"] == "table", "reading"]):
        found[reading] = {}
        for dataset in dict.fromkeys(contrast.dataset for contrast in CONTRASTS):
            played = tables(plays, dataset, reading=reading).dropna()
            own = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
            each = [predict(played, contrast, printed) for contrast in own]
            scores = np.stack([prediction.scores for prediction in each], axis=1)
            values = zip(each, own, strict=True)
            at = np.array([prediction.score(float(contrast.of(printed))) for prediction, contrast in values])
            found[reading][dataset] = predictive.joint(scores, at)
    frame = pd.DataFrame(found).T
    together = [float(combine_pvalues(row, method="fisher").pvalue) for row in frame.to_numpy()]
    return frame.assign(together=together, disfavoured=np.array(together) < LEVEL / len(frame))


ORDERED = {
    "online-32-{}-efficiency_regret": ("online", "trajectory"),
    "online-32-{}-standard_regret": ("online",),
    "trajectory-32-{}-moving_average": ("trajectory",),
    "identification-5000-{}-error-declared": ("identification", "stochastic"),
    "full-set-200-{}-f1-declared": ("full-set",),
}
"""What is played at the largest budget, and the experiments whose orderings are about it."""


def shares(plays: pd.DataFrame) -> pd.DataFrame:
    """Share of the tables on which an ordering that the paper states holds at the largest budget.

    Each table is judged by its own experiments of the printed size.  Orderings about other budgets, about how
    an advantage grows, and about both data sets at once are left out.

    Returns
    -------
    DataFrame
        By key of the claim: the share on each data set that the claim is about, and NaN else.
    """
    wide = {name: tables(plays, name) for name in dict.fromkeys(plays["dataset"])}
    found: dict[str, dict[str, float]] = {}
    for claim in claims():
        keys = [k for k, of in ORDERED.items() if claim.experiment in of and f"-{claim.quantity}" in k]
        if claim.relation != "better" or claim.at == "smallest" or not keys:
            continue
        found[claim.key] = {}
        for dataset in set(claim.datasets) & set(wide):
            played, key = wide[dataset], f"{dataset}-{keys[0]}"
            sign = 1 if claim.direction == "higher" else -1
            values = {m: sign * played[key.format(m)] for m in (*claim.methods, *claim.against)}
            pairs = product(claim.methods, claim.against)
            holds = np.logical_and.reduce([values[one] > values[other] for one, other in pairs])
            found[claim.key][dataset] = float(holds.mean())
    return pd.DataFrame.from_dict(found, orient="index", columns=list(wide))


def predict_numbers(plays: pd.DataFrame, wider: float = WIDENING) -> pd.DataFrame:
    """Predict every printed number, used ones but for themselves, from the used facts of its experiment.

    Returns
    -------
    DataFrame
        By key of the number: ``predicted_low``, ``predicted_high``.
    """
    printed = printed_values()
    found: dict[str, tuple[float, float]] = {}
    wide = {name: tables(plays, name) for name in dict.fromkeys(plays["dataset"])}
    for number in published():
        values = None if number.dataset is None else drawn(wide[number.dataset], number)
        if number.role not in ("predicted", "arithmetic") or values is None:
            continue
        found[number.key] = _interval(number, wide[number.dataset], values, printed, wider)
    return pd.DataFrame.from_dict(found, orient="index", columns=["predicted_low", "predicted_high"])


def _interval(
    number: Published, played: pd.DataFrame, values: Floats, printed: dict[str, float], wider: float
) -> tuple[float, float]:
    keys, key = used_keys(str(number.dataset), number.experiment), played_key(number)
    there, back = DERIVED.get(str(number.operation), (partial(on_scale, key), partial(off_scale, key)))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = there(values)
    known = np.isfinite(scaled)
    found = predictive.predict(facts_of(played[known], keys), scaled[known], facts_of(printed, keys))
    ends = back(np.array(found.interval(1 - LEVEL, wider)))
    return float(min(ends)), float(max(ends))


# ------------------------------------ calibration by another generator's tables
LEVELS = (0.5, 0.8, 0.95)


def calibrate(plays: pd.DataFrame, wider: float = 1.0) -> pd.DataFrame:
    """Predict every contrast on every table of the other generator as if it were the paper's.

    Parameters
    ----------
    plays : DataFrame
        As `cobandit.companion.stored.results.played` gives them.
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
            found = predictive.predict(facts, values, at)
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
