"""An evaluator for endpoints with OpenAI's chat protocol.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY       # the environment variable with the key
        prompt: "{question} Answer with a number."
        scorer: number
        prices: prices.yml    # prices of models without a known price

The plan's file of instances has the columns that the prompt names, and the right
answers. A setting of a configuration is one of the following:

* a field of the request, such as ``model``, ``temperature`` or ``max_tokens``, or a
  field with a default in ``body``,
* ``prompt``, the name of one of several prompts,
* a value for the templates,
* ``base_url`` or ``key``.

Requests are sent by httpx2. OpenAI's client would add retries of its own and further
packages, for only one kind of request.
"""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import Any

from pydantic import HttpUrl, ValidationError

from cobandit._text import ellipsize, suggest
from cobandit.errors import raise_fault
from cobandit.live.evaluators.base import ADDRESS_SETTINGS, Context, Failure, Row
from cobandit.live.evaluators.client import Client
from cobandit.live.evaluators.prompts import OpenAIOptions
from cobandit.live.evaluators.registry import evaluator
from cobandit.live.evaluators.rows import (
    ANSWER_COLUMNS,
    digest_prompt,
    keep_answer,
    note_reading,
    read_tokens,
)
from cobandit.live.instances import Columns
from cobandit.tables.prices import Prices, read_prices
from cobandit.tables.usage import Usage

#: Default time limit of an answer in seconds, if the plan has none.
ANSWER_SECONDS = 600

#: Largest number of tokens that the chat format adds to a message.
PER_MESSAGE = 16

#: An address, and the environment variable of its key.
Where = tuple[str, str | None]


@dataclass(frozen=True)
class EndpointEvaluator:
    """Evaluates configurations by requests to endpoints, and scores the answers.

    Parameters
    ----------
    clients : mapping of (str, str or None) to Client
    options : OpenAIOptions
    context : Context
    price_list : Prices or None
        Prices of models; None if no price is needed.
    """

    clients: Mapping[Where, Client]
    options: OpenAIOptions
    context: Context
    price_list: Prices | None
    block: int = 1
    at_once: None = None
    timeout: float = ANSWER_SECONDS

    @property
    def digests(self) -> dict[str, str]:
        """Checksums of the prices, and of each instance's columns that are used."""
        names = sorted({self.options.answer}.union(*self.options.names.values()))
        contents: dict[str, Any] = {
            instance: [columns.get(name) for name in names]
            for instance, columns in self.context.instances.items()
        }
        if self.options.prices is not None and self.price_list is not None:
            contents[self.options.prices] = self.price_list.own
        return {
            name: sha256(repr(content).encode()).hexdigest()[:16]
            for name, content in contents.items()
        }

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> list[Row]:
        """Send one request per instance, and return a row for each."""
        return [
            await self._one(configuration, self.context.instances[instance])
            for instance in instances
        ]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        request = self.options.request(configuration, columns)
        messages = request["messages"]
        client = self.clients[find_endpoint(self.options, configuration)]
        answer, seconds = await client.ask(request)
        prompt = "".join(message["content"] for message in messages)
        reading = answer.read_tokens(prompt)

        # estimated tokens are stored only if they determine the cost
        counted: Row = {}
        if not reading.estimated or self.context.cost in ("tokens", "cost_usd"):
            counted = note_reading({}, reading)
            if reading.usage is not None:
                counted |= self._price(configuration, reading.usage)

        if answer.error is not None:
            raise self._judge_choice(answer.error, counted.get(self.context.cost))

        target = str(columns[self.options.answer])
        row = self.options.score(answer.text, target) | {"seconds": seconds} | counted
        doubts = answer.doubts + (reading.doubts if counted else ())
        return keep_answer(
            row,
            prompt=json.dumps(messages),
            text=answer.text,
            target=target,
            finish=answer.finish,
            cut=answer.is_cut,
            doubts=doubts,
        )

    def _judge_choice(self, error: Any, cost: float | None) -> Failure:
        """Return the failure for an answer that the vendor aborted."""
        text = error.get("message", error) if isinstance(error, Mapping) else error
        message = f"the vendor aborted the answer: {ellipsize(str(text), 200)}"
        return Failure(message, retry=True, cost=cost)

    def _price(self, configuration: Mapping[str, Any], usage: Usage) -> Row:
        """Return the cost of tokens in money, if it is needed and known."""
        if self.price_list is None:
            return {}
        cost = self.price_list.usd(usage, *name_model(self.options, configuration))
        return {} if cost is None else {"cost_usd": cost}

    @property
    def prices(self) -> str:
        """Source and day of the prices."""
        if self.price_list is None:
            return ""
        return self.price_list.describe(
            name_model(self.options, settings)
            for settings in self.context.configurations
        )

    def reprice(self, configuration: Mapping[str, Any], row: Row) -> Row:
        """Return an earlier row with its cost at the current prices."""
        usage = read_tokens(row)
        return row if usage is None else row | self._price(configuration, usage)

    def rescore(
        self, configuration: Mapping[str, Any], instance: str, answer: Mapping[str, Any]
    ) -> Row | None:
        """Score a stored answer; None without a text, or if the prompt has changed."""
        columns = self.context.instances[instance]
        messages = self.options.request(configuration, columns)["messages"]
        is_same_prompt = digest_prompt(json.dumps(messages)) == answer.get("prompt")
        if not is_same_prompt or "text" not in answer:
            return None
        return self.options.score(answer["text"], str(columns[self.options.answer]))

    def bound_cost(self, configuration: Mapping[str, Any], instance: str) -> float:
        """Return an upper bound on the cost of an evaluation, or infinity.

        The request limits the number of tokens of an answer. The bound is infinite
        without this limit, and for a cost that is neither tokens nor money. A prompt
        has at most one token per byte, plus the tokens that the chat format adds.
        """
        request = self.options.request(configuration, self.context.instances[instance])
        limit = request.get("max_completion_tokens", request.get("max_tokens", inf))
        if self.context.cost == "tokens":
            return float(limit)
        if self.context.cost != "cost_usd" or limit == inf:
            return inf
        sizes = [len(message["content"].encode()) for message in request["messages"]]
        n_prompt = sum(sizes) + PER_MESSAGE * len(sizes)
        cost = self._price(configuration, Usage(n_prompt, 0, limit))
        return cost.get("cost_usd", inf)


