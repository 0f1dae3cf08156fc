"""A test whether evaluations are missing on harder or more expensive instances."""

from __future__ import annotations

from collections.abc import Iterator
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
Bools = NDArray[np.bool_]

#: A configuration is tested only if it has at least this number of evaluations, and
#: lacks at least this number.
FEWEST = 3


class Dependence(NamedTuple):
    """A significant result of `find_dependence`: evaluations not missing at random."""

    configuration: str | None  #: name; None for all configurations together
    measure: str  #: the objective in which the instances differ, or "cost"
    missing: int  #: number of missing evaluations (or clusters)
    total: int  #: number of present and missing evaluations (or clusters)
    #: mean score (or geometric mean cost) of the other configurations on instances
    #: where this configuration is missing
    where_missing: float
    where_present: float  #: the same on instances where this configuration is present
    p_value: float  #: p-value of the hypothesis that evaluations are missing at random


class _Case(NamedTuple):
    """A tested configuration and objective (or cost), with the means of the others.

    The units are the I clusters if the table has clusters, and the I instances
    otherwise.
    """

    configuration: str
    measure: str
    is_missing: Bools  #: shape (I,): whether the configuration is missing on each unit
    #: shape (I,): mean score (or mean logarithm of the cost) of the other
    #: configurations on each unit; NaN if no other configuration is evaluated on it
    levels: Floats


def find_dependence(table: EvaluationTable, seed: int = 0) -> list[Dependence]:
    r"""Test whether evaluations are missing at random.

    For each configuration with missing evaluations, the instances on which it is
    missing are compared with the instances on which it is present. The comparison uses
    the scores of the *other* configurations and the logarithms of their costs, each
    minus the mean of its configuration. The statistic is a difference of means over its
    standard error. The statistic is compared with the largest statistic over all
    configurations and measures, under permutations of the instances (Westfall and
    Young). If no configuration is significant, the sum of the statistics over
    configurations is tested for each measure. This sum is large if there are many small
    differences of one sign.

    Parameters
    ----------
    table : EvaluationTable
    seed : int
        Seed of the permutations.

    Returns
    -------
    list of Dependence
        Significant results, smallest p-value first. The list is empty if nothing is
        missing, or if all missing evaluations may be missing at random.

    Notes
    -----
    Time O(K I D R) for R permutations, unless the table is complete. If evaluations are
    missing at random, the probability of a significant result is about `FALSE_ALARMS`.

    Examples
    --------
    One configuration was evaluated on the easier half of the instances only.

    >>> import cobandit as cb
    >>> rng = np.random.default_rng(0)
    >>> hard = np.arange(40) >= 20
    >>> scores = (rng.random((3, 40)) < np.where(hard, 0.2, 0.9)).astype(float)
    >>> scores[0, hard] = np.nan
    >>> table = cb.EvaluationTable.from_arrays(scores, [1, 1, 1])
    >>> clearest, *_ = find_dependence(table)
    >>> clearest.configuration, clearest.measure, clearest.missing
    ('config0', 'objective0', 20)
    >>> clearest.where_missing < clearest.where_present
    True
    """
    if table.is_complete:
        return []
    cases = [
        case
        for case in _find_cases(table)
        if np.nanmax(case.levels) - np.nanmin(case.levels) > TIE
    ]
    if not cases:
        return []

    n_instances = len(cases[0].is_missing)
    orders = draw_orders(n_instances, len(cases) * n_instances, seed)
    statistics = np.array([_compare(case, orders) for case in cases])

    # sums over configurations per measure, in standard deviations
    measures = np.array([case.measure for case in cases])
    distinct = list(dict.fromkeys(measures))
    totals = [statistics[measures == measure].sum(axis=0) for measure in distinct]
    sums = np.array([total / (total[1:].std() or 1.0) for total in totals])
    largest = np.abs(np.vstack([statistics, sums])).max(axis=0)[1:]

    results = [
        _describe(case, permutation_p_value(abs(values[0]), largest))
        for case, values in zip(cases, statistics, strict=True)
    ]
    if min(result.p_value for result in results) > FALSE_ALARMS:
        # no configuration is significant, but many small differences of one sign may be
        results = []
        for measure, values in zip(distinct, sums, strict=True):
            p_value = permutation_p_value(abs(values[0]), largest)
            results.append(
                _pool([case for case in cases if case.measure == measure], p_value)
            )
    results.sort(key=lambda result: result.p_value)
    return [result for result in results if result.p_value <= FALSE_ALARMS]


