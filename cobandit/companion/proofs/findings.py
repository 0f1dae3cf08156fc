"""What a check of a statement says, in a form that one table can hold."""

from __future__ import annotations

from typing import NamedTuple

#: What a row can say.  "says nothing": the bound holds, but only above what holds trivially.
HOLDS, SAYS_NOTHING, FAILS = "holds", "holds, says nothing at this size", "counterexample"

#: Rounding, relative or of numbers about one, that is no counterexample.
SLACK = 1e-9


class Finding(NamedTuple):
    """What one check looked at, in what size, how it came out, the number behind that, and how sharp it is.

    ``noticed`` holds the smallest changes of constants that the check would notice, in words.
    """

    tested: str
    size: str
    outcome: str
    found: str
    noticed: str


def verdict(holds: bool, informative: bool = True) -> str:
    """Put the outcome of a check into one of the three phrases."""
    return (HOLDS if informative else SAYS_NOTHING) if holds else FAILS
