"""Means, costs and feedback of a table, for policies, replays and advice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from cobandit._validation import choice
from cobandit.dominance import pareto_mask
from cobandit.errors import raise_fault
from cobandit.problem import Problem
from cobandit.tables.profiling import MIN_INSTANCES
from cobandit.tables.records import Records
from cobandit.tables.table_contents import TableContents, freeze

if TYPE_CHECKING:
    from cobandit.tables.adjusted import AdjustedMeans


class ReplayRows(NamedTuple):
    """Rows of the evaluation split, from which a replay draws its feedback.

    Arm i has the rows ``offsets[i]:offsets[i + 1]``, sorted by instance.
    """

    #: Cost of each row in the table's unit, float64 of shape (N,).
    costs: np.ndarray
    #: Rewards in [0, 1], C-contiguous float64 of shape (N, D).
    rewards: np.ndarray
    #: First row of each arm, followed by the number of rows, int64 of shape (K + 1,).
    offsets: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class TableStatistics(TableContents):
    """Statistics of a checked table of K configurations and D objectives.

    Base class of `EvaluationTable`.
    """

    @property
    def raw_means(self) -> pd.DataFrame:
        """Mean of each objective's column before its transform, indexed by config."""
        means = self._records.average(self._records.measured).T
        columns = [objective.column for objective in self.card.objectives]
        return pd.DataFrame(
            dict(zip(columns, means, strict=True)), index=self._records.arms.index
        )

    @cached_property
    def costs(self) -> np.ndarray:
        """Mean cost of each arm in the profiling split, in the table's unit, (K,)."""
        return freeze(self._mean_costs("profiling"))

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """Smallest and largest cost of an evaluation in the profiling split."""
        costs = self._take_split("profiling").costs
        return float(costs.min()), float(costs.max())

    @cached_property
    def means(self) -> np.ndarray:
        """Mean reward of each arm in the evaluation split, float64 of shape (K, D)."""
        evaluation = self._take_split("evaluation")
        return freeze(evaluation.average(evaluation.rewards))

    @cached_property
    def problem(self) -> Problem:
        """True means and costs that judge replays: :meth:`truth` with its default."""
        return self.truth()

    def truth(self, true_costs: str | None = None) -> Problem:
        """Return the bandit problem whose true means are this table's means.

        Parameters
        ----------
        true_costs : {"evaluation", "profiling"}, optional
            Split whose mean costs are the true costs; the true rewards are always the
            means of the evaluation split. The default is ``"evaluation"``, or
            ``"profiling"`` for a reconstruction of the paper's tables, because this
            project reads the paper in this way (A10 in notebooks/claims.md).

        Returns
        -------
        Problem
            Costs are divided by ``cost_range[1]``, the largest cost of an evaluation in
            the profiling split.

        Raises
        ------
        CobanditError
            If ``true_costs`` is not a split.

        Examples
        --------
        >>> from cobandit import load
        >>> table = load("synthetic-24")
        >>> problems = (table.truth("profiling"), table.problem)
        >>> [problem.costs[:2].round(4).tolist() for problem in problems]
        [[0.5384, 0.5895], [0.5377, 0.5915]]
        """
        if true_costs is None:
            true_costs = "profiling" if self.kind == "reconstruction" else "evaluation"
        split = choice(true_costs, "true_costs", ("evaluation", "profiling"))
        costs = self._mean_costs(split)
        return Problem(self.means, costs / self.cost_range[1], names=self.configs)

    @cached_property
    def feedback(self) -> ReplayRows:
        """Rows of the evaluation split, sorted by arm, as read-only arrays."""
        evaluation = self._take_split("evaluation")
        offsets = np.searchsorted(evaluation.arm, np.arange(self.n_arms + 1))
        return ReplayRows(
            costs=freeze(evaluation.costs),
            rewards=freeze(evaluation.rewards),
            offsets=freeze(offsets.astype(np.int64)),
        )

    def summary(self, split: str = "all") -> pd.DataFrame:
        """Return mean scores and costs of each configuration, over one or both splits.

        Parameters
        ----------
        split : {"all", "evaluation", "profiling"}
            Split over which means are computed. The true means of replays are those of
            ``"evaluation"``.

        Returns
        -------
        DataFrame, K rows
            Indexed by config, with the mean of each objective, ``cost`` (mean, in the
            table's unit), ``instances`` (number) and ``on_front`` (whether the means
            are Pareto-optimal). With ``"all"``, means are over all instances of the
            table. If a configuration lacks evaluations, its means are adjusted by
            :class:`~cobandit.tables.adjusted.AdjustedMeans`. With one split, means are
            plain means over the rows of a configuration.

        Raises
        ------
        CobanditError
            If the split is unknown.
        """
        records = self._take_split(
            choice(split, "split", ("all", "evaluation", "profiling"))
        )
        values = self._means_on_all
        if split != "all":
            values = records.average(_stack_rewards_and_costs(records))

        rewards = values[:, :-1]
        return pd.DataFrame(
            {
                **{name: rewards[:, d] for d, name in enumerate(self.objectives)},
                "cost": values[:, -1],
                "instances": np.bincount(records.arm, minlength=self.n_arms),
                "on_front": pareto_mask(rewards),
            },
            index=self._records.arms.index,
        )

    @cached_property
    def effects(self) -> tuple[AdjustedMeans, ...]:
        """Adjusted means of each objective, and of the cost, over all instances."""
        # imported here, because scipy is slow to import
        from cobandit.tables.adjusted import AdjustedMeans

        records = self._records
        _, instance = np.unique(records.instance, return_inverse=True)
        rewards = (
            AdjustedMeans(records.arm, instance, column) for column in records.rewards.T
        )
        costs = AdjustedMeans(records.arm, instance, records.costs, multiplicative=True)
        return (*rewards, costs)

    @cached_property
    def _means_on_all(self) -> np.ndarray:
        """Mean rewards and costs over all instances of the table: shape (K, D + 1)."""
        records = self._records
        means = records.average(_stack_rewards_and_costs(records))
        if not self.is_complete:
            lacks_instances = self.n_instances < len(np.unique(records.instance))
            adjusted = np.column_stack([effects.means for effects in self.effects])
            adjusted[:, :-1] = adjusted[:, :-1].clip(0, 1)
            means[lacks_instances] = adjusted[lacks_instances]
        return freeze(means)

    def _mean_costs(self, split: str) -> np.ndarray:
        records = self._take_split(split)
        return records.average(records.costs[:, None])[:, 0]

    def _take_split(self, split: str) -> Records:
        """Return the records of one split, or of both for ``"all"``."""
        if split == "all":
            return self._records

        in_split = self._records.profiling == (split == "profiling")
        records = self._records.take(np.flatnonzero(in_split))
        counts = np.bincount(records.arm, minlength=self.n_arms)
        if counts.min() < MIN_INSTANCES:
            problem = (
                f"configuration {self.configs[counts.argmin()]!r} has only"
                f" {counts.min()} {split} instances, but {MIN_INSTANCES} are needed"
            )
            remedy = (
                "use both splits, as cobandit.recommend does, or leave out this"
                " configuration (subset)"
            )
            raise_fault(self.name, problem, remedy, "few-instances")
        return records


def _stack_rewards_and_costs(records: Records) -> np.ndarray:
    """Stack objectives and costs as columns: shape (N, D + 1)."""
    return np.column_stack([records.rewards, records.costs])
