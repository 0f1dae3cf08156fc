"""An evaluator for tasks of Inspect AI; each call is one ``eval`` on some samples.

Instances are the sample ids of the task. A configuration is a model with settings,
which are fields of Inspect's generate config or arguments of the task. Scores, token
counts, cost and time are read from Inspect's log, as by ``cobandit import inspect``.

.. code-block:: yaml

    evaluate:
      inspect:
        task: sums.py@sums      # or a registered name, such as inspect_evals/gsm8k
        generate: {seed: 1}
        prices: prices.yml
"""

from __future__ import annotations

import glob
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
from pydantic import Field, ValidationError
from rich.errors import MarkupError
from rich.text import Text

from cobandit._text import suggest
from cobandit.errors import TableError, raise_fault
from cobandit.live.evaluators.base import Context, EvaluatorOptions, Failure, Row
from cobandit.live.evaluators.registry import evaluator
from cobandit.live.evaluators.rows import (
    ANSWER_COLUMNS,
    keep_answer,
    note_reading,
    read_tokens,
)
from cobandit.live.evaluators.user_code import describe_error
from cobandit.tables.checked_fields import first_fault
from cobandit.tables.importers.inspect_ai import InspectSample, usage_usd
from cobandit.tables.importers.scores import read_score
from cobandit.tables.prices import Prices, read_prices
from cobandit.tables.usage import Doubt, Usage

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

#: Default number of retries of a request; Inspect itself would retry forever.
RETRIES = 3

#: Folder of the logs, within the folder of the run.
LOGS = "inspect"


class InspectTaskOptions(EvaluatorOptions):
    """Options of ``evaluate: {inspect: ...}``."""

    task: str = Field(
        pattern=r"@|^[^.]+$",
        description=(
            "write file.py@task, with a path relative to the plan's folder, or the"
            " registered name of a task"
        ),
    )
    scorer: str | None = Field(
        None,
        description="name the scorer for the column 'score', if the task has several",
    )
    task_args: dict[str, Any] = Field(
        {},
        description=(
            "give arguments of the task; settings of the same name take precedence"
        ),
    )
    generate: dict[str, Any] = Field(
        {},
        description=(
            "give fields of the generate config; settings of the same name take"
            " precedence"
        ),
    )
    model_args: dict[str, Any] = Field(
        {}, description="give arguments of the model's provider"
    )
    block: int = Field(
        20,
        ge=1,
        description="give the largest number of samples per call of eval, at least 1",
    )
    prices: str | None = Field(
        None,
        description=(
            "name a file of prices, for models whose cost Inspect does not log"
        ),
    )


