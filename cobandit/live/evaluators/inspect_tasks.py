"""A task of Inspect AI: a block of instances is one ``eval`` on their sample ids.

A configuration is a model, with fields of the generate config and arguments of the task.  Scores, usage, cost
and time are what the log holds that Inspect keeps in the run's folder, from where ``cobandit import inspect``
reads the same.

.. code-block:: yaml

    evaluate:
      inspect:
        task: sums.py@sums              # or a registered name, such as inspect_evals/gsm8k
        generate: {seed: 1}
        eval: {time_limit: 120}
        prices: prices.yml
"""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import anyio.lowlevel
from pydantic import Field, ValidationError, field_validator
from rich.errors import MarkupError
from rich.text import Text

from cobandit.errors import CobanditError
from cobandit.faults import TableError, stop, suggest
from cobandit.live.evaluators import (
    Answered,
    Context,
    EvaluatorOptions,
    Failure,
    Row,
    describe_error,
    evaluator,
)
from cobandit.tables.importers.inspect_ai import Sample, read_score, usage_usd
from cobandit.tables.prices import Prices, check_paid, read_prices

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

Limit = Literal["time_limit", "working_limit", "token_limit", "message_limit", "max_samples"]
"""Arguments of Inspect's eval that can be given; a sample that meets a limit is scored as it is."""

COLUMNS = ("score", "prompt_tokens", "cached_tokens", "tokens", "cost_usd", "seconds", "truncated", "empty")
"""What an evaluation gives, besides one column for each scorer."""

RETRIES = 3
"""Tries of one request, where the plan does not say: Inspect goes on for ever, and would not say why."""

LOGS = "inspect"
"""Folder of the logs, in that of the run."""


class InspectOptions(EvaluatorOptions):
    """Options of ``evaluate: {inspect: ...}``."""

    task: str = Field(
        description="write file.py@task, with a path that starts where the plan is, or a registered name"
    )
    scorer: str | None = Field(
        None, description="name the scorer that gives the column 'score', where the task has several"
    )
    task_args: dict[str, Any] = Field(
        {}, description="give arguments of the task; a setting of the same name takes their place"
    )
    generate: dict[str, Any] = Field(
        {}, description="give fields of the generate config; a setting of the same name takes their place"
    )
    model_args: dict[str, Any] = Field({}, description="give arguments of the model's provider")
    eval: dict[Limit, int] = Field(
        {}, description=f"give arguments of Inspect's eval, of {', '.join(get_args(Limit))}"
    )
    usage: Literal["model", "all"] = Field(
        "model",
        description="choose whose usage counts: the evaluated model's, or all models' (graders, agents)",
    )
    latency: Literal["working_time", "total_time"] = Field(
        "working_time", description="choose which of Inspect's times the column 'seconds' is"
    )
    block: int = Field(20, ge=1, description="give the largest number of samples of one eval, at least 1")
    prices: str | None = Field(
        None, description="name a file of prices for models whose cost Inspect does not know"
    )

    @field_validator("task")
    @classmethod
    def _one_task(cls, task: str) -> str:
        if task.endswith(".py"):
            stop(None, f"{task!r} is a file", f"name its task as well: {task}@NAME")
        return task


class Arguments(NamedTuple):
    """What a configuration says to Inspect."""

    model: str
    task_args: dict[str, Any]
    generate: dict[str, Any]


