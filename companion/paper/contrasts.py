"""The fourteen contrasts by which the paper's experiments are judged, and their words.

``book/protocol.md`` lists them, and states the rule.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from companion.paper import predictive
from companion.paper.judge import claims
from companion.paper.numbers import published, run_key, run_of
from companion.paper.predictive import (
    Floats,
    Prediction,
    drawn,
    judged_values,
    on_scale,
    scales_of,
)

PREDICTED = "predicted"
CONSISTENT = "consistent"
IN_TENSION = "in tension"
CONTRADICTED = "contradicted"
CANNOT_TELL = "cannot tell"
WORDS = (PREDICTED, CONSISTENT, IN_TENSION, CONTRADICTED, CANNOT_TELL)
#: Level of the test, and the width, over the prior's, up to which a contrast is
#: predicted.
LEVEL = 0.05
SHARP = 0.5
#: Where this share of the tables is nearer than the paper, or a larger one, nothing can
#: be told.
REMOTE = 0.99
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
REGRET = Played("online", 32, "efficiency_regret")
ERROR = Played("identification", 5000, "error")
F1 = Played("full-set", 200, "f1")
STANDARD, AVERAGE = (
    REGRET._replace(quantity=name) for name in ("standard_regret", "moving_average")
)
#: Used facts of each experiment: method and values; where an error is not printed, it
#: is not used.
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
        return next(
            each for each in (REGRET, ERROR, F1) if each.experiment == self.experiment
        )

    @property
    def keys(self) -> tuple[str, str]:
        """Of the values of both."""
        return self.judged.key(self.dataset, self.method), self.judged.key(
            self.dataset, self.against
        )

    @property
    def favour(self) -> int:
        """1 where a larger value favours the first method, which is so of F1, else -1."""
        return 1 if self.judged is F1 else -1

    def of(self, values: Values) -> Floats:
        """Take the contrast from what tables play, or from what is printed."""
        first, second = (on_scale(key, values[key]) for key in self.keys)
        return first - second

    def predict(self, played: Values, at: Values) -> Prediction:
        """Predict it from tables, and from what the used facts of its experiment are."""
        return predict(
            played, used_keys(self.dataset, self.experiment), self.of(played), at
        )


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


def tables(
    plays: pd.DataFrame, dataset: str, kind: str = "table", reading: str = DEFAULT
) -> pd.DataFrame:
    """Arrange plays by table: a row per kept one, a column per key.

    Parameters
    ----------
    plays : DataFrame
        As `companion.stored.results.played` gives them.
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
    return [
        key for each in values if (key := each.key(dataset, method)) in judged_values()
    ]


