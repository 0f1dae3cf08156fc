"""Functions that estimate the cost of a run, export it, or read its progress.

None of them makes an evaluation.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from cobandit.errors import raise_fault
from cobandit.live.estimates import Estimate, estimate_run
from cobandit.live.plan import check_plan
from cobandit.live.progress import Progress
from cobandit.live.records import FAILED_KEY
from cobandit.live.result import Run, write_run
from cobandit.live.run_files import RunFiles
from cobandit.live.run_setup import (
    Evaluate,
    RunSetup,
    find_reusable,
    open_evaluator,
    reprice_reusable,
    set_up,
)
from cobandit.live.stage_journals import describe_pilot, restore_stage
from cobandit.live.stages import MainStage


def estimate(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    evaluator: Evaluate | None = None,
    start: str | Path | None = None,
) -> Estimate:
    """Estimate the cost of a run before its first evaluation.

    Parameters
    ----------
    plan, folder, evaluator, start
        As in `run`.

    Raises
    ------
    CobanditError
        For every error that `run` would raise before its first evaluation.
    """
    setup = set_up(plan, folder, start)

    async def add_up() -> Estimate:
        async with open_evaluator(setup, evaluator) as opened:
            reusable = dict(reprice_reusable(setup.plan, opened, find_reusable(setup)))
            # refuse a plan with which the run in the folder cannot continue
            if setup.folder.begun:
                with setup.folder.copy() as copy:
                    stage = restore_stage(setup._replace(folder=copy))
                for key, record in stage.records.items():
                    if FAILED_KEY not in record:
                        reusable[stage.name_record(key)] = record
            return estimate_run(setup.plan, opened, reusable)

    with start_blocking_portal() as portal:
        return portal.call(add_up)


def export(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    start: str | Path | None = None,
) -> Run:
    """Write the table of a run's evaluations so far, and the current recommendation.

    The run may be in progress, because copies of its journals are read.

    Parameters
    ----------
    plan, folder, start
        As in `run`.

    Raises
    ------
    CobanditError
        If the folder does not contain a run, or the pilot of this run is incomplete.
    """
    setup = set_up(plan, folder, start)
    with setup.folder.copy() as copy:
        stage = restore_stage(setup._replace(folder=copy))
    if not isinstance(stage, MainStage):
        remedy = "run the plan again, because a table needs the complete pilot"
        raise_fault(setup.folder.path, describe_pilot(stage), remedy, "pilot-not-over")
    return write_run(stage, setup.folder)


def read_progress(folder: str | Path) -> Progress:
    """Return the state of a finished or current run: cost, front and configurations.

    Parameters
    ----------
    folder : str or Path
        Folder of the run.

    Raises
    ------
    CobanditError
        If the folder does not contain a run.
    """
    files = RunFiles(folder)
    with files.copy() as copy:
        plan = check_plan(files.read_written(), str(files.plan))
        stage = restore_stage(RunSetup(plan, str(files.plan), Path(), copy))
    return Progress(stage, "", busy=files.is_busy)
