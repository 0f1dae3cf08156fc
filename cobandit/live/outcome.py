"""What a run says of itself: what it will cost, how far it is, its evaluations as a table with a card."""

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd

from cobandit import _budget
from cobandit._text import amount
from cobandit._version import __version__
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.configurations import RESERVED
from cobandit.live.evaluators import Evaluator
from cobandit.live.folder import RunFolder
from cobandit.live.plan import SHARE, Plan
from cobandit.live.stages import COST_WAS_ZERO, FAILED, Made, MainStage, Stage, check_row, name_row
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.online_policy import OnlinePolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.tables.card import CUT_OFF, EMPTY, FAILURES, FREE
from cobandit.tables.catalogue import open_table
from cobandit.tables.columns import MIN_INSTANCES
from cobandit.tables.record_files import read_columns
from cobandit.tables.storage import write_table
from cobandit.tables.table import EvaluationTable

#: Columns that are 1 where something is odd about an answer, which is scored as it is.
COUNTED = {
    "truncated": "cut off at a limit of tokens",
    "empty": "empty",
    COST_WAS_ZERO: "free, and charged as the cheapest one",
    "doubtful": "counted in tokens that do not add up, and are charged in full",
    "estimated": "not counted in tokens, which are estimated from their text",
}

#: In a column of the table, a setting that a configuration does not have.
UNSET = "not set"


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
    most : float
        What these cost at most; infinity where nothing says so.
    prices : str
        Where prices are from; empty if nothing is charged by them.
    """

    plan: Plan
    made: Made
    pilot: int
    most: float
    prices: str = ""

    @property
    def lines(self) -> list[str]:
        """What there is to say, a line each."""
        plan, unit = self.plan, self.plan.cost.unit
        n_all = len(plan.names) * len(plan.order)
        size = f"{len(plan.names)} configurations on {len(plan.order)} instances"
        said = [f"{size}: {n_all:,} evaluations in all"]
        if self.made:
            paid = sum(row[plan.cost.column] for row in self.made.values())
            there = f"of these {len(self.made):,} are there, for {amount(paid)} {unit}"
            said.append(f"{there}: they are charged, and not made again")
        if not self.pilot:
            said.append("pilot: nothing to evaluate")
        elif self.most < inf:
            each = self.most / self.pilot
            said.append(f"pilot: {self.pilot:,} evaluations, at most {amount(self.most)} {unit}")
            said.append(f"everything: at most about {amount(each * n_all)} {unit}")
        else:
            said.append(f"pilot: {self.pilot:,} evaluations, which show what everything costs")
        if self.prices:
            said.append(f"prices: {self.prices}")
        if plan.budget is not None:
            of = "of what everything costs by the pilot's means" if plan.unit == SHARE else unit
            said.append(f"budget: {amount(plan.budget)} {of}")
            if plan.unit != SHARE and plan.budget < self.most < inf:
                said.append("it may not hold the pilot: then the run stops, and waits for a larger one")
        return said


def estimate_run(plan: Plan, evaluator: Evaluator, made: Made) -> Estimate:
    """Add up what the pilot can cost."""
    bound = getattr(evaluator, "bound_cost", lambda configuration, instance: inf)
    caps = plan.largest_costs or [inf] * len(plan.names)
    costs = [
        min(cap, bound(configuration, instance))
        for name, configuration, cap in zip(plan.names, plan.configurations.all, caps, strict=True)
        for instance in plan.order[: plan.pilot]
        if (name, instance) not in made
    ]
    return Estimate(plan, made, len(costs), sum(costs), getattr(evaluator, "prices", ""))


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
    line : str
        What happened; empty where nothing did but a start.
    failed : bool
        Whether that is a failure.
    notable : bool
        Whether it is worth a line of its own, although it is none.
    busy : bool
        Whether a process is at work on the run.
    """

    stage: Stage
    line: str
    failed: bool = False
    busy: bool = True
    notable: bool = False

    @property
    def settled(self) -> int | None:
        """How many configurations a race has settled; None for another method."""
        policy = self.stage.policy
        return int(policy.settled.sum()) if isinstance(policy, ParetoRace) else None

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
    plan, left_out = stage.plan, stage.left_out
    rows = [
        {"config": stage.names[arm], "instance": name_row(stage.order, place)}
        | stage.values(record)
        | {FAILED: FAILED in record}
        for (arm, place), record in sorted(stage.everything.items())
        if place % len(stage.order) not in left_out
    ]
    if not rows:
        raise CobanditError("an evaluation failed on every instance, so that all are left out: mend it")
    frame = pd.DataFrame(rows)
    if not frame[FAILED].any():
        del frame[FAILED]
    for column in frame.columns.intersection([*COUNTED, "written_tokens"]):
        frame[column] = frame[column].fillna(0.0)  # most evaluators give these only where they apply
    for setting in reversed(plan.settings):
        values = [each.get(setting) for each in plan.configurations.all]
        kinds = {type(value) for value in values}
        if kinds != {bool} and not kinds <= {int, float}:  # a column has one type: numbers, or else text
            values = [UNSET if value is None else str(value) for value in values]
        frame.insert(2, setting, frame["config"].map(dict(zip(stage.names, values, strict=True))))
    if plan.instances.cluster is not None:
        frame[plan.instances.cluster] = frame["instance"].map(plan.instances.find_cluster)
    return frame


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
    # those of the pilot that are not left out, and no fewer than a card allows
    of_pilot = len(set(shared) & set(stage.order[: plan.pilot]))
    first = shared[: max(of_pilot, MIN_INSTANCES)]
    objectives = []
    for objective in plan.objectives:
        fields = objective.model_dump(exclude_defaults=True, exclude={"low", "high", "limits"})
        if objective.transform != "none":
            fields["limits"] = list(profile.limits[objective.name])
        objectives.append(fields)
    cluster = {} if plan.instances.cluster is None else {"cluster": plan.instances.cluster}
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
        **({"counts": counts} if (counts := count_flaws(frame)) else {}),
        **({"smallest_cost": stage.smallest_cost} if COST_WAS_ZERO in frame else {}),
        # one that comes back to an instance has more rows than the benchmark has instances
        "n_instances": len(stage.order) - len(stage.left_out) if plan.is_once else None,
        **cluster,
    }