class InspectEvaluator:
    """Evaluates by Inspect, which allows one eval at a time in a process and runs its samples side by side.

    Parameters
    ----------
    options : InspectOptions
    folder : Path
        Where a relative path of the task starts.
    log_dir : Path
    cost : str
        The column that is the cost, for failures.
    prices : mapping of str to Price
    """

    at_once = 1

    def __init__(self, options: InspectOptions, folder: Path, log_dir: Path, cost: str, prices: Prices):
        self.block = options.block
        self._options = options
        file, at, name = options.task.partition("@")
        self._task = f"{(folder / file).resolve()}{at}{name}" if file.endswith(".py") else options.task
        self._log_dir = log_dir
        self._cost = cost
        self._prices = prices
        self._ids: dict[str, str] = {}  # how Inspect selects each instance

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> list[Row | Failure]:
        """Run one eval."""
        arguments = self.arguments(configuration)
        logs = await self._eval(
            model=arguments.model,
            task_args=arguments.task_args,
            sample_id=[self._ids[instance] for instance in instances],
            log_dir=str(self._log_dir),
            **arguments.generate,
        )
        await anyio.lowlevel.checkpoint()  # a cancelled eval just ends, without a log
        (log,) = logs
        samples = {str(sample.id): sample for sample in log.samples or ()}
        why = log.error.message if log.error else f"the log ended as {log.status!r} without this sample"
        if log.error and not samples:
            raise CobanditError(f"Inspect could not evaluate {dict(configuration)}: {why}")
        return [
            self._outcome(samples[name], log) if name in samples else Failure(why, retry=True)
            for name in instances
        ]

    def _outcome(self, sample: EvalSample, log: EvalLog) -> Row | Failure:
        row = self._row(_as_logged(sample), log)
        if isinstance(row, Failure):
            return row
        output = sample.output
        asked = sha256(str(sample.input).encode()).hexdigest()[:16]
        kept = {"prompt": asked, "text": output.completion, "finish": output.stop_reason}
        target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
        row |= {"truncated": float(output.stop_reason == "max_tokens")}
        row |= {"empty": float(not output.completion.strip())}
        return Answered(row, kept | {"target": target})

    def arguments(self, configuration: Mapping[str, Any]) -> Arguments:
        """Sort the settings of a configuration; those that are None are left out.

        Raises
        ------
        TableError
            If there is no model, or the generate config refuses a value.
        """
        from inspect_ai.model import GenerateConfig

        where = f"configuration {dict(configuration)}"
        given = {name: value for name, value in configuration.items() if value is not None}
        model = given.pop("model", None)
        if model is None:
            stop(where, "it has no model", "give each configuration a 'model', such as openai/NAME")
        settings = {name: given.pop(name) for name in list(given) if name in GenerateConfig.model_fields}
        generate = {"max_retries": RETRIES} | self._options.generate | settings
        try:
            GenerateConfig(**generate)
        except ValidationError as error:
            detail = error.errors()[0]
            place = ".".join(map(str, detail["loc"])) or "generate"
            stop(where, f"{place}: {detail['msg']}", "see the fields of Inspect's GenerateConfig")
        return Arguments(str(model), self._options.task_args | given, generate)

    async def check(self, context: Context) -> None:
        """Let Inspect make the task, with every model, and compare what it has with what the run needs.

        Raises
        ------
        CobanditError
            If Inspect cannot, or arguments, scorers or samples are not as needed.
        """
        models: dict[str, dict[str, Arguments]] = defaultdict(dict)
        for configuration in context.configurations:
            arguments = self.arguments(configuration)
            models[repr(sorted(arguments.task_args.items()))][arguments.model] = arguments
        for by_model in models.values():
            given = next(iter(by_model.values())).task_args
            with TemporaryDirectory() as folder:
                log, *_ = await self._eval(
                    model=list(by_model), task_args=given, run_samples=False, log_dir=folder
                )
            self._check(log, given, context)

    def _check(self, log: EvalLog, given: Mapping[str, Any], context: Context) -> None:
        where = self._options.task
        for name in given:
            if name not in log.eval.task_args:  # Inspect drops it with a warning
                known = sorted(log.eval.task_args)
                taken = ", ".join(known) or "none"
                remedy = suggest(name, known, f"it takes {taken}, besides the generate config")
                stop(where, f"the task takes no argument {name!r}", remedy)
        scorers = [scorer.name for scorer in log.eval.scorers or ()]
        if self._options.scorer is None and len(scorers) > 1:
            stop(where, f"there is more than one scorer: {', '.join(scorers)}", "name one as scorer")
        columns = (*COLUMNS, *(name.rpartition("/")[2] for name in scorers))
        for column in (context.cost, *context.objectives):
            # of one name there may be several (match, match1), and a scorer may give several (shape.length)
            if scorers and column not in columns and not column.startswith(columns[len(COLUMNS) :]):
                remedy = suggest(column, columns, f"an evaluation gives {', '.join(columns)}")
                stop(where, f"there is no column {column!r}", remedy)
        samples = {str(name) for name in log.eval.dataset.sample_ids or ()}
        missing = [name for name in context.instances if name not in samples]
        if missing:
            problem = f"there is no sample {missing[0]!r}, of {len(missing)} that the plan names"
            stop(where, problem, suggest(missing[0], samples, "name ids of the task's samples as instances"))
        self._ids = {name: _selector(log.eval.task, name) for name in context.instances}

    async def _eval(self, **arguments: Any) -> list[EvalLog]:
        """Call Inspect; whatever it raises stops the run, since a sample's own error is in the log."""
        from inspect_ai import eval_async

        given = arguments | {str(name): value for name, value in self._options.eval.items()}
        try:
            return await eval_async(
                self._task,
                model_args=self._options.model_args,
                epochs=1,  # an instance is evaluated once
                fail_on_error=False,
                log_format="eval",
                log_level="error",
                log_realtime=False,
                score_display=False,
                ctl_server=False,
                **given,
            )
        except Exception as error:
            raise CobanditError(f"Inspect cannot run {self._options.task}: {_said(error)}") from error

    def _row(self, sample: Sample, log: EvalLog) -> Row | Failure:
        usages = sample.model_usage
        if self._options.usage == "model":
            usages = {name: usage for name, usage in usages.items() if name == log.eval.model}
        row: Row = {}
        if usages:
            used = [usage.tokens for usage in usages.values()]
            row["prompt_tokens"] = float(sum(tokens.input + tokens.cached for tokens in used))
            row["cached_tokens"] = float(sum(tokens.cached for tokens in used))
            row["tokens"] = float(max(1, sum(tokens.output for tokens in used)))  # an answer's end is one
            paid = usage_usd(usages, self._prices)
            row |= {} if paid is None else {"cost_usd": paid}
        seconds = getattr(sample, self._options.latency)
        row |= {} if seconds is None else {"seconds": float(seconds)}
        why = sample.error["message"] if isinstance(sample.error, dict) else sample.error
        if why is None:
            values = sample.values()
            scorer = self._options.scorer or next(iter(values), "")
            why = sample.why_unusable([scorer])
        if why is not None:
            return Failure(str(why), cost=row.get(self._cost), retry=sample.error is not None)
        where = f"{log.location}, sample {sample.id!r}"
        scores = {"score": read_score(values[scorer], where, scorer)}
        for name, value in values.items():
            with suppress(TableError):  # one that is no number, and not the one that counts
                scores[name] = read_score(value, where, name)
        return scores | row


