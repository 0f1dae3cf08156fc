"""Evaluations that are missing where instances are harder, easier or dearer than elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _validation
from cobandit.dominance import TIE

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Evaluations that a configuration has, and that it lacks, at least, to be tested.
FEWEST = 3
#: Probability of a report on a table whose evaluations are missing at random.
FALSE_ALARMS = 0.01
#: Permutations, unless that takes more than `WORK` numbers; and how many it takes at
#: least.
PERMUTATIONS, WORK, LEAST = 999, 10**9, 199


class Dependence(NamedTuple):
    """Evaluations that are missing where instances are of another kind."""

    configuration: str | None  #: None for all configurations together
    measure: str  #: the objective in which the instances differ, or "cost"
    missing: int
    total: int  #: instances of the table, or evaluations of all configurations together
    #: mean of the others where the evaluations are missing; geometric for costs
    where_missing: float
    where_there: float  #: mean of the others where it is evaluated
    doubt: float  #: p-value of the difference


class _Case(NamedTuple):
    """A configuration whose evaluations are missing, and how the others scored on each instance."""

    configuration: str
    measure: str
    is_missing: Bools  #: shape (I,)
    #: shape (I,), mean of the others, of logarithms of costs; NaN where there is no
    #: other
    levels: Floats


def find_dependence(table: EvaluationTable, seed: int = 0) -> list[Dependence]:
    r"""Test whether evaluations are missing at random.

    Of each configuration that lacks some, the instances where it is missing are
    compared with those where it is there, by what the *other* configurations scored on
    them, each less its mean, and by the logarithm of what they cost.  The statistic is
    a difference of means over its standard error; its distribution is that of the same
    with the instances permuted, the same way for all configurations and measures, of
    which the largest counts (Westfall and Young).  So is, of each measure, their sum:
    many small differences to one side.

    Parameters
    ----------
    table : EvaluationTable
    seed : int
        Of the permutations.

    Returns
    -------
    list of Dependence
        The clearest first; empty where nothing is missing, or all may be missing at
        random.

    Notes
    -----
    Time O(K I D R) for R permutations, and nothing for a complete table.  A table whose evaluations are
    missing at random is reported with a probability of about `FALSE_ALARMS`.

    Examples
    --------
    One configuration was asked the easier half.

    >>> import cobandit as cb
    >>> rng = np.random.default_rng(0)
    >>> hard = np.arange(40) >= 20
    >>> scores = (rng.random((3, 40)) < np.where(hard, 0.2, 0.9)).astype(float)
    >>> scores[0, hard] = np.nan
    >>> found, *_ = find_dependence(cb.EvaluationTable.from_arrays(scores, [1, 1, 1]))
    >>> found.configuration, found.measure, found.missing, found.where_missing < found.where_there
    ('config0', 'objective0', 20, True)
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
    permutations = int(np.clip(WORK / (len(cases) * n_instances), LEAST, PERMUTATIONS))
    rng = np.random.default_rng(_validation.seed(seed))
    orders = np.vstack(
        [
            np.arange(n_instances),
            *(rng.permutation(n_instances) for _ in range(permutations)),
        ]
    )
    statistics = np.array([_compare(case, orders) for case in cases])

    measures = np.array([case.measure for case in cases])
    together = {
        each: statistics[measures == each].sum(axis=0)
        for each in dict.fromkeys(measures)
    }
    sums = np.array(
        [values / (values[1:].std() or 1.0) for values in together.values()]
    )
    largest = np.abs(np.vstack([statistics, sums])).max(axis=0)[1:]

    def doubt(statistic: float) -> float:
        reached = (largest >= abs(statistic) * (1 - 1e-9)).sum()
        return float((1 + reached) / (1 + permutations))

    results = [
        _describe(case, doubt(values[0]))
        for case, values in zip(cases, statistics, strict=True)
    ]
    if min(result.doubt for result in results) > FALSE_ALARMS:
        # no configuration stands out, but many small differences to one side may
        results = [
            _pool([case for case in cases if case.measure == measure], doubt(values[0]))
            for measure, values in zip(together, sums, strict=True)
        ]
    results.sort(key=lambda result: result.doubt)
    return [result for result in results if result.doubt <= FALSE_ALARMS]


