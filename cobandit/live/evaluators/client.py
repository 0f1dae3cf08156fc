"""A client of one endpoint, which sends requests and classifies failures."""

from contextlib import suppress
from typing import Any

import httpx2

from cobandit._text import ellipsize
from cobandit.errors import raise_fault
from cobandit.live.evaluators.answers import EndpointAnswer, read_answer
from cobandit.live.evaluators.base import Failure, judge_status
from cobandit.live.evaluators.user_code import describe_error

#: Path of requests, relative to the base address.
PATH = "chat/completions"

#: Seconds to wait for a connection, and for the list of models.
CONNECT_SECONDS = 10


class Client:
    """A client of an endpoint. Use it within ``async with client.http``.

    Parameters
    ----------
    base_url : str
    key : str or None
        Key, sent as a bearer token and never shown.
    key_name : str or None
        Name of the environment variable with the key, for messages.
    """

    def __init__(self, base_url: str, key: str | None, key_name: str | None):
        self.base_url = base_url
        self._key_name = key_name
        self.http = httpx2.AsyncClient(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            # no limits here, because the plan limits the time and the number of
            # concurrent calls
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None),
        )

    async def ask(self, body: dict[str, Any]) -> tuple[EndpointAnswer, float]:
        """Send a request, and return the answer and the seconds that it took.

        Raises
        ------
        Failure
            If this request fails, but other requests may succeed.
        TableError
            If the endpoint refuses every request.
        """
        try:
            response = await self.http.post(PATH, json=body)
        except httpx2.HTTPError as error:
            nobody = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
            message = f"no answer from {self.base_url}: {describe_error(error)}"
            raise Failure(message, retry=True, unavailable=nobody) from error
        answer = read_answer(response.content) if response.status_code == 200 else None
        if answer is None:  # the body is an error, or a page of a gateway
            raise self._judge(response, body.get("model"))
        return answer, response.elapsed.total_seconds()

    async def check(self) -> None:
        """Check, without cost, that a server answers and accepts the key.

        Raises
        ------
        TableError
            If the server does not answer or refuses the key.
        """
        try:
            response = await self.http.get("models", timeout=CONNECT_SECONDS)
        except httpx2.HTTPError as error:
            problem = f"no server answers ({describe_error(error)})"
            remedy = "start the server, or correct base_url"
            raise_fault(self.base_url, problem, remedy, "no-server")
        # other status codes are accepted, because a server may have no list of models
        if response.status_code in (401, 402, 403):
            raise self._judge(response, None)

    def _judge(self, response: httpx2.Response, model: Any) -> Failure:
        """Return the failure of a request, which states whether and when to retry.

        Raises
        ------
        TableError
            If a repeated request would fail as well, for example for lack of a key.
        """
        status = response.status_code
        if status == 200:
            # some gateways send an error page with status 200
            with suppress(KeyError, TypeError, ValueError):
                code = int(response.json()["error"]["code"])
                status = code if 400 <= code < 600 else status

        text = ellipsize(" ".join(response.text.split()), 200)
        if response.is_redirect:
            text = f"redirected to {response.headers.get('location')}"
        answer = f"status {status}: {text}"

        is_refusal = status in (401, 402, 403, 404)
        has_no_credit = "insufficient_quota" in response.text
        if response.is_redirect or is_refusal or has_no_credit:
            problem = (
                f"the server refuses a request for {model or 'its models'} with"
                f" {self._key_name or 'no key'} ({answer})"
            )
            remedy = (
                "correct base_url, model or key, or check the account, then start again"
            )
            raise_fault(self.base_url, problem, remedy, "request-refused")

        retry, unavailable = judge_status(status)
        retry |= status == 200

        # the header may also be a date, which is ignored
        after = response.headers.get("retry-after", "")
        wait = float(after) if retry and after.replace(".", "", 1).isdecimal() else None
        return Failure(
            f"{self.base_url}: {answer}",
            retry=retry,
            wait=wait,
            unavailable=unavailable,
        )
