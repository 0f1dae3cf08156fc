"""Verdicts on predicted numbers, with how sharp they are: the rule of ``book/protocol.md``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit.companion.paper.derived import OPERATIONS
from cobandit.companion.paper.numbers import SAME_RUNS_AS, Published

REPLICATED, CONSISTENT, DIFFERS, CANNOT_TELL = "replicated", "consistent", "differs", "cannot tell"
UNKNOWN = "cannot be checked"
LEVEL = 0.05
SHARP, WIDE = 0.5, 1.0
"""Width of the 95 % interval over the printed value: up to the first a number can be replicated, beyond the
second it cannot be told."""

PHENOMENA = {
    "online": "online regret",
    "trajectory": "online regret",
    "moving_average": "trajectory",
    "identification": "identification of the 14",
    "full-set": "identification of all arms",
    "stochastic": "realised costs",
    "tuning": "tuning",
}


class Judged(NamedTuple):
    """A printed number against the draws of its predictive distribution."""

    median: float
    low: float
    high: float
    z: float
    p: float
    width: float
    verdict: str


NOTHING_DRAWN = Judged(*6 * (np.nan,), UNKNOWN)


def judge_prediction(draws: NDArray[np.float64], value: float, half_unit: float = 0.0) -> Judged:
    """Judge a printed number by draws of what would be printed.

    Parameters
    ----------
    draws : ndarray, shape (n,)
        Of the predictive distribution.
    value, half_unit : float
        What is printed, and what rounding may have changed.

    Returns
    -------
    Judged
        The central 95 % interval, z, a two-sided p (twice the smaller tail, the printed value counted with
        its rounding), the interval's width over the value, and the verdict.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(60, 5, 10_000)
    >>> [judge_prediction(draws, value).verdict for value in (58, 90)]
    ['replicated', 'differs']
    >>> judge_prediction(10 * draws - 550, 50).verdict
    'cannot tell'
    """
    draws = draws[np.isfinite(draws)]
    if not len(draws) or not np.isfinite(value):
        return NOTHING_DRAWN
    low, high = np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2])
    below, above = (draws <= value + half_unit).sum(), (draws >= value - half_unit).sum()
    p = min(1.0, 2 * float(min(below, above) + 1) / (len(draws) + 1))
    z = float((value - draws.mean()) / draws.std(ddof=1)) if len(draws) > 1 and np.ptp(draws) else np.nan
    width = float((high - low) / abs(value)) if value else np.inf
    verdict = (
        DIFFERS
        if p < LEVEL
        else REPLICATED
        if width <= SHARP
        else CONSISTENT
        if width <= WIDE
        else CANNOT_TELL
    )
    return Judged(float(np.median(draws)), float(low), float(high), z, p, width, verdict)


def played_key(number: Published, method: str | None = None) -> str:
    """Name the run that a number is about: what is printed about the same run has the same key.

    Under realised costs the pulls are those under declared costs, but for a few at the end, and errors of
    both are one number here.

    Parameters
    ----------
    number : Published
    method : str, optional
        Default: the number's own; of a derived number also the one that it is held against.

    Examples
    --------
    >>> from cobandit.companion.paper import published
    >>> keys = [played_key(n) for n in published() if n.printed in ("2179.81", "0.455", "0.028")]
    >>> for key in keys:
    ...     print(key)
    piqa-online-32-HVUCB-efficiency_regret
    piqa-trajectory-32-HVUCB-moving_average
    gsm8k-identification-5000-UniformIdentification-error-declared
    """
    run = SAME_RUNS_AS.get(number.experiment, number.experiment)
    place = "trajectory" if number.quantity == "moving_average" else run
    costs = "-declared" if number.costs else ""
    return f"{number.dataset}-{place}-{number.rho or 0:g}-{method or number.method}-{number.quantity}{costs}"


def drawn(draws: pd.DataFrame, number: Published) -> NDArray[np.float64]:
    """Take a printed number from each draw, or compute it there if the paper derives it from two others.

    Parameters
    ----------
    draws : DataFrame
        As in `judge_numbers`.
    number : Published

    Returns
    -------
    ndarray, shape (n,)
        NaN where the draws lack what it is made of.

    Examples
    --------
    >>> from cobandit.companion.paper import published
    >>> number = next(n for n in published() if n.printed == "64.7%")
    >>> key = "gsm8k-online-32-{}-efficiency_regret"
    >>> draws = {key.format("CoHVUCB"): [60.0, 30.0], key.format("UniformAllocation"): [120.0, 120.0]}
    >>> drawn(pd.DataFrame(draws), number).tolist()
    [0.5, 0.75]
    """
    columns = [played_key(number)] + ([played_key(number, number.against)] if number.operation else [])
    if not set(columns) <= set(draws):
        return np.full(len(draws), np.nan)
    values = [draws[column].to_numpy() for column in columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(OPERATIONS[number.operation](*values) if number.operation else values[0])


def judge_numbers(draws: pd.DataFrame, numbers: Sequence[Published]) -> dict[str, Judged]:
    """Judge printed numbers by joint draws of what would be printed.

    Parameters
    ----------
    draws : DataFrame
        A row per draw, columns by `played_key`; of a method that the reconstruction uses, the printed value.
    numbers : sequence of Published
        Predicted ones, and those that the paper derives from them, which are computed draw by draw.

    Returns
    -------
    dict
        By the numbers' keys.

    Examples
    --------
    >>> from cobandit.companion.paper import published
    >>> numbers = [n for n in published() if n.printed in ("59.88", "64.7%")]
    >>> rng = np.random.default_rng(0)
    >>> draws = {"gsm8k-online-32-CoHVUCB-efficiency_regret": rng.normal(60, 4, 1000)}
    >>> draws["gsm8k-online-32-UniformAllocation-efficiency_regret"] = np.full(1000, 169.5)
    >>> [judged.verdict for judged in judge_numbers(pd.DataFrame(draws), numbers).values()]
    ['replicated', 'replicated']
    """
    return {
        number.key: judge_prediction(drawn(draws, number), number.value, number.half_unit)
        for number in numbers
    }


def group_of(number: Published) -> tuple[str, str, str]:
    """Name the independent fact that a number is part of: data set, method, phenomenon.

    Examples
    --------
    >>> from cobandit.companion.paper import published
    >>> number = next(n for n in published() if n.key == "piqa-online-32-HVUCB-standard_regret")
    >>> group_of(number)
    ('piqa', 'HVUCB', 'online regret')
    """
    kind = "moving_average" if number.quantity == "moving_average" else number.experiment
    method = number.method or ("CoHVUCB" if kind == "tuning" else "")
    return str(number.dataset), method, PHENOMENA.get(kind, kind)


def judge_groups(rows: pd.DataFrame) -> pd.DataFrame:
    """Count what belongs together once.

    Parameters
    ----------
    rows : DataFrame
        ``group`` (any label), ``p``, ``width``, ``verdict``; one row per number.

    Returns
    -------
    DataFrame
        By group: ``numbers``, ``p`` (the smallest, times their number), ``width`` (the smallest), and
        ``verdict``: *differs* where p is below 0.05, else that of the sharpest number that does not differ.

    Examples
    --------
    >>> rows = pd.DataFrame({"group": ["a", "a", "b"], "p": [0.04, 0.5, 0.001], "width": [0.4, 0.8, 0.3]})
    >>> rows["verdict"] = ["differs", "consistent", "differs"]
    >>> judge_groups(rows)["verdict"].to_dict()
    {'a': 'consistent', 'b': 'differs'}
    """
    found: dict[Any, dict[str, Any]] = {}
    for group, part in rows[rows["verdict"] != UNKNOWN].groupby("group"):
        p = min(1.0, float(part["p"].min()) * len(part))
        passed = part[part["verdict"] != DIFFERS].sort_values("width")
        # numbers that each differ, but not all together: as little as the sharpest of them says
        verdict = DIFFERS if p < LEVEL or passed.empty else str(passed["verdict"].iloc[0])
        found[group] = {"numbers": len(part), "p": p, "width": part["width"].min(), "verdict": verdict}
    return pd.DataFrame.from_dict(found, orient="index", columns=["numbers", "p", "width", "verdict"])
