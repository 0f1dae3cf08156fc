"""The plan of a run: configurations, instances, method, budget and evaluator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from cobandit.live.configurations import WRITE, Configurations
from cobandit.live.evaluators.base import ADDRESS_SETTINGS
from cobandit.live.evaluators.registry import find_evaluator
from cobandit.live.headers import compare_nested
from cobandit.live.instances import Instances
from cobandit.live.plan_checks import check_together
from cobandit.live.plan_fields import COSTS, RACE, Named, Stop
from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import Spec, spec
from cobandit.tables.card import Cost, Objectives
from cobandit.tables.checked_fields import Fields, check_fields

#: Fields that may change when a run is resumed, because they affect no result.
CHANGEABLE = frozenset(
    {
        "title",
        "license",
        "reuse",
        "at_once",
        "timeout",
        "retries",
        "patience",
        "answers",
        "equal_scores",
    }
)

#: Options of an evaluator that may change during the pilot. The pilot's answers are
#: then scored again.
SCORING = ("scorer", "pattern", "tolerance", "answer")

#: Further fields that may change when a run is resumed: until the end of the pilot, or
#: at any time if the method evaluates every instance at most once.
AFTER_PILOT = frozenset({"budget", "unit", "method", "stop", "objectives", "failures"})


class Plan(Fields):
    """The plan of a run: configurations, instances, method, budget and evaluator.

    Use `check_plan` to make a plan from its written fields.

    Parameters
    ----------
    name : str
        Name of the run, and of its folder and table.
    configurations : Configurations
        Written ``{grid: {setting: [values]}}`` or ``{list: [...]}``.
    instances : Instances
        Written as their number, a list of ids, or ``{file: ..., column: ..., cluster:
        ...}``. The cluster is a column that groups instances, for `ParetoRace` only.
    method : Named
        Written ``CoPSIOnce`` or ``{CoPSIOnce: {confidence: 0.95}}``; by default
        `ParetoRace`.
    stop : Stop, optional
        Stopping rule of `ParetoRace`, written ``{tolerance: 0.02, cost: 10%, error:
        0.05}``. With ``front: objectives``, costs are not compared, and ``certified:
        true`` is possible. For a certified race, the bound on the error probability is
        proved, and not only tested on tables.
    budget : float, optional
        Budget of the run. The field `unit` is the unit of the cost, or ``share`` if the
        budget is a share of the cost of evaluating everything. With a `stop`, the
        budget is optional, and only an upper limit.
    ordered : bool, optional
        Whether the instances are evaluated in the order of their list; by default the
        order is random.
    cost, objectives
        Columns of the cost and of the objectives, as on the card of a table
        (`cobandit.tables.card`). A cost may also be written ``usd``, ``tokens`` or
        ``seconds``.
    largest_cost : float or str, optional
        Largest cost of an evaluation, or the name of the setting that limits it, such
        as ``max_tokens``. The budget is exceeded only if an evaluation costs more.
    pilot : int
        Number of instances on which all configurations are evaluated first.
    evaluate : Named, optional
        The evaluator, written ``{callable: {function: "module:function"}}``.
    reuse : str, optional
        Table of an earlier run or import. Its evaluations are charged but not repeated.
    at_once : int
        Number of concurrent calls.
    timeout : float, optional
        Time limit of an evaluation in seconds; by default 600 for endpoints, and
        unlimited for other evaluators.
    patience : float
        Seconds for which a failing service is retried before the run stops.
    retries : int
        Number of retries of an evaluation that was billed without a score.
    answers : bool
        Whether answers are stored, for `cobandit.live.rescore`.
    equal_scores : bool
        Whether a run continues even if all scores of an objective are equal in its
        pilot.
    failures : {"zero", "leave-out"}
        Treatment of an evaluation that fails after all retries: it scores zero, or its
        instance is left out for all configurations.
    seed : int
        Seed of the order of the instances.

    Examples
    --------
    >>> plan = check_plan({
    ...     "name": "toy", "instances": 30, "budget": 0.5, "unit": "share",
    ...     "configurations": {"grid": {"model": ["a", "b"]}}, "cost": "tokens",
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> plan.names, plan.method.name, plan.pilot, len(plan.order)
    (('a', 'b'), 'ParetoRace', 5, 30)
    """

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", description="use a-z, 0-9, '.', '_' and '-'"
    )
    title: str | None = Field(
        None, description="give a title of one line, or leave it out"
    )
    license: str = Field(
        "not stated",
        min_length=1,
        description="name the table's licence, or leave it out",
    )
    configurations: Configurations = Field(description=WRITE)
    instances: Instances = Field(
        description="give their number, a list of ids, or a file of ids"
    )
    method: Named = Field(
        default=Named(name=RACE),
        description="name a method, or {NAME: {option: value}}",
    )
    stop: Stop | None = Field(
        None, description="write {tolerance: 0.02, error: 0.05}, or leave it out"
    )
    budget: float | None = Field(
        None, gt=0, lt=inf, description="give a positive number, and its unit as 'unit'"
    )
    unit: str = Field("", description="write share, or the unit of the cost")
    cost: Cost = Field(
        description="write usd, tokens, seconds, or {column: ..., unit: ...}"
    )
    objectives: Objectives = Field(
        description="list at least one: - {name: ..., column: ...}"
    )
    largest_cost: float | str | None = Field(
        None,
        description=(
            "give the largest cost of an evaluation, or the name of the setting that"
            " limits it"
        ),
    )
    pilot: int = Field(
        5, ge=2, description="give a number of instances for the pilot, at least two"
    )
    evaluate: Named | None = Field(
        None, description="write {callable: {function: 'module:function'}}"
    )
    reuse: str | None = Field(
        None, description="name the table of an earlier run, or leave it out"
    )
    at_once: int = Field(
        1, ge=1, description="give the number of concurrent calls, at least 1"
    )
    timeout: float | None = Field(
        None,
        gt=0,
        description="give a number of seconds, or leave it out (endpoints: 600)",
    )
    patience: float = Field(
        600.0,
        ge=0,
        description="give the number of seconds for which a failing service is retried",
    )
    retries: int = Field(
        2, ge=0, description="give the number of retries of a billed evaluation, from 0"
    )
    answers: bool = Field(
        True, description=("write false to store no answers, or leave it out")
    )
    failures: Literal["zero", "leave-out"] = Field(
        "zero", description="choose zero or leave-out"
    )
    equal_scores: bool = Field(
        False, description="write true if equal scores are intended, or leave it out"
    )
    seed: int = Field(0, ge=0, description="give a seed: an integer of at least 0")
    ordered: bool | None = Field(None, description="write true, or leave it out")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the configurations, in the order of the plan: item k names arm k."""
        return self.configurations.names

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, which describe a configuration."""
        return self.configurations.settings

    @property
    def order(self) -> tuple[str, ...]:
        """Instances in the order of their evaluation."""
        return self.instances.ids if self.ordered else self.instances.shuffle(self.seed)

    @property
    def cluster(self) -> list[str] | None:
        """Cluster of each instance, in the order of `order`; None without clusters."""
        if self.instances.cluster is None:
            return None
        return [self.instances.find_cluster(name) for name in self.order]

    @property
    def measured(self) -> set[str]:
        """Names of the columns that every evaluation has to measure."""
        return {self.cost.column, *(objective.column for objective in self.objectives)}

    @cached_property
    def strategy(self) -> Spec:
        """The method with its options, including the options in ``stop``."""
        stop = {} if self.stop is None else self.stop.options
        return Spec(spec(self.method.name).policy, {**self.method.options, **stop})

    @cached_property
    def is_once(self) -> bool:
        """Whether the method evaluates every instance at most once."""
        return self.strategy.kind == "once"

    @cached_property
    def largest_costs(self) -> list[float] | None:
        """Largest cost of an evaluation of each configuration; None if unknown."""
        if self.largest_cost is None:
            return None
        if isinstance(self.largest_cost, str):
            return [
                float(settings[self.largest_cost])
                for settings in self.configurations.all
            ]
        return [self.largest_cost] * len(self.names)

    @field_validator("cost", mode="before")
    @classmethod
    def _name_cost(cls, written: Any) -> Any:
        return COSTS.get(written, written) if isinstance(written, str) else written

    @field_validator("method")
    @classmethod
    def _find_method(cls, method: Named) -> Named:
        spec(method.name, **method.options)
        return method

    @field_validator("evaluate")
    @classmethod
    def _find_evaluator(cls, evaluate: Named | None) -> Named | None:
        if evaluate is not None:
            find_evaluator(evaluate.name)
        return evaluate

    @model_validator(mode="after")
    def _check_together(self) -> Plan:
        check_together(self)
        return self

    def make_policy(
        self,
        costs: Sequence[float],
        cost_range: tuple[float, float],
        budget: float | None,
    ) -> AskTell:
        """Make a fresh policy of the plan's method.

        ``costs`` are the mean costs in the pilot, and ``cost_range`` are the smallest
        and largest cost. The budget is in the same unit.
        """
        largest = self.largest_costs
        low = min(cost_range[0], *costs)
        high = max(cost_range[1], *(largest or costs))
        return self.strategy.make(
            rho=(budget or 0.0) / sum(costs),
            costs=costs,
            n_arms=len(costs),
            n_objectives=len(self.objectives),
            n_instances=len(self.order),
            cluster=self.cluster,
            budget=budget,  # only a race may have None
            largest_costs=largest,
            cost_range=(low, high),
            # an evaluation starts only if the remaining budget covers its largest cost,
            # because it is paid in full
            expected_costs=largest or [high] * len(costs),
        )

    def differences(
        self,
        written: Mapping[str, Any],
        but: Collection[str] = CHANGEABLE,
        free: Collection[str] = (),
    ) -> list[str]:
        """List the differences between this plan and another plan, as a run stores it.

        The fields in ``but`` and the evaluator's options in ``free`` are not compared.

        Examples
        --------
        >>> content = {
        ...     "name": "toy", "configurations": {"grid": {"n": [1, 2]}},
        ...     "objectives": [{"name": "accuracy", "column": "correct"}],
        ...     "cost": "tokens", "budget": 0.5, "unit": "share", "instances": 30,
        ... }
        >>> plan = check_plan(content, "toy.yml")
        >>> changed = check_plan(content | {"seed": 1, "at_once": 8}, "toy.yml")
        >>> changed.differences(plan.model_dump(mode="json"))
        ['seed is 0 there, but 1 here']
        """
        same_names = (
            Configurations.model_validate(written["configurations"]).names == self.names
        )
        return [
            words
            for path, words in compare_nested(written, self.model_dump(mode="json"))
            # addresses may change, unless names of configurations contain them
            if path[0] not in but
            and not (path[-1] in ADDRESS_SETTINGS and same_names)
            and not (path[0] == "evaluate" and path[-1] in free)
        ]


def check_plan(content: Any, source: str, folder: Path = Path()) -> Plan:
    """Make a plan from its fields, or raise one error that lists all faults.

    Parameters
    ----------
    content : mapping
        Fields of the plan, as in its YAML file.
    source : str
        File of the plan, for messages.
    folder : Path
        Folder that relative paths start from.

    Examples
    --------
    >>> check_plan({"name": "My Run"}, "my.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 5 faults
    - my.yml, field 'name': 'My Run' is not allowed here -> use a-z, 0-9, '.', ...
    """
    plan = check_fields(Plan, content, source, {"folder": folder})
    if plan.evaluate is not None:
        kind = find_evaluator(plan.evaluate.name)
        place = f"{source}, field 'evaluate.{plan.evaluate.name}'"
        check_fields(kind.options, plan.evaluate.options, place)
    return plan
