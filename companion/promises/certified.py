"""The certified race: off by more than its tolerance in at most so many runs, on any table."""

import numpy as np

from companion.promises import races
from companion.promises.outcomes import ERROR, Outcome

CELLS = races.CELLS
#: It takes longer than the measured race, and is played once where that is so many
#: times.
FEWER = 3


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Count the races that were off by more than the tolerance, wherever their near ties come from."""
    runs = runs // FEWER
    off = races.find_excess(cell, runs, rng, certified=True)
    return [
        Outcome("within the tolerance, certified", ERROR, runs, int((off > 1e-9).sum()))
    ]
