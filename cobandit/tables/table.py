"""The evaluation table: what every configuration scored and cost on every instance, checked and in order."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cobandit._text import as_html
from cobandit._validation import choice
from cobandit.dominance import pareto_mask
from cobandit.errors import (
    CobanditError,
    Faults,
    Place,
    TableError,
    raise_fault,
    raise_if_any,
)
from cobandit.problem import Problem
from cobandit.tables.card import FREE, Card
from cobandit.tables.columns import (
    MIN_INSTANCES,
    default_profiling,
    evaluate_condition,
    profiling_mask,
)
from cobandit.tables.frames import (
    FRAME,
    UNKNOWN_LICENSE,
    charge,
    read_arrays,
    read_objectives,
)
from cobandit.tables.safe_reading import check_fields
from cobandit.tables.schema import (
    MIN_ARMS,
    Records,
    check_columns,
    encode_names,
    validate,
)

if TYPE_CHECKING:
    from cobandit.tables.adjusted import AdjustedMeans


class Feedback(NamedTuple):
    """The evaluation split as a replay reads it: arm i owns rows ``offsets[i]`` to ``offsets[i + 1]``.

    ``costs`` is float64 of shape (N,) in the user's unit, ``rewards`` C-contiguous
    float64 of shape (N, D) in [0, 1], ``offsets`` int64 of shape (K + 1,); within an
    arm the rows are sorted by instance.
    """

    costs: np.ndarray
    rewards: np.ndarray
    offsets: np.ndarray


#: Share of a cost that may be what free evaluations count as; from then on no ratio is
#: made of it.
MADE_UP = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationTable:
    """A checked evaluation table of K configurations and D objectives; it does not change once made.

    Make one with :meth:`from_frame`, :meth:`from_arrays`, :func:`cobandit.read` or
    :func:`cobandit.load`; :func:`cobandit.save` writes it.

    Attributes
    ----------
    card : Card
        The dataset card.
    notes : tuple of str
        What the reader has to tell, such as entries dropped by rule.

    Examples
    --------
    >>> frame = pd.DataFrame({
    ...     "model": list("bbbbaaaa"), "question": [1, 2, 3, 4] * 2,
    ...     "usd": [2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0], "ok": [1, 1, 1, 1, 0, 0, 0, 0],
    ... })
    >>> table = EvaluationTable.from_frame(
    ...     frame, config="model", instance="question", cost="usd", unit="USD", name="toy",
    ...     objectives={"accuracy": "ok"},
    ... )
    >>> table
    toy (measured): 2 configurations x 4 instances
    objectives: accuracy; cost in USD
    >>> table.configs, table.costs, table.means.tolist()
    (('a', 'b'), array([1., 2.]), [[0.0], [1.0]])
    """

    card: Card
    notes: tuple[str, ...]
    _records: Records

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
        **about: str,
    ) -> EvaluationTable:
        """Make a table of a data frame, one row per evaluation.

        Parameters
        ----------
        frame : DataFrame
            Columns that are not named here are left out.
        config : str or sequence of str
            The column that names the configuration; of several columns the names are
            joined, and each describes the configuration, so that :meth:`subset` can ask
            for it.
        instance : str
            The column that names the instance.
        cost : str, float or mapping
            The column of what each evaluation cost; or one cost of all evaluations, or
            of those of each configuration by its name. By default each costs 1.
        unit : str, optional
            Unit of the cost, such as USD; by default the name of its column.
        objectives : mapping or sequence of str
            Columns, which then are the names. Or by name the column, in [0, 1] and
            better when large; or ``(column, transform)``, with a key of
            :data:`~cobandit.tables.transforms.TRANSFORMS`; or a dictionary of what an
            objective has on a card, such as ``limits``.
        arms : sequence of str
            Further columns that describe the configuration.
        cluster : str, optional
            Column of what instances have in common, such as the passage that questions
            are about: the unit of intervals and of what is settled.
        profiling : int, optional
            Number of instances for profiling, by default a fifth, at least 2. Costs and
            percentiles are taken from these, and replays draw from the others.
        seed : int
            Seed of the split.
        smallest_cost : float, optional
            What an evaluation counts as that cost nothing; by default a cost of zero is
            refused.
        **about
            ``name``, ``title``, ``source``, ``license`` and ``kind``, as on a
            :class:`~cobandit.tables.Card`.

        Raises
        ------
        TableError
            With every fault that :func:`cobandit.tables.schema.validate` finds, by row
            and column: a missing column or value, a cost that is not positive, an
            objective outside [0, 1], one pair of names in two rows, too few
            configurations or instances.

        Examples
        --------
        >>> from itertools import product
        >>> rows = [
        ...     (model, prompt, question, len(model) * 0.01, model == prompt, 0.5 + question)
        ...     for model, prompt, question in product(["ab", "abc"], ["ab", "cd"], range(4))
        ... ]
        >>> frame = pd.DataFrame(rows, columns=["model", "prompt", "question", "usd", "correct", "latency"])
        >>> table = EvaluationTable.from_frame(
        ...     frame, config=["model", "prompt"], instance="question", cost="usd", unit="USD",
        ...     objectives={"accuracy": "correct", "speed": ("latency", "inverse-percentile")},
        ... )
        >>> table.configs, table.subset("model == 'ab'").n_arms
        (('ab ab', 'ab cd', 'abc ab', 'abc cd'), 2)
        >>> EvaluationTable.from_frame(frame.assign(usd=-1), config="model", instance="question", cost="usd",
        ...                            objectives={"accuracy": "correct"})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cobandit.errors.TableError: 2 faults (row 1 is the first data row)
        - from_frame, row 1, column 'usd': the cost -1.0 is not positive (and 15 more rows) -> give what ...
        - from_frame, row 5, column 'instance': (config, instance) = ('ab', '0') stands already in another ...
        """
        frame = pd.DataFrame(frame).rename(columns=str)
        measured, keys = (
            read_objectives(objectives),
            [config] if isinstance(config, str) else [*config],
        )
        others = [arms] if isinstance(arms, str) else arms
        described = tuple(dict.fromkeys([*(keys if len(keys) > 1 else ()), *others]))
        columns = dict.fromkeys(
            [*(objective.column for objective in measured), *described]
        )
        columns |= {cost: None} if isinstance(cost, str) else {}
        columns |= {cluster: None} if cluster is not None else {}
        if taken := sorted(columns.keys() & {"config", "instance"}):
            problem = (
                f"the column {taken[0]!r} is measured or describes a configuration"
            )
            raise_fault(FRAME, problem, "rename it: the table needs that name")
        faults = Faults(FRAME)
        check_columns(frame, [*dict.fromkeys([*keys, instance, *columns])], faults)
        raise_if_any(faults.found)
        named = [encode_names(frame[key], faults) for key in keys]
        raise_if_any(faults.found)

        parts = zip(
            *(np.array(labels, dtype=object)[codes] for labels, codes in named),
            strict=True,
        )
        # other columns may say what instances have in common, which `doctor` looks for
        taken_for = {*columns, *keys, instance, "config", "instance", "cost"}
        spare = [
            name
            for name in frame.columns[~frame.columns.duplicated(keep=False)]
            if name not in taken_for
        ]
        tidy = frame[[*columns, *spare]].assign(
            config=[" ".join(each) for each in parts], instance=frame[instance]
        )
        paid = cost if isinstance(cost, str) else "cost" + "_" * ("cost" in columns)
        if not isinstance(cost, str):
            tidy[paid] = charge(tidy["config"], cost, f"{FRAME}, cost")
        if smallest_cost is not None:
            free = tidy[paid].eq(0).fillna(False).astype(bool)
            tidy[paid] = tidy[paid].mask(free, smallest_cost)
            smallest_cost = smallest_cost if free.any() else None
        if profiling is None:
            profiling = default_profiling(tidy["instance"].nunique())
        fields = {
            **{
                "name": "table",
                "title": about.get("name", "table"),
                "source": "a data frame",
            },
            **{
                "license": UNKNOWN_LICENSE,
                "kind": "measured",
                "records": "table.parquet",
            },
            **about,
            "cost": {
                "column": paid,
                "unit": unit or (cost if isinstance(cost, str) else "evaluations"),
            },
            "objectives": measured,
            "split": {"profiling": profiling, "seed": seed},
            "arms": described,
            "cluster": cluster,
            "smallest_cost": smallest_cost,
        }
        card = check_fields(
            Card, fields, lambda field: f"{FRAME}, {field.rpartition('.')[2]}"
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
        """Make a table of arrays: K configurations, N instances, D objectives.

        Parameters
        ----------
        rewards : array_like of float, shape (K, N, D), or (K, N) for one objective
            In [0, 1], better when large; NaN, or masked, where a configuration was not
            evaluated.
        costs : array_like of float, shape (K,) or (K, N)
            What an evaluation of each configuration cost, or each evaluation.
        configs, instances : sequence of str, optional
            Their names, by default numbered ones.
        objectives : sequence of str or mapping, optional
            Their names, or the transform of each by its name where ``rewards`` holds
            what is measured.
        unit : str
            Unit of the costs.
        **options
            ``profiling``, ``seed``, ``smallest_cost``, ``name``, ``title``, ``source``,
            ``license`` and ``kind``, as in :meth:`from_frame`.

        Raises
        ------
        TableError
            As `from_frame`, by configuration and instance; and if shapes or numbers of
            names do not fit.

        Examples
        --------
        >>> rewards = np.random.default_rng(0).random((2, 5, 1))
        >>> EvaluationTable.from_arrays(rewards, [0.1, 0.3], configs=["small", "large"], unit="USD")
        table (measured): 2 configurations x 5 instances
        objectives: objective0; cost in USD
        >>> EvaluationTable.from_arrays(rewards, [0.1, -0.3])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cobandit.errors.TableError: config1, instance0, column 'cost': the cost -0.3 is not ...
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
                fault.at(lambda row, name: Place(places[row - 1], None, name))
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
        """Check a tidy frame against a card.

        Parameters
        ----------
        frame : DataFrame
            One row per evaluation, with ``config``, ``instance`` and the columns that
            the card names.
        card : Card
        source : str
            What to call the frame in messages.
        notes : tuple of str
            What to tell whoever looks at the table.

        Raises
        ------
        TableError
            With every fault that :func:`cobandit.tables.schema.validate` found.
        """
        records = validate(frame, card, source)
        if card.split.instances is None:
            mask = profiling_mask(
                len(records.instances), card.split.profiling, card.split.seed
            )
            if moved := (records.profiling != mask[records.instance]).sum():
                share = f"{moved:,} of {len(records.arm):,} evaluations"
                said = (
                    f"few instances: the random split was changed ({share}), so that"
                    " every configuration"
                )
                notes = (*notes, f"{said} has {MIN_INSTANCES} in either part")
        return cls(card, notes, records)

    def __repr__(self) -> str:
        """Name, kind, size, objectives, unit of cost and notes, in lines of 84 characters."""
        counts = self.n_instances
        per_arm = (
            f"{counts.min()}"
            if counts.min() == counts.max()
            else f"{counts.min()}-{counts.max()}"
        )
        lines = [
            (
                f"{self.name} ({self.kind}): {self.n_arms} configurations x {per_arm}"
                " instances"
            ),
            f"objectives: {', '.join(self.objectives)}; cost in {self.card.cost.unit}",
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(
            textwrap.fill(line, 84, subsequent_indent="    ") for line in lines
        )

    def _repr_html_(self) -> str:
        """Write the same, and the means of the configurations, for a notebook."""
        headline, *notes = repr(self).splitlines()
        return as_html(
            headline, self.summary()[[*self.objectives, "cost", "instances"]], notes
        )

    @property
    def name(self) -> str:
        """Name in the catalogue and in file names."""
        return self.card.name

    @property
    def kind(self) -> str:
        """Where the numbers come from: ``measured``, ``reconstruction`` or ``synthetic``."""
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
        """For each objective, the fitted values of its column that score 1 and 0; a copy."""
        return dict(self._records.limits)

    @property
    def clusters(self) -> np.ndarray | None:
        """Number of each instance's cluster, int64 of shape (I,); None where each stands for itself."""
        return (
            None
            if self.card.cluster is None
            else self._records.groups[self.card.cluster].codes
        )

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """By column, the number of each instance's value, shape (I,): what instances have in common."""
        return {name: keys.codes for name, keys in self._records.groups.items()}

    def cluster_by(self, column: str) -> EvaluationTable:
        """Return the table with another cluster: what instances of one value have in common.

        Parameters
        ----------
        column : str
            One of ``groups``: a column of the records that is constant within an
            instance.

        Returns
        -------
        EvaluationTable

        Raises
        ------
        CobanditError
            If there is no such column.

        Examples
        --------
        >>> frame = pd.DataFrame({
        ...     "config": list("aaaabbbb"), "instance": list("1234") * 2, "ok": [1, 1, 0, 0, 1, 1, 1, 0],
        ...     "passage": list("xxyy") * 2,
        ... })
        >>> table = EvaluationTable.from_frame(frame, objectives={"accuracy": "ok"})
        >>> table.clusters, table.cluster_by("passage").clusters.tolist()
        (None, [0, 0, 1, 1])
        """
        if column not in self._records.groups:
            names = ", ".join(self._records.groups) or "none"
            raise CobanditError(
                f"cluster: {self.name} has no column {column!r} that is the same in all"
                f" rows of an instance and in several instances; there is {names}"
            )
        card = check_fields(Card, dict(self.card) | {"cluster": column}, "cluster_by")
        return EvaluationTable(card, self.notes, self._records)

    @property
    def raw_means(self) -> pd.DataFrame:
        """Mean of each objective's column before its transform, over all instances, by config."""
        means = _arm_means(self._records, self._records.measured).T
        columns = [objective.column for objective in self.card.objectives]
        return pd.DataFrame(
            dict(zip(columns, means, strict=True)), index=self._records.arms.index
        )

    @cached_property
    def n_instances(self) -> np.ndarray:
        """Number of instances of each arm in both splits together, int64 of shape (K,)."""
        return _frozen(np.bincount(self._records.arm, minlength=self.n_arms))

    @property
    def n_benchmark(self) -> int:
        """Number of instances of the benchmark: those of the table, or as many as its card says."""
        return max(len(self._records.instances), self.card.n_instances or 0)

    @property
    def n_free(self) -> int:
        """Number of evaluations that cost nothing."""
        return int(self.free_evaluations.sum())

    @cached_property
    def free_evaluations(self) -> np.ndarray:
        """Number of evaluations of each arm that cost nothing: int (K,).

        The card counts them; where it does not, they are those that cost no more than a
        free one counts as.
        """
        records, smallest = self._records, self.card.smallest_cost
        if smallest is None:
            return _frozen(np.zeros(self.n_arms, dtype=int))
        counted = np.array(
            [self.card.counts.get(name, {}).get(FREE, 0) for name in self.configs]
        )
        if not counted.any():
            counted = np.bincount(
                records.arm[records.costs <= smallest], minlength=self.n_arms
            )
        return _frozen(counted)

    @cached_property
    def has_made_up_cost(self) -> np.ndarray:
        """Whether a hundredth of an arm's cost or more is what free evaluations count as: bool (K,)."""
        records, smallest = self._records, self.card.smallest_cost
        if smallest is None:
            return _frozen(np.zeros(self.n_arms, dtype=bool))
        paid = np.bincount(records.arm, records.costs, self.n_arms)
        return _frozen(smallest * self.free_evaluations >= MADE_UP * paid)

    @property
    def rows(self) -> pd.DataFrame:
        """Every row, as a new frame: config, instance, cost, each objective after its transform, split.

        ``config``, ``instance`` and ``split`` (profiling or evaluation) are
        categorical; sorted by config, then instance.
        """
        records = self._records
        splits = pd.Index(["evaluation", "profiling"])
        return pd.DataFrame(
            {
                "config": pd.Categorical.from_codes(
                    records.arm, pd.Index(self.configs)
                ),
                "instance": pd.Categorical.from_codes(
                    records.instance, pd.Index(records.instances)
                ),
                "cost": records.costs.copy(),
                **{
                    name: records.rewards[:, d].copy()
                    for d, name in enumerate(self.objectives)
                },
                "split": pd.Categorical.from_codes(
                    records.profiling.astype(np.int64), splits
                ),
            }
        )

    @property
    def evaluations(self) -> pd.DataFrame:
        """Every evaluation as it was measured, as a new frame: the columns that the card names, in one order.

        Sorted by config, then instance; an evaluation that cost nothing has what it
        counts as.
        """
        records, card = self._records, self.card
        measured = {
            o.column: records.measured[:, d] for d, o in enumerate(card.objectives)
        }
        columns = {
            "config": np.array(self.configs, dtype=object)[records.arm],
            "instance": np.array(records.instances, dtype=object)[records.instance],
            **measured,
            card.cost.column: records.costs,
        } | {
            name: self._records.arms[name].to_numpy()[records.arm] for name in card.arms
        }
        if card.cluster is not None:
            labels, codes = records.groups[card.cluster]
            columns[card.cluster] = np.array(labels, dtype=object)[
                codes[records.instance]
            ]

        return pd.DataFrame({name: columns[name] for name in card.columns})

    @cached_property
    def costs(self) -> np.ndarray:
        """Mean cost of each arm in the profiling split, float64 of shape (K,), in the user's unit."""
        seen = self._of_split("profiling")
        return _frozen(_arm_means(seen, seen.costs[:, None])[:, 0])

    @cached_property
    def cost_range(self) -> tuple[float, float]:
        """Smallest and largest cost of a single evaluation in the profiling split, in the user's unit."""
        costs = self._of_split("profiling").costs
        return float(costs.min()), float(costs.max())

    @cached_property
    def means(self) -> np.ndarray:
        """Mean reward of each arm in the evaluation split, float64 of shape (K, D)."""
        held_out = self._of_split("evaluation")
        return _frozen(_arm_means(held_out, held_out.rewards))

    @cached_property
    def problem(self) -> Problem:
        """The bandit problem that replays are judged by: :meth:`truth` with its default."""
        return self.truth()

    def truth(self, true_costs: str | None = None) -> Problem:
        """Return the bandit problem whose truth is this table.

        Parameters
        ----------
        true_costs : {"evaluation", "profiling"}, optional
            The split whose mean costs are the true ones; mean rewards are always those
            of the evaluation split.  Default: ``"evaluation"``, and ``"profiling"`` for
            a reconstruction of the paper's tables, as the paper is read here (A10 in
            notebooks/claims.md).

        Returns
        -------
        Problem
            With costs divided by ``cost_range[1]``, the largest single cost in
            profiling.

        Raises
        ------
        CobanditError
            If ``true_costs`` is no split.

        Examples
        --------
        >>> from cobandit import load
        >>> table = load("synthetic-24")
        >>> table.truth("profiling").costs[:2].round(4), table.problem.costs[:2].round(4)
        (array([0.5384, 0.5895]), array([0.5377, 0.5915]))
        """
        if true_costs is None:
            true_costs = "profiling" if self.kind == "reconstruction" else "evaluation"
        judged_by = self._of_split(
            choice(true_costs, "true_costs", ("evaluation", "profiling"))
        )
        costs = _arm_means(judged_by, judged_by.costs[:, None])[:, 0]
        return Problem(self.means, costs / self.cost_range[1], names=self.configs)

    @cached_property
    def feedback(self) -> Feedback:
        """The evaluation rows, arm after arm, as arrays that cannot be written to."""
        held_out = self._of_split("evaluation")
        offsets = np.searchsorted(held_out.arm, np.arange(self.n_arms + 1)).astype(
            np.int64
        )
        return Feedback(
            _frozen(held_out.costs), _frozen(held_out.rewards), _frozen(offsets)
        )

    def summary(self, split: str = "all") -> pd.DataFrame:
        """One row per configuration, over the instances of one split or of both.

        Parameters
        ----------
        split : {"all", "evaluation", "profiling"}
            The truth that replays are judged by is that of ``"evaluation"``.

        Returns
        -------
        DataFrame, K rows
            Indexed by config: the mean of each objective, ``cost`` (mean, in the user's
            unit), ``instances`` (their number) and ``on_front`` (Pareto-optimal by
            these means).  Over both splits, means are those on all instances of the
            table: where some are missing, as
            :class:`~cobandit.tables.adjusted.AdjustedMeans` has them.  Over one split,
            from which replays draw arm by arm, they are those of the rows.

        Raises
        ------
        CobanditError
            If there is no such split.
        """
        records = self._of_split(
            choice(split, "split", ("all", "evaluation", "profiling"))
        )
        if split == "all":
            values = self._means_on_all
        else:
            values = _arm_means(
                records, np.column_stack([records.rewards, records.costs])
            )

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

    @property
    def is_complete(self) -> bool:
        """Whether every configuration is evaluated on every instance that the table has."""
        n_instances = len(np.unique(self._records.instance))
        return bool((self.n_instances == n_instances).all())

    @cached_property
    def _means_on_all(self) -> np.ndarray:
        """Mean of each objective, and of the cost, on all instances of the table: shape (K, D + 1)."""
        records = self._records
        columns = np.column_stack([records.rewards, records.costs])
        means = _arm_means(records, columns)
        if not self.is_complete:
            short = self.n_instances < len(np.unique(records.instance))
            adjusted = np.column_stack([effects.means for effects in self.effects])
            adjusted[:, :-1] = adjusted[:, :-1].clip(0, 1)
            means[short] = adjusted[short]
        return _frozen(means)

    @cached_property
    def effects(self) -> tuple[AdjustedMeans, ...]:
        """Adjustment of each objective's mean, and of the cost's, to all instances of the table."""
        from cobandit.tables.adjusted import AdjustedMeans  # scipy takes its time

        records = self._records
        _, instance = np.unique(records.instance, return_inverse=True)
        scores = (
            AdjustedMeans(records.arm, instance, column) for column in records.rewards.T
        )
        return (
            *scores,
            AdjustedMeans(records.arm, instance, records.costs, multiplicative=True),
        )

    def _of_split(self, split: str) -> Records:
        """Return records of one split, or of both: ``"all"``."""
        if split == "all":
            return self._records
        records = self._records.take(
            np.flatnonzero(self._records.profiling == (split == "profiling"))
        )
        counts = np.bincount(records.arm, minlength=self.n_arms)
        if counts.min() < MIN_INSTANCES:
            raise CobanditError(
                f"{self.name}: {self.configs[counts.argmin()]!r} has {counts.min()}"
                f" {split} instances, of which {MIN_INSTANCES} are needed; use what"
                " reads all, such as recommend, or take a subset"
            )
        return records

    def take_profiling(self) -> EvaluationTable:
        """Return the table in which the profiling split also stands for the evaluation split.

        Replays on it see nothing else, so that settings can be chosen without looking
        at what they are then judged by.

        Returns
        -------
        EvaluationTable
        """
        rows = np.repeat(np.flatnonzero(self._records.profiling), 2)
        twice = self._records.take(rows)._replace(
            profiling=np.arange(len(rows)) % 2 == 0
        )
        return EvaluationTable(self.card, self.notes, twice)

    def subset(self, query: str) -> EvaluationTable:
        """Keep the configurations that a query on their descriptive columns selects.

        The transforms stay as fitted on the whole table and so does its split;
        ``costs`` and ``cost_range`` are those of the arms that are left.

        Parameters
        ----------
        query : str
            A pandas query over the columns of ``arms`` and ``config``, such as
            ``"temperature > 0"``.

        Returns
        -------
        EvaluationTable

        Raises
        ------
        TableError
            If the query does not parse, names an unknown column, is not a condition, or
            leaves fewer than two arms.
        """
        where = f"subset {query!r} of {self.name}"
        keep = evaluate_condition(self._records.arms.reset_index(), query, where)
        if keep.sum() < MIN_ARMS:
            problem = f"it leaves {int(keep.sum())} of {self.n_arms} configurations"
            raise_fault(
                where, problem, "widen it: at least two are needed", "one-configuration"
            )
        number = np.cumsum(keep) - 1
        records = self._records.take(np.flatnonzero(keep[self._records.arm]))
        records = records._replace(arms=records.arms[keep], arm=number[records.arm])
        return EvaluationTable(self.card, self.notes, records)

    def select_objectives(self, *names: str) -> EvaluationTable:
        """Keep some of the objectives, in the order given; transforms, split and costs stay as they are.

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
            If a name is no objective, none is given, or one is given twice.
        """
        places = [
            self.objectives.index(choice(name, "objective", self.objectives))
            for name in names
        ]
        fields = {"objectives": [self.card.objectives[place] for place in places]}
        card = check_fields(Card, dict(self.card) | fields, "select_objectives")

        # copies have their rows in one piece, as `feedback` says
        rewards, measured = (
            x[:, places].copy() for x in (self._records.rewards, self._records.measured)
        )
        limits = {name: self._records.limits[name] for name in names}
        records = self._records._replace(
            limits=limits, rewards=rewards, measured=measured
        )
        return EvaluationTable(card, self.notes, records)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _arm_means(records: Records, values: np.ndarray) -> np.ndarray:
    """Mean over the rows of each arm of ``values``, shape (N, D), as (K, D)."""
    counts = np.bincount(records.arm, minlength=len(records.arms))
    sums = [
        np.bincount(records.arm, weights=column, minlength=len(counts))
        for column in values.T
    ]
    return np.stack(sums, axis=1) / counts[:, None]
