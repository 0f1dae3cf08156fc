"""Feasibility of linear inequalities with alternatives, by mixed-integer programs."""

from collections.abc import Iterable, Mapping

import numpy as np
from scipy import optimize

#: Coefficient of each variable. The weighted sum of the variables is at most zero.
Inequality = Mapping[int, float]


class Disjunctions:
    """A system of linear inequalities, some of which are alternatives.

    Every variable lies between two bounds. Within these bounds, the left-hand side of
    every inequality must be at most 8.

    Examples
    --------
    >>> program = Disjunctions()
    >>> a, b = program.variable(0, 1), program.variable(0.5, 1)
    >>> program.all_of([{b: 1, a: -1}])  # b <= a
    >>> program.one_of([[{a: 1}], [{a: 1, b: -1}]])  # a <= 0 or a <= b
    >>> program.feasible()
    True
    >>> program.all_of([{a: 1}])
    >>> program.feasible()
    False
    """

    def __init__(self) -> None:
        self._variables: list[tuple[float, float, bool]] = []
        self._rows: list[tuple[Inequality, float]] = []

    def variable(self, low: float, high: float, is_integer: bool = False) -> int:
        """Add a variable between two bounds, and return its number."""
        self._variables.append((low, high, is_integer))
        return len(self._variables) - 1

    def all_of(self, inequalities: Iterable[Inequality]) -> None:
        """Add inequalities that all have to hold."""
        self._rows += [(row, 0.0) for row in inequalities]

    def one_of(self, alternatives: Iterable[Iterable[Inequality]]) -> None:
        """Add groups of inequalities; at least one group has to hold."""
        chosen = []
        for group in alternatives:
            switch = self.variable(0, 1, is_integer=True)
            chosen.append(switch)
            # a switch of 1 enforces the group; at 0, its inequalities always hold
            self._rows += [({**row, switch: 8.0}, 8.0) for row in group]
        self._rows.append((dict.fromkeys(chosen, -1.0), -1.0))

    def feasible(self) -> bool:
        """Return False if the solver proves, up to 1e-6, that no solution exists."""
        low, high, is_integer = np.array(self._variables).T
        matrix = np.zeros((len(self._rows), len(is_integer)))
        for row, (weights, _) in zip(matrix, self._rows, strict=True):
            row[list(weights)] = list(weights.values())
        limits = np.array([limit for _, limit in self._rows])
        all_bounds = optimize.Bounds(low, high)
        constraints = optimize.LinearConstraint(matrix, -np.inf, limits)
        result = optimize.milp(
            np.zeros(len(is_integer)),
            integrality=is_integer,
            bounds=all_bounds,
            constraints=constraints,
        )
        return bool(result.status != 2)  # SciPy's status of an infeasible problem
