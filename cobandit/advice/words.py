"""Writing numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from cobandit._text import amount, ellipsize, some_names
from cobandit.policies.cost_comparison import read_cost_tolerance
from cobandit.stats.missingness import Dependence
from cobandit.tables.card import FREE

#: Largest number of characters of a name in a sentence.
LONGEST_IN_SENTENCE = 60


def percent(share: float) -> str:
    """Write a share in percent, with one decimal near 0 and 100.

    Examples
    --------
    >>> percent(0.296), percent(0.995), percent(0.015), percent(0.9996)
    ('30 %', '99.5 %', '1.5 %', '>99.9 %')
    """
    digits = 1 if 0 < share < 0.02 or 0.98 < share < 1 else 0
    written = f"{100 * share:.{digits}f}".removesuffix(".0")
    return f"{'>99.9' if written == '100' and share < 1 else written} %"


def interval(low: float, high: float) -> str:
    """Write an interval of a mean score.

    Examples
    --------
    >>> interval(0.9484, 1.0), interval(0.0, 0.25)
    ('.948–1', '0–.250')
    """
    ends = (f"{end:.3f}" for end in (low, high))
    short = {"0.000": "0", "1.000": "1"}
    return "–".join(short.get(end, end.removeprefix("0")) for end in ends)


def three_digits(value: float) -> str:
    """Write a measured value to three digits.

    Examples
    --------
    >>> three_digits(0.41234), three_digits(1234.5)
    ('0.412', '1,230')
    """
    return amount(float(f"{value:.3g}"))


def describe_free(free: int, total: int, smallest: float, unit: str) -> str:
    """Describe how many evaluations are free, so that their cost is made up.

    Examples
    --------
    >>> print(describe_free(144, 480, 0.5, "USD"))
    144 of 480 evaluations cost 0.5 USD or less, as much as a free one counts
    """
    counted = (
        f"{free:,} of {total:,} evaluations cost {amount(smallest)} {unit} or less"
    )
    return f"{counted}, as much as a free one counts"


def describe_tolerance(
    tolerance: ArrayLike, cost_tolerance: float | str, unit: str
) -> str:
    """Write the tolerances of scores and costs as text; '' if all are zero.

    Examples
    --------
    >>> describe_tolerance(0.02, "10%", "USD")
    '0.02 and 10 % of the cost'
    >>> describe_tolerance([0.02, 0.1], 0.5, "USD")
    '0.02, 0.1 and 0.5 USD'
    >>> describe_tolerance(0.0, "0%", "USD")
    ''
    """
    share, fixed = read_cost_tolerance(cost_tolerance)
    tolerances = np.atleast_1d(np.asarray(tolerance, dtype=float))
    texts = []
    if tolerances.any():
        texts = [f"{value:g}" for value in dict.fromkeys(tolerances.tolist())]
    if share:
        texts.append(f"{100 * share:g} % of the cost")
    elif fixed:
        texts.append(f"{amount(fixed)} {unit}")
    return some_names(texts, len(texts))


def name_counts(counts: Mapping[str, Mapping[str, int]]) -> dict[str, list[str]]:
    """Return, by kind of flaw, each configuration with its count, largest first.

    Examples
    --------
    >>> counts = {"a": {"answers cut off": 2}, "b": {"answers cut off": 16}}
    >>> name_counts(counts)
    {'answers cut off': ['16 of b', '2 of a']}
    """
    by_kind: dict[str, list[tuple[int, str]]] = {}
    for config, numbers in counts.items():
        for kind, number in numbers.items():
            if kind != FREE:
                by_kind.setdefault(kind, []).append((number, config))
    return {
        kind: [
            f"{number:,} of {config}"
            for number, config in sorted(pairs, key=lambda pair: -pair[0])
        ]
        for kind, pairs in by_kind.items()
    }


def describe_dependence(case: Dependence) -> str:
    """Describe evaluations that are missing on harder, easier or costlier instances.

    Examples
    --------
    >>> case = Dependence("small", "accuracy", 20, 40, 0.2, 0.9, p_value=0.001)
    >>> print(describe_dependence(case))  # doctest: +NORMALIZE_WHITESPACE
    small is missing on 20 of 40 instances, where the others' mean accuracy is 0.200;
    where it was evaluated it is 0.900
    """
    if case.configuration is None:
        subject = (
            f"{case.missing:,} of {case.total:,} evaluations are missing, on instances"
            " where the others'"
        )
    else:
        name = ellipsize(case.configuration, LONGEST_IN_SENTENCE)
        subject = (
            f"{name} is missing on {case.missing:,} of {case.total:,} instances, where"
            " the others'"
        )

    if case.measure == "cost":
        times = case.where_missing / case.where_present
        return f"{subject} costs are {times:.3g} times those where it was evaluated"

    return (
        f"{subject} mean {case.measure} is {case.where_missing:.3f}; where it was"
        f" evaluated it is {case.where_present:.3f}"
    )
