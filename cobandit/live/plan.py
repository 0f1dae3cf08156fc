"""The plan of a run: which configurations, on which instances, by which method, for how much, and how."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from cobandit.errors import CobanditError
from cobandit.faults import stop, suggest
from cobandit.live.configurations import RESERVED, Configurations, Instances
from cobandit.live.evaluators import WHERE, find_evaluator, shorten
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.registry import SUPPLIED, Policy, get_kind, list_methods
from cobandit.tables.card import Cost, Objective
from cobandit.tables.safe_reading import Fields, check_fields, load_yaml

RACE = "ParetoRace"
"""The method of a plan that names none."""

SHARE = "share"
"""Unit of a budget that is a part of what evaluating everything costs."""

CHANGEABLE = frozenset({"title", "license", "reuse", "at_once", "timeout", "retries", "patience", "answers"})
"""What may change when a run is continued: nothing that was told depends on it."""

AFTER_PILOT = frozenset({"budget", "unit", "method", "stop", "objectives", "failures"})
"""What may also change while there is only the pilot, and later where instances are evaluated once."""


BEFORE_RESULTS = frozenset({"cost", "evaluate"})
"""What may also change as long as nothing was told."""


class Named(Fields):
    """Something chosen by name, written ``NAME`` or ``{NAME: {option: value}}``.

    Examples
    --------
    >>> Named.model_validate({"CoPSIOnce": {"confidence": 0.95}})
    Named(name='CoPSIOnce', options={'confidence': 0.95})
    """

    name: str
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: Any) -> Any:
        if isinstance(written, str):
            return {"name": written}
        if not isinstance(written, Mapping) or set(written) <= {"name", "options"}:
            return written  # as the plan that a run keeps has it
        if len(written) != 1:
            problem = f"{shorten(written)} is not one name with its options"
            stop(None, problem, "write NAME, or {NAME: {option: value}}")
        ((name, options),) = written.items()
        return {"name": name, "options": {} if options is None else options}


class Stop(Fields):
    """When a race stops: all is settled within a tolerance, and at most a share of such runs is wrong.

    Examples
    --------
    >>> Stop(tolerance=0.02).error
    0.05
    """

    tolerance: float | tuple[float, ...] = Field(
        0.0, description="give what is not worth telling apart, one number or one for each objective"
    )
    error: float = Field(
        0.05, gt=0, lt=1, description="give the share of runs that may be wrong, such as 0.05"
    )


class Plan(Fields):
    """What a run does; make it with `read_plan` or `check_plan`.

    Parameters
    ----------
    name : str
        Of the run, its folder and its table.
    configurations : Configurations
        Written ``{grid: {setting: [values]}}`` or ``{list: [...]}``.
    instances : Instances
        Written as their number, a list of ids, a file of them, or ``{file: ..., column: ...}``.
    method : Named
        Written ``CoPSIOnce`` or ``{CoPSIOnce: {confidence: 0.95}}``; by default `ParetoRace`.
    stop : Stop, optional
        When a race stops by itself, written ``{tolerance: 0.02, error: 0.05}``.
    budget : float, optional
        In `unit`: ``share``, the part of what evaluating everything costs, or the unit of the cost.  A race
        that has a `stop` needs none, and takes it as a cap.
    ordered : bool, optional
        Whether the instances are evaluated in the order in which they are listed; by default it is random.
    cost, objectives
        As on a card.
    largest_cost : float or str, optional
        What one evaluation may cost at most, or the setting that says it (such as ``max_tokens``).  If it is
        true, the budget is never exceeded.
    pilot : int or str
        Instances of the pilot; or, written ``{table: FILE}``, the table that stands for one.
    evaluate : Named, optional
        How to evaluate, written ``{callable: {function: "module:function"}}``.
    reuse : str, optional
        The table of an earlier run: what it has is not evaluated again, and charged as if it were.
    at_once : int
        Calls under way at a time.
    timeout : float, optional
        Seconds that one evaluation may take; if it is not given, 600 at an endpoint, and any elsewhere.
    patience : float
        Seconds, or written ``10m``, for which a service that fails is tried again before the run stops.
    retries : int
        How often an evaluation is tried again that was billed and gave no score.
    answers : bool
        Whether answers are kept, for `cobandit.live.rescore`.
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

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]*$", description="use lower case, digits, '.', '_' and '-'"
    )
    title: str | None = Field(None, description="say in one line what is evaluated, or leave it out")
    license: str = Field("not stated", min_length=1, description="name the table's licence, or leave it out")
    configurations: Configurations = Field(
        description="write {grid: {model: [a, b], temperature: [0, 1]}} or {list: [{model: a}, {model: b}]}"
    )
    instances: Instances = Field(description="give their number, a list of ids, or a file of ids")
    method: Named = Field(default=Named(name=RACE), description="name a method, or {NAME: {option: value}}")
    stop: Stop | None = Field(None, description="write {tolerance: 0.02, error: 0.05}, or leave it out")
    budget: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="give a positive number, and its unit as 'unit'"
    )
    unit: str = Field("", description="write share, or the unit of the cost")
    cost: Cost = Field(description="say which column holds the cost and its unit: {column: ..., unit: ...}")
    objectives: tuple[Objective, ...] = Field(description="list at least one: - {name: ..., column: ...}")
    largest_cost: float | str | None = Field(
        None, description="give the most that one evaluation may cost, or the setting that says it"
    )
    pilot: int | str = Field(
        5, description="give the number of instances of the pilot, or {table: FILE} in its place"
    )
    evaluate: Named | None = Field(None, description="write {callable: {function: 'module:function'}}")
    reuse: str | None = Field(None, description="name the table of an earlier run, or leave it out")
    at_once: int = Field(1, ge=1, description="give the number of calls under way at a time, at least 1")
    timeout: float | None = Field(None, gt=0, description="give seconds, or leave it out")
    patience: float = Field(
        600.0,
        ge=0,
        description="give seconds, or such as 30s, 10m or 2h, for which a failing service is tried",
    )
    retries: int = Field(2, ge=0, description="say how often to try again what was billed, 0 for never")
    answers: bool = Field(True, description="write false if answers are not to be kept")
    failures: Literal["zero", "leave-out"] = Field("zero", description="choose zero or leave-out")
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
    def options(self) -> dict[str, Any]:
        """Options of the method, with when it stops."""
        stop = {} if self.stop is None else self.stop.model_dump(mode="json")
        return {**self.method.options, **stop}

    @cached_property
    def policy(self) -> type[Policy]:
        """Class of the method."""
        return list_methods()[self.method.name]

    @cached_property
    def is_once(self) -> bool:
        """Whether the method evaluates every instance at most once."""
        return get_kind(self.policy) == "once"

    @cached_property
    def largest_costs(self) -> list[float] | None:
        """The most that one evaluation of each configuration may cost, if that is known."""
        if self.largest_cost is None:
            return None
        if isinstance(self.largest_cost, str):
            return [float(each[self.largest_cost]) for each in self.configurations.all]
        return [self.largest_cost] * len(self.names)

    @field_validator("method")
    @classmethod
    def _find_method(cls, method: Named) -> Named:
        methods = list_methods()
        if method.name not in methods:
            stop(None, f"there is no method {method.name!r}", suggest(method.name, sorted(methods)))
        takes = sorted(set(inspect.signature(methods[method.name]).parameters) - SUPPLIED)
        for option in method.options:
            if option not in takes:
                remedy = suggest(option, takes, f"it has {', '.join(takes) or 'none'}")
                stop(None, f"{method.name} has no option {option!r} that a plan can set", remedy)
        return method

    @field_validator("objectives")
    @classmethod
    def _distinct(cls, objectives: tuple[Objective, ...]) -> tuple[Objective, ...]:
        if not objectives:
            stop(None, "there is no objective", "list at least one: - {name: ..., column: ...}")
        repeated = [name for name, n in Counter(o.name for o in objectives).items() if n > 1]
        if repeated:
            stop(None, f"{repeated[0]!r} is the name of two objectives", "name each differently")
        return objectives

    @field_validator("patience", mode="before")
    @classmethod
    def _read_seconds(cls, written: Any) -> Any:
        if isinstance(written, str) and written[:-1].isdecimal() and written[-1] in "smh":
            return int(written[:-1]) * {"s": 1, "m": 60, "h": 3600}[written[-1]]
        return written

    @field_validator("pilot", mode="before")
    @classmethod
    def _read_pilot(cls, written: Any) -> Any:
        if isinstance(written, int) and not isinstance(written, bool):
            if written < 2:
                stop(None, f"a pilot of {written} has no spread", "take two instances at least")
            return written
        if isinstance(written, Mapping) and set(written) == {"table"}:
            return str(written["table"])
        if isinstance(written, str):
            return written  # as the plan that a run keeps has it
        stop(None, f"{written!r} is no pilot", "give a number of instances, or {table: FILE}")

    @field_validator("evaluate")
    @classmethod
    def _find_evaluator(cls, evaluate: Named | None) -> Named | None:
        try:
            if evaluate is not None:
                find_evaluator(evaluate.name)
        except CobanditError as error:
            stop(None, str(error), "name one of those")
        return evaluate

    @model_validator(mode="after")
    def _agree(self) -> Plan:
        settings = self.settings
        for column in (self.cost.column, *(objective.column for objective in self.objectives)):
            if column in (*settings, *RESERVED):
                stop(
                    None,
                    f"the column {column!r} is also {'a setting' if column in settings else 'reserved'}",
                    "call what is measured otherwise",
                )
        if self.budget is None and (self.stop is None or self.method.name != RACE):
            remedy = "write stop: {tolerance: 0.02, error: 0.05} for a race, or a budget with its unit"
            stop(None, "nothing says when the run ends", remedy)
        if self.stop is not None and self.method.name != RACE:
            problem = f"{self.method.name} does not stop by itself"
            stop(None, problem, f"leave stop out, or take the method {RACE}")
        n = len(self.instances.ids)
        if isinstance(self.pilot, int) and self.pilot > n:
            stop(None, f"the pilot has {self.pilot} instances, and there are {n}", "make it smaller")
        if self.budget is not None:
            self._check_budget(self.budget)
        if self.reuse is not None and not self.is_once:
            stop(
                None,
                f"{self.method.name} may come back to an instance, which has to be evaluated again",
                "leave reuse out, or take a method that evaluates once, such as CoPSIOnce",
            )
        if self.failures == "leave-out" and not self.is_once:
            stop(
                None,
                f"{self.method.name} may come back to an instance, so that none can be left out",
                "take failures: zero, or a method that evaluates once, such as CoPSIOnce",
            )
        if self.failures == "leave-out" and self.method.options.get("confidence") is not None:
            stop(
                None,
                f"{self.method.name} with a confidence can leave no instance out",
                "take failures: zero, or no confidence",
            )
        return self

    def _check_budget(self, budget: float) -> None:
        if self.unit not in (SHARE, self.cost.unit):
            remedy = suggest(self.unit, (SHARE, self.cost.unit), f"write {SHARE}, or {self.cost.unit}")
            stop(None, f"the budget's unit {self.unit!r} is not that of the cost", remedy)
        if self.unit != SHARE:
            return
        if budget > 1:
            problem = f"a budget of {budget:g} is more than evaluating everything costs"
            stop(None, problem, f"give a share up to 1, or an amount with unit: {self.cost.unit}")
        n = len(self.instances.ids)
        if isinstance(self.pilot, int) and budget * n < self.pilot:
            problem = (
                f"a share of {budget:g} of {n} instances is {budget * n:.3g} of them, and the pilot takes "
                f"{self.pilot}"
            )
            stop(None, problem, "make the pilot smaller, or the budget larger")

    @model_validator(mode="after")
    def _largest(self) -> Plan:
        if isinstance(self.largest_cost, str) and self.largest_cost not in self.settings:
            remedy = suggest(self.largest_cost, self.settings)
            stop(None, f"largest_cost is {self.largest_cost!r}, which is no setting", remedy)
        try:
            positive = all(cost > 0 for cost in self.largest_costs or [])
        except (KeyError, TypeError, ValueError):
            positive = False
        if not positive:
            stop(
                None,
                f"largest_cost is {self.largest_cost!r}, not a positive number for each configuration",
                "give a number, or a setting that is one",
            )
        return self

    @model_validator(mode="after")
    def _options_are_right(self) -> Plan:
        costs = [1e9] * len(self.names)  # above any smallest cost
        try:  # whether the values are right, only the class knows
            self.make_policy(costs, (1e9, 1e9), budget=1e15)
        except CobanditError as error:
            stop(None, f"{self.method.name} refuses its options: {error}", "correct them")
        return self

    def make_policy(
        self,
        costs: Sequence[float],
        cost_range: tuple[float, float],
        budget: float | None,
        largest_costs: Sequence[float] | None = None,
    ) -> Policy:
        """Make a fresh policy from what a pilot found; costs and budget are in the unit of the cost."""
        given = dict(self.options)
        if issubclass(self.policy, OnlinePolicy):
            assert budget is not None  # only a race stops by itself
            low, high = min(cost_range[0], *costs), max(cost_range[1], *(largest_costs or costs))
            # what an evaluation may cost, not its mean, has to fit into what is left: the last is paid, too
            given |= {"cost_range": (low, high), "expected_costs": largest_costs or [high] * len(costs)}
            return self.policy(len(costs), len(self.objectives), budget, **given)
        if largest_costs is not None:
            given["largest_costs"] = largest_costs
        if self.is_once:
            given["n_instances"] = len(self.order)
        given["budget"] = budget  # None for a race alone
        return self.policy(costs=costs, n_objectives=len(self.objectives), **given)

    def differences(self, written: Mapping[str, Any], but: Collection[str] = CHANGEABLE) -> list[str]:
        """Say in what this plan is another than one that was written, as `model_dump` has it.

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
            f"{'.'.join(path)} is {shorten(there)} there and {shorten(here)} here"
            for path, there, here in _compare(written, self.model_dump(mode="json"))
            # where a model is asked may change, unless configurations are told apart by it
            if path[0] not in but and not (path[-1] in WHERE and same_names)
        ]


def _compare(there: Any, here: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Find where two nested values differ: the path, and both."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        for key in dict(there) | dict(here):
            yield from _compare(there.get(key), here.get(key), (*path, str(key)))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for place, (old, new) in enumerate(zip(there, here, strict=True)):
            yield from _compare(old, new, (*path, str(place)))
            if old != new and not isinstance(new, Mapping):
                return  # of a list of ids the first says enough
    elif isinstance(there, list) and isinstance(here, list):
        yield (*path, "length"), len(there), len(here)
    elif there != here:
        yield path, there, here


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a YAML file, and check all of it; paths in it start in its folder.

    Raises
    ------
    TableError
        With every fault found: the file, the field and what to do.

    Examples
    --------
    >>> read_plan("nowhere.yml")
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: nowhere.yml: there is no such plan -> check the path
    """
    path = Path(path)
    content = load_yaml(path, "plan")
    return check_plan(content, str(path), path.parent)


def check_plan(content: Any, source: str, folder: Path = Path()) -> Plan:
    """Make a plan of its fields, or raise one error that lists what is wrong with them.

    Examples
    --------
    >>> check_plan({"name": "My Run"}, "my.yml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.faults.TableError: 5 faults
    - my.yml, field 'name': 'My Run' cannot stand here -> use lower case, digits, '.', '_' and '-'
    - ...
    """
    if not isinstance(content, Mapping):
        stop(source, "the plan holds no fields", "write 'name: ...', 'configurations: ...' and so on")
    plan = check_fields(Plan, dict(content), source, {"folder": folder})
    if plan.evaluate is not None:
        kind = find_evaluator(plan.evaluate.name)
        check_fields(kind.options, plan.evaluate.options, f"{source}, field 'evaluate.{kind.name}'")
    return plan