def predict(
    played: Values, keys: list[str], values: Floats, printed: Values
) -> Prediction:
    """Predict from tables, and from what is printed of the used facts, what has these values on tables."""
    used, at = (
        np.stack([on_scale(key, each[key]) for key in keys], axis=-1)
        for each in (played, printed)
    )
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
    ('predicted', 'consistent')
    >>> word(0.2, False, 0.4, 0.7), word(0.01, False, 0.4, 0.7)
    ('in tension', 'contradicted')
    >>> word(0.5, True, 0.4, 0.99)
    'cannot tell'
    """
    if remoteness >= REMOTE or not width <= 1:
        return CANNOT_TELL
    if p <= LEVEL:
        return CONTRADICTED
    if not inside:
        return IN_TENSION
    return PREDICTED if width <= SHARP else CONSISTENT


def judge_contrasts(plays: pd.DataFrame) -> pd.DataFrame:
    """Judge the fourteen contrasts.

    Parameters
    ----------
    plays : DataFrame
        As for `tables`.

    Returns
    -------
    DataFrame
        A row per contrast: ``dataset``, ``experiment``, ``method``, ``against``,
        ``tables``; ``printed``, ``centre``, ``low`` and ``high`` as ratios of regrets
        or of odds; ``p``, ``adjusted`` (Holm), ``width`` over the prior's on the scale
        of logarithms, ``remoteness``, ``regressed`` and ``word``.
    """
    return _judge(_arrange(plays))


#: Values of the kept tables of each data set and kind, by key.
Arranged = Mapping[tuple[str, str], Mapping[str, Floats]]


def _arrange(plays: pd.DataFrame) -> Arranged:
    """Arrange by table what the contrasts are about, and what they are predicted from."""
    found = {}
    for dataset in dict.fromkeys(contrast.dataset for contrast in CONTRASTS):
        own = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        keys = {key for contrast in own for key in contrast.keys}
        keys |= {
            key for contrast in own for key in used_keys(dataset, contrast.experiment)
        }
        for kind in ("table", "prior"):
            wide = tables(plays, dataset, kind)
            found[dataset, kind] = {key: wide[key].to_numpy() for key in sorted(keys)}
    return found


def _judge(arranged: Arranged) -> pd.DataFrame:
    printed = judged_values()
    rows = []
    for contrast in CONTRASTS:
        played, prior = (
            arranged[contrast.dataset, kind] for kind in ("table", "prior")
        )
        found = contrast.predict(played, printed)
        value = float(contrast.of(printed))
        low, high = found.interval(1 - LEVEL, WIDENING)
        without = contrast.of(prior)
        nothing = np.empty((len(without), 0))
        before = np.diff(
            predictive.predict(nothing, without, np.empty(0)).interval(1 - LEVEL)
        )
        seen = contrast._asdict() | {
            "tables": len(found.scores),
            "remoteness": found.remoteness,
        }
        seen |= {"width": float((high - low) / before[0]), "regressed": found.regressed}
        seen |= {"p": found.p(value, WIDENING), "printed": np.exp(value)}
        rows.append(
            seen
            | {
                "centre": np.exp(found.centre),
                "low": np.exp(low),
                "high": np.exp(high),
            }
        )

    frame = pd.DataFrame(rows)
    frame["adjusted"] = predictive.holm(frame["p"].to_numpy())
    inside = (frame["low"] <= frame["printed"]) & (frame["printed"] <= frame["high"])
    about = zip(
        frame["adjusted"], inside, frame["width"], frame["remoteness"], strict=True
    )
    return frame.assign(word=[word(*each) for each in about])


def resample_words(
    plays: pd.DataFrame, resamples: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Judge the fourteen contrasts on tables that are drawn again with replacement.

    A word that seldom comes out again is one that other tables of the same kind could
    change.

    Parameters
    ----------
    plays : DataFrame
        As for `tables`.
    resamples : int
        How often all kept tables, and those of the prior, are drawn again, data set by
        data set.
    seed : int

    Returns
    -------
    DataFrame
        A row per contrast, in the order of `CONTRASTS`, and per word of `WORDS` the
        share of the resamples.
    """
    arranged = _arrange(plays)
    rng = np.random.default_rng(seed)
    words = []
    for _ in range(resamples):
        drawn = {}
        for place, values in arranged.items():
            n = len(next(iter(values.values())))
            again = rng.integers(n, size=n)
            drawn[place] = {key: own[again] for key, own in values.items()}
        words.append(_judge(drawn)["word"].to_numpy())
    shares = {word: np.mean(np.array(words) == word, axis=0) for word in WORDS}
    return pd.DataFrame(shares)


