"""A Python function as an evaluator, plain or async.

.. code-block:: yaml

    evaluate: {callable: {function: "my_module:evaluate"}}
"""

import asyncio
import contextvars
import errno
import inspect
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic import Field

from cobandit.live.evaluators.base import (
    Context,
    EvaluatorOptions,
    Failure,
    Row,
    judge_status,
)
from cobandit.live.evaluators.registry import evaluator
from cobandit.live.evaluators.rows import Answered, read_row
from cobandit.live.evaluators.user_code import describe_error, load_function

CONNECTION_ERRORS = (ConnectionRefusedError, socket.gaierror)
#: Error numbers of the operating system for an unavailable service.
UNREACHABLE = frozenset({errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH})

#: Packages in which a ``TransportError`` is a lost connection or a timeout.
HTTP_CLIENTS = frozenset({"httpx", "httpx2"})

#: System errors about files, which do not come from a service.
FILES = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


class CallableOptions(EvaluatorOptions):
    """Options of ``evaluate: {callable: ...}``."""

    function: str = Field(
        pattern=r"^[^:\s]+:[^:\s]+$",
        description="name it as module:function, for example my_module:evaluate",
    )


class FunctionEvaluator:
    """Evaluates by calling a function of a configuration and an instance.

    The function returns a mapping of column names to numbers. A plain function runs in
    a thread, so that calls can run concurrently. The mapping may also have ``answer``:
    a text, or a mapping with ``text``, which is kept with the run.

    If the function raises an error, the evaluation has failed. The function may raise a
    `Failure` that states the cost and whether a retry may help. Any other error is
    attributed either to the service or to the instance. Errors of the service are
    connection errors, timeouts and other system errors that are not about files, and
    errors with a status code for which `judge_status` suggests a retry.

    Parameters
    ----------
    function : callable
    name : str
        Name of the function in messages.

    Examples
    --------
    >>> import anyio
    >>> def compare(configuration, instance):
    ...     return {"correct": configuration["n"] > int(instance)}
    >>> evaluator = FunctionEvaluator(compare, "compare")
    >>> anyio.run(evaluator.evaluate, {"n": 3}, ["2"])
    [{'correct': 1.0}]
    """

    block = 1
    at_once = None

    def __init__(self, function: Callable[[Mapping[str, Any], str], Any], name: str):
        self.name = name
        # the function may be an object whose __call__ method is async
        call = getattr(function, "__call__", None)  # noqa: B004
        is_async = any(map(inspect.iscoroutinefunction, (function, call)))
        self._call = function if is_async else partial(_in_thread, function)

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> list[Row]:
        """Call the function for each instance."""
        return [await self._one(configuration, instance) for instance in instances]

    async def _one(self, configuration: Mapping[str, Any], instance: str) -> Row:
        try:
            # a copy, because the function may change it
            result = await self._call(dict(configuration), instance)
        except Failure:
            raise
        except (Exception, SystemExit) as error:
            message = f"{self.name}: {describe_error(error)}"
            retry, unavailable = _judge(error)
            raise Failure(message, retry=retry, unavailable=unavailable) from error

        source = f"{self.name} on instance {instance!r}"
        if not isinstance(result, Mapping) or "answer" not in result:
            return read_row(result, source)

        row = read_row(
            {name: value for name, value in result.items() if name != "answer"}, source
        )
        answer = result["answer"]
        return Answered(
            row, answer if isinstance(answer, Mapping) else {"text": str(answer)}
        )


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a daemon thread, which does not block the exit if it hangs."""
    outcome: Future[tuple[Any, BaseException | None]] = Future()
    # the caller may stop waiting before the thread has a result
    outcome.set_running_or_notify_cancel()

    def work() -> None:
        try:
            outcome.set_result((function(*arguments), None))
        except BaseException as error:
            # returned as a result, because a future cannot raise StopIteration
            outcome.set_result((None, error))

    threading.Thread(
        target=contextvars.copy_context().run, args=(work,), daemon=True
    ).start()
    result, error = await asyncio.wrap_future(outcome)
    if error is not None:
        raise error
    return result


def _judge(error: BaseException | None) -> tuple[bool, bool]:
    """Return whether a retry may help, and whether the service is unavailable.

    A retry may help after connection errors, timeouts, other system errors that are not
    about files, and some status codes.
    """
    retry = False
    while error is not None:
        if isinstance(error, BaseExceptionGroup):
            # it contains one error per address that was tried
            error = error.exceptions[0]
        response = getattr(error, "response", None)
        status = getattr(error if response is None else response, "status_code", None)
        if (
            isinstance(error, CONNECTION_ERRORS)
            or getattr(error, "errno", None) in UNREACHABLE
        ):
            return True, True
        if isinstance(status, int):
            return judge_status(status)
        # file errors are not caused by the service
        is_system_error = isinstance(error, OSError) and not isinstance(error, FILES)
        retry |= is_system_error or _is_transport_error(error)
        error = error.__cause__ or error.__context__

    return retry, False


def _is_transport_error(error: BaseException) -> bool:
    """Return whether an error is a ``TransportError`` of one of `HTTP_CLIENTS`.

    The classes are compared by name, so that no client has to be installed.
    """
    return any(
        ancestor.__name__ == "TransportError"
        and ancestor.__module__.partition(".")[0] in HTTP_CLIENTS
        for ancestor in type(error).__mro__
    )


@evaluator("callable", CallableOptions)
@asynccontextmanager
async def open_callable(
    options: CallableOptions, context: Context
) -> AsyncIterator[FunctionEvaluator]:
    """Import the function of the options by its name, and yield its evaluator.

    Raises
    ------
    CobanditError
        If the function cannot be imported, or does not take a configuration and an
        instance.
    """
    yield FunctionEvaluator(
        load_function(options.function, "configuration", "instance"), options.function
    )
