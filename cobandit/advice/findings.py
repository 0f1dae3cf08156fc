"""What a check of a table finds, and how it names configurations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cobandit._text import ellipsize, some_names
from cobandit.advice.words import LONGEST_IN_SENTENCE


class Finding(NamedTuple):
    """One thing to notice before a table is trusted."""

    name: str  #: of the check
    number: float  #: behind the finding, such as a share or a count
    problem: str  #: with its place: a clause without a full stop
    remedy: str  #: also without one

    def __str__(self) -> str:
        """Write problem and remedy on one line."""
        return f"{self.problem}. {self.remedy}."


#: What a check yields: one finding per cause.
Findings = Iterator[Finding]


def name_few(configs: Iterable[object]) -> str:
    """Name some configurations, of long names beginning and end.

    Examples
    --------
    >>> name_few(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    return some_names([ellipsize(str(name), LONGEST_IN_SENTENCE) for name in configs])
