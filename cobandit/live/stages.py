"""The stages of a run, pilot and main stage, which report results to policies."""

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
from cobandit.live.records import (
    COST_WAS_ZERO,
    FAILED_KEY,
    EarlierResults,
    EvaluationRecord,
    Key,
    Reusable,
    check_row,
    name_row,
)
from cobandit.policies.asktell import Pull
from cobandit.tables.transforms import TRANSFORMS


class RunStage:
    """A stage of a run: its policy, journal and results. This class is the pilot.

    In the pilot, the reward of an evaluation is 1 if the evaluation has a score, and 0
    if it failed.

    Parameters
    ----------
    plan : Plan
    journal : Journal
        Journal of the stage's policy, or an object with the same methods. The journal
        may have results of an earlier process.
    reusable : mapping of (str, str) to dict
        Reused results, by the names of configuration and instance.

    Attributes
    ----------
    budget : float or None
        Budget of the whole run, in the unit of the cost; None without a budget, or
        while a share of the total cost cannot be computed yet.
    results : dict of (int, int) to dict
        Record of each scored evaluation, by configuration and position in the order.
    answers : Lines or None
        File of stored answers, if answers are stored.
    first : int
        Position, in the order, of the first instance on which configurations are
        evaluated.
    before : mapping of (int, int) to dict
        Records of earlier stages, by configuration and position in the order. These
        evaluations are not repeated.
    """

    name = "pilot"
    first = 0
    before: Mapping[Key, EvaluationRecord] = MappingProxyType({})

    def __init__(self, plan: Plan, journal: Any, reusable: Reusable):
        self.plan = plan
        self.journal = journal
        self.policy = journal.policy
        self.reusable = reusable
        self.order = plan.order
        self.names = plan.names
        self.budget = None if plan.unit == SHARE_UNIT else plan.budget
        self.answers: Lines | None = None
        self.results: dict[Key, EvaluationRecord] = {}
        for pull, reward, _, record in journal.records():
            if reward is not None and record is not None:
                self._store(pull, record)

    @property
    def spent(self) -> float:
        """Cost of the run so far."""
        return float(self.policy.spent)

    @property
    def inherited(self) -> float:
        """Part of the cost that an earlier run paid for reused results."""
        column = self.plan.cost.column
        cost: float = sum(
            record[column]
            for key, record in self.records.items()
            if self.name_record(key) in self.reusable
        )
        return cost

    @property
    def records(self) -> Mapping[Key, EvaluationRecord]:
        """All records so far, by configuration and position in the order."""
        return {**self.before, **self.results}

    @property
    def over(self) -> bool:
        """Whether no evaluation remains."""
        return self.policy.upcoming is None and not self.policy.in_flight.any()

    def find_key(self, pull: Pull) -> Key:
        """Return the configuration of an evaluation, and its position in the order."""
        return int(pull), self.first + pull.number

    def name_record(self, key: Key) -> tuple[str, str]:
        """Return the names of a record's configuration and instance."""
        arm, place = key
        return self.names[arm], self.order[place % len(self.order)]

    def name_instance(self, pull: Pull) -> str:
        """Return the name of an evaluation's instance."""
        return self.name_record(self.find_key(pull))[1]

    def mean_cost(self, arm: int) -> float | None:
        """Return the mean cost of a configuration's evaluations so far.

        Before its first result, returns the mean over all configurations, or None.
        """
        column = self.plan.cost.column
        costs = {key: record[column] for key, record in self.results.items()}
        of_arm = [cost for key, cost in costs.items() if key[0] == arm]
        counted = of_arm or list(costs.values())
        return sum(counted) / len(counted) if counted else None

    @property
    def smallest_cost(self) -> float | None:
        """Smallest cost so far, which is charged for free evaluations."""
        column = self.plan.cost.column
        return min((record[column] for record in self.results.values()), default=None)

    def can_report(self, outcome: Mapping[str, Any] | Failure) -> bool:
        """Return whether an outcome can be charged to the budget now.

        A free evaluation is charged the smallest cost so far, which has to be known. A
        failure without a cost can be charged only after an evaluation of this run has
        succeeded.
        """
        if not isinstance(outcome, Failure):
            return (
                outcome.get(self.plan.cost.column) != 0
                or self.smallest_cost is not None
            )
        if outcome.cost:
            return True
        # reused results do not show that the service works now
        return any(
            FAILED_KEY not in record and self.name_record(key) not in self.reusable
            for key, record in self.records.items()
        )

    @property
    def left_out(self) -> set[int]:
        """Positions, in the order, of the instances that are left out for all arms."""
        return set(np.flatnonzero(getattr(self.policy, "left_out", [])).tolist())

    def report_known(self, pull: Pull) -> bool:
        """Report an already known result to the policy; return whether there is one."""
        key = self.find_key(pull)
        record = self.before.get(key) or self.reusable.get(self.name_record(key), {})
        has_failed = FAILED_KEY in record
        leaves_out = has_failed and self.plan.failures == "leave-out"
        if leaves_out or pull.number in self.left_out:
            self.journal.leave_out(pull)
        elif has_failed:
            self._report(pull, record)
        elif record:
            self.report(pull, record)
        else:
            return False

        return True

    def report(self, pull: Pull, row: Mapping[str, Any]) -> None:
        """Report the row of an evaluation to the policy, and store its answer."""
        key = self.find_key(pull)
        name, instance = self.name_record(key)
        column = self.plan.cost.column
        numbers = read_row(row, f"the evaluator of {name!r} on instance {instance!r}")
        if numbers.get(column) == 0:
            numbers |= {column: self.smallest_cost or 0.0, COST_WAS_ZERO: 1.0}
        check_row(self.plan, numbers, name, instance)

        # The answer is written first. If the process dies before the result is written,
        # the evaluation is repeated, and its last answer counts.
        if self.answers is not None and isinstance(row, Answered):
            row_name = name_row(self.order, key[1])
            entry = {"config": name, "instance": row_name, **row.answer, "row": numbers}
            self.answers.append(
                copy_plain(entry, f"the answer of {name!r} on instance {row_name!r}")
            )

        self._report(pull, numbers)

    def charge_failure(self, pull: Pull, failure: Failure) -> None:
        """Charge the cost of a failure, so that the policy repeats the evaluation."""
        self._charge(pull, None, failure.cost or 0.0, {FAILED_KEY: str(failure)})

    def report_failed(self, pull: Pull, failure: Failure) -> None:
        """Report a final failure, at the arm's mean cost if its own cost is unknown."""
        cost = failure.cost or self.mean_cost(int(pull))
        self._report(pull, {FAILED_KEY: str(failure), self.plan.cost.column: cost})

    def rewards(self, record: Mapping[str, Any]) -> list[float]:
        """Return the rewards of a record, in [0, 1]."""
        return [float(FAILED_KEY not in record)]

    def _report(self, pull: Pull, record: EvaluationRecord) -> None:
        self._charge(pull, self.rewards(record), record[self.plan.cost.column], record)
        self._store(pull, record)

    def _charge(
        self,
        pull: Pull,
        reward: list[float] | None,
        cost: float,
        record: EvaluationRecord,
    ) -> None:
        # costs may leave the range of the pilot's costs, so this warning is not shown
        with warnings.catch_warnings(action="ignore", category=GuaranteeWarning):
            self.journal.tell(pull, reward, cost, record)
        largest = self.plan.largest_costs
        if largest is not None and cost > _budget.add_slack(largest[pull]):
            # the message leaves out the cost, so that Python shows it once per
            # configuration
            problem = (
                f"an evaluation of {self.names[pull]} cost more than its largest_cost"
                f" {largest[pull]:g}"
            )
            warnings.warn(
                f"{problem}: the budget may be exceeded", GuaranteeWarning, stacklevel=2
            )

    def _store(self, pull: Pull, record: EvaluationRecord) -> None:
        self.results[self.find_key(pull)] = record


