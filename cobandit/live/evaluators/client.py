"""Requests to an endpoint, and what its answers mean.

HTTP is by httpx2, on which OpenAI's own client stands: that client would add retries, which are not decided
here, and further packages, for one request.
"""

from __future__ import annotations

import time
from typing import Any, Literal, NamedTuple

import httpx2
from pydantic import BaseModel, Field, ValidationError

from cobandit.errors import CobanditError
from cobandit.live.evaluators import UNAVAILABLE, Failure, describe_error
from cobandit.tables.prices import Usage

API = Literal["chat", "completions"]
PATHS: dict[API, str] = {"chat": "chat/completions", "completions": "completions"}
"""Where the requests of an API go, from the base address."""

_AGAIN = frozenset({408, 409, 425}) | UNAVAILABLE
_PATIENCE = 10
"""Seconds until a connection, or the answer to whether anybody is there, is given up."""


class _Part(BaseModel):
    """Part of an answer; what else it holds is ignored."""


class _Message(_Part):
    content: str | None = None


class _Choice(_Part):
    message: _Message = _Message()
    text: str | None = None


class _Details(_Part):
    cached_tokens: int | None = None


class _Usage(_Part):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Body(_Part):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class Answer(NamedTuple):
    """The text of an answer, its tokens if the endpoint counts them, and seconds from request to answer."""

    text: str
    usage: Usage | None
    seconds: float


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
            timeout=httpx2.Timeout(None, connect=_PATIENCE),
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
            raise self._wrong(response, body.get("model"))
        try:
            answer = _Body.model_validate_json(response.content)
        except ValidationError:
            raise Failure(f"{self.base_url} gave no answer to read: {_said(response)}", retry=True) from None
        choice = answer.choices[0]
        text = choice.text if choice.text is not None else choice.message.content
        return Answer(text or "", _usage(answer.usage), seconds)

    async def check(self) -> None:
        """Find out, at no cost, whether anybody is there and takes the key.

        Raises
        ------
        CobanditError
            If not.
        """
        try:
            response = await self._http.get("models", timeout=_PATIENCE)
        except httpx2.HTTPError as error:
            raise CobanditError(
                f"nobody answers at {self.base_url} ({describe_error(error)}): start the server, or correct "
                "base_url"
            ) from error
        if response.status_code in (401, 402, 403):  # others may just have no list of models
            raise self._wrong(response, None)

    def _wrong(self, response: httpx2.Response, model: Any) -> Exception:
        """What a status means: a failure of this request, or an error in which all would end."""
        status = response.status_code
        said = f"status {status}: {_said(response)}"
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
        retry = status in _AGAIN or status >= 500
        wait = _wait(response) if retry else None
        return Failure(f"{self.base_url}: {said}", retry=retry, wait=wait, unavailable=status in UNAVAILABLE)


def _usage(given: _Usage | None) -> Usage | None:
    if given is None or given.prompt_tokens is None or given.completion_tokens is None:
        return None
    cached = (given.prompt_tokens_details and given.prompt_tokens_details.cached_tokens) or 0
    return Usage(given.prompt_tokens - cached, cached, given.completion_tokens)


def _said(response: httpx2.Response) -> str:
    text = " ".join(response.text.split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def _wait(response: httpx2.Response) -> float | None:
    """Seconds of Retry-After; its other form, a date, is left to the usual waiting."""
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdecimal() else None