def _find_cases(table: EvaluationTable) -> Iterator[_Case]:
    """Go through the configurations that lack some evaluations, by objective and by cost."""
    rows = table.rows
    arm = rows["config"].cat.codes.to_numpy()
    _, instance = np.unique(rows["instance"].cat.codes, return_inverse=True)
    starts = np.searchsorted(arm, np.arange(table.n_arms + 1))
    n_instances = int(instance.max()) + 1
    counts = np.bincount(instance, minlength=n_instances)
    clusters = (
        None
        if table.clusters is None
        else table.clusters[np.unique(rows["instance"].cat.codes)]
    )
    for measure in (*table.objectives, "cost"):
        values = rows[measure].to_numpy()
        values = np.log(values) if measure == "cost" else values
        means = np.bincount(arm, values) / table.n_instances
        # deviations from each configuration's mean, so that who was there does not
        # matter
        deviations = values - means[arm]
        sums = np.bincount(instance, deviations, n_instances)
        for k, name in enumerate(table.configs):
            rows_of_arm = slice(starts[k], starts[k + 1])
            evaluated = instance[rows_of_arm]
            if not FEWEST <= len(evaluated) <= n_instances - FEWEST:
                continue

            # the others on each instance
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
            if (
                min((is_missing & has_level).sum(), (~is_missing & has_level).sum())
                >= FEWEST
            ):
                yield _Case(
                    name, measure, is_missing, levels + np.delete(means, k).mean()
                )


def _join_clusters(
    is_missing: Bools, levels: Floats, clusters: NDArray[np.int64]
) -> tuple[Bools, Floats]:
    """Return missingness and level of each cluster: that of most of its instances, and their mean."""
    _, place = np.unique(clusters, return_inverse=True)
    n_clusters = place.max() + 1
    has_level = np.isfinite(levels)
    sums = np.bincount(place[has_level], levels[has_level], n_clusters)
    counts = np.bincount(place[has_level], minlength=n_clusters)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    mostly_missing = np.bincount(place, is_missing) > np.bincount(place) / 2
    return mostly_missing, means


def _compare(case: _Case, orders: NDArray[np.int64]) -> Floats:
    """Return the statistic of missing instances against the others for each permutation, shape (R,)."""
    has_level = np.isfinite(case.levels)
    if not has_level.all():  # instances without a level are not permuted
        orders = np.argsort(np.argsort(orders, axis=1)[:, has_level], axis=1)
    values = case.levels[has_level] - case.levels[has_level].mean()
    moments = np.column_stack([np.ones(len(values)), values, values**2])
    moments_missing = case.is_missing[has_level][orders].astype(float) @ moments
    moments_there = moments.sum(axis=0) - moments_missing
    spread = moments[:, 2].mean()

    def summarise(sums: Floats) -> tuple[Floats, Floats]:
        """Return mean and squared standard error, with one additional instance that varies like all."""
        count = np.maximum(sums[:, 0], 1)
        mean = sums[:, 1] / count
        variance = np.maximum(sums[:, 2] / count - mean**2, 0.0)
        return (
            mean,
            (variance * count / np.maximum(count - 1, 1) + spread / count) / count,
        )

    mean_missing, square_missing = summarise(moments_missing)
    mean_there, square_there = summarise(moments_there)
    result: Floats = (mean_missing - mean_there) / np.sqrt(
        square_missing + square_there
    )
    return result


def _describe(case: _Case, doubt: float) -> Dependence:
    where_missing = float(np.nanmean(case.levels[case.is_missing]))
    where_there = float(np.nanmean(case.levels[~case.is_missing]))
    if case.measure == "cost":
        where_missing = np.exp(where_missing)
        where_there = np.exp(where_there)

    return Dependence(
        case.configuration,
        case.measure,
        missing=int(case.is_missing.sum()),
        total=len(case.is_missing),
        where_missing=where_missing,
        where_there=where_there,
        doubt=doubt,
    )


def _pool(cases: list[_Case], doubt: float) -> Dependence:
    """Describe all missing evaluations together."""
    parts = [_describe(case, doubt) for case in cases]
    weights = [part.missing for part in parts]
    return Dependence(
        configuration=None,
        measure=cases[0].measure,
        missing=sum(weights),
        total=sum(part.total for part in parts),
        where_missing=float(
            np.average([part.where_missing for part in parts], weights=weights)
        ),
        where_there=float(
            np.average([part.where_there for part in parts], weights=weights)
        ),
        doubt=doubt,
    )