def name_model(
    options: OpenAIOptions, configuration: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the model of a configuration, and the base URL of its endpoint."""
    return str(options.model(configuration)), find_endpoint(options, configuration)[0]


def find_endpoint(options: OpenAIOptions, configuration: Mapping[str, Any]) -> Where:
    """Return the base URL and key name of a configuration's endpoint.

    Settings of the configuration replace the evaluator's options.
    """
    base_url, key = (
        configuration.get(name) or getattr(options, name) for name in ADDRESS_SETTINGS
    )
    url = str(base_url).rstrip("/")
    with suppress(ValidationError):
        HttpUrl(url)
        if not url.endswith("/completions"):
            return url, key

    problem = f"base_url {base_url!r} is not a URL that ends in /v1"
    remedy = (
        "write one such as http://127.0.0.1:8080/v1 into evaluate.openai, or as a"
        " setting"
    )
    raise_fault(f"configuration {dict(configuration)}", problem, remedy, "base-url")


@evaluator("openai", OpenAIOptions)
@asynccontextmanager
async def open_openai(
    options: OpenAIOptions, context: Context
) -> AsyncIterator[EndpointEvaluator]:
    """Check the options and the servers, and yield an evaluator for the endpoints.

    The checks are about right answers, prompts, prices, keys and servers.

    Raises
    ------
    TableError
        If one of these checks fails, or an endpoint does not answer.
    """
    for name, columns in context.instances.items():
        target = columns.get(options.answer)
        if options.answer not in columns or not options.usable(str(target)):
            problem = (
                f"the right answer in column {options.answer!r} is {target!r}, which no"
                " text can match"
            )
            remedy = (
                "write instances: {file: ...} with right answers into the plan, name"
                " their column as answer, or choose another scorer"
            )
            raise_fault(f"instance {name!r}", problem, remedy, "no-right-answer")

    options.check(context.configurations, context.instances)
    models = sorted(
        {name_model(options, settings) for settings in context.configurations}
    )
    price_list = None
    if options.prices is not None or "cost_usd" in (context.cost, *context.objectives):
        file = None if options.prices is None else context.folder / options.prices
        price_list = read_prices(file, context.day)
        price_list.require(models, above_zero=context.cost == "cost_usd")

    for column in (context.cost, *context.objectives):
        # a scorer function may return further columns
        if column not in ANSWER_COLUMNS and options.function is None:
            problem = f"this evaluator measures no column {column!r}"
            columns_of_answer = f"name one of {', '.join(ANSWER_COLUMNS)}"
            remedy = suggest(column, ANSWER_COLUMNS, columns_of_answer)
            raise_fault("evaluate.openai", problem, remedy, "no-column")

    addresses = dict.fromkeys(
        find_endpoint(options, settings) for settings in context.configurations
    )
    async with AsyncExitStack() as stack:
        clients = {
            (base_url, key): Client(base_url, read_key(key), key)
            for base_url, key in addresses
        }
        for client in clients.values():
            await stack.enter_async_context(client.http)
            await client.check()
        yield EndpointEvaluator(clients, options, context, price_list)


def read_key(name: str | None) -> str | None:
    """Read a key from its environment variable.

    Raises
    ------
    TableError
        If the variable is not set, or has characters that a key cannot have.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not (key and key.isascii() and key.isprintable()):
        problem = f"the environment variable {name!r} holds no key"
        remedy = f"set it in the shell: export {name}=..."
        raise_fault("key", problem, remedy, "no-key")
    return key
