"""Whether evaluations are missing where instances are harder, easier or dearer than where they are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit import _validation
from cobandit._text import ellipsize
from cobandit.dominance import TIE

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Letters of a name that a sentence shows, at most.
LONGEST = 60
#: A configuration is asked about that has, and that lacks, so many evaluations.
FEWEST = 3
#: Probability that a table whose evaluations are missing at random is said to be another.
FALSE_ALARMS = 0.01
#: Permutations, unless that takes more than `WORK` numbers; and how many it takes at least.
PERMUTATIONS, WORK, LEAST = 999, 10**9, 199


class Dependence(NamedTuple):
    """Evaluations that are missing where instances are of another kind."""

    configuration: str | None  # whose; None for those of all together
    measure: str  # the objective in which the instances differ, or "cost"
    missing: int
    total: int  # instances that it could have been evaluated on, or all evaluations that there could be
    where_missing: float  # mean of the other configurations on these instances, of costs the geometric one
    where_there: float  # and on the instances where it is evaluated
    doubt: float  # probability of so large a difference, or a larger one, by chance

    @property
    def found(self) -> str:
        """What was found, in words."""
        where = f"{self.missing:,} of {self.total:,} evaluations are missing, on instances where the others'"
        if self.configuration is not None:
            who = ellipsize(self.configuration, LONGEST)
            where = f"{who} is missing on {self.missing:,} of {self.total:,} instances, where the others'"
        if self.measure == "cost":
            times = self.where_missing / self.where_there
            return f"{where} costs are {times:.3g} times those where it was evaluated"
        return (
            f"{where} mean {self.measure} is {self.where_missing:.3f}; where it was evaluated it is "
            f"{self.where_there:.3f}"
        )


class _Case(NamedTuple):
    """A configuration whose evaluations are missing, and what the others say of each instance."""

    configuration: str
    measure: str
    gone: Bools  # (I,)
    levels: Floats  # (I,), mean of the others, of a cost its logarithm; NaN where there is no other


def find_dependence(table: EvaluationTable, seed: int = 0) -> list[Dependence]:
    r"""Find out whether evaluations are missing at random.

    Of each configuration that lacks some, the instances where it is missing are compared with those where it
    is there, by what the *other* configurations scored on them, each less its mean, and by the logarithm of
    what they cost.  The statistic is a difference of means over its standard error; its
    distribution is that of the same with the instances permuted, the same way for all configurations and
    measures, of which the largest counts (Westfall and Young).  So is, of each measure, their sum: many small
    differences to one side.

    Parameters
    ----------
    table : EvaluationTable
    seed : int
        Of the permutations.

    Returns
    -------
    list of Dependence
        The clearest first; empty where nothing is missing, or all may be missing at random.

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
    cases = [case for case in _find_cases(table) if np.nanmax(case.levels) - np.nanmin(case.levels) > TIE]
    if not cases:
        return []
    n_instances = len(cases[0].gone)
    permutations = int(np.clip(WORK / (len(cases) * n_instances), LEAST, PERMUTATIONS))
    rng = np.random.default_rng(_validation.seed(seed))
    orders = np.vstack([np.arange(n_instances), *(rng.permutation(n_instances) for _ in range(permutations))])
    statistics = np.array([_compare(case, orders) for case in cases])

    measures = np.array([case.measure for case in cases])
    together = {each: statistics[measures == each].sum(axis=0) for each in dict.fromkeys(measures)}
    sums = np.array([values / (values[1:].std() or 1.0) for values in together.values()])
    largest = np.abs(np.vstack([statistics, sums])).max(axis=0)[1:]

    def doubt(statistic: float) -> float:
        reached = (largest >= abs(statistic) * (1 - 1e-9)).sum()
        return float((1 + reached) / (1 + permutations))

    found = [_describe(case, doubt(values[0])) for case, values in zip(cases, statistics, strict=True)]
    found.sort(key=lambda each: each.doubt)
    if found[0].doubt > FALSE_ALARMS:
        found = [
            _pool([case for case in cases if case.measure == measure], doubt(values[0]))
            for measure, values in zip(together, sums, strict=True)
        ]
        found.sort(key=lambda each: each.doubt)
    return [each for each in found if each.doubt <= FALSE_ALARMS]


