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
from cobandit.advice.paired import Evaluations, compare_pairs
from cobandit.advice.words import percent, some_names

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
    ahead : float
        By how many standard errors ``best`` is more efficient than ``judged_best``, over all instances.
    true_costs : str
        The split whose mean costs the truth of the replays divides by.
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
    ahead: float
    true_costs: str
    told_best: str
    cost_ratios: tuple[float, float]
    farthest: float
    farthest_at: tuple[str, str]
    p_value: float

    @property
    def unlucky(self) -> bool:
        """Whether so unusual a profiling split comes up in at most one of a hundred tables."""
        return self.p_value <= FALSE_ALARMS

    def sentences(self) -> list[str]:
        """Say whether the answer over all instances is that of the replays, and how profiling fell.

        Examples
        --------
        >>> from cobandit import load
        >>> compare_splits(load("synthetic-24")).sentences()[0]  # doctest: +NORMALIZE_WHITESPACE
        'All 400 instances and the 300 of the evaluation split, which judge replays, name the same most
        efficient configuration and the same Pareto set.'
        """
        return [self._answers(), ". ".join([*filter(None, self.profiling()), ""]).strip()]

    def _answers(self) -> str:
        judges = f"the {self.n_evaluation:,} of the evaluation split"
        if self.true_costs == "profiling":
            judges += ", at the mean costs of the profiling split (A10)"
        one_front = set(self.front) == set(self.judged_front)
        if self.best == self.judged_best and one_front:
            return (
                f"All {self.n_instances:,} instances and {judges}, which judge replays, name the same most "
                "efficient configuration and the same Pareto set."
            )
        said = []
        if self.best != self.judged_best:
            said.append(
                f"Most efficient over all {self.n_instances:,} instances, as recommended, is {self.best}; by "
                f"{judges}, which judge replays, it is {self.judged_best}. Over all instances the first is "
                f"ahead by {self.ahead:.2g} standard errors."
            )
        if not one_front:
            gone = [name for name in self.front if name not in self.judged_front]
            come = [name for name in self.judged_front if name not in self.front]
            parts = [f"only over all instances: {some_names(gone)}"] if gone else []
            parts += [f"only by those that judge replays: {some_names(come)}"] if come else []
            by = (
                ""
                if said
                else f" over all {self.n_instances:,} instances and by {judges}, which judge replays,"
            )
            said.append(f"The Pareto sets{by} differ ({'; '.join(parts)}).")
        return " ".join(
            [*said, "They rest on different instances; where they differ, trust the set over all instances."]
        )

    def profiling(self) -> tuple[str, str]:
        """Say how the profiling split fell, and what to do about it, if anything."""
        config, quantity = self.farthest_at
        low, high = self.cost_ratios
        n = self.n_instances - self.n_evaluation
        far = (
            f"its means are up to {self.farthest:.2g} standard errors from those of evaluation ({quantity} "
            f"of {config}), as far as in {percent(self.p_value)} of random splits; its mean costs, which "
            f"methods are told, are {low:.2f} to {high:.2f} times those of evaluation"
        )
        if misled := self.told_best not in (self.judged_best, self.best):
            far += f", and at these costs {self.told_best} would be the most efficient"
        lead = "was drawn unluckily" if self.unlucky else "is no unusual draw" + ", and misleads" * misled
        todo = "Take another seed of the split, or more profiling instances" if self.unlucky or misled else ""
        return f"The profiling split of {n:,} instances {lead}: {far}", todo


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
    compared, truth = compare_pairs(table), table.problem
    told, unbiased = table.truth("profiling"), table.truth("evaluation")
    best = int(compared.efficiency.argmax())
    distances, largest = _distances(table, replications, seed)
    arm, column = np.unravel_index(distances.argmax(), distances.shape)
    ratios = told.costs / unbiased.costs
    rows, names = table.rows, np.array(table.configs, dtype=object)
    every = table.summary()["on_front"].to_numpy()
    return SplitComparison(
        n_instances=rows["instance"].nunique(),
        n_evaluation=rows.loc[rows["split"] == "evaluation", "instance"].nunique(),
        best=table.configs[best],
        judged_best=truth.names[truth.best_arm],
        front=tuple(names[every]),
        judged_front=tuple(names[truth.pareto_mask]),
        ahead=float(next(compared.efficiency_gaps(np.array([truth.best_arm]))).ratios[0, 0, best]),
        true_costs="evaluation" if np.array_equal(truth.costs, unbiased.costs) else "profiling",
        told_best=told.names[told.best_arm],
        cost_ratios=(float(ratios.min()), float(ratios.max())),
        farthest=float(distances[arm, column]),
        farthest_at=(table.configs[arm], (*table.objectives, "cost")[column]),
        p_value=float((1 + (largest >= distances.max() * (1 - 1e-9)).sum()) / (1 + replications)),
    )


def _distances(
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
            taken = present @ splits
            for d, column in enumerate(values):
                centred = (column - column.sum(axis=1, keepdims=True) / n) * present
                spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / (n - 1))
                spread[spread <= 1e-12 * np.abs(column).max(axis=1, keepdims=True)] = 0  # constant
                there = (centred * own).sum(axis=1, keepdims=True)
                distances[arms, d] = _studentised(there, own.sum(axis=1, keepdims=True), n, spread)[:, 0]
                by_chance = _studentised(centred @ splits, taken, n, spread)
                np.maximum(largest[drawn], by_chance.max(axis=0), out=largest[drawn])
    return distances, largest


def _studentised(
    sums: NDArray[np.float64],
    taken: NDArray[np.float64],
    n: NDArray[np.int64],
    spread: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Distances of two means from the sum of the ``taken`` of n centred values; of a constant, none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(sums) / (spread * np.sqrt(taken * (1 - taken / n)))
    return np.where(np.isfinite(t), t, 0.0)
