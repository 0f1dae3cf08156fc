"""A run from its plan to its table: pilot, method, evaluations, recommendation."""

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, closing, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

from anyio.from_thread import start_blocking_portal

from cobandit.errors import CobanditError, raise_fault
from cobandit.live.dispatcher import Dispatcher
from cobandit.live.equal_scores import refuse_equal_scores
from cobandit.live.estimates import Estimate, estimate_run
from cobandit.live.evaluators.base import Context, Evaluator
from cobandit.live.evaluators.functions import FunctionEvaluator
from cobandit.live.evaluators.registry import find_evaluator
from cobandit.live.headers import compare_nested, make_header
from cobandit.live.journal import Journal
from cobandit.live.lines import Lines, read_entries
from cobandit.live.method_budget import make_affordable_policy
from cobandit.live.pilot import Pilot
from cobandit.live.plan import Plan, check_plan
from cobandit.live.profile import profile_of
from cobandit.live.progress import Progress
from cobandit.live.records import FAILED, Reusable
from cobandit.live.rescoring import rescore_pilot
from cobandit.live.result import Run, write_run
from cobandit.live.reuse import order_by_reuse, read_reusable
from cobandit.live.run_files import MOST_DIFFERENCES, RunFiles
from cobandit.live.stages import MainStage, Stage
from cobandit.policies.asktell import AskTell
from cobandit.tables.plain_yaml import load_yaml

Watch = Callable[[Progress], None]
Evaluate = Callable[[Mapping[str, Any], str], Any] | Evaluator


class _Setup(NamedTuple):
    """A plan, its source and base folder, and the files of its run."""

    plan: Plan
    source: str
    base: Path
    folder: RunFiles


