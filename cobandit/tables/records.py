"""The checked records of a table, as one array per column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobandit.tables.encoded_names import Keys


class Records(NamedTuple):
    """Checked evaluations of K configurations, with D objectives and N rows.

    Rows are sorted by configuration, then by instance.
    """

    #: Descriptive columns of the K configurations, indexed by their names.
    arms: pd.DataFrame
    #: Names of the I instances.
    instances: tuple[str, ...]
    #: For each objective, the two values of its column that have the scores 1 and 0.
    limits: dict[str, tuple[float, float]]
    #: Number of each row's configuration, shape (N,).
    arm: npt.NDArray[np.int64]
    #: Number of each row's instance, shape (N,).
    instance: npt.NDArray[np.int64]
    #: Cost of each row in the table's unit, shape (N,).
    costs: npt.NDArray[np.float64]
    #: Objectives in [0, 1], shape (N, D).
    rewards: npt.NDArray[np.float64]
    #: Values of the objectives' columns before their transforms, shape (N, D).
    measured: npt.NDArray[np.float64]
    #: Whether a row belongs to the profiling split, shape (N,).
    profiling: npt.NDArray[np.bool_]
    #: Further columns with one value per instance, each encoded with codes of shape
    #: (I,).
    groups: dict[str, Keys]

    def take(self, rows: npt.NDArray[np.int64]) -> Records:
        """Return the records of some rows, given by their numbers."""
        columns: Any = {
            name: column[rows]
            for name, column in self._asdict().items()
            if isinstance(column, np.ndarray)
        }
        return self._replace(**columns)

    def average(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Average ``values``, shape (N, D), over the rows of each arm: shape (K, D)."""
        n_rows = np.bincount(self.arm, minlength=len(self.arms))
        sums = [
            np.bincount(self.arm, weights=column, minlength=len(n_rows))
            for column in values.T
        ]
        return np.stack(sums, axis=1) / n_rows[:, None]
