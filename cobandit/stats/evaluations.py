"""Evaluations as dense arrays, for blocks of configurations that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: Largest number of values in a block of arms or of weights, which is 128 MB.
BLOCK_SIZE = 2**24


def cut_runs(numbers: Ints, width: int) -> Iterator[Ints]:
    """Yield consecutive parts of an array, each of ``width`` entries or fewer.

    A width below one counts as one.

    Examples
    --------
    >>> [run.tolist() for run in cut_runs(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    width = max(1, width)
    return (numbers[start : start + width] for start in range(0, len(numbers), width))


class Evaluations:
    """The evaluations of a table, in both splits, as dense arrays for blocks of arms.

    Parameters
    ----------
    table : EvaluationTable

    Attributes
    ----------
    n_instances : int
        Number of distinct instances, I.
    values : ndarray, shape (D + 1, N)
        The objectives in the order of the table, then the cost.
    instance : ndarray of int, shape (N,)
        Instance of each row.
    offsets : ndarray of int, shape (K + 1,)
        Arm i has the rows ``offsets[i]`` to ``offsets[i + 1]``.
    present : ndarray of int
        Instances that have at least one row.
    unit : ndarray of int, shape (I,)
        Independent unit of each instance: its cluster, or the instance itself.
    n_units : int
        Number of units, G.
    is_clustered : bool
        Whether a unit may have several instances.

    Examples
    --------
    >>> import cobandit as cb
    >>> evaluations = Evaluations(cb.load("synthetic-24"))
    >>> values, present = evaluations.block([3, 7])
    >>> values.shape, bool(present.all())
    ((3, 2, 400), True)
    """

    def __init__(self, table: EvaluationTable):
        rows = table.rows
        self.instance = rows["instance"].cat.codes.to_numpy()
        self.values = rows[[*table.objectives, "cost"]].to_numpy().T
        self.offsets = np.concatenate(([0], np.cumsum(table.n_instances)))
        self.n_instances = int(self.instance.max()) + 1
        self.present = np.unique(self.instance)
        clusters = table.clusters
        self.is_clustered = clusters is not None
        self.unit = (
            np.arange(self.n_instances)
            if clusters is None
            else clusters[: self.n_instances]
        )
        self.n_units = int(self.unit.max()) + 1

    def block(self, arms: Ints | list[int]) -> tuple[Floats, Bools]:
        """Return scores and costs of arms as dense arrays, zero where missing.

        Parameters
        ----------
        arms : sequence of int, length k

        Returns
        -------
        values : ndarray, shape (D + 1, k, I)
            The objectives in the order of the table, then the cost.
        present : ndarray of bool, shape (k, I)
            Mask of the evaluations that exist.
        """
        values = np.zeros((len(self.values), len(arms), self.n_instances))
        present = np.zeros((len(arms), self.n_instances), dtype=bool)
        for k, arm in enumerate(arms):
            rows = slice(self.offsets[arm], self.offsets[arm + 1])
            present[k, self.instance[rows]] = True
            values[:, k, self.instance[rows]] = self.values[:, rows]
        return values, present

    def gather(self, by_instance: Floats | Bools) -> Floats:
        """Return sums over each unit (cluster or instance): (..., I) -> (..., G)."""
        values = np.asarray(by_instance, dtype=float)
        if not self.is_clustered:
            return values
        sums = np.zeros((*values.shape[:-1], self.n_units))
        order = np.argsort(self.unit, kind="stable")
        units, starts = np.unique(self.unit[order], return_index=True)
        sums[..., units] = np.add.reduceat(values[..., order], starts, axis=-1)
        return sums

    def blocks(self, arms: Ints) -> Iterator[Ints]:
        """Yield parts of ``arms`` whose dense arrays have about `BLOCK_SIZE` values."""
        numbers_per_arm = len(self.values) * self.n_instances
        return cut_runs(arms, BLOCK_SIZE // numbers_per_arm)