def report_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say in a few lines how the table was made, for the head of its card."""
    plan, policy = stage.plan, stage.policy
    lines = [
        f"made by: cobandit run, method {plan.method.name} {plan.method.options or ''}".rstrip(),
        f"{len(frame)} evaluations for {stage.spent:g} {plan.cost.unit}; "
        + ("the run is over" if policy.finished else "the run is not over"),
        f"pilot: {plan.pilot} instances; order of the instances: seed {plan.seed}",
        f"machine: {platform.machine()}, {platform.system()}, Python {platform.python_version()}",
    ]
    if plan.reuse is not None:
        lines.append(f"what {plan.reuse} had was not evaluated again")
    return lines + losses_of(stage, frame)


def describe_overspending(stage: Stage) -> str:
    """Say by how much the budget is exceeded, and how to prevent it; nothing if it is not."""
    plan, budget = stage.plan, stage.budget
    if budget is None or stage.spent <= _budget.add_slack(budget):
        return ""
    over = f"the budget is exceeded by {amount(stage.spent - budget)} {plan.cost.unit}"
    if plan.largest_cost is not None:
        return f"{over}, since an evaluation cost more than the plan's largest_cost: raise it"
    return (
        f"{over}, since an evaluation cost more than those before it.  A run stays within its budget with "
        "largest_cost in its plan: the most that one may cost, or the setting that says it (max_tokens)"
    )


def losses_of(stage: MainStage, frame: pd.DataFrame) -> list[str]:
    """Say what was lost by failures, and what else is not as it should be, if anything is."""
    lines = list(filter(None, [describe_overspending(stage)]))
    if FAILED in frame:
        first = next(record[FAILED] for record in stage.everything.values() if FAILED in record)
        failed = f"{frame[FAILED].sum()} of {len(frame)} evaluations failed and score zero"
        lines.append(f"{failed} ({_by_configuration(frame, FAILED)}); the first: {first}")
    for column, what in COUNTED.items():
        if column in frame and frame[column].any():
            counted = f"{int(frame[column].sum())} of {len(frame)} answers were {what}"
            lines.append(f"{counted} ({_by_configuration(frame, column)})")
    if stage.left_out:
        lines.append(f"{len(stage.left_out)} instances are left out, since an evaluation on them failed")
    return lines


#: Configurations that a line of losses names.
NAMED = 3


def _by_configuration(frame: pd.DataFrame, column: str) -> str:
    """Say how many of each configuration's rows a column marks, the most first."""
    marked = frame.groupby("config")[column].agg(["sum", "size"])
    marked = marked[marked["sum"] > 0].sort_values("sum", ascending=False, kind="stable")
    named = [
        f"{row['sum']:.0f} of {row['size']:.0f} of {name}" for name, row in marked.head(NAMED).iterrows()
    ]
    more = len(marked) - NAMED
    return ", ".join(named) + (f", and of {more} more" if more > 0 else "")


