"""Fourteen comparisons of two methods (contrasts), and verdicts on the paper's values.

A contrast is a log ratio of regrets, or a log odds ratio of errors or of F1. Its value
on the paper's tables is predicted from reconstructions, and compared with the value
that the paper prints. ``book/protocol.md`` lists the contrasts and the rule of the
verdicts.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from companion.paper import predictive
from companion.paper.numbers import run_key, run_of
from companion.paper.predictive import (
    Floats,
    Prediction,
    judged_values,
    on_scale,
)

PREDICTED = "predicted"


CONSISTENT = "consistent"


IN_TENSION = "in tension"


CONTRADICTED = "contradicted"


CANNOT_TELL = "cannot tell"


WORDS = (PREDICTED, CONSISTENT, IN_TENSION, CONTRADICTED, CANNOT_TELL)


#: Significance level of the test of a contrast.
LEVEL = 0.05


#: Largest width of an interval at which the verdict can be "predicted". The unit is
#: the width of the prior's interval, which is computed without the used facts.
SHARP = 0.5


#: Remoteness from which a contrast is undecided. Remoteness is the share of drawn
#: tables whose facts are more typical than the paper's facts.
REMOTE = 0.99


#: Factor by which intervals are widened, from the calibration with a second generator.
WIDENING = 1.0


DEFAULT = "default"


#: Values by key: arrays with one value per drawn table, or printed numbers.
Values = pd.DataFrame | Mapping[Any, Any]


class Played(NamedTuple):
    """A quantity that an experiment measures at one budget."""

    experiment: str
    rho: int
    quantity: str

    def key(self, dataset: str, method: str) -> str:
        """Return the key of this quantity for a data set and a method."""
        return run_key(dataset, self.experiment, self.rho, method, self.quantity)


#: Compared quantity of online contrasts, at the largest budget. ``ERROR`` and ``F1``
#: are the compared quantities of the identification experiments.
REGRET = Played("online", 32, "efficiency_regret")


ERROR = Played("identification", 5000, "error")


F1 = Played("full-set", 200, "f1")


STANDARD, AVERAGE = (
    REGRET._replace(quantity=name) for name in ("standard_regret", "moving_average")
)


#: Used facts per experiment, as a method and its quantities. Used facts are printed
#: values from which the other values are predicted. `used_keys` omits the facts that
#: the paper does not print.
USED = {
    "online": ("AccuracyCostUCB", (REGRET, STANDARD, AVERAGE)),
    "identification": ("UniformIdentification", (ERROR._replace(rho=20), ERROR)),
    "full-set": ("UniformIdentification", (F1._replace(rho=10), F1)),
}


class Contrast(NamedTuple):
    """A comparison of one method with another in one experiment on one data set."""

    dataset: str
    experiment: str
    method: str
    against: str

    @property
    def judged(self) -> Played:
        """The quantity that is compared: a regret, an error or an F1."""
        return next(
            played
            for played in (REGRET, ERROR, F1)
            if played.experiment == self.experiment
        )

    @property
    def keys(self) -> tuple[str, str]:
        """The keys of both methods' values."""
        return self.judged.key(self.dataset, self.method), self.judged.key(
            self.dataset, self.against
        )

    @property
    def favour(self) -> int:
        """The sign of the contrast if the first method is better: 1 for F1, else -1."""
        return 1 if self.judged is F1 else -1

    def of(self, values: Values) -> Floats:
        """Return the contrast, a difference of the methods' log values or log odds."""
        first, second = (on_scale(key, values[key]) for key in self.keys)
        return first - second

    def predict(self, played: Values, facts: Values) -> Prediction:
        """Predict the contrast on a table from its facts, by a fit to many tables."""
        return predict(
            played, used_keys(self.dataset, self.experiment), self.of(played), facts
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


def arrange_tables(
    plays: pd.DataFrame, dataset: str, kind: str = "table", reading: str = DEFAULT
) -> pd.DataFrame:
    """Return the results of runs with one row per drawn table and one column per key.

    Only kept tables, which agree with the printed facts, have a row.

    Parameters
    ----------
    plays : DataFrame
        Rows of `companion.stored.results.played`.
    dataset, kind : str
        Data set and kind of the tables.
    reading : str
        Reading of the paper, which is one set of answers to the choices that the paper
        leaves open. Values that do not depend on the reading are taken from the default
        reading.
    """
    rows = plays[(plays["dataset"] == dataset) & (plays["kind"] == kind)]
    wide = rows.pivot(index="number", columns=["reading", "key"], values="value")  # noqa: PD010 - nothing twice
    wide = wide[wide[DEFAULT, "kept"] == 1]
    values, changed = (pd.DataFrame(wide[name]) for name in (DEFAULT, reading))
    return values.assign(**changed)


def used_keys(dataset: str, experiment: str) -> list[str]:
    """Return the keys of the used facts of an experiment that the paper prints.

    Used facts are a few printed numbers, from which other values are predicted.
    """
    method, values = USED[run_of(experiment)]
    keys = [played.key(dataset, method) for played in values]
    return [key for key in keys if key in judged_values()]


def predict(
    played: Values, keys: list[str], values: Floats, printed: Values
) -> Prediction:
    """Predict a value on the paper's table, from the printed used facts.

    Used facts are a few printed numbers, from which other values are predicted. The
    prediction is fitted to reconstructions, on which the value and the used facts are
    known.
    """
    used, facts = (
        np.stack([on_scale(key, source[key]) for key in keys], axis=-1)
        for source in (played, printed)
    )
    return predictive.predict(used, values, facts)


def choose_word(p: float, inside: bool, width: float, remoteness: float) -> str:
    """Return the verdict on a contrast by the rule of ``book/protocol.md``.

    A contrast is a comparison of two methods.

    Parameters
    ----------
    p : float
        p-value of the printed value, adjusted for multiple testing.
    inside : bool
        Whether the printed value is in the 95 % interval.
    width : float
        Width of the interval over the width of the prior's interval, which is computed
        without the used facts.
    remoteness : float
        Share of tables whose used facts have less leverage than the paper's facts.

    Examples
    --------
    >>> choose_word(0.5, True, 0.4, 0.7), choose_word(0.5, True, 0.8, 0.7)
    ('predicted', 'consistent')
    >>> choose_word(0.2, False, 0.4, 0.7), choose_word(0.01, False, 0.4, 0.7)
    ('in tension', 'contradicted')
    >>> choose_word(0.5, True, 0.4, 0.99)
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
    """Predict the fourteen contrasts, and return the verdicts on the printed values.

    Parameters
    ----------
    plays : DataFrame
        As for `arrange_tables`.

    Returns
    -------
    DataFrame
        One row per contrast: ``dataset``, ``experiment``, ``method``, ``against``;
        ``tables``, the number of reconstructions; ``printed``, the paper's value;
        ``centre``, ``low`` and ``high``, its prediction and interval, all as ratios of
        regrets or of odds; ``p`` and ``adjusted``, the p-value before and after Holm's
        adjustment; ``width``, the width of the interval over the width of the prior's
        interval, in logarithms; ``remoteness`` and ``regressed`` of the `Prediction`;
        ``word``, the verdict.
    """
    return _judge(_arrange(plays))


#: Values of the kept tables by key, per data set and kind.
Arranged = Mapping[tuple[str, str], Mapping[str, Floats]]


def _arrange(plays: pd.DataFrame) -> Arranged:
    """Return the values of methods and the used facts of all contrasts, by key."""
    arranged = {}
    for dataset in dict.fromkeys(contrast.dataset for contrast in CONTRASTS):
        contrasts = [contrast for contrast in CONTRASTS if contrast.dataset == dataset]
        keys = {key for contrast in contrasts for key in contrast.keys}
        keys |= {
            key
            for contrast in contrasts
            for key in used_keys(dataset, contrast.experiment)
        }
        for kind in ("table", "prior"):
            wide = arrange_tables(plays, dataset, kind)
            arranged[dataset, kind] = {
                key: wide[key].to_numpy() for key in sorted(keys)
            }

    return arranged


def _judge(arranged: Arranged) -> pd.DataFrame:
    printed = judged_values()
    rows = []
    for contrast in CONTRASTS:
        played = arranged[contrast.dataset, "table"]
        prior = contrast.of(arranged[contrast.dataset, "prior"])
        prediction = contrast.predict(played, printed)
        value = float(contrast.of(printed))
        low, high = prediction.interval(1 - LEVEL, WIDENING)

        # the prior's interval uses no facts
        no_facts = np.empty((len(prior), 0))
        prior_prediction = predictive.predict(no_facts, prior, np.empty(0))
        prior_low, prior_high = prior_prediction.interval(1 - LEVEL)
        rows.append(
            {
                **contrast._asdict(),
                "tables": len(prediction.scores),
                "remoteness": prediction.remoteness,
                "width": float((high - low) / (prior_high - prior_low)),
                "regressed": prediction.regressed,
                "p": prediction.p(value, WIDENING),
                "printed": np.exp(value),
                "centre": np.exp(prediction.centre),
                "low": np.exp(low),
                "high": np.exp(high),
            }
        )

    frame = pd.DataFrame(rows)
    frame["adjusted"] = predictive.holm(frame["p"].to_numpy())
    inside = (frame["low"] <= frame["printed"]) & (frame["printed"] <= frame["high"])
    criteria = zip(
        frame["adjusted"], inside, frame["width"], frame["remoteness"], strict=True
    )
    return frame.assign(word=[choose_word(*values) for values in criteria])


def resample_words(
    plays: pd.DataFrame, resamples: int = 100, seed: int = 0
) -> pd.DataFrame:
    """Return how often each verdict occurs if the drawn tables are resampled.

    A verdict with a small share could change with other drawn tables.

    Parameters
    ----------
    plays : DataFrame
        As for `arrange_tables`.
    resamples : int
        Number of resamples. In each, the tables are resampled with replacement, per
        data set: the tables that agree with the printed facts, and the draws from the
        prior.
    seed : int

    Returns
    -------
    DataFrame
        One row per contrast, in the order of `CONTRASTS`, and one column per verdict of
        `WORDS`, with its share of the resamples.
    """
    arranged = _arrange(plays)
    rng = np.random.default_rng(seed)
    words = []
    for _ in range(resamples):
        resampled = {}
        for source, values in arranged.items():
            n = len(next(iter(values.values())))
            indices = rng.integers(n, size=n)
            resampled[source] = {key: column[indices] for key, column in values.items()}
        words.append(_judge(resampled)["word"].to_numpy())
    shares = {word: np.mean(np.array(words) == word, axis=0) for word in WORDS}
    return pd.DataFrame(shares)
