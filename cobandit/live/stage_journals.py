"""Opening the journals of a run, for its two stages: pilot and main stage."""

from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

from cobandit.errors import CobanditError
from cobandit.live.headers import compare_nested, make_header
from cobandit.live.journal import Journal
from cobandit.live.lines import read_entries
from cobandit.live.method_budget import make_affordable_policy
from cobandit.live.pilot import Pilot
from cobandit.live.plan import Plan
from cobandit.live.profile import profile_of
from cobandit.live.records import Reusable
from cobandit.live.run_setup import RunSetup, find_reusable
from cobandit.live.stages import MainStage, RunStage
from cobandit.policies.asktell import AskTell


def restore_stage(setup: RunSetup) -> RunStage:
    """Restore the current stage of a run, for reading only."""
    reusable: Reusable = {}
    # the reused table, which only gives the inherited cost, may no longer exist
    with suppress(CobanditError):
        reusable = find_reusable(setup)
    *_, stage = open_stages(setup, reusable)
    return stage


def describe_pilot(stage: RunStage) -> str:
    """Describe how many of the pilot's evaluations have been made."""
    n_all = stage.plan.pilot * len(stage.names)
    return f"{stage.policy.pulls.sum()} of the pilot's {n_all} evaluations are done"


def open_stages(setup: RunSetup, reusable: Reusable) -> Generator[RunStage]:
    """Yield the pilot, then the main stage, each with its journal open.

    The generator ends after the pilot if the pilot is still incomplete then.
    """
    plan = setup.plan
    folder = setup.folder
    pilot = Pilot(len(plan.names), plan.pilot, largest_costs=plan.largest_costs)
    if _policy_changed(folder.pilot, pilot, plan) and not folder.has_results:
        folder.set_aside(folder.pilot)
    with Journal(folder.pilot, pilot, names=plan.names) as journal:
        folder.begin(
            plan
        )  # written at each start, because the plan may have been corrected
        stage = RunStage(plan, journal, reusable)
        pilot.budget = stage.budget or pilot.budget
        yield stage

    if not pilot.finished:
        return

    profile = profile_of(stage)
    while True:
        earlier = folder.read_earlier(plan)
        policy = make_affordable_policy(plan, profile, earlier)
        if not (plan.is_once and _policy_changed(folder.journal, policy, plan)):
            break
        folder.set_aside(folder.journal)

    with Journal(folder.journal, policy, names=plan.names) as journal:
        folder.begin(plan)
        yield MainStage(plan, journal, reusable, profile, earlier)


def _policy_changed(journal: Path, policy: AskTell, plan: Plan) -> bool:
    """Return whether a journal was written for another policy than the plan's."""
    entries = read_entries(journal)
    if not entries:
        return False
    return any(compare_nested(entries[0], make_header(policy, plan.names)))
