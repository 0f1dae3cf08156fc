"""The two parts of a run, its pilot and what follows: what each tells its policy of an evaluation.

The pilot is a few instances of every configuration, for what evaluations cost and how they score.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cobandit import _budget, _validation
from cobandit._text import suggest
from cobandit.errors import CobanditError, GuaranteeWarning, TableError
from cobandit.live.configurations import RESERVED
from cobandit.live.evaluators import Answered, Failure, Row, read_row
from cobandit.live.journal import Lines, copy_plain
from cobandit.live.plan import SHARE, Plan
from cobandit.policies.asktell import AskTell, Pull
from cobandit.tables.columns import COST
from cobandit.tables.transforms import TRANSFORMS

#: Key of a record that has no measurements, and why.
FAILED = "failed"
#: Column that is 1 where an evaluation cost nothing, and is charged the smallest cost so far.
COST_WAS_ZERO = "cost_was_zero"


#: An evaluation: number of the configuration, and its number among the evaluations of that.
Key = tuple[int, int]


#: Rows by name of the configuration and instance.
Made = Mapping[tuple[str, str], Row]


class Pilot(AskTell):
    """Every configuration on the first instances of the order, configuration by configuration in turn.

    Its one objective is whether an evaluation gave a score.  It sets aside what an evaluation may cost: the
    largest cost, or if that is not known the largest so far.  Its budget is set once it is made, so that it
    can go on with a larger one.

    Parameters
    ----------
    n_arms : int
        K.
    n_instances : int
        How many of the instances.
    largest_costs : sequence of float, optional
        Largest cost of a single evaluation of each configuration, where known.

    Examples
    --------
    >>> pilot = Pilot(2, 2)
    >>> [pilot.ask() for _ in range(5)]
    [0, 1, 0, 1, None]
    >>> pilot.finished
    False
    """

    def __init__(self, n_arms: int, n_instances: int, *, largest_costs: Sequence[float] | None = None):
        super().__init__(n_arms, 1, sys.float_info.max)
        self.n_instances = _validation.count(n_instances, "n_instances", 1)
        self.largest_costs = largest_costs
        # where nothing is known, nothing to speak of: the ratio to it of what is told makes up for it
        self._largest = np.full(n_arms, 1e-12) if largest_costs is None else np.array(largest_costs)

    @property
    def finished(self) -> bool:
        """Whether every evaluation was told."""
        return bool((self.pulls == self.n_instances).all())

    def _choose(self) -> int | None:
        turns = self._numbers.copy()
        for arm, _ in self._failed:
            turns[arm] = -1
        arm = int(turns.argmin())
        room = self._committed + self._set_aside[arm] <= _budget.add_slack(self.budget)
        return arm if turns[arm] < self.n_instances and room else None

    def _doubt(self, arm: int, cost: float) -> str:
        return ""


class Profile(NamedTuple):
    """What a pilot says.

    Attributes
    ----------
    costs : list of float, length K
        Mean cost of one evaluation of each configuration.
    cost_range : (float, float)
        Smallest and largest cost of one evaluation.
    limits : dict of str to (float, float)
        For each objective, the values of its column that score 1 and 0.
    spent : float
        What the pilot cost, with what was tried in vain.
    budget : float or None
        That of the whole run, pilot included, in the unit of the cost; None for none.  A share is one of what
        evaluating everything costs, by the means of the pilot.
    results : dict of (int, int) to dict
        The record of each evaluation, by number of the configuration and place in the order.
    """

    costs: list[float]
    cost_range: tuple[float, float]
    limits: dict[str, tuple[float, float]]
    spent: float
    budget: float | None
    results: Mapping[Key, dict[str, Any]]


def profile_of(pilot: Stage) -> Profile:
    """Take costs and limits from the records of a pilot, as a card's profiling split is taken.

    Raises
    ------
    CobanditError
        If a configuration gave no score at all where failures are left out, if none did, if a record lacks a
        column that the plan now names, or if no scale can be made.
    """
    plan, results = pilot.plan, pilot.results
    scored = {key: record for key, record in results.items() if FAILED not in record}
    for key, record in scored.items():
        check_row(plan, record, *pilot.which(key))  # the plan may have changed since
    hopeless = [arm for arm in range(len(plan.names)) if arm not in {of for of, _ in scored}]
    if hopeless and (not scored or plan.failures == "leave-out"):
        raise CobanditError(
            f"{plan.names[hopeless[0]]!r} failed on every instance of the pilot "
            f"({results[hopeless[0], 0][FAILED]}), so that nothing would be left: mend it, or leave it out, "
            "and start in another folder; or take failures: zero if others were answered"
        )
    costs = np.array([results[key][plan.cost.column] for key in sorted(results)]).reshape(len(plan.names), -1)
    limits = {}
    for objective in plan.objectives:
        transform = TRANSFORMS[objective.transform]
        values = np.array([record[objective.column] for record in scored.values()])
        fitted = objective.limits or transform.fit(values, objective.low, objective.high)
        limits[objective.name] = fitted
        try:
            transform.apply(values, *fitted)
        except TableError as error:
            remedy = "give its limits, or leave it out, or take a larger pilot in another folder"
            raise CobanditError(f"objective {objective.name!r}: {error} in the pilot: {remedy}") from None
    means, cost_range = costs.mean(axis=1).tolist(), (float(costs.min()), float(costs.max()))
    budget = plan.budget
    if budget is not None and plan.unit == SHARE:
        budget = budget * len(plan.order) * sum(means)
    return Profile(means, cost_range, limits, pilot.spent, budget, results)


def check_row(plan: Plan, row: Mapping[str, Any], configuration: str, instance: str) -> None:
    """Refuse what an evaluator gave if the plan's columns are not all there, or something cannot be used.

    Raises
    ------
    CobanditError
        With the configuration, the instance, the column and what to do.

    Examples
    --------
    >>> from cobandit.live.plan import check_plan
    >>> plan = check_plan({
    ...     "name": "toy", "configurations": {"grid": {"model": ["a", "b"]}}, "instances": 30,
    ...     "budget": 0.5, "unit": "share", "cost": {"column": "tokens", "unit": "tokens"},
    ...     "objectives": [{"name": "accuracy", "column": "correct"}],
    ... }, "toy.yml")
    >>> check_row(plan, {"correct": 1.0, "tokens": 12.0}, "a", "7")
    >>> check_row(plan, {"correct": 80.0, "tokens": 12.0}, "a", "7")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: 'a' on instance '7' gave 80.0 as 'correct': the objective 80.0 is outside \