def count_flaws(frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count what is not as it should be, by configuration, as a card has it."""
    kinds = {FAILED: FAILURES, "truncated": CUT_OFF, "empty": EMPTY, COST_WAS_ZERO: FREE}
    counts: dict[str, dict[str, int]] = {}
    for column, what in kinds.items():
        if column in frame:
            for name, number in frame.groupby("config")[column].sum().items():
                if number:
                    counts.setdefault(str(name), {})[what] = int(number)
    return counts


@dataclass(frozen=True)
class Run:
    """What a run came to.

    Attributes
    ----------
    plan : Plan
    recommendation : tuple of str
        Names of the configurations that the method recommends: the Pareto set, or the most efficient one.
    table : Path
        The evaluations, with their card next to it; `cobandit.read` reads it.
    policy : CoPSIOnce, ...
        As the run left it.
    spent : float
        In the unit of the cost, the pilot included.
    inherited : float
        What of it an earlier run had paid, whose table was reused.
    budget : float or None
        In the unit of the cost; None if a race had no cap.
    losses : tuple of str
        What was lost by failures, and what else is not as it should be, in words; empty if all is well.
    prices : str
        Where prices are from, and of which day; empty if nothing is charged by them.
    """

    plan: Plan
    recommendation: tuple[str, ...]
    table: Path
    policy: AskTell
    spent: float
    inherited: float
    budget: float | None
    losses: tuple[str, ...]
    prices: str = ""


def write_run(stage: MainStage, folder: RunFolder) -> Run:
    """Write what a run came to: its recommendation, and the table of its evaluations with their card."""
    plan, best = stage.plan, recommended(stage.policy, stage.names)
    content = {
        "method": plan.method.name,
        "recommendation": list(best),
        "finished": stage.policy.finished,
        "spent": stage.spent,
        "inherited": stage.inherited,
        "budget": stage.budget,
        "unit": plan.cost.unit,
    }
    folder.write(folder.recommendation, content)
    frame = frame_of(stage)
    report, losses, prices = report_of(stage, frame), tuple(losses_of(stage, frame)), folder.prices_source
    if prices:
        report.append(f"prices: {prices}")
    write_table(frame, card_of(stage, frame), folder.table, report)
    return Run(
        plan, best, folder.table, stage.policy, stage.spent, stage.inherited, stage.budget, losses, prices
    )


def read_made(plan: Plan, path: Path, source: str) -> Made:
    """Take the plan's evaluations from a table; those that failed are left out.

    Raises
    ------
    CobanditError
        If it has none of them, its cost or a setting is another, or a row lacks what the plan needs.
    """
    table = open_table(str(path))
    if table.card.cost != plan.cost:
        problem = f"its cost is {table.card.cost}, the plan's {plan.cost}"
        raise_fault(source, problem, "take a table with the same cost")
    ours = _match(plan, table, source)
    frame = read_columns(path, ("config", "instance"))
    frame["config"] = frame["config"].map(lambda name: ours.get(name, name))
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
        raise_fault(source, problem, remedy)
    rows = frame[wanted]
    measured = rows.drop(columns=[*RESERVED, *plan.settings, *table.card.arms], errors="ignore")
    records = measured.select_dtypes(["number", "bool"]).astype(float).to_dict("records")
    made = {}
    for name, instance, record in zip(rows["config"], rows["instance"], records, strict=True):
        made[name, instance] = {str(column): value for column, value in record.items() if value == value}
        check_row(plan, made[name, instance], name, instance)
    return made


def _match(plan: Plan, table: EvaluationTable, source: str) -> dict[str, str]:
    """Names of configurations here, by those in a table: of one name, or with the same settings.

    A name has only the settings that differ within a plan; all have to be the same.
    """
    found = {}
    for name, there in table.arms.to_dict("index").items():
        for here, settings in zip(plan.names, plan.configurations.all, strict=True):
            given = {each: UNSET if settings.get(each) is None else settings[each] for each in plan.settings}
            differ = [each for each in given if each in there and not _same(there[each], given[each])]
            if name == here and differ:
                problem = f"{name!r} has {differ[0]} {there[differ[0]]} there and {given[differ[0]]} here"
                raise_fault(source, problem, "leave the table out, or give the settings that were evaluated")
            if name == here or not (differ or given.keys() - there.keys()):
                found[str(name)] = here
    return found


def _same(there: Any, here: Any) -> bool:
    try:
        return float(there) == float(here)
    except (TypeError, ValueError):
        return str(there) == str(here)


def order_from(plan: Plan, made: Made) -> Plan:
    """Let a plan begin with the instances of which most is there, and go on at random.

    Whether an evaluation is there must not depend on what it gave.
    """
    seen = Counter(instance for _, instance in made)
    ids = sorted(plan.instances.shuffle(plan.seed), key=lambda name: -seen[name])
    instances = plan.instances.model_copy(update={"rows": {name: plan.instances.rows[name] for name in ids}})
    return plan.model_copy(update={"instances": instances, "ordered": True})
