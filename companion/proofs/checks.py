"""Registry of numerical checks of theorems, lemmas and other statements.

A check also measures the slack of each constant of a statement: the factor by which the
constant must change before the check fails.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cobandit.errors import CobanditError

Floats = NDArray[np.float64]

#: Outcomes of a check. A bound is vacuous if it is trivial in every tested case.
HOLDS = "holds"
SAYS_NOTHING = "holds, vacuous at this size"
FAILS = "counterexample"

#: Largest excess over a bound that still counts as rounding error. The compared
#: numbers are about one.
SLACK = 1e-9

#: Largest factor by which a constant is changed.
LARGEST = 1e6

#: Modules of the checks, in the order of the book.
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

#: Function that returns whether a check still passes if a constant is divided or
#: multiplied by a factor >= 1. If a check fails at one factor, it fails at all larger
#: factors.
Holds = Callable[[float], bool]


class CheckResult(NamedTuple):
    """Result of one check: its size and finding as text, and a function per constant.

    ``holds`` is the outcome for the parts of the statement that have no constant.
    ``informative`` is False if the bound is vacuous in every case.
    """

    size: str
    found: str
    #: Functions by name of the constant. The name ends with ÷ if the factor divides the
    #: constant, and with × if the factor multiplies the constant.
    constants: Mapping[str, Holds]
    holds: bool = True
    informative: bool = True


#: Function from a seed to the result of a check.
Test = Callable[[int], CheckResult]


class Check(NamedTuple):
    """A test of a statement, the page of the book about it, and the tested quantity.

    ``ours`` is true if the statement is not in the paper.
    """

    test: Test
    page: str
    tested: str
    ours: bool


_CHECKS: dict[str, Check] = {}


def check(statement: str, page: str, *, ours: bool = False) -> Callable[[Test], Test]:
    """Return a decorator that registers a function as the test of a statement.

    The function takes a seed and returns a `CheckResult`. Its docstring describes the
    tested quantity. ``ours`` marks statements that are not in the paper.
    """

    def register(test: Test) -> Test:
        _CHECKS[statement] = Check(test, page, (test.__doc__ or "").rstrip("."), ours)
        return test

    return register


def checks() -> Mapping[str, Check]:
    """Return all checks by statement, in the order of the book.

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
    """Run the checks of statements, and return outcomes and slacks of constants.

    Parameters
    ----------
    statements : iterable of str, optional
        Keys of `checks`. Default: all statements.
    seed : int
        Seed of the simulations.

    Returns
    -------
    DataFrame, one row per statement
        ``statement``; ``ours``; ``tested``, the tested quantity; ``size``; ``outcome``
        (``holds``; ``holds, vacuous at this size`` if every bound is trivial;
        ``counterexample``); ``found``, the finding that decides the outcome;
        ``slack``, a dict with the smallest factor per constant at which the check
        fails (÷: the factor divides the constant; ×: it multiplies the constant);
        ``page``, the notebook about the statement. All checks together take seconds.

    Raises
    ------
    CobanditError
        If a statement has no check.

    Examples
    --------
    >>> row = check_statements(["Section 3.2: complexity H"]).iloc[0]
    >>> row["outcome"], round(row["slack"]["H ÷"], 2)
    ('holds', 1.0)
    """
    available = checks()
    rows = []
    for statement in available if statements is None else statements:
        if statement not in available:
            raise CobanditError(
                f"{statement!r} has no check. Statements with a check:"
                f" {'; '.join(available)}",
                argument="statements",
                code="unknown-choice",
            )
        test, page, tested, ours = available[statement]
        result = test(seed)
        slack = {name: find_slack(test) for name, test in result.constants.items()}
        holds = result.holds and not np.isnan(list(slack.values())).any()
        outcome = (HOLDS if result.informative else SAYS_NOTHING) if holds else FAILS
        rows.append(
            (statement, ours, tested, result.size, outcome, result.found, slack, page)
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


def find_slack(holds: Holds) -> float:
    """Return the smallest factor of a constant at which a check fails, within 0.1 %.

    Parameters
    ----------
    holds : callable
        Function of the factor, which returns whether the check passes.

    Returns
    -------
    float
        The factor, rounded up; ``inf`` if the check passes at a factor of a million,
        ``nan`` if it fails with the unchanged constant.

    Examples
    --------
    >>> round(find_slack(lambda factor: factor <= 2.5), 2)
    2.5
    """
    if not holds(1.0):
        return nan
    if holds(LARGEST):
        return inf
    # bisection in the logarithm, because factors range over six powers of ten
    low = 1.0
    high = LARGEST
    while high > low * (1 + 1e-3):
        middle = sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def below(values: ArrayLike, bounds: ArrayLike | Callable[[float], ArrayLike]) -> Holds:
    """Return a function that tests values against bounds changed by a factor.

    The function takes the factor, and returns whether the values are at most the bounds
    divided by the factor. If ``bounds`` is itself a function, its values at the factor
    replace the divided bounds.

    Examples
    --------
    >>> round(find_slack(below([1.0, 2.0], [10.0, 5.0])), 2)
    2.5
    >>> round(find_slack(below(1.0, lambda factor: 10.0 - factor)), 2)
    9.0
    """
    bounds_at = (
        bounds if callable(bounds) else lambda factor: np.asarray(bounds) / factor
    )
    return lambda factor: bool(np.less_equal(values, bounds_at(factor)).all())


def format_slack(slack: Mapping[str, float]) -> str:
    """Format the slack of the constants of a statement as text.

    Examples
    --------
    >>> format_slack({"256 ÷": 253.7, "γ/8 ×": 2.003, "2K²D ÷": inf})
    '256 ÷ 254, γ/8 × 2, 2K²D ÷ anything'
    """

    def number(factor: float) -> str:
        if factor == inf:
            return "anything"
        return f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"

    factors = [f"{constant} {number(factor)}" for constant, factor in slack.items()]
    return ", ".join(factors) or "–"