[0, 1]; correct the evaluator, or name another column or transform in the plan
    """
    said = f"{configuration!r} on instance {instance!r} gave"
    if taken := [column for column in row if column in plan.settings or column in RESERVED]:
        which = "a setting or a column of every table"
        raise CobanditError(f"{said} {taken[0]!r}, which is {which}: let the evaluator call it otherwise")
    rules = [(each.column, TRANSFORMS[each.transform].rule) for each in plan.objectives]
    for column, rule in [(plan.cost.column, COST), *rules]:
        if column not in row:
            remedy = suggest(column, row, "let the evaluator give it, or name another column in the plan")
            raise CobanditError(f"{said} no {column!r}, only {', '.join(row) or 'nothing'}: {remedy}")
        if rule is not None and rule.broken(np.array([row[column]])).any():
            problem = rule.problem.format(value=float(row[column]))
            raise CobanditError(
                f"{said} {row[column]!r} as {column!r}: {problem}; correct the evaluator, or name another "
                "column or transform in the plan"
            )


class Earlier(NamedTuple):
    """What a run evaluated before its plan changed.

    Rows by evaluation, what its failures cost, and what was paid for evaluations that are not the pilot's.
    """

    rows: Mapping[Key, Row]
    lost: float
    besides: Mapping[Key, float]


class Stage:
    """A part of a run; as it stands the pilot, whose one objective is that an evaluation gave a score.

    Parameters
    ----------
    plan : Plan
    journal : Journal
        Of the part's policy, or what stands for one; it may hold what an earlier process told.
    made : mapping of (str, str) to dict
        What need not be evaluated, by name of the configuration and instance.

    Attributes
    ----------
    budget : float or None
        That of the whole run, in the unit of the cost; None for none, or while it is not known.
    results : dict of (int, int) to dict
        The record of each evaluation that was scored, by configuration and place in the order.
    answers : Lines or None
        Where answers are kept, if they are.
    first : int
        Place in the order, going round and round, of the first evaluation of each configuration.
    before : mapping of (int, int) to dict
        Records from before this part, by configuration and place in the order; they are not made again.
    """

    name = "pilot"
    first = 0
    before: Mapping[Key, dict[str, Any]] = MappingProxyType({})

    def __init__(self, plan: Plan, journal: Any, made: Made):
        self.plan = plan
        self.journal = journal
        self.policy = journal.policy
        self.made = made
        self.order = plan.order
        self.names = plan.names
        self.budget = None if plan.unit == SHARE else plan.budget
        self.answers: Lines | None = None
        self.results: dict[Key, dict[str, Any]] = {}
        for pull, reward, _, record in journal.records():
            if reward is not None and record is not None:
                self._keep(pull, record)

    @property
    def spent(self) -> float:
        """What the run has cost so far."""
        return self.policy.spent

    @property
    def inherited(self) -> float:
        """What of it an earlier run paid, whose evaluations are charged as if they were made now."""
        column, everything = self.plan.cost.column, self.everything
        return sum(record[column] for key, record in everything.items() if self.which(key) in self.made)

    @property
    def everything(self) -> Mapping[Key, dict[str, Any]]:
        """Every record so far, by configuration and place in the order."""
        return {**self.before, **self.results}

    @property
    def over(self) -> bool:
        """Whether nothing is left to be asked."""
        return self.policy.upcoming is None and not self.policy.in_flight.any()

    def key(self, pull: Pull) -> Key:
        """The configuration of an evaluation, and its place in the order."""
        return int(pull), self.first + pull.number

    def which(self, key: Key) -> tuple[str, str]:
        """Name the configuration and the instance of a record."""
        arm, place = key
        return self.names[arm], self.order[place % len(self.order)]

    def instance(self, pull: Pull) -> str:
        """Name the instance of an evaluation."""
        return self.which(self.key(pull))[1]

    def mean_cost(self, arm: int) -> float | None:
        """Cost of an evaluation of a configuration, as far as it is known."""
        costs = {which: record[self.plan.cost.column] for which, record in self.results.items()}
        own = [cost for (of, _), cost in costs.items() if of == arm] or list(costs.values())
        return sum(own) / len(own) if own else None

    @property
    def smallest_cost(self) -> float | None:
        """The smallest cost of an evaluation so far, which is what a free one counts as."""
        column = self.plan.cost.column
        return min((record[column] for record in self.results.values()), default=None)

    def can_tell(self, outcome: Mapping[str, Any] | Failure) -> bool:
        """Whether it is known what an evaluation counts as: it has a cost, or another was answered before."""
        if isinstance(outcome, Failure):
            found = self.everything.items()  # by this run, not by the one whose table it reuses
            answered = (FAILED not in each and self.which(key) not in self.made for key, each in found)
            return bool(outcome.cost) or any(answered)
        return outcome.get(self.plan.cost.column) != 0 or self.smallest_cost is not None

    @property
    def left_out(self) -> set[int]:
        """Places in the order of the instances that are left out for all."""
        return set(np.flatnonzero(getattr(self.policy, "left_out", [])).tolist())

    def settle(self, pull: Pull) -> bool:
        """Tell an evaluation that need not be made, and say whether it was one."""
        key = self.key(pull)
        record = self.before.get(key) or self.made.get(self.which(key), {})
        if (FAILED in record and self.plan.failures == "leave-out") or pull.number in self.left_out:
            self.journal.leave_out(pull)
        elif FAILED in record:
            self._tell(pull, record)
        elif record:
            self.tell(pull, record)
        else:
            return False
        return True

    def tell(self, pull: Pull, row: Mapping[str, Any]) -> None:
        """Tell what an evaluation gave."""
        key, column = self.key(pull), self.plan.cost.column
        name, instance = self.which(key)
        numbers = read_row(row, f"the evaluator of {name!r} on instance {instance!r}")
        if numbers.get(column) == 0:
            numbers |= {column: self.smallest_cost or 0.0, COST_WAS_ZERO: 1.0}
        check_row(self.plan, numbers, name, instance)
        if self.answers is not None and isinstance(row, Answered):
            instance = name_row(self.order, key[1])
            entry = {"config": name, "instance": instance, **row.answer, "row": numbers}
            self.answers.append(copy_plain(entry, f"the answer of {name!r} on instance {instance!r}"))
        self._tell(pull, numbers)

    def try_again(self, pull: Pull, failure: Failure) -> None:
        """Tell that an evaluation failed, and was billed."""
        self._charge(pull, None, failure.cost or 0.0, {FAILED: str(failure)})

    def give_up(self, pull: Pull, failure: Failure) -> None:
        """Tell that an evaluation failed for good: its cost, if not known, is that of its configuration."""
        cost = failure.cost or self.mean_cost(int(pull))
        self._tell(pull, {FAILED: str(failure), self.plan.cost.column: cost})

    def _reward(self, record: Mapping[str, Any]) -> list[float]:
        return [float(FAILED not in record)]

    def _tell(self, pull: Pull, record: dict[str, Any]) -> None:
        self._charge(pull, self._reward(record), record[self.plan.cost.column], record)
        self._keep(pull, record)

    def _charge(self, pull: Pull, reward: list[float] | None, cost: float, record: dict[str, Any]) -> None:
        # a cost may well be beyond what the pilot saw
        with warnings.catch_warnings(action="ignore", category=GuaranteeWarning):
            self.journal.tell(pull, reward, cost, record)
        largest = self.plan.largest_costs
        if largest is not None and cost > _budget.add_slack(largest[pull]):
            # without the cost, so that Python shows it once of each configuration
            said = f"an evaluation of {self.names[pull]} cost more than its largest_cost {largest[pull]:g}"
            warnings.warn(f"{said}: the budget may be exceeded", GuaranteeWarning, stacklevel=2)

    def _keep(self, pull: Pull, record: dict[str, Any]) -> None:
        self.results[self.key(pull)] = record


class MainStage(Stage):
    """The plan's method, on what the pilot found.

    A method that evaluates once is told what the pilot evaluated.  Any other starts after the pilot, and
    begins the order again at its end.
    """

    name = "run"

    def __init__(self, plan: Plan, journal: Any, made: Made, profile: Profile, earlier: Earlier):
        self.profile = profile
        self.earlier = earlier
        self.first = 0 if plan.is_once else plan.pilot
        self.before = {**earlier.rows, **profile.results}
        self._charged_again = 0.0  # what the pilot spent and the policy is charged, too
        super().__init__(plan, journal, made)
        self.budget = profile.budget

    @property
    def spent(self) -> float:  # noqa: D102 (as its parent)
        unused = (cost for key, cost in self.earlier.besides.items() if key not in self.results)
        before = self.profile.spent + self.earlier.lost + sum(unused)
        return before + self.policy.spent - self._charged_again

    def mean_cost(self, arm: int) -> float | None:  # noqa: D102 (as its parent)
        return self.profile.costs[arm]

    @property
    def smallest_cost(self) -> float | None:  # noqa: D102 (as its parent)
        return self.profile.cost_range[0]

    def give_up(self, pull: Pull, failure: Failure) -> None:  # noqa: D102 (as its parent)
        if self.plan.failures == "zero":
            super().give_up(pull, failure)
            return
        gone = pull.number in self.left_out
        if failure.cost:
            self.try_again(pull, failure)  # which charges it
        if not (gone and failure.cost):
            self.journal.leave_out(pull)

    def values(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Fill a record of an evaluation that failed up with the values that score zero."""
        limits = self.profile.limits
        zero = {each.column: limits[each.name][1] for each in self.plan.objectives}
        return {**zero, **record} if FAILED in record else dict(record)  # an objective may be the cost itself

    def _reward(self, record: Mapping[str, Any]) -> list[float]:
        values, limits = self.values(record), self.profile.limits
        return [
            float(TRANSFORMS[each.transform].apply(np.array(values[each.column]), *limits[each.name]))
            for each in self.plan.objectives
        ]

    def _keep(self, pull: Pull, record: dict[str, Any]) -> None:
        super()._keep(pull, record)
        if self.key(pull) in self.profile.results:
            self._charged_again += record[self.plan.cost.column]


