"""Whether scores of instances that have something in common are correlated, and which column says what."""

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

#: A column has so many values at least: fewer are kinds of instances, not draws of them.
FEWEST = 10
#: Probability that a table of independent instances is said to be another.
FALSE_ALARMS = 0.01
#: Permutations, unless that takes more than `WORK` numbers; and how many it takes at least.
PERMUTATIONS, WORK, LEAST = 999, 10**9, 199
#: Intraclass correlation from which on it is said.
NOTICEABLE = 0.02


class Likeness(NamedTuple):
    """Instances of one value of a column score more alike than others."""

    column: str
    n_clusters: int
    measure: str  # the objective, or the cost, in which they are most alike
    correlation: float  # of two instances of one value
    as_many: float  # independent instances that say as much about a mean
    doubt: float  # probability of so much likeness by chance


def find_likeness(table: EvaluationTable, seed: int = 0) -> list[Likeness]:
    r"""Find columns within which scores or costs are correlated.

    Of each configuration the scores less their mean are added up within the values of a column.  The sum of
    squares of these sums, over all configurations, is compared with those of permuted instances; of all
    columns and measures the largest standardised one counts.  The correlation is that of analysis of
    variance,

    .. math::

        \hat\rho = \frac{B - W}{B + (m - 1) W}, \qquad
        m = \frac1{G - 1} \Bigl(n - \frac{\sum_g n_g^2}n\Bigr),

    with B and W the mean squares between and within the G values, added up over the configurations.  For a
    mean, n instances then say as much as :math:`n / (1 + (\sum_g n_g^2 / n - 1) \hat\rho)` independent ones.

    Parameters
    ----------
    table : EvaluationTable
        Its columns that are constant within an instance are looked at (`EvaluationTable.groups`); none if it
        has a cluster.
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
    arm = rows["config"].cat.codes.to_numpy()
    columns = {name: np.unique(codes[used], return_inverse=True)[1] for name, codes in table.groups.items()}
    columns = {name: codes for name, codes in columns.items() if FEWEST <= codes.max() + 1 <= len(used) / 1.5}
    measures = {}
    for measure in (*table.objectives, "cost"):
        values = np.log(rows[measure]) if measure == "cost" else rows[measure]
        deviations = np.zeros((table.n_arms, len(used)))
        deviations[arm, instance] = values - (np.bincount(arm, values) / table.n_instances)[arm]
        if np.ptp(deviations) > TIE:
            measures[measure] = deviations
    if not columns or not measures:
        return []
    work = len(columns) * len(measures) * table.n_arms * len(used)
    permutations = int(np.clip(WORK / work, LEAST, PERMUTATIONS))
    rng = np.random.default_rng(_validation.seed(seed))
    orders = [np.arange(len(used)), *(rng.permutation(len(used)) for _ in range(permutations))]
    cells = [(name, measure) for name in columns for measure in measures]
    sums = np.array([[_square(measures[m][:, order], columns[c]) for c, m in cells] for order in orders])
    spread = sums[1:].std(axis=0)
    statistics = (sums - sums[1:].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    largest = statistics[1:].max(axis=1)

    present = np.zeros((table.n_arms, len(used)))
    present[arm, instance] = 1.0
    found: dict[str, Likeness] = {}
    for (column, measure), statistic in zip(cells, statistics[0], strict=True):
        doubt = (1 + (largest >= statistic * (1 - TIE)).sum()) / (1 + permutations)
        correlation, as_many = _estimate(measures[measure], present, columns[column])
        clear = doubt <= FALSE_ALARMS and correlation >= NOTICEABLE
        if clear and (column not in found or as_many < found[column].as_many):
            n_clusters = int(columns[column].max()) + 1
            found[column] = Likeness(column, n_clusters, measure, correlation, as_many, float(doubt))
    return sorted(found.values(), key=lambda each: each.as_many)


def _gather(values: Floats, codes: Ints) -> Floats:
    """Add up the instances of each value: shape (K, I) to (K, G)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1))


def _square(deviations: Floats, codes: Ints) -> float:
    return float((_gather(deviations, codes) ** 2).sum())


def _estimate(deviations: Floats, present: Floats, codes: Ints) -> tuple[float, float]:
    """Intraclass correlation, and as many independent instances as say the same about a mean."""
    sums, sizes = _gather(deviations, codes), _gather(present, codes)
    counts, groups = sizes.sum(axis=1), (sizes > 0).sum(axis=1)
    between_squares = (sums**2 / np.maximum(sizes, 1)).sum(axis=1)
    within_squares = (deviations**2).sum(axis=1) - between_squares
    between = (between_squares / np.maximum(groups - 1, 1)).sum()
    within = (within_squares / np.maximum(counts - groups, 1)).sum()
    squared_size = (sizes**2).sum(axis=1) / counts
    size = np.mean((counts - squared_size) / np.maximum(groups - 1, 1))
    correlation = float(np.clip((between - within) / max(between + (size - 1) * within, TIE), 0, 1))
    as_many = counts.mean() / (1 + (squared_size.mean() - 1) * correlation)
    return correlation, float(as_many)
