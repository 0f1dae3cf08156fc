"""Converting logged scores to numbers in [0, 1]: words, ranges, missing scores."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobandit._text import suggest
from cobandit.errors import raise_fault
from cobandit.tables.card import NO_SCORE, OUT_OF_RANGE
from cobandit.tables.importers.import_notes import Notes
from cobandit.tables.importers.import_options import ScoreOptions

#: Numbers for the words of common scorers, as in Inspect.
WORDS = {
    "c": 1.0,
    "p": 0.5,
    "i": 0.0,
    "n": 0.0,
    "yes": 1.0,
    "no": 0.0,
    "true": 1.0,
    "false": 0.0,
}

#: If more than this share of the scores is out of range, the range is assumed to be
#: wrong.
WRONG_RANGE = 0.1


class ScoreReader:
    """Reads logged scores as numbers, and collects words that stand for no number.

    Parameters
    ----------
    words : sequence of str
        Numbers for words, each as WORD=NUMBER. They take precedence over `WORDS`.

    Examples
    --------
    >>> reader = ScoreReader(["left=1"])
    >>> [reader.read(word, "side") for word in ("C", "left", "right")]
    [1.0, 1.0, nan]
    >>> reader.unknown_words()  # doctest: +ELLIPSIS
    ["scores of side are words without a number: 'right' (1): give each one with ..."]
    """

    def __init__(self, words: Sequence[str] = ()):
        self._words = dict(WORDS)
        for text in words:
            word, equals, number = text.rpartition("=")
            if not equals:
                raise_fault(
                    "--word",
                    f"{text!r} is not of the form WORD=NUMBER",
                    "write a word and its number, such as --word left=1",
                    "bad-word",
                )
            self._words[word.strip().lower()] = read_number(number, "--word")
        self._unknown: dict[str, Counter[str]] = {}

    def read(self, value: Any, metric: str) -> float:
        """Return a score as a number, or NaN if it is missing or an unknown word."""
        if isinstance(value, str):
            word = value.strip().lower()
            if word in self._words:
                return self._words[word]
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            counts = self._unknown.setdefault(metric, Counter())
            counts[value if isinstance(value, str) else type(value).__name__] += 1
            return nan

    def unknown_words(self) -> list[str]:
        """Describe the words without a number, one line per metric with a remedy."""
        lines = []
        for metric, counts in self._unknown.items():
            words = ", ".join(
                f"{word[:40]!r} ({number:,})" for word, number in counts.most_common(4)
            )
            option = " ".join(
                f"--word {word[:40]}=NUMBER" for word, _ in counts.most_common(4)
            )
            lines.append(
                f"scores of {metric} are words without a number: {words}: give each one"
                f" with {option}"
            )
        return lines


def read_score(value: Any, place: str, metric: str) -> float:
    """Return a logged score as a number; common words such as C (correct) are known.

    Raises
    ------
    TableError
        If the score is missing or an unknown word.

    Examples
    --------
    >>> read_score("C", "sample 1", "match"), read_score(True, "sample 1", "match")
    (1.0, 1.0)
    """
    number = ScoreReader().read(value, metric)
    if not np.isfinite(number):
        problem = f"the score of {metric} is {value!r}, not a finite number"
        remedy = "correct this score, or leave the sample out"
        raise_fault(place, problem, remedy, "mean-differs")
    return number


def read_by_objective(
    texts: Iterable[str], objectives: Sequence[str], option: str
) -> dict[str, list[str]]:
    """Return the values of an option by objective, given as NAME=VALUE or VALUE.

    A VALUE without a name is for every objective.

    Parameters
    ----------
    texts : iterable of str
        Values as the user wrote them.
    objectives : sequence of str
        Known names.
    option : str
        Option with the values, for messages.

    Returns
    -------
    dict
        The values of each objective, as text.

    Raises
    ------
    TableError
        If a name is not an objective.

    Examples
    --------
    >>> read_by_objective(["-1", "tone=999"], ["quality", "tone"], "--no-score")
    {'quality': ['-1'], 'tone': ['-1', '999']}
    """
    values: dict[str, list[str]] = {name: [] for name in objectives}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if equals and name not in values:
            raise_fault(
                option,
                f"{name!r} is not an objective",
                suggest(name, objectives),
                "unknown-objective",
            )
        for objective in [name] if equals else objectives:
            values[objective].append(value)
    return values


def read_number(text: str, option: str) -> float:
    """Return the number that a user wrote as an option.

    Raises
    ------
    TableError
        If the text is not a number.

    Examples
    --------
    >>> read_number("-1", "--no-score")
    -1.0
    """
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not np.isfinite(number):
        raise_fault(
            option,
            f"{text!r} is not a number",
            "give a number, or NAME=NUMBER",
            "not-a-number",
        )
    return number


def read_range(
    texts: Sequence[str], default: tuple[float, float], name: str
) -> tuple[float, float]:
    """Return the range of an objective's scores, from the last of some LOW:HIGH texts.

    Raises
    ------
    TableError
        If the text is not two numbers in ascending order.

    Examples
    --------
    >>> [read_range(texts, (0.0, 1.0), "quality") for texts in (["-33:10"], [])]
    [(-33.0, 10.0), (0.0, 1.0)]
    """
    if not texts:
        return default
    low_text, _, high_text = texts[-1].partition(":")
    low = read_number(low_text, "--range")
    high = read_number(high_text, "--range")
    if low >= high:
        problem = f"the range of {name} is {low:g} to {high:g}, which is not ascending"
        raise_fault(
            "--range", problem, "give the worst score first: NAME=LOW:HIGH", "bad-range"
        )
    return low, high


def rescale_scores(
    scores: npt.NDArray[np.float64],
    objectives: Sequence[str],
    configs: pd.Series,
    options: ScoreOptions,
    notes: Notes,
) -> npt.NDArray[np.float64]:
    """Return scores scaled to [0, 1], NaN for missing scores or scores out of range.

    Parameters
    ----------
    scores : ndarray, shape (n, D)
    objectives : sequence of str, length D
    configs : Series of str, length n
        Configuration of each evaluation.
    options : ScoreOptions
    notes : Notes
        Receives the number of scores out of range, per configuration.

    Returns
    -------
    ndarray, shape (n, D)

    Raises
    ------
    TableError
        If an option names an unknown objective, or so many scores are out of range that
        the range must be wrong.

    Examples
    --------
    >>> options = ScoreOptions(range=["quality=-33:10"], no_score=["999"])
    >>> scores = np.array([[-33.0], [10.0], [999.0]])
    >>> configs = pd.Series(["a", "a", "b"])
    >>> rescale_scores(scores, ["quality"], configs, options, Notes()).ravel()
    array([ 0.,  1., nan])
    """
    ranges = read_by_objective(options.range, objectives, "--range")
    no_scores = read_by_objective(options.no_score, objectives, "--no-score")
    rescaled = np.empty_like(scores)
    for d, name in enumerate(objectives):
        column = scores[:, d].copy()
        column[np.isinf(column)] = nan
        for text in no_scores[name]:
            column[column == read_number(text, "--no-score")] = nan

        low, high = read_range(ranges[name], (0.0, options.scale), name)
        outside = ~np.isnan(column) & ~((column >= low) & (column <= high))
        if outside.mean() > WRONG_RANGE:
            scores = column[~np.isnan(column)]
            problem = (
                f"{outside.sum():,} of {len(column):,} scores of {name} are outside"
                f" {low:g} to {high:g}"
            )
            remedy = (
                f"scores are from {scores.min():g} to {scores.max():g}: give their"
                f" range with --range {name}="
            )
            raise_fault(
                "the scores",
                problem,
                f"{remedy}LOW:HIGH, and values for missing scores with --no-score",
                "out-of-range",
            )
        if outside.any():
            examples = ", ".join(
                f"{value:g}" for value in np.unique(column[outside])[:3]
            )
            limits = f"{name} outside {low:g} to {high:g} ({examples})"
            notes.count(OUT_OF_RANGE, configs[outside], how=limits)
        column[outside] = nan
        rescaled[:, d] = (column - low) / (high - low)
    return rescaled


def settle_missing(
    scores: npt.NDArray[np.float64],
    configs: pd.Series,
    options: ScoreOptions,
    notes: Notes,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Leave out evaluations without a score, count them as 0, or raise.

    Parameters
    ----------
    scores : ndarray, shape (n, D)
        NaN for missing scores.
    configs : Series of str, length n
    options : ScoreOptions
    notes : Notes

    Returns
    -------
    scores : ndarray, shape (n, D)
    kept : ndarray of bool, shape (n,)

    Raises
    ------
    TableError
        If scores are missing and ``options.missing`` is ``"refuse"``.

    Examples
    --------
    >>> configs = pd.Series(["a", "b"])
    >>> scores = np.array([[0.5], [np.nan]])
    >>> notes = Notes()
    >>> options = ScoreOptions(missing="zero")
    >>> settle_missing(scores, configs, options, notes)[0].tolist()
    [[0.5], [0.0]]
    >>> notes.counted
    ['no score, counted as 0: 1 of 1 evaluations of b']
    """
    missing: npt.NDArray[np.bool_] = np.asarray(np.isnan(scores).any(axis=1))
    if not missing.any():
        return scores, ~missing

    treatments = {"leave-out": "left out", "zero": "counted as 0", "refuse": ""}
    before = len(notes.counted)
    notes.count(NO_SCORE, configs[missing], configs, treatments[options.missing])
    if options.missing == "refuse":
        remedy = (
            "leave them out with --missing leave-out, or count them as 0 with --missing"
            " zero"
        )
        raise_fault("the scores", "; ".join(notes.counted[before:]), remedy, "no-score")

    if options.missing == "zero":
        return np.nan_to_num(scores, nan=0.0), np.ones_like(missing)

    return scores, ~missing
