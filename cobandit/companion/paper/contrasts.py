"""The fourteen contrasts by which the paper's experiments are judged, and their words.

``book/protocol.md`` lists them, and states the rule.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobandit.companion.paper import predictive
from cobandit.companion.paper.judge import claims
from cobandit.companion.paper.numbers import published, run_key, run_of
from cobandit.companion.paper.predictive import Floats, Prediction, drawn, on_scale, printed_values, scales_of

PREDICTED, COMPATIBLE, CONTRADICTED, CANNOT_TELL = "predicted", "compatible", "contradicted", "cannot tell"
WORDS = (PREDICTED, COMPATIBLE, CONTRADICTED, CANNOT_TELL)
#: Of the test; width over the prior's up to which it is predicted; share of tables that may be nearer.
LEVEL, SHARP, REMOTE = 0.05, 0.5, 0.99
#: On scores, from the calibration by another generator.
WIDENING = 1.0
DEFAULT = "default"

#: By key: what tables play, or what is printed.
Values = pd.DataFrame | Mapping[Any, Any]


class Played(NamedTuple):
    """What is played of each method at a budget."""

    experiment: str
    rho: int
    quantity: str

    def key(self, dataset: str, method: str) -> str:
        """Of the value on a table."""
        return run_key(dataset, self.experiment, self.rho, method, self.quantity)


#: What each experiment is judged by, at its largest budget.
REGRET, ERROR, F1 = (
    Played("online", 32, "efficiency_regret"),
    Played("identification", 5000, "error"),
    Played("full-set", 200, "f1"),
)
STANDARD, AVERAGE = (REGRET._replace(quantity=name) for name in ("standard_regret", "moving_average"))
#: Used facts of each experiment: method and values; where an error is not printed, it is not used.
USED = {
    "online": ("AccuracyCostUCB", (REGRET, STANDARD, AVERAGE)),
    "identification": ("UniformIdentification", (ERROR._replace(rho=20), ERROR)),
    "full-set": ("UniformIdentification", (F1._replace(rho=10), F1)),
}


class Contrast(NamedTuple):
    """One method against another."""

    dataset: str
    experiment: str
    method: str
    against: str

    @property
    def judged(self) -> Played:
        """What of both is compared."""
        return next(each for each in (REGRET, ERROR, F1) if each.experiment == self.experiment)

    @property
    def keys(self) -> tuple[str, str]:
        """Of the values of both."""
        return self.judged.key(self.dataset, self.method), self.judged.key(self.dataset, self.against)

    def of(self, values: Values) -> Floats:
        """Take the contrast from what tables play, or from what is printed."""
        first, second = (on_scale(key, values[key]) for key in self.keys)
        return first - second

    def predict(self, played: pd.DataFrame, at: Values) -> Prediction:
        """Predict it from tables, and from what the used facts of its experiment are."""
        return predict(played, used_keys(self.dataset, self.experiment), self.of(played), at)


CONTRASTS = tuple(
    Contrast(dataset, experiment, method, against)
    for dataset in ("gsm8k", "piqa")
    for experiment, method, others in (
        ("online", "CoHVUCB", ("UniformAllocation", "AccuracyCostUCB", "HVUCB")),
        ("identification", "CoPSI", ("UniformIdentification", "PSISR")),
        ("full-set", "CoPSI", ("UniformIdentification", "PSISR")),
    )
    for against in others
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
    wide = own.pivot(index="number", columns=["reading", "key"], values="value")  # noqa: PD010 - nothing twice
    wide = wide[wide[DEFAULT, "kept"] == 1]
    found, changed = (pd.DataFrame(wide[name]) for name in (DEFAULT, reading))
    return found.assign(**changed)


def used_keys(dataset: str, experiment: str) -> list[str]:
    """Keys of the used facts of an experiment, as far as they are printed."""
    method, values = USED[run_of(experiment)]
    return [key for each in values if (key := each.key(dataset, method)) in printed_values()]


def predict(played: pd.DataFrame, keys: list[str], values: Floats, printed: Values) -> Prediction:
    """Predict from tables, and from what is printed of the used facts, what has these values on tables."""
    used, at = (np.stack([on_scale(key, each[key]) for key in keys], axis=-1) for each in (played, printed))
    return predictive.predict(used, values, at)


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


def judge_contrasts(plays: pd.DataFrame) -> pd.DataFrame:
    """Judge the fourteen contrasts.

    Parameters
    ----------
    plays : DataFrame
        As for `tables`.

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
        found, value = contrast.predict(played, printed), float(contrast.of(printed))
        low, high = found.interval(1 - LEVEL, WIDENING)
        nothing = np.empty((len(prior), 0))
        before = np.diff(predictive.predict(nothing, contrast.of(prior), np.empty(0)).interval(1 - LEVEL))
        seen = contrast._asdict() | {"tables": len(played), "remoteness": found.remoteness}
        seen |= {"width": float((high - low) / before[0]), "regressed": found.regressed}
        seen |= {"p": found.p(value, WIDENING), "printed": np.exp(value)}
        rows.append(seen | {"centre": np.exp(found.centre), "low": np.exp(low), "high": np.exp(high)})
    frame = pd.DataFrame(rows)
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

    printed, frame = printed_values(), pd.DataFrame()
    last = plays.loc[plays["reading"] != DEFAULT, "number"].max()  # all readings on the same tables
    plays = plays[plays["number"] <= last]
    readings = plays.loc[plays["kind"] == "table", "reading"].unique()
    for reading, dataset in product(readings, dict.fromkeys(contrast.dataset for contrast in CONTRASTS)):
        played = tables(plays, dataset, reading=reading).dropna()
        own = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        each = {contrast: contrast.predict(played, printed) for contrast in own}
        scores = np.stack([prediction.scores for prediction in each.values()], axis=1)
        at = [prediction.score(float(contrast.of(printed))) for contrast, prediction in each.items()]
        frame.loc[reading, dataset] = predictive.joint(scores, np.array(at))
    together = [float(combine_pvalues(row, method="fisher").pvalue) for row in frame.to_numpy()]
    return frame.assign(together=together, disfavoured=np.array(together) < LEVEL / len(frame))