def name_row(order: Sequence[str], place: int) -> str:
    """Name an instance by its place in an order that begins again at its end.

    Examples
    --------
    >>> name_row(["a", "b"], 1), name_row(["a", "b"], 3)
    ('b', 'b (2)')
    """
    round_, instance = divmod(place, len(order))
    return order[instance] + (f" ({round_ + 1})" if round_ else "")


def make_policy(plan: Plan, profile: Profile, earlier: Earlier) -> AskTell:
    """Make a fresh policy whose spending, with that of the pilot, stays within the budget.

    A method that evaluates once charges what it uses of the pilot again, and is given a budget that has room
    for it.  What it does not use, since a configuration leaves early, is known once it has used what it does;
    that depends on the budget, so that the largest one that fits is found by rehearsing.

    Raises
    ------
    CobanditError
        If what is left is too little, or the largest cost is below the mean.
    """
    total, unit = profile.budget, plan.cost.unit
    if total is None:
        return plan.make_policy(profile.costs, profile.cost_range, None)
    paid = profile.spent + earlier.lost + sum(earlier.besides.values())
    budget = total if plan.is_once else total - paid
    try:
        if paid > _budget.add_slack(total):
            raise CobanditError("nothing is left")
        while plan.is_once:
            besides = _rehearse(plan, profile, budget, earlier)
            if budget + besides <= _budget.add_slack(total):
                break
            budget = total - besides
        return plan.make_policy(profile.costs, profile.cost_range, budget)
    except CobanditError as error:
        raise CobanditError(
            f"{plan.method.name}: {error}.  {paid:,.6g} {unit} are spent, and the budget is {total:,.6g}: "
            "change the plan's budget or method and run it again; what was evaluated is kept"
        ) from None


def _rehearse(plan: Plan, profile: Profile, budget: float, earlier: Earlier) -> float:
    """Play a policy as far as what there is takes it: what was spent besides what it was charged."""
    policy = plan.make_policy(profile.costs, profile.cost_range, budget)
    unwritten = SimpleNamespace(  # stands for a journal that told nothing before
        policy=policy,
        leave_out=policy.leave_out,
        tell=lambda arm, reward, cost, record: policy.tell(arm, reward, cost),
        records=list,
    )
    stage = MainStage(plan, unwritten, {}, profile, earlier)
    while (pull := policy.ask()) is not None:
        stage.settle(pull)
    return stage.spent - policy.spent
