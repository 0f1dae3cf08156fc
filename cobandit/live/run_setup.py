"""The setup of a run: its checked plan, files, reused evaluations and evaluator."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import Context, Evaluator
from cobandit.live.evaluators.functions import FunctionEvaluator
from cobandit.live.evaluators.registry import find_evaluator
from cobandit.live.plan import Plan, check_plan
from cobandit.live.records import Reusable
from cobandit.live.reuse import order_by_reuse, read_reusable
from cobandit.live.run_files import MOST_DIFFERENCES, RunFiles
from cobandit.tables.plain_yaml import load_yaml

#: A function of a configuration and an instance, or an evaluator.
Evaluate = Callable[[Mapping[str, Any], str], Any] | Evaluator


class RunSetup(NamedTuple):
    """A checked plan and the files of its run."""

    #: The checked plan.
    plan: Plan
    #: Name of the plan in messages, usually that of its file.
    source: str
    #: Folder to which the plan's relative paths refer.
    base: Path
    #: Files of the run.
    folder: RunFiles


def set_up(
    plan: str | Path | Mapping[str, Any],
    folder: str | Path | None,
    start: str | Path | None,
) -> RunSetup:
    """Check a plan, the table to start from, and the folder of the run.

    Raises
    ------
    TableError
        If the plan or the table is not valid, or the folder has the run of another
        plan.
    """
    if isinstance(plan, Mapping):
        content = dict(plan)
        source = "the plan"
        base = Path()
    else:
        content = load_yaml(Path(plan), "plan")
        source = str(plan)
        base = Path(plan).parent

    checked = check_plan(content, source, base)
    if start is not None:
        with_reuse = content | {"reuse": str(Path(start).resolve())}
        checked = check_plan(with_reuse, source, base)
        place = f"the table to start from, {start}"
        checked = order_by_reuse(checked, read_reusable(checked, Path(start), place))

    files = RunFiles(Path("runs") / checked.name if folder is None else folder)
    files.check(checked)
    return RunSetup(checked, source, base, files)


def find_reusable(setup: RunSetup) -> Reusable:
    """Return the evaluations of the table in ``reuse`` that the plan can reuse."""
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
                "the table was made by another evaluator:"
                f" {'; '.join(differences[:MOST_DIFFERENCES])}"
            )
            remedy = (
                "leave the table out, because its evaluations differ from this plan's"
            )
            raise_fault(source, problem, remedy, "other-evaluator")

    return read_reusable(setup.plan, path, source)


def reprice_reusable(plan: Plan, evaluator: Evaluator, reusable: Reusable) -> Reusable:
    """Return reused evaluations with costs at this run's prices, if it has prices."""
    reprice = getattr(evaluator, "reprice", None)
    if reprice is None:
        return reusable
    settings = dict(zip(plan.names, plan.configurations.all, strict=True))
    return {
        (name, instance): reprice(settings[name], row)
        for (name, instance), row in reusable.items()
    }


@asynccontextmanager
async def open_evaluator(
    setup: RunSetup, evaluate: Evaluate | None
) -> AsyncIterator[Evaluator]:
    """Make the plan's evaluator, unless an evaluator was passed to `run`."""
    plan = setup.plan
    if evaluate is None:
        if plan.evaluate is None:
            problem = "the plan has no field 'evaluate', which names the evaluator"
            remedy = (
                "write evaluate: {callable: {function: 'module:function'}}, or pass an"
                " evaluator to cobandit.live.run"
            )
            raise_fault(setup.source, problem, remedy, "no-evaluator")

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
        options = kind.options.model_validate(plan.evaluate.options)
        async with kind.open(options, context) as opened:
            yield opened
    elif callable(evaluate):
        name = getattr(evaluate, "__qualname__", repr(evaluate))
        yield FunctionEvaluator(evaluate, name)
    else:
        yield evaluate
