"""Comparison of the two splits of a table with each other and with all instances.

Replays use the means of the evaluation split as true means, `cobandit.recommend` uses
all instances, and methods receive the mean costs of the profiling split, whose
instances are set aside for this purpose. The most efficient configuration may therefore
differ between the evaluation split, the profiling split and all instances. This module
describes the differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cobandit._text import some_names
from cobandit.problem import hypervolume

if TYPE_CHECKING:
    from cobandit.tables import EvaluationTable


@dataclass(frozen=True)
class SplitComparison:
    """Answers from the two splits of a table, and from all its instances.

    Attributes
    ----------
    n_instances, n_evaluation : int
        Number of instances of the table, and of its evaluation split.
    best, judged_best : str
        Most efficient configuration over all instances, and over the evaluation split,
        whose means are the true means in replays.
    front, judged_front : tuple of str
        Pareto set over all instances, and over the evaluation split.
    told_best : str
        Most efficient configuration over the profiling split, whose mean costs methods
        receive.
    cost_ratios : tuple of float
        Smallest and largest ratio of a configuration's profiling mean cost to its
        evaluation mean cost.
    """

    n_instances: int
    n_evaluation: int
    best: str
    judged_best: str
    front: tuple[str, ...]
    judged_front: tuple[str, ...]
    told_best: str
    cost_ratios: tuple[float, float]

    @property
    def misled(self) -> bool:
        """Whether the profiling split misleads about the most efficient arm.

        The profiling split misleads if its most efficient arm is neither the most
        efficient arm of the evaluation split nor that of all instances.
        """
        return self.told_best not in (self.judged_best, self.best)

    def sentences(self) -> list[str]:
        """Return the descriptions of the answers and of the profiling as sentences."""
        return [self.describe_answers(), f"{self.describe_profiling()}."]

    def describe_answers(self) -> str:
        """Describe how the answers differ between evaluation split and all instances.

        Examples
        --------
        >>> from cobandit import load
        >>> print(compare_splits(load("synthetic-24")).describe_answers())
        ... # doctest: +NORMALIZE_WHITESPACE
        All 400 instances and the 300 of the evaluation split, which replays use as the
        truth, have the same most efficient configuration and the same Pareto set.
        """
        only_overall = [name for name in self.front if name not in self.judged_front]
        only_judged = [name for name in self.judged_front if name not in self.front]
        differ = []
        if self.best != self.judged_best:
            differ.append(
                f"{self.best} is the most efficient over all instances, and"
                f" {self.judged_best} over the evaluation split, which replays use as"
                " the truth."
            )

        if only_overall:
            differ.append(
                "In the Pareto set only over all instances:"
                f" {some_names(only_overall)}."
            )

        if only_judged:
            differ.append(
                "In the Pareto set only over the evaluation split:"
                f" {some_names(only_judged)}."
            )

        same = (
            f"All {self.n_instances:,} instances and the {self.n_evaluation:,} of the"
            " evaluation split, which replays use as the truth, have the same most"
            " efficient configuration and the same Pareto set."
        )
        return " ".join(differ) or same

    def describe_profiling(self) -> str:
        """Describe the ratios of profiling to evaluation costs, without a full stop."""
        low, high = self.cost_ratios
        return (
            "Methods receive the mean costs of the profiling split"
            f" ({self.n_instances - self.n_evaluation:,} instances), {low:.2f} to"
            f" {high:.2f} times the costs of the evaluation split; at these,"
            f" {self.told_best} would be the most efficient"
        )


def compare_splits(table: EvaluationTable) -> SplitComparison:
    """Compare the evaluation split with all instances, and with the profiling split.

    Parameters
    ----------
    table : EvaluationTable

    Returns
    -------
    SplitComparison

    Examples
    --------
    >>> import cobandit as cb
    >>> found = compare_splits(cb.load("synthetic-24"))
    >>> found.best == found.judged_best, found.misled
    (True, False)
    """
    rows = table.rows
    summary = table.summary()
    truth = table.problem
    by_profiling = table.truth("profiling")

    cost_ratios = by_profiling.costs / table.truth("evaluation").costs
    means = summary[list(table.objectives)].to_numpy()
    efficiency = hypervolume(means) / summary["cost"].to_numpy()
    return SplitComparison(
        n_instances=rows["instance"].nunique(),
        n_evaluation=rows.loc[rows["split"] == "evaluation", "instance"].nunique(),
        best=table.configs[efficiency.argmax()],
        judged_best=truth.names[truth.best_arm],
        front=tuple(summary.index[summary["on_front"]]),
        judged_front=tuple(summary.index[truth.pareto_mask]),
        told_best=by_profiling.names[by_profiling.best_arm],
        cost_ratios=(float(cost_ratios.min()), float(cost_ratios.max())),
    )
