"""Findings of the checks of a table, and names of configurations in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cobandit._text import ellipsize, some_names
from cobandit.advice.words import LONGEST_IN_SENTENCE


class Finding(NamedTuple):
    """A problem of a table, with its remedy."""

    name: str  #: name of the check
    number: float  #: size of the problem, such as a share or a count
    problem: str  #: problem and its place, without a full stop
    remedy: str  #: remedy, without a full stop

    def __str__(self) -> str:
        """Write problem and remedy on one line."""
        return f"{self.problem}. {self.remedy}."


#: Result of a check: one finding per cause.
Findings = Iterator[Finding]


def name_few(configs: Iterable[object]) -> str:
    """Name the first configurations, long names shortened, and count the others.

    Examples
    --------
    >>> name_few(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    return some_names([ellipsize(str(name), LONGEST_IN_SENTENCE) for name in configs])
