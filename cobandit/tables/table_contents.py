"""The contents of a table: its description (card), names, counts and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from cobandit.tables.card import FREE, Card
from cobandit.tables.records import Records

#: If the costs that replace zeros are at least this share of an arm's total cost, the
#: arm's cost counts as made up, and no ratio is computed from this cost.
MADE_UP_SHARE = 0.01


def freeze(array: np.ndarray) -> np.ndarray:
    """Return an array after making it read-only."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False, repr=False)
class TableContents:
    """Card, names, counts and rows of a checked table of K configurations.

    Base class of `EvaluationTable`.

    Attributes
    ----------
    card : Card
        The card, which describes the columns and the origin of the table.
    notes : tuple of str
        Remarks from reading the table, such as entries that were left out.
    """

    card: Card
    notes: tuple[str, ...]
    _records: Records

    @property
    def name(self) -> str:
        """Name of the table, from its ``card``."""
        return self.card.name

    @property
    def kind(self) -> str:
        """How the numbers were obtained: measured, reconstruction or synthetic."""
        return self.card.kind

    @property
    def configs(self) -> tuple[str, ...]:
        """Sorted names of the K configurations; arm i is the name at position i."""
        return tuple(self._records.arms.index)

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the D objectives, in the order of the ``card``."""
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
        """Copy of the descriptive columns of the K configurations, indexed by name."""
        return self._records.arms.copy()

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """By objective, the two values of its column that have the scores 1 and 0."""
        return dict(self._records.limits)

    @property
    def clusters(self) -> np.ndarray | None:
        """Cluster number of each instance, int64 (I,); None without clusters."""
        if self.card.cluster is None:
            return None
        return self._records.groups[self.card.cluster].codes

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """Columns that group instances, encoded as one number per instance, (I,)."""
        return {name: keys.codes for name, keys in self._records.groups.items()}

    @cached_property
    def n_instances(self) -> np.ndarray:
        """Number of instances of each arm in both splits, int64 of shape (K,)."""
        return freeze(np.bincount(self._records.arm, minlength=self.n_arms))

    @property
    def n_benchmark(self) -> int:
        """Number of instances of the benchmark, including those not in the table."""
        return max(len(self._records.instances), self.card.n_instances or 0)

    @property
    def is_complete(self) -> bool:
        """Whether every configuration is evaluated on every instance of the table."""
        n_instances = len(np.unique(self._records.instance))
        return bool((self.n_instances == n_instances).all())

    @property
    def n_free(self) -> int:
        """Number of evaluations whose cost was zero."""
        return int(self.free_evaluations.sum())

    @cached_property
    def free_evaluations(self) -> np.ndarray:
        """Number of free evaluations (cost zero) of each arm, int of shape (K,).

        The ``card`` may state these numbers. Otherwise, an evaluation counts as free if
        its cost is at most the ``smallest_cost`` on the card.
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
        """Mask of arms with 1 % or more of their cost from free evaluations, (K,)."""
        records = self._records
        smallest = self.card.smallest_cost
        if smallest is None:
            return freeze(np.zeros(self.n_arms, dtype=bool))

        total_costs = np.bincount(records.arm, records.costs, self.n_arms)
        made_up_costs = smallest * self.free_evaluations
        return freeze(made_up_costs >= MADE_UP_SHARE * total_costs)

    @property
    def rows(self) -> pd.DataFrame:
        """All evaluations as a new frame, with the objectives as scores in [0, 1].

        Columns are ``config``, ``instance``, ``cost``, the objectives, and ``split``
        (profiling or evaluation). Rows are sorted by config, then instance.
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
        """All evaluations as a new frame, with the measured values.

        Columns are those that the ``card`` names. Rows are sorted by config, then
        instance. The cost of a free evaluation is the ``smallest_cost`` on the card.
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
