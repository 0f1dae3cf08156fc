"""A task of Inspect AI: a block of instances is one ``eval`` on their sample ids.

A configuration is a model, with fields of the generate config and arguments of the
task.  Scores, usage, cost and time are what the log holds that Inspect keeps in the
run's folder, from where ``cobandit import inspect`` reads the same.

.. code-block:: yaml

    evaluate:
      inspect:
        task: sums.py@sums              # or a registered name, such as inspect_evals/gsm8k
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

#: Tries of one request, where the plan does not say: Inspect goes on for ever, and
#: would not say why.
RETRIES = 3

#: Folder of the logs, in that of the run.
LOGS = "inspect"


class InspectTaskOptions(EvaluatorOptions):
    """Options of ``evaluate: {inspect: ...}``."""

    task: str = Field(
        pattern=r"@|^[^.]+$",
        description=(
            "write file.py@task, with a path that starts where the plan is, or a"
            " registered name"
        ),
    )
    scorer: str | None = Field(
        None,
        description=(
            "name the scorer that gives the column 'score', where the task has several"
        ),
    )
    task_args: dict[str, Any] = Field(
        {},
        description=(
            "give arguments of the task; a setting of the same name takes their place"
        ),
    )
    generate: dict[str, Any] = Field(
        {},
        description=(
            "give fields of the generate config; a setting of the same name takes their"
            " place"
        ),
    )
    model_args: dict[str, Any] = Field(
        {}, description="give arguments of the model's provider"
    )
    block: int = Field(
        20,
        ge=1,
        description="give the largest number of samples of one eval, at least 1",
    )
    prices: str | None = Field(
        None,
        description="name a file of prices for models whose cost Inspect does not know",
    )


class InspectEvaluator:
    """Evaluates by Inspect, which allows one eval at a time in a process and runs its samples side by side.

    It gives `ANSWER_COLUMNS`, and one column for each scorer.

    Parameters
    ----------
    options : InspectTaskOptions
    context : Context
    price_list : Prices or None
        None if nobody asks for the cost in money.
    """

    at_once = 1

    def __init__(
        self, options: InspectTaskOptions, context: Context, price_list: Prices | None
    ):
        self.block = options.block
        self._options = options
        file, at, name = options.task.partition("@")
        path = (context.folder / file).resolve()
        self._task = f"{path}{at}{name}" if file.endswith(".py") else options.task
        self._context = context
        self._price_list = price_list
        self._ids: dict[str, str] = {}  # how Inspect selects each instance

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> list[Row | Failure]:
        """Run one eval."""
        logs = await self._eval(
            sample_id=[self._ids[instance] for instance in instances],
            log_dir=str(self._context.output / LOGS),
            **self.arguments(configuration),
        )
        await anyio.lowlevel.checkpoint()  # a cancelled eval just ends, without a log
        (log,) = logs
        samples = {str(sample.id): sample for sample in log.samples or ()}
        reason = f"the log ended as {log.status!r} without this sample"
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
        """Charge a row that was measured before by the plan's prices; other prices are Inspect's."""
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
        """Return the arguments of Inspect's eval for a configuration; settings that are None are left out.

        Raises
        ------
        TableError
            If there is no model, or the generate config refuses a value.
        """
        from inspect_ai.model import GenerateConfig

        where = f"configuration {dict(configuration)}"
        given = {
            name: value for name, value in configuration.items() if value is not None
        }
        if "model" not in given:
            remedy = "give each configuration a 'model', such as openai/NAME"
            raise_fault(where, "it has no model", remedy, "no-model")
        model = str(given.pop("model"))
        settings = {
            name: given.pop(name)
            for name in list(given)
            if name in GenerateConfig.model_fields
        }
        generate = {"max_retries": RETRIES} | self._options.generate | settings
        try:
            GenerateConfig(**generate)
        except ValidationError as error:
            raise_fault(
                where,
                first_fault(error),
                "see the fields of Inspect's GenerateConfig",
                "generate-config",
            )
        return {
            "model": model,
            "task_args": self._options.task_args | given,
            **generate,
        }

    async def check(self) -> None:
        """Let Inspect make the task, with every model, and compare what it has with what the run needs.

        Raises
        ------
        CobanditError
            If Inspect cannot, or arguments, scorers or samples are not as needed.
        """
        arguments = [
            self.arguments(configuration)
            for configuration in self._context.configurations
        ]

        # fields of the generate config make no other task
        tasks = {
            repr((given["model"], given["task_args"])): given for given in arguments
        }
        for given in tasks.values():
            with TemporaryDirectory() as folder:
                (log,) = await self._eval(
                    model=given["model"],
                    task_args=given["task_args"],
                    run_samples=False,
                    log_dir=folder,
                )
            self._check(log, given["task_args"])

    def _check(self, log: EvalLog, task_args: Mapping[str, Any]) -> None:
        where, context = self._options.task, self._context
        for name in task_args:
            if name not in log.eval.task_args:  # Inspect drops it with a warning
                remedy = suggest(name, log.eval.task_args)
                raise_fault(
                    where, f"the task takes no argument {name!r}", remedy, "no-argument"
                )

        scorers = [scorer.name for scorer in log.eval.scorers or ()]
        if self._options.scorer is None and len(scorers) > 1:
            problem = f"there is more than one scorer: {', '.join(scorers)}"
            raise_fault(where, problem, "name one as scorer", "several-scorers")

        names = tuple(name.rpartition("/")[2] for name in scorers)
        for column in (context.cost, *context.objectives):
            # of one name there may be several (match, match1), and a scorer may give
            # several (shape.length)
            if (
                scorers
                and column not in ANSWER_COLUMNS
                and not column.startswith(names)
            ):
                remedy = suggest(column, [*ANSWER_COLUMNS, *names])
                raise_fault(
                    where, f"there is no column {column!r}", remedy, "no-column"
                )

        samples = {str(name) for name in log.eval.dataset.sample_ids or ()}
        for name in context.instances:
            if name not in samples:
                remedy = suggest(
                    name, samples, "name ids of the task's samples as instances"
                )
                raise_fault(where, f"there is no sample {name!r}", remedy, "no-sample")
            # ids are patterns, and may start with a task's name
            task = f"{log.eval.task}:" if ":" in name else ""
            self._ids[name] = task + glob.escape(name)

    async def _eval(self, **arguments: Any) -> list[EvalLog]:
        """Call Inspect; whatever it raises stops the run, since a sample's own error is in the log."""
        from inspect_ai import eval_async

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
                **arguments,
            )
        except Exception as error:
            problem = f"Inspect cannot run it: {_read_message(error)}"
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

        where = f"{log.location}, sample {sample.id!r}"
        scores = {"score": read_score(values[scorer], where, scorer)}
        for name, value in values.items():
            # one that is no number, and not the one that counts
            with suppress(TableError):
                scores[name] = read_score(value, where, name)

        target = (
            sample.target if isinstance(sample.target, str) else " ".join(sample.target)
        )
        finish = sample.output.stop_reason
        return keep_answer(
            scores | row,  # a scorer may have the name of a measured column
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
    """Let Inspect make the task and the models, and check that all instances are its samples.

    Raises
    ------
    CobanditError
        If Inspect is not installed or cannot, or something is not as the run needs it.
    """
    try:
        from inspect_ai.util import display_type
    except ImportError as error:
        problem = f"the package inspect-ai cannot be imported ({error})"
        remedy = "pip install 'cobandit[inspect]'"
        raise_fault("evaluator inspect", problem, remedy, "missing-package")

    os.environ.setdefault("INSPECT_DISPLAY", "none")
    display_type()  # it reads that once
    price_list = None
    if options.prices is not None or "cost_usd" in (context.cost, *context.objectives):
        file = None if options.prices is None else context.folder / options.prices
        price_list = read_prices(file, context.day)
        if context.cost == "cost_usd":  # Inspect itself may know others
            models = [(str(each.get("model")), None) for each in context.configurations]
            price_list.require(
                each
                for each in models
                if price_list.usd(Usage(0, 0, 0), *each) is not None
            )

    opened = InspectEvaluator(options, context, price_list)
    await opened.check()
    yield opened
