"""Two examples of three arms, small enough to compute by hand.

Pages, classes, kernels and tests share them. Feedback has no noise: every evaluation of
an arm gives the same rewards at the same cost. In the online example alpha = 1 / log
T_B, so that the radius after n pulls is 1 / sqrt(n), and the scales reduce it to 1 / (4
sqrt(n)).
"""

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from cobandit import theory
from cobandit.tables import EvaluationTable


@dataclass(frozen=True)
class Example:
    """Arms with known evaluations, a budget, and the pulls of each method by hand.

    ``rewards`` is (K, D), ``costs`` (K,) in units; ``sequences`` holds the pulls of
    each method in order, one letter per pull, and ``recommended`` the letters of the
    returned set.
    """

    names: str
    rewards: np.ndarray
    costs: np.ndarray
    budget: float
    options: dict[str, Any]
    sequences: dict[str, str]
    recommended: dict[str, str] = field(default_factory=dict)

    def table(self) -> EvaluationTable:
        """Return an evaluation table that repeats each arm's rewards and cost.

        Examples
        --------
        >>> ONLINE.table().costs
        array([1. , 0.5, 0.5])
        """
        return EvaluationTable.from_arrays(
            # the same on four instances
            np.repeat(self.rewards[:, None, :], 4, axis=1),
            self.costs,
            configs=self.names,
            objectives=["first", "second"],
            name="by-hand",
            kind="synthetic",
        )


#: Index values after the first round: a 4/3, b 9/4, c 3/2; then b has 1.4171, c 0.8936,
#: b 1.1673, a 1.0434. Before the last pull the remaining budget is 1/2, so that a, at 1
#: per pull, is not affordable.
ONLINE = Example(
    names="abc",
    rewards=np.array([[0.75, 0.75], [0.5, 0.5], [0.25, 0.5]]),
    costs=np.array([1.0, 0.5, 0.5]),
    budget=5.0,
    options={
        "alpha": 1 / log(theory.horizon(5.0, 0.5)),
        "reward_scale": 0.25,
        "cost_scale": 0.25,
    },
    sequences={
        "CoHVUCB": "abcbcbab",
        "HVUCB": "abcaaa",
        "AccuracyCostUCB": "abcbbcbbb",
        "UniformAllocation": "abcabca",
    },
)

#: CoPSI: lambda = 1/4 and L = 1 + 4/5 + 2/3 = 37/15, so targets floor(40 / (37/15 * 6))
#: = 2, then, b accepted with gap 3/8, floor(40 / (37/15 * 2)) = 8; a and c tie at 1/8,
#: and the dominated c is rejected. PSI-SR: 21 rounds with targets ceil(18/4) = 5 and
#: ceil(3 * 18/8) = 7. Uniform: 40 / 6 gives 6 rounds.
IDENTIFICATION = Example(
    names="abc",
    rewards=np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.125]]),
    costs=np.array([1.0, 4.0, 1.0]),
    budget=40.0,
    options={},
    sequences={
        "CoPSI": "aabbcc" + "aaaaaacccccc",
        "PSISR": "aaaaabbbbbccccc" + "aacc",
        "UniformIdentification": "abc" * 6,
    },
    recommended={"CoPSI": "ab", "PSISR": "ab", "UniformIdentification": "ab"},
)
