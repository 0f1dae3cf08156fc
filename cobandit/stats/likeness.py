"""A test for clusters: columns in which instances with equal values score alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.dominance import TIE
from cobandit.stats.permutations import (
    FALSE_ALARMS,
    draw_orders,
    permutation_p_value,
)

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Smallest number of distinct values of a column. Columns with fewer values describe
#: kinds of instances, not clusters.
FEWEST_VALUES = 10
#: Smallest mean number of instances per value.
FEWEST_PER_VALUE = 1.5
#: Smallest intraclass correlation that is reported.
NOTICEABLE = 0.02


class Likeness(NamedTuple):
    """A column in which instances with equal values have correlated results."""

    column: str  #: name of the column
    n_clusters: int  #: number of its values
    measure: str  #: objective, or "cost", with the smallest effective size
    correlation: float  #: intraclass correlation, in [0, 1]
    #: number of independent instances that would give a mean of the same precision
    effective_size: float
    p_value: float  #: p-value of the hypothesis that instances are independent


def find_likeness(table: EvaluationTable, seed: int = 0) -> list[Likeness]:
    r"""Return columns in which instances with equal values have correlated results.

    For each configuration, the deviations of scores (or costs) from their mean are
    summed over the instances with the same value of a column. The squares of these
    sums are added over all values and configurations. This total, standardised, is
    compared with the largest total over all columns and measures, under
    permutations of the instances (Westfall and Young). The correlation is estimated by
    analysis of variance,

    .. math::

        \hat\rho = \frac{B - W}{B + (m - 1) W}, \qquad
        m = \frac1{G - 1} \Bigl(n - \frac{\sum_g n_g^2}n\Bigr),

    where B and W are the mean squares between and within the G values, summed over
    configurations, and :math:`n_g` is the number of instances with value g. A mean of n
    instances is then as precise as a mean of :math:`n / (1 + (\sum_g n_g^2 / n - 1)
    \hat\rho)` independent ones.

    Parameters
    ----------
    table : EvaluationTable
        Table. Columns that have one value per instance are tested
        (`EvaluationTable.groups`). If the table already has a cluster column, no column
        is tested.
    seed : int
        Seed of the permutations.

    Returns
    -------
    list of Likeness
        One entry per column, smallest effective size first.

    Examples
    --------
    Ten questions about each of 20 passages, most of them answered alike.

    >>> import cobandit as cb, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> by_passage = np.repeat(rng.random((2, 20)) < 0.5, 10, axis=1)
    >>> is_right = by_passage ^ (rng.random((2, 200)) < 0.1)
    >>> frame = pd.DataFrame({
    ...     "config": np.repeat(["a", "b"], 200),
    ...     "instance": [*range(200)] * 2,
    ...     "ok": is_right.ravel(),
    ...     "passage": [*np.repeat(np.arange(20), 10)] * 2,
    ... })
    >>> table = cb.EvaluationTable.from_frame(frame, objectives=["ok"])
    >>> likeness, = find_likeness(table)
    >>> likeness.column, likeness.correlation > 0.4, likeness.effective_size < 60
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

    # statistics of each column and measure; the first row is of the original order, the
    # others are of permuted instances
    work = len(columns) * len(measures) * table.n_arms * len(used)
    orders = draw_orders(len(used), work, seed)
    cells = [(column, measure) for column in columns for measure in measures]
    squares = np.empty((len(orders), len(cells)))
    for row, order in zip(squares, orders, strict=True):
        for k, (column, measure) in enumerate(cells):
            row[k] = _sum_squares(measures[measure][:, order], columns[column])
    spread = squares[1:].std(axis=0)
    deviations = squares - squares[1:].mean(axis=0)
    statistics = deviations / np.where(spread > 0, spread, 1.0)
    largest = statistics[1:].max(axis=1)

    present = np.zeros((table.n_arms, len(used)))
    present[arm, instance] = 1.0
    reported: dict[str, Likeness] = {}
    for (column, measure), statistic in zip(cells, statistics[0], strict=True):
        p_value = permutation_p_value(statistic, largest)
        correlation, effective_size = _estimate(
            measures[measure], present, columns[column]
        )
        if p_value > FALSE_ALARMS or correlation < NOTICEABLE:
            continue

        # report each column for the measure with the smallest effective size
        earlier = reported.get(column)
        if earlier is None or effective_size < earlier.effective_size:
            reported[column] = Likeness(
                column,
                n_clusters=int(columns[column].max()) + 1,
                measure=measure,
                correlation=correlation,
                effective_size=effective_size,
                p_value=p_value,
            )
    return sorted(reported.values(), key=lambda likeness: likeness.effective_size)


def _find_columns(table: EvaluationTable, used: Ints) -> dict[str, Ints]:
    """Return integer codes, shape (I,), of each column that may mark clusters."""
    columns = {}
    for name, codes in table.groups.items():
        _, numbers = np.unique(codes[used], return_inverse=True)
        n_values = numbers.max() + 1
        if FEWEST_VALUES <= n_values <= len(used) / FEWEST_PER_VALUE:
            columns[name] = numbers
    return columns


def _find_measures(
    table: EvaluationTable, arm: Ints, instance: Ints
) -> dict[str, Floats]:
    """Return deviations from each arm's mean, (K, I), by objective and for the cost.

    Costs are replaced by their logarithms. Quantities that do not vary are left out.
    """
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
    """Return sums over the instances of each value: (K, I) -> (K, G)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


def _sum_squares(deviations: Floats, codes: Ints) -> float:
    return float((_gather(deviations, codes) ** 2).sum())


def _estimate(deviations: Floats, present: Floats, codes: Ints) -> tuple[float, float]:
    """Return the intraclass correlation and the effective number of instances."""
    sums = _gather(deviations, codes)
    sizes = _gather(present, codes)
    counts = sizes.sum(axis=1)
    groups = (sizes > 0).sum(axis=1)

    # analysis of variance, summed over configurations
    between_squares = (sums**2 / np.maximum(sizes, 1)).sum(axis=1)
    within_squares = (deviations**2).sum(axis=1) - between_squares
    between = (between_squares / np.maximum(groups - 1, 1)).sum()
    within = (within_squares / np.maximum(counts - groups, 1)).sum()

    # `size` is the equivalent size m of clusters of unequal sizes
    squared_size = (sizes**2).sum(axis=1) / counts
    size = np.mean((counts - squared_size) / np.maximum(groups - 1, 1))
    total = max(between + (size - 1) * within, TIE)
    correlation = float(np.clip((between - within) / total, 0, 1))
    effective_size = counts.mean() / (1 + (squared_size.mean() - 1) * correlation)
    return correlation, float(effective_size)
