"""Outcomes of a cell: the number of runs that broke a promise."""

from typing import NamedTuple

#: Allowed share of wrong runs at the level of .95.
ERROR = 0.05


class Outcome(NamedTuple):
    """Runs that tested a promise, and the number of runs that broke it.

    ``allowed`` is the largest allowed share of wrong runs, or NaN if the count is shown
    without a promise.
    """

    promise: str
    allowed: float
    runs: int
    wrong: int