def run(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    evaluator: Evaluate | None = None,
    watch: Watch | None = None,
    announce: Callable[[Estimate], None] | None = None,
    start: str | Path | None = None,
) -> Run:
    """Evaluate under a budget, as a plan says; started again, it goes on where it was.

    First the pilot evaluates every configuration on the first instances of one random
    order.  It gives mean costs, the range of costs, and the limits of the objectives'
    transforms; it is part of the run and of its budget.  Then the method decides what
    is evaluated.  Results are journaled, and never evaluated again.

    Parameters
    ----------
    plan : str, Path or mapping
        The YAML file, or its fields; see `cobandit.live.plan.Plan`.
    folder : str or Path, optional
        Where the run lives, by default ``runs/NAME``.
    evaluator : callable or Evaluator, optional
        In the place of the plan's ``evaluate``: a function, plain or async, of a
        configuration (a mapping) and an instance (its id), that gives a mapping of
        columns to numbers; or an evaluator.
    watch : callable, optional
        Called with a `Progress` after each thing that happened, in the thread that does
        the work.
    announce : callable, optional
        Called with an `Estimate` before the first call of a new run.
    start : str or Path, optional
        A table, imported or of another run, with which the run starts: what it has of
        the plan is not evaluated again, and comes first.

    Returns
    -------
    Run

    Raises
    ------
    CobanditError
        If the plan is bad, or another than the folder's: nothing is started then.  If
        the evaluator gives what the plan cannot use, or nothing can be evaluated: what
        was evaluated is kept.

    Examples
    --------
    >>> import tempfile
    >>> def evaluate(configuration, instance):
    ...     large, temperature = configuration["model"] == "large", configuration["temperature"]
    ...     right = int(instance) % 10 < (8 if large else 5) - 3 * temperature
    ...     return {"correct": right, "tokens": (40 if large else 10) * (1 + temperature)}
    >>> plan = {
    ...     "name": "toy", "instances": 60, "budget": 0.5, "unit": "share",
    ...     "configurations": {"grid": {"model": ["small", "large"], "temperature": [0, 0.5, 1]}},
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
    setup = _set_up(plan, folder, start)
    report = watch or (lambda progress: None)
    say = announce or (lambda estimate: None)
    with start_blocking_portal() as portal:  # a notebook has a loop of its own
        return portal.call(_run, setup, evaluator, report, say)


def estimate(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    evaluator: Evaluate | None = None,
    start: str | Path | None = None,
) -> Estimate:
    """Estimate the cost of a run as far as it is known before its first call; nothing is evaluated.

    Parameters
    ----------
    plan, folder, evaluator, start
        As in `run`.

    Raises
    ------
    CobanditError
        As `run` before its first call.
    """
    setup = _set_up(plan, folder, start)

    async def add_up() -> Estimate:
        async with _opened(setup, evaluator) as opened:
            reusable = dict(_reprice(setup.plan, opened, _find_reusable(setup)))
            # a plan with which the run could not go on is refused here
            if setup.folder.begun:
                with setup.folder.copy() as copy:
                    stage = _restore(setup._replace(folder=copy))
                for key, record in stage.records.items():
                    if FAILED not in record:
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
    """Write the table of a run's evaluations so far, and what its method would recommend now.

    The run may be going on: a copy of its journals is looked at.

    Parameters
    ----------
    plan, folder, start
        As in `run`.

    Raises
    ------
    CobanditError
        If there is no such run, or its pilot is not complete.
    """
    setup = _set_up(plan, folder, start)
    with setup.folder.copy() as copy:
        stage = _restore(setup._replace(folder=copy))
    if not isinstance(stage, MainStage):
        raise CobanditError(
            f"{_count_pilot(stage)}: a table needs all of them; run the plan again"
        )
    return write_run(stage, setup.folder)


def read_progress(folder: str | Path) -> Progress:
    """Read how far a run is, which may be going on: its spending, and what its method would return now.

    Parameters
    ----------
    folder : str or Path
        Of the run.

    Raises
    ------
    CobanditError
        If there is no run.
    """
    files = RunFiles(folder)
    with files.copy() as copy:
        plan = check_plan(files.read_written(), str(files.plan))
        stage = _restore(_Setup(plan, str(files.plan), Path(), copy))
    return Progress(stage, "", busy=files.is_busy)


def _restore(setup: _Setup) -> Stage:
    """Bring back the stage that a run is in, to be looked at."""
    reusable: Reusable = {}
    # its table may be elsewhere now, and only says what was inherited
    with suppress(CobanditError):
        reusable = _find_reusable(setup)
    *_, stage = _open_stages(setup, reusable)
    return stage


def _set_up(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None,
    start: str | Path | None,
) -> _Setup:
    if isinstance(plan, Mapping):
        content, source, base = dict(plan), "the plan", Path()
    else:
        content, source, base = (
            load_yaml(Path(plan), "plan"),
            str(plan),
            Path(plan).parent,
        )

    checked = check_plan(content, source, base)
    if start is not None:
        checked = check_plan(
            content | {"reuse": str(Path(start).resolve())}, source, base
        )
        reusable = read_reusable(
            checked, Path(start), f"the table to start from, {start}"
        )
        checked = order_by_reuse(checked, reusable)

    files = RunFiles(Path("runs") / checked.name if folder is None else folder)
    files.check(checked)
    return _Setup(checked, source, base, files)


def _find_reusable(setup: _Setup) -> Reusable:
    """Read the evaluations of the table that the plan reuses."""
    reuse = setup.plan.reuse
    if reuse is None:
        return {}

    path = setup.base / reuse
    source = f"{setup.source}, the table {reuse}"
    earlier = RunFiles(path.parent)
    if earlier.begun and path.name == earlier.table.name:
        others = Plan.model_fields.keys() - {"evaluate"}
        differences = setup.plan.differences(
            earlier.read_written(), others, free=("prices",)
        )
        if differences:
            problem = (
                "it was evaluated in another way:"
                f" {'; '.join(differences[:MOST_DIFFERENCES])}"
            )
            remedy = "leave it out: its answers are to other questions than this plan's"
            raise_fault(source, problem, remedy, "other-evaluator")

    return read_reusable(setup.plan, path, source)


async def _run(
    setup: _Setup,
    evaluator: Evaluate | None,
    watch: Watch,
    announce: Callable[[Estimate], None],
) -> Run:
    plan, folder = setup.plan, setup.folder
    reusable = _find_reusable(setup)
    async with _opened(setup, evaluator) as opened:
        if plan.reuse is not None:
            digests = getattr(opened, "digests", {})
            ours = {
                name: digests[name] for name in plan.instances.ids if name in digests
            }
            RunFiles((setup.base / plan.reuse).parent).check_instances(ours, keep=False)
        reusable = _reprice(plan, opened, reusable)
        if not folder.begun:
            announce(estimate_run(plan, opened, reusable))
            folder.begin(plan)
        source = getattr(opened, "prices", "")
        if source:
            folder.write(
                folder.prices, {"day": folder.prices_day.isoformat(), "source": source}
            )
        _check_digests(setup, opened)

        doubted: set[str] = set()
        with (
            closing(Lines(folder.answers)) if plan.answers else nullcontext()
        ) as answers:
            if answers is not None:
                answers.mend()
            with closing(_open_stages(setup, reusable)) as stages:
                for stage in stages:
                    stage.answers = answers
                    await Dispatcher(opened, stage, watch, doubted).play()
                    if isinstance(stage, MainStage):
                        return write_run(stage, folder)
                    # a run that went on before may do so now
                    if stage.policy.finished and not folder.journal.exists():
                        can_rescore = plan.answers and hasattr(opened, "rescore")
                        refuse_equal_scores(stage, folder, can_rescore)
    problem = (
        f"{_count_pilot(stage)}, for {stage.spent:g} of {plan.budget:g} {plan.unit}"
    )
    remedy = "raise the plan's budget and run it again; what was evaluated is kept"
    raise_fault(folder.path, problem, remedy, "budget-below-pilot")


def _check_digests(setup: _Setup, evaluator: Evaluator) -> None:
    """Refuse instances and prices that have changed, but for right answers that can be scored anew."""
    plan, folder = setup.plan, setup.folder
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


def _reprice(plan: Plan, evaluator: Evaluator, reusable: Reusable) -> Reusable:
    """Charge reused evaluations by the prices of this run, where an evaluator has any."""
    reprice = getattr(evaluator, "reprice", None)
    if reprice is None:
        return reusable
    settings = dict(zip(plan.names, plan.configurations.all, strict=True))
    return {
        (name, instance): reprice(settings[name], row)
        for (name, instance), row in reusable.items()
    }


def _count_pilot(stage: Stage) -> str:
    n_all = stage.plan.pilot * len(stage.names)
    return f"{stage.policy.pulls.sum()} of the pilot's {n_all} evaluations are made"


@asynccontextmanager
async def _opened(setup: _Setup, given: Evaluate | None) -> AsyncIterator[Evaluator]:
    """Open the evaluator of the plan, or take the one that was given."""
    plan = setup.plan
    if given is None:
        if plan.evaluate is None:
            remedy = (
                "write evaluate: {callable: {function: 'module:function'}}, or give an"
                " evaluator"
            )
            raise_fault(setup.source, "field 'evaluate' is missing", remedy)
        kind = find_evaluator(plan.evaluate.name)
        context = Context(
            configurations=plan.configurations.all,
            instances=plan.instances.rows,
            cost=plan.cost.column,
            folder=setup.base,
            output=setup.folder.path,
            objectives=[objective.column for objective in plan.objectives],
            day=setup.folder.prices_day,
        )
        async with kind.open(
            kind.options.model_validate(plan.evaluate.options), context
        ) as opened:
            yield opened
    elif not callable(given):
        yield given
    else:
        yield FunctionEvaluator(given, getattr(given, "__qualname__", repr(given)))


def _open_stages(setup: _Setup, reusable: Reusable) -> Generator[Stage]:
    """Give pilot and main stage, each with its journal open; the second once the first is complete."""
    plan, folder = setup.plan, setup.folder
    pilot = Pilot(len(plan.names), plan.pilot, largest_costs=plan.largest_costs)
    if _policy_changed(folder.pilot, pilot, plan) and not folder.has_results:
        folder.set_aside(folder.pilot)
    with Journal(folder.pilot, pilot, names=plan.names) as journal:
        folder.begin(plan)  # which may have been corrected since
        stage = Stage(plan, journal, reusable)
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
    """Whether a journal belongs to another policy, since the plan has changed."""
    here = make_header(policy, plan.names)
    return any(
        difference
        for header in read_entries(journal)[:1]
        for difference in compare_nested(header, here)
    )
