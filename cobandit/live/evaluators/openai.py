"""Any endpoint that answers as OpenAI's does: chat or plain completions, a prompt template and a scorer.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY                 # the environment variable that holds it
        instances: questions.jsonl      # with instance, question and answer
        prompt: "{question} Answer with a number."
        scorer: number
        prices: prices.yml

A setting of a configuration is a field of the request (``model``, ``temperature``, ``max_tokens`` and so on,
or whatever ``body`` gives a default of), the name of one of several prompts, or a value for the templates.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, HttpUrl, JsonValue, ValidationError, field_validator

from cobandit.faults import nearest, stop
from cobandit.live.evaluators.core import Context, Row, evaluator
from cobandit.live.evaluators.endpoint.prompts import Columns, Instances, Template, read_instances
from cobandit.live.evaluators.endpoint.scorers import ScorerOptions
from cobandit.tables.prices import Prices, check_paid, cost_usd, read_prices

if TYPE_CHECKING:
    from cobandit.live.evaluators.endpoint.client import Client

SETTINGS = (
    *("model", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop"),
    *("presence_penalty", "frequency_penalty", "reasoning_effort", "verbosity"),
)
"""Settings of a configuration that go into the request as they are."""

COLUMNS = ("correct", "prompt_tokens", "cached_tokens", "tokens", "seconds", "cost_usd")
"""What an evaluation gives: ``tokens`` are those generated, ``seconds`` go from request to answer."""


class OpenAIOptions(ScorerOptions):
    """Options of ``evaluate: {openai: ...}``."""

    base_url: str = Field(description="give the address up to /v1, such as http://127.0.0.1:8080/v1")
    key: str | None = Field(
        None, description="name the environment variable that holds the key, not the key itself"
    )
    api: Literal["chat", "completions"] = Field("chat", description="choose chat or completions")
    prompt: str | dict[str, str] = Field(
        description="write a template such as '{question}', or several by name, of which each configuration "
        "names one as its 'prompt'"
    )
    system: str | None = Field(
        None, description="write a template of the system message of a chat, or leave it out"
    )
    instances: Instances = Field(
        description="name a .csv or .jsonl file of instances, or write {file: ..., column: that of the ids}"
    )
    body: dict[str, JsonValue] = Field(
        {}, description="give further fields of the request; a setting of the same name takes its place"
    )
    prices: str | None = Field(None, description="name a file of prices, or leave it out")

    @field_validator("base_url")
    @classmethod
    def _base(cls, url: str) -> str:
        url = url.rstrip("/")
        try:
            HttpUrl(url)
        except ValidationError:
            raise ValueError(f"{url!r} is no address -> write one such as http://127.0.0.1:8080/v1") from None
        for path in ("/chat/completions", "/completions"):
            if url.endswith(path):
                raise ValueError(f"{url!r} is more than the base address -> leave out {path}")
        return url


class Prompts:
    """The templates of a plan, and the requests that they make with configurations and instances.

    Parameters
    ----------
    options : OpenAIOptions
    configurations : sequence of mapping
    instances : mapping of str to mapping
        Columns by id.

    Raises
    ------
    TableError
        If a template is wrong, a configuration names none or no model, or has a setting that changes nothing.
    """

    def __init__(
        self,
        options: OpenAIOptions,
        configurations: Sequence[Mapping[str, Any]],
        instances: Mapping[str, Columns],
    ):
        self._options = options
        written = {"": options.prompt} if isinstance(options.prompt, str) else options.prompt
        self._templates = {name: Template(text, f"prompt {name}".strip()) for name, text in written.items()}
        self._system = None if options.system is None else Template(options.system, "system")
        if self._system and options.api == "completions":
            stop("system", "plain completions have no system message", "write it into the prompt")
        columns = set.intersection(*(set(row) for row in instances.values()))
        for configuration in configurations:
            self._check(configuration, columns)

    def _check(self, configuration: Mapping[str, Any], columns: set[str]) -> None:
        where = f"configuration {dict(configuration)}"
        if self.model(configuration) is None:
            stop(where, "it has no model", "give each configuration a 'model', or one to all in body")
        name = configuration.get("prompt")
        if self._by_name and name not in self._templates:
            known = ", ".join(self._templates)
            stop(
                where,
                f"there is no prompt {name!r}",
                f"{nearest(str(name), self._templates)}there is {known}",
            )
        used = [self._template(configuration), *([self._system] if self._system else [])]
        for template in used:
            template.check(configuration, columns)
        useful = {*SETTINGS, *self._options.body, *(n for t in used for n in t.names)}
        useful |= {"prompt"} if self._by_name else set()
        for setting in configuration:
            if setting not in useful:
                remedy = f"{nearest(setting, useful)}use it in the prompt, or give its default in body"
                stop(where, f"the setting {setting!r} changes nothing in the request", remedy)

    def digests(self, instances: Mapping[str, Columns], answer: str) -> dict[str, str]:
        """A checksum of what the templates and the scorer take of each instance."""
        used = [*self._templates.values(), *([self._system] if self._system else [])]
        names = sorted({answer, *(name for template in used for name in template.names)})
        return {
            instance: sha256(repr([columns.get(name) for name in names]).encode()).hexdigest()[:16]
            for instance, columns in instances.items()
        }

    @property
    def _by_name(self) -> bool:
        return not isinstance(self._options.prompt, str)

    def _template(self, configuration: Mapping[str, Any]) -> Template:
        return self._templates[configuration["prompt"] if self._by_name else ""]

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """The model of a configuration."""
        return configuration.get("model", self._options.body.get("model"))

    def request(self, configuration: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """Make the body of a request; what is None is left out."""
        body, values = self._options.body, {**columns, **configuration}
        taken = {name: value for name, value in configuration.items() if name in SETTINGS or name in body}
        request = {name: value for name, value in {**body, **taken}.items() if value is not None}
        prompt = self._template(configuration).fill(values)
        if self._options.api == "completions":
            return request | {"prompt": prompt}
        messages = [{"role": "system", "content": self._system.fill(values)}] if self._system else []
        return request | {"messages": [*messages, {"role": "user", "content": prompt}]}


class EndpointEvaluator:
    """Asks an endpoint and scores what it answers.

    Parameters
    ----------
    client : Client
    prompts : Prompts
    scorer : ScorerOptions
    instances : mapping of str to mapping
        Columns by id.
    prices : mapping of str to Price, or None
    """

    block = 1
    at_once = None

    def __init__(
        self,
        client: Client,
        prompts: Prompts,
        scorer: ScorerOptions,
        instances: Mapping[str, Columns],
        prices: Prices | None,
    ):
        self._client = client
        self._prompts = prompts
        self._scorer = scorer
        self._instances = instances
        self._prices = prices
        self.digests = prompts.digests(instances, scorer.answer)

    async def evaluate(self, configuration: Mapping[str, Any], instances: Sequence[str]) -> list[Row]:
        """Ask once for each instance."""
        return [await self._one(configuration, self._instances[instance]) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        text, usage, seconds = await self._client.ask(self._prompts.request(configuration, columns))
        correct = self._scorer.correct(text, str(columns[self._scorer.answer]))
        row = {"correct": float(correct), "seconds": seconds}
        if usage is None:  # an endpoint that does not count tokens
            return row
        row |= {
            "prompt_tokens": float(usage.input + usage.cached),
            "cached_tokens": float(usage.cached),
            "tokens": float(max(1, usage.output)),  # an answer's end is one, which some leave out
        }
        if self._prices is not None:
            row["cost_usd"] = cost_usd(usage, self._prices, str(self._prompts.model(configuration)))
        return row


@evaluator("openai", OpenAIOptions)
@asynccontextmanager
async def open_openai(options: OpenAIOptions, context: Context) -> AsyncIterator[EndpointEvaluator]:
    """Read and check instances, prompts, prices and the key, and ask the endpoint whether it is there.

    Raises
    ------
    CobanditError
        If one of them is wrong, or nobody answers.
    """
    from cobandit.live.evaluators.endpoint.client import Client  # HTTP takes its time to import

    instances = read_instances(options.instances, context.folder, context.instances)
    _check_answers(options, instances)
    prompts = Prompts(options, context.configurations, instances)
    prices = None
    if options.prices is not None:
        models = {str(prompts.model(each)) for each in context.configurations}
        prices = read_prices(context.folder / options.prices, sorted(models))
        if context.cost == "cost_usd":
            check_paid(prices, sorted(models))
    for what, column in [("cost", context.cost), *(("objectives", each) for each in context.objectives)]:
        if column == "cost_usd" and prices is None:
            stop("prices", f"{what}: cost_usd is wanted, and there are no prices", "name a file of prices")
        if column not in COLUMNS:
            remedy = f"{nearest(column, COLUMNS)}an endpoint gives {', '.join(COLUMNS)}"
            stop(what, f"there is no column {column!r}", remedy)
    async with Client(options.base_url, options.api, _key(options), options.key) as client:
        await client.check()
        yield EndpointEvaluator(client, prompts, options, instances, prices)


def _check_answers(options: OpenAIOptions, instances: Mapping[str, Columns]) -> None:
    for name, columns in instances.items():
        where = f"{options.instances.file}, instance {name!r}"
        if options.answer not in columns:
            remedy = f"{nearest(options.answer, columns)}name the column of right answers with answer"
            stop(where, f"it has no {options.answer!r}", remedy)
        if not options.usable(str(columns[options.answer])):
            problem = f"no text could match its answer {columns[options.answer]!r} by scorer {options.scorer}"
            stop(where, problem, "correct the answer, or choose another scorer")


def _key(options: OpenAIOptions) -> str | None:
    if options.key is None:
        return None
    key = os.environ.get(options.key, "").strip()
    if not key:
        stop("key", f"the environment variable {options.key!r} is not set", f"export {options.key}=...")
    if not (key.isascii() and key.isprintable()):
        stop("key", f"the environment variable {options.key!r} holds what no key has", "copy the key again")
    return key
