"""What a run leaves: its evaluations as a table with a card, and what its method recommends."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date
from importlib import metadata
from typing import Any

import pandas as pd

from cobandit.errors import CobanditError
from cobandit.live.pilot import FAILED
from cobandit.live.scoring import worst
from cobandit.live.stages import MainStage
from cobandit.policies.asktell import AskTell
from cobandit.policies.identification import IdentificationPolicy
from cobandit.policies.online import OnlinePolicy
from cobandit.tables.schema import MIN_INSTANCES

UNSET = "not set"
"""In a column of the table, a setting that a configuration does not have."""


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
    records = dict(stage.profile.results)
    for (arm, number), record in stage.results.items():
        records.setdefault((arm, stage.place(number)), record)
    rows = []
    for arm, place in sorted(records):
        round_, instance = divmod(place, len(order))
        if instance in stage.left_out:
            continue
        record = records[arm, place]
        failed = FAILED in record
        if failed:
            record = worst(plan, stage.profile.limits) | record
        name = order[instance] + (f" ({round_ + 1})" if round_ else "")
        rows.append({"config": stage.names[arm], "instance": name} | record | {FAILED: failed})
    if not rows:
        raise CobanditError("an evaluation failed on every instance, so that all are left out: mend it")
    frame = pd.DataFrame(rows)
    if not frame[FAILED].any():
        del frame[FAILED]
    arms = dict(zip(stage.names, plan.configurations, strict=True))
    for setting in reversed(plan.settings):
        values = _one_kind([each.get(setting) for each in plan.configurations])
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
        "source": f"measured by cobandit {_version()}, {date.today():%d %B %Y}",
        "license": plan.license,
        "kind": "measured",
        "records": "table.parquet",
        "cost": plan.cost.model_dump(),
        "objectives": objectives,
        "split": {"profiling": len(first), "seed": plan.seed, "instances": first},
        "arms": list(plan.settings),
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
        lines.append(f"{int(frame[FAILED].sum())} of {len(frame)} evaluations failed and score zero")
    if stage.left_out:
        lines.append(f"{len(stage.left_out)} instances are left out, since an evaluation on them failed")
    return lines


def _version() -> str:
    try:
        return metadata.version("cobandit")
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
