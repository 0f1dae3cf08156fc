"""Two examples with three arms, small enough to compute by hand.

Pages of the book and tests use them. Feedback has no noise: every evaluation of an arm
gives the same rewards at the same cost. In the online example, alpha is 1 / log(T_B),
so the confidence radius after n pulls is 1 / sqrt(n). The scales of 1/4 reduce the
radius to 1 / (4 sqrt(n)).
"""

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from cobandit import theory
from cobandit.tables import EvaluationTable


@dataclass(frozen=True)
class Example:
    """Arms with fixed rewards and costs, a budget, and the expected runs of methods.

    ``names`` has one letter per arm. ``rewards`` has the shape (K, D), and ``costs``
    the shape (K,). ``sequences`` has, for each method, its pulls in order, one letter
    per pull. ``recommended`` has, for each method, the letters of the returned arms.
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
            # the same rewards on four instances
            np.repeat(self.rewards[:, None, :], 4, axis=1),
            self.costs,
            configs=self.names,
            objectives=["first", "second"],
            name="by-hand",
            kind="synthetic",
        )


#: Example of online selection. In CoHV-UCB, the indices after one pull of each arm are
#: 4/3 for a, 9/4 for b and 3/2 for c. After each of the next four pulls, the index of
#: the pulled arm is 1.4171 (b), 0.8936 (c), 1.1673 (b) and 1.0434 (a). The remaining
#: budget is then 1/2, so a, which costs 1, is not affordable, and b is pulled last.
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

#: Example of identification. In CoPSI, lambda = 1/4 and L = 1 + 4/5 + 2/3 = 37/15. The
#: first target is floor(40 / (37/15 * 6)) = 2; then b is accepted with gap 3/8. The
#: second target is floor(40 / (37/15 * 2)) = 8; a and c tie at 1/8, and the dominated c
#: is rejected. PSI-SR has 21 rounds with the targets ceil(18/4) = 5 and
#: ceil(3 * 18/8) = 7. Uniform identification has floor(40 / 6) = 6 rounds.
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