def _find_cases(table: EvaluationTable) -> Iterator[_Case]:
    """Yield a case per configuration with missing rows, in each objective and cost."""
    rows = table.rows
    arm = rows["config"].cat.codes.to_numpy()
    _, instance = np.unique(rows["instance"].cat.codes, return_inverse=True)
    starts = np.searchsorted(arm, np.arange(table.n_arms + 1))
    n_instances = int(instance.max()) + 1
    counts = np.bincount(instance, minlength=n_instances)
    clusters = table.clusters
    if clusters is not None:
        clusters = clusters[np.unique(rows["instance"].cat.codes)]

    for measure in (*table.objectives, "cost"):
        values = rows[measure].to_numpy()
        values = np.log(values) if measure == "cost" else values
        means = np.bincount(arm, values) / table.n_instances
        # deviations from each configuration's mean, so that the level of an instance
        # does not depend on which configurations were evaluated on it
        deviations = values - means[arm]
        sums = np.bincount(instance, deviations, n_instances)
        for k, name in enumerate(table.configs):
            rows_of_arm = slice(starts[k], starts[k + 1])
            evaluated = instance[rows_of_arm]
            if not FEWEST <= len(evaluated) <= n_instances - FEWEST:
                continue

            # mean of the other configurations on each instance
            sums_of_others = sums.copy()
            sums_of_others[evaluated] -= deviations[rows_of_arm]
            n_others = counts.copy()
            n_others[evaluated] -= 1
            levels = np.full(n_instances, np.nan)
            np.divide(sums_of_others, n_others, out=levels, where=n_others > 0)

            is_missing = np.ones(n_instances, dtype=bool)
            is_missing[evaluated] = False
            if clusters is not None:
                is_missing, levels = _join_clusters(is_missing, levels, clusters)
            has_level = np.isfinite(levels)
            n_missing = (is_missing & has_level).sum()
            n_present = (~is_missing & has_level).sum()
            if min(n_missing, n_present) >= FEWEST:
                levels = levels + np.delete(means, k).mean()
                yield _Case(name, measure, is_missing, levels)


def _join_clusters(
    is_missing: Bools, levels: Floats, clusters: NDArray[np.int64]
) -> tuple[Bools, Floats]:
    """Return the mask and the means per cluster instead of per instance.

    A cluster counts as missing if more than half of its instances are missing. The mean
    of a cluster is the mean over its instances.
    """
    _, place = np.unique(clusters, return_inverse=True)
    n_clusters = place.max() + 1
    has_level = np.isfinite(levels)
    sums = np.bincount(place[has_level], levels[has_level], n_clusters)
    counts = np.bincount(place[has_level], minlength=n_clusters)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    mostly_missing = np.bincount(place, is_missing) > np.bincount(place) / 2
    return mostly_missing, means


def _compare(case: _Case, orders: NDArray[np.int64]) -> Floats:
    """Return the statistic of a case for R orders of the instances, shape (R,)."""
    has_level = np.isfinite(case.levels)
    if not has_level.all():  # instances without a level are not permuted
        orders = np.argsort(np.argsort(orders, axis=1)[:, has_level], axis=1)
    values = case.levels[has_level] - case.levels[has_level].mean()
    moments = np.column_stack([np.ones(len(values)), values, values**2])
    moments_missing = case.is_missing[has_level][orders].astype(float) @ moments
    moments_present = moments.sum(axis=0) - moments_missing
    spread = moments[:, 2].mean()

    def summarise(sums: Floats) -> tuple[Floats, Floats]:
        """Return the mean and its squared standard error, from sums of moments."""
        count = np.maximum(sums[:, 0], 1)
        mean = sums[:, 1] / count
        variance = np.maximum(sums[:, 2] / count - mean**2, 0.0)
        unbiased = variance * count / np.maximum(count - 1, 1)

        # one additional instance with the overall variance, so that a few equal scores
        # do not have an error of zero
        return mean, (unbiased + spread / count) / count

    mean_missing, square_missing = summarise(moments_missing)
    mean_present, square_present = summarise(moments_present)
    result: Floats = (mean_missing - mean_present) / np.sqrt(
        square_missing + square_present
    )
    return result


def _describe(case: _Case, p_value: float) -> Dependence:
    where_missing = float(np.nanmean(case.levels[case.is_missing]))
    where_present = float(np.nanmean(case.levels[~case.is_missing]))
    if case.measure == "cost":
        where_missing = np.exp(where_missing)
        where_present = np.exp(where_present)

    return Dependence(
        case.configuration,
        case.measure,
        missing=int(case.is_missing.sum()),
        total=len(case.is_missing),
        where_missing=where_missing,
        where_present=where_present,
        p_value=p_value,
    )


def _pool(cases: list[_Case], p_value: float) -> Dependence:
    """Return the result for all configurations together, for one measure."""
    parts = [_describe(case, p_value) for case in cases]
    weights = [part.missing for part in parts]
    where_missing = np.average([part.where_missing for part in parts], weights=weights)
    where_present = np.average([part.where_present for part in parts], weights=weights)
    return Dependence(
        configuration=None,
        measure=cases[0].measure,
        missing=sum(weights),
        total=sum(part.total for part in parts),
        where_missing=float(where_missing),
        where_present=float(where_present),
        p_value=p_value,
    )
