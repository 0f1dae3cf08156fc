"""Any endpoint that answers as OpenAI's does: chat or plain completions, a prompt template and a scorer.

.. code-block:: yaml

    evaluate:
      openai:
        base_url: http://127.0.0.1:8080/v1
        key: MY_API_KEY                 # the environment variable that holds it
        prompt: "{question} Answer with a number."
        scorer: number
        prices: prices.yml

The file of the plan's instances has the columns that the prompt names, and the right answers.  A setting of
a configuration is a field of the request (``model``, ``temperature``, ``max_tokens`` and so on, or whatever
``body`` gives a default of), the name of one of several prompts, a value for the templates, or its own
``base_url`` and ``key``.  HTTP is by httpx2, on which OpenAI's own client stands: that client would add
retries, which are not decided here, and further packages, for one request.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import Any, Literal, NamedTuple

import httpx2
from pydantic import BaseModel, Field, ValidationError

from cobandit.errors import CobanditError
from cobandit.faults import ellipsize, stop, suggest
from cobandit.live.configurations import Columns, read_instances
from cobandit.live.evaluators import (
    AGAIN,
    UNAVAILABLE,
    WHERE,
    Answered,
    Context,
    Failure,
    Row,
    describe_error,
    evaluator,
)
from cobandit.live.evaluators.texts import InstancesFile, OpenAIOptions, Prompts, check_address
from cobandit.tables.prices import Prices, Usage, check_paid, cost_usd, read_prices

COLUMNS = ("score", "prompt_tokens", "cached_tokens", "tokens", "seconds", "cost_usd", "truncated", "empty")
"""What an evaluation gives: ``tokens`` are those generated, ``seconds`` go from request to answer, and
``truncated`` is 1 where a limit of tokens cut the answer off, ``empty`` where there is none."""

PER_MESSAGE = 16
"""Tokens that a chat adds to a message, at most."""


API = Literal["chat", "completions"]
PATHS: dict[API, str] = {"chat": "chat/completions", "completions": "completions"}
"""Where the requests of an API go, from the base address."""

_CONNECT, _ANSWER = 10, 600
"""Seconds to wait for a connection or for whether anybody is there, and for any other answer."""


class _Message(BaseModel):  # what else a part of an answer holds is ignored
    content: str | None = None


class _Choice(BaseModel):
    message: _Message = _Message()
    text: str | None = None
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Body(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class Answer(NamedTuple):
    """An answer: text, tokens if the endpoint counts them, seconds from request to answer, why it ended."""

    text: str
    usage: Usage | None
    seconds: float
    finish: str | None


class Client:
    """An endpoint, to be entered as a context.

    Parameters
    ----------
    base_url : str
    api : {"chat", "completions"}
    key : str or None
        Sent as a bearer's; never shown.
    key_name : str or None
        The environment variable that it is from, for messages.
    """

    def __init__(self, base_url: str, api: API, key: str | None, key_name: str | None):
        self.base_url = base_url
        self._path = PATHS[api]
        self._key_name = key_name
        self._http = httpx2.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            # neither how long an evaluation may take nor how many run at once is decided here
            timeout=httpx2.Timeout(None, connect=_CONNECT),
            limits=httpx2.Limits(max_connections=None),
        )

    async def __aenter__(self) -> Client:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._http.__aexit__(*error)

    async def ask(self, body: dict[str, Any]) -> Answer:
        """Send one request.

        Raises
        ------
        Failure
            If it was not answered, and others may be.
        CobanditError
            If no request would be.
        """
        began = time.perf_counter()
        try:
            response = await self._http.post(self._path, json=body)
        except httpx2.HTTPError as error:
            nobody = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
            said = f"no answer from {self.base_url}: {describe_error(error)}"
            raise Failure(said, retry=True, unavailable=nobody) from error
        seconds = time.perf_counter() - began
        if response.status_code != 200:
            raise self._judge(response, response.status_code, body.get("model"))
        try:
            answer = _Body.model_validate_json(response.content)
        except ValidationError:  # a page of a gateway, or an error under a status that says there is none
            raise self._judge(response, _inner_status(response), body.get("model")) from None
        choice = answer.choices[0]
        text = choice.text if choice.text is not None else choice.message.content
        return Answer(text or "", self._usage(answer.usage), seconds, choice.finish_reason)

    async def check(self) -> None:
        """Find out, at no cost, whether anybody is there and takes the key.

        Raises
        ------
        CobanditError
            If not.
        """
        try:
            response = await self._http.get("models", timeout=_CONNECT)
        except httpx2.HTTPError as error:
            raise CobanditError(
                f"nobody answers at {self.base_url} ({describe_error(error)}): start the server, or correct "
                "base_url"
            ) from error
        if response.status_code in (401, 402, 403):  # others may just have no list of models
            raise self._judge(response, response.status_code, None)

    def _judge(self, response: httpx2.Response, status: int, model: Any) -> Exception:
        """What a status means: a failure of this request, or an error in which all would end."""
        said = f"status {status}: {ellipsize(' '.join(response.text.split()), 200)}"
        if status in (401, 403):
            whose = f"the key in {self._key_name}" if self._key_name else "a request without a key"
            return CobanditError(
                f"{self.base_url} refuses {whose} ({said}): see to the key, then start again"
            )
        if status == 402 or (status == 429 and "insufficient_quota" in response.text):
            return CobanditError(
                f"{self.base_url} wants money ({said}): see to the account, then start again"
            )
        if status == 404:
            return CobanditError(
                f"{self.base_url} has no {self._path}, or no model {model!r} ({said}): correct base_url, api "
                "or the model, then start again"
            )
        if response.is_redirect:
            return CobanditError(f"{self.base_url} moved to {response.headers['location']}: correct base_url")
        retry = status in AGAIN or status >= 500 or status == 200
        wait = _wait(response) if retry else None
        return Failure(f"{self.base_url}: {said}", retry=retry, wait=wait, unavailable=status in UNAVAILABLE)

    def _usage(self, given: _Usage | None) -> Usage | None:
        if given is None or given.prompt_tokens is None or given.completion_tokens is None:
            return None
        cached = (given.prompt_tokens_details and given.prompt_tokens_details.cached_tokens) or 0
        usage = Usage(given.prompt_tokens - cached, cached, given.completion_tokens)
        if min(usage) < 0:
            raise CobanditError(
                f"{self.base_url} counts {given.prompt_tokens} tokens of prompt, {cached} of them cached, "
                f"and {given.completion_tokens} of the answer: no cost can be taken from that; see to the "
                "service, or take seconds as the cost"
            )
        return usage


def _inner_status(response: httpx2.Response) -> int:
    """The status that an error in the place of an answer carries; 200 if it has none."""
    try:
        error = response.json()["error"]
        code = int(error["code"] if isinstance(error, dict) else 200)
    except (KeyError, TypeError, ValueError):
        return 200
    return code if 400 <= code < 600 else 200


def _wait(response: httpx2.Response) -> float | None:
    """Seconds of Retry-After; its other form, a date, is left to the usual waiting."""
    given = response.headers.get("retry-after", "")
    return float(given) if given.replace(".", "", 1).isdecimal() else None


Where = tuple[str, str | None]
"""An address and the name of its key."""


@dataclass(frozen=True)
class EndpointEvaluator:
    """Asks endpoints and scores what they answer.

    Parameters
    ----------
    clients : mapping of (str, str or None) to Client
    prompts : Prompts
    options : OpenAIOptions
    instances : mapping of str to mapping
        Columns by id.
    prices : mapping of str to Price, or None
    cost : str
        The column that is the cost.
    """

    clients: Mapping[Where, Client]
    prompts: Prompts
    options: OpenAIOptions
    instances: Mapping[str, Columns]
    prices: Prices | None
    cost: str
    block: int = 1
    at_once: None = None
    timeout: float = _ANSWER

    @property
    def digests(self) -> dict[str, str]:
        """A checksum of what is asked in each instance, and of the prices."""
        asked = self.prompts.digests(self.instances, self.options.answer)
        if self.prices is None:
            return asked
        return asked | {str(self.options.prices): sha256(repr(self.prices).encode()).hexdigest()[:16]}

    async def evaluate(self, configuration: Mapping[str, Any], instances: Sequence[str]) -> list[Row]:
        """Ask once for each instance."""
        return [await self._one(configuration, self.instances[instance]) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], columns: Columns) -> Row:
        request = self.prompts.request(configuration, columns)
        answer = await self.clients[where_asked(self.options, configuration)].ask(request)
        target = str(columns[self.options.answer])
        row = self.options.score(answer.text, target)
        row |= {"seconds": answer.seconds, "truncated": float(answer.finish == "length")}
        row["empty"] = float(not answer.text.strip())
        if answer.usage is not None:  # some endpoints do not count tokens
            usage = answer.usage
            row |= {
                "prompt_tokens": float(usage.input + usage.cached),
                "cached_tokens": float(usage.cached),
                "tokens": float(max(1, usage.output)),  # an answer's end is one, which some leave out
            }
            if self.prices is not None:
                row["cost_usd"] = cost_usd(usage, self.prices, str(self.prompts.model(configuration)))
        asked = sha256(json.dumps(request.get("messages", request.get("prompt"))).encode()).hexdigest()[:16]
        kept = {"prompt": asked, "text": answer.text, "target": target, "finish": answer.finish}
        return Answered(row, kept | {"usage": answer.usage and answer.usage._asdict()})

    def bound_cost(self, configuration: Mapping[str, Any], instance: str) -> tuple[float, float] | None:
        """Say what an evaluation costs at least and at most, if that can be known before.

        An answer has from one token to its limit; a prompt at most one per byte, and what a chat adds.
        """
        request = self.prompts.request(configuration, self.instances[instance])
        limit = request.get("max_completion_tokens", request.get("max_tokens", inf))
        if self.cost == "tokens":
            return 1.0, float(limit)
        if self.cost != "cost_usd" or self.prices is None:
            return None
        messages = request.get("messages", [{"content": request.get("prompt")}])
        most = sum(len(str(message["content"]).encode()) + PER_MESSAGE for message in messages)
        model = str(self.prompts.model(configuration))
        least = cost_usd(Usage(0, 1, 1), self.prices, model)
        return least, inf if limit == inf else cost_usd(Usage(most, 0, limit), self.prices, model)


def where_asked(options: OpenAIOptions, configuration: Mapping[str, Any]) -> Where:
    """Find the address and the name of the key of a configuration: its own settings, or the options."""
    base_url, key = (configuration.get(name) or getattr(options, name) for name in WHERE)
    if base_url is None:
        remedy = "write base_url into evaluate.openai, or into each configuration"
        stop(f"configuration {dict(configuration)}", "it has no base_url", remedy)
    try:
        return check_address(str(base_url)), None if key is None else str(key)
    except ValueError as error:
        stop(f"configuration {dict(configuration)}", "its base_url is no address", str(error))


@evaluator("openai", OpenAIOptions)
@asynccontextmanager
async def open_openai(options: OpenAIOptions, context: Context) -> AsyncIterator[EndpointEvaluator]:
    """Read and check instances, prompts, prices and keys, and ask each endpoint whether it is there.

    Raises
    ------
    CobanditError
        If one of them is wrong, or nobody answers.
    """
    source = options.instances
    if source is None:
        if context.source is None:
            stop("instances", "no file has them", "write instances: {file: ...} into the plan")
        source = InstancesFile(file=context.source[0], column=context.source[1])
    found = read_instances(context.folder / source.file, source.column)
    if missing := [name for name in context.instances if name not in found]:
        problem = f"there is no instance {missing[0]!r}, of {len(missing)} that the plan names"
        stop(source.file, problem, "add it, or leave it out of the plan's instances")
    instances = {name: found[name] for name in context.instances}
    _check_answers(options, source, instances)
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
        if column not in COLUMNS and options.function is None:  # a function may give more
            remedy = suggest(column, COLUMNS, f"an endpoint gives {', '.join(COLUMNS)}")
            stop(what, f"there is no column {column!r}", remedy)
    asked = dict.fromkeys(where_asked(options, each) for each in context.configurations)
    async with AsyncExitStack() as stack:
        clients = {
            (base_url, key): await stack.enter_async_context(
                Client(base_url, options.api, read_key(key), key)
            )
            for base_url, key in asked
        }
        for client in clients.values():
            await client.check()
        yield EndpointEvaluator(clients, prompts, options, instances, prices, context.cost)


def _check_answers(options: OpenAIOptions, source: InstancesFile, instances: Mapping[str, Columns]) -> None:
    for name, columns in instances.items():
        where = f"{source.file}, instance {name!r}"
        if options.answer not in columns:
            remedy = suggest(options.answer, columns, "name the column of right answers with answer")
            stop(where, f"it has no {options.answer!r}", remedy)
        if not options.usable(str(columns[options.answer])):
            problem = f"no text could match its answer {columns[options.answer]!r} by scorer {options.scorer}"
            stop(where, problem, "correct the answer, or choose another scorer")


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
    if not key:
        stop("key", f"the environment variable {name!r} is not set", f"export {name}=...")
    if not (key.isascii() and key.isprintable()):
        stop("key", f"the environment variable {name!r} holds what no key has", "copy the key again")
    return key
