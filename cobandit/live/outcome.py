"""What a run says of itself: what it will cost, how far it is, its evaluations as a table with a card."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobandit._version import __version__
from cobandit.errors import BudgetError, CobanditError
from cobandit.faults import amount, stop
from cobandit.live.configurations import RESERVED
from cobandit.live.evaluators import Evaluator, Row
from cobandit.live.journal import read_entries
from cobandit.live.pilot import FAILED, check_row, open_measured, worst
from cobandit.live.plan import SHARE, Plan
from cobandit.live.stages import Earlier, Key, Made, MainStage, Stage, name_row
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.tables.schema import MIN_INSTANCES
from cobandit.tables.storage import read_columns
from cobandit.tables.table import EvaluationTable

COUNTED = {"truncated": "cut off at a limit of tokens", "empty": "empty"}
"""Columns that are 1 where something is odd about an answer, which is scored as it is."""

UNSET = "not set"
"""In a column of the table, a setting that a configuration does not have."""


@dataclass(frozen=True)
class Estimate:
    """What a run will cost, before its first call.

    Attributes
    ----------
    plan : Plan
    made : Made
        Evaluations that the run or an earlier table has.
    pilot : int
        Evaluations that the pilot makes, but for those.
    least, most : float or None
        What they cost in all; None where nothing says so.
    needed : float or None
        The smallest budget with which the method could begin if every evaluation cost the most that it can;
        None if the plan's is enough, or nothing says so.
    """

    plan: Plan
    made: Made
    pilot: int
    least: float | None
    most: float | None
    needed: float | None

    @property
    def lines(self) -> list[str]:
        """What there is to say, a line each."""
        plan, unit = self.plan, self.plan.cost.unit
        everything = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        said = [f"{size}: {everything:,} evaluations in all"]
        if self.made:
            costs = pd.Series({key: row[plan.cost.column] for key, row in self.made.items()})
            by_name = costs.groupby(level=0).mean()
            said.append(
                f"of these {len(costs):,} are there, for {amount(costs.sum())} {unit}: they are charged, and "
                "not made again"
            )
            if len(by_name) == len(plan.names):
                said.append(
                    f"everything: about {amount(by_name.sum() * len(plan.order))} {unit} by their means"
                )
        if not self.pilot:
            said.append("pilot: nothing to evaluate")
        elif self.most is None:
            said.append(
                f"pilot: {self.pilot:,} evaluations; what they cost shows when they are made, and then what "
                "everything would cost (a largest_cost in the plan says it before)"
            )
        else:
            said.append(
                f"pilot: {self.pilot:,} evaluations, at least {amount(self.least or 0.0)} and at most "
                f"{amount(self.most)} {unit}"
            )
            each = self.most / self.pilot
            said.append(f"everything: at most about {amount(each * everything)} {unit}")
        if plan.budget is None:
            said.append("no budget: the run ends when all is settled")
        elif plan.unit == SHARE:
            said.append(f"budget: {100 * plan.budget:g} % of what everything costs by the pilot's means")
        else:
            said.append(f"budget: {amount(plan.budget)} {unit}")
            if self.most is not None and self.most > plan.budget:
                said.append(
                    "the budget may not hold the pilot: then the run stops, and waits for a larger one"
                )
            elif self.needed is not None:
                said.append(f"{plan.method.name} may need more after the pilot: {amount(self.needed)} {unit}")
        return said


def estimate_run(plan: Plan, evaluator: Evaluator, made: Made) -> Estimate:
    """Add up what the pilot can cost, and find out whether the budget can hold it.

    Raises
    ------
    CobanditError
        If it cannot: then nothing is evaluated.
    """
    first = plan.order[: plan.pilot] if isinstance(plan.pilot, int) else ()
    bound = getattr(evaluator, "bound_cost", None)
    n, least, most = 0, 0.0, 0.0
    largest = plan.largest_costs or [inf] * len(plan.names)
    for name, configuration, cap in zip(plan.names, plan.configurations.all, largest, strict=True):
        for instance in first:
            row = made.get((name, instance))
            if row is not None:
                known = row[plan.cost.column]
                least, most = least + known, most + known
                continue
            bounds = None if bound is None else bound(configuration, instance)
            low, high = (0.0, inf) if bounds is None else bounds
            n, least, most = n + 1, least + low, most + min(high, cap)
    if plan.budget is not None and plan.unit != SHARE and least > plan.budget:
        raise CobanditError(
            f"the pilot alone costs at least {least:,.6g} {plan.cost.unit}, and the budget is "
            f"{plan.budget:,.6g}: nothing was evaluated; take a larger budget, or a smaller pilot"
        )
    known = most < inf
    return Estimate(plan, made, n, least if known else None, most if known else None, _needed(plan))


def _needed(plan: Plan) -> float | None:
    """What the method would need if every evaluation cost the most that it can, where there is less."""
    largest = plan.largest_costs
    if largest is None or plan.budget is None or plan.unit == SHARE:
        return None
    try:
        plan.make_policy(largest, (min(largest), max(largest)), plan.budget, largest)
    except BudgetError as error:
        return error.smallest
    return None


def recommended(policy: AskTell, names: Sequence[str]) -> tuple[str, ...]:
    """Name what a policy recommends: the Pareto set that it found, or its most efficient configuration.

    Examples
    --------
    >>> from cobandit import UniformIdentification
    >>> policy = UniformIdentification([1, 1], budget=2, n_objectives=1)
    >>> for reward in ([0.25], [0.75]):
    ...     policy.tell(policy.ask(), reward)
    >>> recommended(policy, ["a", "b"])
    ('b',)
    """
    if isinstance(policy, IdentificationPolicy):
        return tuple(names[arm] for arm in policy.recommend())
    best = policy.recommend() if isinstance(policy, OnlinePolicy) else None
    return () if best is None else (names[best.arm],)


@dataclass(frozen=True)
class Progress:
    """A run right after something happened; look at it while you are told, for it goes on.

    Attributes
    ----------
    stage : Stage
        The part that is under way, ``stage.name`` being ``pilot`` or ``run``.
    budget : float or None
        In the unit of the cost; None while it is a share of what is not known.
    line : str
        What happened; empty where nothing did but a start.
    failed : bool
        Whether that is a failure.
    busy : bool
        Whether a process is at work on the run.
    """

    stage: Stage
    budget: float | None
    line: str
    failed: bool = False
    busy: bool = True

    @property
    def spent(self) -> float:
        """What the run has cost so far."""
        return self.stage.spent

    @property
    def inherited(self) -> float:
        """What of that an earlier run had paid."""
        return self.stage.inherited

    @property
    def settled(self) -> int | None:
        """How many configurations a race has settled; None for another method."""
        policy = self.stage.policy
        return int(policy.settled.sum()) if isinstance(policy, ParetoRace) else None

    @property
    def outstanding(self) -> float | None:
        """About what a race still costs, if all goes on as it did; None for another method."""
        policy = self.stage.policy
        return float(policy.forecast() @ policy.costs) if isinstance(policy, ParetoRace) else None

    @property
    def in_flight(self) -> int:
        """Evaluations under way, or handed out to be."""
        return int(self.stage.policy.in_flight.sum())

    @property
    def active(self) -> tuple[str, ...]:
        """Configurations that may still be evaluated."""
        policy = self.stage.policy
        arms = np.arange(policy.n_arms)
        if isinstance(policy, IdentificationPolicy):
            arms = policy.active
        elif isinstance(policy, OnlinePolicy):
            arms = np.flatnonzero(policy.eligible)
        return tuple(self.stage.names[arm] for arm in arms)

    @property
    def front(self) -> tuple[str, ...]:
        """What the method would recommend now."""
        return recommended(self.stage.policy, self.stage.names)


def frame_of(stage: MainStage) -> pd.DataFrame:
    """Make one row of each evaluation that was told, in the order of configurations and instances.

    An evaluation that failed has the values that score zero.  Where a method came back to an instance, its
    name counts how often.

    Returns
    -------
    DataFrame
        ``config``, ``instance``, the settings, and what was measured.

    Raises
    ------
    CobanditError
        If every instance is left out.
    """
    plan, order = stage.plan, stage.order
    records = stage.everything
    rows = []
    for arm, place in sorted(records):
        if place % len(order) in stage.left_out:
            continue
        record = records[arm, place]
        failed = FAILED in record
        if failed:
            record = worst(plan, stage.profile.limits) | record
        name = name_row(order, place)
        rows.append({"config": stage.names[arm], "instance": name} | record | {FAILED: failed})
    if not rows:
        raise CobanditError("an evaluation failed on every instance, so that all are left out: mend it")
    frame = pd.DataFrame(rows)
    if not frame[FAILED].any():
        del frame[FAILED]
    arms = dict(zip(stage.names, plan.configurations.all, strict=True))
    for setting in reversed(plan.settings):
        values = _one_kind([each.get(setting) for each in plan.configurations.all])
        described = dict(zip(arms, values, strict=True))
        frame.insert(2, setting, frame["config"].map(described))
    return frame


def _one_kind(values: list[Any]) -> list[Any]:
    """Give the values of a setting one type: numbers if all of them are, else text."""
    kinds = {type(value) for value in values}
    if kinds == {bool} or kinds <= {int, float}:
        return values
    return [UNSET if value is None else str(value) for value in values]


def card_of(stage: MainStage, frame: pd.DataFrame) -> dict[str, Any]:
    """Make the fields of the table's card: its profiling split is the pilot, its limits are the run's."""
    plan, profile = stage.plan, stage.profile
    configs = frame.groupby("instance")["config"].nunique()
    shared = [name for name in stage.order if configs.get(name) == len(stage.names)]
    if len(shared) < MIN_INSTANCES:
        raise CobanditError(
            f"a table needs {MIN_INSTANCES} instances that every configuration was evaluated on, and there "
            f"are {len(shared)} so far: run the plan on, or with a larger budget"
        )
    # those of the pilot that are not left out; without a pilot of its own as few as a card allows
    of_pilot = len(set(shared) & set(stage.order[: profile.n_instances]))
    first = shared[: max(of_pilot, MIN_INSTANCES)]
    objectives = []
    for objective in plan.objectives:
        fields = objective.model_dump(exclude_defaults=True, exclude={"low", "high", "limits"})
        if objective.transform != "none":
            fields["limits"] = list(profile.limits[objective.name])
        objectives.append(fields)
    return {
        "name": plan.name,
        "title": plan.title or f"Evaluations of {len(stage.names)} configurations by cobandit run",
        "source": f"measured by cobandit {__version__}, {date.today():%d %B %Y}",
        "license": plan.license,
        "kind": "measured",
        "records": "table.parquet",
        "cost": plan.cost.model_dump(),
        "objectives": objectives,
        "split": {"profiling": len(first), "seed": plan.seed, "instances": first},
        "arms": list(plan.settings),
        # one that comes back to an instance has more rows than the benchmark has instances
        "n_instances": len(stage.order) - len(stage.left_out) if plan.is_once else None,
    }


def report_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say in a few lines how the table was made, for the head of its card."""
    plan, policy = stage.plan, stage.policy
    lines = [
        f"made by: cobandit run, method {plan.method.name} {plan.method.options or ''}".rstrip(),
        f"{len(frame)} evaluations for {stage.spent:g} {plan.cost.unit}; "
        + ("the run is over" if policy.finished else "the run is not over"),
        f"pilot: {stage.profile.n_instances} instances; order of the instances: seed {plan.seed}",
        f"machine: {platform.machine()}, {platform.system()}, Python {platform.python_version()}",
    ]
    if plan.reuse is not None:
        lines.append(f"what {plan.reuse} had was not evaluated again")
    return lines + losses_of(stage, frame)


