"""Check statements in small: how each came out, and by how much its constants could be cut."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit.errors import CobanditError

Floats = NDArray[np.float64]

#: What a row can say.  Vacuous: the bound holds, but only above what holds trivially.
HOLDS = "holds"
SAYS_NOTHING = "holds, vacuous at this size"
FAILS = "counterexample"

#: Rounding, relative or of numbers about one, that is no counterexample.
SLACK = 1e-9

#: Changes larger than this are not tried.
LARGEST = 1e6

#: Where checks are, in the order of the book.
TOPICS = (
    "optimism",
    "standard_regret",
    "least_regret",
    "misclassification",
    "allocation",
    "identification_error",
    "reachable",
    "overspending",
    "without_replacement",
    "plain_remarks",
)

#: From a factor >= 1 to whether the check still passes with a constant cut (or raised)
#: by that much; once it fails it fails for all larger factors.
Holds = Callable[[float], bool]


class CheckResult(NamedTuple):
    """What one check looked at and found; it holds if it does with every constant as it is."""

    size: str
    found: str
    #: by the constant, with a sign for how it is changed
    constants: Mapping[str, Holds]
    holds: bool = True  #: what depends on no constant
    informative: bool = True


#: From a seed to what was found.
Test = Callable[[int], CheckResult]


class Check(NamedTuple):
    """A test of a statement, the page that has more of it, and what is looked at."""

    test: Test
    page: str
    tested: str
    ours: bool


_CHECKS: dict[str, Check] = {}


def check(statement: str, page: str, *, ours: bool = False) -> Callable[[Test], Test]:
    """Register a test, from a seed to a `CheckResult`, of a statement of the paper or one of ours.

    The docstring of the test says what is looked at.
    """

    def register(test: Test) -> Test:
        _CHECKS[statement] = Check(test, page, (test.__doc__ or "").rstrip("."), ours)
        return test

    return register


def checks() -> Mapping[str, Check]:
    """Every check by its statement, those of the paper and ours.

    Examples
    --------
    >>> checks()["Theorem 2: error probability"].page
    'copsi'
    """
    modules = [import_module(f"companion.proofs.{topic}").__name__ for topic in TOPICS]
    ordered = sorted(
        _CHECKS.items(), key=lambda item: modules.index(item[1].test.__module__)
    )
    return dict(ordered)


def check_statements(
    statements: Iterable[str] | None = None, seed: int = 0
) -> pd.DataFrame:
    """Test statements in small, and say what came out and what change of a constant would have been noticed.

    Parameters
    ----------
    statements : iterable of str, optional
        Keys of `checks`; default all.
    seed : int
        Of what is simulated.

    Returns
    -------
    DataFrame, one row per statement
        ``statement``; ``ours``; ``tested``, what was looked at; ``size``; ``outcome``
        (``holds``, ``holds, vacuous at this size`` if every bound tried is above what
        holds trivially, or ``counterexample``); ``found``, the number behind it;
        ``slack``, a dict with, for each constant, the smallest factor by which it can
        be cut (÷) or raised (×) so that the check fails; ``page``, the notebook that
        has more.  Seconds for all of them.

    Raises
    ------
    CobanditError
        If a statement is not among `checks`.

    Examples
    --------
    >>> row = check_statements(["Section 3.2: complexity H"]).iloc[0]
    >>> row["outcome"], round(row["slack"]["H ÷"], 2)
    ('holds', 1.0)
    """
    known = checks()
    rows = []
    for statement in known if statements is None else statements:
        if statement not in known:
            raise CobanditError(
                f"{statement!r} is not tested; there are: {'; '.join(known)}"
            )
        test, page, tested, ours = known[statement]
        found = test(seed)
        slack = {name: noticed_at(holds) for name, holds in found.constants.items()}
        holds = found.holds and not np.isnan(list(slack.values())).any()
        outcome = (HOLDS if found.informative else SAYS_NOTHING) if holds else FAILS
        rows.append(
            (statement, ours, tested, found.size, outcome, found.found, slack, page)
        )

    columns = [
        "statement",
        "ours",
        "tested",
        "size",
        "outcome",
        "found",
        "slack",
        "page",
    ]
    return pd.DataFrame(rows, columns=columns)


def noticed_at(holds: Holds) -> float:
    """Smallest factor by which a constant has to be changed for a check to fail, to a relative 1e-3.

    Parameters
    ----------
    holds : callable

    Returns
    -------
    float
        From above; ``inf`` if it passes at ``LARGEST``, ``nan`` if it fails with the
        constant as it is.

    Examples
    --------
    >>> round(noticed_at(lambda by: by <= 2.5), 2)
    2.5
    """
    if not holds(1.0):
        return nan
    if holds(LARGEST):
        return inf
    low = 1.0
    high = LARGEST
    while high > low * (1 + 1e-3):
        middle = sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def below(seen: ArrayLike, bounds: ArrayLike | Callable[[float], ArrayLike]) -> Holds:
    """Whether what was seen is below bounds that are cut, or below what bounds are by the factor.

    Examples
    --------
    >>> round(noticed_at(below([1.0, 2.0], [10.0, 5.0])), 2)
    2.5
    >>> round(noticed_at(below(1.0, lambda by: 10.0 - by)), 2)
    9.0
    """
    bounds_at = bounds if callable(bounds) else lambda by: np.asarray(bounds) / by
    return lambda by: bool(np.less_equal(seen, bounds_at(by)).all())


def format_slack(slack: Mapping[str, float]) -> str:
    """Put constants and their factors into words.

    Examples
    --------
    >>> format_slack({"256 ÷": 253.7, "γ/8 ×": 2.003, "2K²D ÷": inf})
    '256 ÷ 254, γ/8 × 2, 2K²D ÷ anything'
    """

    def number(factor: float) -> str:
        return (
            "anything"
            if factor == inf
            else f"{factor:,.0f}"
            if factor >= 100
            else f"{factor:.3g}"
        )

    return (
        ", ".join(f"{constant} {number(factor)}" for constant, factor in slack.items())
        or "–"
    )