class InspectEvaluator:
    """Evaluates samples of a task by calls of Inspect's ``eval``.

    A process runs one ``eval`` at a time, and its samples run concurrently. Rows have
    the columns `ANSWER_COLUMNS`, and one column per scorer.

    Parameters
    ----------
    options : InspectTaskOptions
    context : Context
    price_list : Prices or None
        Prices of models; None if no price is needed.
    """

    at_once = 1

    def __init__(
        self, options: InspectTaskOptions, context: Context, price_list: Prices | None
    ):
        self.block = options.block
        self._options = options
        file, separator, name = options.task.partition("@")
        self._task = options.task
        if file.endswith(".py"):
            path = (context.folder / file).resolve()
            self._task = f"{path}{separator}{name}"
        self._context = context
        self._price_list = price_list
        self._ids: dict[str, str] = {}  # Inspect's selector of each instance

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> list[Row | Failure]:
        """Run one eval of the task on a block of instances."""
        logs = await self._eval(
            sample_id=[self._ids[instance] for instance in instances],
            log_dir=str(self._context.output / LOGS),
            **self.arguments(configuration),
        )
        await (
            anyio.lowlevel.checkpoint()
        )  # a cancelled eval would end silently, without a log
        (log,) = logs
        samples = {str(sample.id): sample for sample in log.samples or ()}
        reason = (
            f"the eval ended with status {log.status!r} and without a result for this"
            " sample"
        )
        if log.error:
            reason = log.error.message
        if log.error and not samples:
            problem = f"Inspect could not evaluate {dict(configuration)}: {reason}"
            remedy = "correct the task or the configuration"
            raise_fault(self._options.task, problem, remedy, "inspect-failed")

        return [
            (
                self._outcome(samples[name], log)
                if name in samples
                else Failure(reason, retry=True)
            )
            for name in instances
        ]

    @property
    def prices(self) -> str:
        """Source and day of the prices."""
        if self._price_list is None:
            return ""
        models = [
            (str(settings.get("model")), None)
            for settings in self._context.configurations
        ]
        return self._price_list.describe(models)

    def reprice(self, configuration: Mapping[str, Any], row: Row) -> Row:
        """Return an earlier row with its cost at the prices in the plan's file."""
        model = str(configuration.get("model"))
        usage = read_tokens(row)
        if (
            self._price_list is None
            or usage is None
            or model not in self._price_list.own
        ):
            return row
        return row | {"cost_usd": self._price_list.own[model].usd(usage)}

    def arguments(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of Inspect's ``eval`` for a configuration.

        Settings without a value (None) are left out.

        Raises
        ------
        TableError
            If the configuration has no model, or the generate config rejects a value.
        """
        from inspect_ai.model import GenerateConfig

        place = f"configuration {dict(configuration)}"
        settings = {
            name: value for name, value in configuration.items() if value is not None
        }
        if "model" not in settings:
            remedy = "give each configuration a 'model', such as openai/NAME"
            raise_fault(place, "this configuration has no model", remedy, "no-model")
        model = str(settings.pop("model"))
        fields = {
            name: settings.pop(name)
            for name in list(settings)
            if name in GenerateConfig.model_fields
        }
        generate = {"max_retries": RETRIES} | self._options.generate | fields
        try:
            GenerateConfig(**generate)
        except ValidationError as error:
            remedy = "see the fields of Inspect's GenerateConfig"
            raise_fault(place, first_fault(error), remedy, "generate-config")
        return {
            "model": model,
            "task_args": self._options.task_args | settings,
            **generate,
        }

    async def check(self) -> None:
        """Check that Inspect can load the task, with the run's samples and scorers.

        Raises
        ------
        TableError
            If Inspect cannot load the task, or arguments, scorers or samples are
            missing.
        """
        arguments = [
            self.arguments(configuration)
            for configuration in self._context.configurations
        ]

        # configurations that differ only in the generate config share a task
        tasks = {
            repr((entry["model"], entry["task_args"])): entry for entry in arguments
        }
        for entry in tasks.values():
            with TemporaryDirectory() as folder:
                (log,) = await self._eval(
                    model=entry["model"],
                    task_args=entry["task_args"],
                    run_samples=False,
                    log_dir=folder,
                )
            self._check(log, entry["task_args"])

    def _check(self, log: EvalLog, task_args: Mapping[str, Any]) -> None:
        task = self._options.task
        context = self._context
        for name in task_args:
            if (
                name not in log.eval.task_args
            ):  # Inspect only warns about an unknown argument
                problem = f"the task takes no argument {name!r}"
                remedy = suggest(name, log.eval.task_args)
                raise_fault(task, problem, remedy, "no-argument")

        scorers = [scorer.name for scorer in log.eval.scorers or ()]
        if self._options.scorer is None and len(scorers) > 1:
            problem = f"the task has several scorers: {', '.join(scorers)}"
            remedy = "name one of them as scorer in evaluate.inspect"
            raise_fault(task, problem, remedy, "several-scorers")

        names = tuple(name.rpartition("/")[2] for name in scorers)
        for column in (context.cost, *context.objectives):
            # several scorers may have the same name (then match, match1), and a scorer
            # may have several columns (shape.length)
            is_known = column in ANSWER_COLUMNS or column.startswith(names)
            if scorers and not is_known:
                problem = f"this task measures no column {column!r}"
                remedy = suggest(column, [*ANSWER_COLUMNS, *names])
                raise_fault(task, problem, remedy, "no-column")

        samples = {str(name) for name in log.eval.dataset.sample_ids or ()}
        for name in context.instances:
            if name not in samples:
                problem = f"the task has no sample {name!r}"
                otherwise = "use ids of the task's samples as instances"
                remedy = suggest(name, samples, otherwise)
                raise_fault(task, problem, remedy, "no-sample")
            # Inspect reads ids as patterns, possibly preceded by a task's name
            prefix = f"{log.eval.task}:" if ":" in name else ""
            self._ids[name] = prefix + glob.escape(name)

    async def _eval(self, **arguments: Any) -> list[EvalLog]:
        """Call Inspect's ``eval``; raise for an error of the task, not of a sample."""
        from inspect_ai import eval_async

        try:
            logs: list[EvalLog] = await eval_async(
                self._task,
                model_args=self._options.model_args,
                epochs=1,  # an instance is evaluated once
                fail_on_error=False,
                log_format="eval",
                log_level="error",
                log_realtime=False,
                score_display=False,
                ctl_server=False,
                **arguments,
            )
            return logs
        except Exception as error:
            problem = f"Inspect cannot run this task: {_read_message(error)}"
            remedy = "correct the task, or its arguments in the plan"
            raise_fault(self._options.task, problem, remedy, "inspect-failed")

    def _outcome(self, sample: EvalSample, log: EvalLog) -> Row | Failure:
        fields = sample.model_dump(mode="json", include=set(InspectSample.model_fields))
        logged = InspectSample.model_validate(fields)
        row: Row = {}
        doubts: tuple[Doubt, ...] = ()
        usage = logged.model_usage.get(log.eval.model)
        if usage:
            reading = usage.reading
            row = note_reading(row, reading)
            doubts = reading.doubts
            paid = usage.total_cost
            if self._price_list is not None:
                paid = usage_usd({log.eval.model: usage}, self._price_list)
            if paid is not None:
                row["cost_usd"] = paid

        if logged.working_time is not None:
            row["seconds"] = float(logged.working_time)
        values = logged.values()
        scorer = self._options.scorer or next(iter(values), "")
        why = sample.error.message if sample.error else logged.why_unusable([scorer])
        if why is not None:
            return Failure(
                why, cost=row.get(self._context.cost), retry=sample.error is not None
            )

        place = f"{log.location}, sample {sample.id!r}"
        scores = {"score": read_score(values[scorer], place, scorer)}
        for name, value in values.items():
            # scores that are not in use are kept only if they are numbers
            with suppress(TableError):
                scores[name] = read_score(value, place, name)

        target = (
            sample.target if isinstance(sample.target, str) else " ".join(sample.target)
        )
        finish = sample.output.stop_reason
        return keep_answer(
            scores | row,  # measurements take precedence over a scorer of the same name
            prompt=str(sample.input),
            text=sample.output.completion,
            target=target,
            finish=finish,
            cut=finish == "max_tokens",
            doubts=doubts,
        )


def _read_message(error: Exception) -> str:
    """Return the message of an error of Inspect, without its markup."""
    message = str(getattr(error, "message", "")) or describe_error(error)
    with suppress(MarkupError):
        message = Text.from_markup(message).plain
    return " ".join(message.split())


@evaluator("inspect", InspectTaskOptions)
@asynccontextmanager
async def open_inspect(
    options: InspectTaskOptions, context: Context
) -> AsyncIterator[InspectEvaluator]:
    """Check that Inspect can load the task of the options, and yield its evaluator.

    Raises
    ------
    TableError
        If Inspect is not installed or cannot load the task, or samples, scorers or
        prices are missing.
    """
    try:
        from inspect_ai.util import display_type
    except ImportError as error:
        problem = f"the package inspect-ai cannot be imported ({error})"
        remedy = "pip install 'cobandit[inspect]'"
        raise_fault("evaluator inspect", problem, remedy, "missing-package")

    os.environ.setdefault("INSPECT_DISPLAY", "none")
    display_type()  # reads the environment variable, once per process
    price_list = None
    if options.prices is not None or "cost_usd" in (context.cost, *context.objectives):
        file = None if options.prices is None else context.folder / options.prices
        price_list = read_prices(file, context.day)
        if context.cost == "cost_usd":
            models = [str(settings.get("model")) for settings in context.configurations]
            # Inspect may log the cost of models without a price here
            price_list.require(
                (model, None)
                for model in models
                if price_list.usd(Usage(0, 0, 0), model) is not None
            )

    opened = InspectEvaluator(options, context, price_list)
    await opened.check()
    yield opened