def _find_cases(table: EvaluationTable) -> Iterator[_Case]:
    """Go through the configurations that lack some evaluations, by objective and by cost."""
    rows = table.rows
    arm = rows["config"].cat.codes.to_numpy()
    _, instance = np.unique(rows["instance"].cat.codes, return_inverse=True)
    starts = np.searchsorted(arm, np.arange(table.n_arms + 1))
    n_instances = int(instance.max()) + 1
    counts = np.bincount(instance, minlength=n_instances)
    clusters = None if table.clusters is None else table.clusters[np.unique(rows["instance"].cat.codes)]
    for measure in (*table.objectives, "cost"):
        values = rows[measure].to_numpy()
        values = np.log(values) if measure == "cost" else values
        means = np.bincount(arm, values) / table.n_instances
        # what each row says of its instance, whoever was there
        deviations = values - means[arm]
        sums = np.bincount(instance, deviations, n_instances)
        for k, name in enumerate(table.configs):
            own, mine = slice(starts[k], starts[k + 1]), instance[starts[k] : starts[k + 1]]
            if not FEWEST <= len(mine) <= n_instances - FEWEST:
                continue
            others, left = sums.copy(), counts.copy()
            others[mine] -= deviations[own]
            left[mine] -= 1
            levels = np.full(n_instances, np.nan)
            np.divide(others, left, out=levels, where=left > 0)
            gone = np.ones(n_instances, dtype=bool)
            gone[mine] = False
            if clusters is not None:
                gone, levels = _join_clusters(gone, levels, clusters)
            known = np.isfinite(levels)
            if min((gone & known).sum(), (~gone & known).sum()) >= FEWEST:
                yield _Case(name, measure, gone, levels + np.delete(means, k).mean())


def _join_clusters(gone: Bools, levels: Floats, clusters: NDArray[np.int64]) -> tuple[Bools, Floats]:
    """Give each cluster one level, the mean of its instances; it is missing where most of these are."""
    _, place = np.unique(clusters, return_inverse=True)
    known = np.isfinite(levels)
    sums = np.bincount(place[known], levels[known], place.max() + 1)
    counts = np.bincount(place[known], minlength=place.max() + 1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.bincount(place, gone) > np.bincount(place) / 2, means


def _compare(case: _Case, orders: NDArray[np.int64]) -> Floats:
    """Compare the instances that are missing with the others, permuted in each of the orders, shape (R,)."""
    known = np.isfinite(case.levels)
    if not known.all():  # those of which nothing is known stay where they are
        orders = np.argsort(np.argsort(orders, axis=1)[:, known], axis=1)
    values = case.levels[known] - case.levels[known].mean()
    moments = np.column_stack([np.ones(len(values)), values, values**2])
    gone = case.gone[known][orders].astype(float) @ moments
    rest = moments.sum(axis=0) - gone
    spread = moments[:, 2].mean()

    def summarise(sums: Floats) -> tuple[Floats, Floats]:
        """Mean, and the square of its standard error with one instance more that varies like all."""
        count = np.maximum(sums[:, 0], 1)
        mean = sums[:, 1] / count
        variance = np.maximum(sums[:, 2] / count - mean**2, 0.0)
        return mean, (variance * count / np.maximum(count - 1, 1) + spread / count) / count

    (missing, its_error), (there, error) = summarise(gone), summarise(rest)
    result: Floats = (missing - there) / np.sqrt(its_error + error)
    return result


def _describe(case: _Case, doubt: float) -> Dependence:
    missing, there = (float(np.nanmean(case.levels[where])) for where in (case.gone, ~case.gone))
    if case.measure == "cost":
        missing, there = np.exp(missing), np.exp(there)
    gone, total = int(case.gone.sum()), len(case.gone)
    return Dependence(case.configuration, case.measure, gone, total, missing, there, doubt)


def _pool(cases: list[_Case], doubt: float) -> Dependence:
    """Describe all missing evaluations together."""
    each = [_describe(case, doubt) for case in cases]
    weights = [case.missing for case in each]
    missing = np.average([case.where_missing for case in each], weights=weights)
    there = np.average([case.where_there for case in each], weights=weights)
    total = sum(case.total for case in each)
    return Dependence(None, cases[0].measure, sum(weights), total, float(missing), float(there), doubt)
