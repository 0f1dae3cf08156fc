"""Tests of the error of `ParetoRace`, on tables with many near ties."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.policies import ParetoRace
from cobandit.replay.running import run_kernel
from cobandit.stats import metrics
from companion.promises import near_ties
from companion.promises.near_ties import Draw
from companion.promises.outcomes import ERROR, Outcome
from companion.proofs.known_arms import share_instances

#: Allowed excess over the tolerance on tables with near ties just beyond the tolerance.
HALF_A_POINT = 0.005
#: Seed of the orders of the instances.
SEED = 0
#: Number of orders per table.
ORDERS = 15


class RaceCell(NamedTuple):
    """A generator of tables, and the tolerance of `ParetoRace` on them.

    ``by_hand`` is true if the generator places near ties just beyond the tolerance.
    """

    draw: Draw
    tolerance: float
    by_hand: bool = False


_CELLS = {
    "best ahead, K = 40, tolerance 0.02": RaceCell(
        near_ties.best_ahead(40, 300, 0.02), 0.02, True
    ),
    "best ahead, K = 100, tolerance 0.05": RaceCell(
        near_ties.best_ahead(100, 300, 0.05), 0.05, True
    ),
    "best half a point more ahead, K = 100, tolerance 0.05": RaceCell(
        near_ties.best_ahead(100, 300, 0.055), 0.05
    ),
    "best half a point more ahead, K = 40, N = 1,000": RaceCell(
        near_ties.best_ahead(40, 1000, 0.025), 0.02
    ),
    "best one instance ahead, K = 40, N = 100": RaceCell(
        near_ties.best_ahead(40, 100, 0.02), 0.02, True
    ),
    "ladder, K = 20, tolerance 0.02": RaceCell(
        near_ties.ladder(20, 500, 0.02), 0.02, True
    ),
    "ladder, K = 30, tolerance 0.02": RaceCell(
        near_ties.ladder(30, 500, 0.02), 0.02, True
    ),
    "ladder of 1/N, K = 20": RaceCell(near_ties.ladder(20, 300, 0.0), 0.0, True),
    "100 prompts, N = 300": RaceCell(near_ties.prompts(100, 300), 0.0),
    "60 prompts, D = 2, N = 1,000": RaceCell(near_ties.prompts(60, 1000, 2), 0.0),
    "three, the middle one covered": RaceCell(
        near_ties.covered_by_the_last, 0.02, True
    ),
    "100 prompts, N = 300, tolerance 0.05": RaceCell(near_ties.prompts(100, 300), 0.05),
    "100 prompts, accuracy 0.9, N = 300": RaceCell(
        near_ties.prompts(100, 300, accuracy=0.9), 0.0
    ),
    "100 prompts, accuracy 0.9, tolerance 0.02": RaceCell(
        near_ties.prompts(100, 300, accuracy=0.9), 0.02
    ),
    "60 prompts, D = 3, N = 300": RaceCell(near_ties.prompts(60, 300, 3), 0.0),
    "150 prompts, alike, N = 600": RaceCell(
        near_ties.prompts(150, 600, accuracy=0.7, alike=1.5), 0.0
    ),
    "10 prompts, N = 5,000": RaceCell(near_ties.prompts(10, 5000), 0.0),
    "one perfect, 50 nearly, tolerance 0.02": RaceCell(
        near_ties.best_ahead(50, 500, 0.02, accuracy=0.978), 0.02, True
    ),
    "one perfect, 100 nearly, half a point more, N = 1,000": RaceCell(
        near_ties.best_ahead(100, 1000, 0.025, accuracy=0.974), 0.02
    ),
    "one perfect, 40 nearly, half a point more, N = 300": RaceCell(
        near_ties.best_ahead(40, 300, 0.026, accuracy=0.97), 0.02
    ),
    "60 nearly perfect, N = 500": RaceCell(near_ties.nearly_perfect(60, 500), 0.0),
    "60 nearly perfect, tolerance 0.02": RaceCell(
        near_ties.nearly_perfect(60, 500), 0.02
    ),
    "60 nearly perfect, D = 2": RaceCell(near_ties.nearly_perfect(60, 500, 2), 0.0),
    "50 copies, N = 500": RaceCell(near_ties.copies(50, 500), 0.0),
    "50 copies, tolerance 0.01": RaceCell(near_ties.copies(50, 500), 0.01),
    "50 copies, D = 2": RaceCell(near_ties.copies(50, 500, 2), 0.0),
    "20 pairs of copies, D = 2, N = 500": RaceCell(
        near_ties.pairs_of_copies(40, 500, 0.02), 0.0
    ),
    "10 pairs of copies, D = 2, tolerance 0.01": RaceCell(
        near_ties.pairs_of_copies(20, 1000, 0.03), 0.01
    ),
    "30 followers of 99, half a point more, N = 800": RaceCell(
        near_ties.leader_and_losers(100, 30, 800, 0.02), 0.02
    ),
    "8 followers of 29, half a point more, N = 1,500": RaceCell(
        near_ties.leader_and_losers(30, 8, 1500, 0.0), 0.0
    ),
    "100 close means, N = 500": RaceCell(near_ties.close_means(100, 500), 0.0),
    "100 close means, tolerance 0.02": RaceCell(near_ties.close_means(100, 500), 0.02),
    "100 close means, D = 2, tolerance 0.02": RaceCell(
        near_ties.close_means(100, 500, 2), 0.02
    ),
    "best half a point more ahead, K = 400, N = 300": RaceCell(
        near_ties.best_ahead(400, 300, 0.025), 0.02
    ),
    "3 close means, N = 60": RaceCell(near_ties.close_means(3, 60), 0.0),
    "5 close means, D = 2, N = 40": RaceCell(
        near_ties.close_means(5, 40, 2, spread=0.05), 0.0
    ),
    "40 skewed, D = 2, N = 400": RaceCell(near_ties.skewed(40, 400), 0.0),
    "40 skewed, D = 2, tolerance 0.02": RaceCell(near_ties.skewed(40, 400), 0.02),
}
CELLS = tuple(_CELLS)


def find_excess(
    cell: str, runs: int, rng: np.random.Generator, certified: bool = False
) -> NDArray[np.float64]:
    """Return, for each run of `ParetoRace`, the excess of its error over the tolerance.

    `cobandit.stats.metrics.beyond_tolerance` defines the excess of a returned set.
    """
    draw, tolerance, _ = _CELLS[cell]
    beyond = []
    for first in range(0, runs, ORDERS):
        rewards, costs = draw(rng)
        race = ParetoRace(
            costs,
            rewards.shape[2],
            rewards.shape[1],
            tolerance=tolerance,
            error=ERROR,
            certified=certified,
            front="objectives",
        )
        orders = np.arange(first, min(runs, first + ORDERS))
        feedback = share_instances(rewards, costs[:, None])
        returned = run_kernel(race, feedback, SEED, orders, realised=False).returned
        beyond.append(
            metrics.beyond_tolerance(returned, rewards.mean(axis=1), tolerance)
        )

    return np.concatenate(beyond)


def play(cell: str, runs: int, rng: np.random.Generator) -> list[Outcome]:
    """Count the runs of `ParetoRace` that are wrong by more than each of two margins.

    The first margin is the tolerance, and the second is half a percentage point more.
    For the first margin, nothing is promised on tables with near ties just beyond the
    tolerance.
    """
    excess = find_excess(cell, runs, rng)
    promises = {
        "within the tolerance": (np.nan if _CELLS[cell].by_hand else ERROR, 0.0),
        "within the tolerance and half a point": (ERROR, HALF_A_POINT),
    }
    return [
        Outcome(promise, allowed, runs, int((excess > margin + 1e-9).sum()))
        for promise, (allowed, margin) in promises.items()
    ]
