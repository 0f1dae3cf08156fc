"""The state of a run in words and as tables."""

from __future__ import annotations

import pandas as pd

from cobandit._text import amount, some_names
from cobandit.errors import raise_fault
from cobandit.live.flaws import count_flaws, describe_overspending, find_losers
from cobandit.live.progress import Progress
from cobandit.live.run_table import card_of, frame_of
from cobandit.live.stages import MainStage
from cobandit.policies.identification_policy import IdentificationPolicy
from cobandit.policies.pareto_race import ParetoRace
from cobandit.tables.card import Card
from cobandit.tables.table import EvaluationTable

#: Largest number of configurations that a line names.
NAMED_MEMBERS = 8


def describe_progress(progress: Progress) -> dict[str, str]:
    """Describe the state of a run in words, by topic.

    Returns
    -------
    dict of str to str
        Lines by topic: ``run``, ``spent``, ``evaluations``, and if applicable ``note``,
        ``front so far`` and ``settled``.
    """
    stage = progress.stage
    plan = stage.plan
    unit = plan.cost.unit
    is_over = isinstance(stage, MainStage) and stage.over
    lines = {
        "run": f"{plan.name}, {plan.method.name}, {'over' if is_over else stage.name}",
        "spent": describe_spending(progress),
    }
    if stage.inherited:
        lines["spent"] += f", of which {amount(stage.inherited)} in an earlier table"
    if stage.budget is None and plan.budget is not None:
        lines["spent"] += " (the budget is known after the pilot)"

    policy = stage.policy
    n_arms = len(stage.names)
    active = len(policy.active) if isinstance(policy, IdentificationPolicy) else n_arms
    parts = [f"{len(stage.records):,} made"]
    begun = int(policy.in_flight.sum())
    if begun:
        parts.append(
            f"{begun:,} {'in flight' if progress.busy else 'begun and not ended'}"
        )
    parts.append(f"{active} of {n_arms} configurations active")
    if not progress.busy and not is_over:
        parts[-1] += " (no process is running)"
    lines["evaluations"] = ", ".join(parts)
    overspending = describe_overspending(stage)
    if overspending:
        lines["note"] = overspending
    if isinstance(stage, MainStage):
        lines["front so far"] = some_names(progress.front, NAMED_MEMBERS) or "none yet"
    if isinstance(policy, ParetoRace):
        lines["settled"] = f"{progress.settled} of {n_arms}"
        if progress.settled != n_arms:
            forecast = amount(float(policy.forecast() @ policy.costs))
            lines["settled"] += f"; the others need about {forecast} {unit}"
    return lines


def describe_spending(progress: Progress) -> str:
    """Return the cost so far and the budget, in words."""
    stage = progress.stage
    budget = "" if stage.budget is None else f" of {amount(stage.budget)}"
    return f"{amount(stage.spent)}{budget} {stage.plan.cost.unit}"


def describe_losers(progress: Progress) -> list[str]:
    """Describe configurations that flawed evaluations may keep off the front."""
    stage = progress.stage
    return list(map(str, find_losers(stage))) if isinstance(stage, MainStage) else []


def tabulate_evaluations(progress: Progress) -> EvaluationTable:
    """Return the table of a run's evaluations so far.

    Raises
    ------
    CobanditError
        If there are too few evaluations for a table yet.
    """
    stage = _find_main_stage(progress)
    frame = frame_of(stage)
    card = Card.model_validate(card_of(stage, frame))
    return EvaluationTable.from_records(frame, card, "the run")


def tabulate_configurations(progress: Progress) -> pd.DataFrame:
    """Return a data frame with the state of each configuration of a run.

    Returns
    -------
    DataFrame
        Indexed by configuration, in the plan's order, with ``evaluations`` (the number
        so far), ``state`` (text), and one column per kind of flaw with the number of
        flawed evaluations, such as cut-off answers.

    Raises
    ------
    CobanditError
        If the pilot is not complete.
    """
    stage = _find_main_stage(progress)
    frame = frame_of(stage)
    names = list(stage.names)
    counts = frame["config"].value_counts().reindex(names, fill_value=0)
    table = pd.DataFrame(
        {"evaluations": counts.to_numpy()}, index=pd.Index(names, name="configuration")
    )
    policy = stage.policy
    if isinstance(policy, IdentificationPolicy):
        active = set(policy.active.tolist())
        returned = set(progress.front)
        table["state"] = [
            (
                "active"
                if arm in active
                else _name_end(name in returned, int(policy.pulls[arm]))
            )
            for arm, name in enumerate(names)
        ]

    flaws = count_flaws(frame)
    for kind in dict.fromkeys(kind for kinds in flaws.values() for kind in kinds):
        table[kind] = [flaws.get(name, {}).get(kind, 0) for name in names]
    return table


def _name_end(is_returned: bool, instances: int) -> str:
    return f"{'returned' if is_returned else 'left'} after {instances} instances"


def _find_main_stage(progress: Progress) -> MainStage:
    if not isinstance(progress.stage, MainStage):
        problem = "the run is in its pilot, so there is nothing to compare yet"
        remedy = "wait until the pilot is complete"
        raise_fault("the run", problem, remedy, "pilot-not-over")
    return progress.stage
