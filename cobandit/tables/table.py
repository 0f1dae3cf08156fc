"""The evaluation table: checked scores and costs of configurations on instances."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit._text import as_html
from cobandit._validation import choice
from cobandit.errors import Place, TableError, raise_fault, raise_if_any
from cobandit.tables.arrays import read_arrays
from cobandit.tables.card import Card
from cobandit.tables.checked_fields import check_fields
from cobandit.tables.conditions import evaluate_condition
from cobandit.tables.frames import FRAME, read_frame
from cobandit.tables.profiling import MIN_INSTANCES, profiling_mask
from cobandit.tables.row_checks import MIN_ARMS
from cobandit.tables.schema import validate
from cobandit.tables.table_statistics import TableStatistics

#: Longest line of a table's `repr`, in characters.
LINE_LENGTH = 84


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationTable(TableStatistics):
    """A checked, immutable evaluation table of K configurations and D objectives.

    Make one with :meth:`from_frame`, :meth:`from_arrays`, :func:`cobandit.read` or
    :func:`cobandit.load`; :func:`cobandit.save` writes it.

    See Also
    --------
    cobandit.tables.table_contents.TableContents : Names, counts and rows.
    cobandit.tables.table_statistics.TableStatistics : Means, costs and summaries.

    Examples
    --------
    >>> frame = pd.DataFrame({
    ...     "model": list("bbbbaaaa"), "question": [1, 2, 3, 4] * 2,
    ...     "usd": [2.0] * 4 + [1.0] * 4, "ok": [1] * 4 + [0] * 4,
    ... })
    >>> table = EvaluationTable.from_frame(
    ...     frame, config="model", instance="question", cost="usd", unit="USD",
    ...     objectives={"accuracy": "ok"}, name="toy",
    ... )
    >>> table
    toy (measured): 2 configurations x 4 instances
    objectives: accuracy; cost in USD
    >>> table.configs, table.costs, table.means.tolist()
    (('a', 'b'), array([1., 2.]), [[0.0], [1.0]])
    """

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        config: str | Sequence[str] = "config",
        instance: str = "instance",
        cost: str | float | Mapping[str, float] = 1.0,
        unit: str | None = None,
        objectives: Mapping[str, Any] | Sequence[str] | str,
        arms: str | Sequence[str] = (),
        cluster: str | None = None,
        profiling: int | None = None,
        seed: int = 0,
        smallest_cost: float | None = None,
        **description: str,
    ) -> EvaluationTable:
        """Make a table from a data frame with one row per evaluation.

        Parameters
        ----------
        frame : DataFrame
            One row per evaluation. A column that no argument names is kept only if it
            groups instances (attribute ``groups``).
        config : str or sequence of str
            Column that names the configuration. With several columns, their values are
            joined into a name, and each column also describes the configuration, so
            that :meth:`subset` can use it.
        instance : str
            Column that names the instance.
        cost : str, float or mapping
            Column with the cost of each evaluation, or one cost for all evaluations, or
            a mapping from the names of configurations to costs. By default each
            evaluation costs 1.
        unit : str, optional
            Unit of the cost, such as USD; by default the name of its column.
        objectives : mapping or sequence of str
            Columns with values in [0, 1], where larger is better; their names become
            the names of the objectives. Or a mapping from names of objectives to such
            columns. Instead of a column, the mapping may give one of two things: a pair
            ``(column, transform)``, whose transform is a key of
            :data:`~cobandit.tables.transforms.TRANSFORMS`, or a dictionary with fields
            of :class:`~cobandit.tables.card.Objective`, such as ``limits``.
        arms : sequence of str
            Further columns that describe the configuration.
        cluster : str, optional
            Column that groups instances, such as the passage that questions are about.
            Intervals and decisions then treat groups, not instances, as independent.
        profiling : int, optional
            Number of profiling instances, by default a fifth, at least 2. The costs
            that policies know and the scales of objectives are computed from these
            instances, and replays use the others.
        seed : int
            Seed of the choice of profiling instances.
        smallest_cost : float, optional
            Cost that replaces zero. By default, a cost of zero is an error.
        **description
            ``name``, ``title``, ``source``, ``license`` and ``kind``: fields of the
            :class:`~cobandit.tables.Card`.

        Raises
        ------
        TableError
            With every fault that :func:`cobandit.tables.schema.validate` finds, by row
            and column: a missing column or value, a cost that is not positive, an
            objective outside [0, 1], a duplicate row, too few configurations or
            instances.

        Examples
        --------
        >>> from itertools import product
        >>> rows = [
        ...     (model, prompt, n, len(model) * 0.01, model == prompt, 0.5 + n)
        ...     for model, prompt, n in product(["ab", "abc"], ["ab", "cd"], range(4))
        ... ]
        >>> columns = ["model", "prompt", "question", "usd", "correct", "latency"]
        >>> frame = pd.DataFrame(rows, columns=columns)
        >>> table = EvaluationTable.from_frame(
        ...     frame, config=["model", "prompt"], instance="question", cost="usd",
        ...     objectives={
        ...         "accuracy": "correct", "speed": ("latency", "inverse-percentile")
        ...     },
        ... )
        >>> table.configs, table.subset("model == 'ab'").n_arms
        (('ab ab', 'ab cd', 'abc ab', 'abc cd'), 2)
        >>> EvaluationTable.from_frame(  # doctest: +ELLIPSIS
        ...     frame.assign(usd=-1), config="model", instance="question", cost="usd",
        ...     objectives={"accuracy": "correct"},
        ... )
        Traceback (most recent call last):
            ...
        cobandit.errors.TableError: 2 faults (row 1 is the first data row)
        - from_frame, row 1, column 'usd': the cost -1.0 is not positive (and 15 ...
        - from_frame, row 5, column 'instance': duplicate (config, instance) ('ab', ...
        """
        tidy, card = read_frame(
            pd.DataFrame(frame).rename(columns=str),
            config=[config] if isinstance(config, str) else list(config),
            instance=instance,
            cost=cost,
            unit=unit,
            objectives=objectives,
            arms=[arms] if isinstance(arms, str) else list(arms),
            cluster=cluster,
            profiling=profiling,
            seed=seed,
            smallest_cost=smallest_cost,
            description=description,
        )
        return cls.from_records(tidy, card, FRAME)

    @classmethod
    def from_arrays(
        cls,
        rewards: ArrayLike,
        costs: ArrayLike,
        *,
        configs: Sequence[str] | None = None,
        instances: Sequence[str] | None = None,
        objectives: Mapping[str, str] | Sequence[str] | None = None,
        unit: str = "units",
        **options: Any,
    ) -> EvaluationTable:
        """Make a table from arrays of K configurations, N instances and D objectives.

        Parameters
        ----------
        rewards : array_like of float, shape (K, N, D), or (K, N) for one objective
            Rewards in [0, 1], larger is better; NaN or masked for missing evaluations.
        costs : array_like of float, shape (K,) or (K, N)
            Costs per configuration, or per evaluation.
        configs, instances : sequence of str, optional
            Names; by default, numbers.
        objectives : sequence of str or mapping, optional
            Names of the objectives. If ``rewards`` has values that are not yet
            transformed: a mapping from the name of each objective to its transform.
        unit : str
            Unit of the costs.
        **options
            ``profiling``, ``seed``, ``smallest_cost``, ``name``, ``title``, ``source``,
            ``license`` and ``kind``, as in :meth:`from_frame`.

        Raises
        ------
        TableError
            As in `from_frame`, but the message names the configuration and the instance
            instead of the row. Also if shapes and numbers of names do not agree.

        Examples
        --------
        >>> rewards = np.random.default_rng(0).random((2, 5, 1))
        >>> names = ["small", "large"]
        >>> EvaluationTable.from_arrays(rewards, [0.1, 0.3], configs=names, unit="USD")
        table (measured): 2 configurations x 5 instances
        objectives: objective0; cost in USD
        >>> EvaluationTable.from_arrays(rewards, [0.1, -0.3])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cobandit.errors.TableError: config1, instance0, column 'cost': the cost -0.3 ...
        """
        frame = read_arrays(rewards, costs, configs, instances, objectives)
        names = frame.columns[2:-1]

        transforms = (
            objectives.values()
            if isinstance(objectives, Mapping)
            else ["none"] * len(names)
        )
        measured = {
            name: (name, transform)
            for name, transform in zip(names, transforms, strict=True)
        }
        try:
            return cls.from_frame(
                frame, cost="cost", unit=unit, objectives=measured, **options
            )
        except TableError as error:
            places = frame["config"].astype(str) + ", " + frame["instance"].astype(str)
            raise_if_any(
                fault.locate(lambda row, name: Place(places[row - 1], None, name))
                for fault in error.faults
            )
            raise

    @classmethod
    def from_records(
        cls,
        frame: pd.DataFrame,
        card: Card,
        source: str = "the frame",
        notes: tuple[str, ...] = (),
    ) -> EvaluationTable:
        """Make a table from a tidy frame and a card that describes its columns.

        Parameters
        ----------
        frame : DataFrame
            One row per evaluation, with ``config``, ``instance`` and the columns that
            the card names.
        card : Card
        source : str
            Name of the frame in messages.
        notes : tuple of str
            Remarks to show with the table.

        Raises
        ------
        TableError
            With every fault that :func:`cobandit.tables.schema.validate` finds.
        """
        records = validate(frame, card, source)
        if card.split.instances is None:
            mask = profiling_mask(
                len(records.instances), card.split.profiling, card.split.seed
            )
            n_moved = (records.profiling != mask[records.instance]).sum()
            if n_moved:
                note = (
                    f"few instances: the random split was changed ({n_moved:,} of"
                    f" {len(records.arm):,} evaluations) to give every configuration"
                    f" {MIN_INSTANCES} in each part"
                )
                notes = (*notes, note)
        return cls(card, notes, records)

    def __repr__(self) -> str:
        """Show name, kind, size, objectives, unit of the cost and notes."""
        smallest = self.n_instances.min()
        largest = self.n_instances.max()
        n_instances = f"{smallest}" if smallest == largest else f"{smallest}-{largest}"
        size = f"{self.n_arms} configurations x {n_instances} instances"
        lines = [
            f"{self.name} ({self.kind}): {size}",
            f"objectives: {', '.join(self.objectives)}; cost in {self.card.cost.unit}",
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(
            textwrap.fill(line, LINE_LENGTH, subsequent_indent="    ") for line in lines
        )

    def _repr_html_(self) -> str:
        """Show the table in a notebook, with the means of the configurations."""
        headline, *notes = repr(self).splitlines()
        means = self.summary()[[*self.objectives, "cost", "instances"]]
        return as_html(headline, means, notes)

    def cluster_by(self, column: str) -> EvaluationTable:
        """Return the table with another column as the clusters of instances.

        Parameters
        ----------
        column : str
            Column, one of ``groups``.

        Returns
        -------
        EvaluationTable

        Raises
        ------
        CobanditError
            If the table has no such column.

        Examples
        --------
        >>> frame = pd.DataFrame({
        ...     "config": list("aaaabbbb"), "instance": list("1234") * 2,
        ...     "ok": [1, 1, 0, 0, 1, 1, 1, 0], "passage": list("xxyy") * 2,
        ... })
        >>> table = EvaluationTable.from_frame(frame, objectives={"accuracy": "ok"})
        >>> table.clusters, table.cluster_by("passage").clusters.tolist()
        (None, [0, 0, 1, 1])
        """
        if column not in self._records.groups:
            problem = f"no column {column!r} groups the instances of {self.name}"
            names = ", ".join(self._records.groups) or "the table has none"
            remedy = (
                "name a column with one value per instance that several instances"
                f" share: {names}"
            )
            raise_fault("cluster", problem, remedy, "no-group-column")

        card = check_fields(Card, dict(self.card) | {"cluster": column}, "cluster_by")
        return EvaluationTable(card, self.notes, self._records)

    def take_profiling(self) -> EvaluationTable:
        """Return a table in which both splits have this table's profiling rows.

        Replays on the returned table can choose settings without this table's
        evaluation split. Replays on this table can then judge the chosen settings.

        Returns
        -------
        EvaluationTable
        """
        rows = np.repeat(np.flatnonzero(self._records.profiling), 2)
        is_first_copy = np.arange(len(rows)) % 2 == 0
        records = self._records.take(rows)._replace(profiling=is_first_copy)
        return EvaluationTable(self.card, self.notes, records)

    def subset(self, query: str) -> EvaluationTable:
        """Return the table of the configurations that satisfy a condition.

        Transforms and split remain those of the whole table. ``costs`` and
        ``cost_range`` are computed from the remaining configurations.

        Parameters
        ----------
        query : str
            A pandas query on ``config`` and the columns of ``arms``, such as
            ``"temperature > 0"``.

        Returns
        -------
        EvaluationTable

        Raises
        ------
        TableError
            If the query does not parse, names an unknown column, is not a condition, or
            leaves fewer than two configurations.
        """
        place = f"subset {query!r} of {self.name}"
        keep = evaluate_condition(self._records.arms.reset_index(), query, place)
        if keep.sum() < MIN_ARMS:
            problem = (
                f"the condition leaves only {int(keep.sum())} of {self.n_arms}"
                " configurations"
            )
            remedy = f"weaken the condition: at least {MIN_ARMS} are needed"
            raise_fault(place, problem, remedy, "one-configuration")

        new_number = np.cumsum(keep) - 1
        records = self._records.take(np.flatnonzero(keep[self._records.arm]))
        records = records._replace(arms=records.arms[keep], arm=new_number[records.arm])
        return EvaluationTable(self.card, self.notes, records)

    def select_objectives(self, *names: str) -> EvaluationTable:
        """Return the table with some of its objectives, in the given order.

        Parameters
        ----------
        *names : str
            One or more of ``objectives``.

        Returns
        -------
        EvaluationTable

        Raises
        ------
        CobanditError
            If a name is not an objective or is given twice, or no name is given.
        """
        places = [
            self.objectives.index(choice(name, "objective", self.objectives))
            for name in names
        ]
        fields = {"objectives": [self.card.objectives[place] for place in places]}
        card = check_fields(Card, dict(self.card) | fields, "select_objectives")

        # copies are C-contiguous, as `feedback` promises
        records = self._records._replace(
            limits={name: self._records.limits[name] for name in names},
            rewards=self._records.rewards[:, places].copy(),
            measured=self._records.measured[:, places].copy(),
        )
        return EvaluationTable(card, self.notes, records)
