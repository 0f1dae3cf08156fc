"""What a cell came to: how many of its runs broke a promise."""

from typing import NamedTuple

#: Share of runs that may be wrong at the level of .95.
ERROR = 0.05


class Outcome(NamedTuple):
    """Runs of a cell in which a promise was tried, and those in which it was broken.

    ``allowed`` is the largest share of the runs that may be wrong; NaN where the count
    is shown and nothing is promised.
    """

    promise: str
    allowed: float
    runs: int
    wrong: int