@evaluator("inspect", InspectOptions)
@asynccontextmanager
async def open_inspect(options: InspectOptions, context: Context) -> AsyncIterator[InspectEvaluator]:
    """Let Inspect make the task and the models, and check that all instances are its samples.

    Raises
    ------
    CobanditError
        If Inspect is not installed or cannot, or something is not as the run needs it.
    """
    try:
        from inspect_ai.util import display_type
    except ImportError as error:
        problem = f"evaluating by Inspect needs it ({error})"
        raise CobanditError(f"{problem}: pip install 'cobandit[inspect]'") from None
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    display_type()  # it reads that once
    prices = read_prices(context.folder / options.prices) if options.prices is not None else {}
    if context.cost == "cost_usd" and options.usage == "model":
        check_paid(prices, [str(each.get("model")) for each in context.configurations])
    opened = InspectEvaluator(options, context.folder, context.output / LOGS, context.cost, prices)
    await opened.check(context)
    yield opened


def _selector(task: str, name: str) -> str:
    """How Inspect selects the sample of this id alone: ids are patterns, and may start with a task's name."""
    escaped = glob.escape(name)
    return f"{task}:{escaped}" if ":" in name else escaped


def _as_logged(sample: Any) -> Sample:
    return Sample.model_validate(sample.model_dump(mode="json", include=set(Sample.model_fields)))


def _said(error: Exception) -> str:
    """What Inspect says, without the markup that it says it with."""
    said = str(getattr(error, "message", "")) or describe_error(error)
    with suppress(MarkupError):
        said = Text.from_markup(said).plain
    return " ".join(said.split())
