"""What the two splits of a table say: whether they agree on the answer, and whether profiling was unlucky.

Replays are judged by the evaluation split, `cobandit.recommend` by all instances, and methods are told the
mean costs of the profiling split.  Where these disagree a reader has to be told, and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobandit import _check
from cobandit.advice import paired
from cobandit.advice.paired import Evaluations
from cobandit.advice.words import percent, some_names
from cobandit.problem import hypervolume

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable

#: How often a split that was drawn at random is called unlucky.
FALSE_ALARMS = 0.01


@dataclass(frozen=True)
class SplitComparison:
    """What `compare_splits` found.

    Attributes
    ----------
    n_instances, n_evaluation : int
        Instances of the table, and those of its evaluation split.
    best, judged_best : str
        Most efficient configuration over all instances, and by the truth of the replays.
    front, judged_front : tuple of str
        Pareto set over all instances, and by the truth of the replays.
    told_best : str
        What would be the most efficient at the profiling mean costs, which methods are told.
    cost_ratios : tuple of float
        Smallest and largest ratio of a configuration's mean cost in profiling to that in evaluation.
    farthest : float
        Largest distance of a profiling mean from an evaluation mean, in standard errors.
    farthest_at : tuple of str
        The configuration and the quantity of which that is.
    p_value : float
        Share of random splits of this size in which the largest distance is at least that.
    """

    n_instances: int
    n_evaluation: int
    best: str
    judged_best: str
    front: tuple[str, ...]
    judged_front: tuple[str, ...]
    told_best: str
    cost_ratios: tuple[float, float]
    farthest: float
    farthest_at: tuple[str, str]
    p_value: float

    @property
    def unlucky(self) -> bool:
        """Whether so unusual a profiling split comes up in at most one of a hundred tables."""
        return self.p_value <= FALSE_ALARMS

    @property
    def misled(self) -> bool:
        """Whether at the profiling mean costs another configuration would be the most efficient."""
        return self.told_best not in (self.judged_best, self.best)

    def sentences(self) -> list[str]:
        """Say whether the answer over all instances is that of the replays, and how profiling fell.

        Examples
        --------
        >>> from cobandit import load
        >>> compare_splits(load("synthetic-24")).sentences()[0]  # doctest: +NORMALIZE_WHITESPACE
        'Most efficient over all 400 instances is small-direct-t0.0; by the 300 of the evaluation split, which
        judge replays, it is small-direct-t0.0. Only the first have in their Pareto set: none; only the
        second: none.'
        """
        (config, quantity), (low, high) = self.farthest_at, self.cost_ratios
        gone = [name for name in self.front if name not in self.judged_front]
        come = [name for name in self.judged_front if name not in self.front]
        return [
            f"Most efficient over all {self.n_instances:,} instances is {self.best}; by the "
            f"{self.n_evaluation:,} of the evaluation split, which judge replays, it is {self.judged_best}. "
            f"Only the first have in their Pareto set: {some_names(gone) or 'none'}; only the second: "
            f"{some_names(come) or 'none'}.",
            f"The profiling split of {self.n_instances - self.n_evaluation:,} instances "
            f"{'was drawn unluckily' if self.unlucky else 'is no unusual draw'}: its means are up to "
            f"{self.farthest:.2g} standard errors from those of evaluation ({quantity} of {config}), as far "
            f"as in {percent(self.p_value)} of random splits; its mean costs, which methods are told, are "
            f"{low:.2f} to {high:.2f} times those of evaluation, and at these {self.told_best} would be the "
            "most efficient.",
        ]


def compare_splits(table: EvaluationTable, replications: int = 999, seed: int = 0) -> SplitComparison:
    r"""Compare the evaluation split with all instances, and with the profiling split.

    How far the profiling split is from the evaluation split is the largest of

    .. math:: |t_{id}| = \frac{|\bar x_{id}^{\text{prof}} - \bar x_{id}^{\text{eval}}|}
        {s_{id} \sqrt{1 / n_i^{\text{prof}} + 1 / n_i^{\text{eval}}}}

    over configurations, objectives and the cost, with :math:`s_{id}` over all instances.  How often chance
    gives as much is found by splitting the same instances at random, all configurations alike, so that it is
    exact whatever the tails and whatever depends on what (but for limits of transforms, which are fitted in
    profiling, and holes).

    Parameters
    ----------
    table : EvaluationTable
    replications, seed : int
        Of the random splits.

    Returns
    -------
    SplitComparison

    Notes
    -----
    Time O(R K I D).

    Examples
    --------
    >>> import cobandit as cb
    >>> found = compare_splits(cb.load("synthetic-24"))
    >>> found.best == found.judged_best, found.unlucky
    (True, False)
    """
    replications, seed = _check.count(replications, "replications", 1), _check.seed(seed)
    every, truth = table.summary(), table.problem
    told, unbiased = table.truth("profiling"), table.truth("evaluation")
    efficiency = hypervolume(every[list(table.objectives)].to_numpy()) / every["cost"].to_numpy()
    distances, largest = _find_distances(table, replications, seed)
    arm, column = np.unravel_index(distances.argmax(), distances.shape)
    ratios = told.costs / unbiased.costs
    rows, names = table.rows, np.array(table.configs, dtype=object)
    return SplitComparison(
        n_instances=rows["instance"].nunique(),
        n_evaluation=rows.loc[rows["split"] == "evaluation", "instance"].nunique(),
        best=table.configs[efficiency.argmax()],
        judged_best=truth.names[truth.best_arm],
        front=tuple(every.index[every["on_front"]]),
        judged_front=tuple(names[truth.pareto_mask]),
        told_best=told.names[told.best_arm],
        cost_ratios=(float(ratios.min()), float(ratios.max())),
        farthest=float(distances[arm, column]),
        farthest_at=(table.configs[arm], (*table.objectives, "cost")[column]),
        p_value=float((1 + (largest >= distances.max() * (1 - 1e-9)).sum()) / (1 + replications)),
    )


def _find_distances(
    table: EvaluationTable, replications: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances of the two splits, shape (K, D + 1), and the largest of them in each random split, (R,)."""
    evaluations, rows = Evaluations(table), table.rows
    profiling = (rows["split"] == "profiling").to_numpy()
    n_profiling = rows.loc[profiling, "instance"].nunique()
    rng, n_instances = np.random.default_rng(seed), evaluations.n_instances
    distances = np.empty((table.n_arms, len(evaluations.values)))
    largest = np.zeros(replications)
    chunk = max(1, paired.BLOCK // n_instances)
    for start in range(0, replications, chunk):
        drawn = slice(start, min(start + chunk, replications))
        order = np.argsort(rng.random((drawn.stop - drawn.start, n_instances)), axis=1)
        splits = (order < n_profiling).astype(float).T  # (I, chunk), as many ones in each column
        for arms in evaluations.blocks(np.arange(table.n_arms)):
            values, present = evaluations.block(arms)
            rows_of = slice(*evaluations.offsets[[arms[0], arms[-1] + 1]])
            own = np.zeros(present.shape)
            own[evaluations.arm[rows_of] - arms[0], evaluations.instance[rows_of]] = profiling[rows_of]
            n = present.sum(axis=1, keepdims=True)
            for d, column in enumerate(values):
                centred = (column - column.sum(axis=1, keepdims=True) / n) * present
                spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / (n - 1))
                spread[spread <= 1e-12 * np.abs(column).max(axis=1, keepdims=True)] = 0  # constant
                there, taken = ((each * own).sum(axis=1, keepdims=True) for each in (centred, present))
                distances[arms, d] = _studentise(there, taken, n, spread)[:, 0]
                by_chance = _studentise(centred @ splits, present @ splits, n, spread)
                np.maximum(largest[drawn], by_chance.max(axis=0), out=largest[drawn])
    return distances, largest


def _studentise(
    sums: NDArray[np.float64],
    taken: NDArray[np.float64],
    n: NDArray[np.int64],
    spread: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distances of two means from the sum of the ``taken`` of n centred values; of a constant, none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(sums) / (spread * np.sqrt(taken * (1 - taken / n)))
    return np.where(np.isfinite(t), t, 0.0)