def judge_together(plays: pd.DataFrame, reading: str = DEFAULT) -> pd.DataFrame:
    """Ask of each data set how unlike its tables the printed contrasts are together.

    Three questions: how far all seven lie off, how many lie outside their own
    intervals, and how far the two of CoPSI with PSI-SR lie off in CoPSI's favour.  The
    last two were asked after the contrasts were seen.

    Parameters
    ----------
    plays : DataFrame
        As for `tables`.
    reading : str
        What it changes is judged as it has it, on the tables that play it.

    Returns
    -------
    DataFrame
        By data set: ``tables``; ``distance``, the p of the seven by Mahalanobis'
        distance; ``outside``, the contrasts outside their own 95 % intervals, and
        ``as_many``, the tables with as many; ``favour``, the sum of the two scores of
        CoPSI against PSI-SR over the half-widths of their intervals, each with the sign
        of its favour, and ``as_favourable``, the tables with as large a sum.
    """
    if reading != DEFAULT:
        plays = plays[plays["number"] <= _last_with_readings(plays)]
    printed = judged_values()
    rows = {}
    for dataset in dict.fromkeys(contrast.dataset for contrast in CONTRASTS):
        played = tables(plays, dataset, reading=reading).dropna()
        own = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        found = [contrast.predict(played, printed) for contrast in own]
        scores = np.stack([prediction.scores for prediction in found], axis=1)
        at = np.array(
            [
                each.score(float(contrast.of(printed)))
                for contrast, each in zip(own, found, strict=True)
            ]
        )
        ends = np.array(
            [each.interval(1 - LEVEL, WIDENING)[1] - each.centre for each in found]
        )
        limits = ends / [each.spread for each in found]
        # each score over its own limit, so that errors and F1 have one weight
        signs = (
            np.array(
                [contrast.favour * (contrast.against == "PSISR") for contrast in own]
            )
            / limits
        )
        outside = int((abs(at) > limits).sum())
        favour = float(at @ signs)
        rows[dataset] = {
            "tables": len(played),
            "distance": predictive.joint(scores, at),
            "outside": outside,
            "as_many": int(((abs(scores) > limits).sum(axis=1) >= outside).sum()),
            "favour": favour,
            "as_favourable": int((scores @ signs >= favour).sum()),
        }

    return pd.DataFrame.from_dict(rows, orient="index")


def combine(counts: pd.Series, tables: pd.Series) -> float:
    """Combine by Fisher's method how many tables of each data set are as far off, the paper counted.

    Examples
    --------
    >>> round(combine(pd.Series([0, 0]), pd.Series([99, 99])), 6)
    0.001021
    """
    from scipy.stats import combine_pvalues

    return float(combine_pvalues((1 + counts) / (1 + tables), method="fisher").pvalue)


def _last_with_readings(plays: pd.DataFrame) -> int:
    """Largest number of a table that plays other readings than the default."""
    return int(plays.loc[plays["reading"] != DEFAULT, "number"].max())


def judge_readings(plays: pd.DataFrame) -> pd.DataFrame:
    """Ask how far the seven contrasts of a data set lie off together, under each reading.

    Returns
    -------
    DataFrame
        A row per reading, a column per data set with its p, ``together`` (Fisher), and
        whether the reading is ``disfavoured`` by that: below the level over the number
        of readings.
    """
    from scipy.stats import combine_pvalues

    printed = judged_values()
    frame = pd.DataFrame()
    # all readings on the same tables
    plays = plays[plays["number"] <= _last_with_readings(plays)]
    readings = plays.loc[plays["kind"] == "table", "reading"].unique()
    for reading, dataset in product(
        readings, dict.fromkeys(contrast.dataset for contrast in CONTRASTS)
    ):
        played = tables(plays, dataset, reading=reading).dropna()
        own = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        each = {contrast: contrast.predict(played, printed) for contrast in own}
        scores = np.stack([prediction.scores for prediction in each.values()], axis=1)
        at = [
            prediction.score(float(contrast.of(printed)))
            for contrast, prediction in each.items()
        ]
        frame.loc[reading, dataset] = predictive.joint(scores, np.array(at))
    together = [
        float(combine_pvalues(row, method="fisher").pvalue) for row in frame.to_numpy()
    ]
    return frame.assign(
        together=together, disfavoured=np.array(together) < LEVEL / len(frame)
    )


