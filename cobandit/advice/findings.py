"""A finding about a table, and the table as those who look for findings read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.advice.resampling import Evaluations
from cobandit.faults import cut

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Letters of a name that a finding shows, at most.
LONGEST = 60


class Finding(NamedTuple):
    """One thing to notice: what it is called, the number behind it, what was found and what to do."""

    name: str
    number: float
    found: str
    todo: str

    def __str__(self) -> str:
        """What was found and what to do, on one line."""
        return f"{self.found}. {self.todo}."


def of_free(free: int, total: int, smallest: float, unit: str) -> str:
    """Say how many evaluations count as the smallest cost since they cost nothing.

    Examples
    --------
    >>> of_free(144, 480, 0.5, "USD")
    '144 of 480 evaluations cost 0.5 USD or less, which is what one that cost nothing counts as'
    """
    counted = f"{free:,} of {total:,} evaluations cost {smallest:.4g} {unit} or less"
    return f"{counted}, which is what one that cost nothing counts as"


class Rows(NamedTuple):
    """A table as flat arrays, arm after arm."""

    table: EvaluationTable
    evaluations: Evaluations

    def of(self, arm: int) -> slice:
        """Rows of an arm."""
        first, last = self.evaluations.offsets[arm : arm + 2]
        return slice(int(first), int(last))

    def objectives(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Name and scores of each objective."""
        return zip(self.table.objectives, self.evaluations.values[:-1], strict=True)

    def name(self, arm: int) -> str:
        """Name of a configuration; of a long one beginning and end."""
        return cut(self.table.configs[arm], LONGEST)

    def names(self, arms: NDArray[np.int64] | list[int], most: int = 3) -> str:
        """Name some configurations, and count the rest."""
        some = ", ".join(self.name(arm) for arm in arms[:most])
        return some + (f" and {len(arms) - most} more" if len(arms) > most else "")
