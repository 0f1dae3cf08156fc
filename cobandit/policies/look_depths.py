"""The numbers of instances at which `ParetoRace` compares arms: its interim looks."""

import numpy as np
from numpy.typing import NDArray

#: Number of instances at the first comparison.
FIRST_LOOK = 20
#: Relative growth of the number of instances from one comparison to the next.
STEP = 0.05


def next_look(depth: int, n_instances: int) -> int:
    """Return the number of instances at the next comparison of a `ParetoRace`.

    Examples
    --------
    >>> next_look(0, 300), next_look(20, 300), next_look(100, 300), next_look(290, 300)
    (20, 21, 105, 300)
    """
    return min(n_instances, max(FIRST_LOOK, depth + max(1, int(STEP * depth))))


def list_looks(n_instances: int) -> NDArray[np.int64]:
    """Return the numbers of instances at all comparisons, up to ``n_instances``.

    Examples
    --------
    >>> list_looks(24)
    array([20, 21, 22, 23, 24])
    """
    looks = [next_look(0, n_instances)]
    while looks[-1] < n_instances:
        looks.append(next_look(looks[-1], n_instances))
    return np.array(looks)