class MainStage(RunStage):
    """The main stage of a run, in which the plan's method chooses evaluations.

    Costs, limits and budget are computed from the pilot. A method that evaluates each
    instance at most once also receives the pilot's results. Any other method starts
    with the first instance after the pilot's. When the order of the instances ends, it
    begins again.
    """

    name = "run"

    def __init__(
        self,
        plan: Plan,
        journal: Any,
        reusable: Reusable,
        profile: Profile,
        earlier: EarlierResults,
    ):
        self.profile = profile
        self.earlier = earlier
        self.first = 0 if plan.is_once else plan.pilot
        self.before = {**earlier.rows, **profile.results}
        # cost of the pilot's results, which the policy is charged again
        self._charged_again = 0.0
        super().__init__(plan, journal, reusable)
        self.budget = profile.budget

    @property
    def spent(self) -> float:  # noqa: D102 (as its parent)
        costs = self.earlier.non_pilot_costs.items()
        unused = sum(cost for key, cost in costs if key not in self.results)
        before = self.profile.spent + self.earlier.lost + unused
        return float(before + self.policy.spent - self._charged_again)

    def mean_cost(self, arm: int) -> float | None:  # noqa: D102 (as its parent)
        return self.profile.costs[arm]

    @property
    def smallest_cost(self) -> float | None:  # noqa: D102 (as its parent)
        return self.profile.cost_range[0]

    def report_failed(self, pull: Pull, failure: Failure) -> None:  # noqa: D102 (as its parent)
        if self.plan.failures == "zero":
            super().report_failed(pull, failure)
            return
        was_left_out = pull.number in self.left_out
        if failure.cost:
            self.charge_failure(pull, failure)
        # the charge already ends the evaluation, because its instance is left out
        if not (was_left_out and failure.cost):
            self.journal.leave_out(pull)

    def values(self, record: Mapping[str, Any]) -> EvaluationRecord:
        """Return a record's values; those of a failed evaluation have score zero."""
        if FAILED_KEY not in record:
            return dict(record)
        limits = self.profile.limits
        zero = {
            objective.column: limits[objective.name][1]
            for objective in self.plan.objectives
        }
        # the record takes precedence, because an objective may be the cost itself
        return {**zero, **record}

    def rewards(self, record: Mapping[str, Any]) -> list[float]:  # noqa: D102 (as its parent)
        values = self.values(record)
        rewards = []
        for objective in self.plan.objectives:
            transform = TRANSFORMS[objective.transform]
            value = np.array(values[objective.column])
            rewards.append(
                float(transform.apply(value, *self.profile.limits[objective.name]))
            )
        return rewards

    def _store(self, pull: Pull, record: EvaluationRecord) -> None:
        super()._store(pull, record)
        if self.find_key(pull) in self.profile.results:
            self._charged_again += record[self.plan.cost.column]
