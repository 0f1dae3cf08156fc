"""Tests of the error of certified runs of `ParetoRace`, promised on all tables."""

import numpy as np

from companion.promises import races
from companion.promises.outcomes import ERROR, Outcome

CELLS = races.CELLS
#: Divisor of the number of runs, because a certified run takes longer.
FEWER = 3


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Count the runs of `ParetoRace` that are wrong by more than the tolerance."""
    runs = runs // FEWER
    excess = races.find_excess(cell, runs, rng, certified=True)
    return [
        Outcome(
            "within the tolerance, certified", ERROR, runs, int((excess > 1e-9).sum())
        )
    ]
