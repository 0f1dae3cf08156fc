"""The certified race: its promise holds on any table, including near ties."""

import numpy as np

from companion.promises import races
from companion.promises.outcomes import ERROR, Outcome

CELLS = races.CELLS
#: Runs of the measured race per run of the certified race, which takes longer.
FEWER = 3


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Count the races that were off by more than the tolerance."""
    runs = runs // FEWER
    excess = races.find_excess(cell, runs, rng, certified=True)
    return [
        Outcome(
            "within the tolerance, certified", ERROR, runs, int((excess > 1e-9).sum())
        )
    ]