def shares(plays: pd.DataFrame) -> pd.DataFrame:
    """Share of the tables on which an ordering that the paper states holds at the largest budget.

    Each table is judged by its own experiments of the printed size.  Orderings about
    other budgets, about how an advantage grows, and about both data sets at once are
    left out.

    Returns
    -------
    DataFrame
        By key of the claim: the share on each data set that the claim is about, and NaN
        else.
    """
    wide = {name: tables(plays, name) for name in plays["dataset"].unique()}

    found: dict[str, dict[str, float]] = {}
    played = {each.quantity: each for each in (REGRET, STANDARD, AVERAGE, ERROR, F1)}
    for claim in claims():
        if claim.relation != "better" or claim.at == "smallest":
            continue
        found[claim.key] = {}
        for dataset in set(claim.datasets) & set(wide):
            key = played[claim.quantity].key
            sign = 1 if claim.direction == "higher" else -1
            values = {
                m: sign * wide[dataset][key(dataset, m)]
                for m in claim.methods + claim.against
            }
            pairs = product(claim.methods, claim.against)
            holds = np.logical_and.reduce(
                [values[one] > values[other] for one, other in pairs]
            )
            found[claim.key][dataset] = float(holds.mean())

    return pd.DataFrame.from_dict(found, orient="index", columns=list(wide))


def predict_numbers(plays: pd.DataFrame) -> pd.DataFrame:
    """Predict every printed number, used ones but for themselves, from the used facts of its experiment.

    Returns
    -------
    DataFrame
        By key of the number: ``predicted_low``, ``predicted_high``.
    """
    printed = judged_values()

    found: dict[str, list[float]] = {}
    wide = {name: tables(plays, name) for name in plays["dataset"].unique()}
    for number in published():
        values = None if number.dataset is None else drawn(wide[number.dataset], number)
        if number.role not in ("predicted", "arithmetic") or values is None:
            continue
        there, back = scales_of(number)
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = there(values)
        known = np.isfinite(scaled)
        keys = used_keys(str(number.dataset), number.experiment)
        prediction = predict(
            wide[str(number.dataset)][known], keys, scaled[known], printed
        )
        found[number.key] = sorted(
            back(np.array(prediction.interval(1 - LEVEL, WIDENING)))
        )

    return pd.DataFrame.from_dict(
        found, orient="index", columns=["predicted_low", "predicted_high"]
    )


# ------------------------------------ calibration by another generator's tables
LEVELS = (0.5, 0.8, 0.95)


def calibrate(plays: pd.DataFrame, wider: float = 1.0) -> pd.DataFrame:
    """Predict every contrast on every table of the other generator as if it were the paper's.

    Parameters
    ----------
    plays : DataFrame
        As `companion.stored.results.played` gives them.
    wider : float
        Factor on scores.

    Returns
    -------
    DataFrame
        A row per table and contrast: ``dataset``, ``number``, ``experiment``,
        ``method``, ``against``, ``remoteness``, ``p``, and ``needed``, the factor with
        which the 95 % interval would just hold; an interval at a level holds where p is
        above one minus the level.
    """
    rows = []
    for contrast in CONTRASTS:
        known, unknown = (
            tables(plays, contrast.dataset, kind) for kind in ("table", "other")
        )
        for number, own in unknown.to_dict("index").items():
            found = contrast.predict(known, own)
            value = float(contrast.of(own))
            half = found.interval(max(LEVELS))[1] - found.centre
            row = contrast._asdict() | {
                "number": number,
                "remoteness": found.remoteness,
            }
            rows.append(
                row
                | {
                    "needed": abs(value - found.centre) / half,
                    "p": found.p(value, wider),
                }
            )

    return pd.DataFrame(rows)


def coverage(found: pd.DataFrame) -> pd.Series:
    """Share of the contrasts that the intervals hold, by level.

    Examples
    --------
    >>> coverage(pd.DataFrame({"p": [0.01, 0.3, 0.6, 0.9]})).to_dict()
    {0.5: 0.5, 0.8: 0.75, 0.95: 0.75}
    """
    return pd.Series(
        {level: float((found["p"] > 1 - level).mean()) for level in LEVELS}
    )


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
