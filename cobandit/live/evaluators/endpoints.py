"""Any endpoint that answers chats as OpenAI's does: a prompt template and a scorer.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY                 # the environment variable that holds it
        prompt: "{question} EndpointAnswer with a number."
        scorer: number
        prices: prices.yml              # for models whose price is not known

The file of the plan's instances has the columns that the prompt names, and the right answers.  A setting of
a configuration is a field of the request (``model``, ``temperature``, ``max_tokens`` and so on, or whatever
``body`` gives a default of), the name of one of several prompts, a value for the templates, or its own
``base_url`` and ``key``.  HTTP is by httpx2, on which OpenAI's own client stands: that client would add
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

import httpx2
from pydantic import HttpUrl, ValidationError

from cobandit._text import ellipsize, suggest
from cobandit.errors import CobanditError, raise_fault
from cobandit.live.evaluators.answers import EndpointAnswer, read_answer
from cobandit.live.evaluators.base import ADDRESS_SETTINGS, Context, Failure, Row, judge_status
from cobandit.live.evaluators.registry import evaluator
from cobandit.live.evaluators.rows import (
    ANSWER_COLUMNS,
    digest_prompt,
    keep_answer,
    note_reading,
    read_tokens,
)
from cobandit.live.evaluators.texts import OpenAIOptions
from cobandit.live.evaluators.user_code import describe_error
from cobandit.live.instances import Columns
from cobandit.tables.prices import Prices, read_prices
from cobandit.tables.usage import Usage

#: Tokens that a chat adds to a message, at most.
PER_MESSAGE = 16

#: Where requests go, from the base address.
PATH = "chat/completions"

#: Seconds to wait for a connection or for whether anybody is there, and for any other answer.
_CONNECT, _ANSWER = 10, 600


class Client:
    """An endpoint; enter `http` to use it.

    Parameters
    ----------
    base_url : str
    key : str or None
        Sent as a bearer's; never shown.
    key_name : str or None
        The environment variable that it is from, for messages.
    """

    def __init__(self, base_url: str, key: str | None, key_name: str | None):
        self.base_url = base_url
        self._key_name = key_name
        self.http = httpx2.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            # neither how long an evaluation may take nor how many run at once is decided here
            timeout=httpx2.Timeout(None, connect=_CONNECT),
            limits=httpx2.Limits(max_connections=None),
        )

    async def ask(self, body: dict[str, Any]) -> tuple[EndpointAnswer, float]:
        """Send one request; the answer, and the seconds that it took.

        Raises
        ------
        Failure
            If it was not answered, and others may be.
        CobanditError
            If no request would be.
        """
        try:
            response = await self.http.post(PATH, json=body)
        except httpx2.HTTPError as error:
            nobody = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
            said = f"no answer from {self.base_url}: {describe_error(error)}"
            raise Failure(said, retry=True, unavailable=nobody) from error
        answer = read_answer(response.content) if response.status_code == 200 else None
        if answer is None:  # a page of a gateway, or an error in the place of an answer
            raise self._judge(response, body.get("model"))
        return answer, response.elapsed.total_seconds()

    async def check(self) -> None:
        """Find out, at no cost, whether anybody is there and takes the key.

        Raises
        ------
        CobanditError
            If not.
        """
        try:
            response = await self.http.get("models", timeout=_CONNECT)
        except httpx2.HTTPError as error:
            raise CobanditError(
                f"nobody answers at {self.base_url} ({describe_error(error)}): start the server, or correct "
                "base_url"
            ) from error
        if response.status_code in (401, 402, 403):  # others may just have no list of models
            raise self._judge(response, None)

    def _judge(self, response: httpx2.Response, model: Any) -> Exception:
        """What a status means: a failure of this request, or an error in which all would end."""
        status = response.status_code
        if status == 200:
            with suppress(KeyError, TypeError, ValueError):  # an error that a gateway sends with status 200
                code = int(response.json()["error"]["code"])
                status = code if 400 <= code < 600 else status
        moved = f"it moved to {response.headers.get('location')}" if response.is_redirect else None
        said = f"status {status}: {moved or ellipsize(' '.join(response.text.split()), 200)}"
        if moved or status in (401, 402, 403, 404) or "insufficient_quota" in response.text:
            return CobanditError(
                f"{self.base_url} refuses a request for {model or 'its models'} with "
                f"{self._key_name or 'no key'} ({said}): correct base_url, model or key, or see to the "
                "account, then start again"
            )
        retry, unavailable = judge_status(status)
        retry |= status == 200
        after = response.headers.get("retry-after", "")  # a date, its other form, is left to usual waiting
        wait = float(after) if retry and after.replace(".", "", 1).isdecimal() else None
        return Failure(f"{self.base_url}: {said}", retry=retry, wait=wait, unavailable=unavailable)


#: An address and the name of its key.
Where = tuple[str, str | None]


@dataclass(frozen=True)
class EndpointEvaluator:
    """Asks endpoints and scores what they answer.

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
    timeout: float = _ANSWER

    @property
    def digests(self) -> dict[str, str]:
        """A checksum of what templates and scorer take of each instance, and of the prices."""
        names = sorted({self.options.answer}.union(*self.options.names.values()))
        told: dict[str, Any] = {
            instance: [columns.get(name) for name in names]
            for instance, columns in self.context.instances.items()
        }
        if self.options.prices is not None and self.price_list is not None:
            told[self.options.prices] = self.price_list.own
        return {name: sha256(repr(each).encode()).hexdigest()[:16] for name, each in told.items()}

    async def evaluate(self, configuration: Mapping[str, Any], instances: Sequence[str]) -> list[Row]:
        """Ask once for each instance."""
        return [await self._one(configuration, self.context.instances[instance]) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        request = self.options.request(configuration, columns)
        answer, seconds = await self.clients[find_endpoint(self.options, configuration)].ask(request)
        asked = json.dumps(request["messages"])
        reading = answer.read_tokens("".join(message["content"] for message in request["messages"]))
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
        return keep_answer(row, asked, answer.text, target, answer.finish, answer.is_cut, doubts)

    def _judge_choice(self, error: Any, cost: float | None) -> Failure:
        """What it means that a vendor gave an answer up, which may have been billed."""
        said = error.get("message", error) if isinstance(error, Mapping) else error
        return Failure(f"the answer was given up: {ellipsize(str(said), 200)}", retry=True, cost=cost)

    def _price(self, configuration: Mapping[str, Any], usage: Usage) -> Row:
        """The cost of tokens in money, if that is asked for and known."""
        if self.price_list is None:
            return {}
        cost = self.price_list.usd(usage, *name_model(self.options, configuration))
        return {} if cost is None else {"cost_usd": cost}

    @property
    def prices(self) -> str:
        """Where prices are from, and of which day."""
        if self.price_list is None:
            return ""
        return self.price_list.describe(
            name_model(self.options, each) for each in self.context.configurations
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
        if digest_prompt(json.dumps(messages)) != answer.get("prompt") or "text" not in answer:
            return None
        return self.options.score(answer["text"], str(columns[self.options.answer]))

    def bound_cost(self, configuration: Mapping[str, Any], instance: str) -> float:
        """Say what an evaluation costs at most, infinity if that cannot be known before.

        An answer has as many tokens as its limit; a prompt at most one per byte, and what a chat adds.
        """
        request = self.options.request(configuration, self.context.instances[instance])
        limit = request.get("max_completion_tokens", request.get("max_tokens", inf))
        if self.context.cost == "tokens":
            return float(limit)
        if self.context.cost != "cost_usd" or limit == inf:
            return inf
        most = sum(len(message["content"].encode()) + PER_MESSAGE for message in request["messages"])
        return self._price(configuration, Usage(most, 0, limit)).get("cost_usd", inf)


def name_model(options: OpenAIOptions, configuration: Mapping[str, Any]) -> tuple[str, str]:
    """Name the model of a configuration, and where it is asked."""
    return str(options.model(configuration)), find_endpoint(options, configuration)[0]


def find_endpoint(options: OpenAIOptions, configuration: Mapping[str, Any]) -> Where:
    """Find the address and the name of the key of a configuration: its own settings, or the options."""
    base_url, key = (configuration.get(name) or getattr(options, name) for name in ADDRESS_SETTINGS)
    url = str(base_url).rstrip("/")
    with suppress(ValidationError):
        HttpUrl(url)
        if not url.endswith("/completions"):
            return url, key
    remedy = "write one up to /v1, such as http://127.0.0.1:8080/v1, into evaluate.openai or as a setting"
    raise_fault(f"configuration {dict(configuration)}", f"{base_url!r} is no base_url", remedy)


@evaluator("openai", OpenAIOptions)
@asynccontextmanager
async def open_openai(options: OpenAIOptions, context: Context) -> AsyncIterator[EndpointEvaluator]:
    """Check answers, prompts, prices and keys, and ask each endpoint whether it is there.

    Raises
    ------
    CobanditError
        If one of them is wrong, or nobody answers.
    """
    for name, columns in context.instances.items():
        if options.answer not in columns or not options.usable(str(columns[options.answer])):
            problem = f"its {options.answer!r} is {columns.get(options.answer)!r}, which no text could match"
            remedy = "write instances: {file: ...} with right answers into the plan, name their column as "
            raise_fault(f"instance {name!r}", problem, f"{remedy}answer, or choose another scorer")
    options.check(context.configurations, context.instances)
    models = sorted({name_model(options, each) for each in context.configurations})
    price_list = None
    if options.prices is not None or "cost_usd" in (context.cost, *context.objectives):
        file = None if options.prices is None else context.folder / options.prices
        price_list = read_prices(file, context.day)
        price_list.require(models, above_zero=context.cost == "cost_usd")
    for column in (context.cost, *context.objectives):
        if column not in ANSWER_COLUMNS and options.function is None:  # which may give more
            remedy = suggest(column, ANSWER_COLUMNS, f"it gives {', '.join(ANSWER_COLUMNS)}")
            raise_fault("evaluate.openai", f"there is no column {column!r}", remedy)
    asked = dict.fromkeys(find_endpoint(options, each) for each in context.configurations)
    async with AsyncExitStack() as stack:
        clients = {(base_url, key): Client(base_url, read_key(key), key) for base_url, key in asked}
        for client in clients.values():
            await stack.enter_async_context(client.http)
            await client.check()
        yield EndpointEvaluator(clients, options, context, price_list)


def read_key(name: str | None) -> str | None:
    """Take a key from its environment variable.

    Raises
    ------
    TableError
        If it is not set, or holds what no key has.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not (key and key.isascii() and key.isprintable()):
        raise_fault("key", f"the environment variable {name!r} holds no key", f"export {name}=...")
    return key
