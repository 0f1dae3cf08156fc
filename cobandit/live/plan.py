"""The plan of a run: which configurations, on which instances, by which method, for how much, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from cobandit._text import suggest
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.configurations import TABLE_COLUMNS, WRITE, Configurations, Instances
from cobandit.live.evaluators.base import ADDRESS_SETTINGS
from cobandit.live.evaluators.registry import find_evaluator
from cobandit.live.headers import compare_nested
from cobandit.live.plan_fields import COSTS, RACE, SHARE_UNIT, Named, Stop
from cobandit.policies.asktell import AskTell
from cobandit.policies.registry import Spec, spec
from cobandit.tables.card import Cost, Objectives
from cobandit.tables.safe_reading import Fields, check_fields

#: What may change when a run is continued: nothing that was told depends on it.
CHANGEABLE = frozenset(
    {"title", "license", "reuse", "at_once", "timeout", "retries", "patience", "answers", "equal_scores"}
)


#: Options of an evaluator that may change while there is only the pilot, whose answers are then scored again.
SCORING = ("scorer", "pattern", "tolerance", "answer")

#: What may also change while there is only the pilot, and later where instances are evaluated once.
AFTER_PILOT = frozenset({"budget", "unit", "method", "stop", "objectives", "failures"})


class Plan(Fields):
    """What a run does; make it with `check_plan`.

    Parameters
    ----------
    name : str
        Of the run, its folder and its table.
    configurations : Configurations
        Written ``{grid: {setting: [values]}}`` or ``{list: [...]}``.
    instances : Instances
        Written as their number, a list of ids, or ``{file: ..., column: ..., cluster: ...}``; the cluster, a
        column of what instances have in common, is for a race alone.
    method : Named
        Written ``CoPSIOnce`` or ``{CoPSIOnce: {confidence: 0.95}}``; by default `ParetoRace`.
    stop : Stop, optional
        When a race stops by itself, written ``{tolerance: 0.02, cost: 10%, error: 0.05}``; with
        ``front: objectives`` if costs are not to be compared, and then with ``certified: true`` if the error
        is to be proved instead of measured.
    budget : float, optional
        In `unit`: ``share``, the part of what evaluating everything costs, or the unit of the cost.  A race
        that has a `stop` needs none, and takes it as a cap.
    ordered : bool, optional
        Whether the instances are evaluated in the order in which they are listed; by default it is random.
    cost, objectives
        As on a card; a cost may also be written ``usd``, ``tokens`` or ``seconds``.
    largest_cost : float or str, optional
        What one evaluation may cost at most, or the setting that says it (such as ``max_tokens``).  If it is
        true, the budget is never exceeded.
    pilot : int
        Instances of the pilot.
    evaluate : Named, optional
        How to evaluate, written ``{callable: {function: "module:function"}}``.
    reuse : str, optional
        The table of an earlier run: what it has is not evaluated again, and charged as if it were.
    at_once : int
        Calls under way at a time.
    timeout : float, optional
        Seconds that one evaluation may take; if it is not given, 600 at an endpoint, and any elsewhere.
    patience : float
        Seconds for which a service that fails is tried again before the run stops.
    retries : int
        How often an evaluation is tried again that was billed and gave no score.
    answers : bool
        Whether answers are kept, for `cobandit.live.rescore`.
    equal_scores : bool
        Whether a run goes on although all scores of an objective are equal in its pilot.
    failures : {"zero", "leave-out"}
        What becomes of one that went on failing: it scores zero, or its instance is left out for all.
    seed : int
        Of the order of the instances.

    Examples
    --------
    >>> plan = check_plan({
    ...     "name": "toy", "configurations": {"grid": {"model": ["a", "b"]}}, "instances": 30,
    ...     "budget": 0.5, "unit": "share", "cost": {"column": "tokens", "unit": "tokens"},
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> plan.names, plan.method.name, plan.pilot, len(plan.order)
    (('a', 'b'), 'ParetoRace', 5, 30)
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", description="use a-z, 0-9, '.', '_' and '-'")
    title: str | None = Field(None, description="say in one line what is evaluated, or leave it out")
    license: str = Field("not stated", min_length=1, description="name the table's licence, or leave it out")
    configurations: Configurations = Field(description=WRITE)
    instances: Instances = Field(description="give their number, a list of ids, or a file of ids")
    method: Named = Field(default=Named(name=RACE), description="name a method, or {NAME: {option: value}}")
    stop: Stop | None = Field(None, description="write {tolerance: 0.02, error: 0.05}, or leave it out")
    budget: float | None = Field(None, gt=0, lt=inf, description="give a number, and its unit as 'unit'")
    unit: str = Field("", description="write share, or the unit of the cost")
    cost: Cost = Field(description="write usd, tokens, seconds, or {column: ..., unit: ...}")
    objectives: Objectives = Field(description="list at least one: - {name: ..., column: ...}")
    largest_cost: float | str | None = Field(
        None, description="give the most that one evaluation may cost, or the setting that says it"
    )
    pilot: int = Field(5, ge=2, description="give the number of instances of the pilot, at least two")
    evaluate: Named | None = Field(None, description="write {callable: {function: 'module:function'}}")
    reuse: str | None = Field(None, description="name the table of an earlier run, or leave it out")
    at_once: int = Field(1, ge=1, description="give the number of calls under way at a time, at least 1")
    timeout: float | None = Field(None, gt=0, description="give seconds, or leave it out")
    patience: float = Field(600.0, ge=0, description="give seconds for which a failing service is tried")
    retries: int = Field(2, ge=0, description="say how often to try again what was billed, 0 for never")
    answers: bool = Field(True, description="write false if answers are not to be kept")
    failures: Literal["zero", "leave-out"] = Field("zero", description="choose zero or leave-out")
    equal_scores: bool = Field(False, description="write true if equal scores are meant, or leave it out")
    seed: int = Field(0, ge=0, description="give a seed, an integer from 0")
    ordered: bool | None = Field(None, description="write true, or leave it out")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the configurations, in the plan's order: the position is the arm number."""
        return self.configurations.names

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, which describe a configuration."""
        return self.configurations.settings

    @property
    def order(self) -> tuple[str, ...]:
        """The instances in the order in which every configuration is evaluated on them."""
        return self.instances.ids if self.ordered else self.instances.shuffle(self.seed)

    @property
    def cluster(self) -> list[str] | None:
        """Of each instance, in the order in which they are evaluated; None where each stands for itself."""
        if self.instances.cluster is None:
            return None
        return [self.instances.find_cluster(name) for name in self.order]

    @cached_property
    def strategy(self) -> Spec:
        """Class of the method, and its options with when it stops."""
        stop = {} if self.stop is None else self.stop.options
        return Spec(spec(self.method.name).policy, {**self.method.options, **stop})

    @cached_property
    def is_once(self) -> bool:
        """Whether the method evaluates every instance at most once."""
        return self.strategy.kind == "once"

    @cached_property
    def largest_costs(self) -> list[float] | None:
        """The most that one evaluation of each configuration may cost, if that is known."""
        if self.largest_cost is None:
            return None
        if isinstance(self.largest_cost, str):
            return [float(each[self.largest_cost]) for each in self.configurations.all]
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
    def _agree(self) -> Plan:
        n, method = len(self.order), self.method.name
        measured = {self.cost.column, *(objective.column for objective in self.objectives)}
        cluster = self.instances.cluster
        columns = [
            *self.settings,
            *TABLE_COLUMNS,
            *measured,
            *([] if cluster is None else [cluster]),
        ]  # of the table
        if twice := [name for name, n in Counter(columns).items() if n > 1]:
            others = f"settings, what is measured, a cluster, and always {', '.join(TABLE_COLUMNS)}"
            raise_fault(
                None, f"two columns of the table are {twice[0]!r} ({others})", "call one of them otherwise"
            )
        ends = self.stop is not None and method == RACE
        if not ends and (self.budget is None or self.stop is not None):
            remedy = (
                f"give a budget with its unit; {RACE} alone may have stop: {{tolerance: 0.02, error: 0.05}}"
            )
            raise_fault(None, f"{method} cannot end as the plan says", remedy)
        if cluster is not None and method != RACE:
            raise_fault(None, f"{method} does not count clusters", f"leave out cluster, or take {RACE}")
        if self.budget is not None and self.unit not in (SHARE_UNIT, self.cost.unit):
            remedy = f"write {SHARE_UNIT}, or {self.cost.unit}"
            raise_fault(None, f"the budget's unit {self.unit!r} is not that of the cost", remedy)
        room = n * min(1, self.budget if self.budget and self.unit == SHARE_UNIT else 1)
        if self.pilot > room:
            problem = f"the pilot takes {self.pilot} instances, and the plan has {n}, its budget {room:.3g}"
            raise_fault(None, problem, "make the pilot smaller, or the budget larger")
        if self.budget is not None and self.unit == SHARE_UNIT and self.budget > 1:
            problem = f"a budget of {self.budget:g} is more than evaluating everything costs"
            raise_fault(None, problem, f"give a share up to 1, or an amount with unit: {self.cost.unit}")
        leaves_out = self.failures == "leave-out"
        if (leaves_out or self.reuse is not None) and not self.is_once:
            problem = f"{method} may evaluate an instance again, so none can be taken over or left out"
            remedy = "start without a table and with failures: zero, or evaluate once, as CoPSIOnce does"
            raise_fault(None, problem, remedy)
        if leaves_out and self.method.options.get("confidence") is not None:
            problem = f"{method} with a confidence can leave no instance out"
            raise_fault(None, problem, "take failures: zero, or no confidence")
        if self.strategy.given.get("certified"):
            if self.strategy.given.get("front") != "objectives":
                problem = "a certified race compares declared costs, and a pilot does not declare them"
                raise_fault(None, problem, "write stop: {front: objectives, ...}, or leave out certified")
            if leaves_out:
                problem = "a certified race can leave no instance out"
                raise_fault(None, problem, "take failures: zero, or a race that is not certified")
            if self.ordered:
                problem = "a certified race needs the instances in a random order"
                raise_fault(None, problem, "leave out ordered, or certified")
        try:
            positive = all(0 < cost < inf for cost in self.largest_costs or [])
        except (KeyError, TypeError, ValueError):
            positive = False
        if not positive:
            problem = f"largest_cost is {self.largest_cost!r}, not a positive number for each configuration"
            remedy = suggest(str(self.largest_cost), self.settings, "give a number, or a setting that is one")
            raise_fault(None, problem, remedy)
        costs = self.largest_costs or [1e9] * len(self.names)  # above any smallest cost
        try:  # only the class knows whether its options are right
            self.make_policy(costs, (min(costs), max(costs)), budget=1e6 * sum(costs))
        except CobanditError as error:
            raise_fault(None, f"{method}: {error}", "correct its options")
        return self

    def make_policy(
        self, costs: Sequence[float], cost_range: tuple[float, float], budget: float | None
    ) -> AskTell:
        """Make a fresh policy from what a pilot found; costs and budget are in the unit of the cost."""
        largest = self.largest_costs
        low, high = min(cost_range[0], *costs), max(cost_range[1], *(largest or costs))
        return self.strategy.make(
            rho=(budget or 0.0) / sum(costs),
            costs=costs,
            n_arms=len(costs),
            n_objectives=len(self.objectives),
            n_instances=len(self.order),
            cluster=self.cluster,
            budget=budget,  # None for a race alone
            largest_costs=largest,
            cost_range=(low, high),
            # what an evaluation may cost, not its mean, has to fit into what is left: the last is paid, too
            expected_costs=largest or [high] * len(costs),
        )

    def differences(
        self,
        written: Mapping[str, Any],
        but: Collection[str] = CHANGEABLE,
        free: Collection[str] = (),
    ) -> list[str]:
        """Say in what this plan is another than one that was written, as `model_dump` has it.

        Fields in ``but`` are not compared, nor options of the evaluator in ``free``.

        Examples
        --------
        >>> content = {
        ...     "name": "toy", "configurations": {"grid": {"model": ["a", "b"]}}, "instances": 30,
        ...     "budget": 0.5, "unit": "share", "cost": {"column": "tokens", "unit": "tokens"},
        ...     "objectives": [{"name": "accuracy", "column": "correct"}],
        ... }
        >>> plan = check_plan(content, "toy.yml")
        >>> changed = check_plan(content | {"seed": 1, "at_once": 8}, "toy.yml")
        >>> changed.differences(plan.model_dump(mode="json"))
        ['seed is 0 there and 1 here']
        """
        same_names = Configurations.model_validate(written["configurations"]).names == self.names
        return [
            said
            for path, said in compare_nested(written, self.model_dump(mode="json"))
            # where a model is asked may change, unless configurations are told apart by it
            if path[0] not in but
            and not (path[-1] in ADDRESS_SETTINGS and same_names)
            and not (path[0] == "evaluate" and path[-1] in free)
        ]


def check_plan(content: Any, source: str, folder: Path = Path()) -> Plan:
    """Make a plan of its fields, or raise one error that lists what is wrong with them.

    Parameters
    ----------
    content : mapping
    source : str
        The file, for messages.
    folder : Path
        Where relative paths start.

    Examples
    --------
    >>> check_plan({"name": "My Run"}, "my.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.TableError: 5 faults
    - my.yml, field 'name': 'My Run' cannot stand here -> use a-z, 0-9, '.', '_' and '-'
    - ...
    """
    plan = check_fields(Plan, content, source, {"folder": folder})
    if plan.evaluate is not None:
        kind, where = find_evaluator(plan.evaluate.name), f"{source}, field 'evaluate.{plan.evaluate.name}'"
        check_fields(kind.options, plan.evaluate.options, where)
    return plan
