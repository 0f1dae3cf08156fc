"""Result of a test of a promised error probability."""

from typing import NamedTuple

#: Allowed share of wrong runs at level .95.
ERROR = 0.05


class Outcome(NamedTuple):
    """Number of runs that tested a promise, and number of runs that broke it.

    ``allowed`` is the largest share of wrong runs that the promise allows, or NaN if
    the library promises nothing.
    """

    promise: str
    allowed: float
    runs: int
    wrong: int
