"""Columns within whose values the scores of instances are correlated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _validation
from cobandit.dominance import TIE

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Values of a column, at least: fewer are kinds of instances, not draws of them.
FEWEST = 10
#: Probability of a report on a table of independent instances.
FALSE_ALARMS = 0.01
#: Permutations, unless that takes more than `WORK` numbers; and how many it takes at
#: least.
PERMUTATIONS, WORK, LEAST = 999, 10**9, 199
#: Intraclass correlation from which on it is reported.
NOTICEABLE = 0.02


class Likeness(NamedTuple):
    """A column whose values have instances that score more alike than others."""

    column: str
    n_clusters: int
    measure: str  #: the objective, or the cost, in which they are most alike
    correlation: float  #: of two instances of one value
    as_many: float  #: independent instances that determine a mean as precisely
    doubt: float  #: p-value of the likeness


def find_likeness(table: EvaluationTable, seed: int = 0) -> list[Likeness]:
    r"""Find columns within which scores or costs are correlated.

    Of each configuration the scores less their mean are added up within the values of a
    column.  The sum of squares of these sums, over all configurations, is compared with
    those of permuted instances; of all columns and measures the largest standardised
    one counts.  The correlation is that of analysis of variance,

    .. math::

        \hat\rho = \frac{B - W}{B + (m - 1) W}, \qquad
        m = \frac1{G - 1} \Bigl(n - \frac{\sum_g n_g^2}n\Bigr),

    with B and W the mean squares between and within the G values, added up over the
    configurations.  For a mean, n instances then say as much as :math:`n / (1 + (\sum_g
    n_g^2 / n - 1) \hat\rho)` independent ones.

    Parameters
    ----------
    table : EvaluationTable
        Its columns that are constant within an instance are looked at
        (`EvaluationTable.groups`); none if it has a cluster.
    seed : int
        Of the permutations.

    Returns
    -------
    list of Likeness
        By column, that with the least independent instances first.

    Examples
    --------
    Ten questions about each of 20 passages, that are mostly answered alike.

    >>> import cobandit as cb, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> right = np.repeat(rng.random((2, 20)) < 0.5, 10, axis=1) ^ (rng.random((2, 200)) < 0.1)
    >>> frame = pd.DataFrame({
    ...     "config": np.repeat(["a", "b"], 200), "instance": [*range(200)] * 2, "ok": right.ravel(),
    ...     "passage": [*np.repeat(np.arange(20), 10)] * 2,
    ... })
    >>> found, = find_likeness(cb.EvaluationTable.from_frame(frame, objectives=["ok"]))
    >>> found.column, found.correlation > 0.4, found.as_many < 60
    ('passage', True, True)
    """
    if table.clusters is not None:
        return []
    rows = table.rows
    used, instance = np.unique(rows["instance"].cat.codes, return_inverse=True)
    arm = rows["config"].cat.codes.to_numpy().astype(np.int64)
    columns = _find_columns(table, used)
    measures = _find_measures(table, arm, instance)
    if not columns or not measures:
        return []

    # the statistic of each column and measure, first of the instances as they are, then
    # permuted
    work = len(columns) * len(measures) * table.n_arms * len(used)
    permutations = int(np.clip(WORK / work, LEAST, PERMUTATIONS))
    rng = np.random.default_rng(_validation.seed(seed))
    orders = [
        np.arange(len(used)),
        *(rng.permutation(len(used)) for _ in range(permutations)),
    ]
    cells = [(column, measure) for column in columns for measure in measures]
    sums = np.array(
        [
            [
                _square(measures[measure][:, order], columns[column])
                for column, measure in cells
            ]
            for order in orders
        ]
    )
    spread = sums[1:].std(axis=0)
    statistics = (sums - sums[1:].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    largest = statistics[1:].max(axis=1)

    present = np.zeros((table.n_arms, len(used)))
    present[arm, instance] = 1.0
    likeness: dict[str, Likeness] = {}
    for (column, measure), statistic in zip(cells, statistics[0], strict=True):
        doubt = (1 + (largest >= statistic * (1 - TIE)).sum()) / (1 + permutations)
        correlation, as_many = _estimate(measures[measure], present, columns[column])
        is_clear = doubt <= FALSE_ALARMS and correlation >= NOTICEABLE
        # of each column the measure in which its instances are most alike
        if is_clear and (column not in likeness or as_many < likeness[column].as_many):
            n_clusters = int(columns[column].max()) + 1
            likeness[column] = Likeness(
                column, n_clusters, measure, correlation, as_many, float(doubt)
            )
    return sorted(likeness.values(), key=lambda column: column.as_many)


def _find_columns(table: EvaluationTable, used: Ints) -> dict[str, Ints]:
    """Return the columns that have enough values, and several instances per value: codes of shape (I,)."""
    columns = {}
    for name, codes in table.groups.items():
        _, numbers = np.unique(codes[used], return_inverse=True)
        if FEWEST <= numbers.max() + 1 <= len(used) / 1.5:
            columns[name] = numbers
    return columns


def _find_measures(
    table: EvaluationTable, arm: Ints, instance: Ints
) -> dict[str, Floats]:
    """Return scores and logarithms of costs less the means of arms, shape (K, I), unless all are equal."""
    rows = table.rows
    measures = {}
    for name in (*table.objectives, "cost"):
        values = np.log(rows[name]) if name == "cost" else rows[name]
        means = np.bincount(arm, values) / table.n_instances
        deviations = np.zeros((table.n_arms, instance.max() + 1))
        deviations[arm, instance] = values - means[arm]
        if np.ptp(deviations) > TIE:
            measures[name] = deviations
    return measures


def _gather(values: Floats, codes: Ints) -> Floats:
    """Add up the instances of each value: shape (K, I) to (K, G)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


def _square(deviations: Floats, codes: Ints) -> float:
    return float((_gather(deviations, codes) ** 2).sum())


def _estimate(deviations: Floats, present: Floats, codes: Ints) -> tuple[float, float]:
    """Return the intraclass correlation, and the number of independent instances that are worth as much."""
    sums = _gather(deviations, codes)
    sizes = _gather(present, codes)
    counts = sizes.sum(axis=1)
    groups = (sizes > 0).sum(axis=1)

    # analysis of variance, added up over the configurations
    between_squares = (sums**2 / np.maximum(sizes, 1)).sum(axis=1)
    within_squares = (deviations**2).sum(axis=1) - between_squares
    between = (between_squares / np.maximum(groups - 1, 1)).sum()
    within = (within_squares / np.maximum(counts - groups, 1)).sum()

    # clusters of unequal sizes count like clusters of this one
    squared_size = (sizes**2).sum(axis=1) / counts
    size = np.mean((counts - squared_size) / np.maximum(groups - 1, 1))
    correlation = float(
        np.clip((between - within) / max(between + (size - 1) * within, TIE), 0, 1)
    )
    as_many = counts.mean() / (1 + (squared_size.mean() - 1) * correlation)
    return correlation, float(as_many)
