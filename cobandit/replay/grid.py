"""The grid of an experiment: methods x budgets x replications, cut into parts that workers play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobandit import _check
from cobandit.errors import CobanditError
from cobandit.problem import Problem
from cobandit.replay import kernels, parallel
from cobandit.replay.methods import Spec

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: Each cell (method, budget) is played in this many parts, between which progress shows and Ctrl-C works.
PARTS = 20


class Source(NamedTuple):
    """What the workers need of a table, small and picklable."""

    table: kernels.Table
    problem: Problem
    costs: NDArray[np.float64]
    cost_range: tuple[float, float]

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[Any, ...]]:
        return packed, (*self.table, self.problem, self.costs, self.cost_range)


class Cell(NamedTuple):
    """One part of one cell of the grid."""

    spec: Spec
    rho: float
    budget: float
    replications: NDArray[np.int64]
    seed: int


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view


def packed(
    rows: NDArray[np.float64],
    offsets: NDArray[np.int64],
    problem: Problem,
    costs: NDArray[np.float64],
    cost_range: tuple[float, float],
) -> Source:
    """Make a source whose arrays are of one type everywhere: read only, whether made here, sent, or mapped.

    Numba would compile anew, for half a minute, for the writable arrays that other processes receive.
    """
    table = kernels.Table(_read_only(rows), _read_only(offsets))
    return Source(table, problem, _read_only(costs), cost_range)


def source_of(table: EvaluationTable) -> Source:
    """Pack what workers need of a table."""
    feedback = table.feedback
    rows = np.column_stack([feedback.costs, feedback.costs / table.cost_range[1], feedback.rewards])
    offsets = np.asarray(feedback.offsets, dtype=np.int64)
    return packed(np.ascontiguousarray(rows), offsets, table.problem, table.costs, table.cost_range)


def cells_of(
    table: EvaluationTable,
    chosen: list[Spec],
    rho: Iterable[float] | float,
    replications: int,
    seed: int,
    most: int = PARTS,
) -> list[Cell]:
    """Check the grid and cut it into parts, each method and budget in at most ``most``."""
    if not hasattr(table, "feedback"):
        raise CobanditError(
            f"table: an EvaluationTable is needed, got {table!r}; load one with cobandit.load"
        )
    rhos = [_check.positive(r, "rho") for r in (rho if isinstance(rho, Iterable) else [rho])]
    if not rhos or len(set(rhos)) < len(rhos):
        raise CobanditError(f"rho: different positive numbers are needed, got {rhos}")
    replications, seed = _check.count(replications, "replications", 1), _check.seed(seed)
    parts = np.array_split(np.arange(replications), min(most, replications))
    per_round = float(table.costs.sum())  # K times the mean cost
    return [Cell(s, r, r * per_round, part, seed) for s in chosen for r in rhos for part in parts]


def frame_of(cell: Cell, **columns: Any) -> pd.DataFrame:
    """Tidy rows of a part, one a replication."""
    shared = {"method": cell.spec.name, "options": cell.spec.options, "rho": cell.rho, "budget": cell.budget}
    return pd.DataFrame({**shared, "replication": cell.replications, **columns})


def play_grid(
    part: Callable[..., tuple[pd.DataFrame, ...]],
    cells: list[Cell],
    table: EvaluationTable,
    *fixed: Any,
    **how: Any,
) -> tuple[pd.DataFrame, ...]:
    """Play every part with ``part(source, cell, *fixed)`` and join the frames that it returns."""
    shared = (source_of(table),)
    parts = parallel.run(part, [(cell, *fixed) for cell in cells], shared=shared, **how)
    if not parts:
        raise CobanditError("interrupted before the first part was finished")
    frames = tuple(pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    for frame in frames:
        frame.attrs = {
            "dataset": table.name,
            "kind": table.kind,
            "unit": table.card.cost.unit,
            "seed": cells[0].seed,
            "costs": "realised",
        }
    return frames