def shares(plays: pd.DataFrame) -> pd.DataFrame:
    """Share of the tables on which an ordering that the paper states holds at the largest budget.

    Each table is judged by its own experiments of the printed size.  Orderings about other budgets, about how
    an advantage grows, and about both data sets at once are left out.

    Returns
    -------
    DataFrame
        By key of the claim: the share on each data set that the claim is about, and NaN else.
    """
    wide = {name: tables(plays, name) for name in plays["dataset"].unique()}
    found: dict[str, dict[str, float]] = {}
    played = {each.quantity: each for each in (REGRET, STANDARD, AVERAGE, ERROR, F1)}
    for claim in claims():
        if claim.relation != "better" or claim.at == "smallest":
            continue
        found[claim.key] = {}
        for dataset in set(claim.datasets) & set(wide):
            key, sign = played[claim.quantity].key, 1 if claim.direction == "higher" else -1
            values = {m: sign * wide[dataset][key(dataset, m)] for m in claim.methods + claim.against}
            pairs = product(claim.methods, claim.against)
            holds = np.logical_and.reduce([values[one] > values[other] for one, other in pairs])
            found[claim.key][dataset] = float(holds.mean())
    return pd.DataFrame.from_dict(found, orient="index", columns=list(wide))


def predict_numbers(plays: pd.DataFrame) -> pd.DataFrame:
    """Predict every printed number, used ones but for themselves, from the used facts of its experiment.

    Returns
    -------
    DataFrame
        By key of the number: ``predicted_low``, ``predicted_high``.
    """
    printed = printed_values()
    found: dict[str, list[float]] = {}
    wide = {name: tables(plays, name) for name in plays["dataset"].unique()}
    for number in published():
        values = None if number.dataset is None else drawn(wide[number.dataset], number)
        if number.role not in ("predicted", "arithmetic") or values is None:
            continue
        there, back = scales_of(number)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = there(values)
        known, keys = np.isfinite(scaled), used_keys(str(number.dataset), number.experiment)
        prediction = predict(wide[str(number.dataset)][known], keys, scaled[known], printed)
        found[number.key] = sorted(back(np.array(prediction.interval(1 - LEVEL, WIDENING))))
    return pd.DataFrame.from_dict(found, orient="index", columns=["predicted_low", "predicted_high"])


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
        for number, own in unknown.to_dict("index").items():
            found, value = contrast.predict(known, own), float(contrast.of(own))
            half = found.interval(max(LEVELS))[1] - found.centre
            row = contrast._asdict() | {"number": number, "remoteness": found.remoteness}
            rows.append(row | {"needed": abs(value - found.centre) / half, "p": found.p(value, wider)})
    return pd.DataFrame(rows)


def coverage(found: pd.DataFrame) -> pd.Series:
    """Share of the contrasts that the intervals hold, by level.

    Examples
    --------
    >>> coverage(pd.DataFrame({"p": [0.01, 0.3, 0.6, 0.9]})).to_dict()
    {0.5: 0.5, 0.8: 0.75, 0.95: 0.75}
    """
    return pd.Series({level: float((found["p"] > 1 - level).mean()) for level in LEVELS})


def widening(found: pd.DataFrame) -> float:
    """Find the least factor with which 95 % intervals hold 95 % on tables with odd numbers, from `calibrate`.

    Returns
    -------
    float
        At least 1, in steps of 0.01.
    """
    needed = found.loc[found["number"] % 2 == 1, "needed"]
    enough = np.quantile(needed, max(LEVELS), method="inverted_cdf")
    return max(1.0, float(np.ceil(100 * enough - 1e-9) / 100))
