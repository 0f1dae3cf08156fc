"""The function that runs a plan and returns its table and recommendation."""

from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from cobandit.errors import raise_fault
from cobandit.live.dispatcher import Dispatcher
from cobandit.live.equal_scores import refuse_equal_scores
from cobandit.live.estimates import Estimate, estimate_run
from cobandit.live.evaluators.base import Evaluator
from cobandit.live.lines import Lines
from cobandit.live.progress import Progress
from cobandit.live.rescoring import rescore_pilot
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
from cobandit.live.stage_journals import describe_pilot, open_stages
from cobandit.live.stages import MainStage

#: Function that receives the progress after each event.
Watch = Callable[[Progress], None]


def run(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    evaluator: Evaluate | None = None,
    watch: Watch | None = None,
    announce: Callable[[Estimate], None] | None = None,
    start: str | Path | None = None,
) -> Run:
    """Run a plan, or resume its run: evaluate configurations within a budget.

    First, the pilot evaluates every configuration on the first instances of a random
    order. The pilot determines the mean costs, the range of costs, and the scales of
    objectives that are computed from measured values. The cost of the pilot counts
    towards the budget. Then the method chooses the evaluations. Results are stored in
    journals, so that no evaluation is repeated when the run is resumed.

    Parameters
    ----------
    plan : str, Path or mapping
        YAML file of the plan, or its fields; see `cobandit.live.plan.Plan`.
    folder : str or Path, optional
        Folder of the run, by default ``runs/NAME``.
    evaluator : callable or Evaluator, optional
        Evaluator, or a plain or async function, instead of the plan's ``evaluate``. A
        function takes a configuration (a mapping) and an instance (its id), and returns
        a mapping of columns to numbers.
    watch : callable, optional
        Called with a `Progress` after each event, in the working thread.
    announce : callable, optional
        Called with an `Estimate` before the first call of a new run.
    start : str or Path, optional
        Table of another run, or an imported table. Evaluations of the plan's
        configurations in this table are not repeated, and their instances come first.

    Returns
    -------
    Run

    Raises
    ------
    CobanditError
        If the plan is not valid, or differs from the plan in the folder. The run is
        then not started. Also if the evaluator returns unusable values, or no
        evaluation succeeds. Results so far are then kept.

    Examples
    --------
    >>> import tempfile
    >>> def evaluate(configuration, instance):
    ...     skill, length = {"small": (5, 10), "large": (8, 40)}[configuration["model"]]
    ...     temperature = configuration["temperature"]
    ...     right = int(instance) % 10 < skill - 3 * temperature
    ...     return {"correct": right, "tokens": length * (1 + temperature)}
    >>> plan = {
    ...     "name": "toy", "instances": 60, "budget": 0.5, "unit": "share",
    ...     "configurations": {
    ...         "grid": {"model": ["small", "large"], "temperature": [0, 0.5, 1]}
    ...     },
    ...     "cost": {"column": "tokens", "unit": "tokens"},
    ...     "objectives": [
    ...         {"name": "accuracy", "column": "correct"},
    ...         {"name": "brevity", "column": "tokens", "transform": "negate-minmax"},
    ...     ],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run(plan, folder, evaluator=evaluate)
    >>> done.recommendation, done.spent <= done.budget
    (('small temperature=0', 'large temperature=0'), True)
    """
    setup = set_up(plan, folder, start)
    watch = watch or (lambda progress: None)
    announce = announce or (lambda estimate: None)
    # in another thread, because the thread of a notebook already has an event loop
    with start_blocking_portal() as portal:
        return portal.call(_run, setup, evaluator, watch, announce)


async def _run(
    setup: RunSetup,
    evaluator: Evaluate | None,
    watch: Watch,
    announce: Callable[[Estimate], None],
) -> Run:
    plan = setup.plan
    folder = setup.folder
    reusable = find_reusable(setup)
    async with open_evaluator(setup, evaluator) as opened:
        if plan.reuse is not None:
            _check_reused_instances(setup, opened)
        reusable = reprice_reusable(plan, opened, reusable)
        if not folder.begun:
            announce(estimate_run(plan, opened, reusable))
            folder.begin(plan)
        source = getattr(opened, "prices", "")
        if source:
            prices = {"day": folder.prices_day.isoformat(), "source": source}
            folder.write(folder.prices, prices)
        _check_digests(setup, opened)

        reported_doubts: set[str] = set()
        kept_answers = closing(Lines(folder.answers)) if plan.answers else nullcontext()
        with kept_answers as answers, closing(open_stages(setup, reusable)) as stages:
            if answers is not None:
                answers.mend()
            for stage in stages:
                stage.answers = answers
                await Dispatcher(opened, stage, watch, reported_doubts).play()
                if isinstance(stage, MainStage):
                    return write_run(stage, folder)

                # equal scores stop only a run in its pilot
                if stage.policy.finished and not folder.journal.exists():
                    can_rescore = plan.answers and hasattr(opened, "rescore")
                    refuse_equal_scores(stage, folder, can_rescore)

    problem = (
        f"{describe_pilot(stage)}, for {stage.spent:g} of {plan.budget:g} {plan.unit}"
    )
    remedy = "increase the plan's budget and run it again; results are kept"
    raise_fault(folder.path, problem, remedy, "budget-below-pilot")


def _check_reused_instances(setup: RunSetup, evaluator: Evaluator) -> None:
    """Raise if instances have changed since the evaluations of a reused table."""
    digests = getattr(evaluator, "digests", {})
    instances = setup.plan.instances.ids
    ours = {name: digests[name] for name in instances if name in digests}
    earlier = RunFiles((setup.base / str(setup.plan.reuse)).parent)
    earlier.check_instances(ours, keep=False)


def _check_digests(setup: RunSetup, evaluator: Evaluator) -> None:
    """Raise if instances or prices have changed since the run began.

    During the pilot, right answers may change if the stored answers can be scored
    again.
    """
    plan = setup.plan
    folder = setup.folder
    digests = getattr(evaluator, "digests", {})
    if not folder.journal.exists() and rescore_pilot(plan, evaluator, folder):
        others = {
            name: digest
            for name, digest in digests.items()
            if name not in plan.instances.rows
        }
        folder.check_instances(others, keep=False)
        folder.write(folder.instances, digests)
    elif digests:
        folder.check_instances(digests)
