"""Any endpoint that answers chats as OpenAI's does: a prompt template and a scorer.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY                 # the environment variable that holds it
        prompt: "{question} EndpointAnswer with a number."
        scorer: number
        prices: prices.yml              # for models whose price is not known

The file of the plan's instances has the columns that the prompt names, and the right
answers.  A setting of a configuration is a field of the request (``model``,
``temperature``, ``max_tokens`` and so on, or whatever ``body`` gives a default of), the
name of one of several prompts, a value for the templates, or its own ``base_url`` and
``key``.  HTTP is by httpx2, on which OpenAI's own client stands: that client would add
retries, which are not decided here, and further packages, for one request.
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

#: Seconds that an answer may take where the plan does not say it.
ANSWER_SECONDS = 600


#: Tokens that a chat adds to a message, at most.
PER_MESSAGE = 16


#: An address and the name of its key.
Where = tuple[str, str | None]


@dataclass(frozen=True)
class EndpointEvaluator:
    """Asks endpoints, and scores their answers.

    Parameters
    ----------
    clients : mapping of (str, str or None) to Client
    options : OpenAIOptions
    context : Context
    price_list : Prices or None
        None if nobody asks for the cost in money.
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
        """Checksums of what templates and scorer use of each instance, and of the prices."""
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
        """Ask once for each instance."""
        return [
            await self._one(configuration, self.context.instances[instance])
            for instance in instances
        ]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        request = self.options.request(configuration, columns)
        answer, seconds = await self.clients[
            find_endpoint(self.options, configuration)
        ].ask(request)
        asked = json.dumps(request["messages"])
        reading = answer.read_tokens(
            "".join(message["content"] for message in request["messages"])
        )
        counted: Row = {}

        # what was not counted is estimated where it is charged, and nowhere else
        if not reading.estimated or self.context.cost in ("tokens", "cost_usd"):
            counted = note_reading({}, reading)
            if reading.usage is not None:
                counted |= self._price(configuration, reading.usage)

        if answer.error is not None:
            raise self._judge_choice(answer.error, counted.get(self.context.cost))

        target = str(columns[self.options.answer])
        row = self.options.score(answer.text, target) | {"seconds": seconds} | counted
        doubts = answer.doubts + reading.doubts * bool(counted)
        return keep_answer(
            row, asked, answer.text, target, answer.finish, answer.is_cut, doubts
        )

    def _judge_choice(self, error: Any, cost: float | None) -> Failure:
        """Return the failure that a vendor gave an answer up, which may have been billed."""
        message = error.get("message", error) if isinstance(error, Mapping) else error
        return Failure(
            f"the answer was given up: {ellipsize(str(message), 200)}",
            retry=True,
            cost=cost,
        )

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
        """Charge a row that was measured before by these prices."""
        usage = read_tokens(row)
        return row if usage is None else row | self._price(configuration, usage)

    def rescore(
        self, configuration: Mapping[str, Any], instance: str, answer: Mapping[str, Any]
    ) -> Row | None:
        """Score an answer that was kept; None if something else was asked then."""
        columns = self.context.instances[instance]
        messages = self.options.request(configuration, columns)["messages"]
        if (
            digest_prompt(json.dumps(messages)) != answer.get("prompt")
            or "text" not in answer
        ):
            return None
        return self.options.score(answer["text"], str(columns[self.options.answer]))

    def bound_cost(self, configuration: Mapping[str, Any], instance: str) -> float:
        """Bound the cost of an evaluation; infinity if it cannot be known before.

        An answer has as many tokens as its limit; a prompt at most one per byte, and
        what a chat adds.
        """
        request = self.options.request(configuration, self.context.instances[instance])
        limit = request.get("max_completion_tokens", request.get("max_tokens", inf))
        if self.context.cost == "tokens":
            return float(limit)
        if self.context.cost != "cost_usd" or limit == inf:
            return inf
        most = sum(
            len(message["content"].encode()) + PER_MESSAGE
            for message in request["messages"]
        )
        return self._price(configuration, Usage(most, 0, limit)).get("cost_usd", inf)


def name_model(
    options: OpenAIOptions, configuration: Mapping[str, Any]
) -> tuple[str, str]:
    """Name the model of a configuration, and its address."""
    return str(options.model(configuration)), find_endpoint(options, configuration)[0]


def find_endpoint(options: OpenAIOptions, configuration: Mapping[str, Any]) -> Where:
    """Find the address and the name of the key of a configuration: its own settings, or the options."""
    base_url, key = (
        configuration.get(name) or getattr(options, name) for name in ADDRESS_SETTINGS
    )
    url = str(base_url).rstrip("/")
    with suppress(ValidationError):
        HttpUrl(url)
        if not url.endswith("/completions"):
            return url, key

    problem = f"base_url {base_url!r} is not an address up to /v1"
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
    """Check answers, prompts, prices and keys, and ask each endpoint whether it is there.

    Raises
    ------
    CobanditError
        If one of them is wrong, or nobody answers.
    """
    for name, columns in context.instances.items():
        if options.answer not in columns or not options.usable(
            str(columns[options.answer])
        ):
            problem = (
                f"its {options.answer!r} is {columns.get(options.answer)!r}, which no"
                " text could match"
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
        # which may give more
        if column not in ANSWER_COLUMNS and options.function is None:
            remedy = suggest(
                column, ANSWER_COLUMNS, f"it gives {', '.join(ANSWER_COLUMNS)}"
            )
            raise_fault(
                "evaluate.openai", f"there is no column {column!r}", remedy, "no-column"
            )

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
        If it is not set, or holds letters that no key has.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not (key and key.isascii() and key.isprintable()):
        raise_fault(
            "key",
            f"the environment variable {name!r} holds no key",
            f"export {name}=...",
            "no-key",
        )
    return key