def losses_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say what was lost by failures, if anything was."""
    lines = []
    if FAILED in frame:
        failed = frame[frame[FAILED]]["config"].value_counts(sort=False)
        most = str(failed.idxmax())
        first = next(record[FAILED] for record in stage.everything.values() if FAILED in record)
        lines.append(
            f"{failed.sum()} of {len(frame)} evaluations failed and score zero, of {most} {failed.max()} of "
            f"{int((frame['config'] == most).sum())}; the first: {first}"
        )
    for column, what in COUNTED.items():
        if column in frame and frame[column].any():
            share = frame.groupby("config", sort=False)[column].mean()
            lines.append(
                f"{int(frame[column].sum())} of {len(frame)} answers were {what}, of {share.idxmax()} "
                f"{100 * share.max():.0f} %"
            )
    if stage.left_out:
        lines.append(f"{len(stage.left_out)} instances are left out, since an evaluation on them failed")
    return lines


def read_made(plan: Plan, path: Path, source: str) -> Made:
    """Take the plan's evaluations from a table; those that failed are left out.

    Raises
    ------
    CobanditError
        If it has none of them, its cost or a setting is another, or a row lacks what the plan needs.
    """
    table = open_measured(plan, path, source)
    _check_settings(plan, table, source)
    frame = read_columns(path, ("config", "instance"))
    frame["config"] = frame["config"].map(lambda name: _name_here(plan, table, name))
    frame["instance"] = frame["instance"].astype(str)
    wanted = frame["config"].isin(plan.names) & frame["instance"].isin(plan.instances.ids)
    if FAILED in frame:
        wanted &= ~frame[FAILED].astype(bool)
    if not wanted.any():
        problem = (
            f"it has no evaluation of the plan, but such as {frame['config'][0]!r} on instance "
            f"{frame['instance'][0]!r} (here {plan.names[0]!r} on {plan.order[0]!r})"
        )
        remedy = "name both alike, or list the plan's settings as 'arms' on its card (--arm of an import)"
        stop(source, problem, remedy)
    frame = frame[wanted]
    measured = frame.drop(columns=[*RESERVED, *plan.settings, *table.card.arms], errors="ignore")
    rows = measured.select_dtypes(["number", "bool"]).astype(float).to_dict("records")
    keys = zip(frame["config"], frame["instance"], strict=True)
    made = {
        key: {str(name): value for name, value in row.items() if value == value}
        for key, row in zip(keys, rows, strict=True)
    }
    for (name, instance), row in made.items():
        check_row(plan, row, name, instance)
    return made


def read_earlier(plan: Plan, paths: Iterable[Path]) -> Earlier:
    """Take the evaluations of journals that were set aside when the plan changed; failures are made again."""
    rows: dict[Key, Row] = {}
    lost = 0.0
    pilot = plan.pilot if isinstance(plan.pilot, int) else 0
    for entry in (entry for path in paths for entry in read_entries(path) if "tell" in entry):
        if entry["reward"] is None or FAILED in entry["record"]:
            lost += entry["cost"] if entry["reward"] is None or entry["number"] >= pilot else 0.0
        else:
            rows[entry["tell"], entry["number"]] = entry["record"]
    return Earlier(rows, lost)


def start_from(plan: Plan, path: Path, source: str) -> Plan:
    """Let a plan begin with what a table has: the instances of which it has most come first, else at random.

    Whether an evaluation is there must not depend on what it gave.

    Raises
    ------
    CobanditError
        As `read_made`; if the plan's method comes back to instances.
    """
    if not plan.is_once:
        problem = f"{plan.method.name} comes back to instances"
        stop(source, problem, "a run that starts from a table needs a method that evaluates once")
    seen = Counter(instance for _, instance in read_made(plan, path, f"the table to start from, {path}"))
    ids = tuple(sorted(plan.instances.shuffle(plan.seed), key=lambda name: -seen[name]))
    instances = plan.instances.model_copy(update={"ids": ids})
    return plan.model_copy(update={"instances": instances, "ordered": True, "reuse": str(path)})


def _name_here(plan: Plan, table: EvaluationTable, name: str) -> str:
    """Name a configuration of a table as the plan does, if all its settings are there and the same."""
    if name in plan.names or not set(plan.settings) <= set(table.arms.columns):
        return name
    there = table.arms.loc[name]
    for here, settings in zip(plan.names, plan.configurations.all, strict=True):
        if all(_same(there[setting], settings.get(setting)) for setting in plan.settings):
            return here
    return name


def _check_settings(plan: Plan, table: EvaluationTable, where: str) -> None:
    """A name has only the settings that differ within a plan; here all have to be the same."""
    arms = {_name_here(plan, table, str(name)): each for name, each in table.arms.to_dict("index").items()}
    for name, settings in zip(plan.names, plan.configurations.all, strict=True):
        for setting, value in settings.items():
            there = arms.get(name, {}).get(setting, value)
            if not _same(there, value):
                problem = f"{name!r} has {setting} {there} there and {value} here"
                stop(where, problem, "leave the table out, or give the settings that were evaluated")


def _same(there: Any, here: Any) -> bool:
    try:
        return float(there) == float(here)
    except (TypeError, ValueError):
        return str(there) == str(here)
