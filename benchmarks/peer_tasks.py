"""Tasks for other libraries (peers), each of which runs in its peer's environment.

    PYTHON benchmarks/peer_tasks.py mabwiser 108

`benchmarks/peers.py` runs this program, and reads the last line of its output: the
seconds, and a result to compare.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

PULLS = 1_000
#: Reward of each pull; the time of a policy does not depend on its value.
REWARD = 0.5


def draw_points(n_points: int, n_objectives: int) -> Any:
    """Draw random points, which are the same for each library.

    Examples
    --------
    >>> draw_points(3, 2).shape
    (3, 2)
    """
    return np.random.default_rng(n_points).random((n_points, n_objectives))


def pull_mabwiser(n_arms: int) -> tuple[float, int]:
    """Return seconds per pull of UCB1, and the number of pulls."""
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(n_arms))
    policy = MAB(arms=arms, learning_policy=LearningPolicy.UCB1(alpha=1.0))
    policy.fit(arms, [REWARD] * n_arms)
    start = process_time()
    for _ in range(PULLS):
        arm = policy.predict()
        policy.partial_fit([arm], [REWARD])
    return (process_time() - start) / PULLS, PULLS


def pull_smpybandits(n_arms: int) -> tuple[float, int]:
    """Return seconds per pull of UCB, and the number of pulls.

    Each arm has been pulled once before.
    """
    from SMPyBandits.Policies import UCB

    policy = UCB(n_arms)
    policy.startGame()
    for _ in range(n_arms):
        policy.getReward(policy.choice(), REWARD)
    start = process_time()
    for _ in range(PULLS):
        policy.getReward(policy.choice(), REWARD)
    return (process_time() - start) / PULLS, PULLS


def find_front_moocore(n_points: int, n_objectives: int) -> tuple[float, int]:
    """Return the seconds to find a Pareto front, and the number of its points."""
    import moocore

    points = draw_points(n_points, n_objectives)
    start = process_time()
    is_on_front = moocore.is_nondominated(points, maximise=True)
    return process_time() - start, int(is_on_front.sum())


TASKS: dict[str, Callable[..., tuple[float, int]]] = {
    "mabwiser": pull_mabwiser,
    "SMPyBandits": pull_smpybandits,
    "moocore": find_front_moocore,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*map(int, sys.argv[2:]))))
