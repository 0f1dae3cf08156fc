"""Linear inequalities of which only one group of several has to hold: a mixed-integer program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

#: Coefficients by variable; the inequality is that their sum is at most zero.
Inequality = Mapping[int, float]


class Disjunctions:
    """Variables in boxes, inequalities, and choices between groups of inequalities.

    Every inequality must be within 8 of holding wherever the variables are in their boxes.

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
        self._least: list[float] = []
        self._most: list[float] = []
        self._whole: list[int] = []
        self._rows: list[tuple[Inequality, float]] = []

    def variable(self, least: float, most: float, whole: bool = False) -> int:
        """Add a variable and return its number."""
        self._least.append(least)
        self._most.append(most)
        self._whole.append(int(whole))
        return len(self._least) - 1

    def all_of(self, inequalities: Iterable[Inequality]) -> None:
        """Add inequalities that have to hold."""
        self._rows += [(each, 0.0) for each in inequalities]

    def one_of(self, alternatives: Iterable[Iterable[Inequality]]) -> None:
        """Add groups of inequalities, all of at least one of which have to hold."""
        chosen = []
        for group in alternatives:
            switch = self.variable(0, 1, whole=True)
            chosen.append(switch)
            self._rows += [({**each, switch: 8.0}, 8.0) for each in group]
        self._rows.append((dict.fromkeys(chosen, -1.0), -1.0))

    def feasible(self) -> bool:
        """Whether all can hold, up to the solver's tolerance of 1e-6; True if it cannot decide."""
        from scipy import optimize, sparse

        row = [number for number, (each, _) in enumerate(self._rows) for _ in each]
        column = [variable for each, _ in self._rows for variable in each]
        value = [weight for each, _ in self._rows for weight in each.values()]
        shape = len(self._rows), len(self._least)
        matrix = sparse.coo_array((value, (row, column)), shape=shape).tocsr()
        limits = np.array([limit for _, limit in self._rows])
        found = optimize.milp(
            np.zeros(shape[1]),
            constraints=optimize.LinearConstraint(matrix, -np.inf, limits),
            integrality=np.array(self._whole),
            bounds=optimize.Bounds(np.array(self._least), np.array(self._most)),
        )
        infeasible = 2  # scipy's status
        return bool(found.status != infeasible)
