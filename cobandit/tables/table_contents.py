"""The contents of a table: its card, names, counts and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from cobandit.tables.card import FREE, Card
from cobandit.tables.records import Records

#: If replacements of zero cost make up at least this share of an arm's cost, the cost
#: counts as made up, and no ratio is computed from it.
MADE_UP_SHARE = 0.01


def freeze(array: np.ndarray) -> np.ndarray:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False, repr=False)
class TableContents:
    """Card, names, counts and rows of a checked table of K configurations.

    Base class of `EvaluationTable`.

    Attributes
    ----------
    card : Card
        The dataset card.
    notes : tuple of str
        Remarks from reading the table, such as dropped entries.
    """

    card: Card
    notes: tuple[str, ...]
    _records: Records

    @property
    def name(self) -> str:
        """Name in the catalogue and in file names."""
        return self.card.name

    @property
    def kind(self) -> str:
        """Origin of the numbers: ``measured``, ``reconstruction`` or ``synthetic``."""
        return self.card.kind

    @property
    def configs(self) -> tuple[str, ...]:
        """Names of the K configurations, sorted: the position is the arm number."""
        return tuple(self._records.arms.index)

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the D objectives, in the card's order."""
        return tuple(objective.name for objective in self.card.objectives)

    @property
    def n_arms(self) -> int:
        """Number of configurations, K."""
        return len(self.configs)

    @property
    def n_objectives(self) -> int:
        """Number of objectives, D."""
        return len(self.objectives)

    @property
    def arms(self) -> pd.DataFrame:
        """Descriptive columns of the K configurations, indexed by config; a copy."""
        return self._records.arms.copy()

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Values of each objective's column that score 1 and 0; a copy."""
        return dict(self._records.limits)

    @property
    def clusters(self) -> np.ndarray | None:
        """Number of each instance's cluster, int64 (I,); None without clusters."""
        if self.card.cluster is None:
            return None
        return self._records.groups[self.card.cluster].codes

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """Columns that group instances: the number of each instance's value, (I,)."""
        return {name: keys.codes for name, keys in self._records.groups.items()}

    @cached_property
    def n_instances(self) -> np.ndarray:
        """Number of instances of each arm in both splits, int64 of shape (K,)."""
        return freeze(np.bincount(self._records.arm, minlength=self.n_arms))

    @property
    def n_benchmark(self) -> int:
        """Number of instances of the benchmark; at least the table's number."""
        return max(len(self._records.instances), self.card.n_instances or 0)

    @property
    def is_complete(self) -> bool:
        """Whether every configuration is evaluated on every instance of the table."""
        n_instances = len(np.unique(self._records.instance))
        return bool((self.n_instances == n_instances).all())

    @property
    def n_free(self) -> int:
        """Number of free evaluations."""
        return int(self.free_evaluations.sum())

    @cached_property
    def free_evaluations(self) -> np.ndarray:
        """Number of free evaluations of each arm: int (K,).

        The numbers come from the card. Without numbers on the card, an evaluation
        counts as free if its cost is at most the card's ``smallest_cost``.
        """
        records = self._records
        smallest = self.card.smallest_cost
        if smallest is None:
            return freeze(np.zeros(self.n_arms, dtype=int))

        counts = [self.card.counts.get(name, {}).get(FREE, 0) for name in self.configs]
        if any(counts):
            return freeze(np.array(counts))
        free_arms = records.arm[records.costs <= smallest]
        return freeze(np.bincount(free_arms, minlength=self.n_arms))

    @cached_property
    def has_made_up_cost(self) -> np.ndarray:
        """Whether free evaluations make up 1 % of an arm's cost or more: bool (K,)."""
        records = self._records
        smallest = self.card.smallest_cost
        if smallest is None:
            return freeze(np.zeros(self.n_arms, dtype=bool))

        total_costs = np.bincount(records.arm, records.costs, self.n_arms)
        made_up_costs = smallest * self.free_evaluations
        return freeze(made_up_costs >= MADE_UP_SHARE * total_costs)

    @property
    def rows(self) -> pd.DataFrame:
        """All rows as a new frame: config, instance, cost, scaled objectives, split.

        ``config``, ``instance`` and ``split`` (profiling or evaluation) are
        categorical; rows are sorted by config, then instance.
        """
        records = self._records
        configs = pd.Index(self.configs)
        instances = pd.Index(records.instances)
        splits = pd.Index(["evaluation", "profiling"])
        rewards = {
            name: records.rewards[:, d].copy() for d, name in enumerate(self.objectives)
        }
        return pd.DataFrame(
            {
                "config": pd.Categorical.from_codes(records.arm, configs),
                "instance": pd.Categorical.from_codes(records.instance, instances),
                "cost": records.costs.copy(),
                **rewards,
                "split": pd.Categorical.from_codes(
                    records.profiling.astype(np.int64), splits
                ),
            }
        )

    @property
    def evaluations(self) -> pd.DataFrame:
        """All evaluations as measured, as a new frame with the columns of the card.

        Rows are sorted by config, then instance. The cost of a free evaluation is the
        card's ``smallest_cost``.
        """
        records = self._records
        card = self.card
        columns = {
            "config": np.array(self.configs, dtype=object)[records.arm],
            "instance": np.array(records.instances, dtype=object)[records.instance],
        }
        for d, objective in enumerate(card.objectives):
            columns[objective.column] = records.measured[:, d]
        columns[card.cost.column] = records.costs
        for name in card.arms:
            columns[name] = records.arms[name].to_numpy()[records.arm]
        if card.cluster is not None:
            labels, codes = records.groups[card.cluster]
            cluster_names = np.array(labels, dtype=object)
            columns[card.cluster] = cluster_names[codes[records.instance]]

        return pd.DataFrame({name: columns[name] for name in card.columns})
