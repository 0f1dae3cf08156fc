"""Pilot and main stage of a run, and how each reports results to its policy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from cobandit import _budget
from cobandit.errors import GuaranteeWarning
from cobandit.live.evaluators.base import Failure
from cobandit.live.evaluators.rows import Answered, read_row
from cobandit.live.headers import copy_plain
from cobandit.live.lines import Lines
from cobandit.live.plan import Plan
from cobandit.live.plan_fields import SHARE_UNIT
from cobandit.live.profile import Profile
from cobandit.live.records import COST_WAS_ZERO, FAILED, EarlierResults, Key, Made, check_row, name_row
from cobandit.policies.asktell import Pull
from cobandit.tables.transforms import TRANSFORMS


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
        self.budget = None if plan.unit == SHARE_UNIT else plan.budget
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

    def rewards(self, record: Mapping[str, Any]) -> list[float]:
        """Return what the policy is told of a record: its scores in [0, 1]."""
        return [float(FAILED not in record)]

    def _tell(self, pull: Pull, record: dict[str, Any]) -> None:
        self._charge(pull, self.rewards(record), record[self.plan.cost.column], record)
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

    def __init__(self, plan: Plan, journal: Any, made: Made, profile: Profile, earlier: EarlierResults):
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

    def rewards(self, record: Mapping[str, Any]) -> list[float]:  # noqa: D102 (as its parent)
        values, limits = self.values(record), self.profile.limits
        return [
            float(TRANSFORMS[each.transform].apply(np.array(values[each.column]), *limits[each.name]))
            for each in self.plan.objectives
        ]

    def _keep(self, pull: Pull, record: dict[str, Any]) -> None:
        super()._keep(pull, record)
        if self.key(pull) in self.profile.results:
            self._charged_again += record[self.plan.cost.column]
